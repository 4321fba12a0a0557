"""One call on plain message lists: a history goes in, and one that fits comes out, in the same format.

No store, no model, no network unless a summariser is given. The result never measures more than the budget; if what
must be sent alone does not fit, `ContextOverflow` shows the sum.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import inspect
import marshal
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, Unpack, cast

from octavo.core.budget import ModelCard, fraction
from octavo.core.context import Context, ContextInputs, build_context, parse_summary
from octavo.core.extract.totals import Totals
from octavo.core.extract.units import analyse
from octavo.core.harden import Repair, harden
from octavo.core.lru_cache import LruCache
from octavo.core.memory_tools import ANSWERS_SHARE, kept_answers, lookups
from octavo.core.message_json import Json, JsonObject
from octavo.core.messages import Branch, Message, Node, Text, chain, digest, last_turn, opens_turn, place
from octavo.core.policy import Policy, budget_for, preset
from octavo.core.protocol import RULES
from octavo.core.recall.choose import choose
from octavo.core.recall.passages import Passages
from octavo.core.recall.pieces import Piece, stamp_of
from octavo.core.recall.pieces import cut as cut_pieces
from octavo.core.recall.question import question_of
from octavo.core.recall.rank import ByWords
from octavo.core.recall.rank import count as count_words
from octavo.core.recall.render import with_passages
from octavo.core.recall.size import part_of
from octavo.core.receipt import Receipt
from octavo.core.shrink import shrink
from octavo.core.snapshot import Snapshot
from octavo.core.split import Split, lead, split, tool_cuts
from octavo.core.summary import Narrative, SummaryJob
from octavo.core.tools import Tool
from octavo.core.wire import Format, Payload, detect, read, read_tools, write
from octavo.core.wire.openai import read_openai
from octavo.core.wire.pairing import CallPairing
from octavo.core.wire.wave import read_block
from octavo.engine.accept import check_options
from octavo.engine.attempt import Attempt, Ending
from octavo.engine.summary_writing import NARRATIVE_SHARE, WrittenSummary, write_summary
from octavo.engine.worker_task import SnapshotTask, fill
from octavo.errors import BadInput, UsageError
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.protocols import Summariser

KEEP = 0.5
"""Share of the budget that may go to the newest turns, verbatim."""
CARRIED_SHARE = 0.1
"""Share of the room that the question of a turn cut inside may take, word for word; a longer one would crowd out what
is needed to answer it, and its sentences stand among the extracts."""
TOLD_SHARE = 0.15
"""Share of the room for passages where the message has not the form of a question: it may need less of what was said
before."""
WORKED_SHARE = 0.25
"""Share of that room where tools were used: work that goes on needs the names among the extracts more. Measured on
runs of agents."""
LEAST_RECALL = 60
"""Tokens below which no passage is looked for: the frame alone takes a third of it."""
REMEMBERED = 10_000
"""Snapshots that are recognised when they come back: about a megabyte."""

COUNTED = 4_000_000
"""Tokens of the messages whose counts are remembered: some twenty megabytes of text at most."""
_counted = LruCache[tuple[str, Message], int](COUNTED)


@dataclass(frozen=True, slots=True)
class _KnownHistory:
    """A history that was compressed, and what was found out about it."""

    nodes: Branch = ()
    digests: tuple[bytes, ...] = ()
    """After each node, that of the branch so far."""
    totals: Totals | None = None
    """Of its beginning."""

    def grown(self, said: Sequence[Message]) -> _KnownHistory:
        """Go on with other messages, from where they are others than before."""
        pairs = zip(self.nodes, said, strict=False)
        same = next(
            (at for at, (node, message) in enumerate(pairs) if node.message != message), len(self.nodes)
        )
        same = min(same, len(said))
        digests = [*self.digests[:same]]
        for message in said[same:]:
            digests.append(chain(digests[-1] if digests else b"", message))
        return _KnownHistory(place(said[same:], after=self.nodes[:same]), tuple(digests), self.totals)


@dataclass(frozen=True, slots=True)
class _ReadList:
    """A list that was read, by the digest of how it was written."""

    digest: bytes
    said: tuple[Message, ...]
    calls: CallPairing


BEGINNING = 2
"""Messages by which a history is found again: the system prompt, and what was said first."""
_histories = LruCache[tuple[Message, ...], _KnownHistory](COUNTED)
"""By how they begin. A compression of one that has grown costs what is new."""
_read_lists = LruCache[bytes, _ReadList](COUNTED)
"""Lists of OpenAI's messages, in the same way."""

