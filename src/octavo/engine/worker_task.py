"""The parts of a compression that need the processor: making a snapshot, and judging a model's answer.

It imports the core alone, so that another process can do it as well as this one. That process is `serve`: it reads
tasks from its standard input, asks back for counts of tokens, and ends when nobody writes to it any more. It keeps the
branches that it read last, and it can read one before a snapshot is wanted: then it has to be sent only what is new.
"""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

from octavo.core.context import UNSENT
from octavo.core.lru_cache import LruCache
from octavo.core.messages import Branch, Message, Node, chain
from octavo.core.policy import Voice
from octavo.core.snapshot import Snapshot, draft, says_nothing

if TYPE_CHECKING:
    from octavo.core.ask.answer import JudgedAnswer, JudgeTask
    from octavo.core.extract.totals import Totals
    from octavo.core.extract.units import Analysis
    from octavo.core.receipt import Receipt
    from octavo.engine.long_branch import LongBranch, PassedFacts

Count = Callable[[Message], int]
Answer = Callable[[Any], int]
"""Counts whatever the task at hand counts: messages, or texts."""
OPEN_QUESTION = ""
"""Stands for the user's message whose turn goes on after the cut, if the cut falls inside a turn."""
CHUNK = 100
"""Messages that are written at once: while they are, nothing else in this process runs."""
END = "end"
"""Stands where a block would begin."""
LEAST_KEPT, MOST_KEPT = 8_000_000, 24_000_000


