"""One compression, from plan to stored snapshot: the only path there is, whoever asked for it.

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
from typing import TYPE_CHECKING

from octavo.core.budget import Price
from octavo.core.context import Context, build_context
from octavo.core.messages import Branch, Node, opens_turn
from octavo.core.policy import Compress, KeepNothing, KeepShare, Retain, Urgency, retained_tokens
from octavo.core.protocol import Rules
from octavo.core.reply import Usage
from octavo.core.snapshot import Kind, Snapshot, look_ahead, says_nothing
from octavo.core.split import Split, protocol_cuts, split, tool_cuts
from octavo.core.summary import Narrative, SummaryJob
from octavo.core.verify import Flaw, Problem, context_problems, fatal, size_problems
from octavo.engine.aside import Aside, Overdue
from octavo.engine.making import Made, Task
from octavo.engine.outcome import (
    Compressed,
    CompressionEnded,
    CompressionStarted,
    Event,
    Failed,
    Outcome,
    Plan,
    Rejected,
    Skipped,
    SummaryText,
)
from octavo.engine.scene import Scene
from octavo.errors import NotFound, OctavoError, ProviderError, ProviderTimeout
from octavo.protocols import Continuing, Summariser
from octavo.store.ids import new_id
from octavo.store.values import Busy, Job, Refused, Stale

if TYPE_CHECKING:
    from octavo.store.store import Store

NARRATIVE_SHARE = 0.5
"""Share of a snapshot that the narrative may take; the rest is for exact lines."""
HEARTBEAT = 10.0
"""Seconds between renewals of the lease."""
WAITED_FOR, NOT_WAITED_FOR = 20.0, 300.0
"""Seconds a compression may take in all, whatever it takes them for: one that a turn waits for, and any other."""
FOR_LINES = 5.0
"""Seconds of those that are left for the exact lines: those of 1,000,000 tokens take about two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
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
    """What its job is stored as, so that it is found by those who know it by this id."""
    until: float | None = None
    """When it has to have ended, by the event loop's clock; None: as late as its urgency allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a compression works with."""

    store: Store
    summariser: Summariser | None
    rules: Rules
    worker: str
    aside: Aside
    price: Price | None = None
    """What the summariser costs."""


def cut_of(scene: Scene, order: Order) -> Split | None:
    """Choose the cut for an order, as an index into the nodes of the scene's branch."""
    branch = scene.recipe.branch
    said = [node.message for node in branch]
    start = _start(scene)
    if order.up_to or order.replaces:
        return _cut_at(scene, order.up_to or order.replaces.cutoff)  # type: ignore[union-attr]
    retain = order.retain or scene.policy.retain
    if isinstance(retain, KeepShare) and retain.unit == "characters":
        sizes = [len(message.text) + sum(len(result.text) for result in message.results) for message in said]
        history = sum(sizes[start:])
    else:
        sizes = [scene.size(node) for node in branch]
        history = scene.history
    keep = None if isinstance(retain, KeepNothing) else _kept(scene, order, retain, history)
    room = None if order.urgency == "soft" else max(0, scene.budget.available - scene.budget.snapshot)
    return split(said, sizes, keep, start=start, room=room, boundary=scene.policy.boundary)


def _kept(scene: Scene, order: Order, retain: Retain, history: int) -> int:
    """Say how much may stay verbatim, in the unit of the history: never more than can be sent beside a snapshot.

    What a policy wants to keep of a history far above the mark, as an import brings it, is cut to what it would keep at
    the mark. A person who asks for more gets as much as fits.
    """
    wanted, budget = retained_tokens(retain, history), scene.budget
    mark, cut = (budget.trigger, budget.retained) if order.retain is None else (budget.hard, budget.hard)
    room = mark - budget.overhead.total - budget.snapshot
    unit = history / max(1, scene.history)
    return wanted if wanted <= room * unit else math.floor(max(0, min(cut, room)) * unit)


def _tokens(scene: Scene, nodes: Branch) -> int:
    return sum(scene.size(node) for node in nodes)


def _start(scene: Scene) -> int:
    """Where the previous snapshot ended."""
    cutoff = scene.recipe.snapshot.cutoff_depth if scene.recipe.snapshot else 0
    return sum(node.depth <= cutoff for node in scene.recipe.branch)


