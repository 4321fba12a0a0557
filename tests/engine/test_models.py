"""What people say of a model, what providers say of it, and which of the two holds where."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from octavo.core.reply import Request
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Answered
from octavo.errors import BadInput, NotFound, WindowExceeded
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.store.values import Conversation
from tests.engine.conftest import MODEL, MakeEngine, billed

pytestmark = pytest.mark.anyio
OWN = "our-house-model"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file that `make` opens."""
    return tmp_path / "chats.db"


async def window_of(engine: Engine, conversation: Conversation | Chat) -> int:
    """The window that a conversation is measured against, through the door that every face takes."""
    return (await (await engine.chat(conversation.id)).usage()).budget.window


async def used(engine: Engine, model: str = MODEL) -> Chat:
    """A conversation that was answered and billed."""
    chat = await engine.create(model=model)
    assert isinstance([event async for event in chat.turn("Hi")][-1], Answered)
    await engine.models.save()
    return chat


async def test_a_window_that_a_person_sets_holds_at_once_in_every_process_and_after_a_restart(
    make: MakeEngine, path: Path
) -> None:
    """The model was used in both processes, and its provider has named a smaller window."""
    here, there = await make(window=4_096), await make(window=4_096)
    chat = await used(here)
    assert await window_of(there, chat) == 4_096
    await here.models.define(MODEL, {"window": 50_000})
    assert await window_of(here, chat) == 50_000
    assert await window_of(there, chat) == 50_000
    await here.models.define(MODEL, {"window": 9_000})
    assert await window_of(there, chat) == 9_000
    async with await Engine.open(path, model=MODEL) as again:
        assert await window_of(again, chat) == 9_000


