"""What is read from the environment, once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from octavo.errors import UsageError
from octavo.providers.settings import AZURE_VERSION, LOCAL_WINDOW, OLLAMA_ADDRESS, cache_folder, read_settings


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = read_settings({})
    assert settings.openai.key is None
    assert settings.ollama.base_url == OLLAMA_ADDRESS
    assert settings.azure.api_version == AZURE_VERSION
    assert (settings.local.window, settings.local.threads) == (LOCAL_WINDOW, 0)


def test_every_service_finds_its_variables(tmp_path: Path) -> None:
    settings = read_settings(
        {
            "OPENAI_API_KEY": "k1",
            "OPENAI_BASE_URL": "http://one",
            "AZURE_OPENAI_API_KEY": "k2",
            "AZURE_OPENAI_ENDPOINT": "http://two",
            "AZURE_OPENAI_API_VERSION": "v2",
            "ANTHROPIC_API_KEY": "k3",
            "ANTHROPIC_BASE_URL": "http://three",
            "GOOGLE_API_KEY": "k4",
            "GOOGLE_GENAI_API_VERSION": "v1beta",
            "OCTAVO_CACHE": str(tmp_path),
            "OCTAVO_LOCAL_WINDOW": "2048",
            "OCTAVO_LOCAL_THREADS": "1",
        }
    )
    accounts = (settings.openai, settings.azure, settings.anthropic, settings.google)
    assert [account.key.reveal() for account in accounts if account.key] == ["k1", "k2", "k3", "k4"]
    assert [account.base_url for account in accounts] == ["http://one", "http://two", "http://three", ""]
    assert (settings.azure.api_version, settings.google.api_version) == ("v2", "v1beta")
    assert (settings.local.cache, settings.local.window, settings.local.threads) == (tmp_path, 2048, 1)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", OLLAMA_ADDRESS),
        ("box", "http://box:11434"),
        ("box:8080", "http://box:8080"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("https://box.example/ollama/", "https://box.example/ollama"),
    ],
)
def test_ollama_is_found_where_its_own_variable_says(host: str, address: str) -> None:
    assert read_settings({"OLLAMA_HOST": host}).ollama.base_url == address


def test_how_long_to_wait_and_how_often_to_ask_can_be_told() -> None:
    usual = read_settings({}).waits
    assert (usual.attempts, usual.first_byte, usual.silence, usual.answer) == (4, 60, 60, 1_800)
    told = read_settings(
        {
            "OCTAVO_TRIES": "2",
            "OCTAVO_FIRST_BYTE": "120",
            "OCTAVO_SILENCE": "2.5",
            "OCTAVO_LONGEST_ANSWER": "3600",
        }
    ).waits
    assert (told.attempts, told.first_byte, told.silence, told.answer) == (2, 120, 2.5, 3_600)
    for wrong in ("0", "-1", "soon", "inf", "nan"):
        with pytest.raises(UsageError, match="OCTAVO_SILENCE"):
            read_settings({"OCTAVO_SILENCE": wrong})


def test_a_number_that_is_none_is_named() -> None:
    with pytest.raises(UsageError, match="OCTAVO_LOCAL_WINDOW is 'big'"):
        read_settings({"OCTAVO_LOCAL_WINDOW": "big"})


def test_the_cache_is_where_it_is_set_or_where_the_platform_keeps_such_things(tmp_path: Path) -> None:
    assert cache_folder({"OCTAVO_CACHE": str(tmp_path)}) == tmp_path
    assert cache_folder({}).is_absolute()
    if sys.platform == "linux":
        assert cache_folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "octavo"
