"""The `octavo_recall` tool: a model that sees a snapshot can search the messages that the snapshot covers.

A search finds passages by the ranking that recall uses, and falls back to the full-text search where that finds
nothing. All results for one answer fit into the room that is reserved for them. The calls are answered here, and the
model is asked again, until it answers. Nobody else sees the calls, and they are not stored. An answer is passed on once
it is known to be one, so a stream arrives all at once.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octavo.core.messages import Message, Text, ToolCall, ToolResult
from octavo.core.recall.passages import Passage
from octavo.core.recall.render import GAP, WHO
from octavo.core.reply import Chunk, Delta, Reply, Request
from octavo.core.tools import Tool
from octavo.core.transcript import describe, shorten
from octavo.engine.models import close_stream
from octavo.engine.recall import search_covered
from octavo.engine.state import TipState
from octavo.errors import BadReply, NotFound
from octavo.protocols import Provider

if TYPE_CHECKING:
    from octavo.engine.engine import Engine

NAME = "octavo_recall"
ROUNDS = 4
"""How often a model may call the tool before it has to answer."""
FOUND = 500
"""Tokens of passages that one search may show: a third of all, so that a model can search again and read a message."""
HITS = 8
"""Hits of the full-text search that are shown."""
SEARCHED = 200
"""Hits that are fetched, newest first; those that are covered and on the branch are shown."""
CHARACTERS = 4_000
"""The longest result, in characters: small beside any window."""
RESERVE = 2_000
"""Tokens reserved for the tool, its calls and its results."""
SHOWN = 1_500
"""Tokens that the results may take of that."""
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
NO_ROOM = "There is no room to show more. Answer with what you have."
NOT_THERE = "There is no such message in this conversation."
NOT_FOUND = "Nothing was found."
NO_QUESTION = "Give a query, or the id of a message."


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """Find the calls of the recall tool."""
    return tuple(call for call in message.calls if call.name == NAME)


@dataclass(slots=True, kw_only=True)
class RecallAnswerer:
    """Answers the recall calls of one request."""

    engine: Engine
    state: TipState
    """What the request was made from."""
    left: int = SHOWN
    """Tokens that may still be shown."""

    async def answer(self, message: Message) -> Message:
        """Answer all calls of a message; calls of the client's own tools are put off."""
        results = [
            ToolResult(call_id=call.id, name=call.name, content=(Text(text=await self._answer(call)),))
            for call in message.calls
        ]
        return Message(role="tool", parts=tuple(results))

    async def _answer(self, call: ToolCall) -> str:
        if call.name != NAME:
            return NOT_RUN
        if self.left <= 0:
            return NO_ROOM
        text = self._trimmed(shorten(await self._look(call), CHARACTERS))
        self.left -= self.state.meter.count_text(text)
        return text

    def _trimmed(self, text: str) -> str:
        tokens = self.state.meter.count_text(text)
        return text if tokens <= self.left else shorten(text, max(1, len(text) * self.left // tokens))

    async def _look(self, call: ToolCall) -> str:
        try:
            wanted = json.loads(call.input or "{}")
        except (ValueError, RecursionError):
            wanted = {}
        match wanted:
            case {"message": str(id)} if id:
                return await self._read(id)
            case {"query": str(query)} if query.strip():
                return await self._search(query)
            case _:
                return NO_QUESTION

    async def _read(self, id: str) -> str:
        tree = self.engine.store.tree
        try:
            if not await tree.on_branch(self.state.tip, [id]):
                return NOT_THERE
            node = await tree.node(id)
        except NotFound:
            return NOT_THERE
        lines = [line for part in node.message.parts if (line := describe(part))]
        return "\n".join([f"{node.message.role}:", *lines])

    async def _search(self, query: str) -> str:
        passages = await search_covered(self.engine, self.state, query, room=min(self.left, FOUND))
        return "\n".join(map(_line, passages)) or await self._search_texts(query)

    async def _search_texts(self, query: str) -> str:
        """Search by the beginnings of words, for what is not indexed yet or names nothing by itself."""
        store, state = self.engine.store, self.state
        found = await store.search.find(query, conversation=state.conversation, limit=SEARCHED)
        # The model sees retained messages anyway.
        hits = [hit for hit in found if hit.depth <= state.context.covered_to]
        mine = await store.tree.on_branch(state.tip, [hit.node for hit in hits]) if hits else frozenset()
        lines = [f"[{hit.node}] {hit.role}: {hit.snippet}" for hit in hits if hit.node in mine]
        return "\n".join(lines[:HITS]) or NOT_FOUND


def _line(passage: Passage) -> str:
    """Show a passage with the whole id of its source: by that the model can read the rest."""
    day = f", {passage.day}" if passage.day else ""
    before, after = ("" if passage.opens else f"{GAP} "), ("" if passage.closes else f" {GAP}")
    return f"[{passage.source}] {WHO[passage.channel]}{day}: {before}{passage.text}{after}"


def offered_tools(state: TipState) -> tuple[Tool, ...]:
    """Give all tools that the model of a state is offered."""
    return (*state.loaded.tools, TOOL) if state.searches else state.loaded.tools


async def stream_with_tool(
    engine: Engine, state: TipState, provider: Provider, request: Request
) -> AsyncGenerator[Chunk]:
    """Ask until the model answers, and give that answer; raise `BadReply` if it only calls the tool."""
    answerer = RecallAnswerer(engine=engine, state=state)
    for rounds in range(ROUNDS + 1):
        said: list[Delta] = []
        reply: Reply | None = None
        stream = provider.stream(request)
        try:
            async for chunk in stream:
                match chunk:
                    case Delta():
                        said.append(chunk)
                    case Reply():
                        reply = chunk
                    case _:
                        yield chunk
        finally:
            await close_stream(stream)
        if reply is None or not calls_of(reply.message):
            for delta in said:
                yield delta
            if reply is not None:
                yield reply
            return
        if rounds + 1 == ROUNDS:
            answerer.left = 0
        more = (reply.message, await answerer.answer(reply.message))
        request = replace(request, messages=(*request.messages, *more))
    raise BadReply(f"the model calls {NAME} although it was told to answer")
