"""Rows to values and back, in one place.

A line is a row of the common shape that `walk.py` selects; `gather` puts the lines of one statement together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, get_args

import sqlalchemy as sa

from octavo.core.json_values import JsonObject
from octavo.core.messages import ROLES, Attachment, Branch, Message, Node, Role, Status
from octavo.core.snapshot import DroppedLine, Extract, Snapshot, export
from octavo.errors import BadInput
from octavo.store import walk
from octavo.store.ids import made_at
from octavo.store.parts import Packed, chunks, unpack
from octavo.store.values import ApiKey, Conversation, Entry, Job

Row = sa.Row[*tuple[Any, ...]]

_ROLES: Mapping[str, Role] = {role: role for role in ROLES}
_STATUSES: Mapping[str, Status] = {status: status for status in get_args(Status)}
"""The one string for each: a database gives another one for every row."""


def now() -> int:
    """Give the time in milliseconds since 1970."""
    return int(datetime.now(UTC).timestamp() * 1000)


def time_text(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


def time_value(text: str, where: str = "created") -> int:
    """Read a time; what names no zone is taken as UTC."""
    try:
        found = datetime.fromisoformat(text)
        return round(found.replace(tzinfo=found.tzinfo or UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise BadInput(where, f"expected an ISO 8601 time, got {text[:40]!r}") from None


Texts = dict[str, dict[int, dict[int, str]]]
"""Chunks of large texts, by message, piece and number."""


@dataclass(slots=True)
class Gathered:
    """The lines of one statement, put together."""

    nodes: Branch = ()
    leading: Branch = ()
    carried: Branch = ()
    snapshot: Snapshot | None = None


def gather(lines: Iterable[Row], tokenizer: str | None = None, *, previews: bool = False) -> Gathered:
    """Make nodes, in order of depth, and the snapshot of the lines of one statement."""
    texts: Texts = {}
    nodes: dict[int, list[Node]] = {walk.NODE: [], walk.LEADING: [], walk.CARRIED: []}
    gathered = Gathered()
    waiting = []
    for line in lines:
        match line[0]:
            case walk.LARGE:
                texts.setdefault(line.id, {}).setdefault(line.depth, {})[line.number] = line.text
            case walk.SNAPSHOT:
                gathered.snapshot = _snapshot_line(line)
            case _:
                waiting.append(line)
    shared = _Shared(tokenizer)
    for line in waiting:
        nodes[line[0]].append(_node(line, texts, shared, previews))
    gathered.nodes, gathered.leading = (
        tuple(sorted(nodes[k], key=_by_depth)) for k in (walk.NODE, walk.LEADING)
    )
    gathered.carried = tuple(nodes[walk.CARRIED])
    return gathered


def _by_depth(node: Node) -> tuple[int, str]:
    return node.depth, node.id


class _Shared:
    """What many nodes of a branch have in common, held once: a third of what a short message takes."""

    def __init__(self, tokenizer: str | None) -> None:
        self._tokenizer = tokenizer
        self._counts: dict[int | None, dict[str, int]] = {None: {}}
        self._ids: dict[str, str] = {}

    def counts(self, tokens: int | None) -> Mapping[str, int]:
        if self._tokenizer is None:
            tokens = None
        found = self._counts.get(tokens)
        if found is None:
            found = self._counts[tokens] = {str(self._tokenizer): int(tokens or 0)}
        return found

    def id(self, id: str) -> str:
        return self._ids.setdefault(id, id)


def _node(line: Row, texts: Texts, shared: _Shared, previews: bool) -> Node:  # noqa: FBT001
    # Unpacked at once: asking a row for its columns by name costs as much as all the rest of this function.
    _, id, parent, _, depth, tokens, _, role, status, _, text, parts = tuple(line)
    return Node(
        id=shared.id(id),
        parent=None if parent is None else shared.id(parent),
        depth=depth,
        message=unpack(_ROLES[role], Packed(text, parts, large(texts, id)), previews=previews),
        status=_STATUSES[status],
        counts=shared.counts(tokens),
    )


def large(texts: Texts, message_id: str) -> tuple[str, ...]:
    """Join the chunks of a message's large texts."""
    pieces = texts.get(message_id)
    if not pieces:
        return ()
    return tuple("".join(chunks[k] for k in sorted(chunks)) for _, chunks in sorted(pieces.items()))


