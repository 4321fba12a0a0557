"""Measures one compression: a ruler is made of the original conversation, and laid on the result.

A ruler is made once for a conversation and serves every compressor, budget and round. A score holds what was found;
`METRICS` says how each number of a report is read off it, and a number that does not apply is absent, never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from octavo.core.extract.units import Analysis
from octavo.core.messages import Message, place
from octavo.evals.measure.answers import AskedQuestion, Exam, Key, Mark, mark, prepare
from octavo.evals.measure.needs import Count, NeededNames, Recall, needs_after, newest_within, recall
from octavo.evals.measure.survival import Dated, Survival, date_facts, intact, leaked, survivals
from octavo.evals.measure.texts import divide, message_text, text_of
from octavo.evals.measure.trace import Origins, Traced, trace
from octavo.evals.measure.validity import overruns, problems
from octavo.evals.measure.words import content_words

BRANCH_ROOM = 64
"""Tokens besides the newest message of a branch: a frame, and a line of what came before."""
OLD = 0.5
"""What stands in the older half of a conversation is what compressing is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A conversation at the moment it is compressed, and what is known of what matters in it."""

    name: str
    group: str
    """The conversation; several cases may be cut from one."""
    set: str
    """The collection it belongs to."""
    messages: tuple[Message, ...]
    questions: tuple[AskedQuestion, ...] = ()
    speakers: tuple[str, ...] = ()
    future: tuple[Message, ...] = ()
    """What really followed."""
    pins: tuple[str, ...] = ()
    """Texts that must come through character for character, besides the system prompt."""
    elsewhere: frozenset[str] = frozenset()
    """Words that only other branches have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """What is looked for in everything that is made of a case."""

    case: Case
    count: Count
    system: tuple[Message, ...]
    body: tuple[Message, ...]
    system_tokens: int
    tokens: int
    """Without the system prompt."""
    exam: Exam | None
    needs: NeededNames | None
    facts: tuple[Dated, ...]
    origins: Origins
    words: frozenset[str]
    """Of the conversation, where others are to be told from them."""

    def budget(self, size: float) -> int:
        """Turn a share of the conversation, or a number of tokens, into what a compressor may use.

        Branches are short, and measured by what leaks into them: a share of one always has room for its newest message.
        """
        if size > 1:
            return int(size)
        least = BRANCH_ROOM + sum(map(self.count, self.body[-1:])) if self.case.elsewhere else 1
        return self.system_tokens + max(least, int(self.tokens * size))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What was found in one result."""

    before: int
    after: int
    """Tokens without the system prompt."""
    over: bool
    problems: tuple[str, ...]
    marks: tuple[Mark, ...]
    recall: Recall | None
    survivals: tuple[Survival, ...]
    pins: tuple[bool, ...]
    leak: float | None
    traced: Traced
    whole: bool = False
    """Whether it is the conversation as it was: the upper end, for which no budget holds."""
    asked: tuple[bool, ...] = ()
    """For each question that was asked as the newest message: whether its answer is in what would be sent then."""

    @property
    def sound(self) -> bool:
        """Whether it may be sent at all."""
        return (self.whole or not self.over) and not self.problems


def make_ruler(case: Case, count: Count, analyses: Mapping[str, Analysis] | None = None) -> Ruler:
    """Prepare everything that is asked about a case; `analyses` of its messages, by place, may be handed in."""
    system, body = divide(case.messages)
    everything = (*case.messages, *case.future)
    texts = [message_text(message) for message in case.messages]
    return Ruler(
        case=case,
        count=count,
        system=system,
        body=body,
        system_tokens=sum(map(count, system)),
        tokens=sum(map(count, body)),
        exam=prepare(texts, case.questions, case.speakers) if case.questions else None,
        needs=_needed(everything, len(case.messages)) if case.future else None,
        facts=date_facts(place(case.messages)[len(system) :], analyses),
        origins=Origins(body),
        words=frozenset(content_words("\n".join(texts))) if case.elsewhere else frozenset(),
    )


def _needed(messages: Sequence[Message], cut: int) -> NeededNames | None:
    found = needs_after(messages, cut)
    return found if found.needed else None


def written(ruler: Ruler, made: Sequence[Message]) -> tuple[Message, ...]:
    """Leave the original system prompt out, because it is never compressed."""
    prompts = [message_text(message) for message in ruler.system]
    return tuple(m for m in made if m.role != "system" or message_text(m) not in prompts)


def measure(
    ruler: Ruler, made: Sequence[Message], budget: int, wrong: Sequence[str] = (), *, whole: bool = False
) -> Score:
    """Measure a result; `wrong` is what was found broken before it could be read, `whole` that nobody changed it."""
    own = written(ruler, made)
    text = text_of(own)
    after = sum(map(ruler.count, made)) - ruler.system_tokens
    newest = text_of(newest_within(ruler.body, budget - ruler.system_tokens, ruler.count))
    case = ruler.case
    return Score(
        before=ruler.tokens,
        after=max(0, after),
        over=overruns(after + ruler.system_tokens, budget),
        problems=(*wrong, *problems(made, case.messages)),
        marks=mark(ruler.exam, text) if ruler.exam else (),
        recall=recall(ruler.needs, text, newest) if ruler.needs else None,
        survivals=survivals(ruler.facts, text),
        pins=intact([*map(message_text, ruler.system), *case.pins], text_of(made)),
        leak=leaked(case.elsewhere, map(message_text, own), ruler.words) if case.elsewhere else None,
        traced=trace(ruler.origins, own),
        whole=whole,
    )


def answers(ruler: Ruler, key: Key, made: Sequence[Message], budget: int, *, whole: bool = False) -> bool:
    """Tell whether what was made for a question has its answer; the question itself does not count as an answer.

    What is larger than the budget, the question included, has none.
    """
    assert ruler.exam is not None
    asked = key.question.text
    text = "\n".join(message_text(message).removesuffix(asked) for message in written(ruler, made))
    (found,) = mark(Exam(keys=(key,), evidence=ruler.exam.evidence), text)
    return bool(found.answered) and (whole or not overruns(sum(map(ruler.count, made)), budget))


Reading = Callable[[Score], Iterator[tuple[str, float]]]
"""Gives the values of one metric, each with the item it is about."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of the report."""

    title: str
    means: str
    """In a sentence, for people."""
    read: Reading


