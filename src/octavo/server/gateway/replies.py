"""A provider's answer, read on the side while it passes by: what was said, how it ended, what was billed.

The bytes are collected as they pass and read once, at the end. An answer that cannot be read is none: the client has
it all the same. What is read is the message a client will send back in its next request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from octavo.core.fields import Json, JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Usage
from octavo.core.wire import read
from octavo.core.wire.openai import REASONING
from octavo.errors import BadInput
from octavo.meters.usage import read_usage


@dataclass(slots=True, kw_only=True)
class Heard:
    """What a provider answered."""

    messages: list[Message] = field(default_factory=list)
    """One, or as many as were asked for."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    complete: bool = False
    """Whether the answer came to its end."""


def hear_openai(raw: bytes, *, streamed: bool) -> Heard:
    """Read an answer of Chat Completions."""
    if not streamed:
        return _whole_openai(_object(raw))
    heard, choices = Heard(), dict[int, _Choice]()
    for event in events(raw):
        heard.model = _text(event.get("model")) or heard.model
        if isinstance(event.get("usage"), dict):
            heard.usage = read_usage(cast("dict[str, object]", event["usage"]))
        for choice in _objects(event.get("choices")):
            index = choice.get("index")
            choices.setdefault(index if isinstance(index, int) else 0, _Choice()).take(choice)
    heard.messages = [said for _, one in sorted(choices.items()) if (said := _openai(one.wire())) is not None]
    heard.complete = bool(choices) and all(one.finished for one in choices.values())
    return heard


def _whole_openai(body: JsonObject) -> Heard:
    choices = _objects(body.get("choices"))
    said = [_openai(choice["message"]) for choice in choices if isinstance(choice.get("message"), dict)]
    usage = body.get("usage")
    return Heard(
        messages=[message for message in said if message is not None],
        usage=read_usage(cast("dict[str, object]", usage)) if isinstance(usage, dict) else Usage(),
        model=_text(body.get("model")),
        complete=bool(said),
    )


def _openai(wire: Json) -> Message | None:
    try:
        return read("openai", [wire])[0]
    except BadInput:
        return None


@dataclass(slots=True)
class _Choice:
    """One answer of a Chat Completions stream, as far as it came."""

    texts: dict[str, str] = field(default_factory=dict)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finished: bool = False

    def take(self, choice: JsonObject) -> None:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            for name in ("content", "refusal", *REASONING):
                if isinstance(piece := delta.get(name), str):
                    self.texts[name] = self.texts.get(name, "") + piece
            for call in _objects(delta.get("tool_calls")):
                self._take_call(call)
        self.finished = self.finished or bool(choice.get("finish_reason"))

    def _take_call(self, call: JsonObject) -> None:
        index = call.get("index")
        at = index if isinstance(index, int) else max(0, len(self.calls) - 1)
        known = self.calls.setdefault(at, {"id": "", "name": "", "arguments": ""})
        known["id"] = known["id"] or _text(call.get("id"))
        function = call.get("function")
        if isinstance(function, dict):
            known["name"] += _text(function.get("name"))
            known["arguments"] += _text(function.get("arguments"))

    def wire(self) -> JsonObject:
        said: JsonObject = {"role": "assistant", "content": self.texts.get("content")}
        said |= {name: text for name, text in self.texts.items() if name != "content" and text}
        if self.calls:
            said["content"] = said["content"] or None
            said["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for _, call in sorted(self.calls.items())
            ]
        return said


def hear_anthropic(raw: bytes, *, streamed: bool) -> Heard:
    """Read an answer of Messages."""
    if not streamed:
        body = _object(raw)
        return _anthropic(
            _objects(body.get("content")),
            _dict(body.get("usage")),
            _text(body.get("model")),
            complete=bool(body.get("stop_reason")),
        )
    blocks: dict[int, JsonObject] = {}
    inputs: dict[int, str] = {}
    usage: JsonObject = {}
    model, complete = "", False
    for event in events(raw):
        index = event.get("index")
        at = index if isinstance(index, int) else 0
        match event.get("type"):
            case "message_start":
                message = _dict(event.get("message"))
                model, usage = _text(message.get("model")), _dict(message.get("usage"))
            case "content_block_start":
                blocks[at] = _dict(event.get("content_block"))
            case "content_block_delta" if at in blocks:
                _add(blocks[at], _dict(event.get("delta")), inputs, at)
            case "message_delta":
                usage |= {name: n for name, n in _dict(event.get("usage")).items() if n is not None}
                # Not when it stops: the answer is stored while the event that says so is held back.
                complete = complete or bool(_dict(event.get("delta")).get("stop_reason"))
    for at, text in inputs.items():
        blocks[at]["input"] = _input(text)
    return _anthropic([blocks[at] for at in sorted(blocks)], usage, model, complete=complete)


def _add(block: JsonObject, delta: JsonObject, inputs: dict[int, str], at: int) -> None:
    match delta.get("type"):
        case "text_delta":
            block["text"] = _text(block.get("text")) + _text(delta.get("text"))
        case "thinking_delta":
            block["thinking"] = _text(block.get("thinking")) + _text(delta.get("thinking"))
        case "signature_delta":
            block["signature"] = _text(delta.get("signature"))
        case "input_json_delta":
            inputs[at] = inputs.get(at, "") + _text(delta.get("partial_json"))
        case "citations_delta":
            cited = block.get("citations")
            block["citations"] = [*(cited if isinstance(cited, list) else []), delta.get("citation")]


def _input(text: str) -> JsonObject:
    try:
        return _dict(json.loads(text)) if text.strip() else {}
    except (ValueError, RecursionError):
        return {}


def _anthropic(blocks: list[JsonObject], usage: JsonObject, model: str, *, complete: bool) -> Heard:
    kept = [block for block in blocks if block != {"type": "text", "text": ""}]
    try:
        messages = [*read("anthropic", [{"role": "assistant", "content": cast(Json, kept)}])] if kept else []
    except BadInput:
        messages = []
    # Without the cache's counts the report would be taken for OpenAI's, which counts what is cached as input.
    report = {"cache_read_input_tokens": 0, **{name: n for name, n in usage.items() if n is not None}}
    return Heard(messages=messages, usage=read_usage(report), model=model, complete=complete)


def events(raw: bytes) -> Iterator[JsonObject]:
    """Read the data of server-sent events; what is no JSON object, such as `[DONE]`, is passed over."""
    for block in raw.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:")]
        if lines and (event := _object(b"\n".join(lines))):
            yield event


def _object(raw: bytes) -> JsonObject:
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return _dict(value)


def _dict(value: Any) -> JsonObject:
    return dict(value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[JsonObject]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
