"""A text as the words it is looked up by: forms of one word become one, in any script, blind to case and accents.

Words are cut to light stems. Names, paths and identifiers are words as a whole, and so are their parts. Numbers lose
their thousands marks, dates and weekdays have one form in all languages. Scripts without blanks are taken by pairs of
characters. Long words give their endings too, because some languages write several words as one.

The memory is bounded and holds results of a pure function only.
"""

from __future__ import annotations

import re
from calendar import weekday
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from unicodedata import decimal, normalize

from octavo.core.extract.cues import FUNCTION_WORDS
from octavo.core.extract.scan import UNSPACED, atoms

STEM = 6
"""Letters that tell words apart: what an ending changes most often lies behind them."""
SHORTEST_STEM = 3
"""Letters that are left when an ending is taken off."""
COMPOUND = 11
"""Letters from which a word may be several: shorter compounds are mostly found by their beginning."""
COMPONENT = 4
"""Letters of a component at least: shorter ones are endings."""
LONGEST = 64
"""Characters of a word that count: longer ones are hashes and encoded data."""
MEMORY = 100_000
"""Pieces between blanks that are remembered, some tens of megabytes at most."""

_DIGIT = re.compile(r"\d")
_RUN = re.compile(f"[{UNSPACED}]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_GROUPED = re.compile(r"[,'’\u00a0\u202f](?<=\d.)(?=\d{3}(?!\d))")
EDGES = ".,:;!?-–—·•#*_~^%$€£¥₹₽&+/\\\"'`)(…¿¡"
"""What stands at the ends of words and does not belong to them."""
_PART = re.compile(r"\d+|[^\W\d_]+(?:[\u0900-\u0dff]+[^\W\d_]*)*")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]"
)
_ALIKE = str.maketrans("ıłøđðþىةکیە", "ilodd" + "t" + "يهكيه")
_LATIN = re.compile("[a-z]+")
_ENGLISH = re.compile(r"(?:(?<=[^s])s|es|ies|ed|edly|ing|ly)\Z")
_GERMANIC = re.compile(r"(?:ern|en|er|em)\Z")
_VOWELS = "aeioy"
_CYRILLIC = re.compile(
    "(?:ами|ями|ого|его|ому|ему|ыми|ими|ах|ях|ов|ев|ом|ем|ам|ям|ла|ло|ли|ть|ет|ит|ют|ят|л)\\Z"
)
_ARABIC_HEAD = re.compile("(?:وال|بال|كال|فال|لل|ال)(?=.{3})|[وبلف](?=.{4})")
_ARABIC_TAIL = re.compile("(?<=.{3})(?:ات|ون|ين|ها|هم|نا|كم|ه|ي|ا)\\Z")
_CYRILLIC_VOWELS = "аеиоуыьэюя"
_INDIC_SIGNS = "".join(map(chr, (*range(0x900, 0x904), *range(0x93A, 0x94E))))
_GREEK_ENDS = "αεηιουωσς"

_MONTHS = """
    january januar janvier enero janeiro gennaio января январь ocak styczeń januari يناير जनवरी
    february februar février febrero fevereiro febbraio февраля февраль şubat luty februari فبراير फरवरी
    march märz mars marzo março марта март mart marzec maart مارس मार्च
    april avril abril aprile апреля апрель nisan kwiecień أبريل अप्रैल
    may mai mayo maio maggio мая май mayıs maj mei مايو मई
    june juni juin junio junho giugno июня июнь haziran czerwiec يونيو जून
    july juli juillet julio julho luglio июля июль temmuz lipiec يوليو जुलाई
    august août agosto августа август ağustos sierpień augustus أغسطس अगस्त
    september septembre septiembre setembro settembre сентября сентябрь eylül wrzesień سبتمبر सितंबर
    october oktober octobre octubre outubro ottobre октября октябрь ekim październik أكتوبر अक्टूबर
    november novembre noviembre novembro ноября ноябрь kasım listopad نوفمبر नवंबर
    december dezember décembre diciembre dezembro dicembre декабря декабрь aralık grudzień desember ديسمبر दिसंबर
"""
_WEEKDAYS = """
    monday montag lundi lunes lunedì понедельник poniedziałek pazartesi maandag الاثنين सोमवार
    tuesday dienstag mardi martes martedì вторник wtorek salı dinsdag الثلاثاء मंगलवार
    wednesday mittwoch mercredi miércoles mercoledì среда среду środa çarşamba woensdag الأربعاء बुधवार
    thursday donnerstag jeudi jueves giovedì четверг czwartek perşembe donderdag الخميس गुरुवार
    friday freitag vendredi viernes venerdì пятница пятницу piątek cuma vrijdag الجمعة शुक्रवार
    saturday samstag samedi sábado sabato суббота субботу sobota cumartesi zaterdag السبت शनिवार
    sunday sonntag dimanche domingo domenica воскресенье niedziela pazar zondag الأحد रविवार
"""
_NUMERIC_DATE = re.compile(
    r"(?<![\d./-])(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})\.(\d{1,2})\.(\d{4}))(?!\d)"
)
_EASTERN_DATE = re.compile(r"(?:(\d{4})\s?[年년]\s?)?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일号]")


