"""Gemini's interface, with Google's own library."""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from octavo.engine.engine import Engine
from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.gateway.conftest import setup, user
from tests.gateway.strict_gemini import GeminiProvider, GeminiReply
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider, Reply
from tests.server.kit import KEY, listening

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its own sources have wrong escapes
    from google import genai
    from google.genai import errors, types

pytestmark = pytest.mark.anyio

GEMINI = "gemini-3-pro-preview"


class House:
    """A gateway before a strict Gemini, and Google's library as its client."""

    def __init__(self, url: str, provider: GeminiProvider, engine: Engine) -> None:
        self.url, self.provider, self.engine = url, provider, engine
        self.client = google_client(url)
        self.models = self.client.aio.models
        self.http = httpx2.AsyncClient(base_url=url)


def google_client(url: str, key: str = "unused") -> genai.Client:
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=url))


@asynccontextmanager
async def standing(engine: Engine, **settings: Any) -> AsyncIterator[House]:
    provider = GeminiProvider()
    async with listening(provider.app) as upstream:
        accounts = ProviderSettings(google=ProviderAccount(key=KEY, base_url=upstream))
        app = create_app(engine, ServerSettings(providers=accounts, **settings))
        async with listening(app) as url:
            house = House(url, provider, engine)
            yield house
            await house.client.aio.aclose()
            await house.http.aclose()


@pytest.fixture
async def house(make_engine: MakeEngine) -> AsyncIterator[House]:
    engine = await make_engine(provider=None)
    async with standing(engine) as made:
        yield made


async def texts(engine: Engine) -> list[tuple[str, str]]:
    (conversation,) = await engine.store.conversations.list()
    tree = [node async for node in engine.store.tree.whole(conversation.id, previews=False)]
    return [(node.message.role, node.message.text) for node in tree]


async def test_googles_library_asks_streams_and_counts(house: House) -> None:
    config = types.GenerateContentConfig(system_instruction="Be brief.", max_output_tokens=100)
    whole = await house.models.generate_content(model=GEMINI, contents="Hi", config=config)
    assert whole.text == "Answer."
    assert house.provider.bodies[-1]["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert house.provider.headers[-1]["x-goog-api-key"] == KEY.reveal()
    stream = await house.models.generate_content_stream(model=GEMINI, contents="Hi")
    assert "".join([piece.text or "" async for piece in stream]) == "Answer."
    counted = await house.models.count_tokens(model=GEMINI, contents="Hi")
    assert counted.total_tokens == 5
    assert await texts(house.engine) == [("user", "Hi"), ("assistant", "Answer."), ("assistant", "Answer.")]
    listed = [model.name async for model in await house.models.list()]
    assert any(name and name.startswith("models/gemini-") for name in listed)
    found = await house.models.get(model="gemini-2.5-flash")
    assert found.input_token_limit


async def test_a_stream_without_events_is_an_array(house: House) -> None:
    house.provider.say = lambda _: GeminiReply("An answer of several pieces.")
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    answer = await house.http.post(f"/v1beta/models/{GEMINI}:streamGenerateContent", json=body)
    assert answer.headers["content-type"] == "application/json"
    pieces = answer.json()
    assert len(pieces) > 2
    said = "".join(p["text"] for piece in pieces for p in piece["candidates"][0]["content"]["parts"])
    assert said == "An answer of several pieces."
    assert pieces[-1]["candidates"][0]["finishReason"] == "STOP"


async def test_tool_loops_in_a_small_window_keep_every_signature(house: House) -> None:
    await house.engine.models.learn_window(GEMINI, 8_192)
    made = 0

    def say(_: Any) -> GeminiReply:
        nonlocal made
        made += 1
        if made % 8:
            return GeminiReply(f"Step {made}.", ("valve", {"number": made}))
        return GeminiReply(f"Done after {made}.")

    house.provider.say = say
    tool = types.Tool(
        function_declarations=[types.FunctionDeclaration(name="valve", description="Reads a valve.")]
    )
    config = types.GenerateContentConfig(tools=[tool], max_output_tokens=500)
    history: list[Any] = [types.UserContent("Begin.")]
    compressed = 0
    for number in range(120):
        answer = await house.models.generate_content(model=GEMINI, contents=history, config=config)
        headers = answer.sdk_http_response.headers if answer.sdk_http_response else {}
        compressed += (headers or {}).get("x-octavo-compressed") == "true"
        assert answer.candidates
        history.append(answer.candidates[0].content)
        calls = answer.function_calls or []
        if calls:
            said = {"output": f"The valve {number} reads {number * 7}. " + "It was noted. " * 40}
            history.append(
                types.UserContent([types.Part.from_function_response(name="valve", response=said)])
            )
        else:
            history.append(types.UserContent(f"Go on with part {number}."))
    assert (house.provider.wrong, house.provider.refused) == ([], 0)
    assert compressed > 20
    assert len(await texts(house.engine)) == 240


async def test_a_request_with_cached_content_is_passed_on(house: House) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "cachedContent": "cachedContents/1"}
    answer = await house.http.post(f"/v1beta/models/{GEMINI}:generateContent", json=body)
    assert answer.status_code == 200
    assert house.provider.bodies[-1] == body
    assert await house.engine.store.conversations.list() == ()


