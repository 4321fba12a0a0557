"""Sentences that stand: rules, preferences, binding facts, responsibilities, deadlines and decisions of a user.

Whether a sentence stands is told by its words and its form alone (`standing_words`). Only what users write themselves
can stand: `own_lines` leaves out what they quote, forward or paste. A sentence that merely changes something stands
only where it changes what stood, which `replaced` finds out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from octavo.core.extract.standing_words import (
    ANNOUNCING,
    BY_SCRIPT,
    DENIED,
    LIFTED,
    MAIL_LABELS,
    MAIL_WROTE,
    PASTED_NOUNS,
    SPACED,
    TURKISH,
    TURKISH_SIGNS,
    Forms,
)

RULE = 1
PREFERENCE = 2
NAME = 4
"""What somebody wants to be called: there is one at a time."""
OWNER = 8
DEADLINE = 16
DECISION = 32
CHANGE = 64
"""Something is not as it was. Alone it does not stand."""
STANDS = RULE | PREFERENCE | NAME | OWNER | DEADLINE | DECISION

LONGEST = 280
"""Characters of a sentence that can be a rule; what is longer tells a story, or was pasted."""
SHORTEST = 5
PASTED = 2_000
"""Characters of a message beyond which only its first paragraph is taken for the user's own: nobody types so much."""
INTRODUCED = 240
"""Characters of what follows an announcement such as "Summarise this text." that are taken for that text."""
SEAMS = 4
"""Places in a sentence where a rule may begin without an end before it; the last ones are tried."""
LABELS_NEAR = 4
"""Lines among which the head of a mail has a second label."""

_KINDS: tuple[tuple[str, int], ...] = (
    ("rule", RULE),
    ("preference", PREFERENCE),
    ("name", NAME),
    ("owner", OWNER),
    ("deadline", DEADLINE),
    ("decision", DECISION),
)
_START = (
    r"^(?:and |but |so |also |ok(?:ay)?,? |well,? |oh,? |yes,? |no, |btw,? |by the way,? "
    r"|then |again,? |und |aber |et |mais |pero |и |но "
    r"|ale |και |αλλά )?"
)
_CLAUSE = rf"(?:{_START}|[,;:(–—] |\b(?:please|bitte|por favor|пожалуйста|proszę|παρακαλώ),? )"
_CLAUSES = re.compile(_CLAUSE)
_CONJUNCTION = re.compile(r"\b(?:and|but|so|then|also) ")
_SIGN = re.compile(r"\\.|.", re.DOTALL)
NEVER = r"(?!)"
"""A form that nothing has."""
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_QUOTED = re.compile(
    r"\"[^\"]{25,400}\"|“[^”]{25,400}”|„[^“”]{25,400}[“”]|«[^»]{25,400}»|「[^」]{12,400}」|『[^』]{12,400}』|“[^”]{0,400}$|«[^»]{0,400}$"
)
_SEAM = re.compile(r"(?:(?<=\])|(?<=\d\.))\s+(?=[^\W\d_])")
_STRAIGHT = {ord("’"): "'", ord("‘"): "'", ord("ʼ"): "'"}
_QUESTIONS = ("?", "？", "؟")
_RULED_QUESTION = re.compile(
    r"^(?:can|could|would|will) (?:you|we) (?:please )?(?:always|never|only|not|stop|from now on)\b"
)


@cache
def _languages() -> Mapping[str, tuple[str, ...]]:
    """Tell for each word which languages it may be of."""
    found: dict[str, list[str]] = {}
    for name, forms in SPACED.items():
        for word in forms.words.split():
            found.setdefault(word, []).append(name)
    return {word: tuple(names) for word, names in found.items()}


@cache
def _script() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters, _ in BY_SCRIPT))


class _Form(NamedTuple):
    """What settles something: forms anywhere in a sentence, and forms that begin a clause."""

    anywhere: re.Pattern[str]
    clause: re.Pattern[str]
    joined: re.Pattern[str]

    def found(self, text: str, clauses: Iterable[int], joined: Iterable[int]) -> bool:
        match, after = self.clause.match, self.joined.match
        return (
            any(match(text, at) for at in clauses)
            or any(after(text, at) for at in joined)
            or self.anywhere.search(text) is not None
        )


