"""Message lists as clients have them (OpenAI, Anthropic, Gemini, Wave), and plain lines with `id` and `parent_id`.

A list is one conversation, and a `compress` block in it becomes the snapshot of what stands before it. A file holds one
list, or an object with `messages` in each line. Plain lines are a tree, also as OpenAssistant publishes them: flat, as
a list for each tree, or nested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, get_args

from octavo.core import wire
from octavo.core.json_values import Json, JsonObject, take_list, take_object, take_optional, take_text
from octavo.core.messages import Branch, Message, Role, Text, place
from octavo.core.snapshot import Snapshot, draft
from octavo.core.split import lead
from octavo.core.wire.wave import CompressBlock, read_block, read_wave
from octavo.errors import BadInput
from octavo.store import rows
from octavo.store.ids import new_id
from octavo.store.parts import admit
from octavo.store.transfer.items import ConversationEnd, ConversationStart, Item, MessageItem, SnapshotItem
from octavo.store.transfer.source import SourceValue
from octavo.store.values import Entry

_ROLES: dict[str, Role] = {
    **{role: role for role in get_args(Role)},
    "human": "user",
    "prompter": "user",
    "model": "assistant",
    "bot": "assistant",
    "developer": "system",
}


IMPORTED = "imported"
"""Who wrote the summary of a snapshot that came with a file."""
ROUGHLY = 4
"""Characters of a token, for what nobody has counted yet."""


def read_list(format: wire.Format | Literal["wave"] | None, values: Iterator[SourceValue]) -> Iterator[Item]:
    """Read message lists; without a format, each list is looked at to find its own."""
    loose: list[Json] = []
    first = 0
    for value in values:
        data = take_object(value.value, value.where)
        if "messages" in data:
            messages = take_list(data, "messages", value.where)
            yield from _conversation(format, messages, data, value.line)
        else:
            first = first or value.line
            loose.append(data)
    if loose:
        yield from _conversation(format, loose, {}, first)


def _conversation(
    format: wire.Format | Literal["wave"] | None, messages: list[Json], about: JsonObject, line: int
) -> Iterator[Item]:
    where, tree = f"line {line}", str(line)
    try:
        found = _with_blocks(format, messages, about.get("system"))
    except BadInput as error:
        raise BadInput(f"{where}: {error.where}", error.problem) from error
    branch, snapshots = _with_snapshots(found)
    yield ConversationStart(line=line, tree=tree, title=take_optional(about, "title", where))
    for node in branch:
        entry = Entry(message=node.message)
        yield MessageItem(line=line, tree=tree, key=node.id, parent=node.parent, entry=entry)
    for snapshot in snapshots:
        yield SnapshotItem(line=line, tree=tree, snapshot=snapshot)
    yield ConversationEnd(line=line, tree=tree)


def _with_blocks(
    format: wire.Format | Literal["wave"] | None, messages: list[Json], system: Json
) -> tuple[Message | CompressBlock, ...]:
    """Read a list of any format; `compress` blocks stay what they are, at their places."""
    if format == "wave" or (format is None and any(isinstance(m, dict) and "blocks" in m for m in messages)):
        return read_wave(messages)
    blocks = {
        i: block
        for i, message in enumerate(messages)
        if isinstance(message, dict) and (block := read_block(message, f"messages[{i}]")) is not None
    }
    # Words in place of each block, so that what is wrong further on is named by its own number.
    shown: list[Json] = [
        {"role": "user", "content": "-", "parts": [{"text": "-"}]} if i in blocks else message
        for i, message in enumerate(messages)
    ]
    others = [message for i, message in enumerate(messages) if i not in blocks]
    chosen = format or ("anthropic" if system is not None else wire.detect(others))
    read = wire.read(chosen, shown, system)
    ahead = len(read) - len(messages)
    return tuple(blocks.get(i - ahead, message) for i, message in enumerate(read))


def _with_snapshots(found: Iterable[Message | CompressBlock]) -> tuple[Branch, list[Snapshot]]:
    """Turn each block into the snapshot of what stands before it.

    Where a session kept nothing of that, the block's own words are a message, and that is what the snapshot covers.
    """
    said: list[Message] = []
    cuts: list[tuple[int, str]] = []
    for one in found:
        if isinstance(one, Message):
            said.append(admit(one))
            continue
        if len(said) == (cuts[-1][0] if cuts else lead(said)):
            said.append(admit(one.message))
        cuts.append((len(said), one.summary))
    branch, snapshots = place(said), list[Snapshot]()
    for cut, summary in cuts:
        previous = snapshots[-1] if snapshots else None
        made = draft(branch[:cut], cut, id=new_id(), summary=summary, previous=previous)
        covered = sum(len(node.message.text) for node in branch[:cut])
        snapshots.append(
            replace(
                made,
                model=IMPORTED,
                tokens_before=covered // ROUGHLY,
                tokens_after=len(summary) // ROUGHLY,
                created=rows.time_text(rows.now()),
            )
        )
    return branch, snapshots


def read_plain(values: Iterator[SourceValue]) -> Iterator[Item]:
    """Read one tree of plain lines."""
    opened = False
    for value in values:
        if not opened:
            yield ConversationStart(line=value.line, tree="")
            opened = True
        data = take_object(value.value, value.where)
        yield _said(data, value.line, "", id="id", content="content")


def read_openassistant(values: Iterator[SourceValue]) -> Iterator[Item]:
    """Read OpenAssistant's trees in any of their three shapes."""
    trees: set[str] = set()
    for value in values:
        data, line = take_object(value.value, value.where), value.line
        if "prompt" in data:
            yield from _whole(_nested(data, value), line)
        elif "messages" in data:
            listed = take_list(data, "messages", value.where)
            each = (take_object(one, f"{value.where}.messages[{i}]") for i, one in enumerate(listed))
            yield from _whole((_said(one, line, str(line), id="id", content="content") for one in each), line)
        else:
            tree = take_text(data, "message_tree_id", value.where)
            if tree not in trees:
                trees.add(tree)
                yield ConversationStart(line=line, tree=tree)
            yield _said(data, line, tree, id="message_id", content="text")