async def test_other_routes_reach_google_and_unknown_ones_say_so(house: House) -> None:
    made = await house.http.post("/v1beta/models/text-embedding-004:embedContent", json={"content": {}})
    assert made.json()["embedding"]["values"] == [0.5]
    assert (await house.http.get("/v1beta/files?pageSize=5")).status_code == 200
    assert house.provider.paths[-1] == "GET files?pageSize=5"
    wrong = await house.http.get("/v1beta/nothing")
    assert (wrong.status_code, wrong.json()["error"]["status"]) == (404, "NOT_FOUND")
    bad = await house.http.post(f"/v1beta/models/{GEMINI}:generateContent", json={"contents": [{"parts": 1}]})
    assert bad.json()["error"]["status"] == "INVALID_ARGUMENT"
    assert "contents[0]" in bad.json()["error"]["message"]


async def test_a_key_may_stand_in_the_query_and_goes_no_further(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    _, secret = await engine.store.keys.create("ann", owner="ann", scopes=["write"])
    async with standing(engine, require_key=True) as house:
        body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
        place = f"/v1beta/models/{GEMINI}:generateContent"
        refused = await house.http.post(place, json=body)
        assert (refused.status_code, refused.json()["error"]["status"]) == (401, "UNAUTHENTICATED")
        assert (await house.http.post(f"{place}?key={secret}", json=body)).status_code == 200
        assert house.provider.headers[-1]["x-goog-api-key"] == KEY.reveal()
        assert secret not in json.dumps([house.provider.headers, house.provider.paths])
        theirs = google_client(house.url, secret)
        assert (await theirs.aio.models.generate_content(model=GEMINI, contents="Hi")).text == "Answer."
        await theirs.aio.aclose()
        assert (await house.http.get("/v1beta/files", headers={"x-goog-api-key": secret})).status_code == 403


@pytest.mark.parametrize("model", ["gpt-4o", "claude-3-haiku"])
async def test_googles_library_talks_to_any_model(make_engine: MakeEngine, model: str) -> None:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider()) as house:
        house.provider.say = lambda _: Reply("Sunny. " * 5, [("call_1", "weather", {"city": "Oslo"})])
        client = google_client(house.url)
        tool = types.Tool(function_declarations=[types.FunctionDeclaration(name="weather")])
        config = types.GenerateContentConfig(
            tools=[tool], max_output_tokens=100, temperature=0.5, system_instruction="Be brief."
        )
        answer = await client.aio.models.generate_content(model=model, contents="Weather?", config=config)
        assert answer.text == "Sunny. " * 5
        assert answer.function_calls
        assert answer.function_calls[0].args == {"city": "Oslo"}
        assert answer.usage_metadata
        assert answer.usage_metadata.prompt_token_count
        assert house.provider.last["max_tokens"] == 100
        stream = await client.aio.models.generate_content_stream(
            model=model, contents="Weather?", config=config
        )
        pieces = [piece async for piece in stream]
        assert "".join(p.text or "" for piece in pieces for p in (piece.parts or [])) == "Sunny. " * 5
        assert [call.name for piece in pieces for call in piece.function_calls or []] == ["weather"]
        house.provider.fail = [(429, {"error": {"message": "Slow down.", "type": "requests"}})]
        with pytest.raises(errors.ClientError) as slow:
            await client.aio.models.generate_content(model=model, contents="Hi")
        assert (slow.value.code, slow.value.status) == (429, "RESOURCE_EXHAUSTED")
        assert user("Hi")
        await client.aio.aclose()
