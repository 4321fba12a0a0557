"""The piece that all drop-ins share: a history in, the objects to send out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from octavo.core.messages import Message, Text, ToolCall, ToolResult, assistant, pair_tools, user
from octavo.engine.engine import Engine
from octavo.errors import BadInput, UsageError
from octavo.integrations import view as module
from octavo.integrations.shared_engine import close_engines
from octavo.integrations.view import ContextView, HistoryItem, MadeView, ViewRequest
from tests.integrations.kit import MODEL, log

WINDOW = 2_500


@dataclass(eq=False)
class Thing:
    """An object of a framework: equal to nothing but itself."""

    message: Message


def call(number: int) -> Message:
    asked = ToolCall(id=f"c{number}", name="read_log", input=f'{{"number":{number}}}')
    return Message(role="assistant", parts=(Text(text=f"Looking, step {number}."), asked))


def result(number: int) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id=f"c{number}", content=(Text(text=log(number)),)),))


def talk(start: int, stop: int) -> list[Thing]:
    """Turns of a question, two readings, and an answer."""
    said: list[Message] = []
    for number in range(start, stop):
        said += [user(f"Check part {number}."), call(2 * number), result(2 * number)]
        said += [call(2 * number + 1), result(2 * number + 1), assistant(f"Part {number} is fine.")]
    return [Thing(message) for message in said]


def request(things: Sequence[Thing]) -> ViewRequest[Thing]:
    return ViewRequest(history=[HistoryItem(thing.message, (thing,)) for thing in things], model=MODEL)


def opened(store: Path | None = None, **options: Any) -> ContextView:
    said: Any = {"window": WINDOW, **options}
    return ContextView.open("Test", store, said)


def words(view: MadeView[Any]) -> str:
    return "\n".join(str(item.message) for item in view.items)


ASKED = Thing(user("And now?"))
PARTS = range(30), range(30, 60)
"""Two turns: with the first a snapshot is made, and the second alone is above the mark."""


def test_a_history_that_fits_is_sent_as_the_very_same_objects() -> None:
    things = talk(0, 2)
    view = opened().view(request(things))
    assert [item.objects for item in view.items] == [(thing,) for thing in things]
    assert all(item.kept for item in view.items)
    assert not view.compressed


def test_every_question_after_a_long_turn_finds_room_for_what_it_asks_for() -> None:
    """Seen failing with: the compression behind the answer begun with the next question, and not waited for.

    And with: no compression until the mark is passed, and one that retains questions without counting their passages.
    """
    first, second = ([user("Check."), *(m for n in part for m in (call(n), result(n)))] for part in PARTS)
    view_of, things = opened(window=8_192), list[Thing]()
    for message in [*first, assistant("Fine."), *second, assistant("Fine.")]:
        if message.role != "assistant":
            view_of.view(request(things))
        things.append(Thing(message))
    for number in range(1, 27):
        things.append(Thing(user(f"What did valve V-{number:03d}2 read?")))
        view = view_of.view(request(things))
        assert log(number).splitlines()[2] in words(view).replace("\\n", "\n")
        things.append(Thing(assistant("As noted.")))


def test_what_is_kept_of_a_long_history_are_the_very_same_objects() -> None:
    things = [*talk(0, 20), ASKED]
    view = opened().view(request(things))
    snapshot, *kept = view.items
    assert view.compressed
    assert not view.failed
    assert view.tokens < WINDOW
    assert snapshot.objects == ()
    assert snapshot.message.role == "user"
    assert len(kept) < len(things)
    for item, thing in zip(reversed(kept), reversed(things), strict=False):
        assert item.objects == (thing,)
    assert all(item.kept for item in kept[:-1])
    assert pair_tools([item.message for item in view.items]).orphans == ()


async def counted(engine: Engine) -> tuple[int, int]:
    """Messages and snapshots that are stored."""
    nodes = snapshots = 0
    for conversation in await engine.store.conversations.list(limit=1_000):
        await engine.wait_until_idle(conversation.id)
        snapshots += len(await engine.store.snapshots.of_conversation(conversation.id))
        nodes += len([node async for node in engine.store.tree.whole(conversation.id, previews=True)])
    return nodes, snapshots


def test_the_same_history_again_costs_nothing_new() -> None:
    made = opened()
    things = [*talk(0, 20), ASKED]
    first = made.view(request(things))
    before = made.engine.run(counted)
    second = made.view(request(things))
    assert [item.message for item in second.items] == [item.message for item in first.items]
    assert made.engine.run(counted) == before
    longer = [*things, Thing(assistant("All is fine.")), Thing(user("Thanks."))]
    third = made.view(request(longer))
    assert third.items[0].message == first.items[0].message
    assert made.engine.run(counted) == (before[0] + 2, before[1])


def test_a_fork_gets_the_snapshot_that_is_true_for_it() -> None:
    made = opened()
    trunk = talk(0, 12)
    old = made.view(request([*trunk, *talk(100, 112), ASKED]))
    new = made.view(request([*trunk, *talk(200, 212), ASKED]))
    again = made.view(request([*trunk, *talk(100, 112), ASKED]))
    assert "part 105" in words(old)
    assert "part 205" in words(new)
    assert "part 105" not in words(new)
    assert "part 205" not in words(old)
    assert [item.message for item in again.items] == [item.message for item in old.items]


def test_the_snapshot_is_found_again_after_a_restart(tmp_path: Path) -> None:
    things = [*talk(0, 20), ASKED]
    first = opened(tmp_path / "chats.db").view(request(things))
    close_engines()
    made = opened(tmp_path / "chats.db")
    again = made.view(request(things))
    assert [item.message for item in again.items] == [item.message for item in first.items]


def test_owners_do_not_share_conversations(tmp_path: Path) -> None:
    things = talk(0, 2)
    for owner in ("ann", "bob"):
        made = opened(tmp_path / "chats.db", owner=owner)
        made.view(request(things))
    nodes, _ = made.engine.run(counted)
    assert nodes == 2 * len(things)


def test_many_threads_with_one_history_store_it_once() -> None:
    made = opened()
    things = [*talk(0, 20), ASKED]
    gate = threading.Barrier(4)

    def view(_: int) -> MadeView[Thing]:
        gate.wait()
        return made.view(request(things))

    with ThreadPoolExecutor(4) as pool:
        views = list(pool.map(view, range(4)))
    assert not any(view.failed for view in views)
    assert made.engine.run(counted)[0] == len(things)


@pytest.mark.anyio
async def test_inside_an_event_loop_the_view_is_the_same() -> None:
    made = opened()
    things = [*talk(0, 20), ASKED]
    view = await made.aview(request(things))
    assert made.view(request(things)).items == view.items


def test_without_a_database_that_opens_the_newest_messages_are_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    things = [*talk(0, 20), ASKED]
    with caplog.at_level(logging.WARNING, "octavo.integrations"):
        view = opened(tmp_path / "no such folder" / "chats.db").view(request(things))
    assert view.failed
    assert view.items[-1].objects == (ASKED,)
    assert 2 < len(view.items) < len(things)
    paired = pair_tools([item.message for item in view.items])
    assert (paired.open, paired.orphans) == ((), ())
    assert "Octavo failed" in caplog.text


def test_what_cannot_fit_at_all_is_sent_as_it_is() -> None:
    things = [Thing(user("word " * 5_000))]
    view = opened().view(request(things))
    assert view.failed
    assert [item.objects for item in view.items] == [(things[0],)]


def test_an_empty_history_stays_empty() -> None:
    assert opened().view(request([])).items == ()


def test_an_option_that_does_not_exist_is_refused_at_once() -> None:
    options: Any = {"windw": 5}
    with pytest.raises(UsageError, match="did you mean 'window'"):
        ContextView.open("OctavoMiddleware", None, options)
    for wrong in ({"window": 0}, {"window": "large"}, {"policy": "none"}, {"summariser": 5}):
        bad: Any = wrong
        with pytest.raises((BadInput, UsageError)):
            ContextView.open("OctavoMiddleware", None, bad)


def test_what_was_compressed_can_be_searched() -> None:
    made = opened()
    things = [*talk(0, 20), ASKED]
    made.view(request(things))
    found = made.recall(request(things), "valve V-0031 bar")
    assert "V-0031" in found
    (line, *_) = [line for line in found.split("\n[") if "V-0031" in line]
    id = line.removeprefix("[").partition("]")[0]
    assert "Log 3" in made.recall(request(things), "", id)


def test_a_bill_makes_the_next_count_better() -> None:
    """Seen failing with: bills that nobody reads."""
    view_of = opened(window=8_000)
    things = talk(0, 3)
    first = view_of.view(request(things))
    view_of.learn(first, first.tokens * 2)
    assert view_of.view(request([*things, ASKED])).tokens > first.tokens * 1.5


@pytest.mark.parametrize("billed", [None, 0, -5, "many"])
def test_what_is_no_bill_teaches_nothing(billed: object) -> None:
    view_of = opened(window=8_000)
    first = view_of.view(request(talk(0, 3)))
    view_of.learn(first, billed)
    assert view_of.view(request(talk(0, 3))).tokens == first.tokens


@pytest.mark.anyio
async def test_a_bill_finds_its_request_once_and_only_the_newest_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "UNBILLED", 2)
    view_of = opened(window=8_000)
    view = await view_of.aview(request(talk(0, 3)))
    for name in ("a", "b", "c"):
        view_of.expect_bill(name, view)
    assert [*view_of.unbilled] == ["b", "c"]
    await view_of.billed("a", view.tokens * 2)
    assert (await view_of.aview(request(talk(0, 3)))).tokens == view.tokens
    await view_of.billed("b", view.tokens * 2)
    assert [*view_of.unbilled] == ["c"]
    assert (await view_of.aview(request(talk(0, 3)))).tokens > view.tokens * 1.5
