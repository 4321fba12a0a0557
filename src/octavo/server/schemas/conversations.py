"""Schemas of conversations."""

from __future__ import annotations

from pydantic import Field

from octavo.server.schemas.base import Id, Label, Shape, Switch, Title
from octavo.server.schemas.settings import SettingsIn
from octavo.store.labels import MOST


class ConversationOut(Shape):
    id: str
    title: str
    tip: str | None
    messages: int
    created: str
    updated: str
    archived: bool
    labels: list[str]
    deleted: bool = Field(
        description="Whether it is in the bin. Only the list of deleted conversations shows it."
    )


class ConversationList(Shape):
    conversations: list[ConversationOut]
    more: bool


class LabelOut(Shape):
    name: str
    conversations: int


class LabelList(Shape):
    labels: list[LabelOut]


class LabelPatch(Shape):
    name: Label


class ConversationIn(Shape):
    title: Title = ""
    provisional: Switch = Field(
        default=False,
        description="Whether the title only stands until the model has written a better one, after its first answer.",
    )
    settings: SettingsIn = SettingsIn()


class ConversationPatch(Shape):
    title: Title | None = None
    archived: Switch | None = None
    labels: list[Label] | None = Field(
        default=None, max_length=MOST, description="The labels it has from now on, and no others."
    )
    tip: Id | None = Field(default=None, description="The message whose branch is shown from now on.")


class CopyIn(Shape):
    title: Title | None = None
    message: Id | None = Field(
        default=None, description="Copy only the branch down to this message; without one, the whole tree."
    )


class ImportedOut(Shape):
    conversations: list[ConversationOut]