def _room() -> int:
    """Choose how many bytes of branches a process keeps: what is known of them takes 25 times that.

    So it takes some 2.5 % of the memory of the machine if there are so many, between 200 and 600 megabytes.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return LEAST_KEPT
    return min(MOST_KEPT, max(LEAST_KEPT, memory // 1_000))


KEPT = _room()
"""Bytes of the branches that a process keeps, as they are written to it; one of more, some five million tokens, is not
kept."""
TOTALS = 4
"""Totals that are kept of a branch: a compression that retains more, and another branch, start from earlier ones."""

BranchKey = tuple[str, bytes]
"""Names a stretch of messages from the root: its last node, and a digest of them all. What a node's branch says never
changes, except that a message is deleted; then the digest is another."""


class ReadPlace(NamedTuple):
    """Where a process has a stretch of messages."""

    name: str
    """Of the branch that it read."""
    length: int
    """So many messages of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTask:
    """What a snapshot is made from."""

    id: str
    """Of the snapshot."""
    whole: Branch = field(repr=False)
    """From the root to the cutoff, as it was said; or only what follows the messages that it `continues`."""
    leading: int
    """So many messages at its beginning are always sent, never covered."""
    after: Branch = field(repr=False)
    """What follows the cutoff."""
    shortened: bool = False
    """Whether some of that is not as it was said: long outputs are sent by head and tail."""
    shown: int = 0
    """So many of those were shown to the author of the summary."""
    previous: Snapshot | None
    summary: str
    cap: int
    pins: tuple[str, ...]
    focus: str
    voice: Voice
    replaces: Snapshot | None = None
    """The snapshot that this one is another version of: what was dropped from it stays dropped."""
    carried: str | None = OPEN_QUESTION
    """The covered question that is sent all the same."""
    answers: tuple[str, ...] = ()
    """Covered messages of its turn that are sent as well."""
    analyses: Mapping[str, Analysis] = field(default_factory=dict, repr=False)
    """What is known of some messages already, by their ids."""
    totals: Totals | None = field(default=None, repr=False)
    """What a beginning of the branch says, if it was counted before."""
    covers: bytes | None = None
    """The digest of what is covered, if it is known."""
    continues: BranchKey | None = None
    """Messages that a process has read before; None: `whole` is all there is."""
    depth: int = 0
    """If it continues some, how many messages there are from the root to the cutoff. If those reach beyond it, `after`
    has only what follows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """Messages to be read before a snapshot is wanted."""

    new: Branch = field(repr=False)
    continues: BranchKey | None
    """Those before them, which the process has read; None: there are none."""
    leading: int
    """So many messages at the beginning of the branch are never covered."""
    settled: int
    """So many messages from the root would be covered by now."""


Task: TypeAlias = "SnapshotTask | ReadTask | JudgeTask"


@dataclass(frozen=True, slots=True)
class BranchRead:
    """The messages are read."""


@dataclass(frozen=True, slots=True)
class MadeSnapshot:
    """A snapshot, and the receipt for it; figures that only the caller knows are not in them yet."""

    snapshot: Snapshot
    receipt: Receipt


def do(task: SnapshotTask | JudgeTask, count: Answer) -> MadeSnapshot | JudgedAnswer:
    """Do what is asked."""
    if isinstance(task, SnapshotTask):
        return make(task, count)
    from octavo.core.ask.answer import verdict

    return verdict(task, count)


def make(task: SnapshotTask, count: Count, blocks: LongBranch | None = None) -> MadeSnapshot:
    """Choose the extracts anew from all originals the snapshot covers, and tell what became of their facts.

    `blocks` have read what stands before the task's messages, if that is very long.
    """
    if blocks is None:
        return _made(fill(task, count), None)
    return _made(_fill_after(task, count, blocks)[0], blocks.facts)


def _fill_after(task: SnapshotTask, count: Count, blocks: LongBranch) -> tuple[FilledSnapshot, SnapshotTask]:
    """Fill a snapshot of what was kept of blocks and of what follows them; give also that task."""
    rest = blocks.finished(task)
    filled = fill(rest, count)
    previous = task.previous.id if task.previous else None
    return replace(filled, snapshot=replace(filled.snapshot, previous=previous)), rest


def _made(filled: FilledSnapshot, facts: PassedFacts | None) -> MadeSnapshot:
    receipt = filled.receipt(_sent(filled))
    if facts is not None:
        receipt = facts.added_to(receipt, filled.covered, filled.analyses)
    return MadeSnapshot(filled.snapshot, receipt)


@dataclass(frozen=True, slots=True)
class FilledSnapshot:
    """A snapshot with its extracts, and what is needed to write the receipt for it."""

    snapshot: Snapshot
    covered: Branch = field(repr=False)
    retained: Branch = field(repr=False)
    pins: tuple[str, ...]
    analyses: Mapping[str, Analysis] = field(repr=False)
    totals: Totals = field(repr=False)

    def receipt(self, sent: Sequence[Message]) -> Receipt:
        """Tell what became of the facts, where `sent` is sent word for word besides the snapshot."""
        from octavo.core.receipt import receipt, verbatim_text

        return receipt(
            self.covered,
            extracts=self.snapshot.extracts,
            sent=verbatim_text(sent, self.pins),
            narrative=self.snapshot.summary,
            messages=self.snapshot.messages,
            dropped=self.snapshot.dropped,
            analyses=self.analyses,
            totals=self.totals,
        )


def fill(task: SnapshotTask, count: Count) -> FilledSnapshot:
    """Draft the snapshot and fill the room that its summary leaves with extracts."""
    # Imported here: it takes a while, and the process that does the work is seldom the one that wants it done.
    from octavo.core.compose import compose
    from octavo.core.extract.totals import advance
    from octavo.core.extract.units import analyse_all

    snapshot = draft(
        (*task.whole, *task.after),
        len(task.whole),
        id=task.id,
        summary=task.summary,
        previous=task.previous,
        shown=task.after[: task.shown],
        covers=task.covers,
    )
    snapshot = replace(snapshot, answers=task.answers)
    if task.carried != OPEN_QUESTION:
        snapshot = replace(snapshot, carried=task.carried)
    if task.replaces is not None:
        snapshot = replace(snapshot, dropped=task.replaces.dropped)
    covered = task.whole[task.leading :]
    retained = tuple(node for node in task.after if node.depth > snapshot.cutoff_depth)
    analyses = analyse_all((*covered, *retained), task.analyses)
    totals = advance(task.totals, covered, retained, analyses)
    made = partial(
        compose,
        snapshot,
        covered,
        cap=task.cap,
        count=count,
        focus=task.focus,
        voice=task.voice,
        analyses=analyses,
        totals=totals,
    )
    filled = made(retained=retained, pins=task.pins)
    if says_nothing(filled) and filled.tokens_after < task.cap:
        # There is room, but all of it was said again later: then some of it is told all the same.
        filled = made()
    return FilledSnapshot(filled, covered, retained, task.pins, analyses, totals)


def _sent(filled: FilledSnapshot) -> list[Message]:
    """List the messages that are sent word for word besides the snapshot."""
    along = frozenset(filled.snapshot.sent_along)
    carried = [node.message for node in filled.covered if node.id in along]
    return [*carried, *(node.message for node in filled.retained if node.status not in UNSENT)]


# What goes through the pipes. A task is written in pieces: a long history at once would hold up everything else.


@dataclass(frozen=True, slots=True)
class CountRequest:
    """The other process wants to know what a message, or a text, costs."""

    what: Message | str


@dataclass(frozen=True, slots=True)
class WorkerFailure:
    """The other process failed."""

    detail: str


@dataclass(frozen=True, slots=True)
class BlockRead:
    """The other process has read a block of a long branch, and is ready for the next one."""


@dataclass(frozen=True, slots=True)
class BranchForgotten:
    """The other process does not have the branch that the task continues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBranch:
    """A branch that was read, and what is known of its messages."""

    nodes: Branch = ()
    skipped: int = 0
    """So many messages of a long one were not kept, all of them from before what was read last."""
    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    totals: tuple[Totals, ...] = ()
    """Of beginnings of it, the longest last."""
    digests: tuple[bytes, ...] = ()
    """After each node, that of the branch so far; of as many as were digested."""
    size: int = 0
    facts: PassedFacts | None = None
    """Those of messages that were not kept."""

    def up_to(self, length: int) -> ReadBranch:
        """Give so many messages of it, from the root on."""
        kept = max(0, length - self.skipped)
        if kept >= len(self.nodes):
            return self
        nodes = self.nodes[:kept]
        # One that follows may have been deleted since, and has the same id.
        analyses = {node.id: self.analyses[node.id] for node in nodes if node.id in self.analyses}
        size = self.size * kept // len(self.nodes)
        return replace(self, nodes=nodes, analyses=analyses, digests=self.digests[:kept], size=size)

    def totals_for(self, covered: int) -> Totals | None:
        """Give the totals of the longest beginning that has no more than so many covered messages."""
        return next((one for one in reversed(self.totals) if len(one.nodes) <= covered), None)

    def with_totals(self, totals: Totals) -> tuple[Totals, ...]:
        """Keep totals beside those of shorter beginnings, the sizes of which are far apart."""
        kept = [*(one for one in self.totals if len(one.nodes) < len(totals.nodes)), totals]
        while len(kept) > TOTALS:
            sizes = [0, *(len(one.nodes) for one in kept)]
            least = min(range(1, len(kept)), key=lambda at: sizes[at + 1] - sizes[at - 1])
            del kept[least - 1]
        return tuple(kept)


