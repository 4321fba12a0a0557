"""What people say of a model, what providers say of it, and which of the two holds where."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from octavo.core.budget import Price
from octavo.core.message_json import Json, JsonObject
from octavo.core.reply import Request
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.models import SAVED_EVERY, SMALLEST_WINDOW, Models
from octavo.engine.outcome import Answered
from octavo.errors import BadInput, NotFound, UnknownModel, WindowExceeded
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.store.values import Conversation
from octavo.testing import ScriptedProvider
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


async def believed(engine: Engine) -> int:
    return (await engine.models.meter(MODEL)).card.window


async def test_a_window_that_an_error_names_is_believed_within_reason(make: MakeEngine, path: Path) -> None:
    engine = await make(window=8_000)
    await engine.models.learn_window(MODEL, 9_000)
    assert await believed(engine) == 8_000, "it was refused for being larger than that"
    await engine.models.learn_window(MODEL, 7_000, named=False)
    assert await believed(engine) == 7_000
    async with await Engine.open(path, model=MODEL) as again:
        assert await believed(again) == 8_000, "what is guessed lives as long as the process"
    await engine.models.learn_window(MODEL, 12)
    assert await believed(engine) == SMALLEST_WINDOW
    async with await Engine.open(path, model=MODEL) as again:
        assert await believed(again) == SMALLEST_WINDOW


@pytest.mark.parametrize(
    ("named", "window"),
    [
        (SMALLEST_WINDOW, SMALLEST_WINDOW),
        (SMALLEST_WINDOW - 1, 128_000),
        (128_000, 128_000),
        ("much", 128_000),
    ],
)
async def test_a_stored_window_that_cannot_be_is_not_believed(
    make: MakeEngine, named: int | str, window: int
) -> None:
    engine = await make()
    await engine.store.notes.put("learned:gpt-4o-mini", {"named_window": named})
    assert (await engine.models.meter("gpt-4o-mini")).card.window == window
    assert (await engine.models.learned_windows())["gpt-4o-mini"] == window


async def test_what_the_caller_says_of_a_window_is_believed_and_no_assumption(make: MakeEngine) -> None:
    engine = await make()
    assert (await engine.models.meter("nobody-knows-it")).card.assumed
    await engine.models.set_window("nobody-knows-it", 77_000)
    card = (await engine.models.meter("nobody-knows-it")).card
    assert (card.window, card.assumed) == (77_000, False)
    assert (await engine.models.learned_windows())["nobody-knows-it"] == 77_000


def models_with(engine: Engine, **cards: JsonObject) -> Models:
    engine.models.take(dict(cards))
    return engine.models


async def test_what_writes_a_summary_has_its_price_and_what_answers_reads_from_its_cache(
    make: MakeEngine,
) -> None:
    engine = await make()
    priced: JsonObject = {"window": 9_000, "price": [4.0, 20.0, 0.4]}
    models = models_with(engine, dear=priced, plain={"window": 9_000, "price": [3.0, 15.0]})
    card = models.book.find("dear")
    assert models.writer_price({"summariser": "none"}, card) is None
    assert models.writer_price({}, card) is None
    assert models.writer_price({"summariser": "plain"}, card) == Price(input=3.0, output=15.0)
    cached = Price(input=0.4, output=20.0, cached=0.4)
    for same in ("dear", "same"):
        assert models.writer_price({"summariser": same}, card) == cached
    plain = models.book.find("plain")
    assert models.writer_price({"summariser": "plain"}, plain) == Price(input=3.0, output=15.0)


async def test_a_card_of_ones_own_says_whose_a_model_is(make: MakeEngine) -> None:
    engine = await make()
    models = models_with(
        engine,
        house={"window": 9_000, "provider": "anthropic"},
        like={"like": "claude-sonnet-4-5"},
        nobodys={"window": 9_000},
    )
    assert models.address("gpt-4o") == "gpt-4o"
    assert models.address("house") == "anthropic/house"
    assert models.address("openai/house") == "openai/house"
    assert models.address("nobodys") == "nobodys"
    assert models.is_set("house")
    assert models.is_set("like")
    assert not models.is_set("gpt-4o")
    longest: JsonObject = {"max_output": 500}
    assert not models_with(engine, **{"gpt-4o": longest}).is_set("gpt-4o")


async def test_where_no_model_is_chosen_that_is_said(make: MakeEngine) -> None:
    engine = await make(provider=None)
    with pytest.raises(UnknownModel, match="no model is chosen"):
        engine.models.provider("")
    assert not engine.models.is_opened(MODEL)


async def test_the_cards_of_people_are_read_once_for_all_models(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the settings of a turn they come along; what asks for a meter besides need not read them again."""
    engine = await make()
    models = Models(engine.store, engine.models.open)
    read, get = list[str](), engine.store.notes.get

    async def noted(key: str) -> object:
        read.append(key)
        return await get(key)

    monkeypatch.setattr(engine.store.notes, "get", noted)
    for model in (MODEL, "gpt-4o-mini", MODEL):
        await models.meter(model)
    assert read == [Models.CARDS, f"learned:{MODEL}", "learned:gpt-4o-mini"]


