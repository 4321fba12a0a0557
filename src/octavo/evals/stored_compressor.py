"""Octavo as people use it: the conversation lies in a store, and the context is what the engine would send.

A database in memory holds the whole tree, so what is pinned stays pinned, branches share what they have in common, and
every compression chooses again from the originals. The window is chosen so that a snapshot and the newest turns
together have the size of the budget: an engine compresses long before its window is full, so as to have room to go on.
Where a question is asked, a part of the budget is left for what it recalls, as large as `octavo.compress` leaves. The
question comes after the compression, as it does in use, and what the newest turns left of their share is free for
recall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from octavo.core.budget import MARGIN, SNAPSHOT_SHARE, ModelCard
from octavo.core.messages import Message, Node, digest
from octavo.core.recall.size import part_of
from octavo.engine.chat import Chat, RequestPreview
from octavo.engine.engine import Engine
from octavo.errors import BadBudget, ContextOverflow
from octavo.evals.compressor import CompressionJob, CompressionResult
from octavo.evals.measure.texts import divide
from octavo.meters.meter import Meter

STORED = "stored"
MODEL = "evaluated"
KEEP = 0.5
"""Share of the budget for the newest turns; the rest is for the snapshot."""
REPLY = 1
"""Tokens kept for an answer: none is asked for."""


@dataclass(slots=True)
class StoredThread:
    """A conversation in the store: its nodes by the digest of the branch down to them."""

    engine: Engine
    chat: Chat
    told: tuple[Message, ...] = ()
    """What was compressed last."""
    nodes: dict[bytes, Node] = field(default_factory=dict)
    sent: int = 0
    """Tokens that are sent before anything is asked."""


@dataclass(slots=True)
class StoredCompressor:
    """The engine on a store of its own, one for each thread."""

    meter: Meter
    keep: float = KEEP
    name: str = STORED
    remembers: bool = True
    threads: dict[str, StoredThread] = field(default_factory=dict)

    async def compress(self, job: CompressionJob) -> CompressionResult:
        told = job.messages[:-1] if job.asked else job.messages
        try:
            thread = self.threads.get(job.thread) or await self._open(job)
            thread.engine.models.meters[MODEL] = Meter(self._card(job))
            if thread.told != told:
                tip = await _grow(thread, told)
                await _pin(thread, job.pins)
                await thread.chat.checkout(tip.id)
                await thread.chat.compress(keep=int(self.keep * self._room(job)))
                thread.told = told
                if job.asked:
                    await thread.chat.set(recall="off")
                    before = (await thread.chat.context()).context.messages
                    thread.sent = sum(map(self.meter.count_message, before))
            sent = await self._ask(thread, job) if job.asked else await thread.chat.context()
        except (BadBudget, ContextOverflow) as error:
            return CompressionResult(wrong=(str(error),))
        return CompressionResult(messages=sent.context.messages)

    async def _ask(self, thread: StoredThread, job: CompressionJob) -> RequestPreview:
        """Ask below what was told; what is recalled takes what the budget leaves besides that and the question."""
        question = self.meter.count_message(job.messages[-1])
        await thread.chat.set(recall=max(0, job.budget - thread.sent - question))
        return await thread.chat.context(tip=(await _grow(thread, job.messages)).id)

    async def _open(self, job: CompressionJob) -> StoredThread:
        await self.close()  # threads come one after the other; a finished one is not asked again
        engine = await Engine.open(model=MODEL, summariser="none")
        engine.models.meters[MODEL] = Meter(self._card(job))
        chat = await engine.create()
        self.threads[job.thread] = StoredThread(engine, chat)
        await chat.set(reply=REPLY, minimum=0)
        return self.threads[job.thread]

    async def close(self) -> None:
        """Give the stores back."""
        for thread in self.threads.values():
            await thread.engine.close()
        self.threads.clear()

    def _room(self, job: CompressionJob) -> int:
        """Give what the budget leaves besides the system prompt."""
        system, _ = divide(job.messages)
        return max(0, job.budget - sum(map(self.meter.count_message, system)))

    def _card(self, job: CompressionJob) -> ModelCard:
        """Describe a model with the window that goes with the budget."""
        room, known = self._room(job), self.meter.card
        snapshot = (1 - self.keep) * room - (part_of(job.budget) if job.asked else 0)
        available = snapshot / SNAPSHOT_SHARE + job.budget - room
        return ModelCard(
            name=MODEL,
            window=math.floor(available / (1 - MARGIN)) + REPLY,
            max_output=REPLY,
            tokenizer=known.tokenizer,
            frame=known.frame,
        )


async def _grow(thread: StoredThread, messages: tuple[Message, ...]) -> Node:
    """Store what is not stored yet, below what is; give the tip."""
    tip: Node | None = None
    key = b""
    for message in messages:
        key = digest((message,), start=key)
        if key not in thread.nodes:
            thread.nodes[key] = await thread.chat.add(message, parent=tip.id if tip else None)
        tip = thread.nodes[key]
    assert tip is not None
    return tip


async def _pin(thread: StoredThread, pins: tuple[str, ...]) -> None:
    """Pin the messages that hold the texts."""
    pinned = {place.node for place in await thread.chat.pins.list()}
    for text in pins:
        for node in thread.nodes.values():
            if text in node.message.text and node.id not in pinned:
                await thread.chat.pins.add(node.id, text)
                break