NOTHING_READ = ReadBranch()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHead:
    """A task without its messages, and how it is to be read."""

    task: Task
    cut: int = 0
    """So many of the messages that follow are covered."""
    pieces: int = 0
    blocks: bool = False
    """Whether blocks of a long branch follow."""
    place: ReadPlace | None = None
    """Where the process has what the task continues."""
    name: str = ""
    """The name under which it keeps what it has read then."""


def write_task(
    task: Task, to: IO[bytes], *, blocks: bool = False, place: ReadPlace | None = None, name: str = ""
) -> None:
    """Write a task; the messages of one in pieces."""
    nodes, cut, bare = tuple[Node, ...](), 0, task
    if isinstance(task, SnapshotTask):
        nodes, cut, bare = (*task.whole, *task.after), len(task.whole), replace(task, whole=(), after=())
    elif isinstance(task, ReadTask):
        nodes, bare = task.new, replace(task, new=())
    pieces = range(0, len(nodes), CHUNK)
    write(TaskHead(task=bare, cut=cut, pieces=len(pieces), blocks=blocks, place=place, name=name), to)
    for start in pieces:
        # Packed once more, so that the reader knows how much it is.
        write(pickle.dumps(nodes[start : start + CHUNK], protocol=pickle.HIGHEST_PROTOCOL), to)


def write_page(page: Branch | None, to: IO[bytes]) -> None:
    """Write some messages of a block of a long branch; None ends the block."""
    write(page, to)


def write_end(to: IO[bytes]) -> None:
    """Tell that there are no more blocks."""
    write(END, to)


