"""Everything about one tip at one moment: what is stored, what would be sent, what it costs, how it fits.

A `TipState` is a value: it is loaded once, and everything else is computed from it. Gauge, trigger, plan and request
read the same one, so they cannot disagree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from octavo.core.budget import Budget, Overhead, Price, Reading
from octavo.core.context import (
    NOTHING_RECALLED,
    UNSENT,
    Context,
    ContextInputs,
    build_context,
    extended,
)
from octavo.core.harden import Hardened, harden
from octavo.core.memory_tools import looked_up
from octavo.core.message_json import Json
from octavo.core.messages import Branch, Message, Node, opens_turn, system
from octavo.core.policy import Policy, budget_for
from octavo.core.price_rule import UNKNOWN, Habits, habits_of
from octavo.core.protocol import Rules
from octavo.core.recall.passages import Passages
from octavo.core.recall.render import render, with_passages
from octavo.core.shrink import Shrunk, preview, shrink
from octavo.core.snapshot import Snapshot
from octavo.core.tools import Tool
from octavo.core.transcript import shared_files
from octavo.engine.outcome import ContextUsage
from octavo.engine.settings import policy_of, whole
from octavo.errors import BadBudget, ContextOverflow, ReadOnly
from octavo.store.values import StoredContext, Unloaded

if TYPE_CHECKING:
    from octavo.engine.models import Models
    from octavo.meters.meter import Meter, Survey
    from octavo.store.store import Store

OUTPUT_SHARE = 4
"""One tool output takes at most a quarter of what is available; the whole text stays in the store."""
OUTPUT_CHARACTERS = 3
"""Characters per token when a long output is cut: on the safe side for code and logs."""
NEAR, FULL = 0.80, 0.95
"""Shares of what may be sent at which the gauge warns, even where the marks lie higher."""
TURNS_SEEN = 6
"""Turns whose mean says how long the next ones will be: enough for a mean, few enough to follow a change."""
FEW = 32
"""Messages that are added to a state before its branch is put together again."""
MANY = 200
"""Messages from which on they are counted in a thread: some ten milliseconds, in which others would wait."""
LONG = 50_000
"""Messages up to which a branch is held as a whole, some fifty megabytes if they are short. Of a longer one the newest
are, more than any window takes."""
BEFORE_CUT = 1_000
"""Messages that are loaded before the place at which a long branch is cut again: it is not within a tool's round."""
EMPTY = StoredContext(leading=(), snapshot=None, retained=(), carried=())
NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Revision:
    """What holds at one moment: the settings, and the number of the conversation's revision."""

    settings: Mapping[str, Json]
    number: int


