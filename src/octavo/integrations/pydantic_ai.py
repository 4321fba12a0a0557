"""Pydantic AI: a capability whose agents no longer outgrow their window.

It changes the messages of one request. `all_messages()` and every stored history stay whole. A request of Pydantic AI
may hold the results of tools, a prompt and a system prompt in one; each of these is a message of ours, and what is kept
of a request is put together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack, cast

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_core import to_json

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Wire,
)
from octavo.core.protocol import OPENAI
from octavo.integrations.tools import count_tools
from octavo.integrations.view import ContextView, HistoryItem, ViewItem, ViewOptions, ViewRequest

FORMAT = "pydantic-ai"
ERRORS = ("failed", "retried")
"""Outcomes of a tool that providers are told are errors."""


@dataclass(frozen=True, slots=True, eq=False)
class RequestPiece:
    """Some parts of a message of Pydantic AI."""

    message: ModelMessage
    parts: tuple[ModelRequestPart | ModelResponsePart, ...]
    contents: dict[Part, UserContent] = field(default_factory=dict)
    """What the parts of a prompt were, for a prompt that is changed."""


class OctavoContext(AbstractCapability[Any]):
    """Sends a view of the history that fits; the history of the run stays whole.

    `store` is a file or the URL of a database; without one, snapshots live as long as the process.
    """

    def __init__(self, store: str | Path | None = None, **options: Unpack[ViewOptions]) -> None:
        self._view = ContextView.open("OctavoContext", store, options)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Replace the messages of a request by a view of them."""
        front, history = read_messages(request_context.messages)
        parameters = request_context.model_request_parameters
        tools = [*parameters.function_tools, *parameters.output_tools]
        settings = request_context.model_settings or {}
        view = await self._view.aview(
            ViewRequest(
                history=history,
                model=request_context.model.model_name,
                system=_system(front, request_context),
                tools=count_tools(tools, _definition),
                reply=settings.get("max_tokens"),
                rules=OPENAI,
            )
        )
        self._view.expect_bill(_name(ctx), view)
        written = [piece for item in view.items for piece in _write(item)]
        return replace(request_context, messages=_joined([*front, *written]))

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Learn from the bill of a request."""
        del request_context
        await self._view.billed(_name(ctx), response.usage.input_tokens)
        return response


def _name(ctx: RunContext[Any]) -> str:
    """Name the request that a run waits for: it makes one at a time."""
    return ctx.run_id or str(id(ctx.usage))


def _system(front: Sequence[RequestPiece], asked: ModelRequestContext) -> str:
    """Give all that the model is told beside the conversation."""
    prompts = [part.content for piece in front for part in piece.parts if isinstance(part, SystemPromptPart)]
    told = asked.model_request_parameters.instruction_parts
    if told:
        return "\n\n".join([*prompts, *(part.content for part in told)])
    last = next((m for m in reversed(asked.messages) if isinstance(m, ModelRequest)), None)
    return "\n\n".join([*prompts, *([last.instructions] if last and last.instructions else [])])


def _definition(tool: object) -> dict[str, Any]:
    assert isinstance(tool, ToolDefinition)
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.parameters_json_schema,
    }


def read_messages(
    messages: Sequence[ModelMessage],
) -> tuple[list[RequestPiece], list[HistoryItem[RequestPiece]]]:
    """Read messages: the system prompts at the front, and the conversation."""
    front: list[RequestPiece] = []
    history: list[HistoryItem[RequestPiece]] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            parts = tuple(_said(part) for part in message.parts)
            piece = RequestPiece(message, tuple(message.parts))
            history.append(HistoryItem(Message(role="assistant", parts=parts), (piece,)))
            continue
        for role, some in _grouped(message.parts):
            piece = RequestPiece(message, tuple(some))
            if role == "system" and not history:
                front.append(piece)
            else:
                history.append(HistoryItem(_request_message(role, piece), (piece,)))
    return front, history


def _grouped(parts: Iterable[ModelRequestPart]) -> Iterator[tuple[Role, list[ModelRequestPart]]]:
    """Divide the parts of a request into messages: those of one speaker that stand together."""
    role: Role | None = None
    group: list[ModelRequestPart] = []
    for part in parts:
        speaker = _role(part)
        if group and speaker != role:
            yield cast(Role, role), group
            group = []
        role = speaker
        group.append(part)
    if group:
        yield cast(Role, role), group


def _role(part: ModelRequestPart) -> Role:
    if isinstance(part, SystemPromptPart):
        return "system"
    return "tool" if isinstance(part, ToolReturnPart) or getattr(part, "tool_name", None) else "user"


def _request_message(role: Role, piece: RequestPiece) -> Message:
    parts = tuple(
        ours for part in piece.parts for ours in _asked(cast(ModelRequestPart, part), piece.contents)
    )
    return Message(role=role, parts=parts)


def _asked(part: ModelRequestPart, contents: dict[Part, UserContent]) -> Iterator[Part]:
    if isinstance(part, SystemPromptPart):
        yield Text(text=part.content)
    elif isinstance(part, UserPromptPart):
        pieces = [part.content] if isinstance(part.content, str) else part.content
        for piece in pieces:
            ours = _content(piece)
            contents.setdefault(ours, piece)
            yield ours
    elif isinstance(part, ToolReturnPart):
        yield ToolResult(
            call_id=part.tool_call_id,
            name=part.tool_name,
            content=(Text(text=part.model_response_str()),),
            error=part.outcome in ERRORS,
        )
    elif isinstance(part, RetryFeedbackPart):
        yield Text(text=part.model_response())
    else:
        yield from _other(part)


def _other(part: Any) -> Iterator[Part]:
    """Read a part of an older release, or one that only Pydantic AI understands."""
    response, tool = getattr(part, "model_response", None), getattr(part, "tool_name", None)
    if callable(response) and tool:
        text = Text(text=str(response()))
        yield ToolResult(call_id=part.tool_call_id, name=tool, content=(text,), error=True)
    elif callable(response):
        yield Text(text=str(response()))
    else:
        yield _opaque(part)


def _opaque(part: Any) -> Opaque:
    kind = str(getattr(part, "part_kind", getattr(part, "kind", type(part).__name__)))
    return Opaque(kind=kind, wire=Wire(FORMAT, to_json(part, fallback=str).decode()))


def _content(piece: UserContent) -> Part:
    match piece:
        case str():
            return Text(text=piece)
        case TextContent():
            return Text(text=piece.content)
        case ImageUrl():
            return Image(source=piece.url)
        case BinaryContent() if piece.is_image:
            return Image(source=piece.data_uri, media_type=piece.media_type)
        case BinaryContent():
            return Attachment(
                name=piece.identifier,
                media_type=piece.media_type,
                size=len(piece.data),
                source=piece.data_uri,
            )
        case _:
            return _opaque(piece)


def _said(part: ModelResponsePart) -> Part:
    match part:
        case TextPart():
            return Text(text=part.content)
        case ThinkingPart():
            return Reasoning(text=part.content)
        case ToolCallPart():
            return ToolCall(id=part.tool_call_id, name=part.tool_name, input=part.args_as_json_str())
        case _:
            return _opaque(part)


def _write(item: ViewItem[RequestPiece]) -> Iterator[RequestPiece]:
    """Give what is sent of a message: its own parts, or new ones where it was changed."""
    original = next(iter(item.objects), None)
    if item.kept and original is not None:
        yield original
        return
    message = item.message
    if message.role == "assistant":
        # Nothing makes such a message but a provider's rules: two answers that were joined, or a call that was renamed.
        said: list[ModelResponsePart] = [part for ours in message.parts for part in _answered(ours)]
        yield RequestPiece(ModelResponse(parts=said), tuple(said))
        return
    asked = tuple(_asking(message, original))
    whole = original.message if original else ModelRequest(parts=list(asked))
    yield RequestPiece(whole, asked)


def _answered(part: Part) -> Iterator[ModelResponsePart]:
    if isinstance(part, Text):
        yield TextPart(part.text)
    elif isinstance(part, ToolCall):
        yield ToolCallPart(part.name, part.input, part.id)


def _asking(message: Message, original: RequestPiece | None) -> Iterator[ModelRequestPart]:
    before = {
        part.tool_call_id: part
        for part in (original.parts if original else ())
        if isinstance(part, ToolReturnPart)
    }
    for result in message.results:
        known = before.get(result.call_id)
        if known is not None:
            yield replace(cast(Any, known), content=result.text)
        else:
            yield ToolReturnPart(result.name, result.text, result.call_id)
    rest = [part for part in message.parts if not isinstance(part, ToolResult)]
    if message.role == "system":
        yield SystemPromptPart(message.text)
    elif rest:
        known_contents = original.contents if original else {}
        contents = [known_contents.get(part) or _as_content(part) for part in rest]
        said = [piece for piece in contents if piece]
        yield UserPromptPart(said[0] if len(said) == 1 and isinstance(said[0], str) else said)


def _as_content(part: Part) -> UserContent:
    if isinstance(part, Image):
        return ImageUrl(part.source)
    return part.text if isinstance(part, Text) else ""


def _joined(pieces: Sequence[RequestPiece]) -> list[ModelMessage]:
    """Put pieces of one message together again; one that is whole is the very object that it was."""
    messages: list[ModelMessage] = []
    at = 0
    while at < len(pieces):
        stop = at + 1
        while stop < len(pieces) and pieces[stop].message is pieces[at].message:
            stop += 1
        whole = pieces[at].message
        parts = [part for piece in pieces[at:stop] for part in piece.parts]
        same = len(parts) == len(whole.parts) and all(
            part is own for part, own in zip(parts, whole.parts, strict=True)
        )
        messages.append(whole if same else replace(cast(Any, whole), parts=parts))
        at = stop
    return messages


__all__ = ["OctavoContext"]
