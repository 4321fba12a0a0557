"""Cleans and judges what a model answered: gives a text that may be stored, or the problem that forbids it.

Nothing is invented here and nothing mended: lines are kept or dropped. A draft has a text and a problem at once only if
the text is true and merely too long, without its sections, or without the lines that changed what a user had settled;
otherwise a problem means that there is nothing to store.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from octavo.core.ask.blocks import Measure
from octavo.core.ask.fences import without_fences
from octavo.core.ask.forms import BULLETS
from octavo.core.ask.language import Language, foreign
from octavo.core.ask.source_check import SourceText, evidence, unfounded
from octavo.core.extract.changes import ChangedLine, StandingLine, contradictions
from octavo.core.extract.scan import words
from octavo.core.extract.standing import denies
from octavo.core.extract.units import sentences
from octavo.core.messages import Text
from octavo.core.reply import Reply
from octavo.core.verify import Problem, body, reply_problems

OVERSHOOT = 1.25
"""An answer up to a quarter too long is thinned out; a longer one is asked for again, more tersely."""
DISTINCT = 12
"""Characters from which on a repeated line is a repetition; `(none)` and a closing brace may come again."""
LOOP_LINES = 3
LOOP_SHARE = 0.3
"""So many repeated lines, and so large a share of all, are a loop and not a slip."""
LOOP_LENGTH = 600
LOOP_RATIO = 8.0
"""Prose packs to a half or a third; a line this long that packs to an eighth says the same over and over."""
THIN = 12
"""Tokens below which an answer to a source ten times as long is no summary but a remark."""
THIN_SHARE = 0.1
MOST_DOUBTFUL = 0.5
"""If more lines than this share name things that nobody named, the others are not to be trusted either."""
EVIDENCE = 3
"""Numbers and identifiers of the source that an answer in the wrong form has to name, or it is about something else."""
CONTAINED = 0.9
"""Share of the words of a line of a list that another line has too: small models say things twice, once in short."""
ECHO = 0.6
"""Share of the words of a small model's line that stand in the chunk: such models copy, or they make things up."""
ONE_PLACE = 0.85
"""Share of the informative words of such a line that stand together, in one sentence or two in a row. Small models say
of one thing what the next sentence says of another; where they copy, they copy nearly all."""
FEWEST_WORDS = 3
"""Informative words of such a line: with fewer it says next to nothing."""
SANE = 16
"""Characters of a summary that are looked at for each token it may have: four times what fits. To judge takes longer
the longer the summary and its source are, and of so long a one most would be left out."""
LEAST_SANE = 20_000
RAW = 4
"""Times that many of the whole answer: a model may think aloud before it writes."""
SHOWN = 120
"""Characters of a line that a problem shows."""
PARAGRAPH = 300
"""A longer line is a paragraph: it is judged sentence by sentence."""

QUESTION_MARKS = ("?", "？", "؟")
_OUTER_FENCE = re.compile(r"\A```\w*\n(.*)\n```\Z", re.DOTALL)
_HEADING = re.compile(r"\s*(?:#{1,6}\s+\S.*|\*\*[^*\n]+\*\*:?|[^\W\d_][\w ]{1,40}:)\s*")
_TAG = re.compile(r"</?[A-Za-z_][^<>]*>")
_LIST_MARK = re.compile(r"\s*(?:(?:[-*+•·]|\d{1,3}[.)])\s+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?؟۔।॥])\s+(?=[^\sa-z])|(?<=[。！？｡])(?=.)")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_WORDY = re.compile(r"\w")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What an answer is judged by."""

    source_text: SourceText
    language: Language
    source: int
    """Tokens of what the model was shown; the answer has to have fewer."""
    cap: int
    sections: tuple[str, ...] = ()
    """Headings that were asked for."""
    state: bool = False
    """Whether a structured state was asked for."""
    wish: str = ""
    standing: tuple[StandingLine, ...] = ()
    """What users settled in the source: an answer may leave it out, not change it."""
    told: str = ""
    """The chunk that a small model was shown: every line of its list has to come from one place of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAnswer:
    """An answer after judgement."""

    text: str = ""
    doubtful: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTask:
    """An answer, and what it is judged by: to judge a long one takes long, and may be done elsewhere."""

    reply: Reply
    expected: Expected
    bullets: bool = False


