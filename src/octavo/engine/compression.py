"""One compression, from plan to stored snapshot. Every compression takes this path, whoever asked for it.

Pick, split, claim the job, ask the summariser, fill with extracts, verify, store. No transaction is open while a model
works; the draft holds its own anchor and cutoff, so a moving tip cannot misplace it; the job row keeps a second
worker away, and finishing is refused if what was covered has changed meanwhile. A failure changes nothing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from octavo.core.budget import Price, Reading
from octavo.core.context import Context, build_context
from octavo.core.memory_tools import ANSWERS_SHARE, kept_answers, lookups
from octavo.core.messages import Branch, Node, opens_turn
from octavo.core.policy import (
    Compress,
    KeepNothing,
    KeepShare,
    KeepTokens,
    Policy,
    Retain,
    Urgency,
    retained_tokens,
)
from octavo.core.price_rule import Payback, cache_prices, payback
from octavo.core.protocol import Rules
from octavo.core.recall.render import render
from octavo.core.reply import Usage
from octavo.core.snapshot import Kind, Snapshot, look_ahead, says_nothing
from octavo.core.split import Split, protocol_cuts, split, tool_cuts
from octavo.core.summary import Narrative, SummaryJob
from octavo.core.verify import Problem, context_problems, fatal, size_problems
from octavo.engine.outcome import (
    Compressed,
    CompressionEnded,
    CompressionPlan,
    CompressionStarted,
    Event,
    Failed,
    Outcome,
    Rejected,
    Skipped,
    SummaryText,
)
from octavo.engine.read_ahead import base_of
from octavo.engine.state import LONG, TipState
from octavo.engine.summary_writing import NARRATIVE_SHARE, Deadline, WrittenSummary, write_summary
from octavo.engine.worker import Pages, PrefixForgotten, WorkerOverdue, WorkerPool
from octavo.engine.worker_task import MadeSnapshot, SnapshotTask
from octavo.errors import BadInput, NotFound, ProviderError
from octavo.protocols import Continuing, Summariser
from octavo.store.ids import new_id
from octavo.store.values import Busy, Job, Refused, Stale

if TYPE_CHECKING:
    from octavo.core.receipt import Receipt
    from octavo.store.store import Store

PRESSED_SHARE = 0.5
"""Share of its room that a snapshot gets in a second attempt, after one that used all of it left too little for the
rest."""
LAST = 1_000
"""Messages at the end of a very long branch that are chosen from as they are; those before them are read in blocks."""
HEARTBEAT = 10.0
"""Seconds between renewals of the lease."""
WAITED_FOR, NOT_WAITED_FOR = 20.0, 300.0
"""Seconds that a whole compression may take: one that a turn waits for, and any other."""
SECONDS_A_MESSAGE = 0.005
"""Seconds more for each message of a very long branch, unless a turn waits: one takes a fifth of a millisecond on a
machine with nothing else to do."""
FOR_LINES = 5.0
"""Seconds of these that are kept for choosing the exact lines: for 1,000,000 tokens that takes about two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionRequest:
    """What is asked of a compression."""

    urgency: Urgency
    kind: Kind = "auto"
    focus: str = ""
    retain: Retain | None = None
    """None: as the policy says."""
    up_to: str | None = None
    """Cover everything up to this node, and nothing after it."""
    replaces: Snapshot | None = None
    """Make a new version of this snapshot: cover what it covers."""
    id: str | None = None
    """The id under which its job is stored."""
    until: float | None = None
    """When it must be over, by the event loop's clock; None: its urgency decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionTools:
    """What a compression works with."""

    store: Store
    summariser: Summariser | None
    rules: Rules
    worker: str
    workers: WorkerPool
    price: Price | None = None
    """What the summariser costs."""
    writer: str = ""
    """What the summariser is called, for logs."""
    unasked: str = ""
    """Why there is no summariser."""
    requests: int | None = None
    """How often the summariser may be asked; None: as often as it takes."""


def choose_cut(state: TipState, request: CompressionRequest) -> Split | None:
    """Choose where to cut, as an index into the nodes of the branch."""
    branch = state.recipe.branch
    said = [node.message for node in branch]
    start = _start(state)
    if request.up_to or request.replaces:
        return _cut_at(state, request.up_to or request.replaces.cutoff)  # type: ignore[union-attr]
    retain = request.retain or _usual(state.policy, request)
    if isinstance(retain, KeepShare) and retain.unit == "characters":
        sizes = [len(message.text) + sum(len(result.text) for result in message.results) for message in said]
        history = sum(sizes[start:])
        unit = history / max(1, sum(_sent_size(state, node) for node in branch[start:]))
    else:
        sizes = [_sent_size(state, node) for node in branch]
        history, unit = state.history, 1.0
    keep = None if isinstance(retain, KeepNothing) else _kept(state, request, retain, history, unit)
    room = None if request.urgency == "soft" else math.floor(_beside(state) * unit)
    # A person who says how much is to stay gets that much.
    frees = state.policy.frees if request.retain is None else 0.0
    cut = split(
        said,
        sizes,
        keep,
        start=start,
        room=room,
        boundary=state.policy.boundary,
        frees=frees,
        held=math.floor(_tokens(state, _answers(state, start)) * unit),
        answers=math.floor(_beside(state) * ANSWERS_SHARE * unit),
    )
    waits = request.urgency == "soft" and not state.budget.priced
    # A cut inside a turn loses what the provider had cached of that turn, so it is made only when the window is full.
    return None if waits and cut is not None and cut.inside else cut


def _sent_size(state: TipState, node: Node) -> int:
    """Count a message with the passages that are sent before its text."""
    passages = state.recipe.recalled.get(node.id, ())
    return state.size(node) + (state.meter.count_text(render(passages)) if passages else 0)


def _beside(state: TipState) -> int:
    """Tokens that can be sent beside a snapshot."""
    return max(0, state.budget.available - state.budget.snapshot)


def _answers(state: TipState, cut: int) -> Branch:
    """Give what was looked up in the current turn: it is sent even if a snapshot that is cut there covers it."""
    if not _goes_on(state, cut):
        return ()
    most = math.floor(_beside(state) * ANSWERS_SHARE)
    return kept_answers(_turn_before(state, cut), state.size, most)


def _goes_on(state: TipState, cut: int) -> bool:
    """Tell whether a cut falls inside the last turn."""
    after = state.recipe.branch[cut:]
    return bool(after) and not any(opens_turn(node.message) for node in after)


def _turn_before(state: TipState, cut: int) -> Branch:
    """Give the part of the current turn that lies before a cut."""
    return state.recipe.carried + state.recipe.branch[_start(state) : cut]


def _usual(policy: Policy, request: CompressionRequest) -> Retain:
    by_hand = policy.retain_by_hand if request.urgency == "manual" else None
    return by_hand or policy.retain


def _kept(state: TipState, request: CompressionRequest, retain: Retain, history: int, unit: float) -> int:
    """Say how much may stay verbatim, in the unit of the history: never more than can be sent beside a snapshot.

    `unit` is what a token has of it on the average: 1, or some characters.

    What a policy wants to keep of a history far above the mark, as an import brings it, is cut to what it would keep at
    the mark. A person who asks for more gets as much as fits.
    """
    wanted, budget = retained_tokens(retain, history), state.budget
    mark, cut = (budget.trigger, budget.retained) if request.retain is None else (budget.hard, budget.hard)
    room = mark - budget.overhead.total - budget.snapshot
    return wanted if wanted <= room * unit else math.floor(max(0, min(cut, room)) * unit)


def _tokens(state: TipState, nodes: Branch) -> int:
    return sum(state.size(node) for node in nodes)


def _covered_tokens(state: TipState, cut: Split) -> int:
    """Count what a cut covers beyond what is covered already."""
    unloaded = state.unloaded.tokens if state.unloaded else 0
    return unloaded + _tokens(state, state.recipe.branch[_start(state) : cut.cut])


def _covered_messages(state: TipState, cut: Split) -> int:
    """Count them; system messages at the beginning are never covered."""
    return _unloaded(state) + cut.cut - max(_start(state), len(state.recipe.leading))


def _unloaded(state: TipState) -> int:
    return state.unloaded.messages if state.unloaded else 0


def _start(state: TipState) -> int:
    """Where the previous snapshot ended."""
    cutoff = state.recipe.snapshot.cutoff_depth if state.recipe.snapshot else 0
    return sum(node.depth <= cutoff for node in state.recipe.branch)


def _cut_at(state: TipState, node_id: str) -> Split | None:
    """Cut right after a node, or at the nearest safe place before it."""
    branch = state.recipe.branch
    said = [node.message for node in branch]
    safe = tool_cuts(said) & protocol_cuts(said)
    wanted = next((i for i, node in enumerate(branch) if node.id == node_id), -1) + 1
    if not wanted and state.unloaded is not None:
        raise BadInput(
            "up_to",
            f"it is none of the last {len(branch):,} messages; the {state.unloaded.messages:,} before them are too "
            "many to be looked at one by one: compress without it first",
        )
    cuts = [cut for cut in safe if _start(state) < cut <= wanted and cut > len(state.recipe.leading)]
    return Split(max(cuts)) if cuts else None


def make_plan(
    state: TipState, request: CompressionRequest, decision: Compress, cut: Split | None
) -> CompressionPlan:
    """Say what a compression would do: exact numbers where they are known, the cap where they are not."""
    branch, previous = state.recipe.branch, state.recipe.snapshot
    start = _start(state)
    retained = branch[cut.cut :] if cut else branch[start:]
    before = previous.messages if previous else 0
    kept = _tokens(state, retained) + (_tokens(state, _answers(state, cut.cut)) if cut else 0)
    after = state.budget.overhead.total + min(state.budget.snapshot, state.history) + kept
    leading = len(state.recipe.leading)
    return CompressionPlan(
        decision=decision,
        reading=state.reading,
        budget=state.budget,
        messages=before + _unloaded(state) + len(branch) - max(leading, start),
        covered=before + (_covered_messages(state, cut) if cut else 0),
        retained=len(retained) if cut else len(branch) - max(leading, start),
        covered_tokens=_covered_tokens(state, cut) if cut else 0,
        retained_tokens=kept,
        after_cap=min(after, state.reading.tokens) if cut else state.reading.tokens,
        reason=_reason(state, request, cut),
        payback=_payback(state, after) if cut else None,
    )


def _payback(state: TipState, after: int) -> Payback | None:
    card = state.meter.card
    prices = cache_prices(card, state.writer)
    if prices is None or card.price is None:
        return None
    fixed, before = state.budget.overhead.total, state.reading.tokens
    return payback(card.price, prices, state.habits, fixed=fixed, before=before, after=min(after, before))


def _reason(state: TipState, request: CompressionRequest, cut: Split | None) -> str:
    if cut is None:
        return "nothing to compress: the last turn is all there is after the previous snapshot"
    tokens, mark = state.reading.cautious, state.budget.trigger
    where = "above" if tokens > mark else "below"
    asked = {"manual": "asked for", "soft": "between turns", "hard": "before sending"}[request.urgency]
    return f"{asked}: {tokens:,} tokens, {where} the mark of {mark:,}"


async def compress(
    state: TipState, request: CompressionRequest, tools: CompressionTools
) -> AsyncGenerator[Event]:
    """Compress; yields what happens and, last, how it ended."""
    cut = choose_cut(state, request)
    if cut is None:
        yield CompressionEnded(Skipped("nothing", "there is nothing to compress"))
        return
    if request.urgency != "manual" and (hopeless := _hopeless(state, cut)):
        yield CompressionEnded(Skipped("nothing", hopeless))
        return
    held = await _claim(state, cut, request, tools)
    if not isinstance(held, Job):
        yield CompressionEnded(held)
        return
    yield CompressionStarted(
        urgency=request.urgency,
        messages=_covered_messages(state, cut),
        tokens=_covered_tokens(state, cut),
    )
    beat = asyncio.create_task(_keep_alive(tools.store, held, asyncio.current_task()))
    if request.until is None:
        now = asyncio.get_running_loop().time()
        more = _depth(state, cut) * SECONDS_A_MESSAGE if _depth(state, cut) > LONG else 0.0
        request = replace(request, until=now + _seconds_allowed(request, more))
    try:
        async with aclosing(_work(state, cut, request, tools, held)) as work:
            async for event in work:
                yield event
    except BaseException as error:
        reason = str(error) if isinstance(error, Exception) else "stopped"
        await asyncio.shield(tools.store.jobs.fail(held, reason))
        raise
    finally:
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat


def _seconds_allowed(request: CompressionRequest, more: float = 0.0) -> float:
    return WAITED_FOR if request.urgency == "hard" else NOT_WAITED_FOR + more


def takes_long(state: TipState) -> bool:
    """Tell whether no turn would wait until all of it is compressed: more than a hundred thousand messages."""
    return state.unloaded is not None and state.unloaded.messages > LONG


def _depth(state: TipState, cut: Split) -> int:
    """How many messages a cut covers, system messages at the beginning included."""
    return state.recipe.branch[cut.cut - 1].depth


def _hopeless(state: TipState, cut: Split) -> str:
    """Say why even an empty snapshot would not be accepted; an empty text means that one may be.

    This happens when the last turn is nearly all there is. It is no failure: the turn can be compressed after the next
    one.
    """
    before = state.reading.tokens
    sent = (*_answers(state, cut.cut), *state.recipe.branch[cut.cut :])
    kept = state.budget.overhead.total + sum(_sent_size(state, node) for node in sent)
    problems = (*size_problems(state.policy, state.budget, before, kept),)
    return "; ".join(problem.detail for problem in problems if problem.fatal)


async def _claim(
    state: TipState, cut: Split, request: CompressionRequest, tools: CompressionTools
) -> Job | Skipped:
    branch = state.recipe.branch
    claimed = await tools.store.jobs.claim(
        state.conversation,
        anchor=_turn_of(branch, cut.cut).id,
        worker=tools.worker,
        seen=state.serving,
        tip=state.tip,
        trigger=request.urgency,
        id=request.id,
    )
    match claimed:
        case Busy():
            return Skipped("busy", "this branch is being compressed already")
        case Stale():
            return Skipped("busy", "this branch has just been compressed")
        case job:
            return job


def _turn_of(branch: Branch, cut: int) -> Node:
    """Give the node by which compressions of the same turn exclude each other, wherever they cut."""
    return next((node for node in reversed(branch[cut:]) if opens_turn(node.message)), branch[cut - 1])


async def _keep_alive(store: Store, held: Job, worker: asyncio.Task[object] | None) -> None:
    """Renew the lease; when the job was taken away or cancelled, stop the worker."""
    while True:
        await asyncio.sleep(HEARTBEAT)
        if not await store.jobs.renew(held):
            if worker:
                worker.cancel("the job was cancelled or taken over")
            return


@dataclass(frozen=True, slots=True)
class Attempted:
    """One way to make a snapshot: where it is cut, and how much it may say."""

    cut: Split
    pressed: bool = False
    """Whether it is made again with half the room, because the first result could not be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A snapshot that was made, and what the next request would hold with it."""

    made: MadeSnapshot
    written: WrittenSummary
    context: Context
    reading: Reading

    @property
    def tokens(self) -> int:
        return self.reading.cautious


async def _work(
    state: TipState, cut: Split, request: CompressionRequest, tools: CompressionTools, held: Job
) -> AsyncGenerator[Event]:
    """Make a snapshot; as long as the next request cannot be sent with it, make it smaller."""
    started, spent, asked = time.monotonic(), Usage(), 0
    trying: Attempted | None = Attempted(cut)
    best: Proposal | None = None
    while trying is not None:
        written = WrittenSummary()
        left = None if tools.requests is None else tools.requests - asked
        async with aclosing(_write(state, trying, request, tools, left)) as writing:
            async for step in writing:
                if isinstance(step, WrittenSummary):
                    written = step
                else:
                    yield step
        spent, asked = spent + written.narrative.usage, asked + written.narrative.requests
        found = await _propose(state, trying, request, tools, written)
        if isinstance(found, Failed):
            if best is not None:
                break
            await tools.store.jobs.fail(held, found.error)
            yield CompressionEnded(found, written.unwritten, spent)
            return
        best = found if best is None or found.tokens < best.tokens else best
        trying = _smaller(state, request, trying) if found.tokens > state.budget.hard else None
        if trying is not None and tools.summariser is not None:
            yield SummaryText("")
    assert best is not None
    paper = replace(
        best.made.receipt,
        seconds=time.monotonic() - started,
        summary_requests=asked,
        summary_input=spent.input,
        summary_output=spent.output,
        summary_price=cost(spent, tools.price),
        **_authorship(best.written, tools, spent),
    )
    outcome = await _conclude(state, request, tools, held, best, paper)
    yield CompressionEnded(outcome, written.unwritten, spent)


def _smaller(state: TipState, request: CompressionRequest, tried: Attempted) -> Attempted | None:
    """Say how a result that cannot be sent is made smaller: retain less, then say less; None if neither helps."""
    less = choose_cut(state, replace(request, retain=KeepTokens(0)))
    if less is not None and less.cut > tried.cut.cut:
        return replace(tried, cut=less)
    return None if tried.pressed else replace(tried, pressed=True)


async def _write(
    state: TipState,
    trying: Attempted,
    request: CompressionRequest,
    tools: CompressionTools,
    left: int | None,
) -> AsyncGenerator[SummaryText | WrittenSummary]:
    """Have a summary written in so many requests; the last value says what came of it. Without requests, none comes."""
    if tools.summariser is None or left == 0:
        return
    job = replace(_summary_job(state, trying, request), most=left)
    if isinstance(tools.summariser, Continuing) and tools.summariser.continues(state.model):
        job = replace(job, live=_live(state, trying.cut))
    assert request.until is not None
    deadline = Deadline(at=request.until - FOR_LINES, allowed=_seconds_allowed(request))
    async with aclosing(write_summary(tools.summariser, job, tools.writer, deadline)) as writing:
        async for step in writing:
            yield step


async def _propose(
    state: TipState,
    trying: Attempted,
    request: CompressionRequest,
    tools: CompressionTools,
    written: WrittenSummary,
) -> Proposal | Failed:
    """Make the snapshot; if somebody waits for it and there is no summary, the exact lines speak alone."""
    error = written.error
    if error and (
        request.urgency == "soft" or (request.urgency == "manual" and isinstance(error, ProviderError))
    ):
        return Failed(str(error), getattr(error, "retryable", True))
    try:
        made = await _make(state, trying, request, tools, written.narrative)
    except (NotFound, WorkerOverdue) as lost:  # deleted meanwhile, or nobody would wait for it
        return Failed(str(lost))
    context = build_context(state.served_by(made.snapshot))
    return Proposal(
        made=made, written=written, context=context, reading=state.meter.read(context, state.counts)
    )


class Authorship(TypedDict):
    """Who wrote a summary, and what it cost; or why nobody did."""

    model: str
    price: float | None
    no_summary: str
    taken_out: tuple[str, ...]
    taken_out_count: int


def _authorship(written: WrittenSummary, tools: CompressionTools, spent: Usage) -> Authorship:
    """Name who contributed to a snapshot: a model whose answer was of no use did not, whatever it cost."""
    narrative = written.narrative
    if narrative.text:
        taken_out = tuple(dict.fromkeys(narrative.doubtful))
        return Authorship(
            model=narrative.model,
            price=cost(spent, tools.price),
            no_summary="",
            taken_out=taken_out,
            taken_out_count=len(taken_out),
        )
    none_left = f"the model was asked {tools.requests} times, and may not be asked again"
    why = written.unwritten.reason if written.unwritten else tools.unasked or none_left
    return Authorship(model="", price=None, no_summary=why, taken_out=(), taken_out_count=0)


def _summary_job(state: TipState, trying: Attempted, request: CompressionRequest) -> SummaryJob:
    branch, previous = state.recipe.branch, state.recipe.snapshot
    start = max(_start(state), len(state.recipe.leading))
    focus = "\n".join(text for text in (str(state.settings.get("instructions") or ""), request.focus) if text)
    return SummaryJob(
        covered=branch[start : trying.cut.cut],
        previous=previous.summary if previous else "",
        recent=_shown(state, trying.cut),
        prompt=state.policy.prompt,
        style="concise" if trying.pressed else "detailed",
        focus=focus,
        cap=math.floor(_room(state.budget.snapshot, trying) * NARRATIVE_SHARE),
    )


def _room(tokens: int, trying: Attempted) -> int:
    return max(1, math.floor(tokens * PRESSED_SHARE)) if trying.pressed else tokens


def _shown(state: TipState, cut: Split) -> Branch:
    """Give what the summariser sees of what stays."""
    return look_ahead(state.recipe.branch, cut.cut, question=state.policy.shows_question)


def _live(state: TipState, cut: Split) -> Context:
    """Give what the chat model was sent, up to the anchor: a snapshot must not contain anything that follows it."""
    shown = (*state.recipe.branch[: cut.cut], *_shown(state, cut))
    return build_context(replace(state.recipe, branch=shown, pending=()))


async def _make(
    state: TipState,
    trying: Attempted,
    request: CompressionRequest,
    tools: CompressionTools,
    narrative: Narrative,
) -> MadeSnapshot:
    """Draft the snapshot and choose its extracts anew from all originals it covers."""
    branch, previous, cut = state.recipe.branch, state.recipe.snapshot, trying.cut
    task = SnapshotTask(
        id=new_id(),
        whole=(),
        leading=len(state.recipe.leading),
        after=branch[cut.cut :],
        shortened=state.shortened,
        shown=len(_shown(state, cut)) if narrative.text else 0,
        # Its lines are chosen again from the originals: only where it stands in the tree is asked for.
        previous=replace(previous, extracts=(), receipt="") if previous else None,
        replaces=request.replaces,
        summary=narrative.text or (previous.summary if previous else ""),
        cap=_room(min(state.budget.snapshot, max(1, state.history)), trying),
        pins=tuple(pin.text for pin in state.recipe.pins),
        focus=request.focus,
        voice=state.policy.voice,
        answers=tuple(node.id for node in _answers(state, cut.cut)),
    )
    before = _covered_tokens(state, cut)
    before += previous.tokens_before if previous else 0
    left = (request.until or math.inf) - asyncio.get_running_loop().time()

    async def make(task: SnapshotTask, rest: Pages | None = None) -> MadeSnapshot:
        urgent = request.urgency == "hard"
        return await tools.workers.make(
            task,
            state.meter.count_message,
            tokens=before,
            urgent=urgent,
            seconds=left,
            before=rest,
            kept=branch[cut.cut :],
        )

    made = None
    if (going_on := await _going_on(state, task, cut, tools)) is not None:
        with suppress(PrefixForgotten):
            made = await make(going_on)
    if made is None and _depth(state, cut) > LONG:
        last, rest = await _last_originals(state, cut, tools.store)
        made = await make(replace(task, whole=last), rest)
    elif made is None:
        made = await make(replace(task, whole=await _originals(state, cut, tools.store)))
    snapshot = replace(
        made.snapshot,
        kind=request.kind,
        tokens_before=before,
        model=narrative.model if narrative.text else "",
        prompt=narrative.prompt if narrative.text else "",
        instructions=request.focus,
    )
    return MadeSnapshot(snapshot, made.receipt)


async def _going_on(
    state: TipState, task: SnapshotTask, cut: Split, tools: CompressionTools
) -> SnapshotTask | None:
    """Give the task with what a process has not read yet; None if it has read nothing of it."""
    base, start = base_of(state), _start(state)
    if state.unloaded is not None or (base is None and state.recipe.snapshot is not None):
        return None
    new, covered = state.recipe.branch[start:], cut.cut - start
    # What is sent shortened is not what was said: then only what is covered is of use.
    known, read = tools.workers.known(base, new[:covered] if state.shortened else new)
    if known is None:
        return None
    whole = new[read:covered]
    if whole and state.shortened:
        whole = await tools.store.tree.page(whole[-1].id, limit=len(whole), previews=False)
    return replace(
        task, whole=whole, after=new[max(read, covered) :], continues=known, depth=_depth(state, cut)
    )


async def _originals(state: TipState, cut: Split, store: Store) -> Branch:
    """Give everything down to the cutoff as it was said: a snapshot covers, and its digest proves, the originals."""
    branch = state.recipe.branch
    if state.recipe.snapshot is None and not state.shortened:
        return branch[: cut.cut]
    return await store.tree.branch(branch[cut.cut - 1].id)


async def _last_originals(state: TipState, cut: Split, store: Store) -> tuple[Branch, Pages]:
    """Give the last originals of a long branch, and a way to go through those before them."""
    cutoff = state.recipe.branch[cut.cut - 1]
    above = cutoff.depth - LAST
    (last,) = [page async for page in store.tree.pages(cutoff.id, above=above, stop=cutoff.depth, size=LAST)]
    return last, lambda: store.tree.pages(cutoff.id, above=0, stop=above)


async def _conclude(
    state: TipState,
    request: CompressionRequest,
    tools: CompressionTools,
    held: Job,
    proposal: Proposal,
    paper: Receipt,
) -> Outcome:
    """Verify the draft by the context it leads to; store it, or say why not."""
    made, problems = proposal.made.snapshot, proposal.written.problems
    if says_nothing(made):
        return await _too_small(made, tools, held)
    context, before, after = proposal.context, state.reading.tokens, proposal.reading.tokens
    found = (
        *size_problems(state.policy, state.budget, before, after),
        *context_problems(
            state.recipe.branch, context, state.sent(context, tools.rules).messages, tools.rules
        ),
        *_given_up(state, made),
    )
    if fatal(found):
        why = [*([paper.no_summary] if problems else []), *(problem.detail for problem in found)]
        await tools.store.jobs.fail(held, "; ".join(filter(None, why)))
        return Rejected(found, before, after)
    paper = replace(paper, tokens_before=before, tokens_after=after)
    stored = await tools.store.jobs.finish(held, replace(made, receipt=paper.trimmed().to_json()))
    if isinstance(stored, Refused):
        return Failed(stored.reason)
    return Compressed(
        snapshot=stored, before=before, after=after, urgency=request.urgency, problems=(*problems, *found)
    )


def _given_up(state: TipState, made: Snapshot) -> tuple[Problem, ...]:
    """Report how many answers that were looked up in the current turn had to be covered for lack of room."""
    branch = state.recipe.branch
    cut = sum(node.depth <= made.cutoff_depth for node in branch)
    if not _goes_on(state, cut):
        return ()
    before = _turn_before(state, cut)
    found = lookups([node.message for node in before])
    gone = sum(before[lookup.start].id not in made.answers for lookup in found)
    if not gone:
        return ()
    share = f"they may take {ANSWERS_SHARE:.0%} of the {_beside(state):,} tokens beside a snapshot"
    return (
        Problem("looked_up", f"{gone} of {len(found)} answers looked up in this turn are covered: {share}"),
    )


async def _too_small(made: Snapshot, tools: CompressionTools, held: Job) -> Skipped:
    """Tell whether a history is so short that a snapshot would have no room for any of it."""
    detail = (
        f"a snapshot of {made.messages:,} messages with {made.tokens_before:,} tokens would say nothing of them: "
        "they stay as they are"
    )
    await tools.store.jobs.fail(held, detail)
    return Skipped("too_small", detail)


def cost(usage: Usage, price: Price | None, write: float = 1.0) -> float | None:
    """What a request cost in dollars, if the price is known; what was not cached costs `write` times as much."""
    if price is None or usage.input + usage.output == 0:
        return None
    cached = price.input if price.cached is None else price.cached
    fresh = (usage.input - usage.cached) * write
    return (fresh * price.input + usage.cached * cached + usage.output * price.output) / 1_000_000
