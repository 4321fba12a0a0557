"""ChatGPT's export: what is odd about it is read as well as it can be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    user,
)
from octavo.store.transfer.chatgpt import read_chatgpt
from octavo.store.transfer.items import ConversationEnd, ConversationStart, Item, MessageItem, TipItem
from octavo.store.transfer.source import SourceValue


def read(mapping: dict[str, Any], **more: Any) -> list[Item]:
    found = [*read_chatgpt(iter([SourceValue(7, {"mapping": mapping, **more})]))]
    assert isinstance(found[0], ConversationStart)
    assert found[-1] == ConversationEnd(line=7, tree="7")
    return found


def node(content: object, parent: object = None, role: str = "user", **more: object) -> dict[str, Any]:
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, **more}}


def plain(*parts: object) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}


def message(content: object, role: str = "user", **more: object) -> Message | None:
    """Read a message; None if it says nothing."""
    found = [one for one in read({"a": node(content, role=role, **more)}) if isinstance(one, MessageItem)]
    return found[0].entry.message if found else None


def parts(content: object, **more: Any) -> tuple[object, ...]:
    found = message(content, **more)
    return found.parts if found else ()


def test_messages_come_parents_first_and_stand_below_the_nearest_that_says_something() -> None:
    mapping = {
        "c": node(plain("third"), "empty"),
        "empty": node(plain(""), "b"),
        "b": node(plain("second"), "a"),
        "a": node(plain("first"), "nobody"),
        "d": node(plain("also a root"), 5),
        "nothing": {"parent": "c", "message": None},
    }
    found = [(one.key, one.parent) for one in read(mapping) if isinstance(one, MessageItem)]
    assert found == [("a", None), ("b", "a"), ("c", "b"), ("d", None)]
    tips = {
        shown: [one.key for one in read(mapping, current_node=shown) if isinstance(one, TipItem)]
        for shown in ("c", "empty", "nothing", "nobody", None)
    }
    assert tips == {"c": ["c"], "empty": ["b"], "nothing": ["c"], "nobody": [], None: []}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1_700_000_000.5, "2023-11-14T22:13:20.500+00:00"),
        (0, "1970-01-01T00:00:00.000+00:00"),
        (True, ""),
        ("yesterday", ""),
        (None, ""),
        (1e300, ""),
    ],
)
def test_a_time_is_seconds_since_1970_and_anything_else_is_none(seconds: object, text: str) -> None:
    (start, said, _) = read({"a": node(plain("hi"), create_time=seconds)}, create_time=seconds)
    assert isinstance(start, ConversationStart)
    assert isinstance(said, MessageItem)
    assert (start.created, start.updated, said.entry.created) == (text, "", text)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (plain("one", "", 5, "two"), (Text(text="one"), Text(text="two"))),
        ({"content_type": "text", "text": "one"}, (Text(text="one"),)),
        ({"content_type": "code", "text": "", "result": "2"}, (Text(text="2"),)),
        ({"content_type": "code", "text": "", "result": "", "language": "x"}, ()),
        ({"content_type": "code", "text": 5}, ()),
        ({"content_type": "reasoning_recap", "content": "Thought."}, (Reasoning(text="Thought."),)),
        ({"content_type": "reasoning_recap", "content": ""}, ()),
        (
            {"content_type": "thoughts", "thoughts": [{"content": "a"}, {"summary": "b"}, {"content": ""}]},
            (Reasoning(text="a"), Reasoning(text="b")),
        ),
        ({"content_type": "thoughts", "thoughts": "none"}, ()),
        (plain({"content_type": "audio_transcription", "text": "spoken"}), (Text(text="spoken"),)),
        (
            plain({"content_type": "image_asset_pointer", "asset_pointer": "f", "width": 1, "height": -3}),
            (Image(source="f", width=1, height=0),),
        ),
        (
            plain({"content_type": "image_asset_pointer", "asset_pointer": "f", "width": "wide"}),
            (Image(source="f", width=0, height=0),),
        ),
    ],
)
def test_what_a_message_holds_is_read(content: object, expected: tuple[object, ...]) -> None:
    assert parts(content) == expected


def test_what_this_version_does_not_know_is_kept() -> None:
    for content, kind in (({"content_type": "hologram", "beam": 1}, "hologram"), ({"beam": 1}, "unknown")):
        for held in (content, plain(content)):
            (found,) = parts(held)
            assert isinstance(found, Opaque)
            assert (found.kind, json.loads(found.wire.fields)) == (kind, content)


def test_files_come_with_their_message() -> None:
    files = [{"name": "a", "mimeType": "text/plain", "size": 1, "id": "f"}, "b", {"name": "c", "size": -1}]
    assert parts(plain("see"), metadata={"attachments": files}) == (
        Text(text="see"),
        Attachment(name="a", media_type="text/plain", size=1, source="f"),
        Attachment(name="c", media_type="", size=0, source=""),
    )
    for odd in ({"attachments": "a"}, {}, "none"):
        assert parts(plain("see"), metadata=odd) == (Text(text="see"),)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [('{"a": 1}', '{"a": 1}'), ("[1]", '{"code":"[1]"}'), ("1+1", '{"code":"1+1"}')],
)
def test_what_an_assistant_says_to_a_tool_is_a_call(text: str, arguments: str) -> None:
    called = parts(plain(text), role="assistant", recipient="python")
    assert called == (ToolCall(id="a", name="python", input=arguments),)
    assert parts(plain(text), role="user", recipient="python") == (Text(text=text),)
    assert parts(plain(text), role="assistant", recipient="all") == (Text(text=text),)


def test_answers_of_tools_belong_to_the_call_above_them() -> None:
    mapping = {
        "call": node(plain("1+1"), role="assistant", recipient="python"),
        "one": node(plain("2"), "call", role="tool"),
        "two": node(plain("done"), "one", role="tool"),
        "alone": node(plain("?"), role="tool"),
    }
    mapping["one"]["message"]["author"]["name"] = "python"
    said = [one.entry.message for one in read(mapping) if isinstance(one, MessageItem)]
    assert [found.results for found in said if found.role == "tool"] == [
        (ToolResult(call_id="call", name="python", content=(Text(text="2"),)),),
        (ToolResult(call_id="call", content=(Text(text="done"),)),),
        (ToolResult(call_id="alone", content=(Text(text="?"),)),),
    ]


def test_the_model_is_named_where_the_file_names_one() -> None:
    for about, model in (({"model_slug": "gpt-4o"}, "gpt-4o"), ({"model_slug": 5}, ""), ("none", "")):
        (_, said, _) = read({"a": node(plain("hi"), role="assistant", metadata=about)})
        assert isinstance(said, MessageItem)
        assert said.entry.model == model


def test_a_role_that_nobody_knows_is_the_systems() -> None:
    found = message(plain("hi"), role="critic")
    assert found is not None
    assert found.role == "system"
    assert message(plain("hi")) == user("hi")