def message_row(entry: Entry, packed: Packed, place: Mapping[str, Any]) -> dict[str, Any]:
    """Lay an entry out for the message table; `place` says where in the tree it stands."""
    return {
        **place,
        "role": entry.message.role,
        "status": entry.status,
        "input_tokens": entry.input_tokens,
        "output_tokens": entry.output_tokens,
        "created": time_value(entry.created) if entry.created else None,
        "model": entry.model or None,
        "large": len(packed.large),
        "text": packed.text,
        "parts": packed.parts,
    }


def large_rows(place: Mapping[str, Any], ids: Iterable[str], packed: Packed) -> list[dict[str, Any]]:
    above = {"message_id": place["id"], "conversation_id": place["conversation_id"]}
    return [
        {"id": id, **above, "piece": piece, "chunk": k, "text": chunk}
        for piece, (id, text) in enumerate(zip(ids, packed.large, strict=True))
        for k, chunk in enumerate(chunks(text))
    ]


def attachment_rows(message_id: str, conversation_id: str, message: Message) -> list[dict[str, Any]]:
    inside = (
        piece for result in message.results for piece in result.content if isinstance(piece, Attachment)
    )
    return [
        {
            "message_id": message_id,
            "position": position,
            "conversation_id": conversation_id,
            "name": file.name,
            "media_type": file.media_type,
            "size": file.size,
        }
        for position, file in enumerate((*message.attachments, *inside))
    ]


def token_rows(message_id: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {"message_id": message_id, "tokenizer": name, "tokens": tokens} for name, tokens in counts.items()
    ]


def conversation_row(
    id: str,
    *,
    owner: str,
    title: str,
    created: int,
    updated: int,
    messages: int = 0,
    archived: int | None = None,
) -> dict[str, Any]:
    """Lay a conversation that begins out for its table."""
    return {
        "id": id,
        "owner": owner,
        "title": title,
        "messages": messages,
        "deletions": 0,
        "revision": 0,
        "created": created,
        "updated": updated,
        "archived": archived,
    }


def conversation(row: Row) -> Conversation:
    return Conversation(
        id=row.id,
        owner=row.owner,
        title=row.title,
        tip=row.tip_id,
        messages=row.messages,
        created=time_text(row.created),
        updated=time_text(row.updated),
        archived=row.archived is not None,
        deleted=row.hidden is not None,
        revision=row.revision,
    )


_COLUMNS = ("id", "cutoff", "cutoff_depth", "anchor", "anchor_depth", "version", "state", "digest")
_RECORD = {
    "summary": "summaryText",
    "created": "compressionTimestamp",
    "tokens_before": "originalTokenCount",
    "tokens_after": "summaryTokenCount",
    "messages": "messagesIncluded",
}
"""Fields of a snapshot that FR-4.2.1 has its own names for."""
_MORE = tuple(
    field for field in fields(Snapshot) if field.name not in {*_COLUMNS, *_RECORD, "first", "extracts"}
)

_PIECES = tuple((field.name, field.default) for field in fields(Extract))


def snapshot_row(snapshot: Snapshot, conversation_id: str) -> dict[str, Any]:
    return {
        "id": snapshot.id,
        "conversation_id": conversation_id,
        "first_id": snapshot.first,
        "cutoff_id": snapshot.cutoff,
        "cutoff_depth": snapshot.cutoff_depth,
        "anchor_id": snapshot.anchor,
        "anchor_depth": snapshot.anchor_depth,
        "carried_id": snapshot.carried,
        "previous_id": snapshot.previous,
        "version": snapshot.version,
        "state": snapshot.state,
        "digest": snapshot.digest,
        "content": snapshot_content(snapshot),
    }


