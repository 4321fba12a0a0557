"""Claude's token counts without Claude: the least number of measured pieces that cover the text.

Claude's vocabularies are not published; the pieces are those the package ctok (MIT, see NOTICE) established by
measuring. Text is first written with marks where words start and end and where a capital stands for a small
letter; a count is the smallest number of pieces that tile the marked text.

Invariant: no piece crosses white space or a word's border, so what stands between two gaps of white space costs
the same wherever it appears, given whether single spaces touch it. Every such chunk is tiled once and remembered.
"""

from __future__ import annotations

import json
import lzma
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

BOW, EOW, SHIFT, CAPS = "\ue000", "\ue001", "\ue002", "\ue003"
"""Word start, word end, capital first letter, all capitals. Private-use characters are removed from the text
before counting, so none of these can come from outside."""
SEPARATOR = "\ue00f"

LONG_WORD = 4_096
"""Characters after which an unbroken word is cut: at most one token in a thousand is lost, and a hostile
megabyte of one letter costs no more than its first block."""
REMEMBERED = 200_000
"""Chunks kept, some 20 MB; then the memory starts anew, which costs less than deciding what to drop."""
LONG_CHUNK = 64
"""Longer chunks hardly come twice: hashes, links, base64."""

GAP = re.compile("[ \t\n\u3000](?:(?<! )|(?=[ \t\n\u3000]))[ \t\n\u3000]*")
"""White space other than one plain space between two chunks; it begins with a set, which the engine finds fast."""
SAME = re.compile(r"(.)\1*", re.DOTALL)
ASCII_WORDS = re.compile("([A-Za-z]+)")
LONE_APOSTROPHE = re.compile("(?:^|[0-9 ])'$")

# Class letters, one per character of the basic plane (built by scripts/build_claude_tables.py):
#   w letter   c letter that is also a symbol   m mark that needs a letter before it   d digit   a Arabic digit
#   p punctuation   s white space   q sign with borders   n, o other digits and numbers   v variation selector
#   h what stands alone (ideographs); characters beyond the basic plane keep themselves and behave like h
RUNS = re.compile(
    "(?P<word>[wc][wcm]*)|(?P<marked>m+(?:[wc][wcm]*)?)|(?P<digits>[da]+)|(?P<punctuation>p+)"
    "|(?P<sign>q[qv]*)|(?P<number>[no][nov]*)|(?P<alone>[^wcmdapqno]+)"
)
CONTRACTIONS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})

UNCASED = frozenset("\u03f4\u0130")
"""Capital theta symbol and dotted I: capitals to Unicode, plain letters to these vocabularies."""
RECENT_PAIRS = {"\u1c89": "\u1c8a", "\ua7cb": "\u0264"}
"""Case pairs newer than the Unicode tables of the Python versions we run on."""

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
PRIVATE = re.compile("[\ue000-\uf8ff]")
SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f]")
QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
ASCII_SPACE = " \t\n\r\f\v"

LEFT, RIGHT, HEAD = 1, 2, 4
"""What touches a chunk, as bits: a space on its left, one single space on its right, the start of the message."""
INNER = LEFT | RIGHT

