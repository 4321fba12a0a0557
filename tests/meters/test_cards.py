from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from genai_prices import Usage, calc_price
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.budget import ModelCard, Overhead, Price, divide
from octavo.core.policy import adjust, budget_for, preset
from octavo.errors import BadInput, UnknownModel
from octavo.meters.cards import Source, book, find_card, read_book, shipped
from octavo.meters.meter import Meter

SEED = {
    "gpt-4o": (128_000, 16_384, "o200k"),
    "gpt-4-turbo": (128_000, 4_096, "cl100k"),
    "gpt-4-32k": (32_768, 8_192, "cl100k"),
    "gpt-3.5-turbo": (16_385, 4_096, "cl100k"),
    "claude-sonnet-4-5": (1_000_000, 64_000, "claude-3"),
    "claude-3-5-sonnet": (200_000, 8_192, "claude-3"),
    "claude-3-opus": (200_000, 4_096, "claude-3"),
    "claude-3-haiku": (200_000, 4_096, "claude-3"),
    "gemini-2.5-pro": (1_048_576, 65_536, "gemma"),
    "gemini-2.5-flash": (1_048_576, 65_536, "gemma"),
}
"""The table of the requirements: window, longest answer, vocabulary. What it calls GPT-4 is `gpt-4-32k`."""


@pytest.mark.parametrize("name", SEED)
def test_every_model_of_the_requirements_has_the_card_they_state(name: str) -> None:
    card = find_card(name)
    assert (card.window, card.max_output, card.tokenizer) == SEED[name]
    assert card.price is not None
    assert not card.assumed


@pytest.mark.parametrize(
    ("model", "summariser"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("claude-3-opus", "claude-3-haiku-20240307"),
        ("gemini-2.5-pro", "gemini-2.5-flash"),
    ],
)
def test_the_summarisers_the_requirements_propose_are_the_defaults(model: str, summariser: str) -> None:
    assert find_card(model).summariser == summariser


def test_the_makers_asked_for_are_all_there() -> None:
    makers = {card.provider for card in shipped().cards.values()}
    assert {"openai", "anthropic", "google", "xai", "deepseek", "mistral", "qwen", "meta"} <= makers
    assert len(shipped().cards) > 150


@pytest.mark.parametrize("name", shipped().cards)
def test_every_card_can_be_used(name: str) -> None:
    card = find_card(name)
    meter = Meter(card)
    budget = divide(card, overhead=Overhead())
    assert 0 < budget.hard < card.window
    assert meter.unit.name.count("/") == 2
    if card.summariser:
        assert not find_card(card.summariser).assumed
        assert find_card(card.summariser).provider == card.provider


PROVIDERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "xai": "x-ai",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "zai": "zai",
}
WHEN = datetime(2027, 2, 1, 12, tzinfo=UTC)
"""After the introductory prices of 2026."""
PRICE_WITHIN, WINDOW_WITHIN = 0.01, 0.05
"""Windows are rounded differently: a million, or 1,048,576."""
OTHER_WINDOWS = {
    "claude-sonnet-4-5": "the requirements state the 1M beta",
    "gpt-5-chat-latest": "the list takes it for gpt-5",
}
OTHER_PRICES = {
    "deepseek-v4-pro": "half the price at night",
    "deepseek-v4-flash": "half the price at night",
    "mistral-medium": "the list takes it for the model of last year",
}


