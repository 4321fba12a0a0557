"""Answers of Octavo's own tools, which agents call over MCP: what an agent has just looked up is not shortened.

Nor is it covered during the same turn, because the model would look it up again. Clients put the name of the server
before that of a tool, each in its own way: `mcp__octavo__recall`, `octavo_recall`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from octavo.core.messages import Branch, Message, Node, has_results, last_turn, tool_units

SERVER = "octavo"
READING = ("recall", "expand", "receipt", "budget")
ANSWERS_SHARE = 0.5
"""Share of the room beside a snapshot that kept answers may take: the other half is for the work that goes on."""


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


def lookups(messages: Sequence[Message]) -> tuple[range, ...]:
    """Find the answered calls of these tools in the turn that goes on, each with what was called beside it."""
    start = last_turn(messages) or 0
    if not any(is_memory_tool(call.name) for message in messages[start:] for call in message.calls):
        return ()
    return tuple(
        range(unit.start, unit.stop)
        for unit in tool_units(messages)
        if unit.start >= start
        and not unit.open
        and any(is_memory_tool(call.name) for call in messages[unit.start].calls)
    )


def kept_answers(nodes: Sequence[Node], size: Callable[[Node], int], most: int) -> Branch:
    """Choose what was looked up in a turn and is sent although it is covered: the newest answers that fit `most`."""
    chosen: set[int] = set()
    for lookup in reversed(lookups([node.message for node in nodes])):
        new = set(lookup) - chosen
        tokens = sum(size(nodes[i]) for i in new)
        if tokens <= most:
            chosen |= new
            most -= tokens
    return tuple(nodes[i] for i in sorted(chosen))
