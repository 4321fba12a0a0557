"""Keys do not show: not in a repr, a log, an error, nor on disk in anything we write."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from octavo.errors import ProviderError, UsageError
from octavo.protocols import Provider
from octavo.providers.anthropic import open_anthropic
from octavo.providers.availability import availability, explain
from octavo.providers.azure import open_azure
from octavo.providers.google import open_google
from octavo.providers.openai import open_openai
from octavo.providers.secret import Secret, find_secret
from octavo.providers.settings import ProviderAccount, ProviderSettings, read_settings
from tests.providers.fake import Say
from tests.providers.kit import HASTY, KEY, ask, collect, served

OPENERS: dict[str, Callable[[ProviderAccount], Provider]] = {
    "openai": lambda account: open_openai(account, HASTY),
    "azure": lambda account: open_azure(account, HASTY),
    "anthropic": lambda account: open_anthropic(account, HASTY),
    "google": lambda account: open_google(account, HASTY),
}


def test_a_secret_shows_neither_in_repr_nor_in_text() -> None:
    assert (
        KEY.reveal()
        not in f"{KEY} {KEY!r} {[KEY]} {ProviderAccount(key=KEY)} {ProviderSettings(openai=ProviderAccount(key=KEY))}"
    )


def test_headers_of_an_account_do_not_show_either() -> None:
    assert "hunter2" not in repr(ProviderAccount(headers={"Authorization": "Bearer hunter2"}))


@pytest.mark.anyio
@pytest.mark.parametrize("name", OPENERS)
async def test_a_service_that_repeats_the_key_is_not_quoted(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """At the most talkative log level, and through the whole chain of exceptions."""
    caplog.set_level(logging.DEBUG)
    said = Say(status=401, body={"error": {"message": f"bad key {KEY.reveal()}", "code": 401}})
    address = "/v1" if name == "openai" else ""

    def at(url: str) -> Provider:
        return OPENERS[name](ProviderAccount(key=KEY, base_url=url + address, api_version="v1beta"))

    async with served(at, said) as (provider, service):
        with pytest.raises(ProviderError, match=r"401: bad key \*\*\* \(check the key\)") as caught:
            await collect(provider, ask("hi"))
        assert KEY.reveal() in str(service.asked[0].headers)
        assert KEY.reveal() not in repr(provider)
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None
    assert KEY.reveal() not in caplog.text


def test_a_key_may_lie_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("sk-from-file\n")
    found = find_secret({"OPENAI_API_KEY_FILE": str(path)}, "OPENAI_API_KEY")
    assert found is not None
    assert (found.reveal(), found.origin) == ("sk-from-file", "OPENAI_API_KEY_FILE")


def test_the_variable_goes_before_the_file_and_the_first_name_before_the_second() -> None:
    environment = {"GOOGLE_API_KEY": "second", "GEMINI_API_KEY": "first", "GEMINI_API_KEY_FILE": "/nowhere"}
    found = find_secret(environment, "GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert found is not None
    assert found.reveal() == "first"
    assert find_secret({}, "GEMINI_API_KEY") is None


@pytest.mark.parametrize("content", [None, "", b"\xff\xfe"])
def test_a_file_that_holds_no_key_is_named(tmp_path: Path, content: str | bytes | None) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError, match="OPENAI_API_KEY_FILE"):
        find_secret({"OPENAI_API_KEY_FILE": str(path)}, "OPENAI_API_KEY")


def test_the_list_of_providers_shows_where_a_key_came_from_and_not_the_key(tmp_path: Path) -> None:
    environment = {
        "OPENAI_API_KEY": KEY.reveal(),
        "OPENAI_BASE_URL": f"http://user:{KEY.reveal()}@example.org/v1",
        "OCTAVO_CACHE": str(tmp_path),
        "OLLAMA_HOST": "127.0.0.1:9",
    }
    listed = availability(read_settings(environment))
    assert KEY.reveal() not in explain(listed) + repr(listed)
    assert "OpenAI: key from OPENAI_API_KEY" in explain(listed)
    assert "a server at example.org" in explain(listed)


def test_equal_keys_are_equal_and_can_be_hashed() -> None:
    assert {Secret("a", "X"), Secret("a", "X")} == {Secret("a", "X")}