def verdict(asked: JudgeTask, measure: Measure) -> JudgedAnswer:
    """Judge an answer of either kind."""
    if asked.bullets:
        return judge_bullets(asked.reply, asked.expected)
    return judge(asked.reply, asked.expected, measure)


def judge(reply: Reply, expected: Expected, measure: Measure) -> JudgedAnswer:
    """Clean an answer, and keep of it what can be trusted."""
    most = max(LEAST_SANE, SANE * expected.cap)
    reply = _sane(reply, most)
    if problems := tuple(reply_problems(reply)):
        return JudgedAnswer(problems=problems)
    whole = clean(reply.message.text)
    answer = _head(whole, most)
    text, repeated = distinct(answer)
    problem = next(_faults(answer, text, repeated, expected, measure), None)
    formless = _formless(text, expected)
    if formless and evidence(text, expected.source_text) < EVIDENCE:
        problem = problem or formless
    if problem:
        return JudgedAnswer(problems=(problem,))
    text, doubtful = _grounded(text, expected.source_text)
    text, changed = _faithful(text, expected.standing)
    doubtful += tuple(line.told for line in changed)
    if problem := _groundless(text, doubtful) or _bulky(text, expected, measure):
        return JudgedAnswer(problems=(problem,), doubtful=doubtful)
    draft = _bounded(text, doubtful, expected.cap, measure)
    if len(whole) > most and not draft.problems:
        draft = replace(draft, problems=(Problem("too_long", f"{len(whole):,} characters"),))
    flaws = ([formless] if formless else []) + ([_unfaithful(changed)] if changed else [])
    return replace(draft, problems=(*flaws, *draft.problems))


def _sane(reply: Reply, most: int) -> Reply:
    """Leave out what follows more text than any summary has; where there is so much, there is no telling what it is."""
    text = reply.message.text
    if len(text) <= RAW * most:
        return reply
    others = tuple(part for part in reply.message.parts if not isinstance(part, Text))
    parts = (*others, Text(text=_head(text, RAW * most)))
    return replace(reply, message=replace(reply.message, parts=parts))


def _head(text: str, most: int) -> str:
    """Cut a text that is too long, after a whole line if there is one."""
    return text if len(text) <= most else text[:most].rpartition("\n")[0] or text[:most]


def judge_bullets(reply: Reply, expected: Expected) -> JudgedAnswer:
    """Keep the lines of a small model's list that can be trusted; a list that was cut off loses its last line only."""
    reply = _sane(reply, LEAST_SANE)
    problems = list(reply_problems(reply))
    if problems and problems[0].flaw != "truncated":
        return JudgedAnswer(problems=tuple(problems))
    lines = _listed(_head(clean(reply.message.text), LEAST_SANE), whole=not problems)
    if other := foreign("\n".join(lines), expected.language, allowed=expected.wish):
        return JudgedAnswer(problems=(_wrong_language(other, expected.language),))
    changed = [*contradictions("\n".join(lines), expected.standing)]
    wrong = {line.told for line in changed}
    places = [*_places(expected.told)]
    kept = [
        line
        for line in lines
        if _echoes(line, expected.source_text)
        and _from_one_place(line, places)
        and wrong.isdisjoint(sentences(line))
    ]
    doubtful = tuple(line for line in lines if line not in kept)
    text = "\n".join(f"- {line}" for line in kept)
    problem = _groundless(text, doubtful) if lines else Problem("empty", "the answer has no usable line")
    found = ([_unfaithful(changed)] if changed else []) + ([problem] if problem else [])
    return JudgedAnswer(text="" if problem else text, doubtful=doubtful, problems=tuple(found))


def _echoes(line: str, source: SourceText) -> bool:
    """Tell whether a line names nothing new and says most of it in the words of its source."""
    spoken = words(line)
    known = sum(1 for word in spoken if word in source.text)
    return known >= ECHO * len(spoken) and not unfounded(line, source)


