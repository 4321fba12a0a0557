"""Claude's export: what is odd about it is read as well as it can be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from octavo.core.messages import Attachment, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from octavo.store.transfer.claude import read_claude
from octavo.store.transfer.items import ConversationStart, MessageItem
from octavo.store.transfer.source import SourceValue


def read(*messages: dict[str, Any]) -> list[MessageItem]:
    found = [*read_claude(iter([SourceValue(3, {"chat_messages": list(messages)})]))]
    assert isinstance(found[0], ConversationStart)
    return [one for one in found if isinstance(one, MessageItem)]


def human(uuid: str, **more: object) -> dict[str, Any]:
    return {"uuid": uuid, "sender": "human", **more}


def said(*blocks: object, **more: object) -> list[Message]:
    return [
        one.entry.message for one in read({"uuid": "1", "sender": "assistant", "content": [*blocks], **more})
    ]


def parts(*blocks: object, **more: object) -> tuple[object, ...]:
    (found,) = said(*blocks, **more)
    return found.parts


def test_each_message_stands_below_the_one_before_unless_it_names_its_parent() -> None:
    root = "00000000-0000-4000-8000-000000000000"
    result = {"type": "tool_result", "content": "found"}
    found = read(
        human("1", text="go"),
        {"uuid": "2", "sender": "assistant", "content": [{"type": "text", "text": "hm"}, result]},
        human("3", text="on"),
        human("4", text="on, rather", parent_message_uuid="2"),
        human("5", text="again", parent_message_uuid=root),
        human("6", text="once more", parent_message_uuid=""),
        human("7", text="late", parent_message_uuid="9"),
    )
    assert [(one.key, one.parent) for one in found] == [
        ("1", None),
        ("2", "1"),
        ("2#1", "2"),
        ("3", "2#1"),
        ("4", "2#1"),
        ("5", None),
        ("6", None),
        ("7", "9"),
    ]


def test_what_says_nothing_is_a_message_all_the_same() -> None:
    assert [one.entry.message for one in read(human("1", text=""))] == [Message(role="user", parts=())]


def test_blocks_say_it_all_and_the_text_only_where_there_are_none() -> None:
    block = {"type": "text", "text": "block"}
    assert parts(block, {"type": "text", "text": ""}, text="text") == (Text(text="block"),)
    assert parts(text="text") == (Text(text="text"),)
    assert parts({"type": "thinking", "thinking": "hm"}) == (Reasoning(text="hm"),)


def test_calls_and_their_answers_are_paired_by_their_ids_or_by_their_order() -> None:
    blocks = (
        {"type": "tool_use", "name": "a", "id": "x"},
        {"type": "tool_use", "name": "b", "input": {"q": 1}},
        {"type": "tool_result", "tool_use_id": "x", "content": "one", "is_error": True},
        {"type": "tool_result", "name": "b", "content": "two", "is_error": "no"},
    )
    calls, answers = said(*blocks)
    assert calls.calls == (
        ToolCall(id="x", name="a", input="{}"),
        ToolCall(id="1:1", name="b", input='{"q":1}'),
    )
    assert (answers.role, answers.results) == (
        "tool",
        (
            ToolResult(call_id="x", content=(Text(text="one"),), error=True),
            ToolResult(call_id="1:1", name="b", content=(Text(text="two"),)),
        ),
    )
    (alone,) = said({"type": "tool_result", "name": 5})
    assert alone.results == (ToolResult(call_id="1", content=()),)


def test_what_this_version_does_not_know_is_kept() -> None:
    (found,) = parts({"type": "hologram", "beam": 1})
    assert isinstance(found, Opaque)
    assert (found.kind, json.loads(found.wire.fields)) == ("hologram", {"type": "hologram", "beam": 1})
    (answer,) = said({"type": "tool_result", "content": [{"type": "text", "text": "a"}, {"type": "image"}]})
    first, second = answer.results[0].content
    assert first == Text(text="a")
    assert isinstance(second, Opaque)
    assert json.loads(second.wire.fields) == {"piece": {"type": "image"}}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (
            {"file_name": "a", "file_type": "txt", "file_size": 1, "extracted_content": "é"},
            Attachment(name="a", media_type="txt", size=1, source="data:text/plain;charset=utf-8,%C3%A9"),
        ),
        ({"file_name": 5, "file_type": 5, "file_size": -1, "extracted_content": ""}, Attachment(name="")),
        ({"file_name": "a", "file_size": "large", "extracted_content": 5}, Attachment(name="a")),
    ],
)
def test_files_come_with_their_message(file: dict[str, Any], expected: Attachment) -> None:
    assert parts(text="see", attachments=[file], files="none") == (Text(text="see"), expected)
    assert parts(text="see", files=[file]) == (Text(text="see"), expected)
