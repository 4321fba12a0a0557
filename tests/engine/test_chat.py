"""What a chat passes on: places, limits, and how much is to be retained."""

from __future__ import annotations

import pytest

from octavo.core.messages import user
from octavo.core.policy import KeepNothing, KeepShare, KeepTokens, Retain
from octavo.engine.chat import Chat
from octavo.engine.compression import CompressionRequest
from octavo.engine.outcome import Compressed, Outcome
from octavo.errors import BadInput
from octavo.store.values import Entry
from tests.engine.conftest import MakeEngine
from tests.engine.test_compress import filled

pytestmark = pytest.mark.anyio


class Noting:
    """A hook that notes what a compression is asked for."""

    def __init__(self) -> None:
        self.asked: list[CompressionRequest] = []

    async def before(self, chat: Chat, request: CompressionRequest) -> None:  # noqa: ARG002
        self.asked.append(request)

    async def after(self, chat: Chat, outcome: Outcome) -> None:
        """Nothing is to be done."""


@pytest.mark.parametrize(
    ("keep", "retain"),
    [
        (None, None),
        (0, KeepNothing()),
        (0.0, KeepNothing()),
        (1, KeepTokens(1)),
        (200, KeepTokens(200)),
        (0.3, KeepShare(0.3)),
    ],
)
async def test_what_a_person_wants_retained_is_tokens_a_share_or_nothing(
    make: MakeEngine, keep: float | None, retain: Retain | None
) -> None:
    hook = Noting()
    chat = await filled(await make(hooks=(hook,), window=128_000))
    cutoff = (await chat.branch())[3].id
    async for _ in chat.compressing(keep=keep, up_to=cutoff, focus="ports"):
        pass
    (asked,) = hook.asked
    assert (asked.urgency, asked.kind, asked.focus) == ("manual", "manual", "ports")
    assert (asked.retain, asked.up_to) == (retain, cutoff)


@pytest.mark.parametrize("keep", [True, False, -1, -0.5])
async def test_what_is_no_amount_is_not_retained(make: MakeEngine, keep: float) -> None:
    chat = await filled(await make(window=128_000))
    for ask in (chat.plan, chat.compress):
        with pytest.raises(BadInput, match="keep"):
            await ask(keep=keep)


async def test_a_search_shows_fifty_places_if_nothing_else_is_said(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    said = [Entry(message=user(f"The heron {n} stood there.")) for n in range(51)]
    await engine.store.messages.add(chat.id, said)
    assert len(await chat.search("heron")) == 50
    assert len(await chat.search("heron", limit=3)) == 3


async def test_a_place_further_up_is_looked_at_as_it_is_there(make: MakeEngine) -> None:
    chat = await filled(await make(window=128_000))
    branch = await chat.branch()
    assert await chat.branch(branch[2].id) == branch[:3]
    there = await chat.usage(tip=branch[2].id)
    assert 0 < there.reading.tokens < (await chat.usage()).reading.tokens
    sent = await chat.context(tip=branch[2].id)
    assert (len(sent.messages), sent.usage) == (3, there)
    fork = await chat.fork(branch[2].id, title="a part")
    assert [node.message for node in await fork.branch()] == [node.message for node in branch[:3]]
    assert (await fork.info()).title == "a part"


async def test_the_pins_of_one_message_are_removed_and_of_no_other(make: MakeEngine) -> None:
    chat = await filled(await make(window=128_000), 2)
    first, second, *_ = await chat.branch()
    await chat.pins.add(first.id, "Question 0")
    await chat.pins.add(first.id, "host0.example.org")
    await chat.pins.add(second.id)
    assert await chat.pins.remove(first.id)
    assert [pin.node for pin in await chat.pins.list()] == [second.id]
    assert not await chat.pins.remove(first.id)


async def test_deleting_one_message_leaves_those_below_it(make: MakeEngine) -> None:
    chat = await filled(await make(window=128_000), 2)
    branch = await chat.branch()
    await chat.delete_message(branch[1].id)
    assert [node.status for node in await chat.branch()] == ["complete", "deleted", "complete", "complete"]
    await chat.delete_message(branch[2].id, subtree=True)
    assert [node.id for node in await chat.branch()] == [branch[0].id, branch[1].id]


async def test_a_plan_says_what_a_compression_does(make: MakeEngine) -> None:
    chat = await filled(await make(window=128_000))
    cutoff = (await chat.branch())[3]
    plan = await chat.plan(up_to=cutoff.id)
    assert (plan.covered, plan.writer) == (4, "")
    outcome = await chat.compress(up_to=cutoff.id)
    assert isinstance(outcome, Compressed)
    assert outcome.snapshot.messages == plan.covered
    assert plan.unwritten == "no model was asked: the setting summariser is none"
