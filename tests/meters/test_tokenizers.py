from __future__ import annotations

import logging
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import tiktoken
from hypothesis import example, given, settings

from octavo.errors import BadInput
from octavo.meters import tokenizers
from octavo.meters.estimate import estimate
from octavo.meters.tokenizers import (
    PROBES,
    VOCABULARIES,
    Count,
    Tokenizer,
    Unavailable,
    Vocabulary,
    build,
    count_text,
    from_splintr,
    from_tiktoken,
    load,
    names,
    warm,
)
from tests.meters.strategies import any_text
from tests.meters.texts import varied

TEXTS = 2_200
EXACT = [name for name, vocabulary in VOCABULARIES.items() if vocabulary.golden]


@pytest.mark.parametrize("name", ["o200k", "cl100k"])
def test_counts_equal_tiktoken_on_thousands_of_varied_texts(
    name: str, ranks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ranks))
    reference = tiktoken.get_encoding(f"{name}_base").encode_ordinary
    count = load(name).count
    texts = list(varied(TEXTS, seed=11))
    differing = [text for text in texts if count(text) != len(reference(text))]
    assert len(texts) == TEXTS
    assert differing == []


@pytest.mark.parametrize("name", EXACT)
def test_every_vocabulary_that_can_be_had_counts_the_known_texts_rightly(name: str) -> None:
    tokenizer = load(name)
    assert (tokenizer.name, tokenizer.exact) == (name, True)
    assert tuple(map(tokenizer.count, PROBES)) == VOCABULARIES[name].golden


@pytest.mark.parametrize("name", ["grok", "llama4", "qwen3.5"])
def test_a_vocabulary_nobody_published_is_stood_in_for_under_another_name(name: str) -> None:
    tokenizer = load(name)
    assert (tokenizer.name, tokenizer.exact) == (f"{name}~o200k", False)
    assert tokenizer.count("Hello, world!") >= 3


@pytest.mark.parametrize("name", names())
def test_any_string_has_a_count_in_every_vocabulary(name: str) -> None:
    """Case 69: empty, emoji, other scripts, JSON, code, long, lone surrogates, special tokens typed by a user."""
    hostile = [
        "\ud83d half an emoji",
        "\udc00\ud800",
        "\x00\x01\x7f\x9f",
        "\ue000\ufdd0\uffff",
        " " * 120_000 + "x",
        "<|endoftext|>" * 50,
        "请" * 3_000,
        '{"a": [1, {"b": null}]}' * 100,
    ]
    count = load(name).count
    assert count("") in (0, 1)
    assert all(count(text) > 0 for text in hostile)


@pytest.mark.parametrize("name", names())
@settings(max_examples=40, deadline=None)
@given(text=any_text(80))
@example(text="half a pair: \udc00")
def test_a_count_is_never_negative_and_always_the_same(name: str, text: str) -> None:
    """Planted bug: lone surrogates were passed on to the library, which raised."""
    count = load(name).count
    assert count(text) == count(text) >= 0


def test_text_that_looks_like_a_special_token_is_counted_as_text() -> None:
    assert count_text("o200k", "<|endoftext|>") == 7
    assert count_text("o200k", "<|think|>") > 1
    assert count_text("gemma", "<bos>") > 1
    assert count_text("mistral", "[INST]") > 1


def test_a_lone_surrogate_counts_like_the_character_that_replaces_it() -> None:
    assert count_text("o200k", "a\ud83db") == count_text("o200k", "a\ufffdb")
    assert count_text("o200k", "\ud83d\ude42") == count_text("o200k", "🙂")


def test_the_yardstick_counts_four_characters_a_token_rounded_up() -> None:
    assert [count_text("chars4", "x" * n) for n in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]


def test_text_of_another_type_and_unknown_names_are_refused_clearly() -> None:
    with pytest.raises(BadInput, match="expected text, got int"):
        count_text("o200k", 7)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="unknown name 'klingon'"):
        load("klingon")


def broken(_: Vocabulary) -> Count:
    raise OSError("the library is damaged")


def wrong(_: Vocabulary) -> Count:
    return lambda text: len(text.encode())


def missing(_: Vocabulary) -> Count:
    raise Unavailable("not here")


def test_a_source_that_fails_or_counts_wrongly_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    """Case 71 at load time: one library answers one token per byte when it is offline; the probes find that out."""
    with caplog.at_level(logging.WARNING):
        tokenizer = build(VOCABULARIES["o200k"], exact=(broken, wrong, missing, from_splintr))
    assert (tokenizer.name, tokenizer.exact) == ("o200k", True)
    assert "damaged" in caplog.text
    assert "instead of (4, 26, 23, 24)" in caplog.text


def test_without_splintr_tiktoken_gives_the_same_counts(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ranks))
    second = build(VOCABULARIES["o200k"], exact=(missing, from_tiktoken))
    assert second.exact
    assert all(second.count(text) == count_text("o200k", text) for text in varied(200, seed=3))


def test_tiktoken_is_not_asked_when_it_would_have_to_fetch_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(Unavailable, match="no data"):
        from_tiktoken(VOCABULARIES["o200k"])


def test_tiktoken_counts_white_space_that_is_too_long_for_its_pattern(
    ranks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ranks))
    count = from_tiktoken(VOCABULARIES["o200k"])
    assert abs(count(" " * 1_000_000) - count_text("o200k", " " * 1_000_000)) <= 10


def test_without_any_vocabulary_o200k_times_a_ratio_serves_and_then_characters() -> None:
    claude = VOCABULARIES["claude-3"]
    first = build(claude, exact=(missing,))
    assert (first.name, first.exact) == ("claude-3~o200k", False)
    assert first.count(PROBES[2]) == 28
    last = build(claude, exact=(missing,), stand_ins=(("characters", tokenizers.from_characters),))
    assert (last.name, last.exact) == ("claude-3~characters", False)
    assert last.count(PROBES[2]) >= estimate(PROBES[2])
    assert build(claude, exact=(broken,), stand_ins=(("o200k", broken),)).count("four words are here") > 0


def test_loading_happens_once_even_when_many_threads_ask_at_once() -> None:
    found: list[Tokenizer] = []
    threads = [threading.Thread(target=lambda: found.append(load("kimi"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(tokenizer is found[0] for tokenizer in found)


@pytest.mark.parametrize("name", [name for name, each in VOCABULARIES.items() if each.swift])
def test_the_swift_form_of_a_vocabulary_gives_the_same_counts(name: str) -> None:
    plain, swift = (replace(VOCABULARIES[name], splintr=form) for form in ("gemma3", "gemma4"))
    first, second = from_splintr(plain), from_splintr(swift)
    assert [text for text in varied(1_100, seed=5) if first(text) != second(text)] == []


def test_warming_replaces_a_loaded_vocabulary_by_its_swift_form() -> None:
    before = load("gemma")
    warm("gemma").join(timeout=60)
    after = load("gemma")
    assert after is not before
    assert (after.name, after.exact) == ("gemma", True)


def test_warming_loads_in_the_background() -> None:
    thread = warm("phi4", "glm")
    thread.join(timeout=30)
    assert {"phi4", "glm"} <= set(tokenizers._loaded)