def fold(word: str) -> str:
    """Take case, accents and other ways of writing the same letter out of a word."""
    if word.isascii():
        return word.lower()
    plain = _MARKS.sub("", normalize("NFKD", word.casefold())).translate(_ALIKE)
    if plain.isascii():
        return plain
    return "".join(str(decimal(sign)) if sign.isdecimal() else sign for sign in normalize("NFC", plain))


def _lines(table: str) -> Iterator[list[str]]:
    return (line.split() for line in table.strip().splitlines())


_MONTH_OF = {fold(name): number for number, names in enumerate(_lines(_MONTHS), start=1) for name in names}
_MONTH_OF |= {name[:3]: number for name, number in _MONTH_OF.items() if name.isascii()}
_DAY_OF = {fold(name): number for number, names in enumerate(_lines(_WEEKDAYS)) for name in names}
_ORDINARY = frozenset(
    fold(name) for name in ("may", "march", "mars", "mart", "май", "мая", "mei", "maj", "mai")
)
"""Months that are other words as well: they are months beside a day or a year only."""
_NAME = r"[^\W\d_]{3,}(?:[\u0900-\u0963]+[^\W\d_]*)*"
_NUMBER = re.compile(r"\d+")
_JOINED = re.compile(r"\d[-/.]\d")
_MONTH_AFTER = re.compile(
    rf"(?:st|nd|rd|th|er|º|\.)?\s{{1,2}}(?:(?:of|de|di)\s)?({_NAME})\.?(?:,?\s(?:de\s)?(\d{{4}})(?!\d))?"
)
_YEAR_AFTER = re.compile(r"(?:st|nd|rd|th)?,?\s(\d{4})(?!\d)")
_NEARBY = 24
"""Characters before a day in which the name of its month is looked for."""


def words(text: str) -> list[str]:
    """List the words of a text in order, those that say nothing left out."""
    plain = text if text.isascii() else normalize("NFKC", text)
    has_digits = _DIGIT.search(plain) is not None
    plain = _GROUPED.sub("", plain) if has_digits else plain
    found = [*chain.from_iterable(map(_words_of.__getitem__, atoms(plain)))]
    if has_digits:
        found += _dates(plain)
    return found


