"""Streamed answers, written in the interface that the client speaks.

Text and thinking are passed on as they arrive. A tool call is passed on when it is complete: no client can use half of
one. The last events are written once the answer is known to be whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol

from octavo.core.json_values import Json, JsonObject
from octavo.core.reply import Delta
from octavo.core.wire.pairing import input_of
from octavo.gateway.translate.answers import (
    ANTHROPIC_FINISHES,
    GEMINI_FINISHES,
    NO_SIGNATURE,
    OPENAI_FINISHES,
    Answer,
    anthropic_usage,
    gemini_calls,
    gemini_object,
    openai_call,
    openai_usage,
    response_object,
    responses_items,
)
from octavo.http.responses import to_json


class StreamWriter(Protocol):
    """Writes the events of one answer."""

    def start(self) -> bytes:
        """Write what comes before the first word."""

    def delta(self, delta: Delta) -> bytes:
        """Write a piece of text or thinking."""

    def end(self, answer: Answer) -> bytes:
        """Write the tool calls, and the end of the answer."""


def _data(event: JsonObject) -> bytes:
    return b"data: %s\n\n" % to_json(event)


def _named(event: JsonObject) -> bytes:
    return b"event: %s\n%s" % (str(event["type"]).encode(), _data(event))


@dataclass(slots=True)
class OpenAIWriter:
    """Writes the chunks of Chat Completions."""

    opened: Answer
    """The answer as far as it is known when it begins: its id and model."""

    def start(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def delta(self, delta: Delta) -> bytes:
        return self._chunk({"content" if delta.kind == "text" else "reasoning_content": delta.text})

    def end(self, answer: Answer) -> bytes:
        pieces: list[bytes] = []
        if answer.calls:
            calls: list[Json] = [{"index": i, **openai_call(call)} for i, call in enumerate(answer.calls)]
            pieces.append(self._chunk({"tool_calls": calls}))
        pieces.append(self._chunk({}, OPENAI_FINISHES[answer.finish]))
        options = self.opened.request.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            pieces.append(_data({**self._head(), "choices": [], "usage": openai_usage(answer.usage)}))
        return b"".join([*pieces, b"data: [DONE]\n\n"])

    def _head(self) -> JsonObject:
        made = self.opened
        return {
            "id": f"chatcmpl-{made.id}",
            "object": "chat.completion.chunk",
            "created": made.created,
            "model": made.model,
        }

    def _chunk(self, delta: JsonObject, finish: str | None = None) -> bytes:
        choice: JsonObject = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**self._head(), "choices": [choice]})


@dataclass(slots=True)
class AnthropicWriter:
    """Writes the events of Anthropic's Messages."""

    opened: Answer
    _index: int = -1
    _kind: str = ""
    """The kind of the block that is open."""

    def start(self) -> bytes:
        made = self.opened
        message: JsonObject = {
            "id": f"msg_{made.id}",
            "type": "message",
            "role": "assistant",
            "model": made.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": made.usage.input, "output_tokens": 0},
        }
        return _named({"type": "message_start", "message": message})

    def delta(self, delta: Delta) -> bytes:
        if delta.kind == "text":
            piece: JsonObject = {"type": "text_delta", "text": delta.text}
            return self._open("text", {"type": "text", "text": ""}) + self._delta(piece)
        empty: JsonObject = {"type": "thinking", "thinking": "", "signature": ""}
        return self._open("thinking", empty) + self._delta({"type": "thinking_delta", "thinking": delta.text})

    def end(self, answer: Answer) -> bytes:
        pieces = [self._close()]
        for call in answer.calls:
            block: JsonObject = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            said = json.dumps(input_of(call), ensure_ascii=False)
            pieces.append(self._open(f"tool {call.id}", block))
            pieces.append(self._delta({"type": "input_json_delta", "partial_json": said}) + self._close())
        stop: JsonObject = {"stop_reason": ANTHROPIC_FINISHES[answer.finish], "stop_sequence": None}
        usage = anthropic_usage(answer.usage)
        pieces.append(_named({"type": "message_delta", "delta": stop, "usage": usage}))
        return b"".join([*pieces, _named({"type": "message_stop"})])

    def _open(self, kind: str, block: JsonObject) -> bytes:
        if kind == self._kind:
            return b""
        closed = self._close()
        self._index, self._kind = self._index + 1, kind
        start: JsonObject = {"type": "content_block_start", "index": self._index, "content_block": block}
        return closed + _named(start)

    def _delta(self, delta: JsonObject) -> bytes:
        return _named({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _close(self) -> bytes:
        if not self._kind:
            return b""
        signed = b""
        if self._kind == "thinking":
            signed = self._delta({"type": "signature_delta", "signature": NO_SIGNATURE})
        self._kind = ""
        return signed + _named({"type": "content_block_stop", "index": self._index})


@dataclass(slots=True)
class ResponsesWriter:
    """Writes the events of OpenAI's Responses."""

    opened: Answer
    _sequence: int = 0
    _texts: dict[str, str] = field(default_factory=dict)
    """What was written so far of the thinking and of the text."""
    _order: list[str] = field(default_factory=list)
    """The items that were opened, in order."""

    def start(self) -> bytes:
        running = response_object(self.opened, [], running=True)
        return self._event("created", response=running) + self._event("in_progress", response=running)

    def delta(self, delta: Delta) -> bytes:
        opening = b"" if delta.kind in self._order else b"".join(self._open(delta.kind))
        self._texts[delta.kind] = self._texts.get(delta.kind, "") + delta.text
        if delta.kind == "text":
            return opening + self._event(
                "output_text.delta", **self._place("text"), delta=delta.text, logprobs=[]
            )
        return opening + self._event(
            "reasoning_summary_text.delta", **self._place("reasoning"), delta=delta.text
        )

    def _open(self, kind: str) -> Iterator[bytes]:
        index = len(self._order)
        self._order.append(kind)
        if kind == "text":
            item: JsonObject = {
                "id": f"msg_{self.opened.id}",
                "type": "message",
                "status": "in_progress",
                "role": "assistant",
                "content": [],
            }
            part: JsonObject = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            yield self._event("output_item.added", output_index=index, item=item)
            yield self._event("content_part.added", **self._place(kind), part=part)
        else:
            item = {"id": f"rs_{self.opened.id}", "type": "reasoning", "summary": []}
            yield self._event("output_item.added", output_index=index, item=item)
            empty: JsonObject = {"type": "summary_text", "text": ""}
            yield self._event("reasoning_summary_part.added", **self._place(kind), part=empty)

    def end(self, answer: Answer) -> bytes:
        items = responses_items(answer)
        calls = [item for item in items if "call_id" in item]
        said = {"reasoning": "reasoning", "message": "text"}
        written = {said[str(item["type"])]: item for item in items if "call_id" not in item}
        for kind in written:
            if kind not in self._order:  # the service sent it whole, at its end
                self._order.append(kind)
        pieces = [
            piece for kind in self._order if kind in written for piece in self._done(kind, written[kind])
        ]
        for i, item in enumerate(calls, start=len(self._order)):
            pieces.extend(self._call(i, item))
        output = [written[kind] for kind in self._order if kind in written] + calls
        whole = response_object(answer, output)
        pieces.append(self._event(str(whole["status"]), response=whole))
        return b"".join(pieces)

    def _done(self, kind: str, item: JsonObject) -> Iterator[bytes]:
        place, text = self._place(kind), self._texts.get(kind, "")
        if kind == "text":
            part: JsonObject = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            yield self._event("output_text.done", **place, text=text, logprobs=[])
            yield self._event("content_part.done", **place, part=part)
        else:
            part = {"type": "summary_text", "text": text}
            yield self._event("reasoning_summary_text.done", **place, text=text)
            yield self._event("reasoning_summary_part.done", **place, part=part)
        yield self._event("output_item.done", output_index=self._order.index(kind), item=item)

    def _call(self, index: int, item: JsonObject) -> Iterator[bytes]:
        custom = item["type"] == "custom_tool_call"
        name, event = (
            ("input", "custom_tool_call_input") if custom else ("arguments", "function_call_arguments")
        )
        place: JsonObject = {"item_id": item["id"], "output_index": index}
        begun: JsonObject = {**item, name: "", "status": "in_progress"}
        yield self._event("output_item.added", output_index=index, item=begun)
        yield self._event(f"{event}.delta", **place, delta=item[name])
        named: JsonObject = {} if custom else {"name": item["name"]}
        yield self._event(f"{event}.done", **place, **named, **{name: item[name]})
        yield self._event("output_item.done", output_index=index, item=item)

    def _place(self, kind: str) -> JsonObject:
        index = self._order.index(kind)
        if kind == "text":
            return {"item_id": f"msg_{self.opened.id}", "output_index": index, "content_index": 0}
        return {"item_id": f"rs_{self.opened.id}", "output_index": index, "summary_index": 0}

    def _event(self, kind: str, /, **fields: Json) -> bytes:
        event: JsonObject = {"type": f"response.{kind}", "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return _named(event)


@dataclass(slots=True)
class GeminiWriter:
    """Writes the pieces of Gemini's stream as server-sent events."""

    opened: Answer

    def start(self) -> bytes:
        return b""

    def delta(self, delta: Delta) -> bytes:
        part: JsonObject = {"text": delta.text}
        return _data(gemini_object(self.opened, [part | {"thought": True} if delta.kind != "text" else part]))

    def end(self, answer: Answer) -> bytes:
        said = replace(answer, id=self.opened.id)
        return _data(
            gemini_object(said, [*gemini_calls(answer.calls)], finish=GEMINI_FINISHES[answer.finish])
        )


STREAM_WRITERS: Mapping[str, Callable[[Answer], StreamWriter]] = MappingProxyType(
    {
        "openai": OpenAIWriter,
        "anthropic": AnthropicWriter,
        "responses": ResponsesWriter,
        "gemini": GeminiWriter,
    }
)
"""How a stream is written, by the interface of the client."""
