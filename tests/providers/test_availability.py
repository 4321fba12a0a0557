"""The list of providers: what can be used now, and what to do about the rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from octavo.core.json_values import Json
from octavo.providers.availability import Availability, availability, explain, probe_ollama, usual_model
from octavo.providers.model_files import SMALLEST
from octavo.providers.sdk import is_installed
from octavo.providers.settings import Local, ProviderAccount, ProviderSettings
from tests.providers.fake import Say, fake_service
from tests.providers.kit import KEY
from tests.providers.test_catalogue import pretend_installed

pytestmark = pytest.mark.anyio
NOBODY = ProviderAccount(base_url="http://127.0.0.1:9")


@pytest.fixture
def bare(tmp_path: Path) -> ProviderSettings:
    return ProviderSettings(ollama=NOBODY, local=Local(cache=tmp_path))


def find(settings: ProviderSettings, provider: str) -> Availability:
    [found] = [one for one in availability(settings) if one.provider == provider]
    return found


def test_with_nothing_set_up_every_line_says_what_to_do(bare: ProviderSettings) -> None:
    listed = availability(bare)
    assert [one.provider for one in listed] == [
        "openai",
        "anthropic",
        "google",
        "azure",
        "compatible",
        "ollama",
        "local",
    ]
    assert not any(one.ready for one in listed)
    assert all(one.remedy in explain(listed) for one in listed)


def test_a_key_makes_a_service_ready(bare: ProviderSettings) -> None:
    found = find(replace(bare, anthropic=ProviderAccount(key=KEY)), "anthropic")
    assert found.ready
    assert found.detail == "key from TEST_API_KEY"


def test_azure_needs_an_address_besides_the_key(bare: ProviderSettings) -> None:
    assert find(replace(bare, azure=ProviderAccount(key=KEY)), "azure").remedy == "set AZURE_OPENAI_ENDPOINT"
    assert find(replace(bare, azure=ProviderAccount(key=KEY, base_url="https://x")), "azure").ready


def test_who_chose_no_model_gets_one_that_can_be_used_and_whose_name_is_known(bare: ProviderSettings) -> None:
    azure = replace(bare, azure=ProviderAccount(key=KEY, base_url="https://x"))
    assert usual_model(availability(bare)) == ""
    assert usual_model(availability(azure)) == ""
    assert usual_model(availability(replace(azure, google=ProviderAccount(key=KEY)))) == "gemini-2.5-flash"
    served = Availability(provider="ollama", title="", example="", detail="", models=("ollama/a", "ollama/b"))
    assert usual_model([find(azure, "azure"), served]) == "ollama/a"


def test_an_embedded_model_that_is_installed_is_listed_for_what_it_is(bare: ProviderSettings) -> None:
    pretend_installed(SMALLEST, bare.local.cache)
    found = find(bare, "local")
    assert found.models == ("local/smollm2-135m",)
    if is_installed("xllamacpp"):
        assert found.ready
        assert found.detail == "SmolLM2 135M: small, for trying out"


@pytest.mark.parametrize(
    ("answer", "models"),
    [
        ({"models": [{"name": "llama3.2:3b"}, {"name": "qwen3:8b"}]}, ("llama3.2:3b", "qwen3:8b")),
        ({"models": []}, ()),
        ({"models": None}, ()),
        ([1, 2], ()),
    ],
)
async def test_a_running_ollama_is_asked_for_its_models(answer: Json, models: tuple[str, ...]) -> None:
    async with fake_service(Say(body=answer)) as service:
        assert await asyncio.to_thread(probe_ollama, ProviderAccount(base_url=service.url)) == models
        assert service.asked[0].path == "/api/tags"


async def test_ollama_with_models_is_ready_and_without_one_says_how_to_get_one(
    bare: ProviderSettings,
) -> None:
    async with fake_service(
        Say(body={"models": [{"name": "llama3.2:3b"}]}), Say(body={"models": []})
    ) as service:
        settings = replace(bare, ollama=ProviderAccount(base_url=service.url))
        ready = await asyncio.to_thread(find, settings, "ollama")
        empty = await asyncio.to_thread(find, settings, "ollama")
    assert (ready.ready, ready.example, ready.models) == (True, "ollama/llama3.2:3b", ("ollama/llama3.2:3b",))
    assert empty.remedy.startswith("get one: ollama pull")


def test_an_address_where_nobody_listens_is_no_ollama() -> None:
    assert probe_ollama(NOBODY) is None
    assert probe_ollama(ProviderAccount(base_url="http://127.0.0.1:nonsense")) is None