def _answers(score: Score) -> Iterator[tuple[str, float]]:
    for number, found in enumerate(score.marks):
        if found.answered is not None:
            yield str(number), float(found.answered)


def _old_answers(score: Score) -> Iterator[tuple[str, float]]:
    for number, found in enumerate(score.marks):
        if found.answered is not None and found.age < OLD:
            yield str(number), float(found.answered)


def _asked(score: Score) -> Iterator[tuple[str, float]]:
    yield from ((str(number), float(found)) for number, found in enumerate(score.asked))


def _evidence(score: Score) -> Iterator[tuple[str, float]]:
    yield from ((str(number), found.covered) for number, found in enumerate(score.marks))


def _recall(score: Score) -> Iterator[tuple[str, float]]:
    if score.recall:
        yield "", score.recall.plain


def _grounded(score: Score) -> Iterator[tuple[str, float]]:
    if score.recall:
        yield "", score.recall.ground


def _deep(score: Score) -> Iterator[tuple[str, float]]:
    if score.recall and score.recall.depth is not None:
        yield "", score.recall.depth


def _soon(score: Score) -> Iterator[tuple[str, float]]:
    if score.recall:
        yield "", score.recall.soon


def _facts(score: Score) -> Iterator[tuple[str, float]]:
    if score.survivals:
        yield "", sum(found.kept for found in score.survivals) / len(score.survivals)


def _decisions(score: Score) -> Iterator[tuple[str, float]]:
    kept = [found.kept for found in score.survivals if found.kind == "decision"]
    if kept:
        yield "", sum(kept) / len(kept)


def _traced(score: Score) -> Iterator[tuple[str, float]]:
    if score.traced.lines:
        yield "", score.traced.traceable / score.traced.lines


def _pins(score: Score) -> Iterator[tuple[str, float]]:
    yield from ((str(number), float(there)) for number, there in enumerate(score.pins))


def _leak(score: Score) -> Iterator[tuple[str, float]]:
    if score.leak is not None:
        yield "", score.leak


def _kept(score: Score) -> Iterator[tuple[str, float]]:
    if score.before:
        yield "", score.after / score.before


def _over(score: Score) -> Iterator[tuple[str, float]]:
    yield "", float(score.over)


def _valid(score: Score) -> Iterator[tuple[str, float]]:
    yield "", float(not score.problems)


def _net(score: Score) -> Iterator[tuple[str, float]]:
    """Give what the index is made of; a result that cannot be sent is worth nothing."""
    main = next((list(read(score)) for read in (_answers, _grounded, _facts) if any(read(score))), [])
    yield from ((item, number if score.sound else 0.0) for item, number in main)


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "index": Metric(
            "index",
            "answers, or else grounded names, or else facts; 0 for what cannot be sent; `none` is the upper end",
            _net,
        ),
        "answers": Metric("answers", "questions whose answer survives next to what links it", _answers),
        "asked": Metric(
            "asked",
            "some of these questions asked as the newest message, answered by what is sent then",
            _asked,
        ),
        "old_answers": Metric("old half", "answers from the older half", _old_answers),
        "evidence": Metric("evidence", "messages with an answer that survive nearly whole", _evidence),
        "recall": Metric("recall", "names that later turns wrote and that are still there", _recall),
        "grounded": Metric("grounded", "the same, with words around them that they came with", _grounded),
        "deep": Metric("deep", "the same, of names outside the newest tokens of the budget", _deep),
        "soon": Metric("soon", "recall, with names needed soon counting more", _soon),
        "facts": Metric("facts", "facts of the receipt kept word for word or retold", _facts),
        "decisions": Metric("decisions", "sentences that decide or plan, kept or retold", _decisions),
        "traced": Metric("traced", "new lines that can be traced to their source", _traced),
        "pins": Metric("pins", "system prompts and pinned texts intact, character for character", _pins),
        "leak": Metric("leak", "words of other branches that turn up on this one", _leak),
        "kept": Metric("kept", "tokens left, without the system prompt", _kept),
        "over": Metric("over", "results larger than the budget", _over),
        "valid": Metric("valid", "results that break no rule of any provider", _valid),
    }
)
