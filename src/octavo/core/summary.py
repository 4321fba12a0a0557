"""What a summariser is given, and what it gives back.

A `Narrative` may have no text: then the model had nothing usable to say, and the snapshot has extracts only.
No placeholder sentence ever stands in for a summary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from octavo.core.context import Context
from octavo.core.messages import Branch
from octavo.core.reply import Usage
from octavo.core.verify import Problem

Style = Literal["detailed", "concise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryJob:
    """What is to be summarised, and how."""

    covered: Branch
    """The messages to summarise; those of the previous snapshot are not among them."""
    previous: str = ""
    """The summary that stands for everything before; empty at the first compression."""
    recent: Branch = ()
    """What follows the cutoff up to the last user message: shows what matters, is not summarised."""
    prompt: str = "default"
    style: Style = "detailed"
    focus: str = ""
    """What a person asked to keep, or instructions from a setting or a hook."""
    cap: int = 2_000
    """Tokens the narrative may take."""
    most: int | None = None
    """How many requests the summary may take; None: as many as it needs."""
    live: Context | None = None
    """The context the chat model has just been sent, for the form that hits its cache; None: transcript form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrative:
    """A summary in a model's words, checked; or none, and why."""

    text: str = ""
    model: str = ""
    prompt: str = ""
    """Name and version, such as `default@1`."""
    usage: Usage = Usage()
    """All calls of the run together."""
    requests: int = 0
    """How many there were."""
    problems: tuple[Problem, ...] = ()
    """What went wrong on the way, also when a later attempt succeeded."""
    doubtful: tuple[str, ...] = ()
    """Lines that were dropped because they name a number, path or name that the source does not."""
