"""Messages as units: sentences of what was said, lines of what tools were given and answered.

A unit's text is its source's, word for word, with these exceptions: Markdown marks, the quotes and brackets of one-line
JSON, the quoting of call arguments, and commas and blanks at a cut are dropped; a line break inside a sentence that
stands is a blank; a stamp or a speaker's name in front of a message is kept beside the text. What a message holds
depends on the message alone, so an `Analysis` can be kept for as long as the message.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import chain
from typing import NamedTuple, TypeVar
from unicodedata import category

from octavo.core.extract.cues import ALL, CAPITAL, LOGGED, OUTCOME
from octavo.core.extract.fact_patterns import figures, setting
from octavo.core.extract.render import find_head, headline, parse, weigh
from octavo.core.extract.scan import Identifier, atom, atoms, stem_of
from octavo.core.extract.standing import RULE, STANDS, apart, find_standing, own_lines
from octavo.core.lru_cache import LruCache
from octavo.core.messages import Attachment, Image, Message, Node, Part, ToolCall, ToolResult
from octavo.core.snapshot import Channel, Extract

T = TypeVar("T")

PIECE = 100
"""Bytes of a piece of an over-long line: much less cuts a fact from the words around it, much more pays for ballast."""
SLACK = 1.4
"""A line this many pieces long is left whole: two halves would cost more in marks than they save."""
REMEMBERED = 16_000_000
"""Letters of the messages whose analyses are remembered: forty thousand, in a hundred megabytes at most."""
OVERHEAD = 100
"""Letters that a message counts for besides its own: an empty one takes memory, too."""
SHORTEST = 3
"""Bytes below which a line is a bracket or a bullet."""
ONE_LINE_CALL = 160
"""A call up to this length is one line; a longer one keeps the lines of its arguments."""
SPEAKER = 40
"""Characters in which a name and its colon must be over."""
JSON_FIELDS = 3
"""A line with so many fields that opens like JSON is JSON."""
LAST_LINES = 5
"""Lines at the end of an output in which it says how it ended; above them, "error" is most often the subject."""

MOST_LINES = 8
"""Lines that a sentence which stands may be broken into."""
FULL_LINE = 60
"""Characters of a line, with the word that follows, at which programs break lines."""

_LOGGED = re.compile(r"[\d\s:.,TZ+\[\]-]*(?:ERROR|FATAL|CRITICAL)\b").match
"""The level a log gives a line, after the time if there is one: there, an error is no mere subject."""
_NOT_LETTERS = re.compile(r"[\W_]+")
_MARKDOWN = re.compile(r"\s*(?:#+\s+|[-*]\s+|```\w*)")
_JSON_MARKS = dict.fromkeys(map(ord, '{}"[]'))
_RECORD = re.compile(r"\}[\]\s]*,[\[\s]*\{")
_TOOLS = (ToolCall, ToolResult)
_ENDS = " \t,;"
_CUTS = (", ", "; ", " ")
_WIDE_CUTS = (", ", "; ", "،", "؛", "，", "；", "、", " ")
_SENTENCE = re.compile(
    # One set of characters in front: the search then skips to them at once.
    r"[.!?؟۔।॥…。！？｡](?:(?<=[。！？｡])[」』”’）]*|(?<!\s\d\.)(?<!\s\d\d\.)[\"'”’»)\]]*\s+(?![a-z]))"
)
_ITEM = re.compile(r"\s*(?:[-*+•·–—#>|]|\d{1,3}[.):]|\w[.):]\s|\[)")
_HEADING = re.compile(r"\s*#|.*[:：;]\s*$").match
_LINKING = "a an the to of with by for from in on at and or my our your is are be not than as"
_OPEN_ENDS = frozenset(_LINKING.split())
"""Words that end no sentence."""
_OPENERS = "-*+•·–—#>|<{[\"'`“„«"
_WIDE = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]").match
"""Letters that no blanks stand between."""
_STAMP = re.compile(r"\[([^\[\]\n]{6,40})\]\s*")
_DAY = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{4}\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]"
    r"|\d{1,2}(?:st|nd|rd|th|\.)?\s+[^\W\d_]{3,10}\.?,?\s+\d{4}|[^\W\d_]{3,10}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}"
)
_SPEAKER = re.compile(r"([^\W\d_][^\n:：,.!?\[\]()/\\<>{}=\"]*)(?::[ \t]+|：[ \t]*)(?=\S)")


class TextUnit(NamedTuple):
    """The smallest piece that is chosen or left: a sentence, a line, or a piece of a long one."""

    text: str
    channel: Channel
    line: int
    """Which line of its message it stands in; pieces of one line are joined again."""
    identifiers: tuple[Identifier, ...]
    bare: int
    """How many informative words stand outside identifiers: a name without any is a bare list."""
    words: tuple[str, ...]
    """Informative words, of what was said only: tools' lines are paid for identifiers."""
    cues: int
    call: str = ""
    """The call a tool's line belongs to."""
    setting: tuple[str, str] | None = None
    """The key and the value, if the unit gives something a value."""
    standing: int = 0
    """What it settles for later, in the bits of `standing`; of users' own words only."""


