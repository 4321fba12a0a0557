"""Five lines for programs without an event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

import octavo
from octavo.engine.chat import Chat, ChatPins
from octavo.engine.chat_snapshots import ChatSnapshots
from octavo.engine.engine import EngineOptions
from octavo.engine.outcome import Answered, Compressed
from octavo.engine.sync import Loop, SyncChat, SyncPins, SyncSnapshots
from octavo.errors import BadInput, NotFound, UsageError
from octavo.testing import ScriptedProvider

FILLER = "There is much to say about this and little of it matters. " * 10


def test_five_lines_need_no_event_loop(tmp_path: Path) -> None:
    """The program has its own client: Octavo only keeps the history in shape."""
    chat = octavo.open(
        tmp_path / "chats.db", model="gpt-4o", provider=ScriptedProvider([]), summariser="none"
    )
    chat.add("Remember port 8123.")
    messages = chat.context().messages
    assert messages == [{"role": "user", "content": "Remember port 8123."}]
    reply = {
        "model": "gpt-4o-2024",
        "choices": [{"message": {"role": "assistant", "content": "Noted."}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 2},
    }
    node = chat.add(reply)
    assert node.message.text == "Noted."
    assert chat.usage().reading.basis == "calibrated"
    chat.close()
    with octavo.open(tmp_path / "chats.db", model="gpt-4o", provider=ScriptedProvider([])) as again:
        assert [n.message.text for n in again.branch()] == ["Remember port 8123.", "Noted."]


def test_turns_are_plain_iterators_and_forks_are_wrapped_too(tmp_path: Path) -> None:
    provider = ScriptedProvider(lambda _: "Fine. " + FILLER)
    with octavo.open(
        tmp_path / "c.db", model="gpt-4o", provider=provider, summariser="none", system="Be brief."
    ) as chat:
        for n in range(4):
            events = list(chat.turn(f"Question {n}: {FILLER}"))
            assert isinstance(events[-1], Answered)
        assert isinstance(chat.compress(), Compressed)
        assert chat.context().messages[0] == {"role": "system", "content": "Be brief."}
        copy = chat.fork(title="copy")
        assert len(copy.branch()) == 8
        assert "Sync" in repr(copy)
        for event in chat.turn("stop me"):
            assert event
            break
        with pytest.raises(NotFound):
            chat.snapshots.get("0" * 32)


def test_a_compress_block_can_be_added(tmp_path: Path) -> None:
    with octavo.open(tmp_path / "c.db", model="gpt-4o", provider=ScriptedProvider([])) as chat:
        node = chat.add({"type": "compress", "content": "They chose port 8443."})
        assert node.message.text == "[Compressed Message Summary]\nThey chose port 8443."
        assert chat.context().messages == [{"role": "user", "content": node.message.text}]


def test_a_conversation_can_be_chosen_by_title(tmp_path: Path) -> None:
    options: EngineOptions = {"model": "gpt-4o", "provider": ScriptedProvider([])}
    with octavo.open(tmp_path / "c.db", conversation="work", **options) as work:
        work.add("At work.")
        first = work.id
    with octavo.open(tmp_path / "c.db", conversation="home", **options) as home:
        assert home.branch() == ()
    with octavo.open(tmp_path / "c.db", conversation="work", **options) as work:
        assert work.id == first


def test_a_conversation_is_found_among_many_by_its_id_and_by_its_whole_title(tmp_path: Path) -> None:
    """Seen failing with: a part of the title is enough."""
    options: EngineOptions = {"model": "gpt-4o", "provider": ScriptedProvider([])}
    with octavo.open(tmp_path / "c.db", conversation="work", **options) as work:
        work.add("At work.")
        history = "\n".join('{"messages": [{"role": "user", "content": "Hello"}]}' for _ in range(5))
        (tmp_path / "many.jsonl").write_text(history)
        work._loop.run(work._engine.import_file(tmp_path / "many.jsonl", title="homework"))
    for wanted in ("work", work.id):
        with octavo.open(tmp_path / "c.db", conversation=wanted, **options) as again:
            assert again.id == work.id
    with octavo.open(tmp_path / "c.db", **options) as last:
        assert last.info().title == "homework"


def ended(threads: set[threading.Thread]) -> bool:
    """Wait for threads that are ending."""
    for thread in threads:
        thread.join(10)
    return not any(thread.is_alive() for thread in threads)


def test_what_cannot_be_opened_says_why_and_leaves_nothing_running(tmp_path: Path) -> None:
    running = set(threading.enumerate())
    with pytest.raises(UsageError, match=r"octavo\.open\(\) has no option 'polisy'"):
        octavo.open(tmp_path / "c.db", polisy="onyx")  # type: ignore[call-arg]
    with pytest.raises(BadInput, match="system"):
        octavo.open(tmp_path / "c.db", model="gpt-4o", provider=ScriptedProvider([]), system=5)  # type: ignore[arg-type]
    assert ended(set(threading.enumerate()) - running)


def test_after_closing_nothing_is_left_and_a_second_time_nothing_happens(tmp_path: Path) -> None:
    running = set(threading.enumerate())
    chat = octavo.open(tmp_path / "c.db", model="gpt-4o", provider=ScriptedProvider([]))
    chat.add("Remember port 8123.")
    (loop,) = [thread for thread in set(threading.enumerate()) - running if thread.name == "octavo"]
    assert loop.daemon, "a program that ends without closing it ends all the same"
    chat.close()
    chat.close()
    assert ended(set(threading.enumerate()) - running)


def test_an_iterator_that_is_left_after_closing_ends_quietly(tmp_path: Path) -> None:
    provider = ScriptedProvider(lambda _: "Fine.")
    chat = octavo.open(tmp_path / "c.db", model="gpt-4o", provider=provider, summariser="none")
    events = chat.turn("Hello")
    assert next(events)
    chat.close()
    events.close()  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="was closed"):
        chat.branch()


class Counting:
    """An asynchronous iterator that has nothing to close."""

    def __init__(self) -> None:
        self.at = 0

    def __aiter__(self) -> Counting:
        return self

    async def __anext__(self) -> int:
        self.at += 1
        if self.at > 3:
            raise StopAsyncIteration
        return self.at


class Closed(Counting):
    """One that notes when it is closed."""

    closed = False

    async def aclose(self) -> None:
        self.closed = True


def test_who_leaves_an_iterator_early_closes_what_it_stands_for() -> None:
    loop, stream = Loop(), Closed()
    left = loop.iterate(stream)
    assert next(left) == 1
    assert not stream.closed
    left.close()  # type: ignore[attr-defined]
    assert stream.closed
    loop.stop()


def test_interrupting_the_wait_stops_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, begun, stopped = Loop(), threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    def interrupted(_: Future[None]) -> None:
        begun.wait(10)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            loop.run(work())
    assert stopped.wait(10)
    loop.stop()


def test_anything_that_gives_one_thing_after_the_other_can_be_iterated() -> None:
    loop = Loop()
    assert list(loop.iterate(Counting())) == [1, 2, 3]
    loop.stop()
    assert loop.stopped


@pytest.mark.parametrize(
    ("awaited", "plain", "inside"),
    [
        (Chat, SyncChat, {"require"}),
        (ChatSnapshots, SyncSnapshots, {"get_here"}),
        (ChatPins, SyncPins, set[str]()),
    ],
)
def test_every_method_of_a_chat_is_there_without_await(awaited: type, plain: type, inside: set[str]) -> None:
    """If one is missing: add a line for it in `sync`, or its name here if programs have no use for it."""
    of_chat = {name for name in vars(awaited) if not name.startswith("_")} - inside
    of_sync = {name for name in vars(plain) if not name.startswith("_")} - {"close"}
    assert of_sync == of_chat
    for name in of_chat:
        method, kind = vars(awaited)[name], type(vars(plain)[name]).__name__
        assert vars(plain)[name].method is method, name
        assert (kind == "_Stream") == inspect.isasyncgenfunction(method), name
        gives = inspect.signature(method).return_annotation
        assert (kind == "_Another") == (gives == "Chat"), name


def test_what_a_program_uses_of_a_chat_is_seen_at_a_glance() -> None:
    assert len([name for name in vars(Chat) if not name.startswith("_")]) <= 25
