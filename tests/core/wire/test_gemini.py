"""Gemini contents become the right values, and come back as they were."""

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
from tests.core.wire.examples import GEMINI, PDF, PNG


def parts(message: Message) -> Json:
    (only,) = write("gemini", [message]).messages
    return only["parts"]


@pytest.mark.parametrize("name", GEMINI)
def test_a_request_comes_back_as_it_was(name: str) -> None:
    instructions, messages = GEMINI[name]
    written = write("gemini", read("gemini", messages, instructions))
    assert (written.system, written.messages) == (instructions, messages)


@pytest.mark.parametrize("name", GEMINI)
def test_every_content_is_read_for_itself_after_the_system(name: str) -> None:
    instructions, messages = GEMINI[name]
    assert len(read("gemini", messages, instructions)) == len(messages) + (instructions is not None)


def test_a_plain_chat_needs_no_notes() -> None:
    instructions, messages = GEMINI["plain chat"]
    assert read("gemini", messages, instructions) == (
        system("You are a helpful assistant."),
        user("Hello!"),
        assistant("Hi, how can I help?"),
    )


def test_calls_and_results_with_ids_need_no_notes_but_for_signatures() -> None:
    _, messages = GEMINI["thoughts and parallel calls"]
    _, spoken, answered, _ = read("gemini", messages)
    assert spoken.parts == (
        Reasoning(text="**Planning**\nTwo calls.", wire=Wire("gemini", "{}")),
        ToolCall(
            id="8f2a",
            name="weather",
            input='{"city":"Rome"}',
            wire=Wire("gemini", '{"added":{"thoughtSignature":"CsYBAb4"}}'),
        ),
        ToolCall(id="8f2b", name="weather", input='{"city":"Oslo"}'),
    )
    assert answered == Message(
        role="tool",
        parts=(
            ToolResult(call_id="8f2a", name="weather", content=(Text(text="21"),)),
            ToolResult(call_id="8f2b", name="weather", content=(Text(text="no such city"),), error=True),
        ),
    )


def test_calls_without_ids_get_some_and_results_are_paired_by_order_and_name() -> None:
    messages = read("gemini", GEMINI["calls without ids"][1])
    calls = [(call.id, call.name) for call in messages[0].calls]
    assert calls == [("call_1", "weather"), ("call_2", "now"), ("call_3", "weather")]
    answers = [(result.call_id, result.text) for message in messages for result in message.results]
    assert answers == [
        ("call_2", "noon"),
        ("call_1", '{"t":21,"unit":"C"}'),
        ("call_3", '{"error":{"code":5}}'),
    ]
    assert [result.error for message in messages for result in message.results] == [False, False, True]


def _model_calls(*names: str, id: str | None = None) -> JsonObject:
    call: JsonObject = {} if id is None else {"id": id}
    return {
        "role": "model",
        "parts": [{"functionCall": {**call, "name": name, "args": {}}} for name in names],
    }


def _answers(*names: str) -> JsonObject:
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]}


def test_a_result_without_an_id_answers_the_newest_message_with_an_open_call() -> None:
    messages = read("gemini", [_model_calls("f"), _model_calls("f", "f"), _answers("f", "f", "f", "f")])
    assert [result.call_id for result in messages[2].results] == ["call_2", "call_3", "call_1", "call_4"]


def test_ids_that_are_made_up_avoid_the_ones_that_were_there_before() -> None:
    messages = read("gemini", [_model_calls("f", id="call_2"), _model_calls("f")])
    assert [call.id for message in messages for call in message.calls] == ["call_2", "call_3"]


def test_a_model_that_repeats_a_result_stays_the_model() -> None:
    data: list[JsonObject] = [
        {"role": "model", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}
    ]
    messages = read("gemini", data)
    assert messages[0].role == "assistant"
    assert write("gemini", messages).messages == data


def test_media_become_values_with_their_content() -> None:
    (message,) = read("gemini", GEMINI["media"][1])
    bare = [replace(part, wire=None) for part in message.parts if not isinstance(part, Opaque)]
    assert bare == [
        Image(source=f"data:image/png;base64,{PNG}", media_type="image/png"),
        Attachment(
            name="a.pdf", media_type="application/pdf", size=44, source=f"data:application/pdf;base64,{PDF}"
        ),
        Image(source="gs://bucket/a.jpg", media_type="image/jpeg"),
        Attachment(name="", source="https://youtu.be/9hE5-98ZeCg"),
    ]