async def test_bills_that_a_refusal_belies_are_forgotten_in_every_process_at_once(
    make: MakeEngine, path: Path
) -> None:
    """Seen failing with: forgotten here, and believed again after a restart."""
    here = await make(window=128_000)
    chat = await here.create()
    for n in range(12):
        await chat.add(f"Message {n}: " + "something was said. " * (n + 1) * 4)
        state = await chat._state()
        await here.models.learn_bill(MODEL, state.survey, state.reading.tokens // 3)
    await here.models.save()
    state, plain = await chat._state(), Meter(find_card(MODEL))
    taught = (await here.models.meter(MODEL)).read(state.context, state.counts).tokens
    assert taught < plain.read(state.context, state.counts).tokens
    assert await here.models.doubt(MODEL, state.context, state.counts)
    async with await Engine.open(path, model=MODEL) as again:
        meter = await again.models.meter(MODEL)
        assert meter.read(state.context, state.counts).tokens > taught


async def test_a_window_is_learned_from_an_error_and_not_from_an_answer(make: MakeEngine) -> None:
    engine = await make(window=128_000)
    chat = await used(engine)
    await engine.models.define(MODEL, {"window": 500_000})
    await engine.models.undefine(MODEL)
    assert await window_of(engine, chat) == find_card(MODEL).window
    noted = await engine.store.notes.get(f"learned:{MODEL}")
    assert isinstance(noted, dict)
    assert "named_window" not in noted


async def test_a_window_stored_by_the_first_release_caps_nothing(make: MakeEngine) -> None:
    """It stored the card's own window with every bill."""
    engine = await make(window=128_000)
    await engine.store.notes.put("learned:gpt-4o-mini", {"window": 8_192, "calibration": "{}"})
    assert (await engine.models.meter("gpt-4o-mini")).card.window == 128_000


async def test_where_the_person_is_silent_what_was_learned_holds(make: MakeEngine) -> None:
    engine = await make(window=4_096)
    chat = await used(engine)
    await engine.models.define(MODEL, {"max_output": 1_000})
    assert await window_of(engine, chat) == 4_096
    await engine.models.define(MODEL, {"window": 8_000})
    await engine.models.undefine(MODEL)
    assert await window_of(engine, chat) == 4_096
    with pytest.raises(NotFound, match="no card of your own"):
        await engine.models.undefine(MODEL)


async def test_setting_the_window_that_is_on_the_card_already_is_a_word_too(make: MakeEngine) -> None:
    engine, there = await make(window=4_096), await make(window=4_096)
    chat = await used(engine)
    assert await window_of(there, chat) == 4_096
    await engine.models.define(MODEL, {"window": find_card(MODEL).window})
    assert await window_of(engine, chat) == find_card(MODEL).window
    assert await window_of(there, chat) == find_card(MODEL).window


async def test_a_provider_that_refuses_what_the_person_allowed_is_obeyed_for_now(
    make: MakeEngine, path: Path
) -> None:
    """The answer must come; yet the card stays, and the next process tries it again."""

    def say(request: Request) -> str | WindowExceeded:
        size = billed(request)
        return WindowExceeded(f"{size} > 3000", window=3_000) if size > 2_200 else "Fine."

    engine = await make(say, window=128_000)
    await engine.models.define(MODEL, {"window": 6_000})
    chat = await engine.create()
    for number in range(12):
        seen = [event async for event in chat.turn(f"Question {number}. " + "Words to fill it. " * 60)]
        assert isinstance(seen[-1], Answered)
        await chat.wait_until_idle()
    assert await window_of(engine, chat) == 3_000
    async with await Engine.open(path, model=MODEL) as again:
        assert await window_of(again, chat) == 6_000
    await engine.models.define(MODEL, {"window": 6_000})
    assert await window_of(engine, chat) == 6_000


async def test_own_cards_are_known_after_a_restart_before_anybody_lists_them(
    make: MakeEngine, path: Path
) -> None:
    engine = await make()
    await engine.models.define(OWN, {"like": "gpt-4o", "window": 12_345})
    async with await Engine.open(path, model=OWN) as again:
        assert (await again.models.meter(OWN)).card.window == 12_345
        chat = await again.create()
        assert await window_of(again, chat) == 12_345


async def test_a_card_that_is_wrong_is_refused_and_nothing_changes(make: MakeEngine) -> None:
    engine = await make(window=4_096)
    chat = await used(engine)
    with pytest.raises(BadInput, match="window"):
        await engine.models.define(MODEL, {"window": 0})
    assert await window_of(engine, chat) == 4_096
    assert await engine.store.notes.get("cards") is None


async def test_cards_that_a_newer_version_wrote_do_not_stop_a_turn(
    make: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await make(window=4_096)
    await engine.store.notes.put("cards", {OWN: {"window": 9_000}, MODEL: {"moons": 3}})
    chat = await used(engine)
    assert await window_of(engine, chat) == 4_096
    assert (await engine.models.meter(OWN)).card.window == 9_000
    assert "moons" in caplog.text


@pytest.mark.parametrize("model", ["gpt-4-0613", "llama-3", "gemma-2"])
@pytest.mark.parametrize("policy", ["octavo", "onyx", "wave", "requirements", "gemini"])
async def test_a_preset_triggers_where_its_document_says_whatever_the_card_prefers(
    make: MakeEngine, policy: str, model: str
) -> None:
    """The cards of these models prefer 0.7; only the default policy listens to them."""
    assert find_card(model).soft == 0.7
    engine = await make()
    usage = await (await engine.create(model=model, policy=policy, system="Be brief.")).usage()
    budget, window = usage.budget, find_card(model).window
    documented = {
        "octavo": budget.overhead.total + math.floor(budget.available * 0.7),
        "onyx": budget.overhead.total + math.floor(budget.available * 0.75),
        "wave": window - budget.reply,
        "requirements": math.floor(budget.limit * 0.95),
        "gemini": window // 2,
    }
    assert usage.next_at == documented[policy]


async def test_the_rules_of_a_provider_are_known_before_it_is_opened(make: MakeEngine) -> None:
    """Seen failing with: none at all."""
    engine = await make(provider=None)
    names = ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro")
    assert [engine.rules_of(name).name for name in names] == ["openai", "anthropic", "gemini"]
    assert not set(names) & set(engine.models.opened)
