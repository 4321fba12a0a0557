"""Octavo beside other libraries: an adapter for whatever runs them all on one conversation.

`append` stores a message and adds it to the running totals, as a turn does. `decide` is the work of that turn between
storing and sending: is the cached state still true, and what does the policy say. `compress` is a whole compression
as a turn above the hard mark does it: cut, extracts from all originals, receipt, snapshot stored. Messages are kept in
an SQLite file, as in use.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octavo.core.messages import Message
    from octavo.engine.chat import Chat
    from octavo.engine.engine import Engine
    from octavo.engine.state import Revision

# Nothing of Octavo is imported up here: the import itself is timed.
MODEL = "gpt-4.1"
KEEP = 0.2
FOLDER = tempfile.TemporaryDirectory()


def neutral(message: dict[str, Any]) -> Message:
    """Read a message of the yardstick."""
    from octavo.core.messages import Message, Text, ToolCall, ToolResult

    text = Text(text=message["text"])
    if message["role"] == "tool":
        result = ToolResult(call_id=message["call_id"], content=(text,))
        return Message(role="tool", parts=(result,))
    calls = tuple(
        ToolCall(id=call["id"], name=call["name"], input=json.dumps(call["args"]))
        for call in message["calls"]
    )
    return Message(role=message["role"], parts=(text, *calls))


class Octavo:
    """The engine over an SQLite file; no model is asked."""

    name = "octavo"
    dist = "octavo"
    module = "octavo.engine.engine"
    counting = (
        "the model's own tokens, stored with each message; running totals, exact or calibrated by bills"
    )
    store = "SQLite file"
    usage_aware = False

    def setup(self, conv: list[dict[str, Any]], over: bool, usage: bool) -> dict[str, Any]:
        del usage
        loop = asyncio.new_event_loop()
        engine, chat = loop.run_until_complete(self._open(conv, over=over))
        state: dict[str, Any] = {"loop": loop, "engine": engine, "chat": chat, "settings": {}}
        state["moment"] = loop.run_until_complete(self._first(state))
        return state

    async def _open(self, conv: list[dict[str, Any]], *, over: bool) -> tuple[Engine, Chat]:
        from octavo.engine.engine import Engine
        from octavo.store.ids import new_id
        from octavo.store.values import Entry

        path = Path(FOLDER.name) / f"{new_id()}.db"
        engine = await Engine.open(path, model=MODEL, summariser="none")
        chat = await engine.create()
        meter = await engine.models.meter(MODEL)
        said = [neutral(message) for message in conv]
        entries = [Entry(message=one, counts={meter.unit.name: meter.count_message(one)}) for one in said]
        await engine.store.messages.append_many(chat.id, entries)
        total = sum(entry.counts[meter.unit.name] for entry in entries)
        # With its price, a history far below the mark may be compressed because it pays.
        card = replace(meter.card, window=total // 2 if over else total * 20, price=None)
        engine.models.meters[MODEL] = type(meter)(card)
        return engine, chat

    async def _first(self, state: dict[str, Any]) -> Revision:
        from octavo.engine.state import Revision

        chat = state["chat"]
        now = await chat.info()
        moment = Revision(await chat.settings(), now.revision)
        await state["engine"].states.load(chat.id, now.tip, moment)
        return moment

    def append(self, state: dict[str, Any], message: dict[str, Any]) -> None:
        """Store a message as a turn does: it is counted, and the running totals go along."""
        from octavo.engine.accept import accept
        from octavo.engine.turn import store_message

        said = accept(neutral(message), message["role"])
        storing = store_message(state["engine"], state["chat"].id, said)
        state["node"], state["moment"] = state["loop"].run_until_complete(storing)

    def decide(self, state: dict[str, Any]) -> None:
        """Do what a turn does next: take the cached state if it is still true, and let the policy decide."""
        from octavo.core.policy import CALM, DecisionInputs, Keep, LastCompression, decide
        from octavo.store.connection import run_through

        async def turn() -> None:
            tip_state = await state["engine"].states.load(state["chat"].id, state["node"].id, state["moment"])
            situation = DecisionInputs(
                turn=tip_state.turn, model=MODEL, now=0.0, trouble=CALM, pace=LastCompression()
            )
            assert isinstance(decide(tip_state.policy, tip_state.budget, tip_state.reading, situation), Keep)

        # In a turn the loop runs already: to start one for each sample would be measured instead of the engine.
        run_through(turn())

    def compress(self, state: dict[str, Any]) -> dict[str, int]:
        chat = state["chat"]

        async def compress() -> int:
            outcome = await chat.compress(keep=KEEP)
            assert type(outcome).__name__ == "Compressed", outcome
            tip_state = await state["engine"].state_of(chat.id)
            return len(tip_state.context.messages)

        return {"messages_after": state["loop"].run_until_complete(compress())}