Entry: TypeAlias = tuple[int, int, bool]
"""A chunk's cost with the space before it, first after an open word, then after a closed one; whether it closes."""
NOTHING: Entry = (1, 1, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A generation of Claude models that count alike."""

    table: str
    leads: bool = True
    """The message frame ends like a word start, so it takes over a leading space."""
    trims: bool = False
    """White space at the end of a message is free."""


FAMILIES = {
    "claude-3": Family(table="claude-3"),
    "claude-4.7": Family(table="claude-4.7"),
    "claude-4.8": Family(table="claude-4.7", leads=False),
    "claude-5": Family(table="claude-4.7", leads=False, trims=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The pieces of one vocabulary."""

    pieces: frozenset[str]
    endings: dict[str, list[int]]
    """How long the pieces are that end with these two characters."""
    prefixes: frozenset[bytes]
    """Beginnings of multi-byte characters that are one token."""
    fold_quotes: bool
    caps_from: int | None
    """Length from which a word in capitals is written as a mark and small letters; None: never."""


def _data(name: str) -> Any:
    packed = files(__package__).joinpath("data", f"{name}.json.xz").read_bytes()
    return json.loads(lzma.decompress(packed))


@cache
def load_table(name: str) -> Table:
    """Read a vocabulary from the package's data, once."""
    data = _data(name)
    return Table(
        pieces=frozenset(data["pieces"].split(SEPARATOR)),
        endings=data["endings"],
        prefixes=frozenset(map(bytes.fromhex, data["prefixes"])),
        fold_quotes=data["fold_quotes"],
        caps_from=data["caps_from"],
    )


@cache
def load_classes() -> str:
    """Read the class letters of the basic plane as one string, indexed by code point."""
    starts = _data("claude-classes")
    ends = [*(start for start, _ in starts[1:]), 0x10000]
    return "".join(letter * (end - start) for (start, letter), end in zip(starts, ends, strict=True))


def normalise(text: str, *, fold_quotes: bool) -> str:
    """Do to the text what the provider does before it splits it."""
    if text.isascii():
        return _drop_controls(text)
    text = _drop_controls(unicodedata.normalize("NFC", text))
    text = text.replace("\u0e4d\u0e32", "\u0e33")  # Thai sara am, which NFC leaves in two
    text = SPACES.sub(" ", PRIVATE.sub("", text))
    return text.translate(QUOTES) if fold_quotes else text


def _drop_controls(text: str) -> str:
    return CONTROLS.sub(_instead, text) if CONTROLS.search(text) else text


def _instead(match: re.Match[str]) -> str:
    found = match.group()
    if found == "\0":
        return " "
    return "\ufffd" if found >= "\ud800" else ""


def _lower(letter: str) -> str:
    return letter if letter in UNCASED else RECENT_PAIRS.get(letter) or letter.lower()


def _is_capital(letter: str) -> bool:
    return (letter in RECENT_PAIRS or letter.isupper()) and _lower(letter) != letter


def mark_word(word: str, caps_from: int | None) -> str:
    """Write a word with its borders, and its case as a mark where the vocabulary does so."""
    plain = f"{BOW}{word}{EOW}"
    if word.islower() and word.isascii():
        return plain
    capitals = [_is_capital(letter) for letter in word]
    if not any(capitals) or "\u1e9e" in word:
        return plain
    lowered = "".join(map(_lower, word))
    if caps_from is not None and len(word) >= caps_from and _all_capitals(word, capitals):
        return f"{CAPS}{BOW}{lowered}{EOW}"
    if capitals[0] and not any(capitals[1:]):
        return f"{SHIFT}{BOW}{lowered}{EOW}"
    return plain


def _all_capitals(word: str, capitals: list[bool]) -> bool:
    """Caseless letters and marks count against it; numerals and other symbols do not."""
    rest = [letter for letter, capital in zip(word, capitals, strict=True) if not capital]
    return not any(letter.islower() or unicodedata.category(letter)[0] in "LM" for letter in rest)


@dataclass(frozen=True, slots=True)
class CharacterRun:
    """A stretch of one kind in a chunk: its text and its class letters."""

    kind: str
    text: str
    letters: str

    @property
    def borders(self) -> tuple[bool, bool]:
        """Whether it marks a space on its left and on its right."""
        match self.kind:
            case "punctuation":
                return True, True
            case "digits":
                return self.letters[0] == "a", self.letters[-1] == "a"
            case "number" if len(set(self.letters)) == 1:
                return True, True
            case _:
                return self.letters[0] in "qv", self.letters[-1] in "qv"

    @property
    def keeps_apart(self) -> bool:
        """Whether a contraction after this run is an ordinary word."""
        return self.letters[-1] == "c" if self.kind in ("word", "marked") else self.borders[1]


class ClaudeCounter:
    """Counts the content of one message for one family; frames are not included."""

    def __init__(self, family: Family) -> None:
        self._table = load_table(family.table)
        self._classes = load_classes()
        self._family = family
        self._inner: dict[str, Entry] = {}
        self._chunks: dict[tuple[str, int], Entry] = {}
        self._words: dict[str, int] = {}
        self._units: dict[str, int] = {}
        self._gaps: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Count the tokens of a message's text."""
        given = text.rstrip(ASCII_SPACE) if self._family.trims else text
        whole = normalise(given, fold_quotes=self._table.fold_quotes)
        body = whole.rstrip("\n")
        total = self._tail(len(whole) - len(body))
        leads = self._family.leads
        if leads and given[:1] == " " == body[:1] and body[1:2] != " ":
            body = body[1:]
        if not body:
            return total + int(leads)
        return total + self._body(body)

    def _tail(self, newlines: int) -> int:
        """Newlines at the end join the two the frame writes, of which it pays for one token."""
        return self._same("\n", newlines + 2) - 1 if newlines else 0

    def _body(self, body: str) -> int:
        edges = LEFT | HEAD if self._family.leads else 0
        total = start = 0
        for gap in GAP.finditer(body):
            space, (stop, end) = gap.group(), gap.span()
            if stop > start:
                single = space[0] == " " != space[1:2]
                total += self._segment(body[start:stop], edges | RIGHT if single else edges)
            elif edges & HEAD:
                total += space[0] != " "
            total += self._gap(space)
            start, edges = end, LEFT if space[-1] == " " else 0
        return total + self._segment(body[start:], edges) if start < len(body) else total

    def _segment(self, segment: str, edges: int) -> int:
        """Add up chunks with single spaces between them; such a space is free between two marked borders."""
        first, *rest = segment.split(" ")
        entry = self._entry(first, edges | RIGHT if rest else edges)
        total, closed = entry[0] - 1, entry[2]
        if not rest:
            return total
        last = rest.pop()
        remembered = self._inner.get
        for chunk in rest:
            entry = remembered(chunk) or self._entry(chunk, INNER)
            total += entry[closed]
            closed = entry[2]
        return total + self._entry(last, LEFT | edges & RIGHT)[closed]

    def _entry(self, chunk: str, edges: int) -> Entry:
        if not chunk:
            return NOTHING
        if edges & HEAD or len(chunk) > LONG_CHUNK:
            return self._tile_chunk(chunk, edges)
        entry = self._inner.get(chunk) if edges == INNER else self._chunks.get((chunk, edges))
        if entry is None:
            entry = self._tile_chunk(chunk, edges)
            self._make_room()
            if edges == INNER:
                self._inner[chunk] = entry
            else:
                self._chunks[chunk, edges] = entry
        return entry

    def _make_room(self) -> None:
        for memory in (self._inner, self._chunks, self._words, self._units, self._gaps):
            if len(memory) >= REMEMBERED:
                memory.clear()

    def _tile_chunk(self, chunk: str, edges: int) -> Entry:
        if chunk.isascii():
            return self._tile_ascii(chunk, edges)
        runs = [
            CharacterRun(match.lastgroup or "", chunk[match.start() : match.end()], match.group())
            for match in RUNS.finditer(chunk.translate(self._classes))
        ]
        units = list(self._write(runs, edges))
        opens = units[0].lstrip(SHIFT + CAPS).startswith(BOW)
        cost = sum(map(self._unit, units))
        return cost + 1, cost + 1 - opens, units[-1].endswith(EOW)

    def _tile_ascii(self, chunk: str, edges: int) -> Entry:
        """Do the same faster where words and the rest alternate and all signs have borders."""
        before, *rest = ASCII_WORDS.split(chunk)
        opens = not before
        if before == "'" and rest:
            before = " '" if edges & HEAD else "'"
        elif before and (edges & HEAD or (edges & LEFT and not before[0].isdigit())):
            before, opens = BOW + before, True
        cost, pairs = 0, iter(rest)
        for word, after in zip(pairs, pairs, strict=True):
            if before and word in CONTRACTIONS and LONE_APOSTROPHE.search(before):
                cost += self._unit(before + word + EOW)
            else:
                cost += (self._unit(before) if before else 0) + (self._words.get(word) or self._word(word))
            before = after
        closes = not before or bool(edges & RIGHT and not before[-1].isdigit())
        if before:
            cost += self._unit(before + EOW if closes else before)
        return cost + 1, cost + 1 - opens, closes

    def _write(self, runs: list[CharacterRun], edges: int) -> Iterator[str]:
        """Write the runs with their marks, in stretches that no piece crosses."""
        loose = self._lead(runs) if edges & HEAD else ""
        for index, run in enumerate(runs):
            if run.kind == "word" and _is_contraction(runs, index):
                yield loose + run.text + EOW
                loose = ""
            elif run.kind in ("word", "marked"):
                if loose:
                    yield loose
                loose = ""
                yield self._mark(run)
            else:
                begin, end = run.borders
                starts = begin and edges & LEFT and index == 0 and not _opens_word(runs, index)
                ends = end and edges & RIGHT and index == len(runs) - 1
                loose += (BOW if starts else "") + run.text + (EOW if ends else "")
        if loose:
            yield loose

    def _mark(self, run: CharacterRun) -> str:
        if run.kind == "marked":  # its head is the mark, so no letter of it carries a case
            return f"{BOW}{run.text}{EOW}"
        return mark_word(run.text, self._table.caps_from)

    def _lead(self, runs: list[CharacterRun]) -> str:
        """What the frame's own word start becomes when the first run does not take it."""
        if _opens_word(runs, 0):
            return " "
        return "" if runs[0].kind in ("word", "marked") or runs[0].borders[0] else BOW

    def _word(self, word: str) -> int:
        cost = self._unit(mark_word(word, self._table.caps_from))
        if len(word) <= LONG_CHUNK:
            self._words[word] = cost
        return cost

    def _unit(self, unit: str) -> int:
        cost = self._units.get(unit)
        if cost is None:
            blocks = [unit[at : at + LONG_WORD] for at in range(0, len(unit), LONG_WORD)]
            costs = {block: self._tile(block) for block in set(blocks)}
            cost = sum(costs[block] for block in blocks)
            if len(unit) <= LONG_CHUNK:
                self._units[unit] = cost
        return cost

    def _gap(self, space: str) -> int:
        cost = self._gaps.get(space)
        if cost is None:
            cost = sum(self._same(match.group(1), len(match.group())) for match in SAME.finditer(space))
            if len(space) <= LONG_CHUNK:
                self._gaps[space] = cost
        return cost

    def _same(self, character: str, length: int) -> int:
        """Cost of one white-space character repeated: the longest pieces first, the rest tiled."""
        longest = max(self._table.endings.get(character * 2, [1]))
        whole = max(0, length // longest - 2)
        return whole + self._unit(character * (length - whole * longest))

    def _tile(self, unit: str) -> int:
        """Find the least number of pieces that cover a unit; a character no piece covers costs its bytes."""
        pieces, lengths = self._table.pieces, self._table.endings.get
        if unit in pieces:
            return 1
        least = [0]
        for end, last in enumerate(unit, start=1):
            best = least[-1] + (1 if last in pieces else self._bytes(last))
            for size in lengths(unit[end - 2 : end], ()):
                if size > end:
                    break
                if least[end - size] + 1 < best and unit[end - size : end] in pieces:
                    best = least[end - size] + 1
            least.append(best)
        return least[-1]

    def _bytes(self, character: str) -> int:
        if BOW <= character <= CAPS:
            return 1
        data = character.encode()
        known = (size for size in range(len(data) - 1, 1, -1) if data[:size] in self._table.prefixes)
        return len(data) - next(known, 1) + 1


def _opens_word(runs: list[CharacterRun], index: int) -> bool:
    """A lone apostrophe before a word leaves the space before it alone."""
    follows = runs[index + 1].kind if index + 1 < len(runs) else ""
    return runs[index].text == "'" and follows in ("word", "marked")


def _is_contraction(runs: list[CharacterRun], index: int) -> bool:
    """The 's of "it's" has no start of its own: the apostrophe is its border."""
    if index == 0 or runs[index].text not in CONTRACTIONS or runs[index - 1].text != "'":
        return False
    return index == 1 or not runs[index - 2].keeps_apart
