"""Questions about a conversation: is the answer still there, and how much of what it was taken from.

A question counts as answered only if every word of its answer survives in one window together with a word that links
question and evidence. Without that link, common answers ("blue", "2022") would be found by accident.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from octavo.evals.measure.words import WINDOW, WordIndex, content_words, words

COVERED = 0.70
"""Share of an evidence message's weighted words that must survive together for it to count as covered."""
STRETCH = 1.3
"""An evidence message may be spread by this much: marks and dates stand between its words."""
COMMON = 0.05
"""A word in more than this share of the messages links nothing."""
COMMON_AT_LEAST = 2
"""In a short conversation, so many messages may share a link all the same."""
_BARE = (["yes"], ["ye"], ["no"])
"""Answers that any text holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """Something a later turn may ask, with what answers it."""

    text: str
    answer: str
    evidence: tuple[int, ...]
    """Which messages hold the answer."""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """The words of an answer that one message has, and the words that link it to the question."""

    words: frozenset[str]
    anchors: frozenset[str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message that holds an answer: its words by weight."""

    weights: Mapping[str, float]
    width: int

    def covered(self, index: WordIndex) -> float:
        """Give the share that survives together."""
        total = sum(self.weights.values())
        if not total:
            return 0.0
        return sum(self.weights[word] for word in index.together(self.weights, self.width)) / total


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is looked for to call a question answered."""

    question: AskedQuestion
    words: frozenset[str]
    parts: tuple[AnswerPart, ...]
    evidence: tuple[int, ...]
    age: float
    """Where the oldest evidence stands: 0 is the first message, 1 the last."""
    extractive: bool
    """Whether the answer stands in the evidence word for word; only then can its survival be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The questions about one conversation, ready to be asked of any text."""

    keys: tuple[Key, ...]
    evidence: Mapping[int, Evidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How one question fared."""

    answered: bool | None
    """None when the answer is no word-for-word one."""
    share: float
    """Share of the answer's words that were found."""
    covered: float
    """Share of its evidence messages that are covered."""
    age: float
    kind: str


def prepare(texts: Sequence[str], questions: Iterable[AskedQuestion], speakers: Iterable[str] = ()) -> Exam:
    """Work out what to look for, from the original messages."""
    said = [frozenset(content_words(text)) for text in texts]
    spread = Counter(word for found in said for word in found)
    speaking = frozenset(word for name in speakers for word in words(name))
    asked = tuple(questions)
    return Exam(
        keys=tuple(_key(question, said, spread, speaking) for question in asked),
        evidence={
            at: _evidence(texts[at], said[at], spread, len(texts))
            for question in asked
            for at in question.evidence
        },
    )


def _key(
    question: AskedQuestion,
    said: Sequence[frozenset[str]],
    spread: Mapping[str, int],
    speaking: frozenset[str],
) -> Key:
    wanted = [word for word in dict.fromkeys(content_words(question.answer)) if word not in speaking]
    known = frozenset[str]().union(*(said[at] for at in question.evidence))
    linking = frozenset(content_words(question.text)) - speaking - frozenset(wanted)
    rare = COMMON * len(said) + COMMON_AT_LEAST
    parts = [
        AnswerPart(
            frozenset(wanted) & said[at],
            frozenset(word for word in linking & said[at] if spread[word] <= rare),
        )
        for at in question.evidence
    ]
    return Key(
        question=question,
        words=frozenset(wanted),
        parts=tuple(part for part in parts if part.words),
        evidence=question.evidence,
        age=min(question.evidence, default=0) / max(1, len(said) - 1),
        extractive=bool(wanted) and known.issuperset(wanted) and wanted not in _BARE,
    )


def _evidence(text: str, said: frozenset[str], spread: Mapping[str, int], messages: int) -> Evidence:
    weights = {word: math.log((messages + 1) / (spread[word] + 0.5)) for word in said}
    return Evidence(weights, max(WINDOW, int(STRETCH * len(words(text)))))


def mark(exam: Exam, text: str) -> tuple[Mark, ...]:
    """Ask every question of a text."""
    index = WordIndex(text)
    covered = {at: evidence.covered(index) >= COVERED for at, evidence in exam.evidence.items()}
    return tuple(_mark(key, index, covered) for key in exam.keys)


def _mark(key: Key, index: WordIndex, covered: Mapping[int, bool]) -> Mark:
    found = frozenset[str]().union(
        *(index.together(dict.fromkeys(part.words, 1.0), WINDOW, part.anchors) for part in key.parts)
    )
    share = len(found & key.words) / len(key.words) if key.words else 0.0
    kept = [covered[at] for at in key.evidence]
    return Mark(
        answered=found >= key.words if key.extractive else None,
        share=share,
        covered=sum(kept) / len(kept) if kept else 0.0,
        age=key.age,
        kind=key.question.kind,
    )
