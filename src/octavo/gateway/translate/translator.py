"""An answer of a provider, turned into the interface that the client speaks, while it arrives or as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from octavo.core.json_values import JsonObject
from octavo.core.messages import Message
from octavo.core.reply import Finish, Usage
from octavo.core.wire.anthropic_stream import FINISHES as ANTHROPIC_FINISHES
from octavo.core.wire.anthropic_stream import AnthropicStream
from octavo.core.wire.openai_stream import FINISHES as OPENAI_FINISHES
from octavo.core.wire.openai_stream import OpenAIStream
from octavo.core.wire.stream import StreamAssembler, object_at, objects_at, text_at
from octavo.errors import BadInput
from octavo.gateway.dialects.dialect import Dialect, EventSplitter, events, read_object
from octavo.gateway.translate.answers import WRITERS, Answer
from octavo.gateway.translate.streams import STREAM_WRITERS, StreamWriter
from octavo.http.responses import to_json

ASSEMBLERS: Mapping[str, Callable[[], StreamAssembler]] = MappingProxyType(
    {"openai": OpenAIStream, "anthropic": AnthropicStream}
)
NOTHING = Message(role="assistant", parts=())


@dataclass(slots=True, kw_only=True)
class AnswerTranslator:
    """Translates one answer."""

    client: str
    """The interface of the client."""
    provider: Dialect
    """The interface of the provider."""
    id: str
    model: str
    """The name that the client asked for."""
    request: JsonObject
    """The body of the client's request."""
    tokens: int = 0
    """Tokens of the request by our count: some clients want a number before the provider has told it."""
    failure: str = ""
    """What the provider said when it broke off in the middle of a stream."""
    _splitter: EventSplitter = field(default_factory=EventSplitter)
    _stream: StreamAssembler = field(init=False)
    _writer: StreamWriter = field(init=False)

    def __post_init__(self) -> None:
        self._stream = ASSEMBLERS[self.provider.name]()
        self._writer = STREAM_WRITERS[self.client](self._answer(NOTHING, "stop", Usage(input=self.tokens)))

    def _answer(self, message: Message, finish: Finish, usage: Usage) -> Answer:
        return Answer(
            id=self.id, model=self.model, message=message, finish=finish, usage=usage, request=self.request
        )

    def whole(self, raw: bytes) -> bytes:
        """Translate an answer that is not a stream."""
        found = self.provider.read_answer(raw, streamed=False)
        message = found.messages[0] if found.messages else NOTHING
        answer = self._answer(message, self._finish_of(read_object(raw), message), found.usage)
        return to_json(WRITERS[self.client](answer))

    def _finish_of(self, body: JsonObject, message: Message) -> Finish:
        if self.provider.name == "anthropic":
            return ANTHROPIC_FINISHES.get(text_at(body, "stop_reason"), "stop")
        choice = next(iter(objects_at(body, "choices")), {})
        finish = OPENAI_FINISHES.get(text_at(choice, "finish_reason"), "stop")
        return "tool_calls" if finish == "stop" and message.calls else finish

    def start(self) -> bytes:
        """Begin a stream."""
        return self._writer.start()

    def feed(self, piece: bytes) -> bytes:
        """Translate what has arrived of a stream."""
        written: list[bytes] = []
        for event in events(b"".join(self._splitter.feed(piece))):
            if "error" in event:
                self.failure = text_at(object_at(event, "error"), "message") or "the provider broke off"
                continue
            written += [self._writer.delta(delta) for delta in self._stream.take(event) if delta.text]
        return b"".join(written)

    def end(self) -> bytes:
        """End a stream that has arrived as far as it will."""
        rest = self.feed(b"\n\n")
        try:
            message = next(iter(self._stream.messages()), NOTHING)
        except BadInput:
            message = NOTHING
        answer = self._answer(message, self._stream.finish or "length", self._stream.usage)
        return rest + self._writer.end(answer)

    def whole_stream(self, raw: bytes) -> bytes:
        """Translate a stream that has arrived in full."""
        return self.start() + self.feed(raw) + self.end()