class _Patterns(NamedTuple):
    kinds: tuple[tuple[_Form, int], ...]
    change: re.Pattern[str]
    passing: re.Pattern[str] | None


@cache
def _patterns(name: str) -> _Patterns:
    """Compile the forms of a language, when it is first met."""
    forms = _forms(name)
    kinds = tuple((_form(getattr(forms, kind)), bit) for kind, bit in _KINDS)
    return _Patterns(kinds, _pattern(forms.change), _pattern(forms.passing) if forms.passing else None)


def _forms(name: str) -> Forms:
    if name == "Turkish":
        return TURKISH
    return SPACED.get(name) or next(forms for language, _, forms in BY_SCRIPT if language == name)


def _form(fragments: Iterable[str]) -> _Form:
    """Part the forms that begin a clause from the others: they need not be tried anywhere else."""
    parts = [part for fragment in fragments for part in _alternatives(fragment)]
    clause = [part[2:] for part in parts if part.startswith("^^")]
    joined = [part[2:] for part in parts if part.startswith("&&")]
    others = [part for part in parts if not part.startswith(("^^", "&&"))]
    return _Form(_pattern(others), _pattern(clause), _pattern(joined))


def _alternatives(fragment: str) -> list[str]:
    """Divide a form at the bars that stand in no bracket."""
    found, depth, within = [""], 0, False
    for sign in _SIGN.findall(fragment):
        within = sign != "]" if within else sign == "["
        depth += 0 if within or sign == "]" else (sign == "(") - (sign == ")")
        if sign == "|" and not depth and not within:
            found.append("")
        else:
            found[-1] += sign
    return found


def _pattern(fragments: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in fragments).replace("^^", _CLAUSE) or NEVER)


@cache
def _turkish() -> re.Pattern[str]:
    return re.compile(TURKISH_SIGNS)


def find_standing(sentence: str) -> int:
    """Tell what a user's sentence settles for later, as bits; 0 if it is of the moment only."""
    if not SHORTEST <= len(sentence) <= LONGEST:
        return 0
    text = sentence.translate(_STRAIGHT).lower().strip(" \t-*•·_")
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if '"' in text or not text.isascii():
        text = _QUOTED.sub('""', text)
    if text.endswith(_QUESTIONS) and not _RULED_QUESTION.match(text):
        return 0
    found = 0
    names = _candidates(text)
    clauses = {0, *(match.end() for match in _CLAUSES.finditer(text))} if names else set[int]()
    joined = clauses | {match.end() for match in _CONJUNCTION.finditer(text)} if names else clauses
    for name in names:
        patterns = _patterns(name)
        bits = sum(bit for form, bit in patterns.kinds if form.found(text, clauses, joined))
        changes = CHANGE if patterns.change.search(text) else 0
        if bits and patterns.passing and patterns.passing.search(text):
            bits = 0
        found |= bits | changes
    return found


def apart(sentence: str) -> list[str]:
    """Cut a sentence that stands off what was written before it without an end: a note in brackets, a number."""
    if len(sentence) > 2 * LONGEST:
        return [sentence]
    for seam in [*_SEAM.finditer(sentence)][-SEAMS:]:
        if find_standing(sentence[seam.end() :]) & STANDS:
            return [sentence[: seam.start()], sentence[seam.end() :]]
    return [sentence]


def without_change(sentence: str) -> str:
    """Leave out the words by which a sentence says that something changed."""
    text = sentence.translate(_STRAIGHT)
    for name in _candidates(text.lower()):
        lowered = text.lower()
        if len(lowered) != len(text):  # a letter that has no single small one: then places would not agree
            return text
        for match in reversed([*_patterns(name).change.finditer(lowered)]):
            text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    return text


def lifts(sentence: str) -> bool:
    """Tell whether a sentence takes back what it names."""
    return _lifted().search(sentence.lower()) is not None


