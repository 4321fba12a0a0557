"""Sentences that stand: rules, preferences, binding facts, responsibilities, deadlines and decisions of a user.

Whether a sentence stands is told by its words and its form alone (`standing_words`). Only what users write themselves
can stand: `own_lines` leaves out what they quote, forward or paste. A sentence that merely changes something stands
only where it changes what stood, which `replaced` finds out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

from octavo.core.extract.guards import BEGINNING, guard_words
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
    TURKISH_ENDINGS,
    TURKISH_LETTERS,
    TURKISH_WORDS,
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
LIKELY = 128
"""It may settle something; too many such sentences do not. It does not stand, but is kept before others."""
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
    ("change", CHANGE),
    ("likely", LIKELY),
)
_PLACES = ("^^", "&&")
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
_LETTERS = re.compile(r"\w+")
NO_WORD = ""
"""Stands for the word of a form that needs none."""
TAIL = 3
"""Letters at the end of a word that are looked at before its ending is."""
_TAILS = frozenset(ending[-TAIL:] for ending in TURKISH_ENDINGS)
_QUOTED = re.compile(
    r"\"[^\"]{25,400}\"|“[^”]{25,400}”|„[^“”]{25,400}[“”]|«[^»]{25,400}»|「[^」]{12,400}」|『[^』]{12,400}』|“[^”]{0,400}$|«[^»]{0,400}$"
)
_SEAM = re.compile(r"(?:(?<=\])|(?<=\d\.))\s+(?=[^\W\d_])")
_STRAIGHT = {ord("’"): "'", ord("‘"): "'", ord("ʼ"): "'"}
_QUESTIONS = ("?", "？", "؟")
_RULED_QUESTION = re.compile(
    r"^(?:can|could|would|will) (?:you|we) (?:please )?(?:always|never|only|not|stop|from now on)\b"
)


class _Form(NamedTuple):
    """One way to settle something, in one language."""

    language: str
    bit: int
    place: str
    """`^^`: at the beginning of a clause; `&&`: after a conjunction, too; empty: anywhere in the sentence."""
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    """Compile a form when it is first tried: most are not for a long time."""
    return re.compile(source.replace("^^", _CLAUSE))


def _forms(language: str, forms: Forms) -> Iterator[_Form]:
    """List the forms of a language one by one."""
    for kind, bit in _KINDS:
        for part in chain.from_iterable(map(_alternatives, getattr(forms, kind))):
            place = part[:2] if part.startswith(_PLACES) else ""
            yield _Form(language, bit, place, part.removeprefix(place))


@cache
def _joined(language: str) -> tuple[_Form, ...]:
    """List the forms of a language whose words are not looked up, those of a kind and a place as one."""
    forms = TURKISH if language == "Turkish" else next(one for name, _, one in BY_SCRIPT if name == language)
    sources: dict[tuple[int, str], list[str]] = {}
    for form in _forms(language, forms):
        sources.setdefault((form.bit, form.place), []).append(f"(?:{form.source})")
    return tuple(_Form(language, *key, "|".join(parts)) for key, parts in sources.items())


class _Guarded(NamedTuple):
    """A form of a language that is told by words, and what it needs besides the word by which it is looked up."""

    number: int
    form: _Form
    needed: tuple[frozenset[str], ...]


@cache
def _by_word() -> Mapping[str, tuple[_Guarded, ...]]:
    """List the forms that may be there by the beginning of a word; under none, those that need no word."""
    found: dict[str, list[_Guarded]] = {}
    for number, form in enumerate(form for name, forms in SPACED.items() for form in _forms(name, forms)):
        first, *others = guard_words(form.source, at_edge=bool(form.place)) or ((NO_WORD,),)
        for word in first:
            found.setdefault(word, []).append(_Guarded(number, form, tuple(others)))
    return {word: tuple(forms) for word, forms in found.items()}


@cache
def _passing(language: str) -> re.Pattern[str]:
    named = {**SPACED, "Turkish": TURKISH, **{name: forms for name, _, forms in BY_SCRIPT}}
    return re.compile("|".join(f"(?:{one})" for one in named[language].passing) or NEVER)


@cache
def _script() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters, _ in BY_SCRIPT))


def _forms_of(text: str) -> Sequence[_Form]:
    """Give the forms that a sentence can have: those of its script, or those whose words it has."""
    if not text.isascii():
        scripts = {match.lastgroup for match in _script().finditer(text)}
        if scripts:
            return _joined(next(name for name, _, _ in BY_SCRIPT if name in scripts))
    words = _LETTERS.findall(text)
    beginnings = {word[:BEGINNING] for word in words}
    beginnings.add(NO_WORD)
    guarded, by_word = dict[int, _Form](), _by_word()
    for word in by_word.keys() & beginnings:
        for one in by_word[word]:
            if not any(map(beginnings.isdisjoint, one.needed)):
                guarded[one.number] = one.form
    if _is_turkish(text, words):
        return [*guarded.values(), *_joined("Turkish")]
    return [*guarded.values()]


def _is_turkish(text: str, words: Sequence[str]) -> bool:
    return (
        (
            not _TAILS.isdisjoint([word[-TAIL:] for word in words])
            and any(word.endswith(TURKISH_ENDINGS) for word in words)
        )
        or not TURKISH_WORDS.isdisjoint(words)
        or (not text.isascii() and any(letter in text for letter in TURKISH_LETTERS))
    )


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


class _Clauses:
    """Where clauses of a sentence begin, found out when it is first asked."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def begin(self) -> frozenset[int]:
        return frozenset({0, *(match.end() for match in _CLAUSES.finditer(self.text))})

    @cached_property
    def joined(self) -> frozenset[int]:
        return self.begin | {match.end() for match in _CONJUNCTION.finditer(self.text)}

    def have(self, form: _Form) -> bool:
        if not form.place:
            return form.pattern.search(self.text) is not None
        places = self.begin if form.place == "^^" else self.joined
        return any(form.pattern.match(self.text, at) for at in places)


def find_standing(sentence: str) -> int:
    """Tell what a user's sentence settles for later, as bits; 0 if it is of the moment only."""
    if not SHORTEST <= len(sentence) <= LONGEST:
        return 0
    text = sentence.lower().strip(" \t-*•·_")
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_STRAIGHT))
    if '"' in text or not text.isascii():
        text = _QUOTED.sub('""', text)
    if text.endswith(_QUESTIONS) and not _RULED_QUESTION.match(text):
        return 0
    # Who writes no capitals puts a question and what follows it into one sentence.
    text = text.rpartition("? ")[2]
    bits: dict[str, int] = {}
    clauses = _Clauses(text)
    for form in _forms_of(text):
        known = bits.get(form.language, 0)
        if not known & form.bit and clauses.have(form):
            bits[form.language] = known | form.bit
    found = 0
    for language, settled in bits.items():
        passes = settled & ~CHANGE and _passing(language).search(text)
        found |= settled & CHANGE if passes else settled
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
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter that has no single small one: then places would not agree
        return text
    for form in _forms_of(lowered):
        if form.bit == CHANGE:
            for match in form.pattern.finditer(lowered):
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
