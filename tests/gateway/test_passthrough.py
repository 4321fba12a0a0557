"""What Octavo has nothing to do with goes to the provider as it is; what nobody has is told in the client's shape."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.gateway.conftest import CLAUDE, MODEL, Setup, long, user
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider
from tests.server.kit import KEY, client_of, gateway

pytestmark = pytest.mark.anyio


@dataclass
class WideProvider(Provider):
    """A provider with more routes than chats."""

    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        app = super().app
        app.routes.append(Route("/v1/{path:path}", self.anything, methods=["GET", "POST", "DELETE"]))
        return app

    async def anything(self, request: Request) -> Response:
        path = request.path_params["path"]
        self.asked.append((request.method, path, dict(request.headers), await request.body()))
        if path == "embeddings":
            data = [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return JSONResponse({"object": "list", "data": data, "model": "e", "usage": usage})
        if path == "completions":
            return StreamingResponse(
                iter([b"data: {}\n\n", b"data: [DONE]\n\n"]), media_type="text/event-stream"
            )
        if path == "audio/transcriptions":
            return JSONResponse({"text": "Hello."})
        return JSONResponse({"object": "list", "data": [], "has_more": False})


@pytest.fixture
async def wide(make_engine: MakeEngine) -> AsyncIterator[Setup]:
    engine = await make_engine(provider=None)
    provider = WideProvider()
    async with gateway(engine, provider.app) as (app, url):
        made = Setup(app, url, provider, engine)
        yield made
        await made.openai.close()
        await made.anthropic.close()
        await made.http.aclose()


def asked(house: Setup) -> list[tuple[str, str, dict[str, str], bytes]]:
    assert isinstance(house.provider, WideProvider)
    return house.provider.asked


async def test_other_routes_of_openai_reach_the_provider(wide: Setup) -> None:
    made = await wide.openai.embeddings.create(
        model="text-embedding-3-small", input="Hi", encoding_format="float"
    )
    assert made.data[0].embedding == [0.5, 0.25]
    heard = await wide.openai.audio.transcriptions.create(model="whisper-1", file=("a.wav", b"RIFF"))
    assert heard.text == "Hello."
    assert (await wide.openai.files.list()).data == []
    await wide.openai.moderations.with_raw_response.create(input="Hi")
    (_, _, headers, body), (_, _, form, spoken), (method, path, _, _), _ = asked(wide)
    assert json.loads(body) == {"model": "text-embedding-3-small", "input": "Hi", "encoding_format": "float"}
    assert headers["authorization"] == "Bearer sk-server-0123456789abcdef"
    assert form["content-type"].startswith("multipart/form-data; boundary=")
    assert b"RIFF" in spoken
    assert (method, path) == ("GET", "files")
    assert await wide.engine.store.conversations.list() == ()


async def test_the_providers_name_of_a_model_goes_on_and_streams_pass(wide: Setup) -> None:
    body = {"model": "openai/gpt-3.5-turbo-instruct", "prompt": "Hi", "stream": True}
    answer = await wide.http.post("/v1/completions?a=1", json=body)
    assert answer.content == b"data: {}\n\ndata: [DONE]\n\n"
    assert json.loads(asked(wide)[0][3])["model"] == "gpt-3.5-turbo-instruct"


async def test_batches_of_anthropic_reach_anthropic(wide: Setup) -> None:
    assert [one async for one in wide.anthropic.messages.batches.list()] == []
    method, path, headers, _ = asked(wide)[0]
    assert (method, path) == ("GET", "messages/batches")
    assert headers["x-api-key"] == "sk-server-0123456789abcdef"


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("POST", "/v1/nothing", "/v1/chat/completions"),
        ("POST", "/v1/v1/messages", "without /v1"),
        ("POST", "/chat/completions", "you probably mean /v1/chat/completions"),
        ("GET", "/models", "you probably mean /v1/models"),
        ("GET", "/v1/files/../organization", "there is no route"),
    ],
)
async def test_an_unknown_route_says_which_there_are(wide: Setup, method: str, path: str, words: str) -> None:
    async with httpx2.AsyncClient() as client:
        url = httpx2.URL(wide.url).copy_with(raw_path=path.encode())
        answer = await client.request(method, url, json={} if method == "POST" else None)
        assert answer.status_code == 404
        error = answer.json()["error"]
        assert words in error["message"]
        assert error["type"] == "not_found_error"
        theirs = await client.request(method, url, headers={"anthropic-version": "2023-06-01"})
        assert theirs.json()["type"] == "error"
    assert asked(wide) == []


async def test_a_wrong_method_is_told_as_such(wide: Setup) -> None:
    answer = await wide.http.get("/v1/chat/completions")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_users_do_not_see_each_others_files_through_the_servers_key(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    provider = WideProvider()
    async with gateway(engine, provider.app, require_key=True) as (app, url):
        made = Setup(app, url, provider, engine)
        _, secret = await engine.store.keys.create("ann", owner="ann", scopes=["write"])
        theirs = {"authorization": f"Bearer {secret}"}
        refused = await made.http.get("/v1/files", headers=theirs)
        assert refused.status_code == 403
        assert "x-octavo-key" in refused.json()["error"]["octavo"]["hint"]
        assert (
            await made.http.post("/v1/embeddings", json={"model": "e"}, headers=theirs)
        ).status_code == 200
        own = {"authorization": "Bearer sk-own", "x-octavo-key": secret}
        assert (await made.http.get("/v1/files", headers=own)).status_code == 200
        assert asked(made)[-1][2]["authorization"] == "Bearer sk-own"
        await made.openai.close()
        await made.anthropic.close()
        await made.http.aclose()


async def test_a_window_that_nobody_knows_is_told_as_assumed(house: Setup) -> None:
    """The address of this provider may serve any model."""
    found: Any = await house.openai.models.retrieve("gpt-none-such")
    assert found.context_window_assumed is True
    theirs: Any = await house.anthropic.models.retrieve("none-such")
    assert theirs.max_input_tokens_assumed is True


async def test_a_model_that_nothing_stands_for_is_not_there(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    accounts = ProviderSettings(openai=ProviderAccount(key=KEY), anthropic=ProviderAccount(key=KEY))
    app = create_app(engine, ServerSettings(providers=accounts))
    async with client_of(app) as client:
        missing = await client.get("/v1/models/none-such")
        assert (missing.status_code, missing.json()["error"]["type"]) == (404, "not_found_error")
        theirs = await client.get("/v1/models/none-such", headers={"anthropic-version": "2023-06-01"})
        assert theirs.json()["error"]["type"] == "not_found_error"
        assert theirs.json()["type"] == "error"
        assert (await client.get("/v1/models/gpt-4o")).json()["context_window"] == 128_000


async def test_a_learned_window_shows(house: Setup) -> None:
    await house.engine.models.learn_window(MODEL, 4_096)
    one: Any = await house.openai.models.retrieve(MODEL)
    assert one.context_window == 4_096
    listed: Any = [model async for model in await house.openai.models.list() if model.id == MODEL]
    assert listed[0].context_window == 4_096


async def test_an_overflow_names_the_models_window(house: Setup) -> None:
    await house.engine.models.learn_window(CLAUDE, 4_096)
    huge = " ".join(long(number) for number in range(40))
    with pytest.raises(openai.BadRequestError) as ours:
        await house.ask({"role": "system", "content": huge}, user("Hi"))
    assert "maximum context length is 4096 tokens" in ours.value.message
    with pytest.raises(anthropic.BadRequestError) as theirs:
        await house.ask_claude(user("Hi"), system=huge)
    assert "> 4096 maximum" in theirs.value.message