Write = Callable[[Sequence[Message], str], str | Awaitable[str]]
"""A summariser as a plain function: the covered messages and the previous summary to a new summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A history that fits, and what it took."""

    messages: Payload
    system: Any
    """What the format sends apart from the messages: Anthropic's `system`, Gemini's system instruction."""
    format: Format
    before: int
    after: int
    covered: int
    """How many of the messages handed in are compressed; 0 when they fitted."""
    receipt: Receipt | None
    snapshot: Snapshot | None
    repairs: tuple[Repair, ...] = ()
    notes: tuple[str, ...] = ()
    """What had to be cut beyond compressing."""
    recalled: Passages = ()
    """Passages of compressed messages that stand before the newest message, because it asks for them."""


class CompressionOptions(TypedDict, total=False):
    """What a compression may be told."""

    model: str
    budget: int
    """The most tokens the result may have."""
    ratio: float
    """The same as a share of the history; with neither, the model's window decides."""
    tools: Sequence[Mapping[str, Any]]
    system: Json
    """What the format sends apart from the messages."""
    format: Format
    """The wire format; by default it is told from the messages."""
    policy: str | Policy
    focus: str
    """What matters now; lines that speak of it are kept first."""
    keep: float | int
    """Share of the budget, or a token count, for the newest turns, verbatim; 0: only what must stay."""
    recall: float | int
    """Share of the budget, or a token count, for passages that the newest message asks for; 0: none. By default three
    tenths of a small budget, less of a large one, and at most 2,000 tokens."""
    summariser: Summariser | Write
    meter: Meter | Literal["chars4"]
    """`chars4`: characters divided by 4, rounded up, 4 more a message, 8 more a tool call."""
    previous: Result
    """The last result: its summary is carried on, and only what is new is summarised."""


def compress(messages: Sequence[Mapping[str, Any]], **options: Unpack[CompressionOptions]) -> Result:
    """Compress a plain list of OpenAI, Anthropic or Gemini messages so that it fits."""
    work = _compress(messages, options)
    if options.get("summariser") is None:
        with _without_collecting():
            return _at_once(work)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise UsageError("an event loop is running here: with a summariser, await octavo.acompress(...) instead")


async def acompress(messages: Sequence[Mapping[str, Any]], **options: Unpack[CompressionOptions]) -> Result:
    """Do what `compress` does, inside an event loop."""
    return await _compress(messages, options)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Put off the search for garbage: hardly any is made here, and to look through a long history takes a seventh."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _at_once(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that never waits: without a summariser nothing here does."""
    try:
        work.send(None)
    except StopIteration as done:
        return cast(Result, done.value)
    raise AssertionError("compressing without a summariser does not wait")


