"""A conversation as a program uses it: add, ask, look, compress, undo, branch.

Everything is computed from the store when it is asked for; a `Chat` holds no history of its own, so any number of
them, in any number of processes, can work on one conversation.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from octavo.core.context import Context
from octavo.core.harden import Repair
from octavo.core.message_json import Json
from octavo.core.messages import Branch, Node
from octavo.core.policy import (
    Compress,
    KeepNothing,
    KeepShare,
    KeepTokens,
    Retain,
    decide,
)
from octavo.core.recall.passages import Passages
from octavo.core.snapshot import Snapshot
from octavo.core.tools import Tool
from octavo.core.wire import Format, Payload, write, write_tools
from octavo.engine.accept import AnyTool, accept, accept_tools
from octavo.engine.chat_snapshots import ChatSnapshots
from octavo.engine.compression import CompressionRequest, choose_cut, make_plan
from octavo.engine.outcome import (
    Cancelled,
    CompressionEnded,
    CompressionPlan,
    ContextUsage,
    Counted,
    Event,
    Outcome,
)
from octavo.engine.recall_tool import offered_tools
from octavo.engine.state import Revision, TipState
from octavo.engine.turn import (
    PreparedRequest,
    TurnOptions,
    answer,
    count_in_background,
    prepare,
    question_of,
    store_message,
    take_turn,
)
from octavo.errors import BadInput, NotFound, UsageError
from octavo.store.values import TIP, Conversation, ForConversation, Hit, PinPlace

if TYPE_CHECKING:
    from octavo.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPreview:
    """Exactly what would be sent, in the provider's wire format."""

    messages: Payload
    system: Any
    tools: Payload
    format: Format
    usage: ContextUsage
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...]
    """What had to be cut beyond compressing."""
    context: Context
    recalled: Passages = ()
    """What was recalled for the message that waits for an answer."""


