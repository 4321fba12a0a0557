"""What is recalled: stretches of covered messages, word for word, each with where it stands and who said it."""

from __future__ import annotations

from dataclasses import dataclass

from octavo.core.snapshot import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What is recalled: a stretch of a covered message, word for word."""

    source: str
    """The node it stands in."""
    depth: int
    channel: Channel
    text: str
    part: int = 0
    """Which text of the message it stands in."""
    start: int = 0
    """Where in that text it begins."""
    speaker: str = ""
    day: str = ""
    opens: bool = True
    """Whether the text begins with it; else something was left out before it."""
    closes: bool = True
    """Whether the text ends with it; else something was left out after it."""
    label: str = ""
    """What is shown in place of the source's id: a copy shows that of the original, and so sends the same bytes."""


Passages = tuple[Passage, ...]
"""Passages in the order of the conversation."""