def _cut_at(scene: Scene, node_id: str) -> Split | None:
    """Cut right after a node, or at the nearest safe place before it."""
    branch = scene.recipe.branch
    said = [node.message for node in branch]
    safe = tool_cuts(said) & protocol_cuts(said)
    wanted = next((i for i, node in enumerate(branch) if node.id == node_id), -1) + 1
    cuts = [cut for cut in safe if _start(scene) < cut <= wanted and cut > len(scene.recipe.leading)]
    return Split(max(cuts)) if cuts else None


def plan_of(scene: Scene, order: Order, decision: Compress, cut: Split | None) -> Plan:
    """Say what a compression would do: exact numbers where they are known, the cap where they are not."""
    branch, previous = scene.recipe.branch, scene.recipe.snapshot
    start = _start(scene)
    covered = branch[start : cut.cut] if cut else ()
    retained = branch[cut.cut :] if cut else branch[start:]
    before = previous.messages if previous else 0
    kept = _tokens(scene, retained)
    after = scene.budget.overhead.total + min(scene.budget.snapshot, scene.history) + kept
    leading = len(scene.recipe.leading)
    new = len(covered) - max(0, leading - start) if covered else 0
    return Plan(
        decision=decision,
        reading=scene.reading,
        budget=scene.budget,
        messages=before + len(branch) - max(leading, start),
        covered=before + new,
        retained=len(retained) if cut else len(branch) - max(leading, start),
        covered_tokens=_tokens(scene, covered),
        retained_tokens=kept,
        after_cap=min(after, scene.reading.tokens) if cut else scene.reading.tokens,
        reason=_reason(scene, order, cut),
    )


def _reason(scene: Scene, order: Order, cut: Split | None) -> str:
    if cut is None:
        return "nothing to compress: the last turn is all there is after the previous snapshot"
    tokens, mark = scene.reading.cautious, scene.budget.trigger
    where = "above" if tokens > mark else "below"
    asked = {"manual": "asked for", "soft": "between turns", "hard": "before sending"}[order.urgency]
    return f"{asked}: {tokens:,} tokens, {where} the mark of {mark:,}"


async def fold(scene: Scene, order: Order, means: Means) -> AsyncGenerator[Event]:
    """Compress; yields what happens and, last, how it ended."""
    cut = cut_of(scene, order)
    if cut is None:
        yield CompressionEnded(Skipped("nothing", "there is nothing to compress"))
        return
    if order.urgency != "manual" and (hopeless := _hopeless(scene, cut)):
        yield CompressionEnded(Skipped("nothing", hopeless))
        return
    held = await _claim(scene, cut, order, means)
    if not isinstance(held, Job):
        yield CompressionEnded(held)
        return
    covered_now = scene.recipe.branch[_start(scene) : cut.cut]
    tokens = _tokens(scene, covered_now)
    yield CompressionStarted(urgency=order.urgency, messages=len(covered_now), tokens=tokens)
    beat = asyncio.create_task(_keep_alive(means.store, held, asyncio.current_task()))
    if order.until is None:
        allowed = WAITED_FOR if order.urgency == "hard" else NOT_WAITED_FOR
        order = replace(order, until=asyncio.get_running_loop().time() + allowed)
    try:
        async with aclosing(_work(scene, cut, order, means, held)) as work:
            async for event in work:
                yield event
    except BaseException:
        await asyncio.shield(means.store.jobs.fail(held, "stopped"))
        raise
    finally:
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat


def _hopeless(scene: Scene, cut: Split) -> str:
    """Say why even a snapshot of no size would not be accepted; empty if one may be.

    So it is when the last turn is nearly all there is. It is no failure: with the next turn, that one can be folded.
    """
    before = scene.reading.tokens
    kept = scene.budget.overhead.total + _tokens(scene, scene.recipe.branch[cut.cut :])
    problems = (*size_problems(scene.policy, scene.budget, before, kept),)
    return "; ".join(problem.detail for problem in problems if problem.fatal)


async def _claim(scene: Scene, cut: Split, order: Order, means: Means) -> Job | Skipped:
    branch = scene.recipe.branch
    claimed = await means.store.jobs.claim(
        scene.conversation,
        anchor=_turn_of(branch, cut.cut).id,
        worker=means.worker,
        seen=scene.serving,
        tip=scene.tip,
        trigger=order.urgency,
        id=order.id,
    )
    match claimed:
        case Busy():
            return Skipped("busy", "this branch is being compressed already")
        case Stale():
            return Skipped("busy", "this branch has just been compressed")
        case job:
            return job


