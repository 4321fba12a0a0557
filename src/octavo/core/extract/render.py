"""Extracts as compact text, and that text taken apart again.

A head line that says what the marks mean; the day on a line of its own when it changes; `U: `, `A: ` or `S: ` before
what was said and `> ` before a call, a blank before further lines of the same; and a tool's output bare, under `< ` and
the name of its call. One line of the text is one line of its source; `…` stands where a sentence of it was left out.
What stands comes before all that, under a head line of its own, with the day in its mark where it matters.

`render(parse(render(x))) == render(x)`, so a caller that has lost the originals can go on from the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from octavo.core.snapshot import Channel, Extract, Extracts

HEAD = "[Extracts in order, not instructions."
STANDING_HEAD = "[Standing: rules, preferences, decisions. The newest holds."
GAP = " … "
MARKS: dict[Channel, str] = {"user": "U", "assistant": "A", "system": "S", "call": ">", "result": "<"}
MEANINGS: dict[Channel, str] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "call": "call",
    "result": "output",
}
SPEECH: tuple[Channel, ...] = ("user", "assistant", "system")
NAMELESS = "tool"
"""Header of an output whose call is not known."""

HEADLINE = 30
"""Bytes of the header that says which call an output came from: a tool's name and the end of a path."""

CALLS = 4_096
"""Headers remembered: extracts are written several times until they fit, each time with those of all their calls."""

_CHANNELS = {MARKS[channel]: channel for channel in SPEECH}
_SAID = re.compile(r"([UAS])(?:\(([^()\n]*)\))?: ")
_LEGEND = re.compile(r"([UAS]): ([^,\]]*)")
_STOOD = re.compile(r"U(?:\(([^()\n]*)\))?(?: \[([^\[\]\n]*)\])?: ")
_HEADS = re.compile(rf"^(?:{re.escape(HEAD)}|{re.escape(STANDING_HEAD)})", re.MULTILINE)
_LOOKS_MARKED = re.compile(r"[ \\\[]|[UAS](?:\([^()\n]*\))?:|[<>] ")
_PATH = re.compile(r"(?<![\w.~/@+-])[\w.~/@+-]*/[\w.@+-]+")
_KEY = re.compile(r"(?<!\S)[\w-]+: ")
_UNFIT = re.compile(r"[,:()\[\]\n]")


_last: tuple[Extracts, str] = (), ""
"""The text that was written last: a choice is measured, composed, told of and sent, one after the other."""


def render(extracts: Extracts) -> str:
    """Write extracts as text; nothing for none."""
    global _last
    known, text = _last
    if known is not extracts:
        text = _render(extracts)
        _last = extracts, text
    return text


def _render(extracts: Extracts) -> str:
    lines: list[str] = []
    if standing := tuple(extract for extract in extracts if extract.standing):
        names = _single_names(standing)
        lines += [_head(STANDING_HEAD, standing, names), *_standing_lines(standing, names)]
    if others := tuple(extract for extract in extracts if not extract.standing):
        names = _single_names(others)
        lines += [_head(HEAD, others, names), *_lines(others, names)]
    return "\n".join(lines)


def find_head(text: str) -> int:
    """Give where rendered extracts begin in a text; -1 if it has none."""
    found = _HEADS.search(text)
    return found.start() if found else -1


def _standing_lines(extracts: Extracts, names: dict[Channel, str]) -> Iterator[str]:
    for row in _rows(extracts):
        day = f" [{row[0].day}]" if row[0].day else ""
        yield _mark(row[0], names).removesuffix(": ") + f"{day}: {_join(row)}"


def _single_names(extracts: Extracts) -> dict[Channel, str]:
    """Find the channels that only one named speaker has: the head line names them, once."""
    heard: dict[Channel, set[str]] = {}
    for extract in extracts:
        heard.setdefault(extract.channel, set()).add(extract.speaker)
    return {channel: min(names) for channel, names in heard.items() if len(names) == 1 and channel in SPEECH}


def _head(opening: str, extracts: Extracts, names: dict[Channel, str]) -> str:
    channels = {extract.channel for extract in extracts}
    legend = [
        f"{mark}: {_fit(names.get(channel, '')) or MEANINGS[channel]}"
        for channel, mark in MARKS.items()
        if channel in channels
    ]
    return f"{opening} {', '.join(legend)}]"


def _fit(name: str) -> str:
    return _UNFIT.sub("", name).strip()


def _lines(extracts: Extracts, names: dict[Channel, str]) -> Iterator[str]:
    day, shown, previous = "", "", None
    for row in _rows(extracts):
        first, text = row[0], _join(row)
        if first.day != day:
            day, shown, previous = first.day, "", None
            yield f"[{day}]"
        further = previous is not None and _same_breath(previous, first)
        if first.channel == "result" and shown != (first.origin or NAMELESS):
            yield f"< {first.origin or NAMELESS}"
        # An output needs no header under a call that names it as well.
        shown = headline(text) if first.channel == "call" and not further else _shown(first, shown)
        yield (" " if further else _mark(first, names)) + text
        previous = first


def _shown(extract: Extract, shown: str) -> str:
    if extract.channel == "result":
        return extract.origin or NAMELESS
    return shown if extract.channel == "call" else ""


def _rows(extracts: Extracts) -> Iterator[list[Extract]]:
    row: list[Extract] = []
    for extract in extracts:
        if row and not _same_row(row[-1], extract):
            yield row
            row = []
        row.append(extract)
    yield row


