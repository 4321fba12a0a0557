"""Streams put together again, from events as they come over the wire, good and bad."""

from __future__ import annotations

import pytest

from octavo.core.json_values import JsonObject
from octavo.core.messages import Opaque, Text, ToolCall
from octavo.core.reply import Delta, Usage
from octavo.core.wire.anthropic_stream import AnthropicStream
from octavo.core.wire.gemini_stream import SIGNATURE, GeminiStream
from octavo.core.wire.openai_stream import OpenAIStream
from octavo.core.wire.stream import StreamAssembler
from octavo.errors import BadInput


def feed(stream: StreamAssembler, *events: JsonObject) -> list[Delta]:
    return [delta for event in events for delta in stream.take(event)]


def chunk(delta: JsonObject, finish: str | None = None, **more: object) -> JsonObject:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}  # type: ignore[dict-item]


def call(**fields: object) -> JsonObject:
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {"tool_calls": [{**fields, "function": function}]}  # type: ignore[dict-item]


def response(part: JsonObject) -> JsonObject:
    return {"candidates": [{"content": {"parts": [part]}}], "modelVersion": "g"}


def test_an_openai_answer_is_joined_and_billed() -> None:
    stream = OpenAIStream("asked")
    assert not stream.heard
    shown = feed(
        stream,
        chunk({"role": "assistant", "content": ""}, model="answering"),
        chunk({"reasoning_content": "Hm", "reasoning": "Hm"}),
        chunk({"content": "Good \ud83d"}),
        chunk({"content": "\ude00 day"}),
        chunk({}, "stop"),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    )
    assert [(delta.text, delta.kind) for delta in shown] == [
        ("Hm", "reasoning"),
        ("Good ", "text"),
        ("😀 day", "text"),
    ]
    (message,) = stream.messages()
    assert message.text == "Good 😀 day"
    assert (stream.model, stream.finish, stream.complete) == ("answering", "stop", True)
    assert stream.usage == Usage(input=7, output=3)


def test_openai_calls_are_joined_however_a_server_numbers_them() -> None:
    stream = OpenAIStream(name_call=lambda: "made")
    feed(
        stream,
        chunk(call(index=0, id="a", name="find", arguments='{"q":')),
        chunk(call(index=0, arguments="1}")),
        chunk(call(index=0, id="b", name="find", arguments="{}")),
        chunk(call(name="open", arguments="{}")),
        chunk(call(arguments="")),
        chunk(call(index=9, id="c", name="clo")),
        chunk(call(index=9, id="c", name="se", arguments="{}")),
        chunk({}, "stop"),
    )
    (message,) = stream.messages()
    assert [(one.id, one.name, one.input) for one in message.calls] == [
        ("a", "find", '{"q":1}'),
        ("b", "find", "{}"),
        ("made", "open", "{}"),
        ("c", "close", "{}"),
    ]
    assert stream.finish == "tool_calls"


def test_a_name_that_comes_with_every_piece_of_a_call_is_one_name() -> None:
    stream = OpenAIStream()
    for arguments in ('{"q"', ":1", "}"):
        feed(stream, chunk(call(index=0, id="a", name="find", arguments=arguments)))
    (message,) = stream.messages()
    assert [(one.id, one.name, one.input) for one in message.calls] == [("a", "find", '{"q":1}')]


def test_openai_choices_are_kept_apart() -> None:
    stream = OpenAIStream()
    second: JsonObject = {"choices": [{"index": 1, "delta": {"content": "two"}, "finish_reason": None}]}
    shown = feed(stream, chunk({"content": "one"}, "length"), second)
    assert [delta.text for delta in shown] == ["one"]
    assert (stream.finish, stream.complete) == ("length", False)
    feed(stream, {"choices": [{"index": 1, "delta": {"refusal": "no"}, "finish_reason": "stop"}]})
    assert stream.complete
    assert [message.text for message in stream.messages()] == ["one", "two\nno"]


def test_an_openai_refusal_is_one() -> None:
    stream = OpenAIStream()
    feed(stream, chunk({"refusal": "No."}, "stop"))
    assert stream.finish == "refusal"


def test_what_is_not_of_the_format_is_passed_over() -> None:
    openai, anthropic, gemini = OpenAIStream(), AnthropicStream(), GeminiStream()
    feed(openai, {"choices": 5}, {"choices": [5, {"delta": 5}]}, {"usage": 5})
    feed(anthropic, {"type": 5}, {"type": "content_block_delta", "index": 3, "delta": {}})
    feed(gemini, {"candidates": 5}, {"candidates": [{"index": 1}, {"content": 5}]})
    for stream in (openai, anthropic, gemini):
        assert (stream.finish, stream.complete, stream.usage) == (None, False, Usage())
    assert OpenAIStream().finish is None


