"""What helps a provider's cache goes over the wire: markers where Anthropic wants them, a key for OpenAI; and a
summariser that keeps failing is not asked again, at the door that users take."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app, open_engine
from octavo.server.config import ServerSettings
from tests.server.fake import Json, Provider, Reply, last_text
from tests.server.kit import KEY, client_of, conversation, listening, read_events, talk

pytestmark = pytest.mark.anyio

CLAUDE, GPT, WRITER = "house-claude", "house-gpt", "house-writer"
MARK = '"cache_control"'
FILLER = "The valve in section seven was read and is within its limits. " * 12


@pytest.fixture
async def provider() -> Provider:
    return Provider(window=20_000)


@pytest.fixture
async def client(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx2.AsyncClient]:
    """A server with accounts at Anthropic and OpenAI, both of which answer on this machine."""
    monkeypatch.setattr("octavo.providers.openai.OFFICIAL_HOSTS", ("127.0.0.1",))
    async with listening(provider.app) as url:
        accounts = ProviderSettings(
            openai=ProviderAccount(key=KEY, base_url=f"{url}/v1"),
            anthropic=ProviderAccount(key=KEY, base_url=url),
        )
        settings = ServerSettings(db=str(tmp_path / "octavo.db"), summariser="none", providers=accounts)
        engine = await open_engine(settings)
        app = create_app(engine, settings)
        try:
            async with client_of(app) as client:
                for name, card in (
                    (CLAUDE, {"provider": "anthropic", "window": 20_000, "max_output": 1_000}),
                    (GPT, {"provider": "openai", "window": 20_000, "max_output": 1_000}),
                    (WRITER, {"provider": "openai", "window": 20_000, "max_output": 1_000}),
                ):
                    put = await client.put(f"/api/v1/models/{name}", json=card)
                    assert put.status_code == 200, put.text
                yield client
        finally:
            await app.state.octavo.close()
            await engine.close()


async def test_claude_is_told_where_what_comes_again_ends(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    place = await conversation(client, model=CLAUDE, system="Guard the valves.")
    await talk(client, place, *(f"Question {n}. {FILLER}" for n in range(4)))
    plain = provider.last
    assert MARK in json.dumps(plain["system"])
    assert [MARK in json.dumps(message) for message in plain["messages"]] == [False] * 6 + [True]
    told = read_events((await client.post(f"{place}/compressions", json={"keep": 0.3})).text)
    assert told[1].data["outcome"] == "compressed", told
    await talk(client, place, "And now?", "And then?")
    sent = provider.last
    marked = [at for at, message in enumerate(sent["messages"]) if MARK in json.dumps(message)]
    assert MARK in json.dumps(sent["system"])
    assert len(marked) == 2
    assert marked[-1] == len(sent["messages"]) - 1, "the newest message"
    assert "section seven" in json.dumps(sent["messages"][marked[0]]), "the end of the snapshot"
    assert marked[0] == 0
    assert json.dumps(sent).count(MARK) == 3
    assert not provider.torn


async def test_openai_is_told_which_requests_belong_together(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    first, second = [await conversation(client, model=GPT) for _ in range(2)]
    for place in (first, second, first):
        await talk(client, place, "How is the valve?")
    keys = [json.loads(body).get("prompt_cache_key") for body in provider.bodies]
    assert keys == [place.rpartition("/")[2] for place in (first, second, first)]


async def test_a_service_that_knows_no_such_key_is_asked_without_it(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    refusal = {"message": "Unrecognized", "param": "prompt_cache_key", "code": "unknown_parameter"}
    provider.fail = [(400, {"error": {**refusal, "type": "invalid_request_error"}})]
    place = await conversation(client, model=GPT)
    await talk(client, place, "How is the valve?", "And now?")
    assert ["prompt_cache_key" in json.loads(body) for body in provider.bodies] == [True, False, False]


async def test_a_summariser_that_keeps_failing_is_not_asked_again(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    def say(body: Json) -> Reply:
        return Reply("Nothing of note." if body["model"] == WRITER else f"Fine. {last_text(body)[:9]}")

    provider.say = say
    await client.put(f"/api/v1/models/{GPT}", json={"provider": "openai", "window": 4_000, "max_output": 500})
    place = await conversation(client, model=GPT, summariser=WRITER, summary_share=1.0)
    reasons = list[str]()
    await talk(client, place, *(f"Question {n}. {FILLER}" for n in range(60)))
    for snapshot in (await client.get(f"{place}/snapshots")).json()["snapshots"]:
        reasons.append((await client.get(f"{place}/snapshots/{snapshot['id']}/receipt")).json()["no_summary"])
    asked = sum(json.loads(body)["model"] == WRITER for body in provider.bodies)
    assert 2 <= asked <= 6, "at most three requests for each of two summaries"
    assert len([why for why in reasons if "failed the checks of the last 2 summaries" in why]) >= 2, reasons
