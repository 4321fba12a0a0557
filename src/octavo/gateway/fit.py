"""Measures a request, and makes a context that fits if the request does not.

Each message is counted once: the size of every prefix is cached by its digest. Reasoning is counted apart, because only
the reasoning of the current turn is sent to a model.

The engine makes the context from the stored tree, with the snapshot that serves the branch. Retained messages are sent
as the client wrote them this time, with its system prompt, cache markers and reasoning.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import pairwise

from octavo.core.budget import REPLY_SHARE, Budget, ModelCard, Overhead, Reading
from octavo.core.context import Context
from octavo.core.json_values import Json
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    ToolResult,
    last_turn,
    system,
)
from octavo.core.policy import Compress, Decision, Keep, Policy, Urgency, budget_for, decide
from octavo.core.price_rule import NEVER_DEAR, Habits, habits_of
from octavo.core.protocol import Rules
from octavo.core.tools import Tool
from octavo.core.transcript import describe
from octavo.core.wire import Wired, write
from octavo.core.wire.cache_markers import (
    MOST_MARKERS,
    count_markers,
    marker_of,
    newest_marker,
    with_marker,
)
from octavo.core.wire.responses import reasoning_characters
from octavo.engine.compression import CompressionRequest, choose_cut
from octavo.engine.history import BranchMatch, digests_of, in_callers_words, without_reasoning
from octavo.engine.settings import policy_of
from octavo.engine.state import TipState
from octavo.engine.turn import PreparedRequest, prepare
from octavo.errors import BadBudget, ContextOverflow
from octavo.gateway.dialects.dialect import ClientRequest, Dialect
from octavo.gateway.gateway import Gateway
from octavo.gateway.translate.requests import for_any_model
from octavo.meters.meter import Meter

SURE = 2
"""A body fits under any mark if it has at most half as many bytes as there is room in tokens."""
ROUGH = 2.0
"""A sum of plain counts that lies this far from the mark is not calibrated: no calibration is off by so much."""
REASONING_CHARACTERS = 3
"""Characters in a token of reasoning, on the safe side: only the provider knows the true count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSize:
    """The size of a request as the client sent it."""

    reading: Reading
    budget: Budget | None
    """How the window is divided; None if there is too little room to divide."""
    limit: int
    """The most tokens that are sent unchanged: the hard mark or, without a budget, the room beside the answer."""
    known: Mapping[Message, int]
    """Tokens of single messages; empty if the sum alone was needed."""


async def load_vocabulary(meter: Meter) -> Meter:
    """Load the vocabulary of a meter in a thread, if it is not loaded yet."""
    if "unit" not in meter.__dict__:
        await asyncio.to_thread(lambda: meter.unit)
    return meter


async def settings_for(gateway: Gateway, request: ClientRequest, branch: BranchMatch) -> dict[str, Json]:
    """Resolve the settings of a request: those of its conversation, then what the request itself says."""
    where = "" if branch.new else branch.conversation
    known = gateway.cache.settings(where)
    if known is None:
        known = await gateway.engine.settings.of(where or None)
        gateway.cache.keep_settings(where, known)
    # A request brings its own system prompt, or none. A system prompt from the settings is for chats.
    said: dict[str, Json] = {**known, "model": request.model, "system": request.prompt or None}
    if request.reply is not None:
        window = (await gateway.engine.models.meter(request.model)).card.window
        said["reply"] = request.reply + reasoning_reserve(request, window - request.reply)
    if request.options.policy:
        said["policy"] = request.options.policy
    return said


def reasoning_tokens(request: ClientRequest) -> int:
    """Estimate the reasoning in the current turn: it is sent back to the model, and stored counts leave it out."""
    start = last_turn(request.messages) or 0
    thoughts = (
        part for message in request.messages[start:] for part in message.parts if isinstance(part, Reasoning)
    )
    return sum(math.ceil(reasoning_characters(part) / REASONING_CHARACTERS) for part in thoughts)


def counted_reasoning(request: ClientRequest, meter: Meter) -> int:
    """Count the reasoning in the current turn: by its text or, where that is hidden, by its length."""
    start = last_turn(request.messages) or 0
    return sum(
        meter.count_text(part.text)
        if part.text
        else math.ceil(reasoning_characters(part) / REASONING_CHARACTERS)
        for message in request.messages[start:]
        for part in message.parts
        if isinstance(part, Reasoning)
    )


