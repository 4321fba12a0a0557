"""A conversation takes ids of its own messages and snapshots only: those of another one do not exist in it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

import pytest

import octavo
from octavo.core.messages import Branch
from octavo.core.reply import Request
from octavo.engine.chat import Chat, ChatPins
from octavo.engine.chat_snapshots import ChatSnapshots
from octavo.engine.engine import Engine
from octavo.engine.turn import question_of
from octavo.errors import NotFound
from octavo.testing import ScriptedProvider
from tests.engine.conftest import MakeEngine, answering, billed

pytestmark = pytest.mark.anyio

FILLER = "We talked at length about the weather and other things. " * 8
NOBODY = "0" * 32


async def drained(events: object) -> None:
    async for _ in events:  # type: ignore[attr-defined]
        pass


NODES: dict[str, Callable[[Chat, str], Awaitable[object]]] = {
    "branch": lambda chat, id: chat.branch(id),
    "add": lambda chat, id: chat.add("mine", parent=id),
    "state": lambda chat, id: chat._state(id),
    "context": lambda chat, id: chat.context(tip=id),
    "usage": lambda chat, id: chat.usage(tip=id),
    "count": lambda chat, id: chat.count(tip=id),
    "plan": lambda chat, id: chat.plan(up_to=id),
    "answer": lambda chat, id: drained(chat.answer(id)),
    "compress": lambda chat, id: chat.compress(up_to=id),
    "compressing": lambda chat, id: drained(chat.compressing(up_to=id)),
    "pins.add": lambda chat, id: chat.pins.add(id),
    "pins.remove": lambda chat, id: chat.pins.remove(id),
    "edit": lambda chat, id: chat.edit(id, "mine"),
    "regenerate": lambda chat, id: drained(chat.regenerate(id)),
    "question_of": lambda chat, id: question_of(chat._engine, chat.id, id),
    "checkout": lambda chat, id: chat.checkout(id),
    "fork": lambda chat, id: chat.fork(id),
    "delete_message": lambda chat, id: chat.delete_message(id),
}
"""Every method that takes the id of a message."""
SNAPSHOTS: dict[str, Callable[[Chat, str], Awaitable[object]]] = {
    "snapshots.get": lambda chat, id: chat.snapshots.get(id),
    "snapshots.edit": lambda chat, id: chat.snapshots.edit(id, "mine"),
    "snapshots.regenerate": lambda chat, id: chat.snapshots.regenerate(id),
    "snapshots.regenerating": lambda chat, id: drained(chat.snapshots.regenerating(id)),
    "snapshots.diff": lambda chat, id: chat.snapshots.diff(id, id),
    "undo": lambda chat, id: chat.undo(id),
    "snapshots.use": lambda chat, id: chat.snapshots.use(id),
    "snapshots.get_here": lambda chat, id: chat.snapshots.get_here(id),
    "snapshots.size": lambda chat, id: chat.snapshots.size(id, "mine"),
    "snapshots.expand": lambda chat, id: chat.snapshots.expand(id),
    "snapshots.receipt": lambda chat, id: chat.snapshots.receipt(id),
    "snapshots.saved_so_far": lambda chat, id: chat.snapshots.saved_so_far(id),
    "snapshots.restore": lambda chat, id: chat.snapshots.restore(id, "8001"),
    "snapshots.drop": lambda chat, id: chat.snapshots.drop(id, id, "8001"),
}
"""Every method that takes the id of a snapshot."""
NAMES = {"id", "node", "tip", "parent", "up_to", "one", "other"}
"""How parameters are called that take an id."""


def test_no_method_that_takes_an_id_is_left_out() -> None:
    taking = {
        f"{at}{name}"
        for at, kind in (("", Chat), ("snapshots.", ChatSnapshots), ("pins.", ChatPins))
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and NAMES & inspect.signature(method).parameters.keys()
    }
    assert taking == (NODES.keys() | SNAPSHOTS.keys()) - {"state", "question_of"}


class Counter(ScriptedProvider):
    """A provider that counts, too."""

    async def count_request(self, request: Request) -> int:
        return billed(request)


async def two(make: MakeEngine) -> tuple[Engine, Chat, Chat]:
    answers = answering(lambda request: f"Port {8000 + len(request.messages)}. {FILLER}")
    engine = await make(provider=Counter(answers.script), window=32_000)
    ours, theirs = await engine.create("ours"), await engine.create("theirs")
    for chat in (ours, theirs):
        for i in range(4):
            await drained(chat.turn(f"What is port {i}? {FILLER}"))
    return engine, ours, theirs


async def told(chat: Chat) -> tuple[Branch, object, object, object]:
    """Give everything that could be changed."""
    info = await chat.info()
    return await chat.branch(), info.messages, await chat.pins.list(), await chat.snapshots.list()


@pytest.mark.parametrize("name", NODES)
async def test_a_message_of_another_conversation_does_not_exist_here(make: MakeEngine, name: str) -> None:
    engine, ours, theirs = await two(make)
    foreign = (await theirs.branch())[2].id
    await theirs.pins.add(foreign)
    before, count = [await told(ours), await told(theirs)], len(await engine.conversations())
    for id in (foreign, NOBODY):
        with pytest.raises(NotFound, match=f"there is no message {id} in this conversation"):
            await NODES[name](ours, id)
    assert [await told(ours), await told(theirs)] == before
    assert len(await engine.conversations()) == count
    own = (await ours.branch())[2].id
    await NODES[name](ours, own)


@pytest.mark.parametrize("name", SNAPSHOTS)
async def test_a_snapshot_of_another_conversation_does_not_exist_here(make: MakeEngine, name: str) -> None:
    _, ours, theirs = await two(make)
    for chat in (ours, theirs):
        await chat.compress(keep=0)
    foreign = await theirs.snapshots.serving()
    assert foreign is not None
    before = [await told(ours), await told(theirs)]
    for id in (foreign.id, NOBODY):
        with pytest.raises(NotFound):
            await SNAPSHOTS[name](ours, id)
    assert [await told(ours), await told(theirs)] == before


def test_the_library_without_a_loop_refuses_it_too() -> None:
    """As it was found: a message of another conversation was emptied for good."""
    with octavo.open(provider=answering(lambda _: "Yes."), model="gpt-4o") as ours:
        theirs = ours._engine
        other = ours._loop.run(theirs.create("theirs"))
        node = ours._loop.run(other.add("Keep me."))
        with pytest.raises(NotFound):
            ours.delete_message(node.id)
        with pytest.raises(NotFound):
            ours.pins.add(node.id)
        assert ours._loop.run(other.branch()) == (node,)
        assert ours._loop.run(other.pins.list()) == ()