@dataclass(frozen=True, kw_only=True)
class TipState:
    """A tip, seen by one model."""

    conversation: str
    tip: str
    """Empty while the conversation is."""
    model: str
    meter: Meter
    policy: Policy
    reading: Reading
    budget: Budget
    loaded: ContextInputs
    """As it was when it was last put together."""
    laid_out: Context
    """The context of that."""
    added: Branch = ()
    """Messages added since then. They stand apart, so that a message does not cost a copy of a long branch."""
    survey: Survey
    """Of the context."""
    counts: dict[Message, int]
    """Stored counts of messages that are sent; shared by states that grow from one another: a count never changes."""
    unloaded: Unloaded | None = None
    """The messages between the cutoff and the loaded ones, if the branch is too long to be held. They count in all
    measures, and are never sent: they are more than fit, so they are compressed or left out."""
    shortened: bool
    """Whether some tool output is shown by head and tail."""
    settings: Mapping[str, Json]
    serving: str | None
    """The snapshot that serves the tip; a new version of it is made from the one before."""
    originals_wanted: bool = False
    """Whether a person undid the last compression here: until the hard mark nothing is compressed by itself."""
    recalled: int = 0
    """Tokens of what was recalled: counted once, when it is loaded or found."""
    habits: Habits = UNKNOWN
    """How much a request adds."""
    writer: Price | None = None
    """What the summariser costs; None: no model is asked, or nobody knows."""

    @cached_property
    def recipe(self) -> ContextInputs:
        if not self.added:
            return self.loaded
        return replace(self.loaded, branch=(*self.loaded.branch, *self.added))

    @cached_property
    def context(self) -> Context:
        """What would be sent."""
        return extended(self.laid_out, self.added) if self.added else self.laid_out

    @property
    def turn(self) -> str:
        """The user message that opened the turn which is going on."""
        # Looked for from the end: it is nearly always among the last messages of a long branch.
        recipe = self.loaded
        cutoff = recipe.snapshot.cutoff_depth if recipe.snapshot else 0
        for node in chain(reversed(self.added), reversed(recipe.branch)):
            if node.depth > cutoff and node.status not in UNSENT and opens_turn(node.message):
                return node.id
        return (recipe.snapshot.carried or "") if recipe.snapshot else ""

    @property
    def half_way(self) -> bool:
        """Whether half the way to the next compression is gone: many conversations end before that."""
        return 2 * self.reading.cautious >= self.budget.trigger

    @property
    def searches(self) -> bool:
        """Whether the model is offered a tool to search the covered messages: the setting is on, and there are some."""
        return self.settings.get("recall_tool") is True and self.loaded.snapshot is not None

    @property
    def history(self) -> int:
        """Tokens of the conversation itself."""
        return max(0, self.reading.tokens - self.budget.overhead.total)

    def size(self, node: Node) -> int:
        return self.meter.count_node(node)

    def measure(self, context: Context) -> int:
        """Measure another context of this tip, cautiously, the way the trigger does."""
        return self.meter.read(context, self.counts).cautious

    def served_by(self, snapshot: Snapshot) -> ContextInputs:
        """Give what the context would be built from if another snapshot were in use, with a cutoff no further up."""
        recipe = self.recipe
        nodes = {node.id: node for node in (*recipe.carried, *recipe.branch)}
        carried = tuple(nodes[id] for id in snapshot.sent_along if id in nodes)
        return replace(recipe, snapshot=snapshot, carried=carried)

    def sent(self, context: Context, rules: Rules) -> Hardened:
        """Make a context acceptable to a provider."""
        return harden(context.messages, replace(rules, vision=rules.vision and self.meter.card.vision))

    def shrunk(self) -> tuple[Shrunk, ContextUsage]:
        """Make the context fit without asking a model, and say what it costs then.

        Bills may demand that less is sent, but they forbid nothing: what fits by its count alone goes to the provider,
        who knows.
        """
        meter = self.meter
        try:
            small = shrink(self.recipe, self.budget.hard, self.measure)
        except ContextOverflow:
            meter = meter.untaught()
            try:
                small = shrink(
                    self.recipe, self.budget.hard, lambda context: meter.read(context, self.counts).cautious
                )
            except ContextOverflow as error:
                raise ContextOverflow(str(error), {**self.budget.terms, **error.terms}) from None
        return small, self.gauge(meter.read(small.context, self.counts))

    @property
    def usage(self) -> ContextUsage:
        """The gauge."""
        return self.gauge(self.reading)

    def gauge(self, reading: Reading) -> ContextUsage:
        """Show what another context of this tip costs."""
        tokens, budget = reading.tokens, self.budget
        share = tokens / budget.limit if budget.limit else 1.0
        level: Literal["calm", "soft", "hard"] = "calm"
        if reading.cautious > budget.trigger or share >= NEAR:
            level = "soft"
        if reading.cautious > budget.hard or share >= FULL:
            level = "hard"
        next_in = budget.left(reading.cautious, budget.trigger)
        turn = self._usual_turn
        return ContextUsage(
            reading=reading,
            budget=budget,
            model=self.model,
            assumed=self.meter.card.assumed,
            percent=100 * share,
            left=budget.left(tokens),
            next_at=budget.trigger,
            next_in=next_in,
            level=level,
            recalled=self.recalled,
            turns=next_in // turn if turn else None,
        )

    @property
    def _usual_turn(self) -> int:
        """Tokens of a turn, as the last few were; 0 before the first."""
        cutoff = self.loaded.snapshot.cutoff_depth if self.loaded.snapshot else 0
        turns = tokens = 0
        for node in chain(reversed(self.added), reversed(self.loaded.branch)):
            if node.depth <= cutoff or turns == TURNS_SEEN:
                break
            if node.status not in UNSENT:
                tokens += self.size(node)
                turns += opens_turn(node.message)
        return tokens // turns if turns else 0


