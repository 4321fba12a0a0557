"""The parts of a compression that need the processor: making a snapshot, and judging a model's answer.

It imports the core alone, so that another process can do it as well as this one. That process is `serve`: it reads
tasks from its standard input, asks back for counts of tokens, and ends when nobody writes to it any more. It keeps the
branches that it read last: what a later snapshot covers besides is all that it has to be sent then.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any

from octavo.core.context import UNSENT
from octavo.core.lru_cache import LruCache
from octavo.core.messages import Branch, Message, Node
from octavo.core.policy import Voice
from octavo.core.snapshot import Snapshot, draft

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
KEPT = 16_000_000
"""Bytes of the branches that a process keeps, as they are written to it: a hundred megabytes with what is known of
them. A branch of more than half of it, some two million tokens, is not kept."""

BranchKey = tuple[str, bytes]
"""Names a stretch of messages from the root: its last node, and the digest of them all, as snapshots have it. What the
node's branch says never changes, except that a message is deleted; then the digest is another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTask:
    """What a snapshot is made from."""

    id: str
    """Of the snapshot."""
    whole: Branch = field(repr=False)
    """From the root to the cutoff, as it was said; or only what follows the branch that it `continues`."""
    leading: int
    """So many messages at its beginning are always sent, never covered."""
    after: Branch = field(repr=False)
    """What follows the cutoff."""
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
    continues: BranchKey | None = None
    """The branch that a process has read before; None: `whole` is all there is."""


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
    facts = blocks.facts if blocks else None
    return _made(_fill_after(task, count, blocks), facts)


def _fill_after(task: SnapshotTask, count: Count, blocks: LongBranch | None) -> FilledSnapshot:
    if blocks is None:
        return fill(task, count)
    filled = fill(blocks.finished(task), count)
    previous = task.previous.id if task.previous else None
    return replace(filled, snapshot=replace(filled.snapshot, previous=previous))


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
    filled = compose(
        snapshot,
        covered,
        cap=task.cap,
        count=count,
        retained=retained,
        pins=task.pins,
        focus=task.focus,
        voice=task.voice,
        analyses=analyses,
        totals=totals,
    )
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


@dataclass(frozen=True, slots=True)
class ReadBranch:
    """A branch that was read, and what is known of its messages."""

    nodes: Branch
    """Of a long one, what was kept of it."""
    analyses: Mapping[str, Analysis]
    totals: Totals
    size: int
    facts: PassedFacts | None = None
    """Those of a long one that were not kept."""


def write_task(task: SnapshotTask | JudgeTask, to: IO[bytes], *, blocks: bool = False) -> None:
    """Write a task; the messages of one in pieces. `blocks` tells that blocks of a long branch follow."""
    if not isinstance(task, SnapshotTask):
        write((task, 0, 0, False), to)
        return
    nodes = (*task.whole, *task.after)
    pieces = range(0, len(nodes), CHUNK)
    write((replace(task, whole=(), after=()), len(task.whole), len(pieces), blocks), to)
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


def _read_task(source: IO[bytes]) -> tuple[SnapshotTask | JudgeTask, int, bool]:
    """Read a task; tells also how many bytes its messages had, and whether blocks follow."""
    task: SnapshotTask | JudgeTask
    task, cut, pieces, blocks = pickle.load(source)
    if not isinstance(task, SnapshotTask):
        return task, 0, False
    nodes: list[Node] = []
    size = 0
    for _ in range(pieces):
        piece: bytes = pickle.load(source)
        size += len(piece)
        nodes += pickle.loads(piece)
    return replace(task, whole=tuple(nodes[:cut]), after=tuple(nodes[cut:])), size, blocks


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
    kept = LruCache[BranchKey, ReadBranch](KEPT)

    def count(what: Message | str) -> int:
        write(CountRequest(what), to)
        found: int = pickle.load(source)
        return found

    done: object
    while True:
        try:
            task, size, blocks = _read_task(source)
        except EOFError:
            return
        try:
            if isinstance(task, SnapshotTask):
                long = _read_blocks(task, count, source, to) if blocks else None
                done = _make_kept(task, count, kept, size, long)
            else:
                done = do(task, count)
        except Exception as error:  # noqa: BLE001 - whatever it is, the one who waits is told
            done = WorkerFailure(repr(error))
        write(done, to)
        gc.collect()
        # What is left is kept, and is not looked through again.
        gc.freeze()


def _make_kept(
    task: SnapshotTask,
    count: Count,
    kept: LruCache[BranchKey, ReadBranch],
    size: int,
    blocks: LongBranch | None = None,
) -> MadeSnapshot | BranchForgotten:
    """Make a snapshot, beginning with a branch that was kept if the task continues one; keep what it covers."""
    facts = blocks.facts if blocks else None
    if task.continues is not None:
        known = kept.get(task.continues)
        if known is None:
            return BranchForgotten()
        size, facts = size + known.size, known.facts
        task = replace(
            task,
            whole=(*known.nodes, *task.whole),
            analyses={**known.analyses, **task.analyses},
            totals=known.totals,
            continues=None,
        )
    filled = _fill_after(task, count, blocks)
    whole = task.whole
    if blocks:
        whole = blocks.finished(task).whole
        size = len(pickle.dumps(whole, protocol=pickle.HIGHEST_PROTOCOL))
    if size <= KEPT // 2:
        snapshot = filled.snapshot
        read = ReadBranch(whole, filled.analyses, filled.totals, size, facts)
        kept.put((snapshot.cutoff, snapshot.digest), read, size)
    return _made(filled, facts)
