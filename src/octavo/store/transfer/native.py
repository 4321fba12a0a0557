"""Octavo's own JSON Lines: one line for each conversation, message, snapshot, setting and pin, and one at the end.

What was recalled for a message is a line, too. Written and read again it is the same. Parents come before their
children. The last line of a conversation counts what came before it, so a file that was cut off is noticed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any, TextIO, get_args

import sqlalchemy as sa

from octavo.core.json_values import (
    Json,
    JsonObject,
    compact,
    take_count,
    take_inner,
    take_list,
    take_object,
    take_optional,
    take_text,
)
from octavo.core.message_json import dump, load
from octavo.core.messages import Status
from octavo.core.recall.passages import Passage
from octavo.core.snapshot import Channel, Extract, Kind, Snapshot, State
from octavo.errors import BadInput, UsageError
from octavo.store import rows
from octavo.store.connection import Connection
from octavo.store.conversations import ConversationStore
from octavo.store.labels import LabelStore, checked_labels
from octavo.store.parts import Packed, unpack
from octavo.store.passages import PassageStore
from octavo.store.pins import PinStore
from octavo.store.schema import large_text, message, message_token
from octavo.store.settings import SettingStore
from octavo.store.snapshots import SnapshotStore
from octavo.store.transfer.items import (
    ConversationEnd,
    ConversationStart,
    Item,
    MessageItem,
    PinItem,
    RecalledItem,
    SettingItem,
    SnapshotItem,
    TipItem,
)
from octavo.store.transfer.source import SourceValue
from octavo.store.tree import PAGE
from octavo.store.values import Entry, ForConversation, PinPlace

VERSION = 2
WITHOUT_RECALL = 1
"""The version that says nothing of what was recalled: older programs read it."""
_STATUSES: tuple[str, ...] = get_args(Status)

Write = Callable[[str], object]


def line_of(value: JsonObject) -> str:
    """Write a line; lone surrogates, which UTF-8 has no form for, are written as JSON escapes."""
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", compact(value)) + "\n"


async def export(connection: Connection, conversations: Sequence[str], file: TextIO) -> None:
    """Write conversations; to be run in one view of the database, again from the start if it was interrupted."""
    file.seek(0)
    file.truncate()

    def write(line: str) -> None:
        try:
            file.write(line)
        except OSError as error:
            # Reported here, because the store would take an error of the operating system for one of the database.
            raise UsageError(f"cannot write {file.name}: {error.strerror or error}") from error

    for id in conversations:
        await _export_one(connection, id, write)


async def _export_one(connection: Connection, conversation_id: str, write: Write) -> None:
    counted: Counter[str] = Counter()

    def tell(kind: str, **values: Any) -> None:
        counted[kind] += 1
        said = {key: value for key, value in values.items() if value not in (None, "", {}, [])}
        write(line_of({"type": kind, **said}))

    found = await ConversationStore.within(connection).get(conversation_id)
    recalled = await PassageStore.within(connection).of_conversation(found.id)
    labels = (await LabelStore.within(connection).of(found.id))[found.id]
    tell(
        "conversation",
        octavo=VERSION if recalled else WITHOUT_RECALL,
        id=found.id,
        title=found.title,
        owner=found.owner,
        created=found.created,
        updated=found.updated,
        archived=found.archived or None,
        labels=[*labels],
        tip=found.tip,
    )
    async for values in _messages(connection, found.id):
        tell("message", **values)
    for snapshot in await SnapshotStore.within(connection).of_conversation(found.id):
        place = {
            key: value for key, value in rows.snapshot_row(snapshot, found.id).items() if key not in _DERIVED
        }
        tell("snapshot", **{**place, "digest": snapshot.digest.hex()})
    settings = await SettingStore.within(connection).of_scope(ForConversation(found.id))
    for key, value in settings.items():
        # Boxed, because null is a value a setting can have.
        tell("setting", key=key, value=[value])
    for pin in await PinStore.within(connection).of_conversation(found.id):
        tell("pin", node=pin.node, start=pin.start, stop=pin.stop)
    for node, passages in recalled.items():
        tell("recalled", node=node, passages=[asdict(passage) for passage in passages])
    del counted["conversation"]
    write(line_of({"type": "end", **counted}))


_STATUS = {"complete": None, "streaming": "aborted"}
"""The usual state is left out; in a file, an answer that is being written counts as one that broke off."""
_DERIVED = ("conversation_id", "first_id", "carried_id", "previous_id")


async def _messages(connection: Connection, conversation_id: str) -> Any:
    m, after = message, 0
    page = sa.select(m).where(m.c.conversation_id == conversation_id).order_by(m.c.n).limit(PAGE)
    while found := (await connection.execute(page.where(m.c.n > after))).all():
        counts = await _counts(connection, [row.id for row in found])
        texts = await _texts(connection, [row.id for row in found if row.large])
        for row in found:
            said = unpack(row.role, Packed(row.text, row.parts, rows.large(texts, row.id)))
            yield {
                "id": row.id,
                "parent": row.parent_id,
                "message": dump(said),
                "status": _STATUS.get(row.status, row.status),
                "counts": counts.get(row.id),
                "input_tokens": row.input_tokens,
                "output_tokens": row.output_tokens,
                "model": row.model,
                "created": None if row.created is None else rows.time_text(row.created),
            }
        after = found[-1].n


async def _counts(connection: Connection, ids: Sequence[str]) -> dict[str, dict[str, int]]:
    t = message_token
    counts: dict[str, dict[str, int]] = {}
    for row in await connection.execute(sa.select(t).where(t.c.message_id.in_(ids)).order_by(t.c.tokenizer)):
        counts.setdefault(row.message_id, {})[row.tokenizer] = row.tokens
    return counts


async def _texts(connection: Connection, ids: Sequence[str]) -> rows.Texts:
    t = large_text
    texts: rows.Texts = {}
    if ids:
        for row in await connection.execute(sa.select(t).where(t.c.message_id.in_(ids))):
            texts.setdefault(row.message_id, {}).setdefault(row.piece, {})[row.chunk] = row.text
    return texts


def read_native(values: Iterator[SourceValue]) -> Iterator[Item]:
    """Read what `export` wrote."""
    tree, counted, line = "", Counter[str](), 0
    for value in values:
        data, where, line = take_object(value.value, value.where), value.where, value.line
        kind = take_text(data, "type", where)
        if kind == "conversation":
            tree, counted = take_text(data, "id", where), Counter()
            yield from _opening(data, value.line, where)
        elif kind == "end":
            _check_end(data, counted, where)
            yield ConversationEnd(line=line, tree=tree)
            tree = ""
        else:
            counted[kind] += 1
            yield _read(kind, data, tree, value.line, where)
    if tree:
        raise BadInput(f"line {line}", "the file ends before the conversation does: it was cut off")


def _opening(data: JsonObject, line: int, where: str) -> Iterator[Item]:
    if take_count(data, "octavo", where) > VERSION:
        raise BadInput(f"{where}.octavo", "written by a newer Octavo; update this one to read it")
    id = take_text(data, "id", where)
    yield ConversationStart(
        line=line,
        tree=id,
        id=id,
        title=take_optional(data, "title", where),
        owner=take_optional(data, "owner", where),
        created=take_optional(data, "created", where),
        updated=take_optional(data, "updated", where),
        archived=data.get("archived") is True,
        labels=_labels(data, where),
    )
    if tip := take_optional(data, "tip", where):
        yield TipItem(line=line, tree=id, key=tip)


def _labels(data: JsonObject, where: str) -> tuple[str, ...]:
    if "labels" not in data:
        return ()
    given = [label for label in take_list(data, "labels", where) if isinstance(label, str)]
    try:
        return checked_labels(given)
    except BadInput as error:
        raise BadInput(f"{where}.labels", error.problem) from error


def _check_end(data: JsonObject, counted: Counter[str], where: str) -> None:
    expected = {key: value for key, value in data.items() if key != "type"}
    if expected != dict(counted):
        raise BadInput(where, f"lines are missing: {expected} were written, {dict(counted)} are here")


def _read(kind: str, data: JsonObject, tree: str, line: int, where: str) -> Item:
    match kind:
        case "message":
            parent = take_optional(data, "parent", where) or None
            entry = _entry(data, where)
            return MessageItem(line=line, tree=tree, key=entry.id or "", parent=parent, entry=entry)
        case "snapshot":
            return SnapshotItem(line=line, tree=tree, snapshot=_snapshot(data, where))
        case "setting":
            value = take_list(data, "value", where)
            return SettingItem(
                line=line, tree=tree, key=take_text(data, "key", where), value=value[0] if value else None
            )
        case "pin":
            start, stop = take_count(data, "start", where), take_count(data, "stop", where)
            return PinItem(
                line=line,
                tree=tree,
                pin=PinPlace(node=take_text(data, "node", where), start=start, stop=stop),
            )
        case "recalled":
            passages = enumerate(take_list(data, "passages", where))
            return RecalledItem(
                line=line,
                tree=tree,
                node=take_text(data, "node", where),
                passages=tuple(_passage(one, f"{where}.passages[{i}]") for i, one in passages),
            )
        case other:
            raise BadInput(f"{where}.type", f"unknown kind of line {other!r}")


def _entry(data: JsonObject, where: str) -> Entry:
    status = take_text(data, "status", where, "complete")
    if status not in _STATUSES:
        raise BadInput(f"{where}.status", f"unknown status {status!r}; one of {', '.join(_STATUSES)}")
    counts = take_inner(data, "counts", where) if data.get("counts") is not None else {}
    return Entry(
        message=load(data.get("message"), f"{where}.message"),
        id=take_text(data, "id", where),
        status=status,  # type: ignore[arg-type]
        counts={name: take_count(counts, name, f"{where}.counts") for name in counts},
        input_tokens=take_count(data, "input_tokens", where) if "input_tokens" in data else None,
        output_tokens=take_count(data, "output_tokens", where) if "output_tokens" in data else None,
        model=take_optional(data, "model", where),
        created=take_optional(data, "created", where),
    )


def _snapshot(data: JsonObject, where: str) -> Snapshot:
    try:
        snapshot = rows.snapshot_of(
            take_inner(data, "content", where),
            id=take_text(data, "id", where),
            cutoff=take_text(data, "cutoff_id", where),
            cutoff_depth=take_count(data, "cutoff_depth", where),
            anchor=take_text(data, "anchor_id", where),
            anchor_depth=take_count(data, "anchor_depth", where),
            version=take_count(data, "version", where),
            state=take_text(data, "state", where),
            digest=bytes.fromhex(take_optional(data, "digest", where)),
        )
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(where, f"not a snapshot: {type(error).__name__} {error}") from error
    _check_types(snapshot, f"{where}.content")
    for i, extract in enumerate(snapshot.extracts):
        _check_types(extract, f"{where}.content.extracts[{i}]")
    return snapshot


def _passage(value: Json, where: str) -> Passage:
    data = take_object(value, where)
    channel = take_text(data, "channel", where)
    if channel not in get_args(Channel):
        raise BadInput(f"{where}.channel", f"unknown channel {channel!r}")
    return Passage(
        source=take_text(data, "source", where),
        depth=take_count(data, "depth", where),
        channel=channel,  # type: ignore[arg-type]
        text=take_text(data, "text", where),
        part=take_count(data, "part", where),
        start=take_count(data, "start", where),
        speaker=take_optional(data, "speaker", where),
        day=take_optional(data, "day", where),
        opens=data.get("opens") is True,
        closes=data.get("closes") is True,
        label=take_optional(data, "label", where),
    )


def _check_types(value: Snapshot | Extract, where: str) -> None:
    """Check that fields are of the type of their defaults: a file may say anything."""
    for field in fields(value):
        found, like = getattr(value, field.name), "" if field.default in (MISSING, None) else field.default
        if field.default is None and found is None:
            continue
        if type(found) is not type(like) and field.name not in ("cutoff_depth", "anchor_depth"):
            raise BadInput(
                f"{where}.{field.name}", f"expected {type(like).__name__}, got {type(found).__name__}"
            )
    if isinstance(value, Snapshot) and (
        value.kind not in get_args(Kind) or value.state not in get_args(State)
    ):
        raise BadInput(where, f"unknown kind {value.kind!r} or state {value.state!r}")