class Units(tuple[TextUnit, ...]):
    """The units of a message, with room for what was found out about them."""


def kept_with_units(compute: Callable[[Units], T]) -> Callable[[Units], T]:
    """Have something that depends on the units of a message alone worked out once for as long as they are kept."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def look_up(units: Units) -> T:
        kept = units.__dict__
        if name not in kept:
            kept[name] = compute(units)
        found: T = kept[name]
        return found

    return look_up


@kept_with_units
def weights(units: Sequence[TextUnit]) -> tuple[int, ...]:
    """Give the bytes of each unit's text."""
    return tuple([weigh(unit.text) for unit in units])


@kept_with_units
def skeletons(units: Sequence[TextUnit]) -> array[int]:
    """Give a number for each unit's skeleton, the same for the same one in this process."""
    return array("q", [hash(skeleton(unit.text)) for unit in units])


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """All that extraction and receipts want to know of a message."""

    units: Units
    day: str = ""
    """The day a stamp at the start of the message names."""
    speaker: str = ""
    """The name in front of the first words, if it looks like one; whether it is one, the conversation tells."""
    opening: str = ""
    """What stands before the first unit's text: the speaker and the colon."""
    own: bool = False
    """Whether the first line is a user's own words."""
    labels: tuple[tuple[str, str], ...] = ()
    """Calls made here, by id, with the headers their outputs get."""
    calls: tuple[str, ...] = ()
    """Ids of the calls made or answered here."""
    carried: tuple[Extract, ...] = ()
    """Extracts of an earlier compression that the message holds."""
    tools: bool = False
    """Whether a tool is called or answers here."""


def analyse_all(nodes: Iterable[Node], known: Mapping[str, Analysis] | None = None) -> Mapping[str, Analysis]:
    """Analyse the messages of nodes by node id, besides what is known; what was analysed lately is remembered."""
    known = known or {}
    missing = [node for node in nodes if node.id not in known]
    return {**known, **{node.id: _remembered(node.message) for node in missing}} if missing else known


_analyses = LruCache["Message", "Analysis"](REMEMBERED)


def _remembered(message: Message) -> Analysis:
    """Analyse a message, or remember how that ended the last time."""
    found = _analyses.get(message)
    if found is None:
        found = analyse(message)
        _analyses.put(message, found, OVERHEAD + sum([len(unit.text) for unit in found.units]))
    return found


def forget() -> None:
    """Forget all analyses."""
    _analyses.clear()


