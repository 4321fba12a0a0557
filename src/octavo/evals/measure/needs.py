"""What the rest of a real run needed from the part before: the names the assistant goes on to write.

A name is needed if the assistant writes it after the cut, it stood before the cut outside the system prompt, and no
later message named it first. So nothing counts as lost that the run was told again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from octavo.core.messages import Message
from octavo.evals.measure.names import NameKind, grounded, is_present, names, surroundings
from octavo.evals.measure.texts import divide, message_text, text_of

CUTS = (0.4, 0.6, 0.8)
"""Where a run is cut, as shares of its tokens: early, in the middle, late."""
FEWEST = 5
"""Needed names below which a cut says nothing."""

Count = Callable[[Message], int]
"""Tokens of a message."""


@dataclass(frozen=True, slots=True)
class Need:
    """A name that was needed."""

    name: str
    kind: NameKind
    turns: int
    """The assistant's turns until it was."""
    age: float
    """Where it was last named before the cut: 0 is the first message, 1 the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededNames:
    """All that was needed after a cut, and the words it came with."""

    needed: tuple[Need, ...]
    origin: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What of it is there."""

    present: dict[str, bool]
    grounded: dict[str, bool]
    deep: tuple[str, ...]
    """The names that do not stand in the newest messages the budget holds: what compressing adds to truncating."""
    soon: float
    """Share present, those needed soon counting more."""

    @property
    def plain(self) -> float:
        return _share(self.present.values())

    @property
    def ground(self) -> float:
        return _share(self.grounded.values())

    @property
    def depth(self) -> float | None:
        """Share of the deep names that are grounded; None if there are none."""
        return _share(self.grounded[name] for name in self.deep) if self.deep else None


def cut_at(messages: Sequence[Message], share: float, count: Count) -> int:
    """Find the cut nearest after a share of the tokens that an assistant's turn follows and no exchange spans."""
    sizes = [count(message) for message in messages]
    goal, sum_so_far, target = share * sum(sizes), 0, 0
    for index, size in enumerate(sizes):
        sum_so_far += size
        if sum_so_far >= goal:
            target = index + 1
            break
    for index in range(max(1, target), len(messages)):
        if messages[index].role == "assistant" and not messages[index - 1].calls:
            return index
    return len(messages)


def needs_after(messages: Sequence[Message], cut: int) -> NeededNames:
    """Find what the messages from `cut` on needed from those before."""
    system, before = divide(messages[:cut])
    known = {name for message in system for name in names(message_text(message))}
    last: dict[str, int] = {}
    for index, message in enumerate(before):
        last.update(dict.fromkeys(names(message_text(message)), index))
    needed: list[Need] = []
    named: set[str] = set()
    turn = 0
    for message in messages[cut:]:
        here = names(message_text(message))
        if message.role == "assistant":
            needed += [
                Need(name, kind, turn, last[name] / max(1, len(before) - 1))
                for name, kind in sorted(here.items())
                if name in last and name not in known and name not in named
            ]
            turn += 1
        named.update(here)
    return NeededNames(
        needed=tuple(needed), origin=surroundings(text_of(before), [need.name for need in needed])
    )


def recall(needs: NeededNames, text: str, newest: str) -> Recall:
    """Tell what of the needs a text has; `newest` is what plain truncation to the same size would keep."""
    wanted = [need.name for need in needs.needed]
    found = surroundings(text, wanted)
    ground = grounded(wanted, found, needs.origin)
    weights = [(1 / (1 + need.turns), need.name in found) for need in needs.needed]
    return Recall(
        present={name: name in found for name in wanted},
        grounded={name: name in ground for name in wanted},
        deep=tuple(name for name in wanted if not is_present(name, newest)),
        soon=sum(weight for weight, there in weights if there) / sum(weight for weight, _ in weights),
    )


def newest_within(messages: Sequence[Message], budget: int, count: Count) -> tuple[Message, ...]:
    """Take the newest messages that fit, one by one, whatever belongs together: plain truncation."""
    kept = 0
    for message in reversed(messages):
        budget -= count(message)
        if budget < 0:
            break
        kept += 1
    return tuple(messages[len(messages) - kept :])


def _share(values: Iterable[bool]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
