"""What a file of conversations says, item by item, whatever its format.

Keys are the file's own names for things; `tree` says which conversation an item belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from octavo.core.json_values import Json
from octavo.core.recall.passages import Passages
from octavo.core.snapshot import Snapshot
from octavo.store.transfer.source import SourceValue
from octavo.store.values import Entry, PinPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStart:
    """A conversation begins."""

    line: int
    tree: str
    id: str | None = None
    """Its id, where the file is Octavo's own."""
    title: str = ""
    owner: str = ""
    created: str = ""
    updated: str = ""
    archived: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageItem:
    """A message; it may come before its parent."""

    line: int
    tree: str
    key: str
    parent: str | None
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class TipItem:
    """The tip."""

    line: int
    tree: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotItem:
    """A snapshot."""

    line: int
    tree: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingItem:
    """A setting of the conversation."""

    line: int
    tree: str
    key: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class PinItem:
    """A pin."""

    line: int
    tree: str
    pin: PinPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledItem:
    """What was recalled for a message."""

    line: int
    tree: str
    node: str
    passages: Passages


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationEnd:
    """A conversation is complete."""

    line: int
    tree: str


Item: TypeAlias = (
    ConversationStart
    | MessageItem
    | TipItem
    | SnapshotItem
    | SettingItem
    | PinItem
    | RecalledItem
    | ConversationEnd
)
Reader: TypeAlias = Callable[[Iterator[SourceValue]], Iterator[Item]]