def test_windows_and_prices_agree_with_an_independent_list() -> None:
    compared, apart = 0, []
    for name, card in shipped().cards.items():
        if card.price is None or card.provider not in PROVIDERS:
            continue
        try:
            listed = calc_price(
                Usage(input_tokens=1_000, output_tokens=1_000),
                name,
                provider_id=PROVIDERS[card.provider],
                genai_request_timestamp=WHEN,
            )
        except LookupError:
            continue
        compared += 1
        window = listed.model.context_window
        if window and abs(window - card.window) > WINDOW_WITHIN * window and name not in OTHER_WINDOWS:
            apart.append(f"{name}: window {card.window:,}, listed {window:,}")
        ours, theirs = (card.price.input, card.price.output), (listed.input_price, listed.output_price)
        for mine, other in zip(ours, theirs, strict=True):
            dollars = float(other) * 1_000
            if abs(mine - dollars) > PRICE_WITHIN * dollars and name not in OTHER_PRICES:
                apart.append(f"{name}: price {mine}, listed {dollars}")
    assert apart == []
    assert compared > 120


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("OpenAI/GPT-4o", "gpt-4o"),
        ("openrouter/openai/gpt-4.1", "gpt-4.1"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("anthropic.claude-opus-4-8", "claude-opus-4-8"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("models/gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-3-pro-preview", "gemini-3-pro"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3"),
        ("llama3:8b", "llama3"),
        ("Qwen/Qwen3-235B-A22B", "qwen3"),
        ("grok-4-0709", "grok-4"),
        ("o3-2025-04-16", "o3"),
        ("gpt-oss:20b", "gpt-oss"),
    ],
)
def test_a_name_is_found_by_its_longest_known_beginning(name: str, like: str) -> None:
    card, known = find_card(name), shipped().cards[like]
    assert (card.window, card.tokenizer, card.frame) == (known.window, known.tokenizer, known.frame)
    assert card.name == name
    assert not card.assumed


@pytest.mark.parametrize(
    ("name", "tokenizer"),
    [
        ("frobnicate-7b", "o200k"),
        ("gpt-7", "o200k"),
        ("gpt-5.9", "o200k"),
        ("claude-opus-6", "claude-4.8"),
        ("claude-opus-4-9", "claude-4.8"),
        ("gemini-5-ultra", "gemma"),
        ("octopus", "o200k"),
    ],
)
def test_an_unknown_name_gets_a_small_window_that_says_it_is_assumed(name: str, tokenizer: str) -> None:
    card = find_card(name)
    assert card.assumed
    assert (card.name, card.window, card.price) == (name, 32_000, None)
    assert card.tokenizer == tokenizer


@given(st.text(max_size=40))
def test_any_name_has_a_card_or_a_clear_error(name: str) -> None:
    if name.strip():
        assert find_card(name).name == name
    else:
        with pytest.raises(UnknownModel):
            find_card(name)


def test_cards_of_the_users_own_come_first_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(
        '[models."gpt-4o"]\nwindow = 64_000\n'
        '[models."house-model"]\nlike = "claude-opus-4-8"\nwindow = 100_000\nmax_output = 8_000\n'
        "soft = 0.6\nretained = 2_000\nprice = [1, 2, 0.1]\n"
        '[guesses]\n"house" = "house-model"\n',
        encoding="utf-8",
    )
    assert find_card("gpt-4o-2024-08-06", path).window == 64_000
    assert find_card("gpt-4o-2024-08-06", str(path)).max_output == 16_384
    house = find_card("house-model-v2", path)
    assert (house.tokenizer, house.window, house.soft, house.retained) == ("claude-4.8", 100_000, 0.6, 2_000)
    assert house.price == Price(input=1, output=2, cached=0.1)
    assert find_card("house.9", path).tokenizer == "claude-4.8"
    assert find_card("gpt-4o").window == 128_000


def test_cards_of_the_users_own_can_be_a_mapping() -> None:
    own = {"models": {"tiny": {"window": 2_048, "max_output": 256, "tokenizer": "llama2", "frame": "llama"}}}
    card = find_card("tiny", own)
    assert card == ModelCard(name="tiny", window=2_048, max_output=256, tokenizer="llama2", frame="llama")
    assert book(own).find("gpt-4o") == find_card("gpt-4o")


@pytest.mark.parametrize(
    ("own", "where"),
    [
        ({"models": {"x": {"window": 0}}}, "models.x.window"),
        ({"models": {"x": {"window": True}}}, "models.x.window"),
        ({"models": {"x": {"window": "many"}}}, "models.x.window"),
        ({"models": {"x": {"window": 100, "max_output": 200}}}, "models.x.max_output"),
        ({"models": {"x": {"retained": -1}}}, "models.x.retained"),
        ({"models": {"x": {"soft": 1.5}}}, "models.x.soft"),
        ({"models": {"x": {"vision": "yes"}}}, "models.x.vision"),
        ({"models": {"x": {"tokenizer": "klingon"}}}, "models.x.tokenizer"),
        ({"models": {"x": {"frame": []}}}, "models.x.frame"),
        ({"models": {"x": {"image_rule": "polaroid"}}}, "models.x.image_rule"),
        ({"models": {"x": {"price": 3}}}, "models.x.price"),
        ({"models": {"x": {"price": [1, -2]}}}, "models.x.price"),
        ({"models": {"x": {"price": [1, float("nan")]}}}, "models.x.price"),
        ({"models": {"x": {"summariser": 7}}}, "models.x.summariser"),
        ({"models": {"x": {"colour": "red"}}}, "models.x.colour"),
        ({"models": {"x": {"like": "nobody"}}}, "models.x.like"),
        ({"models": {"x": 7}}, "models.x"),
        ({"models": []}, "models"),
        ({"modles": {}}, "models.modles"),
        ({"guesses": {"x": "nobody"}}, "guesses.x"),
        ({"families": {"f": {"models": {"x": {"window": -1}}}}}, "families.f.models.x.window"),
    ],
)
def test_a_wrong_card_is_refused_with_the_field_that_is_wrong(own: Source, where: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_book(own, shipped())
    assert caught.value.where == where


def test_a_file_that_is_missing_or_is_not_toml_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        find_card("gpt-4o", tmp_path / "nowhere.toml")
    path = tmp_path / "bad.toml"
    path.write_bytes(b"[models\xff")
    with pytest.raises(BadInput, match="is not TOML"):
        find_card("gpt-4o", path)


@pytest.mark.parametrize(
    ("name", "window"),
    [("gpt-4", 8_192), ("gpt-4-0613", 8_192), ("gpt-4-32k", 32_768), ("gpt-4-32k-0613", 32_768)],
)
def test_windows_are_those_that_the_provider_accepts(name: str, window: int) -> None:
    """The requirements name 32K for GPT-4: that is what `gpt-4-32k` takes; `gpt-4` is refused above 8,192."""
    assert find_card(name).window == window


def test_presets_are_what_their_documents_say_on_every_shipped_model() -> None:
    """Also on those whose cards prefer a mark of their own."""
    shares = {"onyx": ("history", 0.75), "requirements": ("input", 0.95), "gemini": ("window", 0.5)}
    for card in shipped().cards.values():
        for name, (base, share) in shares.items():
            policy = adjust(preset(name), card, {})
            assert (policy.marks.base, policy.marks.soft) == (base, share), card.name
            budget = budget_for(policy, card)
            whole = {"history": budget.available, "input": budget.limit, "window": card.window}[base]
            assert budget.trigger == min(budget.limit, int(whole * share)), card.name
        wave = budget_for(adjust(preset("wave"), card, {}), card)
        assert wave.trigger == card.window - wave.reply, card.name
