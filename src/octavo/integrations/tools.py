"""Tools of a framework as values, so that they are counted; one that cannot be read counts by its text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from octavo.core.tools import Tool
from octavo.engine.accept import accept_tools
from octavo.errors import BadInput

NAMELESS = "tool"


def count_tools(
    tools: Iterable[object] | None, define: Callable[[object], Mapping[str, Any]]
) -> tuple[Tool, ...]:
    """Read the tools that a framework offers; `define` gives the definition of one as a provider takes it."""
    found: list[Tool] = []
    for tool in tools or ():
        try:
            found += accept_tools([define(tool)])
        except (BadInput, TypeError, ValueError, AttributeError, KeyError):
            # What a provider runs itself, or a form that is not known here: its text is about what it costs.
            text = json.dumps(tool, default=str) if isinstance(tool, Mapping) else str(tool)
            found.append(Tool(name=str(getattr(tool, "name", NAMELESS)), description=text))
    return tuple(found)
