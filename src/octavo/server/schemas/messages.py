"""Schemas of messages, their parts, the tree, and files."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from octavo.server.schemas.base import Id, Role, Shape, Size, Switch
from octavo.server.schemas.recall import PassageOut


class TextPart(Shape):
    type: Literal["text"]
    text: str


class ImagePart(Shape):
    type: Literal["image"]
    source: str
    media_type: str = ""
    width: Size = 0
    height: Size = 0


class AttachmentPart(Shape):
    type: Literal["attachment"]
    name: str
    media_type: str = ""
    size: Size = 0
    source: str = ""


class DocumentOut(Shape):
    name: str
    text: str
    pages: int
    read: int = Field(description="Pages that were read: the first ones.")


class ToolCallPart(Shape):
    type: Literal["tool_call"]
    id: str
    name: str
    input: str = Field(description="The arguments as JSON text, exactly as the model wrote them.")


class OtherPart(Shape):
    """A part that only the provider's own format can express."""

    type: Literal["other"]
    kind: str


class ReasoningPart(Shape):
    type: Literal["reasoning"]
    text: str


ResultContent = Annotated[TextPart | ImagePart | AttachmentPart, Field(discriminator="type")]
ResultContentOut = Annotated[TextPart | ImagePart | AttachmentPart | OtherPart, Field(discriminator="type")]


class ToolResultPart(Shape):
    type: Literal["tool_result"]
    call_id: str
    content: list[ResultContent]
    name: str = ""
    error: Switch = False


class ToolResultPartOut(Shape):
    type: Literal["tool_result"]
    call_id: str
    content: list[ResultContentOut]
    name: str
    error: bool


PartIn = Annotated[
    TextPart | ImagePart | AttachmentPart | ToolCallPart | ToolResultPart, Field(discriminator="type")
]
PartOut = Annotated[
    TextPart | ReasoningPart | ImagePart | AttachmentPart | ToolCallPart | ToolResultPartOut | OtherPart,
    Field(discriminator="type"),
]
Content = Annotated[str, StringConstraints(min_length=1)] | Annotated[list[PartIn], Field(min_length=1)]


class NodeOut(Shape):
    """A message and its place in the tree."""

    id: str
    parent: str | None
    depth: int
    role: Role
    status: str
    name: str
    text: str = Field(description="The text of the message, without tool results and reasoning.")
    parts: list[PartOut]
    tokens: dict[str, int] = Field(description="Tokens by tokenizer, as far as they were counted.")


class MessageOut(NodeOut):
    """A message with everything that is stored about it."""

    model: str
    input_tokens: int | None
    output_tokens: int | None
    created: str
    sibling: int = Field(description="The number of this message among its siblings, from 1.")
    siblings: int
    recalled: list[PassageOut] = Field(
        description="What was recalled from compressed messages when this one was asked. Whether it is sent now is "
        "told by the context: not if recall is off, or if the compression was undone."
    )
    left_out: list[str] = Field(
        description="What the model did not see when it gave this answer, besides what was compressed."
    )
    cut: bool = Field(description="Whether this answer reached the longest length it may have.")


class MessagePage(Shape):
    messages: list[MessageOut] = Field(description="Oldest first.")
    before: str | None = Field(description="Pass it as `before` to get the previous page; null at the root.")


class MessageList(Shape):
    messages: list[MessageOut]
    more: bool = Field(description="Whether there are more messages in the requested direction.")


class MessageIn(Shape):
    content: Content
    role: Role = "user"
    parent: Id | None = Field(default=None, description="The message to add it below; without one, the tip.")
    edits: Id | None = Field(
        default=None, description="The message that this one is a new version of. It is stored beside it."
    )
    id: Id | None = Field(
        default=None, description="An id of your own, so that a repeated request stores the message once."
    )


class TreeNode(Shape):
    id: str
    parent: str | None
    depth: int
    role: Role
    status: str
    preview: str


class TreeOut(Shape):
    nodes: list[TreeNode] = Field(description="Parents before children.")
    complete: bool = Field(description="False if the tree has more nodes than the limit.")


class FileOut(Shape):
    message: str
    depth: int
    name: str
    media_type: str
    size: int


class FileList(Shape):
    files: list[FileOut]
