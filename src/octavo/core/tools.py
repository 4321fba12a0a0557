"""Tool definitions as values: what a model may call.

The schema is JSON text, so a definition is a value like any other: it can be compared, hashed and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from octavo.core.messages import Wire

NO_INPUT = '{"type":"object","properties":{}}'
"""The schema of a tool that takes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a model may call."""

    name: str
    description: str = ""
    schema: str = NO_INPUT
    """The JSON Schema of its input, as text; empty for a tool that the provider itself defines and runs."""
    wire: Wire | None = None