def snapshot_content(snapshot: Snapshot) -> JsonObject:
    """The record of FR-4.2.1, with what else is known; places in the tree and the state are columns."""
    more = {field.name: getattr(snapshot, field.name) for field in _MORE}
    return {**export(snapshot), "extracts": [_pieces(extract) for extract in snapshot.extracts], **more}


def _pieces(extract: Extract) -> JsonObject:
    """What an extract has of its own: there are many of them, and most fields are as usual."""
    return {name: value for name, usual in _PIECES if (value := getattr(extract, name)) != usual}


def snapshot(row: Row) -> Snapshot:
    """Make a snapshot of a row of its table."""
    return snapshot_of(
        row.content,
        id=row.id,
        cutoff=row.cutoff_id,
        cutoff_depth=row.cutoff_depth,
        anchor=row.anchor_id,
        anchor_depth=row.anchor_depth,
        version=row.version,
        state=row.state,
        digest=row.digest,
    )


def _snapshot_line(row: Row) -> Snapshot:
    return snapshot_of(
        json.loads(row.text),
        id=row.id,
        cutoff=row.other,
        cutoff_depth=row.cutoff,
        anchor=row.link,
        anchor_depth=row.depth,
        version=row.number,
        state=row.role,
        digest=row.digest,
    )


def snapshot_of(content: Mapping[str, Any], **columns: Any) -> Snapshot:
    record = {name: content[key] for name, key in _RECORD.items()}
    more = {field.name: content[field.name] for field in _MORE if field.name in content}
    more["answers"] = tuple(map(str, more.get("answers", ())))
    more["files"] = tuple(more.get("files", ()))
    more["dropped"] = tuple(DroppedLine(str(text), int(depth)) for text, depth in more.get("dropped", ()))
    extracts = tuple(_extract(one) for one in content["extracts"])
    first = content["messageRange"]["firstMessageId"]
    return Snapshot(**columns, **record, **more, first=first, extracts=extracts)


def _extract(values: Mapping[str, Any]) -> Extract:
    return Extract(**{field.name: values[field.name] for field in fields(Extract) if field.name in values})


def emptied(snapshot: Snapshot) -> Snapshot:
    """Retire a snapshot and keep only its place and its numbers: the rest may hold words of deleted messages."""
    return Snapshot(
        id=snapshot.id,
        first=snapshot.first,
        cutoff=snapshot.cutoff,
        cutoff_depth=snapshot.cutoff_depth,
        anchor=snapshot.anchor,
        anchor_depth=snapshot.anchor_depth,
        summary="",
        carried=snapshot.carried,
        previous=snapshot.previous,
        kind=snapshot.kind,
        version=snapshot.version,
        state="retired",
        messages=snapshot.messages,
        tokens_before=snapshot.tokens_before,
        tokens_after=snapshot.tokens_after,
        model=snapshot.model,
        prompt=snapshot.prompt,
        created=snapshot.created,
    )


def job(row: Row) -> Job:
    return Job(
        id=row.id,
        conversation=row.conversation_id,
        anchor=row.anchor_id,
        trigger=row.trigger,
        status=row.status,
        worker=row.worker,
        attempt=row.attempt,
        lease=(row.lease_until - row.clock) / 1000,
        progress=row.progress,
        error=row.error,
        snapshot=row.snapshot_id,
    )


def api_key(row: Row) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        owner=row.owner,
        prefix=row.prefix,
        scopes=tuple(row.scopes),
        created=time_text(made_at(row.id)),
        used=None if row.used is None else time_text(row.used),
        revoked=row.revoked is not None,
    )
