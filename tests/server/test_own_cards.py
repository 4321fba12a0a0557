"""Models that people describe themselves: used, measured and listed under the name they were given, at every door."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app, open_engine
from octavo.server.config import ServerSettings
from tests.server.fake import Provider
from tests.server.kit import KEY, client_of, conversation, listening, talk

pytestmark = pytest.mark.anyio

NAME = "House-Model"
CARD = {"provider": "ollama", "window": 20_000, "max_output": 1_000, "soft": 0.6, "retained": 500}
HELLO = [{"role": "user", "content": "Hello."}]


@pytest.fixture
async def provider() -> Provider:
    return Provider(window=20_000)


@pytest.fixture
async def client(provider: Provider, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A server with accounts at Ollama and Anthropic, and none at OpenAI."""
    async with listening(provider.app) as url:
        accounts = ProviderSettings(
            ollama=ProviderAccount(base_url=url), anthropic=ProviderAccount(key=KEY, base_url=url)
        )
        settings = ServerSettings(db=str(tmp_path / "octavo.db"), summariser="none", providers=accounts)
        engine = await open_engine(settings)
        app = create_app(engine, settings)
        try:
            async with client_of(app) as client:
                yield client
        finally:
            await app.state.octavo.close()
            await engine.close()


async def test_a_model_is_asked_under_the_name_it_was_given(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    assert (await client.put(f"/api/v1/models/{NAME}", json=CARD)).status_code == 200
    place = await conversation(client, model=NAME)
    await talk(client, place, "Hello?")
    assert provider.last["model"] == NAME
    usage = (await client.get(f"{place}/usage")).json()
    assert (usage["budget"]["window"], usage["assumed"]) == (20_000, False)


async def test_one_that_is_like_another_is_served_by_the_same_provider(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    await client.put("/api/v1/models/house-claude", json={"like": "claude-3-haiku", "window": 20_000})
    place = await conversation(client, model="house-claude")
    await talk(client, place, "Hello?")
    assert provider.last["model"] == "house-claude"
    assert "anthropic-version" in provider.headers[-1]
    assert (await client.get(f"{place}/context")).json()["format"] == "anthropic"


async def test_the_provider_that_a_person_named_wins_over_what_a_name_looks_like(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    await client.put("/api/v1/models/gpt-at-home", json=CARD)
    await talk(client, await conversation(client, model="gpt-at-home"), "Hello?")
    assert provider.last["model"] == "gpt-at-home"
    moved = await client.put("/api/v1/models/gpt-at-home", json={**CARD, "provider": "anthropic"})
    assert moved.status_code == 200
    await talk(client, await conversation(client, model="gpt-at-home"), "Hello?")
    assert "anthropic-version" in provider.headers[-1]


async def test_without_a_provider_it_is_said_what_to_do(client: httpx2.AsyncClient) -> None:
    await client.put(f"/api/v1/models/{NAME}", json={"window": 20_000})
    place = await conversation(client, model=NAME)
    refused = await client.post(f"{place}/turns", json={"content": "Hello?"})
    assert refused.status_code == 409
    assert "name its provider on a card of its own" in refused.json()["error"]["message"]


async def test_the_gateway_takes_it_too(client: httpx2.AsyncClient, provider: Provider) -> None:
    await client.put(f"/api/v1/models/{NAME}", json=CARD)
    await client.put("/api/v1/models/house-claude", json={"like": "claude-3-haiku", "window": 20_000})
    for path, model in (("chat/completions", NAME), ("messages", "house-claude")):
        body = {"model": model, "messages": HELLO, "max_tokens": 50}
        answer = await client.post(f"/v1/{path}", json=body)
        assert answer.status_code == 200, answer.text
        assert provider.last["model"] == model
    listed = {model["id"]: model for model in (await client.get("/v1/models")).json()["data"]}
    assert (listed[NAME]["owned_by"], listed[NAME]["context_window"]) == ("ollama", 20_000)
    other = await client.post("/v1/messages", json={"model": NAME, "messages": HELLO, "max_tokens": 50})
    assert other.json()["type"] == "message"
    assert other.headers["x-octavo-provider-format"] == "openai"


async def test_every_card_shows_its_thresholds_and_what_it_retains(client: httpx2.AsyncClient) -> None:
    await client.put(f"/api/v1/models/{NAME}", json=CARD)
    cards = {card["name"]: card for card in (await client.get("/api/v1/models")).json()["models"]}
    shown = ("own", "soft", "retained")
    assert [cards[NAME][key] for key in shown] == [True, 0.6, 500]
    assert [cards["gpt-4-0613"][key] for key in shown] == [False, 0.7, None]
    assert [cards["gpt-4o"][key] for key in shown] == [False, None, None]
    assert (await client.get(f"/api/v1/models/{NAME}")).json()["soft"] == 0.6


async def test_a_card_says_what_its_cache_costs(client: httpx2.AsyncClient) -> None:
    prices = {"price": [4.0, 20.0, 0.4], "cache_write": 1.25, "cache_seconds": 3_600, "price_step": 10_000}
    put = await client.put(f"/api/v1/models/{NAME}", json={**CARD, **prices})
    assert put.status_code == 200
    listed = (await client.get("/api/v1/models")).json()["models"]
    (card,) = [card for card in listed if card["name"] == NAME]
    assert {name: card[name] for name in prices} == prices
    refused = await client.put(f"/api/v1/models/{NAME}", json={**CARD, "cache_write": 0.5})
    assert refused.status_code == 422