def _whole(messages: Iterable[MessageItem], line: int) -> Iterator[Item]:
    yield ConversationStart(line=line, tree=str(line))
    yield from messages
    yield ConversationEnd(line=line, tree=str(line))


def _nested(data: JsonObject, value: SourceValue) -> Iterator[MessageItem]:
    waiting: list[tuple[Json, str | None]] = [(data["prompt"], None)]
    while waiting:
        found, parent = waiting.pop()
        one = take_object(found, f"{value.where}.prompt")
        said = _said(
            {**one, "parent_id": parent}, value.line, str(value.line), id="message_id", content="text"
        )
        yield said
        replies = one.get("replies") or []
        if not isinstance(replies, list):
            raise BadInput(f"{value.where}.replies", f"expected a list, got {type(replies).__name__}")
        waiting += [(reply, said.key) for reply in reversed(replies)]


def _said(data: JsonObject, line: int, tree: str, *, id: str, content: str) -> MessageItem:
    where = f"line {line}"
    key = _name(data, id, where)
    if key is None:
        raise BadInput(f"{where}.{id}", "a message needs an id")
    created = take_optional(data, "created", where) or take_optional(data, "created_date", where)
    return MessageItem(
        line=line,
        tree=tree,
        key=key,
        parent=_name(data, "parent_id", where),
        entry=Entry(message=_message(data, content, where), created=created),
    )


def _name(data: JsonObject, key: str, where: str) -> str | None:
    """Take an id: text or a number."""
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadInput(f"{where}.{key}", f"expected text or a number, got {type(value).__name__}")
    return str(value)


def _message(data: JsonObject, content: str, where: str) -> Message:
    role = take_text(data, "role", where)
    if role not in _ROLES:
        raise BadInput(f"{where}.role", f"unknown role {role!r}; one of {', '.join(_ROLES)}")
    said = data.get(content)
    if isinstance(said, str) and "tool_calls" not in data and role != "tool":
        return Message(role=_ROLES[role], parts=(Text(text=said),))
    known = ("content", "name", "tool_calls", "tool_call_id", "refusal")
    fields: JsonObject = {"role": _ROLES[role], **{key: data[key] for key in known if key in data}}
    try:
        (message,) = wire.read("openai", [fields])
    except BadInput as error:
        raise BadInput(f"{where}: {error.where}", error.problem) from error
    return message
