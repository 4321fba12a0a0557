"""The `recall` tool: a model that sees a summary can look into the originals, and the gateway answers it itself.

The client never learns of it: the calls and their answers are not part of its conversation and are not stored.
"""

from __future__ import annotations

import json

from octavo.core.messages import Message, Text, ToolCall, ToolResult
from octavo.core.tools import Tool
from octavo.core.transcript import describe, shorten
from octavo.errors import NotFound
from octavo.server.hub import Hub

NAME = "octavo_recall"
ROUNDS = 4
"""How often a model may look before it has to answer."""
HITS = 8
SEARCHED = 200
"""Hits looked at, newest first, for those that are covered and on the branch."""
CHARACTERS = 4_000
"""Of one answer: what a reader takes in at a glance, and small against any window."""
RESERVE = 2_000
"""Tokens kept free for calls and answers when the tool is offered."""
TOOL = Tool(
    name=NAME,
    description=(
        "Look into the earlier messages of this conversation that the summary stands for. Give words to search for "
        "as `query`, or the id of a message from an earlier result as `message` to read all of it."
    ),
    schema=(
        '{"type":"object","properties":{"query":{"type":"string"},"message":{"type":"string"}},'
        '"additionalProperties":false}'
    ),
)
NOT_RUN = "Not run: the answer of octavo_recall came first. Call it again if it is still needed."


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """Find the calls of our own tool."""
    return tuple(call for call in message.calls if call.name == NAME)


async def answer(hub: Hub, conversation: str, tip: str, covered: int, message: Message) -> Message:
    """Answer all calls of a message from what is covered, down to a depth; the client's own tools wait."""
    results = [
        ToolResult(call_id=call.id, name=call.name, content=(Text(text=text),))
        for call in message.calls
        for text in [await _look(hub, conversation, tip, covered, call) if call.name == NAME else NOT_RUN]
    ]
    return Message(role="tool", parts=tuple(results))


async def _look(hub: Hub, conversation: str, tip: str, covered: int, call: ToolCall) -> str:
    try:
        wanted = json.loads(call.input or "{}")
    except (ValueError, RecursionError):
        wanted = {}
    query, id = (wanted.get("query"), wanted.get("message")) if isinstance(wanted, dict) else (None, None)
    if isinstance(id, str) and id:
        return await _read(hub, tip, id)
    if isinstance(query, str) and query.strip():
        return await _search(hub, conversation, tip, covered, query)
    return "Give a query, or the id of a message."


async def _read(hub: Hub, tip: str, id: str) -> str:
    store = hub.engine.store
    try:
        on_branch = await store.on_branch(tip, [id])
        node = await store.node(id) if on_branch else None
    except NotFound:
        node = None
    if node is None:
        return "There is no such message in this conversation."
    lines = [line for part in node.message.parts if (line := describe(part))]
    return shorten("\n".join([f"{node.message.role}:", *lines]), CHARACTERS)


async def _search(hub: Hub, conversation: str, tip: str, covered: int, query: str) -> str:
    store = hub.engine.store
    found = await store.search(query, conversation=conversation, limit=SEARCHED)
    # What is still sent verbatim the model sees anyway.
    hits = [hit for hit in found if hit.depth <= covered]
    mine = await store.on_branch(tip, [hit.node for hit in hits]) if hits else frozenset()
    lines = [f"[{hit.node}] {hit.role}: {hit.snippet}" for hit in hits if hit.node in mine][:HITS]
    return shorten("\n".join(lines), CHARACTERS) if lines else "Nothing was found."