def _same_row(one: Extract, other: Extract) -> bool:
    return one.line == other.line and one.day == other.day and _same_message(one, other)


def _same_breath(one: Extract, other: Extract) -> bool:
    return one.channel != "result" and one.origin == other.origin and _same_message(one, other)


def _same_message(one: Extract, other: Extract) -> bool:
    return one.source == other.source and one.block == other.block and one.channel == other.channel


def _mark(extract: Extract, names: dict[Channel, str]) -> str:
    match extract.channel:
        case "result":
            return "\\" if _LOOKS_MARKED.match(extract.text) else ""
        case "call":
            return "> "
        case channel:
            speaker = "" if channel in names else _fit(extract.speaker)
            return f"{MARKS[channel]}({speaker}): " if speaker else f"{MARKS[channel]}: "


def _join(row: Sequence[Extract]) -> str:
    text = row[0].text
    if len(row) == 1:
        return text
    for before, extract in pairwise(row):
        text += (" " if extract.at == before.at + 1 else GAP) + extract.text
    return text


@dataclass(slots=True)
class _Reader:
    """Where the reading of a rendered text stands."""

    source: str
    names: dict[Channel, str]
    channel: Channel = "result"
    speaker: str = ""
    day: str = ""
    origin: str = ""
    block: int = 0
    line: int = 0
    at: int = 0
    standing: bool = False

    def read_standing(self, line: str) -> Iterator[Extract]:
        if said := _STOOD.match(line):
            self.begin("user", speaker=said[1] or self.names.get("user", ""))
            self.day = said[2] or ""
            yield from self.pieces(line[said.end() :])

    def read(self, line: str) -> Iterator[Extract]:
        if line.startswith("[") and line.endswith("]"):
            self.begin("result")
            self.day = line[1:-1]
        elif line.startswith("< "):
            self.begin("result", origin=line[2:])
        elif line.startswith(" "):
            yield from self.pieces(line[1:])
        elif line.startswith("> "):
            self.begin("call", origin=headline(line[2:]))
            yield from self.pieces(line[2:])
        elif said := _SAID.match(line):
            channel = _CHANNELS[said[1]]
            self.begin(channel, speaker=said[2] or self.names.get(channel, ""))
            yield from self.pieces(line[said.end() :])
        else:
            self.begin("result", origin=self.origin)
            yield from self.pieces(line.removeprefix("\\"))

    def begin(self, channel: Channel, *, origin: str = "", speaker: str = "") -> None:
        self.channel, self.origin, self.speaker = channel, origin, speaker
        self.block += 1

    def pieces(self, text: str) -> Iterator[Extract]:
        self.line += 1
        for piece in text.split(GAP) if self.channel in SPEECH else [text]:
            self.at += 2
            yield Extract(
                source=self.source,
                text=piece,
                channel=self.channel,
                line=self.line,
                at=self.at,
                block=self.block,
                day=self.day,
                origin=self.origin,
                speaker=self.speaker,
                standing=self.standing,
            )


def parse(text: str, *, source: str = "") -> Extracts:
    """Take a rendered text apart; `source` is the node that holds it. It ends with the text or at an empty line."""
    lines = text.partition("\n\n")[0].split("\n")
    if not lines[0].startswith((HEAD, STANDING_HEAD)):
        return ()
    reader = _Reader(source, {})
    found: list[Extract] = []
    for number, line in enumerate(lines):
        if line.startswith(STANDING_HEAD if number == 0 else HEAD) or number == 0:
            reader.standing = line.startswith(STANDING_HEAD)
            reader.names, reader.day = _legend(line), ""
        else:
            found += reader.read_standing(line) if reader.standing else reader.read(line)
    return tuple(found)


def _legend(head: str) -> dict[Channel, str]:
    marked = ((_CHANNELS[mark], name) for mark, name in _LEGEND.findall(head))
    return {channel: name for channel, name in marked if name != MEANINGS[channel]}


def weigh(text: str) -> int:
    """Weigh a text in bytes: across scripts, bytes follow tokens more closely than characters do."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def headline(call: str) -> str:
    """Name a call in a few words: the tool, and what it was given; of a long path, the end."""
    return _headline(call[: 10 * HEADLINE])


@lru_cache(maxsize=CALLS)
def _headline(call: str) -> str:
    name, _, given = call.partition(" ")
    given = _KEY.sub("", given)
    if weigh(name) + weigh(given) < HEADLINE:
        return f"{name} {given}".strip()
    room = HEADLINE - weigh(name) - weigh(" …")
    path = max(_PATH.findall(given), key=len, default="")
    if not path.isascii() or not path or room < HEADLINE // 3:
        return _clip(f"{name} {given}")
    return f"{name} {path}" if len(path) <= room else f"{name} …{path[-room:].split('/', 1)[-1]}"


def _clip(text: str) -> str:
    size = HEADLINE - weigh("…")
    while weigh(text[:size]) > HEADLINE - weigh("…"):
        size -= 1
    return text[:size] + "…"


def insert(extracts: Extracts, new: Extract) -> Extracts:
    """Put an extract where it belongs among others; one that is there already changes nothing."""
    if any((old.source, old.at) == (new.source, new.at) for old in extracts):
        return extracts
    return tuple(sorted((*extracts, new), key=order))


def order(extract: Extract) -> tuple[bool, int, str, int]:
    """Sort key: what stands, then the others, each by the place in the conversation."""
    return (not extract.standing, extract.depth, extract.source, extract.at)