class Chat:
    """One conversation.

    `chat.snapshots` are its compressions, `chat.pins` the texts that are always sent word for word.
    """

    def __init__(self, engine: Engine, id: str) -> None:
        self.id = id
        self._engine = engine
        self.snapshots = ChatSnapshots(self, engine)
        self.pins = ChatPins(self, engine)

    async def info(self) -> Conversation:
        """Give the conversation's title, tip and dates."""
        return await self._engine.store.conversations.get(self.id)

    async def branch(self, tip: str | None = None) -> Branch:
        """Give all messages from the root to the tip: the full history, which is not what is sent."""
        await self.require(tip)
        at = tip or await self._tip()
        return await self._engine.store.tree.branch(at) if at else ()

    async def branches(self) -> tuple[Node, ...]:
        """Give the tips of all branches, in the order they were made."""
        found: list[Node] = []
        while page := await self._engine.store.tree.tips(self.id, after=found[-1].id if found else None):
            found += page
        return tuple(found)

    async def settings(self) -> dict[str, Json]:
        """Give the settings that hold here. The conversation's come first, then the model's, then the global ones."""
        return await self._engine.settings.of(self.id)

    async def set(self, /, **settings: Json) -> None:
        """Change settings of this conversation; None removes one, so that the next level holds."""
        await self._engine.settings.change(ForConversation(self.id), settings)

    async def rename(self, title: str) -> None:
        await self._engine.store.conversations.rename(self.id, title)

    async def require(self, *nodes: str | None) -> None:
        """Raise `NotFound` for messages of other conversations."""
        await self._engine.require(self.id, *nodes)

    async def _tip(self) -> str | None:
        return (await self.info()).tip

    async def _state(
        self,
        tip: str | None = None,
        *,
        tools: Sequence[Tool] = (),
        without: Snapshot | None = None,
    ) -> TipState:
        """Load everything about a tip; see `Engine.state_of`."""
        return await self._engine.state_of(self.id, tip, tools=tools, without=without)

    # Talking

    async def add(
        self, content: object, *, role: str = "user", parent: str | None = None, id: str | None = None
    ) -> Node:
        """Store a message at the tip, or below another node: text, a message, a plain dict, or a provider's reply.

        With an `id` of your own the same call can be repeated: the message is stored once.
        """
        await self.require(parent)
        accepted = accept(content, role)
        node, _ = await store_message(self._engine, self.id, accepted, parent or TIP, id)
        if accepted.usage and accepted.usage.input and node.parent:
            await self._learn(node.parent, accepted.usage.input)
        return node

    async def _learn(self, tip: str, billed: int) -> None:
        state = await self._state(tip)
        await self._engine.models.learn_bill(state.model, state.survey, billed)

    async def turn(
        self, content: object, *, tools: Sequence[AnyTool] = (), temperature: float | None = None
    ) -> AsyncGenerator[Event]:
        """Store a user's message and answer it; yields what happens."""
        options = TurnOptions(tools=accept_tools(tools), temperature=temperature)
        async with aclosing(take_turn(self._engine, self.id, accept(content, "user"), options)) as turn:
            async for event in turn:
                yield event

    async def answer(
        self,
        tip: str | None = None,
        *,
        tools: Sequence[AnyTool] = (),
        temperature: float | None = None,
        select: bool = True,
        id: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Ask the model to go on from a tip; the answer is stored below it, under `id` if one is given.

        If the tip is an answer that broke off, the model goes on with it. A reply that calls tools ends the answer: add
        the results and ask again.
        """
        await self.require(tip)
        at = tip or await self._tip()
        options = TurnOptions(tools=accept_tools(tools), temperature=temperature, select=select, id=id)
        async with aclosing(answer(self._engine, self.id, at, options)) as answering:
            async for event in answering:
                yield event

    async def edit(self, node: str, content: object) -> Node:
        """Write another version of a user's message, beside the old one; the tip moves there."""
        await self.require(node)
        old = await self._engine.store.tree.node(node)
        made, _ = await store_message(self._engine, self.id, accept(content, old.message.role), old.parent)
        return made

    async def regenerate(
        self, node: str | None = None, *, tools: Sequence[AnyTool] = ()
    ) -> AsyncGenerator[Event]:
        """Ask again, for another answer beside this one (by default the last); yields what happens."""
        await self.require(node)
        at = node or await self._tip()
        if at is None:
            raise NotFound("the conversation is empty: there is no answer to generate again")
        question = await question_of(self._engine, self.id, at)
        async with aclosing(self.answer(question.id, tools=tools)) as answer:
            async for event in answer:
                yield event

    async def checkout(self, node: str) -> None:
        """Show the branch through a node: the tip moves to the newest message below it."""
        await self.require(node)
        target = await self._engine.store.tree.newest_below(node)
        await self._engine.store.conversations.move_tip(self.id, target, expected=await self._tip())

    async def fork(self, node: str | None = None, *, title: str | None = None) -> Chat:
        """Copy a branch into a conversation of its own, with its snapshots and pins."""
        await self.require(node)
        at = node or await self._tip()
        if at is None:
            raise NotFound("the conversation is empty: there is nothing to fork")
        return Chat(self._engine, (await self._engine.store.conversations.fork(at, title=title)).id)

    async def delete_message(self, node: str, *, subtree: bool = False) -> None:
        """Delete a message for good; snapshots that were shown it are retired."""
        await self.require(node)
        await self._engine.store.messages.delete(node, subtree=subtree)

    async def search(self, query: str, *, limit: int = 50) -> tuple[Hit, ...]:
        """Search all messages of the conversation, covered ones included."""
        return await self._engine.store.search.find(query, conversation=self.id, limit=limit)

    # Looking

    async def usage(
        self,
        *,
        tools: Sequence[AnyTool] = (),
        tip: str | None = None,
        draft: object = None,
        trial: Mapping[str, Json] | None = None,
    ) -> ContextUsage:
        """Read the meter: tokens, budget, breakdown, distance to the next compression.

        `draft` is a message that is being written: it is counted, and nothing is stored. `trial` are settings that are
        tried out: the meter shows what they would lead to, or they are refused.
        """
        await self.require(tip)
        now, held = await self.info(), await self.settings()
        if trial:
            await self._engine.settings.check(ForConversation(self.id), trial)
            held = {**held, **{name: value for name, value in trial.items() if value is not None}}
        revision = Revision(held, now.revision)
        state = await self._engine.states.load(self.id, tip or now.tip, revision, tools=accept_tools(tools))
        if draft is None:
            return state.usage
        tokens, reading = state.meter.count_message(accept(draft, "user").message), state.reading
        pending = (*reading.breakdown, ("pending", tokens))
        return state.gauge(replace(reading, tokens=reading.tokens + tokens, breakdown=pending))

    async def context(self, *, tools: Sequence[AnyTool] = (), tip: str | None = None) -> RequestPreview:
        """Give exactly what would be sent now; compresses or shrinks first if it would not fit.

        Tools are values, or dicts as OpenAI, Anthropic or Gemini take them.
        """
        await self.require(tip)
        ready = None
        async for step in prepare(self._engine, self.id, tip or await self._tip(), accept_tools(tools)):
            ready = step if isinstance(step, PreparedRequest) else ready
        if ready is None:
            raise NotFound("the conversation is empty: add a message first")
        format = self._engine.format_of(ready.state.model)
        wired = write(format, ready.messages)
        count_in_background(self._engine, ready)
        self._engine.compress_in_background(ready.state)
        return RequestPreview(
            messages=wired.messages,
            system=wired.system,
            tools=write_tools(format, offered_tools(ready.state)),
            format=format,
            usage=ready.usage,
            repairs=ready.repairs,
            notes=ready.notes,
            context=ready.context,
            recalled=ready.recalled,
        )

    async def count(self, *, tools: Sequence[AnyTool] = (), tip: str | None = None) -> Counted:
        """Ask the provider to count what would be sent now; `UsageError` if it offers no such count.

        Nothing is compressed for it, and the meter learns from it.
        """
        await self.require(tip)
        state = await self._state(tip, tools=accept_tools(tools))
        hardened = state.sent(state.context, self._engine.rules_of(state.model))
        tokens = await self._engine.counts.ask(state, hardened.messages)
        return Counted(tokens=tokens, expected=state.reading, model=state.model)

    async def plan(
        self, *, focus: str = "", keep: int | float | None = None, up_to: str | None = None
    ) -> CompressionPlan:
        """Say what `compress` would do now, without doing it."""
        await self.require(up_to)
        state = await self._state()
        request = _manual_request(focus, keep, up_to)
        decision = decide(state.policy, state.budget, state.reading, force=True)
        assert isinstance(decision, Compress)
        planned = make_plan(state, request, decision, choose_cut(state, request))
        writer = await self._engine.summary_writer(state)
        return replace(planned, writer=writer.name, unwritten=writer.unasked)

    # Compressing

    async def compress(
        self, *, focus: str = "", keep: int | float | None = None, up_to: str | None = None
    ) -> Outcome:
        """Compress now; `keep` is a token count, a share, or 0 for nothing. Gives how it ended."""
        outcome: Outcome = Cancelled()
        async for event in self.compressing(focus=focus, keep=keep, up_to=up_to):
            if isinstance(event, CompressionEnded):
                outcome = event.outcome
        return outcome

    async def compressing(
        self,
        *,
        focus: str = "",
        keep: int | float | None = None,
        up_to: str | None = None,
        id: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Compress now; yields what happens. The job is stored under `id`, if one is given."""
        await self.require(up_to)
        request = replace(_manual_request(focus, keep, up_to), id=id)
        async with aclosing(self._engine.run_compression(await self._state(), request)) as events:
            async for event in events:
                yield event

    async def undo(self, id: str | None = None) -> Snapshot:
        """Take the snapshot in use, or another one, out of use; gives that one.

        The version before it is in use then, if there is one; else the originals are sent again, and they stay until
        the window demands a compression or a person asks for one.
        """
        serving = await self.snapshots.get(id) if id else await self.snapshots.serving()
        if serving is None:
            raise UsageError("there is no compression to undo on this branch")
        return await self._engine.store.snapshots.undo(serving.id)

    async def redo(self) -> Snapshot:
        """Bring back the snapshot that was undone last; gives that one."""
        at = await self._tip()
        undone = await self._engine.store.snapshots.undone_last(at) if at else None
        if at is None or undone is None:
            raise UsageError("there is no undone compression to bring back on this branch")
        return await self._engine.store.snapshots.use(undone.id, tip=at)

    async def wait_until_idle(self) -> None:
        """Wait until nothing is being compressed in the background."""
        await self._engine.wait_until_idle(self.id)


class ChatPins:
    """The pins of a conversation, as `chat.pins`: texts that are always sent byte for byte."""

    def __init__(self, chat: Chat, engine: Engine) -> None:
        self._chat, self._engine = chat, engine

    async def add(self, node: str, selection: str = "") -> None:
        """Pin a message, or a part of its text: always sent byte for byte."""
        await self._chat.require(node)
        if not selection:
            await self._engine.store.pins.add(node)
            return
        # Imported here, because the code that reads messages for facts takes a fifth of the engine's import time.
        from octavo.core.extract.units import locate

        place = locate((await self._engine.store.tree.node(node)).message.text, selection)
        if place is None:
            raise BadInput("selection", f"message {node} does not contain this text")
        await self._engine.store.pins.add(node, *place)

    async def remove(self, node: str) -> bool:
        """Remove all pins of a message; false when there were none."""
        await self._chat.require(node)
        mine = [place for place in await self.list() if place.node == node]
        for place in mine:
            await self._engine.store.pins.remove(place.node, place.start, place.stop)
        return bool(mine)

    async def list(self) -> tuple[PinPlace, ...]:
        return await self._engine.store.pins.of_conversation(self._chat.id)


def _manual_request(focus: str, keep: int | float | None, up_to: str | None) -> CompressionRequest:
    retain: Retain | None = None
    if keep is not None:
        if isinstance(keep, bool) or keep < 0:
            raise BadInput("keep", f"expected a token count, a share between 0 and 1, or 0, got {keep!r}")
        retain = (
            KeepNothing() if keep == 0 else KeepShare(keep) if isinstance(keep, float) else KeepTokens(keep)
        )
    return CompressionRequest(urgency="manual", kind="manual", focus=focus, retain=retain, up_to=up_to)