async def test_what_bills_teach_is_stored_every_few_seconds(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, now = await make(), [100.0]
    chat = await engine.create()
    await chat.add("Hello there, how are you?")
    state, models = await chat._state(), Models(engine.store, engine.models.open, clock=lambda: now[0])
    stored, put = list[float](), engine.store.notes.put

    async def noted(key: str, value: Json) -> None:
        assert key == f"learned:{MODEL}"
        stored.append(now[0])
        await put(key, value)

    monkeypatch.setattr(engine.store.notes, "put", noted)
    for now[0] in (100.0, 101.0, 100.0 + SAVED_EVERY, 100.5 + SAVED_EVERY):
        await models.learn_bill(MODEL, state.survey, 30)
    assert stored == [100.0, 100.0 + SAVED_EVERY]
    await models.save()
    await models.save()
    assert stored[2:] == [100.5 + SAVED_EVERY]


@pytest.mark.parametrize(("billed", "learned"), [(-1, False), (0, False), (1, True)])
async def test_a_bill_over_nothing_teaches_nothing(make: MakeEngine, billed: int, learned: bool) -> None:
    engine = await make()
    chat = await engine.create()
    await chat.add("Hello there, how are you?")
    before, state = await engine.models.meter(MODEL), await chat._state()
    await engine.models.learn_bill(MODEL, state.survey, billed)
    assert ((await engine.models.meter(MODEL)) is not before) == learned


async def test_the_windows_that_are_believed_in_are_those_of_people_before_those_of_errors(
    make: MakeEngine,
) -> None:
    engine = await make()
    for model in ("gpt-4o-mini", "gpt-4"):
        await engine.store.notes.put(f"learned:{model}", {"named_window": 5_000})
    await engine.store.notes.put("learned:gpt-3", {"named_window": "much"})
    await engine.models.define("gpt-4", {"window": 7_000})
    assert await engine.models.learned_windows() == {MODEL: 4_096, "gpt-4o-mini": 5_000}
    await engine.models.meter("gpt-4")
    assert (await engine.models.learned_windows())["gpt-4"] == 7_000


async def test_a_provider_is_closed_once_however_many_models_it_serves(make: MakeEngine) -> None:
    closed = list[str]()

    class Noted(ScriptedProvider):
        async def close(self) -> None:
            closed.append(self.name)

    engine = await make()
    one, other = Noted([]), Noted([], name="other")
    models = Models(engine.store, lambda model: (other if model == "gpt-4" else one, f"served-{model}"))
    for model in ("gpt-4o", "gpt-4o-mini", "gpt-4", "gpt-4o"):
        assert models.provider(model) is (other if model == "gpt-4" else one)
        assert models.name(model) == f"served-{model}"
        assert models.is_opened(model)
    await models.close()
    assert closed == ["scripted", "other"]
    assert not models.is_opened("gpt-4o")
    await models.close()
    assert closed == ["scripted", "other"]


async def test_a_calibration_that_this_version_cannot_read_is_forgotten(make: MakeEngine) -> None:
    engine = await make()
    for kept in ("no JSON", 3, None):
        await engine.store.notes.put("learned:gpt-4", {"calibration": kept})
        models = Models(engine.store, engine.models.open)
        assert (await models.meter("gpt-4")).calibration == Meter(find_card("gpt-4")).calibration


async def test_a_card_that_takes_over_anothers_leads_to_its_provider_only_where_the_name_tells_none(
    make: MakeEngine,
) -> None:
    like: JsonObject = {"like": "claude-sonnet-4-5"}
    named: JsonObject = {"provider": "anthropic"}
    models = models_with(
        await make(),
        house=like,
        **{"gpt-4o": like, "gpt-4": named},
    )
    assert models.address("house") == "anthropic/house"
    assert models.address("gpt-4o") == "gpt-4o"
    assert models.address("gpt-4") == "anthropic/gpt-4"


async def test_only_the_meters_of_cards_that_changed_are_made_anew(make: MakeEngine) -> None:
    """What bills taught of the others stays; so it does where nothing changed at all."""
    engine = await make()
    cards: dict[str, Json] = {"house": {"window": 9_000}, "yard": {"window": 9_000}}
    engine.models.take(cards)
    house, yard = await engine.models.meter("house"), await engine.models.meter("yard")
    engine.models.take({**cards})
    assert await engine.models.meter("house") is house
    engine.models.take({**cards, "house": {"window": 8_000}})
    assert (await engine.models.meter("house")).card.window == 8_000
    assert await engine.models.meter("yard") is yard
    engine.models.take(None)
    assert (await engine.models.meter("yard")) is not yard


class Here(ScriptedProvider):
    """A model in this process, which knows its window."""

    window = 3_000


async def test_a_model_in_this_process_has_the_window_it_was_started_with_and_no_writer_elsewhere(
    make: MakeEngine,
) -> None:
    engine = await make()
    model = "local/qwen2.5-coder-0.5b"
    models = Models(engine.store, lambda name: (Here([]), name))
    card = (await models.meter(model)).card
    assert (card.window, card.summariser) == (3_000, "")
    usual = Models(engine.store, lambda name: (ScriptedProvider([]), name))
    assert (await usual.meter(model)).card.window == find_card(model).window
    models.take({model: {"like": "gpt-4o", "summariser": "gpt-4o-mini"}})
    assert (await models.meter(model)).card.summariser == "gpt-4o-mini"
    assert (await models.meter("gpt-4o")).card.summariser == find_card("gpt-4o").summariser != ""


async def test_what_was_learned_is_kept_when_somebody_defines_a_card(make: MakeEngine) -> None:
    """And of a model whose own card it was, it is forgotten, since it was learned of another one."""
    engine = await make()
    chat = await engine.create()
    await chat.add("Hello there, how are you?")
    state, models = await chat._state(), engine.models
    for tokens in (30, 60):
        await models.learn_bill(MODEL, state.survey, tokens)
    learned = (await models.meter(MODEL)).calibration
    await models.define(OWN, {"window": 9_000})
    assert (await Models(engine.store, models.open).meter(MODEL)).calibration == learned
    await models.learn_bill(MODEL, state.survey, 90)
    models.take({MODEL: {"window": 9_000}})
    await models.save()
    assert (await Models(engine.store, models.open).meter(MODEL)).calibration == learned


async def test_a_request_that_no_bill_makes_look_small_leaves_no_doubt(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    await chat.add("Hello there, how are you?")
    state, before = await chat._state(), await engine.models.meter(MODEL)
    assert not await engine.models.doubt(MODEL, state.context, state.counts)
    assert await engine.models.meter(MODEL) is before


async def test_what_is_no_card_at_all_says_nothing(make: MakeEngine) -> None:
    models = (await make()).models
    models.take({"house": 3})
    assert (models.address("house"), models.is_set("house")) == ("house", False)
    assert not models.is_set("elsewhere")
    assert (await models.meter("house")).card.assumed


@pytest.mark.parametrize(("named", "kept"), [(127_999, 127_999), (128_000, None)])
async def test_a_window_that_is_no_smaller_than_the_cards_is_not_kept(
    make: MakeEngine, named: int, kept: int | None
) -> None:
    """The next card of that model may have a larger one."""
    engine = await make()
    chat = await engine.create(model="gpt-4o-mini")
    await chat.add("Hello there, how are you?")
    await engine.store.notes.put("learned:gpt-4o-mini", {"named_window": named})
    models = Models(engine.store, engine.models.open)
    await models.learn_bill("gpt-4o-mini", (await chat._state()).survey, 30)
    noted = await engine.store.notes.get("learned:gpt-4o-mini")
    assert isinstance(noted, dict)
    assert noted.get("named_window") == kept
