"""The receipt of a compression: what it cost, and which facts it kept word for word, retold, or lost.

Every fact of the covered messages is counted exactly once, as verbatim, told or lost, and a lost one names the newest
message that has it, so that its line can be added back. All facts are counted. Only few are listed, so that a receipt
stays small even after fifty compressions; the originals have the rest.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from octavo.core.extract.changes import (
    ChangedLine,
    StandingLine,
    contradictions,
    standing_lines,
)
from octavo.core.extract.facts import KINDS, Fact, FactKind, Retelling, Wording, collect, facts, occurring
from octavo.core.extract.render import insert, render
from octavo.core.extract.sources import line_up
from octavo.core.extract.totals import CountedSources, Totals
from octavo.core.extract.units import Analysis, analyse, analyse_all, spell
from octavo.core.message_json import Json, JsonObject, compact
from octavo.core.messages import Message, Node
from octavo.core.snapshot import DroppedLine, Extract, Extracts
from octavo.errors import BadInput, NotFound

__all__ = [
    "KINDS",
    "Conflict",
    "Fact",
    "FactKind",
    "Fate",
    "Receipt",
    "Remains",
    "StandingTally",
    "Tally",
    "add_back",
    "facts",
    "find_lost",
    "gather",
    "lost_of",
    "occurring",
    "receipt",
    "verbatim_text",
]

T = TypeVar("T")
ELLIPSIS = "…"
"""Ends what was cut off to be shown."""
LISTED = 1_000
"""Facts of one kind and fate that are listed while a receipt is in memory; more are only counted."""
STORED, STORED_CHARACTERS = 10, 500
"""Facts of one kind and fate that a stored receipt lists, and their characters: enough to see what they are like.

