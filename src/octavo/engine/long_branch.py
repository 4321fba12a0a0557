"""A branch that is too long to be read at once: read block by block, and only what may be quoted of it is kept.

Each block is chosen from as if it were all there is, with the whole room of the snapshot. What wins, and the messages
it cannot be understood or judged without, are the candidates of the last choice. So memory is bounded by a block and
the winners, however long the branch is. What is known of all messages (their digest, their number, the files that came
with them, their facts) is added up as they pass.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from octavo.core.compose import compose
from octavo.core.context import UNSENT
from octavo.core.extract.standing import STANDS
from octavo.core.extract.units import Analysis, analyse_all
from octavo.core.messages import Branch, Node, opens_turn
from octavo.core.receipt import KINDS, FactKind, Fate, Receipt, Remains, Tally, gather, verbatim_text
from octavo.core.snapshot import Snapshot, draft

if TYPE_CHECKING:
    from octavo.engine.worker_task import Count, SnapshotTask

KEPT = 20_000
"""Messages that are kept; if there are more, some of them are chosen once more."""
MORE = 1.25
"""How much more room a block's choice has than the snapshot: the last choice is to have something to choose from."""
STANDING = 1_000
"""Messages of a block that are kept, the newest, because a user settled something there: a later one may lift it."""
WAITING = 1_000
"""Messages that wait for what follows: an answer comes soon, or not at all."""
PASS = 250_000
"""Facts that are told apart at a time."""
_FATES: tuple[Fate, ...] = ("lost", "told", "verbatim")


class LongBranch:
    """What is kept of the blocks of a branch, for the snapshot that `task` asks for."""

    def __init__(self, task: SnapshotTask, count: Count) -> None:
        self._task = task
        self._count = count
        self._leading: Branch = ()
        self._kept: list[Node] = []
        self._keys = set[str]()
        """What those give values to."""
        self._drafted = _at_cutoff(task.previous) if task.previous else None
        sent = [node.message for node in task.after if node.status not in UNSENT]
        self.facts = PassedFacts(Remains(verbatim_text(sent, task.pins), task.summary))

    def add(self, block: Branch) -> None:
        """Read the next messages of the branch."""
        if self._drafted is None or block[-1].depth > self._drafted.cutoff_depth:
            self._drafted = draft(block, len(block), id=self._task.id, summary="", previous=self._drafted)
        missing = max(0, self._task.leading - len(self._leading))
        self._leading += block[:missing]
        covered = block[missing:]
        if not covered:
            return
        analyses = analyse_all((*covered, *self._task.after))
        self._kept += self._chosen(covered, analyses)
        self.facts.add(covered, analyses)
        if len(self._kept) > KEPT:
            kept = tuple(self._kept)
            self._kept = self._chosen(kept, analyse_all((*kept, *self._task.after)))

    def finished(self, task: SnapshotTask) -> SnapshotTask:
        """Give the task that is left: to choose from what was kept, and from what follows the last block."""
        drafted, before = self._drafted, self._task.previous
        if drafted is not None and before is not None and before.anchor_depth > drafted.anchor_depth:
            drafted = replace(drafted, anchor=before.anchor, anchor_depth=before.anchor_depth)
        return replace(task, whole=(*self._leading, *self._kept, *task.whole), previous=drafted)

    def _chosen(self, covered: Branch, analyses: Mapping[str, Analysis]) -> list[Node]:
        """Choose messages that may be quoted, with those that the last choice has to see beside them."""
        task, last = self._task, covered[-1]
        before = task.replaces or task.previous
        place = Snapshot(
            id=task.id,
            first=covered[0].id,
            cutoff=last.id,
            cutoff_depth=last.depth,
            anchor=last.id,
            anchor_depth=last.depth,
            summary=task.summary,
            dropped=before.dropped if before else (),
        )
        quoted = compose(
            place,
            covered,
            cap=int(task.cap * MORE),
            count=self._count,
            retained=task.after,
            pins=task.pins,
            focus=task.focus,
            voice=task.voice,
            analyses=analyses,
        ).extracts
        wanted = {extract.source for extract in quoted} | set(task.answers)
        wanted |= _newest_standing(covered, analyses) | _last_question(covered)
        wanted |= _days(covered, analyses, wanted) | _calls(covered, analyses, wanted)
        self._keys |= _keys(analyses[node.id] for node in covered if node.id in wanted)
        wanted |= _newest_values(covered, analyses, self._keys)
        return [node for node in covered if node.id in wanted]


def _at_cutoff(snapshot: Snapshot) -> Snapshot:
    """Give a snapshot that knows of nothing beyond its cutoff: a block below it may end before the anchor."""
    return replace(snapshot, anchor=snapshot.cutoff, anchor_depth=snapshot.cutoff_depth)


