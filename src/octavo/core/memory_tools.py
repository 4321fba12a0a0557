"""Answers of Octavo's own tools, as agents call them over MCP: what was just looked up is not shortened again.

Clients put the name of the server before that of a tool, each in its own way: `mcp__octavo__recall`, `octavo_recall`.
"""

from __future__ import annotations

from collections.abc import Sequence

from octavo.core.messages import Message, has_results, last_turn

SERVER = "octavo"
READING = ("recall", "expand", "receipt", "budget")


def is_memory_tool(name: str) -> bool:
    """Tell whether a tool is one of ours that gives back what was said."""
    return SERVER in name.lower() and name.lower().endswith(READING)


def looked_up(messages: Sequence[Message]) -> frozenset[int]:
    """Find the messages of the turn that goes on which hold answers of these tools."""
    start = last_turn(messages) or 0
    ours = {call.id for message in messages[start:] for call in message.calls if is_memory_tool(call.name)}
    if not ours:
        return frozenset()
    return frozenset(
        i
        for i in range(start, len(messages))
        if has_results(messages[i]) and any(result.call_id in ours for result in messages[i].results)
    )