class _Remembered(dict[str, tuple[str, ...]]):
    """The words of pieces between blanks: what is not known yet is looked at, and remembered."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        found = tuple(_pairs(piece) if _RUN.match(piece) else _spaced(piece))
        if len(piece) <= LONGEST:
            if len(self) >= MEMORY:
                self.clear()
            self[piece] = found
        return found


_words_of = _Remembered()


@lru_cache(maxsize=MEMORY)
def words_of_day(day: str) -> tuple[str, ...]:
    """List the words of the day something was said on: many messages have the same one."""
    return tuple(words(day))


def _pairs(run: str) -> Iterator[str]:
    """Give the pairs of neighbouring characters, and the characters that are words by themselves."""
    yield from (run[i : i + 2] for i in range(len(run) - 1))
    yield from _HAN.findall(run) or ([run] if len(run) == 1 else [])


def _spaced(piece: str) -> Iterator[str]:
    piece = piece.strip(EDGES)[:LONGEST]
    if not piece:
        return
    whole = fold(piece)
    parts = [whole] if whole.isalpha() and not _HUMP.search(piece) else _parts(piece)
    if len(parts) > 1:
        yield whole
        if whole.replace(".", "").isdecimal():
            yield whole.replace(".", "")
    for part in parts:
        if part not in FUNCTION_WORDS:
            yield _named(part) or stem(part)
            yield from components(part)


def _parts(piece: str) -> list[str]:
    return [fold(part) for part in _PART.findall(_HUMP.sub(" ", piece))]


def _named(word: str) -> str:
    """Give the form of months and weekdays that all languages share."""
    if word in _DAY_OF:
        return f"w{_DAY_OF[word]}"
    if len(word) > 3 and word in _MONTH_OF and word not in _ORDINARY:
        return f"m{_MONTH_OF[word]:02}"
    return ""


def components(word: str) -> list[str]:
    """Give what may be the last words of a compound, by their stems."""
    if len(word) < COMPOUND or not _LATIN.fullmatch(word):
        return []
    return [stem(word[at:]) for at in range(COMPONENT, len(word) - COMPONENT + 1)]


@lru_cache(maxsize=MEMORY)
def stem(word: str) -> str:
    """Cut a folded word to what its forms have in common, as far as a few endings tell."""
    if len(word) <= SHORTEST_STEM or not word[0].isalpha():
        return word
    if word.isascii():
        return _latin(word)[:STEM]
    if "\u0400" <= word[0] <= "\u04ff":
        return _bare(_without(_CYRILLIC, word), _CYRILLIC_VOWELS)[:STEM]
    if "\u0600" <= word[0] <= "\u06ff":
        return _ARABIC_TAIL.sub("", _ARABIC_HEAD.sub("", word, count=1))
    if "\u0900" <= word[0] <= "\u0dff":
        return _bare(word, _INDIC_SIGNS)
    if "\u0370" <= word[0] <= "\u03ff":
        return _bare(word, _GREEK_ENDS)[:STEM]
    return word[:STEM]


def _latin(word: str) -> str:
    return _bare(_without(_GERMANIC, _without(_ENGLISH, word)), _VOWELS)


def _without(ending: re.Pattern[str], word: str) -> str:
    found = ending.search(word)
    return word[: found.start()] if found and found.start() >= SHORTEST_STEM else word


def _bare(word: str, ends: str) -> str:
    """Take letters off the end of a word, as long as enough is left."""
    return word[:SHORTEST_STEM] + word[SHORTEST_STEM:].rstrip(ends)


def _dates(text: str) -> Iterator[str]:
    """Give the days a text names, in one form."""
    for number in _NUMBER.finditer(text):
        if number.end() - number.start() <= 2:
            yield from _spoken(text, number)
    # A quick look: most numbers are no dates.
    for date in _NUMERIC_DATE.finditer(text) if _JOINED.search(text) else ():
        year, month, day, day_first, month_second, year_last = date.groups()
        yield from _date(year or year_last, int(month or month_second), int(day or day_first))
    if not text.isascii():
        for date in _EASTERN_DATE.finditer(text):
            yield from _date(date[1], int(date[2]), int(date[3]))


def _spoken(text: str, day: re.Match[str]) -> Iterator[str]:
    """Give the date that a number is the day of, if the name of a month stands beside it."""
    after = _MONTH_AFTER.match(text, day.end())
    if after and (month := _MONTH_OF.get(fold(after[1]), 0)):
        yield from _date(after[2], month, int(day[0]))
        return
    before = text[max(0, day.start() - _NEARBY) : day.start()].split()
    if before and (month := _MONTH_OF.get(fold(before[-1].rstrip(".")), 0)):
        year = _YEAR_AFTER.match(text, day.end())
        yield from _date(year[1] if year else None, month, int(day[0]))


def _date(year: str | None, month: int, day: int) -> Iterator[str]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return
    yield f"m{month:02}"
    yield f"d{month:02}-{day:02}"
    if year:
        yield str(int(year))
        try:
            yield f"w{weekday(int(year), month, day)}"
        except ValueError:
            return