def _places(told: str) -> Iterator[tuple[frozenset[str], bool]]:
    """Give the words of every sentence of a text, and of every two in a row; and whether they deny something."""
    for line in told.split("\n"):
        single = sentences(line.strip())
        for place in (*single, *map(" ".join, pairwise(single))):
            yield frozenset(words(place)), denies(place)


def _from_one_place(line: str, places: Sequence[tuple[frozenset[str], bool]]) -> bool:
    """Tell whether a line is a statement that stands in one place of the source, with the same sense."""
    said, denied = frozenset(words(line)), denies(line)
    if len(said) < FEWEST_WORDS or line.rstrip().endswith(QUESTION_MARKS):
        return False
    return any(len(said & place) >= ONE_PLACE * len(said) and denied == other for place, other in places)


def _listed(text: str, *, whole: bool) -> list[str]:
    lines = [line for line in text.split("\n") if line.strip()]
    items = (_LIST_MARK.sub("", line, count=1).strip() for line in (lines if whole else lines[:-1]))
    usable = (item for item in items if item and not item.endswith(":") and not _HEADING.fullmatch(item))
    kept: list[tuple[frozenset[str], str]] = []
    for item in usable:
        said = frozenset(words(item))
        if said and not _loops(item) and not any(_contained(said, other) for other, _ in kept):
            kept = [(other, line) for other, line in kept if not _contained(other, said)]
            kept.append((said, item))
    return [line for _, line in kept][:BULLETS]


