"""The MCP server: stored conversations as tools and resources, for any agent that speaks the protocol.

A conversation is always an argument and never state of a session, so one server serves any number of agents. It uses
the same database as the gateway: an agent that runs through the gateway can ask for what was compressed there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from octavo import __version__
from octavo.errors import OctavoError, UsageError
from octavo.integrations.memory import LEAST, MOST, MOST_HITS, USUAL, Memory

INSTRUCTIONS = (
    "Earlier messages of conversations, word for word. A summary may stand for older messages: use `recall` to find "
    "what it left out, then `expand` an id to read the original. Without a conversation, the one used last is meant."
)
LONGEST_QUERY = 2_000
LONGEST_ID = 100
LONGEST_TEXT = 20_000

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

Id = Annotated[str, Field(max_length=LONGEST_ID)]
Tokens = Annotated[int, Field(ge=LEAST, le=MOST, description="The longest answer, in tokens.")]
T = TypeVar("T")

Scope = Literal["read", "write"]
Opener = Callable[[Context[Any, Any], Scope], Awaitable[Memory]]
"""Gives the conversations of whoever asks; raises if the caller may not read, or change, anything there."""


def make_server(memory_of: Opener) -> MCPServer:
    """Make the server; `memory_of` tells whose conversations a request is about."""
    server = MCPServer(
        "octavo", title="Octavo", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    _add_reading(server, memory_of)
    _add_changing(server, memory_of)
    _add_resources(server, memory_of)
    return server


async def _told(work: Awaitable[T]) -> T:
    """Wait for an answer; an error that says what to do is told to the model."""
    try:
        return await work
    except OctavoError as error:
        raise ToolError(str(error)) from None


def _add_reading(server: MCPServer, memory_of: Opener) -> None:
    @server.tool(annotations=READS, structured_output=False)
    async def recall(
        ctx: Context[Any, Any],
        query: Annotated[str, Field(max_length=LONGEST_QUERY, description="Words to look for.")],
        conversation: Id = "",
        limit: Annotated[int, Field(ge=1, le=MOST_HITS)] = 8,
        max_tokens: Tokens = USUAL,
    ) -> str:
        """Find earlier messages by words; gives ids, dates and passages."""
        memory = await memory_of(ctx, "read")
        return await _told(
            memory.recall(query, conversation=conversation, limit=limit, max_tokens=max_tokens)
        )

    @server.tool(annotations=READS, structured_output=False)
    async def expand(
        ctx: Context[Any, Any],
        id: Annotated[str, Field(max_length=LONGEST_ID, description="A message or a snapshot.")],
        around: Annotated[int, Field(ge=0, le=MOST_HITS, description="Neighbours to show.")] = 0,
        start: Annotated[int, Field(ge=0, description="The character to begin with.")] = 0,
        max_tokens: Tokens = USUAL,
    ) -> str:
        """Read originals word for word: a message, or what a snapshot stands for."""
        memory = await memory_of(ctx, "read")
        return await _told(memory.expand(id, around=around, start=start, max_tokens=max_tokens))

    @server.tool(annotations=READS)
    async def budget(ctx: Context[Any, Any], conversation: Id = "") -> dict[str, Any]:
        """Tell how full the context is, and when it is compressed next."""
        return await _told((await memory_of(ctx, "read")).budget(conversation))

    @server.tool(annotations=READS)
    async def receipt(ctx: Context[Any, Any], conversation: Id = "") -> dict[str, Any]:
        """Tell what the last compression kept and lost."""
        return await _told((await memory_of(ctx, "read")).receipt(conversation))


def _add_changing(server: MCPServer, memory_of: Opener) -> None:
    @server.tool(annotations=CHANGES, structured_output=False)
    async def pin(
        ctx: Context[Any, Any],
        message: Id,
        text: Annotated[str, Field(max_length=LONGEST_TEXT, description="A part of it; default: all.")] = "",
    ) -> str:
        """Always send a message, or a part of its text, word for word."""
        return await _told((await memory_of(ctx, "write")).pin(message, text))

    @server.tool(annotations=CHANGES, structured_output=False)
    async def unpin(ctx: Context[Any, Any], message: Id) -> str:
        """Remove the pins of a message."""
        return await _told((await memory_of(ctx, "write")).unpin(message))

    @server.tool(annotations=CHANGES, structured_output=False)
    async def compress(
        ctx: Context[Any, Any],
        conversation: Id = "",
        focus: Annotated[str, Field(max_length=LONGEST_QUERY, description="What matters now.")] = "",
    ) -> str:
        """Compress a stored conversation now; the originals stay."""
        return await _told((await memory_of(ctx, "write")).compress(conversation, focus))


def _add_resources(server: MCPServer, memory_of: Opener) -> None:
    @server.resource("octavo://message/{id}", title="A message, word for word", mime_type="text/plain")
    async def message(ctx: Context[Any, Any], id: str) -> str:
        return await _read((await memory_of(ctx, "read")).expand(id, max_tokens=MOST))

    @server.resource("octavo://snapshot/{id}", title="A summary with its lines", mime_type="text/plain")
    async def snapshot(ctx: Context[Any, Any], id: str) -> str:
        return await _read((await memory_of(ctx, "read")).snapshot_text(id))

    @server.resource(
        "octavo://conversation/{id}", title="The newest messages of a branch", mime_type="text/plain"
    )
    async def branch(ctx: Context[Any, Any], id: str) -> str:
        return await _read((await memory_of(ctx, "read")).branch_text(id))


async def _read(work: Awaitable[str]) -> str:
    try:
        return await work
    except UsageError as error:
        raise ValueError(str(error)) from None
