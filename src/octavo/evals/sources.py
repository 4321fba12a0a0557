"""Conversations to measure on: records of public sets, and any conversation that is at hand.

A record with questions is measured by its questions. One without is cut where an assistant goes on, and what followed
tells what was needed; if that tells nothing, it is measured whole, by its facts. A record that is a tree gives a case
for every leaf, with the words of the other branches to watch for.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message, Text
from octavo.core.wire import detect, read
from octavo.errors import BadInput, UsageError
from octavo.evals.measure.answers import AskedQuestion
from octavo.evals.measure.needs import CUTS, FEWEST, Count, cut_at, needs_after
from octavo.evals.measure.score import Case
from octavo.evals.measure.words import content_words

SUFFIXES = (".jsonl", ".jsonl.gz")
"""Files that may hold records, one to a line."""
_FIELDS = ("role", "content", "tool_calls", "tool_call_id", "name")


def read_sets(folder: Path, count: Count) -> Iterator[Case]:
    """Read the sets of a folder; files without conversations are passed over."""
    files = [path for path in sorted(folder.glob("*")) if path.name.endswith(SUFFIXES)]
    if not files:
        raise UsageError(f"{folder} has no files that end in {' or '.join(SUFFIXES)}")
    for path in files:
        yield from read_set(path, count)


def read_set(path: Path, count: Count) -> Iterator[Case]:
    """Read one set; it is named after its file."""
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    for number, record in enumerate(_records(path), start=1):
        try:
            yield from record_cases(record, name, f"{name}-{number}", count)
        except (KeyError, TypeError, ValueError) as problem:
            raise BadInput(f"{path}, line {number}", f"not a record of a set: {problem!r}") from problem


def _records(path: Path) -> Iterator[JsonObject]:
    for number, line in enumerate(_lines(path), start=1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path}, line {number}", f"not JSON: {error}") from error
        if not isinstance(record, dict):
            raise BadInput(f"{path}, line {number}", "expected a record: an object with `messages`")
        if isinstance(record.get("messages"), list):
            yield record


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def record_cases(record: JsonObject, set: str, name: str, count: Count) -> Iterator[Case]:
    """Make the cases of one record."""
    data = cast("dict[str, Any]", record)
    rows: list[dict[str, Any]] = data["messages"]
    label = str(data.get("id") or data.get("tree_id") or name)
    if rows and "parent_id" in rows[0]:
        yield from tree_cases(rows, set, label)
        return
    messages = read_messages(rows)
    if data.get("qa"):
        yield Case(
            name=label,
            group=label,
            set=set,
            messages=messages,
            questions=tuple(_questions(data["qa"], rows)),
            speakers=tuple(data.get("speakers") or ()),
        )
        return
    yield from cut_cases(messages, set, label, count, once=False)


def read_messages(rows: Sequence[Mapping[str, Any]], system: Json = None) -> tuple[Message, ...]:
    """Read messages in whichever format they are; fields of the set's own are left aside."""
    format = detect(list(rows))
    plain = (
        [{key: row[key] for key in _FIELDS if key in row} for row in rows]
        if format == "openai"
        else list(rows)
    )
    return read(format, plain, system)


def _questions(
    rows: Iterable[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]]
) -> Iterator[AskedQuestion]:
    place = {row.get("mid"): index for index, row in enumerate(messages)}
    for row in rows:
        yield AskedQuestion(
            text=str(row["q"]),
            answer=str(row["a"]),
            evidence=tuple(place[id] for id in row["evidence"]),
            kind=str(row.get("cat", "")),
        )


def cut_cases(
    messages: tuple[Message, ...], set: str, name: str, count: Count, *, once: bool = True
) -> Iterator[Case]:
    """Cut a conversation where it can tell what was needed; else take it whole.

    In a short one several shares lead to one cut, which is taken once; public sets are counted with all of them.
    """
    found: dict[int, float] = {}
    for share in CUTS:
        cut = cut_at(messages, share, count)
        telling = cut < len(messages) and len(needs_after(messages, cut).needed) >= FEWEST
        if telling and not (once and cut in found):
            found[cut] = share
            yield Case(
                name=f"{name} at {share:.0%}",
                group=name,
                set=set,
                messages=messages[:cut],
                future=messages[cut:],
            )
    if not found:
        yield Case(name=name, group=name, set=set, messages=messages)


def tree_cases(rows: Sequence[Mapping[str, Any]], set: str, name: str) -> Iterator[Case]:
    """Make a case of every branch of a tree."""
    by_id = {row["id"]: row for row in rows}
    parents = {row["parent_id"] for row in rows}
    said = {row["id"]: frozenset(content_words(row["content"])) for row in rows}
    everything = frozenset[str]().union(*said.values())
    for leaf in (id for id in by_id if id not in parents):
        path: list[Mapping[str, Any]] = []
        at: str | None = leaf
        while at:
            path.insert(0, by_id[at])
            at = by_id[at]["parent_id"]
        own = frozenset[str]().union(*(said[row["id"]] for row in path))
        yield Case(
            name=f"{name} to {leaf}",
            group=name,
            set=set,
            messages=tuple(Message(role=row["role"], parts=(Text(text=row["content"]),)) for row in path),
            elsewhere=everything - own,
        )
