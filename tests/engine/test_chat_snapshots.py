"""The room of a summary, and what a snapshot can be given back."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

import pytest

from octavo.core.messages import assistant, user
from octavo.core.snapshot import Snapshot
from octavo.engine.chat import Chat
from octavo.engine.chat_snapshots import SnapshotOverview, SummarySize
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.errors import BadInput, NotFound
from octavo.store.ids import new_id
from tests.engine.conftest import MakeEngine
from tests.engine.test_branches import Echo, made, said
from tests.engine.test_compress import FILLER, filled

pytestmark = pytest.mark.anyio


async def compressed(chat: Chat) -> Snapshot:
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    return outcome.snapshot


def test_a_summary_may_take_all_the_room_there_is() -> None:
    SummarySize(tokens=500, room=500).check()
    with pytest.raises(BadInput, match="has 501 tokens, and 500 fit"):
        SummarySize(tokens=501, room=500).check()


async def test_the_room_of_a_summary_goes_up_to_the_soft_mark_and_above_it_to_the_hard_one(
    make: MakeEngine,
) -> None:
    chat = await filled(await make(window=8_192), 12)
    snapshot = await compressed(chat)

    async def reach(tokens: int) -> None:
        """Add a message after which so many tokens are sent."""
        state = await chat._state()

        def sent(words: int) -> int:
            message = user("so " * words)
            survey = state.meter.grow(state.survey, message, state.meter.count_message(message))
            return state.meter.reading(survey).cautious

        await chat.add(user("so " * bisect_left(range(tokens), tokens, key=sent)))
        assert (await chat.usage()).reading.cautious == tokens

    budget = (await chat.usage()).budget
    await reach(budget.trigger)
    size = await chat.snapshots.size(snapshot.id, snapshot.summary)
    assert size.room == size.tokens, "at the mark it may be as long as it is"
    await reach(budget.trigger + 10)
    size = await chat.snapshots.size(snapshot.id, snapshot.summary)
    assert size.room == size.tokens + budget.hard - budget.trigger - 10


async def test_where_nothing_fits_there_is_no_room_and_nothing_can_be_added_back(make: MakeEngine) -> None:
    engine = await make(window=2_048)
    chat = await filled(engine, 40)
    await chat.compress(keep=0)
    (snapshot,) = await chat.snapshots.list()
    receipt = await chat.snapshots.receipt(snapshot.id)
    assert receipt is not None
    for _ in range(12):
        await chat.add(user(FILLER))
        await chat.add(assistant(FILLER))
    size = await chat.snapshots.size(snapshot.id, "Short.")
    assert size.room == 0
    with pytest.raises(BadInput, match="and 0 fit"):
        await chat.snapshots.restore(snapshot.id, receipt.lost[0].text)
    assert await chat.snapshots.list() == (snapshot,)


async def test_what_is_not_in_use_has_the_room_that_it_would_have(make: MakeEngine) -> None:
    chat = await filled(await make(window=8_192), 12)
    snapshot = await compressed(chat)
    size = await chat.snapshots.size(snapshot.id, "Short.")
    await chat.undo()
    assert await chat.snapshots.serving() is None
    assert (await chat.snapshots.size(snapshot.id, "Short.")).tokens == size.tokens
    assert (await chat.snapshots.edit(snapshot.id, "Short.")).tokens_after == size.tokens


async def test_a_compression_of_another_branch_is_left_behind_however_little_it_covers(
    make: MakeEngine,
) -> None:
    chat = await (await make(summariser=Echo(), window=128_000)).create()
    await chat.add(f"w1 {FILLER * 5}")
    await said(chat, 2, 3, 4, 5)
    assert await chat.snapshots.overview() == SnapshotOverview()
    branch = await chat.branch()
    snapshot = await made(await chat.compress(up_to=branch[0].id))
    assert (snapshot.cutoff_depth, snapshot.anchor) == (1, branch[3].id)
    await chat.edit(branch[2].id, "w99")
    assert await chat.snapshots.overview() == SnapshotOverview(
        everywhere=(snapshot,), here=(), serving=None, left_behind=snapshot
    )


async def mute(engine: Engine, chat: Chat, snapshot: Snapshot) -> Snapshot:
    """Make a version that says nothing of what it covers, and whose receipt names nothing that it left out."""
    receipt = await chat.snapshots.receipt(snapshot.id)
    assert receipt is not None
    unnamed = tuple(
        replace(tally, verbatim=(), lost=(), verbatim_count=0, lost_count=tally.count or 1)
        for tally in receipt.tallies
    )
    said_nothing = replace(
        snapshot,
        id=new_id(),
        kind="edited",
        summary="They talked.",
        extracts=(),
        receipt=replace(receipt, tallies=unnamed).to_json(),
    )
    return await engine.store.snapshots.add(chat.id, said_nothing)


async def test_what_no_list_names_is_looked_for_in_every_covered_message_and_in_no_other(
    make: MakeEngine,
) -> None:
    engine = await make(window=128_000)
    chat = await engine.create()
    await chat.add("The rules are on host77.example.org.", role="system")
    for n in range(6):
        await chat.add(f"Question {n}: deploy build-{n}00 to host{n}.example.org? {FILLER}")
        await chat.add(f"Yes, build-{n}00 runs on port {9000 + n}. {FILLER}", role="assistant")
    branch = await chat.branch()
    outcome = await chat.compress(up_to=branch[8].id)
    assert isinstance(outcome, Compressed)
    assert (outcome.snapshot.first, outcome.snapshot.cutoff) == (branch[1].id, branch[8].id)
    snapshot = await mute(engine, chat, outcome.snapshot)
    for fact, source in (("host0.example.org", 1), ("9003", 8)):
        back = await chat.snapshots.restore(snapshot.id, fact)
        assert [(line.source, fact in line.text) for line in back.extracts] == [(branch[source].id, True)]
    for fact in ("host77.example.org", "host4.example.org", "9005"):
        with pytest.raises(NotFound, match="no fact that this snapshot left out"):
            await chat.snapshots.restore(snapshot.id, fact)


async def test_the_lines_of_two_versions_are_compared(make: MakeEngine) -> None:
    chat = await filled(await make(window=128_000))
    first = await compressed(chat)
    second = await chat.snapshots.edit(first.id, "They deployed builds.\nAll is well.")
    third = await chat.snapshots.edit(second.id, "They deployed builds.\nSomething broke.")
    assert (await chat.snapshots.diff(second.id, third.id)).splitlines() == [
        "--- version 2",
        "+++ version 3",
        "@@ -1,2 +1,2 @@",
        " They deployed builds.",
        "-All is well.",
        "+Something broke.",
    ]
    assert await chat.snapshots.receipt(second.id) is None
    with pytest.raises(NotFound, match="no receipt: it was edited by hand"):
        await chat.snapshots.restore(second.id, "build-100")
    with pytest.raises(BadInput, match="empty summary"):
        await chat.snapshots.edit(second.id, " \n")


async def test_a_line_is_dropped_from_the_message_that_is_named_and_from_no_other(make: MakeEngine) -> None:
    """Of a version without a receipt, too."""
    chat = await (await make(window=128_000)).create()
    for text in ("Never push to main.", "Never push to main!", "Always run the tests."):
        await chat.add(f"{text} {FILLER}")
        await chat.add(f"Right. {FILLER}", role="assistant")
    outcome = await chat.compress(keep=0)
    assert isinstance(outcome, Compressed)
    lines = outcome.snapshot.extracts
    edited = await chat.snapshots.edit(outcome.snapshot.id, "They agreed on rules.")
    last = lines[-1]
    left = await chat.snapshots.drop(edited.id, last.source, last.text)
    assert left.extracts == tuple(line for line in lines if line != last)
    assert [line.text for line in left.dropped] == [last.text]
    assert (left.receipt, left.kind) == ("", "edited")
    with pytest.raises(NotFound, match="has no exact line"):
        await chat.snapshots.drop(left.id, last.source, lines[0].text)
