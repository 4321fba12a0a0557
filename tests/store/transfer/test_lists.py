"""Message lists and plain lines: which of them belong together, and what a block in them stands for."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.core.messages import Message, assistant, user
from octavo.errors import BadInput
from octavo.store.transfer.formats import read_items
from octavo.store.transfer.items import (
    ConversationEnd,
    ConversationStart,
    Item,
    MessageItem,
    SnapshotItem,
)
from octavo.store.transfer.lists import IMPORTED, ROUGHLY
from octavo.store.transfer.source import SourceValue


def read(*values: Any, format: Any = None) -> list[Item]:
    lines = (SourceValue(number, value) for number, value in enumerate(values, start=4))
    return [*read_items(lines, format)]


def said(items: list[Item]) -> list[Message]:
    return [one.entry.message for one in items if isinstance(one, MessageItem)]


def trees(items: list[Item]) -> list[tuple[str, int]]:
    """Name the conversations, and how many messages each has; each ends once all its messages were said."""
    starts = [one.tree for one in items if isinstance(one, ConversationStart)]
    found = [one for one in items if isinstance(one, MessageItem)]
    return [(tree, sum(one.tree == tree for one in found)) for tree in starts]


HI, HO = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}


def test_lines_that_are_messages_are_one_conversation_and_each_list_is_its_own() -> None:
    assert trees(read(HI, {"messages": [HI, HO], "title": "T"}, HO)) == [("5", 2), ("4", 2)]
    items = read({"messages": [HI, HO], "title": "T"})
    assert isinstance(items[0], ConversationStart)
    assert (items[0].title, items[0].line) == ("T", 4)
    assert items[-1] == ConversationEnd(line=4, tree="4")
    assert said(items) == [user("hi"), assistant("ho")]
    assert [one.parent for one in items if isinstance(one, MessageItem)][1] == items[1].key  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [HI]},
        HI,
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "user", "blocks": [{"type": "text", "content": "hi"}]},
        {"role": "user", "id": 1, "parent_id": None, "content": "hi"},
        {"message_tree_id": "t", "message_id": "a", "role": "prompter", "text": "hi"},
        {"message_tree_id": "t", "prompt": {"message_id": "a", "role": "prompter", "text": "hi"}},
        {"tree_id": "t", "messages": [{"id": "a", "parent_id": None, "role": "human", "content": "hi"}]},
        {"mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"text": "hi"}}}}},
        {"chat_messages": [{"uuid": "a", "sender": "human", "text": "hi"}]},
    ],
)
def test_a_file_tells_its_format(value: object) -> None:
    assert said(read(value)) == [user("hi")]


def test_what_tells_no_format_is_refused_with_those_there_are() -> None:
    for value in ({"role": "user"}, 5, {"octavo": 2}, {"tree_id": "t"}):
        with pytest.raises(BadInput, match=r"line 4: cannot tell the format of this file.*octavo, openai"):
            read(value)
    with pytest.raises(BadInput, match="unknown format 'word'; one of octavo"):
        read(HI, format="word")
    with pytest.raises(BadInput, match="the file is empty"):
        read()


def test_a_block_covers_what_stands_before_it_and_begins_where_the_last_one_ended() -> None:
    system = {"role": "system", "content": "Be brief."}
    blocks = [{"type": "compress", "content": text} for text in ("x" * 9, "later")]
    items = read({"messages": [system, HI, HO, blocks[0], HI, blocks[1], HO]})
    assert [found.text for found in said(items)] == ["Be brief.", "hi", "ho", "hi", "ho"]
    first, second = [one.snapshot for one in items if isinstance(one, SnapshotItem)]
    assert (first.summary, first.messages, first.cutoff_depth) == ("x" * 9, 2, 3)
    assert (second.summary, second.messages, second.cutoff_depth) == ("later", 3, 4)
    assert (first.previous, second.previous) == (None, first.id)
    assert (first.model, first.tokens_after, second.tokens_after) == (IMPORTED, 9 // ROUGHLY, 5 // ROUGHLY)
    assert [one.tokens_before for one in (first, second)] == [13 // ROUGHLY, 15 // ROUGHLY]
    assert first.created.startswith("20")


def test_what_is_wrong_beside_a_system_text_is_named_by_its_own_number() -> None:
    block = {"type": "compress", "content": "So far."}
    items = read({"system": "Be kind.", "messages": [HI, block, HO]})
    assert [found.text for found in said(items)] == ["Be kind.", "hi", "ho"]
    (found,) = [one.snapshot for one in items if isinstance(one, SnapshotItem)]
    assert (found.summary, found.cutoff_depth, found.messages) == ("So far.", 2, 1)
    with pytest.raises(BadInput) as raised:
        read({"system": "Be kind.", "messages": [HI, block, {"role": "king", "content": "x"}]})
    assert str(raised.value).startswith("line 4: messages[2].role")


def plain(id: object, parent: object, **more: object) -> dict[str, object]:
    return {"id": id, "parent_id": parent, "role": "user", "content": "hi", **more}


def test_plain_lines_name_their_parents_by_text_or_number() -> None:
    found = [one for one in read(plain(1, None), plain("b", 1)) if isinstance(one, MessageItem)]
    assert [(one.key, one.parent, one.line) for one in found] == [("1", None, 4), ("b", "1", 5)]
    for wrong, problem in (
        (plain(None, None), "line 4.id: a message needs an id"),
        (plain(True, None), "line 4.id: expected text or a number, got bool"),
        (plain(1, [2]), "line 4.parent_id: expected text or a number, got list"),
        (plain(1, None, role="king"), "line 4.role: unknown role 'king'; one of "),
        (plain(1, None, content=5), "line 4: messages[0].content"),
    ):
        with pytest.raises(BadInput) as raised:
            read(wrong)
        assert str(raised.value).startswith(problem)


def test_plain_lines_may_call_tools_and_say_when_they_were_written() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    calling = plain(1, None, role="model", content="", tool_calls=[call], created_date="2020-02-02")
    answering = plain(2, 1, role="tool", tool_call_id="c", content="done", created="2021-01-01", other=1)
    first, second = [one for one in read(calling, answering) if isinstance(one, MessageItem)]
    assert (first.entry.message.role, first.entry.message.calls[0].name) == ("assistant", "run")
    assert (second.entry.message.results[0].call_id, second.entry.message.results[0].text) == ("c", "done")
    assert (first.entry.created, second.entry.created) == ("2020-02-02", "2021-01-01")


def test_trees_of_openassistant_are_told_apart_and_their_replies_keep_their_order() -> None:
    def line(id: str, tree: str) -> dict[str, object]:
        return {"message_id": id, "message_tree_id": tree, "role": "prompter", "text": id}

    assert trees(read(line("a", "t"), line("b", "u"), line("c", "t"))) == [("t", 2), ("u", 1)]
    leaf = {"role": "assistant", "text": "x", "replies": None}
    replies = [
        {**leaf, "message_id": "b", "replies": [{**leaf, "message_id": "d"}]},
        {**leaf, "message_id": "c"},
    ]
    root = {"message_id": "a", "role": "prompter", "text": "x", "replies": replies}
    found = [one for one in read({"prompt": root, "message_tree_id": "t"}) if isinstance(one, MessageItem)]
    assert [(one.key, one.parent) for one in found] == [("a", None), ("b", "a"), ("d", "b"), ("c", "a")]
    with pytest.raises(BadInput, match=r"line 4\.replies: expected a list, got str"):
        read({"prompt": {**root, "replies": "none"}, "message_tree_id": "t"})