async def load_state(
    store: Store,
    models: Models,
    *,
    conversation: str,
    tip: str | None,
    model: str,
    settings: Mapping[str, Json],
    tools: tuple[Tool, ...] = (),
    pending: tuple[Message, ...] = (),
    without: Snapshot | None = None,
    misses: float = 0.0,
) -> TipState:
    """Load what is stored about a tip and measure what would be sent; as if `without` had never been made.

    `misses` is the share of tokens that the provider's cache should have had and did not.
    """
    meter = await models.meter(model)
    unit = meter.unit.name
    policy, reply = policy_of(settings, meter), whole(settings.get("reply"))
    stored = await _stored(store, tip, meter) if tip else EMPTY
    serving = stored.snapshot.id if stored.snapshot else None
    if without is not None and tip:
        stored = await _before(store, tip, meter, without)
    pins = await store.pins.of_branch(tip, tokenizer=unit) if tip else ()
    recalled = await _recalled(store, policy, stored)
    recalled_tokens = sum(meter.count_text(render(passages)) for passages in recalled.values())
    habits = habits_of(
        ((meter.count_node(node), node.message.role == "assistant") for node in stored.retained),
        messages=stored.snapshot.messages if stored.snapshot else 0,
        tokens=stored.snapshot.tokens_before if stored.snapshot else 0,
        misses=misses,
        recalled=recalled_tokens,
    )
    writer = models.writer_price(settings, meter.card)
    prompt = settings.get("system")
    recipe = ContextInputs(
        branch=stored.branch,
        snapshot=stored.snapshot,
        carried=stored.carried,
        system=(system(prompt),) if isinstance(prompt, str) and prompt.strip() else (),
        tools=tools,
        pins=tuple(pin for pin in pins if pin.node.status != "deleted"),
        pending=pending,
        voice=policy.voice,
        recalled=recalled,
        omitted_before=stored.unloaded.messages if stored.unloaded else 0,
    )

    def seen_by(meter: Meter) -> TipState:
        def measured(
            recipe: ContextInputs, counts: Mapping[Message, int]
        ) -> tuple[Context, Survey, Reading, Budget]:
            context = build_context(recipe)
            survey = _surveyed(meter, context, counts, stored.unloaded)
            reading = meter.reading(survey)
            overhead = _overhead(reading)
            budget = budget_for(
                policy, meter.card, overhead=overhead, reply=reply, habits=habits, writer=writer
            )
            return context, survey, reading, budget

        counts = {node.message: node.counts[unit] for node in stored.branch}
        context, survey, reading, budget = measured(recipe, counts)
        shortened = _bounded(recipe, meter, budget)
        if shortened is not recipe:
            counts = {node.message: meter.count_node(node) for node in shortened.branch}
            context, survey, reading, budget = measured(shortened, counts)
        return TipState(
            conversation=conversation,
            tip=tip or "",
            model=model,
            meter=meter,
            policy=policy,
            reading=reading,
            budget=budget,
            loaded=shortened,
            laid_out=context,
            survey=survey,
            counts=counts,
            unloaded=stored.unloaded,
            shortened=shortened is not recipe,
            settings=settings,
            serving=serving,
            originals_wanted=stored.originals_wanted,
            recalled=recalled_tokens,
            habits=habits,
            writer=writer,
        )

    try:
        return seen_by(meter)
    except BadBudget:
        # Bills that leave no room for a conversation cannot be right. If there is no room without them either, there is
        # none.
        return seen_by(meter.untaught())


