"""Anthropic messages become the right values, and come back as they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Wire,
    assistant,
    system,
    user,
)
from octavo.core.wire import read, write
from octavo.core.wire.media import text_data
from octavo.errors import BadInput
from tests.core.wire.examples import ANTHROPIC, PDF, PNG, SIGNATURE


def said(message: Message) -> JsonObject:
    (only,) = write("anthropic", [message]).messages
    return only


def block(part: Part) -> JsonObject:
    """What a part is written as in a user's message, beside a text."""
    content = said(Message(role="user", parts=(Text(text="see"), part)))["content"]
    assert isinstance(content, list)
    assert isinstance(content[1], dict)
    return content[1]


@pytest.mark.parametrize("name", ANTHROPIC)
def test_a_request_comes_back_as_it_was(name: str) -> None:
    instructions, messages = ANTHROPIC[name]
    written = write("anthropic", read("anthropic", messages, instructions))
    assert (written.system, written.messages) == (instructions, messages)


@pytest.mark.parametrize("name", ANTHROPIC)
def test_every_message_is_read_for_itself_after_the_system(name: str) -> None:
    instructions, messages = ANTHROPIC[name]
    assert len(read("anthropic", messages, instructions)) == len(messages) + (instructions is not None)


def test_a_plain_chat_needs_no_notes() -> None:
    instructions, messages = ANTHROPIC["plain chat"]
    assert read("anthropic", messages, instructions) == (
        system("You are a helpful assistant."),
        user("Hello!"),
        assistant("Hi, how can I help?"),
    )


def test_thinking_calls_and_results_become_parts_in_their_order() -> None:
    _, messages = ANTHROPIC["thinking and parallel tool calls"]
    _, spoken, answered, _ = read("anthropic", messages)
    assert spoken.parts == (
        Reasoning(text="Two calls.", wire=Wire("anthropic", f'{{"added":{{"signature":"{SIGNATURE}"}}}}')),
        Reasoning(
            text="",
            wire=Wire("anthropic", '{"kind":"redacted_thinking","added":{"data":"EmwKAhgBEgy3va3pzix"}}'),
        ),
        Text(text="I'll look."),
        ToolCall(id="toolu_01", name="weather", input='{"city":"Rome","deep":[1.0]}'),
        ToolCall(id="toolu_02", name="weather", input="{}"),
    )
    assert answered.role == "tool"
    assert [type(part) for part in answered.parts] == [ToolResult, ToolResult, Text]
    assert [(result.text, result.error) for result in answered.results] == [("21", False), ("no city", True)]


def test_thinking_goes_back_to_the_format_that_wrote_it_only() -> None:
    bare = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}
    assert write("anthropic", read("anthropic", [bare])).messages == [bare]
    foreign = (Reasoning(text="hm"), Reasoning(text="hm", wire=Wire("gemini", "{}")), Text(text="42"))
    assert said(Message(role="assistant", parts=foreign)) == {"role": "assistant", "content": "42"}


def test_pictures_and_documents_become_values_with_their_content() -> None:
    _, messages = ANTHROPIC["pictures and documents"]
    (message,) = read("anthropic", messages)
    letter, one = text_data("Grüße, wörtlich"), text_data("one text")
    bare = [replace(part, wire=None) for part in message.parts if not isinstance(part, Opaque)]
    assert bare == [
        Image(source=f"data:image/png;base64,{PNG}", media_type="image/png"),
        Image(source="https://a.example/cat.png"),
        Image(source="file_011CNha8iCJcU1wXNR6q4V8w"),
        Attachment(
            name="a.pdf", media_type="application/pdf", size=44, source=f"data:application/pdf;base64,{PDF}"
        ),
        Attachment(name="", media_type="application/pdf", source="https://a.example/b.pdf"),
        Attachment(name="c.txt", media_type="text/plain", size=18, source=letter.url),
        Attachment(name="", media_type="text/plain", size=8, source=one.url),
        Attachment(name="", source="file_02"),
    ]
    assert letter.text == "Grüße, wörtlich"


def test_results_that_were_apart_stay_apart_and_others_stand_in_one_message() -> None:
    first = Message(role="tool", parts=(ToolResult(call_id="a", content=(Text(text="1"),)),))
    second = Message(role="tool", parts=(ToolResult(call_id="b", content=(Text(text="2"),)), Text(text="t")))
    third = Message(role="tool", parts=(ToolResult(call_id="c", content=()),))
    written = write("anthropic", [first, second, third]).messages
    assert written == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
                {"type": "text", "text": "t"},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]},
    ]
    assert write("anthropic", read("anthropic", written)).messages == written


def test_system_messages_at_the_front_become_system_and_later_ones_the_users() -> None:
    written = write("anthropic", [system("a"), system("b"), user("c"), system("d")])
    assert written.system == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert written.messages == [{"role": "user", "content": "c"}, {"role": "user", "content": "d"}]
    assert write("anthropic", [system("a")]).system == "a"
    assert write("anthropic", [user("c")]).system is None


@pytest.mark.parametrize(
    ("input", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        (" \n", {}),
        ("[1]", {"input": [1]}),
        ("null", {"input": None}),
        ("{bad", {"input": "{bad"}),
        ('{"a": NaN}', {"input": '{"a": NaN}'}),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, {"input": '{"a":' * 5_000 + "1" + "}" * 5_000}),
        ("[" * 99 + "]" * 99, None),
        ("1" * 5_000, {"input": "1" * 5_000}),
        ("1" * 400, {"input": "1" * 400}),
    ],
)
def test_whatever_a_model_wrote_as_input_becomes_an_object(input: str, expected: JsonObject | None) -> None:
    message = Message(role="assistant", parts=(ToolCall(id="a", name="f", input=input),))
    (written,) = write("anthropic", [message]).messages
    content = written["content"]
    assert isinstance(content, list)
    assert isinstance(content[0], dict)
    given = content[0]["input"]
    assert isinstance(given, dict)
    assert expected is None or given == expected