def test_an_anthropic_answer_is_joined_block_by_block() -> None:
    stream = AnthropicStream("asked")
    start: JsonObject = {"model": "claude", "usage": {"input_tokens": 5, "cache_read_input_tokens": 2}}
    shown = feed(
        stream,
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Good"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": " day"}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "citations_delta", "citation": {"n": 1}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "citations_delta", "citation": {"n": 2}},
        },
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "id": "t", "name": "find", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 2,
            "delta": {"type": "input_json_delta", "partial_json": '{"q" :1}'},
        },
        {
            "type": "content_block_start",
            "index": 3,
            "content_block": {"type": "tool_use", "id": "u", "name": "find", "input": {}, "caller": None},
        },
        {
            "type": "content_block_delta",
            "index": 3,
            "delta": {"type": "input_json_delta", "partial_json": '{"q'},
        },
        {"type": "content_block_start", "index": 4, "content_block": {"type": "text", "text": ""}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 9, "input_tokens": None},
        },
        {"type": "message_stop"},
    )
    assert [(delta.text, delta.kind) for delta in shown] == [
        ("Hm", "reasoning"),
        ("Good", "text"),
        (" day", "text"),
    ]
    (message,) = stream.messages()
    assert message.text == "Good day"
    assert [part.input for part in message.parts if isinstance(part, ToolCall)] == ['{"q" :1}', '{"q']
    assert (stream.model, stream.finish, stream.complete, stream.stopped) == (
        "claude",
        "tool_calls",
        True,
        True,
    )
    assert stream.usage == Usage(input=7, output=9, cached=2)


def test_an_anthropic_text_alone_is_read_as_text() -> None:
    stream = AnthropicStream()
    feed(
        stream,
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
    )
    assert stream.messages()[0].parts == (Text(text="Hi"),)
    assert (stream.finish, stream.stopped) == ("length", False)


def test_a_gemini_answer_joins_text_and_keeps_signatures() -> None:
    stream = GeminiStream("asked", lambda: "made")
    parts: list[JsonObject] = [
        {"text": "Hm", "thought": True},
        {"text": "Good"},
        {"text": " day"},
        {"functionCall": {"name": "find", "args": {}}},
        {"functionCall": {"id": "own", "name": "find", "args": {}}},
        {"text": "", SIGNATURE: "abc"},
    ]
    shown = feed(
        stream,
        *map(response, parts),
        {"candidates": [{"index": 0, "finishReason": "STOP"}], "usageMetadata": {"candidatesTokenCount": 4}},
    )
    assert [delta.text for delta in shown] == ["Hm", "Good", " day", ""]
    (message,) = stream.messages()
    assert message.text == "Good day"
    assert [one.id for one in message.calls] == ["made", "own"]
    assert isinstance(message.parts[-1], Opaque)
    assert (stream.model, stream.finish, stream.complete, stream.broken) == ("g", "tool_calls", True, False)
    assert stream.usage == Usage(output=4)


def test_a_gemini_request_that_was_blocked_is_refused_and_a_model_may_give_up() -> None:
    blocked, broken = GeminiStream(), GeminiStream()
    feed(blocked, {"promptFeedback": {"blockReason": "SAFETY"}})
    feed(broken, {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]})
    assert (blocked.finish, blocked.broken) == ("refusal", False)
    assert broken.broken


def test_an_alternative_answer_of_gemini_is_left_out() -> None:
    stream = GeminiStream()
    feed(
        stream,
        {"candidates": [{"index": 0, "content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP"}]},
        {"candidates": [{"index": 1, "content": {"parts": [{"text": "No."}]}, "finishReason": "SAFETY"}]},
    )
    assert (stream.messages()[0].text, stream.finish) == ("Yes.", "stop")


def test_a_call_stays_without_an_id_unless_somebody_names_it() -> None:
    openai, gemini = OpenAIStream(), GeminiStream()
    feed(openai, chunk(call(index=0, name="find", arguments="{}"), "tool_calls"))
    feed(gemini, {"candidates": [{"content": {"parts": [{"functionCall": {"name": "find"}}]}}]})
    assert openai.messages()[0].calls[0].name == gemini.messages()[0].calls[0].name == "find"
    assert openai.messages()[0].calls[0].id == ""


def test_a_block_that_cannot_be_read_is_named() -> None:
    stream = AnthropicStream()
    feed(stream, {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}})
    with pytest.raises(BadInput, match="input: expected an object"):
        stream.messages()


def test_a_call_whose_input_came_at_once_or_is_empty_keeps_it() -> None:
    stream = AnthropicStream()
    blocks: list[JsonObject] = [
        {"type": "tool_use", "id": "t", "name": "now", "input": {}},
        {"type": "tool_use", "id": "u", "name": "find", "input": {"q": 1}},
    ]
    for n, block in enumerate(blocks):
        feed(stream, {"type": "content_block_start", "index": n, "content_block": block})
    assert [call.input for call in stream.messages()[0].calls] == ["{}", '{"q":1}']
