"""What became of every fact of a conversation: the receipt's question, asked of any text.

Facts and their fates are those of `octavo.core.receipt`, so what a user is told of one compression and what an
evaluation reports of many are the same thing. Here each fact also has an age, and what was made may be any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from octavo.core.extract.units import Analysis
from octavo.core.messages import Node
from octavo.core.receipt import Fact, FactKind, Fate, Remains, gather
from octavo.evals.measure.words import content_words


@dataclass(frozen=True, slots=True)
class Dated:
    """A fact, the informative words of its sentence, and where it stands: 0 is the first message, 1 the last."""

    fact: Fact
    words: tuple[str, ...]
    age: float


@dataclass(frozen=True, slots=True)
class Survival:
    """What became of one fact."""

    kind: FactKind
    age: float
    fate: Fate

    @property
    def kept(self) -> bool:
        return self.fate != "lost"


def date_facts(nodes: Sequence[Node], analyses: Mapping[str, Analysis] | None = None) -> tuple[Dated, ...]:
    """List the facts of messages with their ages."""
    place = {node.id: index / max(1, len(nodes) - 1) for index, node in enumerate(nodes)}
    return tuple(Dated(fact, words, place[fact.source]) for fact, words in gather(nodes, analyses))


def survivals(facts: Iterable[Dated], text: str) -> tuple[Survival, ...]:
    """Tell for each fact whether a text has it word for word, retells it, or lost it."""
    remains = Remains(text, text)
    return tuple(
        Survival(dated.fact.kind, dated.age, remains.fate(dated.fact, dated.words)) for dated in facts
    )


def intact(pins: Iterable[str], text: str) -> tuple[bool, ...]:
    """Tell for each pinned text whether it is there, character for character."""
    return tuple(pin in text for pin in pins)


FRAME_WORDS = 12
"""A line in brackets of at most so many words is what a compressor says about itself; a longer one says something."""
_FRAME = re.compile(r"\s*(?:\[[^\]]*\]|<[^>]*>)\s*")


def leaked(elsewhere: frozenset[str], written: Iterable[str], own: frozenset[str]) -> float:
    """Give the share of the words that exist on other branches only and turn up in the texts written for this one.

    The frame that a compressor puts around what it keeps is its own, whatever words some other branch has; so are the
    letters that mark who speaks, and the rest of an own word that was cut off where a text ends.
    """
    said = {word for text in written for word in _spoken(text, own)}
    return len(elsewhere & said) / len(elsewhere) if elsewhere else 0.0


def _spoken(text: str, own: frozenset[str]) -> Iterator[str]:
    lines = [line for line in text.splitlines() if not _is_frame(line)]
    found = [word for line in lines for word in content_words(line) if len(word) > 1]
    cut_off = bool(found) and any(word.startswith(found[-1]) for word in own)
    yield from found[:-1] if cut_off else found


def _is_frame(line: str) -> bool:
    return bool(_FRAME.fullmatch(line)) and len(line.split()) <= FRAME_WORDS