def analyse(message: Message, *, ours: bool = False) -> Analysis:
    """Cut a message into units and find what they hold.

    `ours`: it is known to be a snapshot of an earlier compression, so its lines are those of whom it names. Anybody can
    write what looks like one.
    """
    text, carried = _take_carried(message.text) if ours else (message.text, ())
    day, text = take_stamp(text)
    channel: Channel = "result" if message.role == "tool" else message.role
    own = own_lines(text) if channel == "user" else frozenset[int]()
    speaker, opening, units = _open(text, channel, own, name=message.name)
    for part in message.parts:
        units += _part_units(part, channel, units[-1].line + 1 if units else 0)
    tools = [part for part in message.parts if isinstance(part, _TOOLS)]
    return Analysis(
        units=Units(units),
        day=day,
        speaker=speaker,
        opening=opening,
        own=0 in own,
        labels=tuple((call.id, headline(spell(call)[0])) for call in message.calls),
        calls=tuple(part.id if isinstance(part, ToolCall) else part.call_id for part in tools),
        carried=carried,
        tools=bool(tools) or message.role == "tool",
    )


def reread(extract: Extract) -> Iterator[TextUnit]:
    """Cut an extract of an earlier compression into units again."""
    if extract.channel in ("call", "result"):
        yield _note(extract.text, extract.channel, extract.line, extract.origin)
        return
    for sentence in sentences(extract.text):
        if sentence:
            standing = (find_standing(sentence) & STANDS or RULE) if extract.standing else 0
            yield say(sentence, extract.channel, extract.line, standing)


def plain(line: str) -> str:
    """Drop Markdown marks from a line of what somebody said."""
    mark = _MARKDOWN.match(line)
    return (line[mark.end() :] if mark else line).replace("**", "").strip()


def skeleton(text: str) -> str:
    """Reduce a text to its letters and digits: what is equal in these is said once."""
    return _NOT_LETTERS.sub(" ", text.casefold())


def locate(text: str, line: str) -> tuple[int, int] | None:
    """Find where a line that was taken from a text stands in it, perhaps with more blanks and with Markdown's marks."""
    at = text.find(line)
    if at >= 0:
        return at, at + len(line)
    places: list[int] = []
    letters: list[str] = []
    for place, sign in enumerate(text):
        if not sign.isspace() and sign != "*":
            places.append(place)
            letters.append(sign)
    sought = "".join(line.replace("*", "").split())
    at = "".join(letters).find(sought) if sought else -1
    return (places[at], places[at + len(sought) - 1] + 1) if at >= 0 else None


def spell(call: ToolCall) -> list[str]:
    """Write a call as lines: its name, then its arguments without quoting."""
    try:
        values = json.loads(call.input)
        spelled = [f"{key}: {_spell_value(value)}" for key, value in values.items()]
    except (ValueError, AttributeError, RecursionError):  # not an object, not JSON, or nested without end
        return f"{call.name} {call.input}".splitlines()
    line = f"{call.name} {', '.join(spelled)}"
    if len(line) <= ONE_LINE_CALL and len(line.splitlines()) == 1:
        return [line]
    return (f"{call.name} " + "\n".join(spelled)).splitlines()


def _spell_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _take_carried(text: str) -> tuple[str, tuple[Extract, ...]]:
    at = find_head(text)
    if at < 0:
        return text, ()
    rendered, _, rest = text[at:].partition("\n\n")
    return text[:at] + rest, parse(rendered)


def take_stamp(text: str) -> tuple[str, str]:
    """Take the day off the front of a text that opens with it in brackets; no day: the text as it is."""
    stamp = _STAMP.match(text)
    day = _DAY.search(stamp[1]) if stamp else None
    return (day[0], text[stamp.end() :]) if stamp and day else ("", text)