def _plain(messages: object) -> list[JsonObject]:
    """Copy a list of messages, or say in a sentence what was handed in instead."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise BadInput("messages", f"expected a list of messages, got {type(messages).__name__}")
    found = list(messages)
    for i, message in enumerate(found):
        if not isinstance(message, Mapping):
            raise BadInput(f"messages[{i}]", f"expected a message as a dict, got {type(message).__name__}")
    return [dict(message) for message in found]


def _spoken(message: JsonObject, where: str, kind: Format) -> JsonObject:
    """Put the words of a `compress` block in its place: no provider knows such a block."""
    block = read_block(message, where)
    return message if block is None else write(kind, (block.message,)).messages[0]


async def _compress(messages: Sequence[Mapping[str, Any]], options: CompressionOptions) -> Result:
    check_options("octavo.compress", options, CompressionOptions.__optional_keys__)
    plain = _plain(messages)
    system = options.get("system")
    kind = options.get("format") or detect(plain)
    plain = [_spoken(message, f"messages[{i}]", kind) for i, message in enumerate(plain)]
    said = _read(kind, plain, system)
    offered = read_tools(kind, cast("list[JsonObject]", list(options.get("tools") or ())))
    scale = _Scale(_meter(options.get("meter"), options.get("model", "")), kind, offered)
    chosen = options.get("policy", "octavo")
    policy = preset(chosen) if isinstance(chosen, str) else chosen
    before = scale.meter.read(Context(tools=offered, retained=said), scale.counts(said)).tokens
    limit = _limit(options, before, policy, scale.meter.card)
    result = Result(
        messages=plain,
        system=system,
        format=kind,
        before=before,
        after=before,
        covered=0,
        receipt=None,
        snapshot=None,
    )
    if before <= limit:
        return result
    began, made = time.monotonic(), result
    ending: Ending = "failed"
    try:
        history = (_histories.get(said[:BEGINNING]) or _KnownHistory()).grown(said)
        made, totals = await _made_to_fit(result, history, scale, limit, policy, options)
        if totals is not None:
            _histories.put(said[:BEGINNING], replace(history, totals=totals), before)
        ending = "compressed"
    except asyncio.CancelledError:
        ending = "cancelled"
        raise
    finally:
        _record(ending, made, time.monotonic() - began)
    return made


def _read(kind: Format, plain: Sequence[JsonObject], system: Json) -> tuple[Message, ...]:
    """Read a list of messages; one that begins with a list that was read before goes on from there."""
    beginning = _written_as(plain[:BEGINNING]) if kind == "openai" and system is None else None
    if beginning is None:
        return read(kind, plain, system)
    known, calls = _read_lists.get(beginning), CallPairing()
    said: tuple[Message, ...] = ()
    if known and _written_as(plain[: len(known.said)]) == known.digest:
        said, calls = known.said, known.calls.copy()
    said = (*said, *read_openai(plain, start=len(said), calls=calls))
    if written := _written_as(plain):
        _read_lists.put(beginning, _ReadList(written, said, calls), sum([len(one.text) for one in said]) // 4)
    return said


def _written_as(plain: Sequence[JsonObject]) -> bytes | None:
    """Digest messages as they are written; None if they hold what no JSON does."""
    try:
        # From the third version on, marshal writes differently what is referred to more than once.
        return hashlib.blake2b(marshal.dumps(cast("Any", plain), 2), digest_size=16).digest()
    except ValueError:
        return None


def _record(ending: Ending, made: Result, seconds: float) -> None:
    unwritten = "unwritten" if made.receipt and made.receipt.no_summary else ""
    Attempt(
        conversation="",
        trigger="call",
        ending=ending,
        why=unwritten if ending == "compressed" else "error",
        before=made.before,
        after=made.after,
        seconds=seconds,
    ).record()


async def _made_to_fit(
    result: Result,
    history: _KnownHistory,
    scale: _Scale,
    limit: int,
    policy: Policy,
    options: CompressionOptions,
) -> tuple[Result, Totals | None]:
    """Compress what the budget has no room for; what does not fit even then is shortened.

    Gives also the totals of what was covered, if anything was.
    """
    branch, earlier, own = _taken_apart(history.nodes, options.get("previous"))
    inputs = ContextInputs(branch=branch, tools=scale.tools, voice=policy.voice)
    filled, written = None, WrittenSummary()
    notes: tuple[str, ...] = ()
    if cut := _choose_cut(branch, scale, limit, options.get("keep", KEEP), policy):
        room = limit - scale.measure(cut.rest())
        analyses = {own.id: analyse(own.message, ours=True)} if own else {}
        passages = _recalled(cut, scale, _recall_room(cut, limit, room, policy, options))
        if passages:
            inputs = replace(inputs, recalled={branch[-1].id: passages})
        cap = limit - scale.measure(cut.rest(passages))
        written = await _write(cut, earlier, cap, options)
        task = SnapshotTask(
            id="stateless",
            whole=branch[: cut.at],
            leading=cut.start,
            after=branch[cut.at :],
            previous=None,
            summary=written.narrative.text or earlier,
            cap=cap,
            # What is recalled need not stand among the extracts as well.
            pins=tuple(passage.text for passage in passages),
            focus=options.get("focus", ""),
            voice=policy.voice,
            carried=cut.question.id if cut.question else None,
            answers=tuple(node.id for node in cut.answers),
            analyses=analyses,
            totals=history.totals,
            covers=history.digests[cut.at - 1] if branch is history.nodes else None,
        )
        filled = fill(task, scale.meter.count_message)
        notes = (f"{cut.given_up:,} answers looked up in this turn are covered",) if cut.given_up else ()
        inputs = _with_something(replace(inputs, snapshot=filled.snapshot, carried=cut.carried))
    shrunk = shrink(inputs, limit, scale.measure)
    hardened = harden(shrunk.context.messages, RULES[result.format])
    wired = write(result.format, hardened.messages)
    _remember(shrunk.context.summary)
    snapshot = shrunk.recipe.snapshot
    made = replace(
        result,
        messages=wired.messages,
        system=wired.system,
        after=shrunk.tokens,
        repairs=hardened.repairs,
        notes=(*notes, *shrunk.notes),
    )
    if filled is None or snapshot is None:
        return made, filled.totals if filled else None
    if narrative := written.narrative.text and written.narrative:
        snapshot = replace(snapshot, model=narrative.model, prompt=narrative.prompt)
    snapshot = replace(snapshot, instructions=options.get("focus", ""))
    paper = replace(filled, snapshot=snapshot).receipt(shrunk.context.retained)
    taken_out = tuple(dict.fromkeys(written.narrative.doubtful)) if written.narrative.text else ()
    made = replace(
        made,
        covered=len(filled.covered),
        recalled=shrunk.recipe.recalled.get(branch[-1].id, ()),
        snapshot=snapshot,
        receipt=replace(
            paper,
            tokens_before=made.before,
            tokens_after=made.after,
            model=snapshot.model,
            no_summary=written.unwritten.reason if written.unwritten else "",
            taken_out=taken_out,
            taken_out_count=len(taken_out),
        ),
    )
    return made, filled.totals


@dataclass(frozen=True, slots=True)
class _Scale:
    """Measures contexts as they will be sent: after hardening, which may join or add a line."""

    meter: Meter
    format: Format
    tools: tuple[Tool, ...]
    known: dict[Message, int] = field(default_factory=dict)
    """What was counted for this result."""

    def measure(self, context: Context) -> int:
        messages = harden(context.messages, RULES[self.format]).messages
        return self.meter.read(Context(tools=self.tools, retained=messages), self.counts(messages)).tokens

    def counts(self, messages: Iterable[Message]) -> Mapping[Message, int]:
        """Count messages, where the vocabulary is exact; what was counted lately is remembered."""
        if not self.meter.unit.tokenizer.exact:
            return {}
        for message in messages:
            self.count(message)
        return self.known

    def count(self, message: Message) -> int:
        """Count a message, or remember its count."""
        tokens = self.known.get(message)
        if tokens is not None:
            return tokens
        key = self.meter.unit.name, message
        tokens = _counted.get(key)
        if tokens is None:
            tokens = self.meter.count_message(message)
            _counted.put(key, tokens, tokens + 1)
        self.known[message] = tokens
        return tokens


def _meter(meter: Meter | Literal["chars4"] | None, model: str) -> Meter:
    if isinstance(meter, Meter):
        return meter
    if meter == "chars4":
        return Meter(ModelCard(name="chars4", tokenizer="chars4", frame="yardstick"))
    return Meter(find_card(model or "gpt-4o"))


def _limit(options: CompressionOptions, before: int, policy: Policy, card: ModelCard) -> int:
    budget, ratio = options.get("budget"), options.get("ratio")
    if budget is not None and ratio is not None:
        raise BadInput("budget", "give a budget or a ratio, not both")
    if budget is not None:
        if isinstance(budget, bool) or not isinstance(budget, int) or budget <= 0:
            raise BadInput("budget", f"expected a number of tokens above 0, got {budget!r}")
        return budget
    if ratio is not None:
        return math.floor(before * fraction(ratio, "ratio"))
    return budget_for(policy, card).trigger


_written = LruCache[bytes, bool](REMEMBERED)
"""Digests of the snapshots that this process has written into results."""


def _remember(summary: Iterable[Message]) -> None:
    for message in summary:
        _written.put(digest([message]), value=True)


def _is_ours(message: Message, previous: Result | None) -> bool:
    """Tell whether a message is a snapshot that was written here, or stands in the result that is given as the last.

    Its form proves nothing: a user may have typed it.
    """
    if digest([message]) in _written:
        return True
    return bool(previous and previous.snapshot and message in read(previous.format, previous.messages))


def _taken_apart(branch: Branch, previous: Result | None) -> tuple[Branch, str, Node | None]:
    """Take an earlier result apart where it stands in the history: its lines are chosen from again.

    Gives the branch, the summary it was continued from, and the node that holds the lines.
    """
    start = lead([node.message for node in branch])
    first = branch[start].message if start < len(branch) else None
    heard = parse_summary(first) if first and _is_ours(first, previous) else None
    if heard is None:
        return branch, previous.snapshot.summary if previous and previous.snapshot else "", None
    lines = Message(role="user", parts=(Text(text=heard.rest),)) if heard.rest else None
    opened = replace(branch[start], message=lines) if lines else None
    rest = (*branch[:start], *([opened] if opened else []), *branch[start + 1 :])
    placed = tuple(replace(node, depth=n, parent=None) for n, node in enumerate(rest, start=1))
    return placed, heard.summary, placed[start] if opened else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """What is covered: everything from `start` up to `at`."""

    branch: Branch
    start: int
    at: int
    question: Node | None = None
    """The covered question that is sent all the same."""
    answers: Branch = ()
    """What was looked up since, and is sent as well."""
    given_up: int = 0
    """Answers that were looked up since for which there is no room."""

    @property
    def covered(self) -> Branch:
        return self.branch[self.start : self.at]

    @property
    def carried(self) -> Branch:
        return (*([self.question] if self.question else []), *self.answers)

    def rest(self, passages: Passages = ()) -> Context:
        """Give everything that is sent besides the snapshot, with passages before the newest message."""
        nodes = self.carried + self.branch[self.at :]
        retained = [node.message for node in nodes]
        if passages:
            retained[-1] = with_passages(retained[-1], passages)
        return Context(
            system=tuple(node.message for node in self.branch[: self.start]), retained=tuple(retained)
        )


def _choose_cut(branch: Branch, scale: _Scale, limit: int, keep: float | int, policy: Policy) -> _Cut | None:
    """Decide what is covered; a last turn too large for its share is cut inside, and its question goes along."""
    said = [node.message for node in branch]
    sizes = [scale.count(message) for message in said]
    start = lead(said)
    room = max(0, limit - scale.measure(Context(system=tuple(said[:start]))))
    share = keep if isinstance(keep, int) and not isinstance(keep, bool) else math.floor(room * _share(keep))
    most = math.floor(room * ANSWERS_SHARE)
    chosen = split(said, sizes, min(share, room), room=share, boundary=policy.boundary, answers=most)
    if sum(sizes[chosen.cut if chosen else start :]) > share and _may_cover_all(said):
        chosen = Split(len(said), inside=True)
    if chosen is None:
        return None
    if not chosen.inside:
        return _Cut(branch=branch, start=start, at=chosen.cut)
    opened, covered = last_turn(said), branch[start : chosen.cut]
    short = opened is not None and sizes[opened] <= room * CARRIED_SHARE
    answers = kept_answers(covered, lambda node: scale.count(node.message), most)
    found = lookups([node.message for node in covered])
    return _Cut(
        branch=branch,
        start=start,
        at=chosen.cut,
        question=branch[opened] if opened is not None and short else None,
        answers=answers,
        given_up=sum(covered[lookup.start] not in answers for lookup in found),
    )


def _recall_room(cut: _Cut, limit: int, room: int, policy: Policy, options: CompressionOptions) -> int:
    """Say how many tokens passages may take; none where nobody asks, or the policy has no recall."""
    last = cut.branch[-1].message
    wanted = options.get("recall", part_of(limit) if policy.recall != "off" else 0)
    if not opens_turn(last):
        return 0
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        if wanted < 0:
            raise BadInput("recall", f"expected a share below 1 or a number of tokens, got {wanted!r}")
        return min(wanted, room // 2)
    return min(math.floor(limit * fraction(wanted, "recall")), room // 2)


def _recalled(cut: _Cut, scale: _Scale, room: int) -> Passages:
    """Find in the covered messages what the newest message asks for."""
    said = [node.message for node in cut.branch]
    asked = question_of(said[-1], said[:-1])
    if not asked.asks:
        room = math.floor(room * TOLD_SHARE)
    elif any(node.message.calls for node in cut.covered):
        room = math.floor(room * WORKED_SHARE)
    if room < LEAST_RECALL or not asked.weights:
        return ()
    pieces, day = list[Piece](), ""
    for node in cut.covered:
        day = stamp_of(node.message) or day
        pieces += cut_pieces(node.id, node.depth, node.message, day=day)
    sent = frozenset(node.id for node in (*cut.carried, *cut.branch[cut.at :]))
    ranker = ByWords(count_words(asked, pieces))
    return choose(asked, pieces, ranker, room=room, count=scale.meter.count_text, sent=sent)


def _may_cover_all(said: Sequence[Message]) -> bool:
    """Tell whether nothing need stay because it waits for an answer."""
    return said[-1].role != "user" and len(said) in tool_cuts(said)


def _share(keep: float | int) -> float:
    return 0.0 if keep == 0 else fraction(keep, "keep")


async def _write(cut: _Cut, earlier: str, cap: int, options: CompressionOptions) -> WrittenSummary:
    """Have the summary written, if there is somebody to write it; what stops the summariser stops the call."""
    summariser = options.get("summariser")
    if summariser is None:
        return WrittenSummary()
    if not isinstance(summariser, Summariser):
        summariser = _FunctionSummariser(summariser)
    job = SummaryJob(
        covered=cut.covered,
        previous=earlier,
        focus=options.get("focus", ""),
        cap=math.floor(cap * NARRATIVE_SHARE),
    )
    written = WrittenSummary()
    async for step in write_summary(summariser, job, type(summariser).__name__):
        if isinstance(step, WrittenSummary):
            written = step
    if written.error is not None:
        raise written.error.__cause__ or written.error
    return written


@dataclass(frozen=True, slots=True)
class _FunctionSummariser:
    """A plain function as a summariser."""

    function: Write

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        text = self.function([node.message for node in job.covered], job.previous)
        written = (await text if inspect.isawaitable(text) else text).strip()
        tell(written)
        return Narrative(text=written, model="callable")


def _with_something(recipe: ContextInputs) -> ContextInputs:
    """If not one line fitted, send the last question, whatever its size: an empty request is no answer to anything."""
    context, snapshot = build_context(recipe), recipe.snapshot
    asked = last_turn([node.message for node in recipe.branch])
    if context.summary or context.retained or snapshot is None or asked is None:
        return recipe
    question = recipe.branch[asked]
    return replace(recipe, carried=(question,), snapshot=replace(snapshot, carried=question.id))