def _contained(said: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether a line says next to nothing that another does not."""
    return len(said & other) >= CONTAINED * len(said)


def clean(raw: str) -> str:
    """Take the summary out of an answer: no scratchpad, no wrapping, no copied fences."""
    text = without_fences(body(raw)).strip()
    if wrapped := _OUTER_FENCE.match(text):
        text = wrapped[1].strip()
    return _BLANK_LINES.sub("\n\n", text)


def distinct(text: str) -> tuple[str, int]:
    """Drop lines that were there before, outside of code; give the rest, and how many went."""
    seen: set[str] = set()
    kept: list[str] = []
    repeated = 0
    code = False
    for line in text.split("\n"):
        code ^= line.lstrip().startswith("```")
        key = _key(line)
        if not code and len(key) >= DISTINCT and _WORDY.search(key) and key in seen:
            repeated += 1
        else:
            seen.add(key)
            kept.append(line)
    return _BLANK_LINES.sub("\n\n", "\n".join(kept)).strip(), repeated


def _key(line: str) -> str:
    return _BLANKS.sub(" ", _LIST_MARK.sub("", line, count=1)).strip().rstrip(".").casefold()


def _faults(answer: str, text: str, repeated: int, expected: Expected, measure: Measure) -> Iterator[Problem]:
    lines = repeated + sum(1 for line in text.split("\n") if line.strip())
    if any(map(_loops, answer.split("\n"))) or (repeated >= LOOP_LINES and repeated > LOOP_SHARE * lines):
        yield Problem("loop", f"the answer repeats itself ({repeated} of {lines} lines came before)")
    if other := foreign(text, expected.language, allowed=expected.wish):
        yield _wrong_language(other, expected.language)
    tokens = measure(text)
    if tokens < min(THIN, THIN_SHARE * expected.source):
        yield Problem("empty", f"{tokens:,} tokens are no summary of {expected.source:,}")
    if expected.state and not ("<state_snapshot" in text and "</state_snapshot" in text):
        yield Problem("format", "the answer has no <state_snapshot>")


def _loops(line: str) -> bool:
    data = line.encode("utf-8", "surrogatepass")
    return len(data) >= LOOP_LENGTH and len(data) > LOOP_RATIO * len(zlib.compress(data))


def _wrong_language(found: str, wanted: Language) -> Problem:
    return Problem("language", f"the answer is in {found}, not in {wanted}")


def _formless(text: str, expected: Expected) -> Problem | None:
    """Tell whether sections that were asked for are missing; that is a flaw, yet what is said may still be true."""
    headings = sum(1 for line in text.split("\n") if _HEADING.fullmatch(line))
    if headings >= len(expected.sections) / 2:
        return None
    return Problem("format", f"the answer has {headings} of {len(expected.sections)} sections")


def _groundless(text: str, doubtful: Sequence[str]) -> Problem | None:
    lines = len(doubtful) + sum(1 for line in text.split("\n") if _says_something(line))
    if len(doubtful) <= MOST_DOUBTFUL * lines:
        return None
    example = doubtful[0][:80]
    return Problem(
        "unfounded", f"{len(doubtful)} of {lines} lines name what nobody named, such as {example!r}"
    )


def _bulky(text: str, expected: Expected, measure: Measure) -> Problem | None:
    tokens = measure(text)
    if tokens < expected.source:
        return None
    return Problem("not_smaller", f"{tokens:,} tokens for a source of {expected.source:,}")


def _says_something(line: str) -> bool:
    return bool(_TAG.sub("", line).strip()) and not _HEADING.fullmatch(line)


def _grounded(text: str, source: SourceText) -> tuple[str, tuple[str, ...]]:
    """Drop the lines, or sentences of paragraphs, that name what the source does not; their tags stay."""
    kept: list[str] = []
    doubtful: list[str] = []
    for unit in _units(text):
        if _says_something(unit) and unfounded(unit, source):
            doubtful.append(unit.strip())
            kept.append("".join(_TAG.findall(unit)) + ("\n" if unit.endswith("\n") else ""))
        else:
            kept.append(unit)
    return _BLANK_LINES.sub("\n\n", "".join(kept)).strip(), tuple(doubtful)


def _faithful(text: str, standing: Sequence[StandingLine]) -> tuple[str, list[ChangedLine]]:
    """Drop the lines, or sentences of paragraphs, that say something else than what a user settled."""
    changed = [*contradictions(text, standing)]
    for line in changed:
        text = text.replace(line.told, "", 1)
    kept = [
        line
        for line in text.split("\n")
        if not changed or not line or _LIST_MARK.sub("", line, count=1).strip()
    ]
    return _BLANK_LINES.sub("\n\n", "\n".join(kept)).strip(), changed


def _unfaithful(changed: Sequence[ChangedLine]) -> Problem:
    first = changed[0]
    return Problem(
        "standing", f"the answer says {first.told[:SHOWN]!r} where the user said {first.text[:SHOWN]!r}"
    )


def _units(text: str) -> Iterator[str]:
    """Divide a text into lines, and long lines into sentences; put together they are the text."""
    for line in text.splitlines(keepends=True):
        if len(line) <= PARAGRAPH:
            yield line
            continue
        start = 0
        for end in _SENTENCE_END.finditer(line):
            yield line[start : end.end()]
            start = end.end()
        yield line[start:]


def _bounded(text: str, doubtful: tuple[str, ...], cap: int, measure: Measure) -> JudgedAnswer:
    tokens = measure(text)
    if tokens <= cap:
        return JudgedAnswer(text=text, doubtful=doubtful)
    fitting = thin(text, cap, measure)
    if fitting and tokens <= OVERSHOOT * cap:
        return JudgedAnswer(text=fitting, doubtful=doubtful)
    return JudgedAnswer(
        text=fitting,
        doubtful=doubtful,
        problems=(Problem("too_long", f"{tokens:,} tokens, {cap:,} are allowed"),),
    )


def thin(text: str, cap: int, measure: Measure) -> str:
    """Leave lines out, evenly from beginning to end, until a text fits; headings and tags stay.

    Cutting the end off would lose what is newest and what is open. Empty if not even the headings fit.
    """
    units = list(_units(text))
    loose = [i for i, unit in enumerate(units) if not (_TAG.search(unit) or _HEADING.fullmatch(unit))]

    def spread(count: int) -> str:
        gone = set(loose).difference(_evenly(loose, count))
        rest = "".join(unit for i, unit in enumerate(units) if i not in gone)
        return _BLANK_LINES.sub("\n\n", rest).strip()

    low, high = 0, len(loose)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(spread(middle)) <= cap else (low, middle - 1)
    return spread(low) if low else ""


def _evenly(items: Sequence[int], count: int) -> list[int]:
    """Choose some of a row, the last one first, spread over all of it."""
    last = len(items) - 1
    return [items[last - i * last // max(1, count - 1)] for i in range(count)]
