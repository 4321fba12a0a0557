"""Items of OpenAI's Responses: what they become, and what is written of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.harden import harden
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
    digest,
    user,
)
from octavo.core.protocol import RESPONSES as RULES
from octavo.core.protocol import check
from octavo.core.reply import Delta
from octavo.core.wire import read, write
from octavo.core.wire.responses import read_steps, reasoning_characters
from octavo.core.wire.responses_stream import ResponsesStream
from octavo.errors import BadInput
from tests.core.wire.examples import PNG, RESPONSES

THOUGHT: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm."}],
}
SAID: JsonObject = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
}
CALL: JsonObject = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"door": 1}',
}
OUTPUT: JsonObject = {"type": "function_call_output", "call_id": "call_1", "output": "shut"}


def shell_output(*entries: JsonObject) -> JsonObject:
    output: list[Json] = [*entries]
    return {"type": "shell_call_output", "call_id": "c", "output": output}


def only(item: JsonObject) -> Message:
    (message,) = read("responses", [item])
    return message


@pytest.mark.parametrize("name", RESPONSES)
def test_examples_come_back_as_they_were(name: str) -> None:
    instructions, items = RESPONSES[name]
    written = write("responses", read("responses", items, instructions))
    assert written.messages == items
    assert written.system == instructions


def test_one_step_is_one_message_and_the_same_as_in_chat_completions() -> None:
    items: list[JsonObject] = [{"role": "user", "content": "Look."}, SAID, CALL, OUTPUT, SAID]
    chat: list[JsonObject] = [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"door": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "shut"},
        {"role": "assistant", "content": "I look."},
    ]
    assert digest(read("responses", items)) == digest(read("openai", chat))
    assert write("openai", read("responses", items)).messages == chat
    roles = [message.role for message in read("responses", items)]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_several_messages_and_their_texts_keep_their_places() -> None:
    two: JsonObject = {
        **SAID,
        "id": "msg_2",
        "content": [
            {"type": "output_text", "text": "One", "annotations": []},
            {"type": "refusal", "refusal": "No"},
        ],
    }
    items: list[JsonObject] = [SAID, two, {"role": "assistant", "content": "Three"}]
    (message,) = read("responses", items)
    assert [part.text for part in message.parts if isinstance(part, Text)] == [
        "I look.",
        "One",
        "No",
        "Three",
    ]
    assert write("responses", [message]).messages == items
    # Without the first text of a message, the second begins one.
    rest = replace(message, parts=message.parts[2:])
    assert write("responses", [rest]).messages == [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No"}]},
        {"role": "assistant", "content": "Three"},
    ]


def test_a_thought_is_kept_whole_and_read_as_far_as_it_can_be() -> None:
    open_: JsonObject = {
        **THOUGHT,
        "content": [{"type": "reasoning_text", "text": "Well."}, 5],
        "encrypted_content": None,
    }
    (message,) = read("responses", [open_, CALL])
    thought = message.parts[0]
    assert isinstance(thought, Reasoning)
    assert thought.text == "Hm.\n\nWell."
    assert write("responses", [message]).messages == [open_, CALL]
    assert "Hm" not in str(write("openai", [message]).messages)
    assert reasoning_characters(thought) == 300
    assert reasoning_characters(Reasoning(text="Hm.")) == 3
    hidden = only({**THOUGHT, "encrypted_content": "x" * 4_000}).parts[0]
    assert isinstance(hidden, Reasoning)
    assert reasoning_characters(hidden) == 3_000 - 650


def test_items_without_their_thought_carry_no_id() -> None:
    """Case 125."""
    search: JsonObject = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    asked: JsonObject = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "rm", "arguments": "{}"}
    (message,) = read("responses", [SAID, search, CALL, asked])
    parted = replace(message, wire=Wire("responses", '{"thoughts":[]}'))
    assert write("responses", [parted]).messages == [
        {key: value for key, value in SAID.items() if key != "id"},
        {key: value for key, value in CALL.items() if key != "id"},
        asked,
    ]


def test_a_thought_that_nothing_follows_is_left_out() -> None:
    said = (user("Go."), *read("responses", [THOUGHT, CALL]), *read("responses", [OUTPUT, SAID, THOUGHT]))
    assert check(said, RULES) == ("messages[3]: a thought without what it led to",)
    hardened = harden(said, RULES)
    assert check(hardened.messages, RULES) == ()
    assert [repair.fix for repair in hardened.repairs] == ["dropped"]
    assert write("responses", hardened.messages).messages[1:] == [THOUGHT, CALL, OUTPUT, SAID]


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "ls"},
            ToolCall(id="c", name="run", input="ls"),
        ),
        (
            {"type": "shell_call", "call_id": "c", "action": {"timeout_ms": None, "commands": ["ls"]}},
            ToolCall(id="c", name="shell", input='{"action":{"commands":["ls"]}}'),
        ),
        (
            {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "a"}},
            ToolCall(id="c", name="apply_patch", input='{"operation":{"path":"a","type":"delete_file"}}'),
        ),
    ],
)
def test_calls_of_every_kind_are_calls(item: JsonObject, call: ToolCall) -> None:
    message = only(item)
    assert replace(message.calls[0], wire=None) == call
    assert write("responses", [message]).messages == [item]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (OUTPUT, "shut"),
        ({"type": "custom_tool_call_output", "call_id": "c", "output": "done"}, "done"),
        ({"type": "local_shell_call_output", "id": "c", "output": "a"}, "a"),
        ({"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"}, "no"),
        ({"type": "apply_patch_call_output", "call_id": "c", "status": "completed"}, ""),
        (shell_output({"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}), "a"),
        (
            shell_output({"stdout": "", "stderr": "no", "outcome": {"type": "timeout"}}),
            '{"output":[{"outcome":{"type":"timeout"},"stderr":"no","stdout":""}]}',
        ),
        (
            {"type": "mcp_approval_response", "approval_request_id": "c", "approve": True},
            '{"approve":true}',
        ),
    ],
)
def test_outputs_of_every_kind_are_results(item: JsonObject, text: str) -> None:
    message = only(item)
    assert message.role == "tool"
    assert message.results[0].text == text
    assert write("responses", [message]).messages == [item]


def test_an_output_that_was_shortened_is_still_one_of_its_kind() -> None:
    entry: JsonObject = {"stdout": "x" * 99, "stderr": "bad", "outcome": {"type": "timeout"}}
    message = only(shell_output(entry))
    short = replace(message.results[0], content=(Text(text="xxx..."),))
    (written,) = write("responses", [replace(message, parts=(short,))]).messages
    assert written["type"] == "shell_call_output"
    assert written["output"] == [
        {"stdout": "xxx...", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    ]
    found = only({"type": "tool_search_output", "call_id": "c", "tools": [{"name": "a"}]})
    short = replace(found.results[0], content=(Text(text="[shortened]"),))
    (written,) = write("responses", [replace(found, parts=(short,))]).messages
    assert written["output"] == "[shortened]"


def test_a_result_from_elsewhere_is_of_the_kind_of_its_call() -> None:
    call = only({"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "ls"})
    result = Message(role="tool", parts=(ToolResult(call_id="c", content=(Text(text="a"),)),))
    assert write("responses", [call, result]).messages[1] == {
        "type": "custom_tool_call_output",
        "call_id": "c",
        "output": "a",
    }
    image = Image(source=f"data:image/png;base64,{PNG}")
    seen = Message(role="tool", parts=(ToolResult(call_id="c", content=(image,)),))
    computer = only({"type": "computer_call", "call_id": "c", "actions": []})
    assert write("responses", [computer, seen]).messages[1]["output"] == {
        "type": "computer_screenshot",
        "image_url": image.source,
    }
    patch = only({"type": "apply_patch_call", "call_id": "c", "operation": {}})
    file = Attachment(name="a.bin", size=3)
    odd = (file, Opaque(kind="x", wire=Wire("openai", "{}")))
    told = Message(role="tool", parts=(ToolResult(call_id="c", content=odd),))
    assert "a.bin" in str(write("responses", [patch, told]).messages[1]["output"])


def test_a_local_shell_output_may_name_the_item_of_its_call() -> None:
    call: JsonObject = {"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "action": {"type": "exec"}}
    output: JsonObject = {"type": "local_shell_call_output", "id": "lsh_1", "output": "a"}
    _, result = read("responses", [call, output])
    assert result.results[0].call_id == "c"
    assert write("responses", read("responses", [call, output])).messages == [call, output]


def test_items_nobody_knows_are_kept_whole() -> None:
    items: list[JsonObject] = [
        {"type": "additional_tools", "role": "developer", "tools": []},
        {"type": "function_call_output", "call_id": None, "output": "x"},
        {"type": "message", "role": "assistant", "content": []},
        {"type": "holo", "id": 5},
    ]
    (message,) = read("responses", items)
    assert [part.kind for part in message.parts if isinstance(part, Opaque)] == [
        "additional_tools",
        "function_call_output",
        "message",
        "holo",
    ]
    assert write("responses", [message]).messages == items


def test_content_of_every_kind() -> None:
    content: list[Json] = [
        {"type": "input_file", "filename": "a.pdf", "file_data": "AAAA"},
        {"type": "input_image", "detail": "low"},
        {"type": "hologram"},
    ]
    item: JsonObject = {"role": "user", "content": content}
    assert write("responses", [only(item)]).messages == [item]
    picture = Attachment(name="a", media_type="image/png", source=f"data:image/png;base64,{PNG}")
    spoken = Attachment(name="b.wav", media_type="audio/wav", source="data:audio/wav;base64,AAAA")
    linked = Image(source="file-1")
    (written,) = write("responses", [Message(role="user", parts=(picture, spoken, linked))]).messages
    kinds = [part["type"] for part in written["content"] if isinstance(part, dict)]  # type: ignore[union-attr]
    assert kinds == ["input_image", "input_text", "input_text"]
    assert write("responses", [Message(role="user", parts=())]).messages == [{"role": "user", "content": ""}]


def test_what_comes_with_results_follows_them() -> None:
    result = ToolResult(call_id="c", content=(Text(text="a"),))
    said = Message(role="tool", parts=(result, Text(text="And look here.")))
    assert write("responses", [said, said]).messages == [
        {"type": "function_call_output", "call_id": "c", "output": "a"},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "And look here."},
                {"type": "input_text", "text": "And look here."},
            ],
        },
    ]


def test_system_messages_of_others_are_instructions() -> None:
    said = read("openai", [{"role": "system", "content": "A"}, {"role": "system", "content": "B"}])
    written = write("responses", [*said, user("Hi")])
    assert written.system == "A\n\nB"
    assert written.messages == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("items", "system", "problem"),
    [
        ("hi", None, "messages: expected a list, got str"),
        ([{"role": "robot", "content": ""}], None, "messages[0].role: unknown role 'robot'"),
        ([{"role": "user"}], None, "messages[0].content: expected text or a list, got NoneType"),
        ([{"type": "function_call", "call_id": "c"}], None, "messages[0].name: expected text, got NoneType"),
        ([], 5, "system: expected text, got int"),
    ],
)
def test_bad_items_are_named_by_index_and_field(items: Json, system: Json, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read("responses", items, system)
    assert str(caught.value).startswith(problem)


def event(kind: str, **fields: Json) -> JsonObject:
    return {"type": kind, **fields}


def feed(stream: ResponsesStream, *events: JsonObject) -> list[Delta]:
    return [delta for one in events for delta in stream.take(one)]


def test_a_stream_is_read_from_its_last_event() -> None:
    stream = ResponsesStream()
    assert not stream.heard
    shown = feed(
        stream,
        event("response.created", response={"id": "resp_1", "model": "m"}),
        event("response.reasoning_summary_text.delta", output_index=0, delta="Hm."),
        event("response.output_text.delta", output_index=1, delta="I lo"),
        event("response.output_item.done", output_index=1, item={**SAID, "id": "other"}),
    )
    assert shown == [Delta("Hm.", "reasoning"), Delta("I lo")]
    assert not stream.complete
    usage: JsonObject = {"input_tokens": 5, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}}
    response: JsonObject = {"id": "resp_1", "status": "completed", "output": [THOUGHT, SAID], "usage": usage}
    feed(stream, event("response.completed", response=response))
    known = {"id": stream.id, "model": stream.model, "finish": stream.finish, "complete": stream.complete}
    assert known == {"id": "resp_1", "model": "m", "finish": "stop", "complete": True}
    assert (stream.usage.input, stream.usage.cached) == (5, 2)
    assert write("responses", stream.messages()).messages == [THOUGHT, SAID]


def test_a_stream_that_broke_off_keeps_what_was_done_and_said() -> None:
    stream = ResponsesStream()
    feed(
        stream,
        event("response.output_item.done", output_index=0, item=THOUGHT),
        event("response.output_item.done", output_index=1, item=SAID),
        event("response.output_text.delta", output_index=2, delta="And th"),
    )
    assert write("responses", stream.messages()).messages == [
        THOUGHT,
        SAID,
        {"role": "assistant", "content": "And th"},
    ]


@pytest.mark.parametrize(
    ("response", "finish"),
    [
        ({"status": "completed", "output": [CALL]}, "tool_calls"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "refusal"),
        ({"status": "failed"}, None),
    ],
)
def test_why_a_stream_stopped(response: JsonObject, finish: str | None) -> None:
    stream = ResponsesStream()
    feed(stream, event("response.incomplete", response=response))
    assert stream.finish == finish


def test_a_system_message_that_holds_calls_is_no_instruction() -> None:
    """Only strange histories have one, and nothing of them is lost."""
    call = {"type": "tool_use", "id": "call_1", "name": "search", "input": {}}
    said = read("anthropic", [{"role": "system", "content": [{"type": "text", "text": "x"}, call]}])
    wired = write("responses", said)
    assert wired.system is None
    again = read("responses", wired.messages)
    assert [c.name for message in again for c in message.calls] == ["search"]


def test_of_each_message_it_is_known_how_many_items_it_was_made_from() -> None:
    asked: JsonObject = {"type": "message", "role": "user", "content": "And now?"}
    items = [asked, THOUGHT, SAID, CALL, OUTPUT, SAID, CALL, OUTPUT, asked, THOUGHT, SAID]
    assert [(message.role, taken) for message, taken in read_steps(items)] == [
        ("user", 1),
        ("assistant", 3),
        ("tool", 1),
        ("assistant", 2),
        ("tool", 1),
        ("user", 1),
        ("assistant", 2),
    ]


@pytest.mark.parametrize("source", ["https://example.org/berth.png", f"data:image/png;base64,{PNG}"])
def test_a_picture_is_sent_by_its_address_or_as_its_data(source: str) -> None:
    for part in (Image(source=source), Attachment(source=source, name="berth.png", media_type="image/png")):
        (item,) = write("responses", [Message(role="user", parts=(part,))]).messages
        assert item["content"] == [{"type": "input_image", "image_url": source, "detail": "auto"}]


def test_words_beside_an_item_are_written_too() -> None:
    call = ToolCall(id="a", name="ls", input="{}")
    result = ToolResult(call_id="a", content=(Text(text="a.py"),))
    said = [
        Message(role="assistant", parts=(call,)),
        Message(role="user", parts=(result, Text(text="Go on."))),
        Message(role="user", parts=(result,)),
    ]
    kinds = [item.get("type", item.get("content")) for item in write("responses", said).messages]
    assert kinds == ["function_call", "Go on.", "function_call_output", "function_call_output"]
