"""Five lines for programs without an event loop."""

from __future__ import annotations

from pathlib import Path

import pytest

import octavo
from octavo.engine.outcome import Answered, Compressed
from octavo.errors import BadInput, NotFound
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
            chat.snapshot("0" * 32)


def test_a_conversation_can_be_chosen_by_title(tmp_path: Path) -> None:
    options = {"model": "gpt-4o", "provider": ScriptedProvider([])}
    with octavo.open(tmp_path / "c.db", conversation="work", **options) as work:
        work.add("At work.")
        first = work.id
    with octavo.open(tmp_path / "c.db", conversation="home", **options) as home:
        assert home.branch() == ()
    with octavo.open(tmp_path / "c.db", conversation="work", **options) as work:
        assert work.id == first


def test_what_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(octavo.OctavoError):
        octavo.open("mysql://nowhere", model="gpt-4o")
    with (
        octavo.open(tmp_path / "c.db", model="gpt-4o", provider=ScriptedProvider([])) as chat,
        pytest.raises(BadInput),
    ):
        chat.add(3.14)