def test_pictures_and_files_of_other_formats_are_sent_as_the_format_can() -> None:
    def source(part: Part) -> Json:
        return block(part)["source"]

    assert source(Image(source="data:image/jpg;base64,AA==")) == {
        "type": "base64",
        "media_type": "image/jpeg",
        "data": "AA==",
    }
    assert source(Image(source="https://a.example/b")) == {"type": "url", "url": "https://a.example/b"}
    text = Attachment(
        name="a.json", media_type="application/json", source=text_data("{}", "application/json").url
    )
    assert block(text) == {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "{}"},
        "title": "a.json",
    }
    link = Attachment(name="", source="https://a.example/b.PDF?x=1")
    assert source(link) == {"type": "url", "url": "https://a.example/b.PDF?x=1"}
    picture = Attachment(name="a.png", media_type="image/png", source=f"data:image/png;base64,{PNG}")
    assert block(picture)["type"] == "image"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Image(source="data:image/heic;base64,AA=="), "[image]"),
        (Image(source="data:image/svg+xml,<svg/>"), "[image]"),
        (Image(source="gs://bucket/a.png"), "[image]"),
        (
            Attachment(name="a.zip", media_type="application/zip", size=1234),
            "[file: a.zip (application/zip, 1,234 bytes)]",
        ),
        (Attachment(name="a.pdf", media_type="application/pdf"), "[file: a.pdf (application/pdf)]"),
        (Attachment(name="a", source="https://a.example/a.zip"), "[file: a] https://a.example/a.zip"),
        (
            Attachment(name="a", media_type="text/plain", source="data:text/plain;base64,/w=="),
            "[file: a (text/plain)]",
        ),
        (Attachment(name="a", media_type="x/y", source="https://[bad"), "[file: a (x/y)] https://[bad"),
    ],
)
def test_what_the_format_cannot_hold_is_said_in_words(part: Part, words: str) -> None:
    assert block(part) == {"type": "text", "text": words}


def test_a_picture_by_an_assistant_is_said_in_words_unless_it_was_read_so() -> None:
    picture = Image(source="https://a.example/b.png")
    assert said(Message(role="assistant", parts=(picture,))) == {
        "role": "assistant",
        "content": "[image] https://a.example/b.png",
    }
    odd: JsonObject = {
        "role": "assistant",
        "content": [{"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}],
    }
    assert write("anthropic", read("anthropic", [odd])).messages == [odd]


def test_what_changed_since_reading_is_written_and_not_what_was_noted() -> None:
    data: JsonObject = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": "long", "is_error": False}],
    }
    (message,) = read("anthropic", [data])
    changed = replace(message.results[0], content=(Text(text="short"),), error=True)
    assert said(replace(message, parts=(changed,))) == {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": "short", "is_error": True}],
    }


def _user(*content: Json) -> list[Json]:
    return [{"role": "user", "content": list(content)}]


BAD: list[tuple[Json, Json, str]] = [
    ({}, None, "messages: expected a list, got dict"),
    ([None], None, "messages[0]: expected an object, got NoneType"),
    ([{"role": "tool"}], None, "messages[0].role: unknown role 'tool'; one of user, assistant, system"),
    ([{"role": "user"}], None, "messages[0].content: expected text or a list, got NoneType"),
    (_user(1), None, "messages[0].content[0]: expected an object, got int"),
    (_user({"type": 1}), None, "messages[0].content[0].type: expected text, got int"),
    (_user({"type": "text"}), None, "messages[0].content[0].text: expected text, got NoneType"),
    (_user({"type": "image"}), None, "messages[0].content[0].source: expected an object, got NoneType"),
    (
        _user({"type": "image", "source": {"type": "base64", "data": ""}}),
        None,
        "messages[0].content[0].source.media_type: expected text, got NoneType",
    ),
    (
        _user({"type": "document", "source": {"type": "text", "data": 1}}),
        None,
        "messages[0].content[0].source.data: expected text, got int",
    ),
    (
        _user({"type": "document", "title": 1, "source": {}}),
        None,
        "messages[0].content[0].title: expected text, got int",
    ),
    (
        _user({"type": "tool_use", "id": "a", "name": "f", "input": "{}"}),
        None,
        "messages[0].content[0].input: expected an object, got str",
    ),
    (_user({"type": "tool_result"}), None, "messages[0].content[0].tool_use_id: expected text, got NoneType"),
    (
        _user({"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": []}]}),
        None,
        "messages[0].content[0].content[0].text: expected text, got list",
    ),
    (_user({"type": "thinking"}), None, "messages[0].content[0].thinking: expected text, got NoneType"),
    ([], 1, "system: expected text or a list, got int"),
    ([], [{"type": "text"}], "system[0].text: expected text, got NoneType"),
]


@pytest.mark.parametrize(("messages", "instructions", "problem"), BAD, ids=[problem for *_, problem in BAD])
def test_bad_input_is_named_by_index_and_field(messages: Json, instructions: Json, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read("anthropic", messages, instructions)
    assert str(caught.value) == problem