def test_a_result_that_was_shortened_is_sent_as_the_text_it_is() -> None:
    data: JsonObject = {
        "role": "user",
        "parts": [{"functionResponse": {"id": "a", "name": "f", "response": {"rows": [1, 2]}}}],
    }
    (message,) = read("gemini", [data])
    (result,) = message.results
    assert result.text == '{"rows":[1,2]}'
    short = replace(message, parts=(replace(result, content=(Text(text='{"rows":['),)),))
    assert parts(short) == [
        {"functionResponse": {"id": "a", "name": "f", "response": {"output": '{"rows":['}}}
    ]
    other = replace(message, parts=(replace(result, content=(Text(text="[1]"),)),))
    assert parts(other) == [{"functionResponse": {"id": "a", "name": "f", "response": {"output": "[1]"}}}]


def test_a_result_is_named_after_its_call_or_just_a_tool() -> None:
    call = Message(role="assistant", parts=(ToolCall(id="a", name="f", input="{}"),))
    results = Message(
        role="tool",
        parts=(
            ToolResult(call_id="a", content=(Text(text="1"), Text(text="2"))),
            ToolResult(call_id="b", content=()),
        ),
    )
    assert write("gemini", [call, results]).messages[1]["parts"] == [
        {"functionResponse": {"id": "a", "name": "f", "response": {"output": "1\n2"}}},
        {"functionResponse": {"id": "b", "name": "tool", "response": {"output": ""}}},
    ]


def test_results_of_parallel_calls_stand_in_one_content() -> None:
    apart = [
        Message(role="tool", parts=(ToolResult(call_id=id, name="f", content=(Text(text="r"),)),))
        for id in "ab"
    ]
    assert write("gemini", apart).messages == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": id, "name": "f", "response": {"output": "r"}}} for id in "ab"
            ],
        }
    ]


def test_thoughts_go_back_to_the_format_that_wrote_them_only() -> None:
    foreign = (Reasoning(text="hm"), Reasoning(text="hm", wire=Wire("openai", "{}")), Text(text="42"))
    assert parts(Message(role="assistant", parts=foreign)) == [{"text": "42"}]


def test_system_messages_at_the_front_become_one_instruction_and_later_ones_the_users() -> None:
    written = write("gemini", [system("a"), system("b"), user("c"), system("d")])
    assert written.system == {"parts": [{"text": "a"}, {"text": "b"}]}
    assert written.messages == [
        {"role": "user", "parts": [{"text": "c"}]},
        {"role": "user", "parts": [{"text": "d"}]},
    ]
    assert write("gemini", [user("c")]).system is None


def test_an_instruction_that_was_a_string_and_now_has_more_parts_is_an_object() -> None:
    (message,) = read("gemini", [], "be terse")
    longer = replace(message, parts=(*message.parts, Text(text="really")))
    assert write("gemini", [longer]).system == {"parts": [{"text": "be terse"}, {"text": "really"}]}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            Image(source="data:image/jpg;base64,AA=="),
            {"inlineData": {"mimeType": "image/jpeg", "data": "AA=="}},
        ),
        (
            Image(source="https://a.example/b.WEBP?c"),
            {"fileData": {"mimeType": "image/webp", "fileUri": "https://a.example/b.WEBP?c"}},
        ),
        (Image(source="http://a/b"), {"fileData": {"mimeType": "image/jpeg", "fileUri": "http://a/b"}}),
        (Image(source="file_1", width=3, height=4), {"text": "[image 3×4]"}),
        (Attachment(name="a", source="https://a/b"), {"fileData": {"fileUri": "https://a/b"}}),
        (
            Attachment(name="a", source="data:;base64,AA=="),
            {"inlineData": {"mimeType": "application/octet-stream", "data": "AA=="}},
        ),
        (
            Attachment(name="a", media_type="text/csv", source=text_data("1", "text/csv").url),
            {"inlineData": {"mimeType": "text/csv", "data": "MQ=="}},
        ),
        (
            Attachment(
                name="a", media_type="application/json", size=1, source=text_data("1", "application/json").url
            ),
            {"text": "[file: a (application/json, 1 bytes)]\n1"},
        ),
    ],
)
def test_pictures_and_files_of_other_formats_are_sent_as_the_format_can(
    part: Part, expected: JsonObject
) -> None:
    assert parts(Message(role="user", parts=(part,))) == [expected]