def _turn_of(branch: Branch, cut: int) -> Node:
    """Give the node by which compressions of one turn keep out of each other's way, wherever each of them cuts."""
    return next((node for node in reversed(branch[cut:]) if opens_turn(node.message)), branch[cut - 1])


async def _keep_alive(store: Store, held: Job, worker: asyncio.Task[object] | None) -> None:
    """Renew the lease; when the job was taken away or cancelled, stop the worker."""
    while True:
        await asyncio.sleep(HEARTBEAT)
        if not await store.jobs.renew(held):
            if worker:
                worker.cancel("the job was cancelled or taken over")
            return


async def _work(scene: Scene, cut: Split, order: Order, means: Means, held: Job) -> AsyncGenerator[Event]:
    started = time.monotonic()
    job = _summary_job(scene, cut, order)
    if isinstance(means.summariser, Continuing) and means.summariser.continues(scene.model):
        job = replace(job, live=_live(scene, cut))
    narrative, problems = Narrative(), tuple[Problem, ...]()
    if means.summariser is not None:
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        asked = asyncio.create_task(_narrate(means.summariser, job, pieces))
        try:
            while (piece := await _next(pieces, order)) is not None:
                yield SummaryText(piece)
            narrative = await asked
            problems = narrative.problems
        except (ProviderError, Late) as error:
            if order.urgency == "soft" or (order.urgency == "manual" and isinstance(error, ProviderError)):
                await means.store.jobs.fail(held, str(error))
                yield CompressionEnded(Failed(str(error), getattr(error, "retryable", True)))
                return
            # Somebody waits for it, and a turn must go on: the exact lines speak alone.
            flaw: Flaw = "timeout" if isinstance(error, Late | ProviderTimeout) else "empty"
            problems = (Problem(flaw, f"no summary: {error}"),)
        finally:
            _give_up(asked)
    try:
        made = await _make(scene, cut, order, means, narrative)
    except (NotFound, Overdue) as error:  # deleted meanwhile, or nobody would wait for it
        await means.store.jobs.fail(held, str(error))
        yield CompressionEnded(Failed(str(error)))
        return
    paper = replace(
        made.receipt,
        seconds=time.monotonic() - started,
        model=narrative.model,
        price=cost(narrative.usage, means.price),
    )
    yield CompressionEnded(await _conclude(scene, order, means, held, Made(made.snapshot, paper), problems))


class Late(OctavoError):
    """The summary was not there in time."""


async def _next(pieces: asyncio.Queue[str | None], order: Order) -> str | None:
    """Wait for the next piece of the summary, as long as there is time for it; then for the lines there still is."""
    assert order.until is not None
    try:
        async with asyncio.timeout_at(order.until - FOR_LINES):
            return await pieces.get()
    except TimeoutError:
        allowed = WAITED_FOR if order.urgency == "hard" else NOT_WAITED_FOR
        raise Late(f"it was not finished in the {allowed:g} seconds a compression may take") from None


def _give_up(asked: asyncio.Task[Narrative]) -> None:
    """Stop a summariser; what it still says is nobody's concern."""
    asked.cancel()
    asked.add_done_callback(lambda task: task.cancelled() or task.exception())


async def _narrate(summariser: Summariser, job: SummaryJob, pieces: asyncio.Queue[str | None]) -> Narrative:
    try:
        return await summariser.summarise(job, pieces.put_nowait)
    finally:
        pieces.put_nowait(None)


def _summary_job(scene: Scene, cut: Split, order: Order) -> SummaryJob:
    branch, previous = scene.recipe.branch, scene.recipe.snapshot
    start = max(_start(scene), len(scene.recipe.leading))
    focus = "\n".join(text for text in (str(scene.settings.get("instructions") or ""), order.focus) if text)
    return SummaryJob(
        covered=branch[start : cut.cut],
        previous=previous.summary if previous else "",
        recent=_shown(scene, cut),
        prompt=scene.policy.prompt,
        focus=focus,
        cap=math.floor(scene.budget.snapshot * NARRATIVE_SHARE),
    )


