"""Schemas of turns and compressions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from octavo.server.schemas.base import Focus, Id, Number, Shape, Share, Switch, Tokens
from octavo.server.schemas.messages import Content


class ToolIn(Shape):
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str = ""
    schema_: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}},
        alias="schema",
        description="The JSON Schema of the input.",
    )


class TurnIn(Shape):
    content: Content | None = Field(
        default=None,
        description="The message of the user. Without it, the model answers the tip, or `parent`.",
    )
    parent: Id | None = None
    edits: Id | None = Field(default=None, description="The message that `content` is a new version of.")
    regenerates: Id | None = Field(
        default=None, description="The answer to generate again. The new answer is stored beside it."
    )
    id: Id | None = Field(
        default=None,
        description="An id of your own for the turn and its answer. A repeated request continues the turn.",
    )
    tools: list[ToolIn] = Field(default_factory=list, max_length=500)
    temperature: Annotated[float, Field(ge=0, le=2), Number] | None = None
    stream: Switch = Field(
        default=True, description="True: respond with events. False: respond with the task at once."
    )


class CompressIn(Shape):
    focus: Focus = ""
    keep: Tokens | Share | None = Field(
        default=None, description="How much stays verbatim: tokens, or a share of the history; 0 is nothing."
    )
    up_to: Id | None = Field(default=None, description="The last message to cover.")
    stream: Switch = True


class RegenerateIn(Shape):
    focus: Focus = ""
    stream: Switch = True


class TaskOut(Shape):
    id: str
    kind: Literal["turn", "compression"]
    conversation: str
    status: Literal["running", "done", "failed", "cancelled"]
    events: int = Field(description="The id of the last event so far.")
    url: str = Field(description="The address of its events.")


class ReplyOut(Shape):
    """How an answer ended, and what the provider billed."""

    finish: Literal["stop", "length", "tool_calls", "refusal", "cancelled"]
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int


class TasksOut(Shape):
    tasks: list[TaskOut]