def write(value: object, to: IO[bytes]) -> None:
    to.write(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    to.flush()


def _read_task(source: IO[bytes]) -> tuple[TaskHead, int]:
    """Read a task; tells also how many bytes its messages had."""
    head: TaskHead = pickle.load(source)
    nodes: list[Node] = []
    size = 0
    for _ in range(head.pieces):
        piece: bytes = pickle.load(source)
        size += len(piece)
        nodes += pickle.loads(piece)
    task = head.task
    if isinstance(task, SnapshotTask):
        task = replace(task, whole=tuple(nodes[: head.cut]), after=tuple(nodes[head.cut :]))
    elif isinstance(task, ReadTask):
        task = replace(task, new=tuple(nodes))
    return replace(head, task=task), size


def _read_blocks(task: SnapshotTask, count: Count, source: IO[bytes], to: IO[bytes]) -> LongBranch:
    """Read a long branch, block by block; what is not kept of one is forgotten before the next is read."""
    from octavo.engine.long_branch import LongBranch

    long, block = LongBranch(task, count), list[Node]()
    while (page := pickle.load(source)) != END:
        if page is not None:
            block += page
            continue
        long.add(tuple(block))
        block = []
        gc.collect()
        write(BlockRead(), to)
    return long


def serve(source: IO[bytes], to: IO[bytes]) -> None:
    """Do one task after the other until there are no more."""
    # Nothing here is garbage before a task is done, and to look for it takes a fifth of the time.
    gc.disable()
    kept = LruCache[str, ReadBranch](KEPT)

    def count(what: Message | str) -> int:
        write(CountRequest(what), to)
        found: int = pickle.load(source)
        return found

    done: object
    while True:
        try:
            head, size = _read_task(source)
        except EOFError:
            return
        try:
            known = _known(kept, head.place)
            if known is None:
                done = BranchForgotten()
            elif isinstance(head.task, SnapshotTask):
                long = _read_blocks(head.task, count, source, to) if head.blocks else None
                done, read = _make_kept(head.task, count, known, size, long)
                _keep(kept, head.name, read)
            elif isinstance(head.task, ReadTask):
                done = BranchRead()
                _keep(kept, head.name, _read_on(head.task, known, size))
            else:
                done = do(head.task, count)
        except Exception as error:  # noqa: BLE001 - whatever it is, the one who waits is told
            done = WorkerFailure(repr(error))
        write(done, to)
        gc.collect()
        # What is left is kept, and is not looked through again.
        gc.freeze()


def _known(kept: LruCache[str, ReadBranch], place: ReadPlace | None) -> ReadBranch | None:
    """Find what a task continues; None if it was dropped."""
    if place is None:
        return NOTHING_READ
    found = kept.get(place.name)
    known = found.up_to(place.length) if found else None
    return known if known and known.nodes else None


def _keep(kept: LruCache[str, ReadBranch], name: str, read: ReadBranch) -> None:
    if read.size <= KEPT:
        kept.put(name, read, read.size)
    else:
        kept.pop(name)


def _read_on(task: ReadTask, known: ReadBranch, size: int) -> ReadBranch:
    """Find out what messages say, and count those that a snapshot would cover."""
    from octavo.core.extract.totals import advance
    from octavo.core.extract.units import analyse_all, skeletons

    nodes = (*known.nodes, *task.new)
    analyses = analyse_all(nodes, known.analyses)
    start = min(task.leading, len(nodes))
    stop = max(start, task.settled - known.skipped)
    totals = advance(known.totals_for(stop - start), nodes[start:stop], nodes[stop:], analyses)
    for node in task.new:
        skeletons(analyses[node.id].units)
    return replace(
        known,
        nodes=nodes,
        analyses=analyses,
        totals=known.with_totals(totals),
        digests=_digested(known, nodes),
        size=known.size + size,
    )


def _digested(known: ReadBranch, nodes: Branch) -> tuple[bytes, ...]:
    """Digest a branch after each node; of a long one, not all is there."""
    if known.skipped or len(known.digests) < len(known.nodes):
        return known.digests
    found = [*known.digests]
    for node in nodes[len(found) :]:
        found.append(chain(found[-1] if found else b"", node.message))
    return tuple(found)


def _make_kept(
    task: SnapshotTask, count: Count, known: ReadBranch, size: int, blocks: LongBranch | None = None
) -> tuple[MadeSnapshot, ReadBranch]:
    """Make a snapshot, beginning with what was read before; give also what is read now."""
    if known.nodes:
        cut = task.depth - known.skipped
        task = replace(
            task,
            whole=(*known.nodes[:cut], *task.whole),
            after=(*known.nodes[cut:], *task.after),
            analyses={**known.analyses, **task.analyses},
            totals=known.totals_for(cut - task.leading),
            covers=known.digests[cut - 1] if cut <= len(known.digests) else None,
            continues=None,
        )
    size, skipped, facts = size + known.size, known.skipped, known.facts
    if blocks:
        filled, task = _fill_after(task, count, blocks)
        skipped, facts = filled.snapshot.cutoff_depth - len(task.whole), blocks.facts
        size = len(pickle.dumps((task.whole, task.after), protocol=pickle.HIGHEST_PROTOCOL))
    else:
        filled = fill(task, count)
    read = ReadBranch(
        nodes=task.whole if task.shortened else (*task.whole, *task.after),
        skipped=skipped,
        analyses=filled.analyses,
        totals=known.with_totals(filled.totals),
        digests=known.digests,
        size=size,
        facts=facts,
    )
    return _made(filled, facts), read