def grown(state: TipState, node: Node) -> TipState | None:
    """Give the state one message further down without loading it again; None if it has to be loaded."""
    recipe, message, unit = state.loaded, node.message, state.meter.unit.name
    covered_files = recipe.snapshot is not None and bool(recipe.snapshot.files)
    if (
        (state.tip != (node.parent or ""))
        or state.shortened
        or recipe.pending
        or message.role == "system"
        or node.status in UNSENT
        or (covered_files and shared_files(message))
        or unit not in node.counts
        or (message.results and node.counts[unit] > state.budget.available // OUTPUT_SHARE)
    ):
        return None
    tokens = state.counts[message] = node.counts[unit]
    survey = state.meter.grow(state.survey, message, tokens)
    state = replace(state, habits=state.habits.after(tokens, answers=message.role == "assistant"))
    weighed = _weighed(state, state.meter, survey)
    if weighed is None:
        return None
    if len(state.added) >= FEW:
        state = replace(state, loaded=state.recipe, laid_out=state.context, added=())
    return replace(
        state,
        tip=node.id,
        added=(*state.added, node),
        survey=survey,
        reading=weighed[0],
        budget=weighed[1],
    )


def with_recalled(state: TipState, passages: Passages) -> TipState:
    """Give a state with passages before the text of its last message."""
    last = with_passages(state.context.retained[-1], passages)
    state.counts[last] = state.meter.count_message(last)
    context = replace(state.context, retained=(*state.context.retained[:-1], last))
    survey = _surveyed(state.meter, context, state.counts, state.unloaded)
    recalled = {**state.loaded.recalled, state.tip: passages}
    tokens = state.meter.count_text(render(passages))
    return replace(
        state,
        loaded=replace(state.recipe, recalled=recalled),
        laid_out=context,
        added=(),
        survey=survey,
        reading=state.meter.reading(survey),
        recalled=state.recalled + tokens,
        habits=state.habits.recalling(tokens),
    )


async def _recalled(store: Store, policy: Policy, stored: StoredContext) -> Mapping[str, Passages]:
    """Give what was recalled for retained messages, as far as its sources are covered."""
    snapshot = stored.snapshot
    if snapshot is None or policy.recall == "off":
        return NOTHING_RECALLED
    found = await store.passages.of(node.id for node in stored.retained if node.message.role == "user")
    covered = {
        id: tuple(passage for passage in passages if passage.depth <= snapshot.cutoff_depth)
        for id, passages in found.items()
    }
    return {id: passages for id, passages in covered.items() if passages}


def renewed(state: TipState, meter: Meter) -> TipState | None:
    """Give the state as its meter sees it now; None if it has to be loaded again."""
    if meter is state.meter:
        return state
    survey = meter.taken_over(state.survey, state.meter)
    if survey is None or meter.card != state.meter.card or state.shortened:
        return None
    weighed = _weighed(state, meter, survey)
    if weighed is None:
        return None
    return replace(state, meter=meter, survey=survey, reading=weighed[0], budget=weighed[1])


def _weighed(state: TipState, meter: Meter, survey: Survey) -> tuple[Reading, Budget] | None:
    """Measure a state that went on; its budget is divided anew only if something else than the history changed.

    None if it cannot be divided any more: the state then has to be loaded again.
    """
    reading = meter.reading(survey)
    overhead = _overhead(reading)
    if overhead == state.budget.overhead and not state.policy.follows_prices:
        return reading, state.budget
    try:
        return reading, divided(state, meter, overhead)
    except BadBudget:
        return None


def divided(state: TipState, meter: Meter, overhead: Overhead, *, spare: int = 0) -> Budget:
    """Divide the window of a state again, with `spare` more tokens kept free than its reply takes."""
    reply = state.budget.reply if spare else whole(state.settings.get("reply"))
    return budget_for(
        state.policy,
        meter.card,
        overhead=overhead,
        reply=None if reply is None else reply + spare,
        habits=state.habits,
        writer=state.writer,
    )


async def _before(store: Store, tip: str, meter: Meter, snapshot: Snapshot) -> StoredContext:
    """Gather what the context of a tip was built from before a snapshot was made.

    What it was continued from counts only if it is true on this branch; else the one before that, or the originals.
    """
    previous = await store.snapshots.get(snapshot.previous) if snapshot.previous else None
    while previous and (
        previous.state == "retired" or not await store.tree.on_branch(tip, [previous.anchor])
    ):
        previous = await store.snapshots.get(previous.previous) if previous.previous else None
    unit, depth = meter.unit.name, (await store.tree.node(tip)).depth
    leading = await store.tree.leading(tip, tokenizer=unit)
    above = max(previous.cutoff_depth if previous else 0, len(leading))
    # It is cut where the snapshot was.
    first = max(above, min(depth - LONG, snapshot.cutoff_depth - BEFORE_CUT))
    retained = await store.tree.stretch(tip, above=first, stop=depth, tokenizer=unit)
    along = previous.sent_along if previous else ()
    stored = StoredContext(
        leading=leading,
        snapshot=previous,
        retained=retained,
        carried=await store.tree.nodes(along, tokenizer=unit) if along else (),
        unloaded=Unloaded(above=above, stop=first, last=retained[0].parent or "") if first > above else None,
    )
    return await _with_size(store, await _counted(store, stored, meter), meter)


async def _stored(store: Store, tip: str, meter: Meter) -> StoredContext:
    """Load what the context of a tip is built from; of a very long branch, more than can be sent."""
    most = LONG
    while True:
        stored = await store.snapshots.context(tip, tokenizer=meter.unit.name, most=most)
        stored = await _counted(store, stored, meter)
        loaded = sum(node.counts[meter.unit.name] for node in stored.retained)
        if stored.unloaded is None or loaded > meter.card.window:
            return await _with_size(store, stored, meter)
        most *= 2


async def _with_size(store: Store, stored: StoredContext, meter: Meter) -> StoredContext:
    """Say what the messages cost that are not loaded."""
    if stored.unloaded is None:
        return stored
    return replace(
        stored, unloaded=replace(stored.unloaded, tokens=await _size(store, stored.unloaded, meter))
    )


async def _size(store: Store, unloaded: Unloaded, meter: Meter) -> int:
    """Say what messages cost that are not loaded; those that were never counted are, page by page."""
    unit, above = meter.unit.name, unloaded.above
    tokens, uncounted = await store.tree.size(unloaded.last, above=above, tokenizer=unit)
    if not uncounted:
        return tokens
    async for page in store.tree.pages(unloaded.last, above=above, stop=unloaded.stop, tokenizer=unit):
        new = await _count(store, page, meter)
        tokens += sum(new[node.id] for node in page if node.id in new and node.status not in UNSENT)
    return tokens


def _surveyed(
    meter: Meter, context: Context, counts: Mapping[Message, int], unloaded: Unloaded | None
) -> Survey:
    """Go through a context; what it would hold besides, if everything was loaded, counts as well."""
    survey = meter.survey(context, counts)
    return meter.with_unseen(survey, unloaded.tokens, unloaded.messages) if unloaded else survey


async def _count(store: Store, nodes: Branch, meter: Meter) -> Mapping[str, int]:
    """Count the messages that were never counted in this model's unit, once, and keep the counts."""
    unit = meter.unit.name
    new = [node for node in nodes if unit not in node.counts]
    if not new:
        return {}

    def count() -> dict[str, int]:
        return {node.id: meter.count_message(node.message) for node in new}

    missing = await asyncio.to_thread(count) if len(new) > MANY else count()
    with suppress(ReadOnly):
        await store.messages.set_counts(unit, missing)
    return missing


async def _counted(store: Store, stored: StoredContext, meter: Meter) -> StoredContext:
    """Count what was never counted, and give it with its counts."""
    unit, missing = meter.unit.name, await _count(store, stored.branch, meter)
    if not missing:
        return stored

    def with_counts(branch: Branch) -> Branch:
        return tuple(
            replace(node, counts={**node.counts, unit: missing[node.id]}) if node.id in missing else node
            for node in branch
        )

    return replace(stored, leading=with_counts(stored.leading), retained=with_counts(stored.retained))


def _overhead(reading: Reading) -> Overhead:
    sections = dict(reading.breakdown)
    return Overhead(
        system=sum(sections.get(name, 0) for name in ("system", "frame")),
        tools=sections.get("tools", 0),
        pins=sections.get("pins", 0),
    )


def _bounded(recipe: ContextInputs, meter: Meter, budget: Budget) -> ContextInputs:
    """Show a tool output that would take more than its share by head and tail; always cut from the original."""
    most = budget.available // OUTPUT_SHARE
    pinned = {pin.node.id for pin in recipe.pins}
    long = {
        node.id
        for node in (*recipe.carried, *recipe.retained)
        if node.message.results and node.id not in pinned and meter.count_node(node) > most
    }
    if long:
        nodes = recipe.carried + recipe.branch
        long -= {nodes[i].id for i in looked_up([node.message for node in nodes])}
    if not long:
        return recipe

    def shown(branch: Branch) -> Branch:
        return tuple(
            replace(preview(node, most * OUTPUT_CHARACTERS), counts={}) if node.id in long else node
            for node in branch
        )

    return replace(recipe, carried=shown(recipe.carried), branch=shown(recipe.branch))