def reasoning_reserve(request: ClientRequest, room: int) -> int:
    """Reserve room for the reasoning of the current turn: no more than its share of what is sent.

    If the turn itself has to be compressed, the reasoning of what is covered goes with it.
    """
    thoughts = reasoning_tokens(request)
    if not thoughts:
        return 0
    turn = request.messages[last_turn(request.messages) or 0 :]
    said = sum(len(line) for message in turn for part in message.parts if (line := describe(part)))
    share = thoughts / (thoughts + said / REASONING_CHARACTERS)
    return min(thoughts, math.ceil(max(0, room) * share))


def usual_reply(card: ModelCard) -> int:
    """The room for an answer if the client names none."""
    return min(card.max_output, card.window // REPLY_SHARE)


def with_usual_reply(settings: Mapping[str, Json], card: ModelCard) -> dict[str, Json] | None:
    """Reserve less for the answer than the client asks for; None if it asks for no more than is usual.

    A client may ask for more than the window has: it gets what is left there. No provider that adds the reserve to the
    messages could ever serve it, so the one behind this model does not add it.
    """
    reply, usual = settings.get("reply"), usual_reply(card)
    return {**settings, "reply": usual} if isinstance(reply, int) and reply > usual else None


def surely_fits(request: ClientRequest, meter: Meter) -> bool:
    """Tell by its bytes that a request fits: a token has at least one byte, except in what is only linked."""
    usual = usual_reply(meter.card)
    reserved = request.reply or usual
    room = meter.card.window - (reserved if reserved < meter.card.window else usual)
    if meter.card.price is not None:
        room = min(room, NEVER_DEAR)
    small = len(request.raw) * SURE < room
    return small and not any(
        _may_exceed_its_bytes(part) for message in request.messages for part in message.parts
    )


def _may_exceed_its_bytes(part: Part) -> bool:
    """Tell whether a part may have more tokens than bytes: a link to an image is short, the image is not."""
    if isinstance(part, ToolResult):
        return any(_may_exceed_its_bytes(piece) for piece in part.content)
    return isinstance(part, Image | Attachment | Opaque)


def measure_request(
    gateway: Gateway,
    request: ClientRequest,
    branch: BranchMatch,
    meter: Meter,
    settings: Mapping[str, Json],
    *,
    misses: float = 0.0,
) -> RequestSize:
    """Measure a request as the client sent it; what was counted before is not counted again."""
    sums = prefix_sizes(gateway, meter, request.messages, branch.digests)
    prompt = prefix_sizes(gateway, meter, request.system, digests_of(request.system))[-1:]
    frame, tools = meter.unit.frame.request, _tools(gateway, meter, request.tools)
    overhead = Overhead(system=sum(prompt) + frame, tools=tools)
    total = overhead.total + sums[-1]
    growing = [after - before for before, after in pairwise([0, *sums])]
    sizes = zip(growing, (message.role == "assistant" for message in request.messages), strict=True)
    budget = _budget(gateway, meter, settings, overhead, habits_of(sizes, misses=misses))
    limit = budget.hard if budget else _room(meter, request)
    if not limit / ROUGH < total < limit * ROUGH:
        return RequestSize(reading=Reading(tokens=total), budget=budget, limit=limit, known={})
    before = [0, *sums]
    known = {without_reasoning(m): sums[i] - before[i] for i, m in enumerate(request.messages)}
    return RequestSize(
        reading=meter.read(request_context(request), known), budget=budget, limit=limit, known=known
    )


def decide_request(size: RequestSize, policy: Policy) -> Decision:
    """Decide about a request by the rule that every turn follows.

    Without a budget there are no marks: what fits the window is sent, and the provider decides.
    """
    if size.budget is not None:
        return decide(policy, size.budget, size.reading)
    tokens = size.reading.cautious
    return Keep("fits") if tokens <= size.limit else Compress("hard", "mark", tokens, size.limit)


def request_context(request: ClientRequest) -> Context:
    """Give a request as a context, without reasoning."""
    return Context(
        system=(system(request.prompt),) if request.prompt.strip() else (),
        tools=request.tools,
        retained=tuple(without_reasoning(message) for message in request.messages),
    )


def prefix_sizes(
    gateway: Gateway, meter: Meter, messages: Sequence[Message], digests: Sequence[bytes]
) -> list[int]:
    """Add up the tokens of messages: entry `i` is the sum of the first `i + 1`."""
    unit, sums = meter.unit.name, list[int]()
    for message, digest in zip(messages, digests, strict=True):
        known = gateway.cache.sizes.get((unit, digest))
        if known is None:
            known = (sums[-1] if sums else 0) + meter.count_message(without_reasoning(message))
            gateway.cache.sizes.put((unit, digest), known)
        sums.append(known)
    return sums


def _tools(gateway: Gateway, meter: Meter, tools: tuple[Tool, ...]) -> int:
    if not tools:
        return 0
    key = (meter.unit.name, tools)
    known = gateway.cache.tools.get(key)
    if known is None:
        known = meter.count_tools(tools)
        gateway.cache.tools.put(key, known)
    return known


def _budget(
    gateway: Gateway, meter: Meter, settings: Mapping[str, Json], overhead: Overhead, habits: Habits
) -> Budget | None:
    reply = settings.get("reply")
    try:
        return budget_for(
            policy_of(settings, meter),
            meter.card,
            overhead=overhead,
            reply=reply if isinstance(reply, int) else None,
            habits=habits,
            writer=gateway.engine.models.writer_price(settings, meter.card),
        )
    except BadBudget:
        return None


def _room(meter: Meter, request: ClientRequest) -> int:
    """The room in the window beside the answer; the whole window if the answer would take all of it."""
    room = meter.card.window - (request.reply or 0)
    return room if room > 0 else meter.card.window


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedContext:
    """A context that fits, and its messages in the provider's format."""

    state: TipState
    """What it was made from."""
    wired: Wired
    context: Context
    tokens: int
    mark: int
    """The hard mark that it fits under."""
    compressed: bool
    recalled: int
    """Covered messages that were recalled for the newest message."""


async def fit(
    gateway: Gateway,
    dialect: Dialect,
    request: ClientRequest,
    conversation: str,
    tip: str,
    *,
    settings: Mapping[str, Json],
    rules: Rules,
    forced: bool = False,
    spare: int = 0,
) -> FittedContext:
    """Make a context that fits; raise `ContextOverflow` or `BadBudget` with the numbers if none can."""
    ready: PreparedRequest | None = None
    focus = request.options.focus
    steps = prepare(
        gateway.engine,
        conversation,
        tip,
        request.tools,
        forced=forced,
        spare=spare,
        focus=focus,
        override=settings,
    )
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, PreparedRequest):
                ready = step
            else:
                gateway.host.announce(conversation, step)
    if ready is None:
        raise ContextOverflow("nothing can be sent", {})
    worded = in_callers_words(ready, request.system, request.messages)
    worded = replace(worded, retained=for_any_model(worded.retained, request, dialect.name))
    if dialect.name == "anthropic":
        worded = with_cache_markers(worded, request)
    hardened = ready.state.sent(worded, rules)
    return FittedContext(
        state=ready.state,
        wired=write(dialect.name, hardened.messages),
        context=ready.context,
        tokens=ready.state.meter.read(ready.context, ready.state.counts).tokens,
        mark=ready.state.budget.hard,
        compressed=bool(ready.context.summary or ready.context.omitted or ready.notes),
        recalled=len({passage.source for passage in ready.recalled}),
    )


def covers_more(state: TipState, urgency: Urgency, stable: int) -> bool:
    """Tell whether the usual cut would cover more than the first `stable` messages."""
    cut = choose_cut(state, CompressionRequest(urgency=urgency))
    return cut is not None and state.recipe.branch[cut.cut - 1].depth > stable


def with_cache_markers(context: Context, request: ClientRequest) -> Context:
    """Mark the end of the snapshot and the newest message, for a client that marks its messages.

    The markers that the client put on messages that are still sent are there already.
    """
    marker = newest_marker(request.messages)
    if marker is None:
        return context
    kept = sum(marker_of(part) is not None for m in context.retained for part in m.parts)
    beside = count_markers(request.body) - sum(
        marker_of(part) is not None for m in request.messages for part in m.parts
    )
    free = MOST_MARKERS - beside - kept
    if free > 0 and newest_marker(context.retained[-1:]) is None:
        context, free = (
            replace(context, retained=with_marker(context.retained, marker)),
            free - 1,
        )
    if free > 0 and context.summary:
        context = replace(context, summary=with_marker(context.summary, marker))
    return context
