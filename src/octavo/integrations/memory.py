"""What an agent may ask of stored conversations: short answers with ids and dates, never longer than asked for.

Answers are the originals, word for word, with their source; nothing is made up or retold. Everything is looked up under
one owner: what belongs to another does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from octavo.core.messages import Node
from octavo.core.snapshot import Snapshot
from octavo.core.transcript import describe
from octavo.core.verify import in_plain_words
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed, Rejected, Skipped
from octavo.engine.recall import search_covered
from octavo.errors import BadInput, NotFound, UsageError
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.store.schema import plain_id
from octavo.store.values import Conversation

COUNTED_LIKE = "gpt-4o"
"""The model whose tokens bound an answer: nobody says which one reads it."""
LEAST, USUAL, MOST = 100, 1_500, 8_000
"""Tokens of an answer."""
MOST_HITS = 50
SHOWN_FACTS = 40
"""Lost facts that a receipt names; the number of all is given."""
LONGEST_FACT = 100
"""Characters of a fact that are shown."""


@dataclass(frozen=True)
class Memory:
    """The conversations of one owner."""

    engine: Engine
    owner: str = ""

    @cached_property
    def _meter(self) -> Meter:
        return Meter(find_card(COUNTED_LIKE))

    async def recall(
        self, query: str, *, conversation: str = "", limit: int = 8, max_tokens: int = USUAL
    ) -> str:
        """Find messages by words: passages of the compressed part first, then hits in all messages."""
        if not query.strip():
            raise BadInput("query", "expected some words to look for")
        lines = await self._passages(query, conversation, max_tokens)
        seen = {line.partition("]")[0] for line in lines}
        found = await self.engine.store.search.find(
            query,
            conversation=(await self._conversation(conversation)).id if conversation else None,
            owner=self.owner,
            limit=max(1, min(limit, MOST_HITS)),
        )
        details = {one.id: one for one in await self.engine.store.tree.details([hit.node for hit in found])}
        for hit in found:
            if f"[{hit.node}" not in seen:
                day = details[hit.node].created[:10] if hit.node in details else ""
                lines.append(f"[{hit.node}] {hit.role}, {day}, in {hit.conversation}: {hit.snippet}")
        return self._bounded(lines[:limit] or ["Nothing was found."], max_tokens)

    async def _passages(self, query: str, conversation: str, max_tokens: int) -> list[str]:
        """Search the compressed part of a conversation, or of the one that was used last."""
        try:
            found = await self._conversation(conversation)
            state = await self.engine.state_of(found.id)
        except UsageError:
            if conversation:
                raise
            return []
        passages = await search_covered(self.engine, state, query, room=max_tokens // 2)
        return [f"[{one.source}] {one.channel}, {one.day}, in {found.id}: {one.text}" for one in passages]

    async def expand(self, id: str, *, around: int = 0, start: int = 0, max_tokens: int = USUAL) -> str:
        """Give a message, or what a snapshot covers, word for word; `start` goes on where an answer ended."""
        if start < 0 or around < 0:
            raise BadInput("start", "expected a number of characters, 0 or more")
        snapshot = await self._snapshot(id)
        if snapshot is not None:
            nodes = (await self._chat_of(snapshot)).snapshots.expand(snapshot.id)
            return self._page("\n\n".join(map(_said, await nodes)), start, max_tokens)
        node = await self._node(id)
        nodes_ = [node] if not around else await self._around(node, min(around, MOST_HITS))
        return self._page("\n\n".join(map(_said, nodes_)), start, max_tokens)

    async def _around(self, node: Node, number: int) -> list[Node]:
        """Give a message with its neighbours, on the branch that was used last below it."""
        tree = self.engine.store.tree
        branch = await tree.branch(await tree.newest_below(node.id))
        return list(branch[max(0, node.depth - 1 - number) : node.depth + number])

    async def budget(self, conversation: str = "") -> dict[str, Any]:
        """Read the meter of a conversation."""
        chat = await self._chat(conversation)
        usage = await chat.usage()
        return {
            "conversation": chat.id,
            "model": usage.model,
            "tokens": usage.reading.tokens,
            "window": usage.budget.window,
            "percent": round(usage.percent, 1),
            "compresses_at": usage.next_at,
            "tokens_until_then": max(0, usage.next_in),
            "compressions": len(await chat.snapshots.list()),
        }

    async def receipt(self, conversation: str = "") -> dict[str, Any]:
        """Say what the compression in use kept and lost."""
        chat = await self._chat(conversation)
        snapshot = await chat.snapshots.serving()
        if snapshot is None:
            return {"conversation": chat.id, "compressed": False}
        paper = await chat.snapshots.receipt(snapshot.id)
        told: dict[str, Any] = {
            "conversation": chat.id,
            "compressed": True,
            "snapshot": snapshot.id,
            "messages": snapshot.messages,
        }
        if paper is not None:
            lost = [fact.text[:LONGEST_FACT] for fact in paper.lost]
            told |= {
                "tokens_before": paper.tokens_before,
                "tokens_after": paper.tokens_after,
                "kept": {
                    tally.kind: f"{tally.count - tally.lost_count} of {tally.count}"
                    for tally in paper.tallies
                    if tally.count
                },
                "lost": lost[:SHOWN_FACTS],
                "lost_in_all": sum(tally.lost_count for tally in paper.tallies),
            }
        return told

    async def pin(self, message: str, text: str = "") -> str:
        """Pin a message, or a part of its text."""
        node, chat = await self._node(message), await self._chat_at(message)
        await chat.pins.add(node.id, text)
        return f"Pinned: {node.id} is always sent word for word."

    async def unpin(self, message: str) -> str:
        """Remove the pins of a message."""
        chat = await self._chat_at(message)
        removed = await chat.pins.remove(plain_id(message))
        return "Unpinned." if removed else "It was not pinned."

    async def compress(self, conversation: str = "", focus: str = "") -> str:
        """Compress a stored conversation now."""
        chat = await self._chat(conversation)
        match await chat.compress(focus=focus):
            case Compressed() as made:
                return (
                    f"Compressed {made.snapshot.messages} messages: {made.before} to {made.after} tokens. "
                    f"The originals stay; snapshot {made.snapshot.id}."
                )
            case Skipped() as skipped:
                return f"Not compressed: {skipped.detail or skipped.reason}."
            case Rejected() as rejected:
                return f"Not compressed: {in_plain_words(rejected.problems)}."
            case other:
                return f"Not compressed: {other}."

    async def snapshot_text(self, id: str) -> str:
        """Give the summary and the exact lines of a snapshot."""
        snapshot = await self._snapshot(id)
        if snapshot is None:
            raise NotFound(f"there is no snapshot {id}")
        lines = [f"- [{line.source}] {line.text}" for line in snapshot.extracts]
        return self._page("\n".join([snapshot.summary, *lines]).strip(), 0, MOST)

    async def branch_text(self, conversation: str) -> str:
        """Give the newest messages of a conversation's branch."""
        chat = await self._chat(conversation)
        whole = [_said(node) for node in await chat.branch()]
        shown: list[str] = []
        left = MOST
        for text in reversed(whole):
            left -= self._meter.count_text(text)
            if left < 0:
                break
            shown.append(text)
        missing = len(whole) - len(shown)
        head = [f"[{missing} older messages: recall and expand show them]"] if missing else []
        return "\n\n".join([*head, *reversed(shown)])

    # Looking things up under the owner

    async def _conversation(self, wanted: str) -> Conversation:
        """Find a conversation by its id; without one, that which was used last."""
        store = self.engine.store.conversations
        if not wanted:
            known = await store.list(owner=self.owner, limit=1)
            if not known:
                raise NotFound("there is no conversation yet")
            return known[0]
        found = await store.get(wanted)
        if found.owner != self.owner or found.deleted:
            raise NotFound(f"there is no conversation {wanted}")
        return found

    async def _chat(self, wanted: str) -> Chat:
        return Chat(self.engine, (await self._conversation(wanted)).id)

    async def _chat_at(self, message: str) -> Chat:
        """Give the conversation of a message."""
        (details,) = await self.engine.store.tree.details([plain_id(message)]) or (None,)
        if details is None:
            raise NotFound(f"there is no message {message}")
        try:
            return await self._chat(details.conversation)
        except NotFound:
            raise NotFound(f"there is no message {message}") from None

    async def _node(self, id: str) -> Node:
        await self._chat_at(id)
        node = await self.engine.store.tree.node(plain_id(id))
        if node.status == "deleted":
            raise NotFound(f"there is no message {id}")
        return node

    async def _snapshot(self, id: str) -> Snapshot | None:
        try:
            snapshot = await self.engine.store.snapshots.get(plain_id(id))
            await self._chat_of(snapshot)
        except NotFound:
            return None
        return snapshot

    async def _chat_of(self, snapshot: Snapshot) -> Chat:
        return await self._chat(await self.engine.store.snapshots.conversation_of(snapshot.id))

    # Keeping answers short

    def _bounded(self, lines: list[str], max_tokens: int) -> str:
        """Join as many lines as there is room for; the first is shown as far as it goes."""
        room = _room(max_tokens)
        shown: list[str] = []
        for line in lines:
            room -= self._meter.count_text(line) + 1
            if room < 0 and shown:
                shown.append(f"[{len(lines) - len(shown)} more: ask with other words, or for more tokens]")
                break
            shown.append(line if room >= 0 else self._fitting(line, _room(max_tokens)))
        return "\n".join(shown)

    def _page(self, text: str, start: int, max_tokens: int) -> str:
        """Show a text from a place on, as far as there is room, and tell where it goes on."""
        shown = self._fitting(text[start:], _room(max_tokens))
        end = start + len(shown)
        more = f"\n[characters {start:,} to {end:,} of {len(text):,}; go on with start={end}]"
        return shown + more if end < len(text) else shown

    def _fitting(self, text: str, room: int) -> str:
        """Cut a text so that it fits."""
        while text and (tokens := self._meter.count_text(text)) > room:
            text = text[: max(1, len(text) * room // tokens) - 1]
        return text


def _room(max_tokens: int) -> int:
    return max(LEAST, min(max_tokens, MOST))


def _said(node: Node) -> str:
    lines = [line for part in node.message.parts if (line := describe(part))]
    return "\n".join([f"[{node.id}] {node.message.role}:", *lines])