def _open(text: str, channel: Channel, own: frozenset[int], *, name: str) -> tuple[str, str, list[TextUnit]]:
    """Cut speech into units, taking a name and its colon off the front if the first unit begins right after them."""
    opening = None if name else _SPEAKER.match(text, 0, SPEAKER)
    if opening and not opening[1][0].islower():
        rest = text[opening.end() :]
        units = _speech(rest, channel, own)
        if units and " ".join(rest[: 2 * len(units[0].text)].split()).startswith(units[0].text):
            return opening[1].strip(), opening[0], units
    return name, "", _speech(text, channel, own)


def _part_units(part: Part, channel: Channel, line: int) -> list[TextUnit]:
    match part:
        case ToolCall():
            return _line_units(spell(part), "call", line, part.id)
        case ToolResult():
            return _result_units(part, line)
        case Attachment():
            return _line_units(part.name.splitlines(), channel, line)
        case Image() if not part.source.startswith("data:"):
            return _line_units(part.source.splitlines(), channel, line)
        case _:
            return []


def _result_units(result: ToolResult, line: int) -> list[TextUnit]:
    """Cut an output into units; how it ended is told by its last lines, or by all of a failed one."""
    found = [piece for text in result.text.splitlines() for piece in line_pieces(text)]
    told = len(found) - LAST_LINES
    failed = OUTCOME if result.error else 0
    return [
        _note(
            piece,
            "result",
            line + index,
            result.call_id,
            failed | (LOGGED if _LOGGED(piece) else 0),
            silent=0 if failed or index >= told else OUTCOME,
        )
        for index, piece in enumerate(found)
    ]


def _speech(text: str, channel: Channel, own: frozenset[int]) -> list[TextUnit]:
    """Cut what was said into sentences, and long ones into pieces; one that stands is kept whole."""
    if channel == "result":
        return _line_units(text.splitlines(), channel, 0)
    found: list[TextUnit] = []
    lines = text.splitlines()
    cut_lines = [sentences(plain(line)) for line in lines]
    for number in sorted(own):
        _unwrap(lines, cut_lines, number, own)
    for number, said in enumerate(cut_lines):
        for sentence in chain.from_iterable(map(apart, said)) if number in own else said:
            standing = find_standing(sentence) if number in own else 0
            if standing & STANDS:
                found.append(say(sentence, channel, number, standing))
                continue
            cut = pieces(sentence)
            found += [say(piece, channel, number, standing if len(cut) == 1 else 0) for piece in cut]
    return found


def _unwrap(lines: Sequence[str], cut: list[list[str]], number: int, own: frozenset[int]) -> None:
    """Make a sentence that stands whole if it goes on in the next lines; `cut` has the sentences of every line."""
    whole, taken, told = cut[number][-1] if cut[number] else "", 0, ""
    if not whole or _SENTENCE.search(f"{whole} ") or number + 1 not in own:
        return
    for after in range(number + 1, min(len(lines), number + 1 + MOST_LINES)):
        head = cut[after][0] if after in own else ""
        if not _goes_on(lines[after - 1], lines[after], head) or find_standing(head) & STANDS:
            break
        whole += head if _WIDE(whole[-1]) and _WIDE(head[0]) else f" {head}"
        if find_standing(whole) & STANDS:
            taken, told = after - number, whole
        if len(cut[after]) > 1 or _SENTENCE.search(f"{head} "):
            break
    for after in range(number + 1, number + 1 + taken):
        del cut[after][0]
    if taken:
        cut[number][-1] = told


def _goes_on(line: str, following: str, head: str) -> bool:
    """Tell whether a sentence goes on in the next line: with a capital only if the line is full, or cannot end so."""
    if not head or head[0] in _OPENERS or _ITEM.match(following) or _HEADING(line):
        return False
    if not head[0].isupper() or len(line) + 1 + len(head.split()[0]) > FULL_LINE:
        return True
    return line.split()[-1].lower() in _OPEN_ENDS


def _line_units(lines: Iterable[str], channel: Channel, first: int, call: str = "") -> list[TextUnit]:
    found = [piece for line in lines for piece in line_pieces(line)]
    return [_note(piece, channel, first + index, call) for index, piece in enumerate(found)]


