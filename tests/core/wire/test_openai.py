"""OpenAI chat messages become the right values, and come back as they were."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
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
from octavo.core.wire.openai import read_openai
from octavo.core.wire.pairing import CallPairing
from octavo.errors import BadInput
from tests.core.wire.examples import OPENAI, PDF, PNG, WAV


def said(message: Message) -> JsonObject:
    (only,) = write("openai", [message]).messages
    return only


@pytest.mark.parametrize("name", OPENAI)
def test_a_request_comes_back_as_it_was(name: str) -> None:
    messages = OPENAI[name]
    assert write("openai", read("openai", messages)).messages == messages


@pytest.mark.parametrize("name", OPENAI)
def test_every_message_is_read_for_itself(name: str) -> None:
    assert len(read("openai", OPENAI[name])) == len(OPENAI[name])


def test_a_plain_chat_needs_no_notes() -> None:
    assert read("openai", OPENAI["plain chat"]) == (
        system("You are a helpful assistant."),
        user("Hello!"),
        assistant("Hi, how can I help?"),
    )


def test_tool_calls_and_plain_results_need_no_notes() -> None:
    messages = read("openai", OPENAI["parallel tool calls"])
    assert [message.wire for message in messages] == [None] * len(messages)
    assert messages[1].parts == (
        ToolCall(id="call_a", name="weather", input='{"city": "Rome"}'),
        ToolCall(id="call_b", name="weather", input='{"city": "Oslo"'),
        ToolCall(id="call_c", name="now", input=""),
    )
    assert messages[2] == Message(
        role="tool", parts=(ToolResult(call_id="call_a", content=(Text(text='{"t": 21}'),)),)
    )


def test_the_name_of_a_tool_message_names_its_result() -> None:
    message = read("openai", OPENAI["parallel tool calls"])[4]
    assert (message.name, message.results[0].name) == ("now", "now")


def test_pictures_files_and_audio_become_values_with_their_content() -> None:
    (message,) = read("openai", OPENAI["pictures, a file and audio"])
    bare = [replace(part, wire=None) for part in message.parts if not isinstance(part, Opaque)]
    assert bare == [
        Text(text="What is all this?"),
        Image(source="https://a.example/cat.png"),
        Image(source=f"data:image/png;base64,{PNG}", media_type="image/png"),
        Attachment(
            name="a.pdf", media_type="application/pdf", size=44, source=f"data:application/pdf;base64,{PDF}"
        ),
        Attachment(name="", source="file-6F2ksmvXxt4VdoqmHRw6kL"),
        Attachment(name="", media_type="audio/wav", size=24, source=f"data:audio/wav;base64,{WAV}"),
    ]


def test_file_content_may_come_without_a_type() -> None:
    data: JsonObject = {
        "role": "user",
        "content": [{"type": "file", "file": {"filename": "a", "file_data": PDF}}],
    }
    (message,) = read("openai", [data])
    assert message.parts == (Attachment(name="a", size=44, source=f"data:;base64,{PDF}"),)
    assert said(message) == data


def test_a_refusal_is_what_the_assistant_said() -> None:
    assert [message.text for message in read("openai", OPENAI["refusals"])] == [
        "I can't help with that.",
        "No.",
        "Well,\nno.",
    ]


def test_legacy_calls_and_results_are_paired_by_order_and_name() -> None:
    messages = read("openai", OPENAI["legacy functions"])
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert [call.id for message in messages for call in message.calls] == ["call_1", "call_2"]
    assert [result.call_id for message in messages for result in message.results] == ["call_1", "call_2"]


def test_reasoning_is_a_part_of_its_own_and_goes_back_into_its_field() -> None:
    messages = read("openai", OPENAI["reasoning of imitators"])
    assert [[part.text for part in message.parts if isinstance(part, Reasoning)] for message in messages] == [
        ["Let me think."],
        ["Hm."],
        [],
    ]


def test_reasoning_that_came_another_way_is_not_sent() -> None:
    foreign = Reasoning(text="hm", wire=Wire("anthropic", "{}"))
    parts = (Reasoning(text="hm"), foreign, Text(text="42"))
    assert said(Message(role="assistant", parts=parts)) == {"role": "assistant", "content": "42"}


def test_a_spoken_answer_says_something() -> None:
    (message,) = read("openai", OPENAI["a spoken answer"])
    assert [type(part) for part in message.parts] == [Opaque]


def test_an_assistant_who_says_nothing_has_null_content_and_others_have_empty_text() -> None:
    assert said(Message(role="assistant", parts=())) == {"role": "assistant", "content": None}
    assert said(Message(role="user", parts=())) == {"role": "user", "content": ""}


def test_a_tool_message_without_results_is_written_as_the_users() -> None:
    assert said(Message(role="tool", parts=(Text(text="x"),))) == {"role": "user", "content": "x"}


def test_what_changed_since_reading_is_written_and_not_what_was_noted() -> None:
    (message,) = read("openai", [{"role": "developer", "content": [{"type": "text", "text": "old"}]}])
    changed = replace(message, role="user", parts=(Text(text="new"), Text(text="and more")))
    assert said(changed) == {
        "role": "user",
        "content": [{"type": "text", "text": "new"}, {"type": "text", "text": "and more"}],
    }


def test_text_added_to_a_message_that_had_no_content_is_written() -> None:
    call: JsonObject = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    (message,) = read("openai", [{"role": "assistant", "tool_calls": [call]}])
    changed = replace(message, parts=(Text(text="now I speak"), *message.parts))
    assert said(changed) == {"role": "assistant", "content": "now I speak", "tool_calls": [call]}


def test_two_refusals_in_one_message_are_both_written() -> None:
    messages = read("openai", [{"role": "assistant", "content": None, "refusal": "no"}] * 2)
    both = Message(role="assistant", parts=messages[0].parts + messages[1].parts)
    assert said(both) == {"role": "assistant", "content": None, "refusal": "no\nno"}


def test_an_assistant_message_of_results_only_becomes_tool_messages_only() -> None:
    result = ToolResult(call_id="a", content=(Text(text="r"),))
    written: JsonObject = {"role": "tool", "tool_call_id": "a", "content": "r"}
    assert write("openai", [Message(role="assistant", parts=(result,))]).messages == [written]
    both = Message(role="assistant", parts=(Text(text="t"), result))
    assert write("openai", [both]).messages == [{"role": "assistant", "content": "t"}, written]


def test_system_beside_the_messages_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^system: OpenAI messages hold"):
        read("openai", [], "be terse")


BAD: list[tuple[Json, str]] = [
    ("text", "messages: expected a list, got str"),
    ([1], "messages[0]: expected an object, got int"),
    ([{}], "messages[0].role: expected text, got NoneType"),
    (
        [{"role": "robot", "content": ""}],
        "messages[0].role: unknown role 'robot'; one of system, developer, user, assistant, tool, function",
    ),
    ([{"role": ["user"]}], "messages[0].role: expected text, got list"),
    ([{"role": "user", "content": 5}], "messages[0].content: expected text or a list, got int"),
    ([{"role": "user", "content": ["x"]}], "messages[0].content[0]: expected an object, got str"),
    ([{"role": "user", "content": [{}]}], "messages[0].content[0].type: expected text, got NoneType"),
    (
        [
            {"role": "user", "content": ""},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": ""},
            {"role": "user", "content": [{"type": "text", "text": 7}]},
        ],
        "messages[3].content[0].text: expected text, got int",
    ),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": "https://a.example"}]}],
        "messages[0].content[0].image_url: expected an object, got str",
    ),
    (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
        "messages[0].content[0].image_url.url: expected text, got NoneType",
    ),
    (
        [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"format": "wav"}}]}],
        "messages[0].content[0].input_audio.data: expected text, got NoneType",
    ),
    (
        [{"role": "user", "content": [{"type": "file", "file": {"filename": 1}}]}],
        "messages[0].content[0].file.filename: expected text, got int",
    ),
    ([{"role": "user", "content": "", "name": 1}], "messages[0].name: expected text, got int"),
    ([{"role": "assistant", "refusal": 1}], "messages[0].refusal: expected text, got int"),
    ([{"role": "assistant", "tool_calls": {}}], "messages[0].tool_calls: expected a list, got dict"),
    ([{"role": "assistant", "tool_calls": [1]}], "messages[0].tool_calls[0]: expected an object, got int"),
    (
        [{"role": "assistant", "tool_calls": [{"id": "a"}]}],
        "messages[0].tool_calls[0].function: expected an object, got NoneType",
    ),
    (
        [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {}}}]}],
        "messages[0].tool_calls[0].function.arguments: expected text, got dict",
    ),
    (
        [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": ""}}]}],
        "messages[0].tool_calls[0].id: expected text, got NoneType",
    ),
    ([{"role": "assistant", "function_call": "f"}], "messages[0].function_call: expected an object, got str"),
    ([{"role": "tool", "content": ""}], "messages[0].tool_call_id: expected text, got NoneType"),
    ([{"role": "function", "content": ""}], "messages[0].name: expected text, got NoneType"),
]


@pytest.mark.parametrize(("messages", "problem"), BAD, ids=[problem for _, problem in BAD])
def test_bad_input_is_named_by_index_and_field(messages: Json, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read("openai", messages)
    assert str(caught.value) == problem
    assert caught.value.where == problem.partition(": ")[0]


def test_arguments_keep_the_models_own_spacing() -> None:
    arguments = '{ "a" :\t1e2, "a": 2 }'
    call: JsonObject = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    messages = read("openai", [{"role": "assistant", "content": None, "tool_calls": [call]}])
    assert messages[0].calls[0].input == arguments
    assert json.dumps(arguments) in json.dumps(write("openai", messages).messages)


def test_a_list_is_read_on_from_where_it_was_read_before() -> None:
    """Seen failing when the calls of what follows were added to those that were kept."""
    call = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    answer = {"role": "function", "name": "look", "content": "PORT = 1"}
    said = [{"role": "user", "content": "Look."}, call, answer, call]
    calls = CallPairing()
    before = read_openai(said, calls=calls)
    for _ in range(2):
        longer = [*said, answer, call, answer]
        assert (*before, *read_openai(longer, start=4, calls=calls.copy())) == read_openai(longer)
    with pytest.raises(BadInput, match=r"messages\[4\]"):
        read_openai([*said, {"role": "nobody"}], start=4, calls=calls.copy())


def test_what_a_result_said_besides_is_written_with_it_alone() -> None:
    said: JsonObject = {"role": "tool", "tool_call_id": "a", "content": "7 bar", "cached": True}
    (message,) = read_openai([said])
    assert write("openai", [message]).messages == [said]
    joined = replace(message, parts=message.parts * 2)
    users = replace(message, role="user")
    for changed in (joined, users):
        assert all("cached" not in written for written in write("openai", [changed]).messages)