def denies(sentence: str) -> bool:
    """Tell whether a sentence forbids or denies something."""
    return _denied().search(sentence.translate(_STRAIGHT).lower()) is not None


@cache
def _denied() -> re.Pattern[str]:
    return re.compile(DENIED)


@cache
def _lifted() -> re.Pattern[str]:
    return re.compile(LIFTED)


def _candidates(text: str) -> list[str]:
    """Name the languages a sentence may be of."""
    if not text.isascii():
        scripts = {match.lastgroup for match in _script().finditer(text)}
        if scripts:
            return [next(name for name, _, _ in BY_SCRIPT if name in scripts)]
    languages = _languages()
    names = dict.fromkeys(name for word in _WORD.findall(text) for name in languages.get(word, ()))
    return [*names, "Turkish"] if _turkish().search(text) else [*names]


_FENCE = re.compile(r"\s{0,80}(?:```|~~~|\"\"\"|''')")
_QUOTE = re.compile(r"\s{0,80}(?:[>|›]|&gt;)")
_TAG = re.compile(r"\s{0,80}<([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?>")
_LABEL = re.compile(
    rf"\s{{0,8}}\*{{0,2}}(?:{MAIL_LABELS})\*{{0,2}}\s?[:：]\*{{0,2}}\s{{0,8}}\S", re.IGNORECASE
)
_WROTE = re.compile(rf"(?:{MAIL_WROTE})(?:\s[^:：]{{1,40}})?\s?[:：]\s?$", re.IGNORECASE)
_FORWARDED = re.compile(r"\s{0,8}[-_=*]{3,40}\s?[^\W\d_][\w \t]{3,40}?\s?[-_=*]{3}")
_ANNOUNCED = re.compile(
    r"(?:\b|(?<=[\u0e00-\uffff]))"
    rf"(?:{PASTED_NOUNS})(?:\b|(?=[\u0e00-\uffff]))",
    re.IGNORECASE,
)
_ANNOUNCING = re.compile(ANNOUNCING, re.IGNORECASE)
_COLON = (":", "：", ":-")
_CODE = re.compile(
    r"\s{0,80}(?:[$#%>❯] ?\w|at \w+[.(]|\d+\s{0,8}[:|]|[{}\];]"
    r"|(?:import|from|def|class|return|const|let|var|function|public|private)\b.{0,200}[({;:=])"
)


def own_lines(text: str) -> frozenset[int]:
    """Number the lines of a message that its user wrote: not quoted, forwarded, fenced, tagged, announced or pasted."""
    lines = text.splitlines()
    own: list[int] = []
    fenced, tag, left, begun = False, "", len(text), False
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if len(text) > PASTED and (len(line) > PASTED or (begun and not line.strip())):
            break
        if _FENCE.match(line):
            fenced = not fenced
        elif tag:
            tag = "" if f"</{tag}>" in line else tag
        elif fenced or _QUOTE.match(line) or _CODE.match(line):
            continue
        elif opened := _TAG.match(line):
            tag = "" if f"</{opened[1]}>" in line else opened[1]
        elif _begins_foreign(lines, number):
            break
        else:
            own.append(number)
            begun = begun or bool(line.strip())
            if _announces(line, left):
                break
    return frozenset(own)


def _begins_foreign(lines: Sequence[str], number: int) -> bool:
    """Tell whether a mail that somebody else wrote begins here: all that follows is its."""
    line = lines[number]
    if _WROTE.search(line[-LONGEST:]) or _FORWARDED.match(line):
        return True
    near = lines[number + 1 : number + LABELS_NEAR]
    return bool(_LABEL.match(line)) and any(_LABEL.match(other) for other in near)


def _announces(line: str, left: int) -> bool:
    """Tell whether a line says that a text of somebody else follows."""
    said = line.rstrip()
    if not said or left <= 1 or not _ANNOUNCED.search(said[-LONGEST:]):
        return False
    return said.endswith(_COLON) or (left > INTRODUCED and _ANNOUNCING.search(said[:LONGEST]) is not None)