def sentences(line: str) -> list[str]:
    """Cut a line after the ends of its sentences, in any script."""
    ends = [end.end() for end in _SENTENCE.finditer(line)]
    if not ends:
        return [line]
    return [line[start:end].strip() for start, end in zip([0, *ends], [*ends, len(line)], strict=True)]


def pieces(line: str) -> list[str]:
    """Cut an over-long line near `PIECE` bytes: at a comma, else at a blank, else between any two letters."""
    weight = weigh(line)
    if weight <= SLACK * PIECE:
        return [line] if weight >= SHORTEST else []
    size = PIECE if weight == len(line) else max(1, PIECE * len(line) // weight)
    found: list[str] = []
    start = 0
    while len(line) - start > SLACK * size:
        stop = _cut(line, start + size // 2, start + size)
        found.append(line[start:stop].strip(_ENDS))
        start = stop
    found.append(line[start:].strip(_ENDS))
    return [piece for piece in found if weigh(piece) >= SHORTEST]


def _cut(line: str, low: int, high: int) -> int:
    for mark in _CUTS if line.isascii() else _WIDE_CUTS:
        if (at := line.rfind(mark, low, high)) >= 0:
            return at + 1
    # A vowel sign or an accent belongs to the letter before it.
    return next((at for at in range(high, low, -1) if not category(line[at]).startswith("M")), high)


def line_pieces(line: str) -> list[str]:
    """Cut a tool's line; of one-line JSON the marks are dropped, and no piece spans two records."""
    line = line.strip()
    if len(line) <= PIECE and line.isascii():
        return [line] if len(line) >= SHORTEST else []
    if len(line) <= PIECE or line[0] not in "{[" or line.count('":', 0, 10 * PIECE) < JSON_FIELDS:
        return pieces(line)
    records = (record.translate(_JSON_MARKS) for record in _RECORD.split(line))
    return [piece for record in records for piece in pieces(" ".join(record.split()))]


def _note(text: str, channel: Channel, line: int, call: str, sure: int = 0, *, silent: int = 0) -> TextUnit:
    """Make a unit of a tool's line; `sure` are cues it has whatever its words are, `silent` those it cannot have."""
    found: list[Identifier] = []
    ordinary: set[str] = set()
    for piece in atoms(text):
        stem = stem_of(piece)
        if stem:
            ordinary.add(stem)
        elif stem is None:
            identifiers, _, bare, cues = atom(piece)
            found += identifiers
            ordinary.update(bare)
            sure |= cues
    named = tuple(dict.fromkeys(found)) if len(found) > 1 else tuple(found)
    value = setting(text) if channel == "result" else None
    return TextUnit(text, channel, line, named, len(ordinary), (), sure & ~silent, call, value)


def say(text: str, channel: Channel, line: int, standing: int) -> TextUnit:
    """Make a unit of what somebody said; a capital counts as one only inside the sentence."""
    found: list[Identifier] = []
    informative: list[str] = []
    given, counted, inside = 0, ~CAPITAL, False
    for piece in (cut := atoms(text)):
        stem = stem_of(piece)
        if stem:
            informative.append(stem)
        elif stem is None:
            identifiers, words, bare, cues = atom(piece)
            informative += words
            inside = inside or words != bare
            found += identifiers
            given |= cues & counted
        counted = ALL
    if longer := figures(text, given):
        # The parts of a date or of a long number are no numbers of their own.
        whole = " ".join(identifier.text for identifier in longer)
        found = [identifier for identifier in found if identifier.text not in whole] + longer
    named = tuple(dict.fromkeys(found)) if found else ()
    words = tuple(dict.fromkeys(informative))
    ordinary = {word for piece in cut for word in atom(piece).bare} if inside else words
    value = setting(text) if channel == "user" else None
    return TextUnit(text, channel, line, named, len(ordinary), words, given, "", value, standing)