def _newest_standing(nodes: Branch, analyses: Mapping[str, Analysis]) -> set[str]:
    """Give the messages in which users settled something."""
    found = [node.id for node in nodes if any(unit.standing & STANDS for unit in analyses[node.id].units)]
    return set(found[-STANDING:])


def _last_question(nodes: Branch) -> set[str]:
    """Give the user's message whose turn may go on to the end of the branch."""
    return set(next(([node.id] for node in reversed(nodes) if opens_turn(node.message)), []))


def _days(nodes: Branch, analyses: Mapping[str, Analysis], wanted: set[str]) -> set[str]:
    """Give the messages that say on which day the wanted ones were said."""
    found, stamped = set[str](), ""
    for node in nodes:
        stamped = node.id if analyses[node.id].day else stamped
        if stamped and node.id in wanted:
            found.add(stamped)
    return found


def _calls(nodes: Branch, analyses: Mapping[str, Analysis], wanted: set[str]) -> set[str]:
    """Give the messages whose calls the wanted ones answer."""
    answered = {call for node in nodes if node.id in wanted for call in analyses[node.id].calls}
    return {node.id for node in nodes if any(call in answered for call, _ in analyses[node.id].labels)}


def _keys(analyses: Iterable[Analysis]) -> set[str]:
    return {unit.setting[0] for analysis in analyses for unit in analysis.units if unit.setting}


def _newest_values(nodes: Branch, analyses: Mapping[str, Analysis], keys: set[str]) -> set[str]:
    """Give the messages with the newest values of keys: an older value must not be quoted as if it held."""
    newest = {
        unit.setting[0]: node.id
        for node in nodes
        for unit in analyses[node.id].units
        if unit.setting and unit.setting[0] in keys
    }
    return set(newest.values())


@dataclass(slots=True)
class PassedFacts:
    """Counts facts that passed, each of them once, in eight bytes each."""

    remains: Remains
    _seen: dict[FactKind, array[int]] = field(default_factory=dict)
    _waiting: Branch = ()
    """The newest so far: what follows tells whether their questions are answered."""
    _known: Mapping[str, Analysis] = field(default_factory=dict)
    """What is known of them."""

    def add(self, nodes: Branch, analyses: Mapping[str, Analysis]) -> None:
        """Note the facts of messages, and what becomes of them if nothing of these messages is quoted."""
        nodes, analyses = (*self._waiting, *nodes), {**self._known, **analyses}
        self._waiting = nodes[-WAITING:]
        self._known = {node.id: analyses[node.id] for node in self._waiting}
        self._note(nodes, analyses, nodes[:-WAITING])

    def _note(self, nodes: Branch, analyses: Mapping[str, Analysis], of: Branch) -> None:
        """Note the facts of some of these messages."""
        sources = {node.id for node in of}
        for fact, words in gather(nodes, analyses):
            if fact.source in sources:
                fate = _FATES.index(self.remains.fate(fact, words))
                self._seen.setdefault(fact.kind, array("Q")).append(_key(fact.text) | fate)

    def added_to(self, receipt: Receipt, nodes: Branch, analyses: Mapping[str, Analysis]) -> Receipt:
        """Count the facts of all that passed besides those of `nodes`, which are in the receipt."""
        following = [node for node in nodes if self._waiting and node.depth > self._waiting[-1].depth]
        self._note((*self._waiting, *following), {**self._known, **analyses}, self._waiting)
        told: dict[FactKind, set[int]] = {kind: set() for kind in KINDS}
        for fact, _ in gather(nodes, analyses):
            told[fact.kind].add(_key(fact.text))
        tallies = (self._grown(receipt.tally(kind), told[kind]) for kind in KINDS)
        return replace(receipt, tallies=tuple(tally for tally in tallies if tally.count))

    def _grown(self, tally: Tally, told: set[int]) -> Tally:
        lost, retold, verbatim = map(sum, zip(*self._counts(tally.kind, told), strict=True))
        return replace(
            tally,
            lost_count=tally.lost_count + lost,
            told_count=tally.told_count + retold,
            verbatim_count=tally.verbatim_count + verbatim,
        )

    def _counts(self, kind: FactKind, told: set[int]) -> Iterator[tuple[int, int, int]]:
        seen = self._seen.get(kind, array("Q"))
        passes = len(seen) // PASS + 1
        for number in range(passes):
            some = {one for one in seen if (one >> 2) % passes == number and one & ~3 not in told}
            fates = [one & 3 for one in some]
            yield fates.count(0), fates.count(1), fates.count(2)


def _key(text: str) -> int:
    """Give a number that stands for a text; its last two bits are free."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") & ~3