def test_pictures_of_a_result_come_with_it_and_what_cannot_is_said() -> None:
    content = (Text(text="see"), Image(source="data:image/png;base64,AA=="), Attachment(name="a.zip"))
    message = Message(role="tool", parts=(ToolResult(call_id="a", name="f", content=content),))
    assert parts(message) == [
        {
            "functionResponse": {
                "id": "a",
                "name": "f",
                "response": {"output": "see\n[file: a.zip]"},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
            }
        }
    ]


def test_a_picture_in_the_instruction_is_said_in_words_unless_it_was_read_so() -> None:
    picture = Message(role="system", parts=(Image(source="https://a/b"),))
    assert write("gemini", [picture]).system == {"parts": [{"text": "[image] https://a/b"}]}
    odd: JsonObject = {"parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]}
    assert write("gemini", read("gemini", [], odd)).system == odd


def _user(*content: Json) -> list[Json]:
    return [{"role": "user", "parts": list(content)}]


BAD: list[tuple[Json, Json, str]] = [
    ("hi", None, "messages: expected a list, got str"),
    (["hi"], None, "messages[0]: expected an object, got str"),
    (
        [{"role": "assistant"}],
        None,
        "messages[0].role: unknown role 'assistant'; one of user, model, function",
    ),
    ([{"role": 1}], None, "messages[0].role: expected text, got int"),
    ([{"parts": "hi"}], None, "messages[0].parts: expected a list, got str"),
    (_user("hi"), None, "messages[0].parts[0]: expected an object, got str"),
    (_user({"text": 1}), None, "messages[0].parts[0].text: expected text, got int"),
    (_user({"inlineData": "x"}), None, "messages[0].parts[0].inlineData: expected an object, got str"),
    (
        _user({"inline_data": {"data": "x"}}),
        None,
        "messages[0].parts[0].inline_data.mimeType: expected text, got NoneType",
    ),
    (
        _user({"inlineData": {"mime_type": 1}}),
        None,
        "messages[0].parts[0].inlineData.mime_type: expected text, got int",
    ),
    (_user({"fileData": {}}), None, "messages[0].parts[0].fileData.fileUri: expected text, got NoneType"),
    (
        _user({"functionCall": {}}),
        None,
        "messages[0].parts[0].functionCall.name: expected text, got NoneType",
    ),
    (
        _user({"functionCall": {"name": "f", "args": "{}"}}),
        None,
        "messages[0].parts[0].functionCall.args: expected an object, got str",
    ),
    (
        _user({"functionCall": {"name": "f", "id": 1}}),
        None,
        "messages[0].parts[0].functionCall.id: expected text, got int",
    ),
    (
        _user({"function_response": {"name": "f"}}),
        None,
        "messages[0].parts[0].function_response.response: expected an object, got NoneType",
    ),
    (
        _user({"functionResponse": {"name": "", "response": {}}}),
        None,
        "messages[0].parts[0].functionResponse.name: expected a name, got an empty text",
    ),
    (
        _user({"functionResponse": {"name": "f", "response": {}, "parts": [1]}}),
        None,
        "messages[0].parts[0].functionResponse.parts[0]: expected an object, got int",
    ),
    ([], 1, "system: expected text, a list or an object, got int"),
    ([], {"text": "hi"}, "system.parts: expected a list, got NoneType"),
    ([], ["hi"], "system[0]: expected an object, got str"),
    ([], {"parts": [{"text": []}]}, "system.parts[0].text: expected text, got list"),
]


@pytest.mark.parametrize(("messages", "instructions", "problem"), BAD, ids=[problem for *_, problem in BAD])
def test_bad_input_is_named_by_index_and_field(messages: Json, instructions: Json, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read("gemini", messages, instructions)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("part", "noted"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": PNG}}, None),
        ({"inline_data": {"mime_type": "image/png", "data": PNG}}, '{"snake":true}'),
        ({"functionCall": {"id": "c", "name": "valve", "args": {}}}, None),
        ({"function_call": {"id": "c", "name": "valve", "args": {}}}, '{"snake":true}'),
    ],
)
def test_of_a_usual_part_nothing_is_noted_but_how_its_keys_are_spelled(
    part: JsonObject, noted: str | None
) -> None:
    (message,) = read("gemini", [{"role": "user", "parts": [part]}])
    wire = message.parts[0].wire
    assert (wire.fields if wire else None) == noted