def _shown(scene: Scene, cut: Split) -> Branch:
    """Give what the summariser sees of what stays."""
    return look_ahead(scene.recipe.branch, cut.cut, question=scene.policy.shows_question)


def _live(scene: Scene, cut: Split) -> Context:
    """Give what the chat model was sent, up to the anchor: a snapshot may know nothing of what follows it."""
    shown = (*scene.recipe.branch[: cut.cut], *_shown(scene, cut))
    return build_context(replace(scene.recipe, branch=shown, pending=()))


async def _make(scene: Scene, cut: Split, order: Order, means: Means, narrative: Narrative) -> Made:
    """Draft the snapshot and choose its extracts anew from all originals it covers."""
    branch, previous = scene.recipe.branch, scene.recipe.snapshot
    task = Task(
        id=new_id(),
        whole=await _originals(scene, cut, means.store),
        leading=len(scene.recipe.leading),
        after=branch[cut.cut :],
        shown=len(_shown(scene, cut)) if narrative.text else 0,
        previous=previous,
        summary=narrative.text or (previous.summary if previous else ""),
        cap=min(scene.budget.snapshot, max(1, scene.history)),
        pins=tuple(pin.text for pin in scene.recipe.pins),
        focus=order.focus,
        voice=scene.policy.voice,
    )
    before = _tokens(scene, branch[_start(scene) : cut.cut])
    before += previous.tokens_before if previous else 0
    left = (order.until or math.inf) - asyncio.get_running_loop().time()
    made = await means.aside.make(
        task, scene.meter.count_message, tokens=before, urgent=order.urgency == "hard", seconds=left
    )
    snapshot = replace(
        made.snapshot,
        kind=order.kind,
        tokens_before=before,
        model=narrative.model if narrative.text else "",
        prompt=narrative.prompt if narrative.text else "",
        instructions=order.focus,
    )
    return Made(snapshot, made.receipt)


async def _originals(scene: Scene, cut: Split, store: Store) -> Branch:
    """Give everything down to the cutoff as it was said: a snapshot covers, and its digest proves, the originals."""
    branch = scene.recipe.branch
    if scene.recipe.snapshot is None and not scene.shortened:
        return branch[: cut.cut]
    return await store.branch(branch[cut.cut - 1].id)


async def _conclude(
    scene: Scene,
    order: Order,
    means: Means,
    held: Job,
    proposal: Made,
    problems: tuple[Problem, ...],
) -> Outcome:
    """Verify the draft by the context it leads to; store it, or say why not."""
    made = proposal.snapshot
    if says_nothing(made):
        return await _too_small(made, means, held)
    context = build_context(scene.served_by(made))
    before, after = scene.reading.tokens, scene.meter.read(context, scene.counts).tokens
    found = (
        *size_problems(scene.policy, scene.budget, before, after),
        *context_problems(
            scene.recipe.branch, context, scene.sent(context, means.rules).messages, means.rules
        ),
    )
    if fatal(found):
        await means.store.jobs.fail(held, "; ".join(problem.detail for problem in found))
        return Rejected(found, before, after)
    paper = replace(proposal.receipt, tokens_before=before, tokens_after=after)
    stored = await means.store.jobs.finish(held, replace(made, receipt=paper.trimmed().to_json()))
    if isinstance(stored, Refused):
        return Failed(stored.reason)
    return Compressed(
        snapshot=stored, before=before, after=after, urgency=order.urgency, problems=(*problems, *found)
    )


async def _too_small(made: Snapshot, means: Means, held: Job) -> Skipped:
    """Leave a history alone that is so short that nothing of it would fit a snapshot."""
    detail = (
        f"a snapshot of {made.messages:,} messages with {made.tokens_before:,} tokens would say nothing of them: "
        "they stay as they are"
    )
    await means.store.jobs.fail(held, detail)
    return Skipped("too_small", detail)


def cost(usage: Usage, price: Price | None) -> float | None:
    """What a summary cost in dollars, if the price is known."""
    if price is None or usage.input + usage.output == 0:
        return None
    cached = price.input if price.cached is None else price.cached
    fresh = usage.input - usage.cached
    return (fresh * price.input + usage.cached * cached + usage.output * price.output) / 1_000_000