Every snapshot of a conversation has a receipt of all that was said before, so that longer lists would soon take more
room than the conversation.
"""
_BY_NAME: Mapping[str, FactKind] = {kind: kind for kind in KINDS}

Fate = Literal["verbatim", "told", "lost"]
"""What became of a fact: kept word for word, retold in other words, or gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What became of the facts of one kind; lists hold the newest, counts all."""

    kind: FactKind
    verbatim: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    lost: tuple[Fact, ...] = ()
    verbatim_count: int = 0
    told_count: int = 0
    lost_count: int = 0

    @property
    def count(self) -> int:
        return self.verbatim_count + self.told_count + self.lost_count

    @property
    def lists_all(self) -> bool:
        """Whether all lost facts are listed."""
        return len(self.lost) == self.lost_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A key of which an older value was kept and the newest was not."""

    key: str
    kept: str
    newest: str
    source: str
    """The node that has the newest value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingTally:
    """What became of the sentences that stand: rules, preferences, decisions; lists hold the newest, counts all."""

    kept: tuple[StandingLine, ...] = ()
    """Those that are sent word for word."""
    lost: tuple[StandingLine, ...] = ()
    changed: tuple[ChangedLine, ...] = ()
    """Those of which the narrative says something else."""
    kept_count: int = 0
    lost_count: int = 0
    replaced_count: int = 0
    """How many stood until a later one replaced them."""

    @property
    def count(self) -> int:
        return self.kept_count + self.lost_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a compression cost, kept and lost."""

    tallies: tuple[Tally, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    standing: StandingTally = StandingTally()
    messages: int = 0
    """How many messages were covered."""
    tokens_before: int = 0
    tokens_after: int = 0
    seconds: float = 0.0
    model: str = ""
    """Who wrote the narrative; empty when there is none."""
    price: float | None = None
    """US dollars; None when unknown."""
    no_summary: str = ""
    """Why no summary was written; empty when one was."""
    taken_out: tuple[str, ...] = ()
    """Lines that were taken out of the summary because they name something that the originals do not."""
    taken_out_count: int = 0
    summary_requests: int = 0
    """How often a model was asked for the summary."""
    summary_input: int = 0
    """Tokens that it read, whatever came of it."""
    summary_output: int = 0
    summary_price: float | None = None
    """US dollars for these, whatever came of it; None when unknown."""

    def tally(self, kind: FactKind) -> Tally:
        """What became of the facts of one kind."""
        return next((tally for tally in self.tallies if tally.kind == kind), Tally(kind=kind))

    @property
    def lost(self) -> tuple[Fact, ...]:
        """The lost facts that are listed."""
        return tuple(fact for tally in self.tallies for fact in tally.lost)

    @property
    def lists_all(self) -> bool:
        """Whether all lost facts are listed."""
        return all(tally.lists_all for tally in self.tallies)

    def restored(self, lines: Sequence[str], unlisted: Sequence[Fact] = ()) -> Receipt:
        """Count the lost facts that these lines have as kept word for word: they were added back.

        `unlisted` are other facts that were lost, as far as the lines can have them.
        """
        return replace(
            self,
            tallies=tuple(_restored(tally, lines, unlisted) for tally in self.tallies),
            standing=_restored_standing(self.standing, lines),
        )

    def without(self, line: Extract, lost: Sequence[Fact]) -> Receipt:
        """Take a line out that a person dropped: it no longer stands, and `lost` are the facts that went with it."""
        return replace(
            self,
            tallies=tuple(_without(tally, lost) for tally in self.tallies),
            standing=replace(
                self.standing,
                kept=tuple(one for one in self.standing.kept if one.text != line.text),
                kept_count=max(0, self.standing.kept_count - line.standing),
            ),
        )

    def redirected(self, ids: Mapping[str, str]) -> Receipt:
        """Let the receipt point at copies of messages; references to messages that were not copied are dropped."""

        def to(source: str) -> str:
            return ids.get(source, "")

        standing = self.standing
        return replace(
            self,
            tallies=tuple(
                replace(tally, lost=tuple(fact._replace(source=to(fact.source)) for fact in tally.lost))
                for tally in self.tallies
            ),
            conflicts=tuple(replace(one, source=to(one.source)) for one in self.conflicts),
            standing=replace(
                standing,
                kept=tuple(line._replace(source=to(line.source)) for line in standing.kept),
                lost=tuple(line._replace(source=to(line.source)) for line in standing.lost),
                changed=tuple(line._replace(source=to(line.source)) for line in standing.changed),
            ),
        )

    def trimmed(self) -> Receipt:
        """Give the receipt as it is stored: all counts, and the newest of what they count."""
        return replace(
            self,
            tallies=tuple(_trimmed(tally) for tally in self.tallies),
            standing=_trimmed_standing(self.standing),
            taken_out=tuple(_newest(self.taken_out, len)),
        )

    def to_json(self) -> str:
        """Write the receipt as JSON text."""
        facts_by_kind: JsonObject = {tally.kind: _dump_tally(tally) for tally in self.tallies}
        conflicts: list[Json] = [[c.key, c.kept, c.newest, c.source] for c in self.conflicts]
        data: JsonObject = {
            "messages": self.messages,
            "tokens": [self.tokens_before, self.tokens_after],
            "seconds": self.seconds,
            "model": self.model,
            "price": self.price,
            "no_summary": self.no_summary,
            "taken_out": [self.taken_out_count, [*self.taken_out]],
            "summary": [self.summary_requests, self.summary_input, self.summary_output, self.summary_price],
            "facts": facts_by_kind,
            "conflicts": conflicts,
            "standing": _dump_standing(self.standing),
        }
        return compact(data)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """Read a receipt back; raise `BadInput` if it is not one."""
        try:
            data = json.loads(text)
            tokens_before, tokens_after = data["tokens"]
            requests, read, written, paid = data.get("summary", (0, 0, 0, None))
            taken_out_count, taken_out = data.get("taken_out", (0, ()))
            return cls(
                tallies=tuple(_load_tally(kind, tally) for kind, tally in data["facts"].items()),
                conflicts=tuple(
                    Conflict(key=key, kept=kept, newest=newest, source=source)
                    for key, kept, newest, source in data["conflicts"]
                ),
                standing=_load_standing(data["standing"]) if "standing" in data else StandingTally(),
                messages=data["messages"],
                tokens_before=tokens_before,
                tokens_after=tokens_after,
                seconds=data["seconds"],
                model=data["model"],
                price=data["price"],
                no_summary=data.get("no_summary", ""),
                taken_out=tuple(taken_out),
                taken_out_count=taken_out_count,
                summary_requests=requests,
                summary_input=read,
                summary_output=written,
                summary_price=paid,
            )
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise BadInput("receipt", f"not a receipt: {problem}") from problem


def receipt(
    covered: Sequence[Node],
    *,
    extracts: Extracts = (),
    sent: str = "",
    narrative: str = "",
    messages: int | None = None,
    tokens_before: int = 0,
    tokens_after: int = 0,
    seconds: float = 0.0,
    model: str = "",
    price: float | None = None,
    no_summary: str = "",
    dropped: Sequence[DroppedLine] = (),
    analyses: Mapping[str, Analysis] | None = None,
    totals: Totals | None = None,
) -> Receipt:
    """Tell what became of the facts of the covered nodes.

    `sent` is what else is sent word for word, retained messages and pins (`verbatim_text` puts them together);
    `narrative` is what a model wrote about the covered ones. What a person `dropped` no longer stands. `totals` are
    those of a beginning of the covered nodes.
    """
    counted = CountedSources(covered, (), analyse_all(covered, analyses), totals)
    lines = [extract.text for extract in extracts]
    remains = Remains(f"{render(extracts)}\n{sent}", narrative, lines)
    return Receipt(
        tallies=_tallies(collect(counted.sources, counted.totals.facts), remains),
        conflicts=tuple(_conflicts(counted, remains)),
        standing=_standing(counted, remains, narrative, dropped),
        messages=len(covered) if messages is None else messages,
        tokens_before=tokens_before,
        tokens_after=tokens_after,
        seconds=seconds,
        model=model,
        price=price,
        no_summary=no_summary,
    )


class Remains:
    """What is left of messages, prepared for the question what became of each fact."""

    def __init__(self, verbatim: str, narrative: str = "", lines: Iterable[str] = ()) -> None:
        self.kept = Wording(verbatim, lines)
        self.told = Wording(narrative)
        self._retelling = Retelling(narrative)
        self._narrated = bool(narrative)

    def fate(self, fact: Fact, words: Sequence[str] = ()) -> Fate:
        """Tell what became of a fact; `words` are the informative ones of its sentence, if it is one."""
        if self.kept.has(fact.text):
            return "verbatim"
        if self._narrated and (self.told.has(fact.text) or (words and self._retelling.tells(words))):
            return "told"
        return "lost"


def gather(
    nodes: Sequence[Node], analyses: Mapping[str, Analysis] | None = None
) -> tuple[tuple[Fact, tuple[str, ...]], ...]:
    """List the facts of messages, newest first, sentences with their informative words."""
    return tuple(collect(line_up(nodes, (), analyse_all(nodes, analyses))))


def verbatim_text(messages: Iterable[Message], pins: Iterable[str] = ()) -> str:
    """Put together what is sent word for word besides extracts."""
    return "\n".join([*pins, *(line for message in messages for line in _lines(message))])


def lost_of(covered: Sequence[Node], extracts: Extracts, narrative: str) -> tuple[Fact, ...]:
    """List every fact of covered nodes that neither extracts nor a narrative have, newest first."""
    remains = Remains(render(extracts), narrative)
    return tuple(fact for fact, words in gather(covered) if remains.fate(fact, words) == "lost")


def find_lost(lost: Sequence[Fact], wanted: str) -> Fact:
    """Find a lost fact as people read it: on one line, and only its beginning where it ends with an ellipsis."""
    said, start = " ".join(wanted.split()), " ".join(wanted.removesuffix(ELLIPSIS).split())
    shown = {fact: " ".join(fact.text.split()) for fact in lost}
    found = [fact for fact in lost if fact.text == wanted] or [fact for fact in lost if shown[fact] == said]
    if not found and wanted.endswith(ELLIPSIS) and start:
        found = [fact for fact in lost if shown[fact].startswith(start)]
    texts = {fact.text for fact in found}
    if len(texts) > 1:
        raise BadInput(
            "item",
            f"{len(texts)} facts that were left out begin with {start!r}; write more of the one you mean",
        )
    if not found:
        raise NotFound(f"{wanted!r} is no fact that this snapshot left out")
    return found[-1]


def add_back(extracts: Extracts, lost: Fact, node: Node) -> Extracts:
    """Add the line of a lost fact to extracts, at its place; `node` is the fact's source."""
    sources = line_up((node,), (), {node.id: analyse(node.message)})
    found = [
        source.extract(index)
        for source in sources
        for index, unit in enumerate(source.units)
        if lost.text in unit.text or lost.text == source.stamp
    ]
    if not found:
        raise NotFound(f"{lost.text!r} is not in message {node.id}")
    return insert(extracts, _settle(found[0], extracts))


@dataclass(frozen=True, slots=True)
class _Fates:
    verbatim: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    lost: list[Fact] = field(default_factory=list)

    def tally(self, kind: FactKind) -> Tally:
        return Tally(
            kind=kind,
            verbatim=tuple(self.verbatim[:LISTED]),
            told=tuple(self.told[:LISTED]),
            lost=tuple(self.lost[:LISTED]),
            verbatim_count=len(self.verbatim),
            told_count=len(self.told),
            lost_count=len(self.lost),
        )


def _tallies(found: Iterable[tuple[Fact, tuple[str, ...]]], remains: Remains) -> tuple[Tally, ...]:
    fates: defaultdict[FactKind, _Fates] = defaultdict(_Fates)
    all_found = list(found)
    remains.kept.expect([fact.text for fact, _ in all_found])
    for fact, words in all_found:
        match remains.fate(fact, words):
            case "verbatim":
                fates[fact.kind].verbatim.append(fact.text)
            case "told":
                fates[fact.kind].told.append(fact.text)
            case "lost":
                fates[fact.kind].lost.append(fact)
    return tuple(fates[kind].tally(kind) for kind in KINDS if kind in fates)


def _conflicts(counted: CountedSources, remains: Remains) -> Iterator[Conflict]:
    kept, told, sources = remains.kept, remains.told, counted.sources
    for values in counted.new.given.changed():
        newest = values[-1]
        lines = {value: sources[value.source].units[value.unit].text for value in values}
        older = [value for value in values if value.value != newest.value and kept.has(lines[value])]
        if older and not kept.has(lines[newest]) and not told.has(newest.value):
            node = sources[newest.source].node
            yield Conflict(key=newest.key, kept=older[-1].value, newest=newest.value, source=node)


def _standing(
    counted: CountedSources, remains: Remains, narrative: str, dropped: Sequence[DroppedLine]
) -> StandingTally:
    agreed = counted.new.agreeing.agreed(counted.sources, dropped)
    lines = standing_lines(counted.sources, agreed)
    kept = [line for line in reversed(lines) if remains.kept.has(line.text)]
    lost = [line for line in reversed(lines) if not remains.kept.has(line.text)]
    return StandingTally(
        kept=tuple(kept[:LISTED]),
        lost=tuple(lost[:LISTED]),
        changed=tuple(contradictions(narrative, lines))[:LISTED],
        kept_count=len(kept),
        lost_count=len(lost),
        replaced_count=len(agreed.replaced),
    )


def _restored_standing(tally: StandingTally, lines: Sequence[str]) -> StandingTally:
    back = tuple(line for line in tally.lost if any(line.text in added for added in lines))
    return replace(
        tally,
        kept=(*back, *tally.kept)[:LISTED],
        lost=tuple(line for line in tally.lost if line not in back),
        kept_count=tally.kept_count + len(back),
        lost_count=tally.lost_count - len(back),
    )


def _trimmed_standing(tally: StandingTally) -> StandingTally:
    return replace(
        tally,
        kept=tuple(_newest(tally.kept, lambda line: len(line.text))),
        lost=tuple(_newest(tally.lost, lambda line: len(line.text))),
        changed=tuple(_newest(tally.changed, lambda line: len(line.told) + len(line.text))),
    )


def _settle(extract: Extract, extracts: Extracts) -> Extract:
    """Take the day, the call and the speaker from neighbouring messages where a message does not tell them."""
    before = [other for other in extracts if (other.depth, other.at) <= (extract.depth, extract.at)]
    same = [
        other for other in extracts if other.source == extract.source and other.channel == extract.channel
    ]
    return replace(
        extract,
        day=extract.day or (before[-1].day if before else ""),
        origin=extract.origin or (same[0].origin if same else ""),
        speaker=extract.speaker or (same[0].speaker if same else ""),
    )


def _lines(message: Message) -> Iterator[str]:
    yield message.text
    for call in message.calls:
        yield from spell(call)
    for result in message.results:
        yield result.text


def _restored(tally: Tally, lines: Sequence[str], unlisted: Sequence[Fact]) -> Tally:
    known = {*tally.verbatim, *tally.told, *(fact.text for fact in tally.lost)}
    others = [fact for fact in unlisted if fact.kind == tally.kind and fact.text not in known]
    lost = tally.lost if tally.lists_all else (*tally.lost, *others)
    back = [fact for fact in lost if any(fact.text in line for line in lines)][: tally.lost_count]
    return replace(
        tally,
        verbatim=(*(fact.text for fact in back), *tally.verbatim)[:LISTED],
        lost=tuple(fact for fact in tally.lost if fact not in back),
        verbatim_count=tally.verbatim_count + len(back),
        lost_count=tally.lost_count - len(back),
    )


def _without(tally: Tally, lost: Sequence[Fact]) -> Tally:
    gone = [fact for fact in lost if fact.kind == tally.kind][: tally.verbatim_count]
    texts = {fact.text for fact in gone}
    return replace(
        tally,
        verbatim=tuple(text for text in tally.verbatim if text not in texts),
        lost=(*gone, *tally.lost)[:LISTED],
        verbatim_count=tally.verbatim_count - len(gone),
        lost_count=tally.lost_count + len(gone),
    )


def _trimmed(tally: Tally) -> Tally:
    return replace(
        tally,
        verbatim=tuple(_newest(tally.verbatim, len)),
        told=tuple(_newest(tally.told, len)),
        lost=tuple(_newest(tally.lost, lambda fact: len(fact.text))),
    )


def _newest(listed: Sequence[T], size: Callable[[T], int]) -> Iterator[T]:
    """Give the newest that fit; one that is too long for all the room is left out."""
    room = STORED_CHARACTERS
    for one in listed[:STORED]:
        if size(one) <= room:
            room -= size(one)
            yield one


def _dump_tally(tally: Tally) -> JsonObject:
    verbatim: list[Json] = [*tally.verbatim]
    told: list[Json] = [*tally.told]
    lost: list[Json] = [[fact.text, fact.source] for fact in tally.lost]
    counts: list[Json] = [tally.verbatim_count, tally.told_count, tally.lost_count]
    return {"counts": counts, "verbatim": verbatim, "told": told, "lost": lost}


def _dump_standing(tally: StandingTally) -> JsonObject:
    return {
        "counts": [tally.kept_count, tally.lost_count, tally.replaced_count],
        "kept": [[*line] for line in tally.kept],
        "lost": [[*line] for line in tally.lost],
        "changed": [[*line] for line in tally.changed],
    }


def _load_standing(data: Mapping[str, Any]) -> StandingTally:
    kept_count, lost_count, replaced_count = data["counts"]
    return StandingTally(
        kept=tuple(StandingLine(text, source) for text, source in data["kept"]),
        lost=tuple(StandingLine(text, source) for text, source in data["lost"]),
        changed=tuple(ChangedLine(told, text, source) for told, text, source in data["changed"]),
        kept_count=kept_count,
        lost_count=lost_count,
        replaced_count=replaced_count,
    )


def _load_tally(name: str, data: Mapping[str, Any]) -> Tally:
    kind = _BY_NAME[name]
    verbatim_count, told_count, lost_count = data["counts"]
    return Tally(
        kind=kind,
        verbatim=tuple(data["verbatim"]),
        told=tuple(data["told"]),
        lost=tuple(Fact(kind, text, source) for text, source in data["lost"]),
        verbatim_count=verbatim_count,
        told_count=told_count,
        lost_count=lost_count,
    )
