"""Whose key a request goes upstream with."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import openai
import pytest

from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.gateway.conftest import Setup, setup, user
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider
from tests.server.kit import KEY, client_of

pytestmark = pytest.mark.anyio


def contents(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


async def test_the_servers_key_is_used_and_never_the_octavo_key(house: Setup) -> None:
    await house.ask(user("Hi"))
    assert house.provider.headers[-1]["authorization"] == f"Bearer {KEY.reveal()}"
    await house.ask_claude(user("Hi"))
    assert house.provider.headers[-1]["x-api-key"] == KEY.reveal()
    assert house.provider.headers[-1]["anthropic-version"]


async def test_the_clients_own_key_is_passed_on_when_it_is_meant_for_the_provider(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    engine = await make_engine(provider=None)
    _, secret = await engine.store.keys.create("ann", owner="ann", scopes=["write"])
    async with setup(engine, Provider(), require_key=True) as house:
        with pytest.raises(openai.AuthenticationError):
            await house.ask(user("Hi"))
        await house.ask(user("Hi"), extra_headers={"authorization": f"Bearer {secret}"})
        assert house.provider.headers[-1]["authorization"] == f"Bearer {KEY.reveal()}"
        await house.ask(
            user("Hi"), extra_headers={"authorization": "Bearer sk-anns-own", "x-octavo-key": secret}
        )
        assert house.provider.headers[-1]["authorization"] == "Bearer sk-anns-own"
        await house.ask_claude(user("Hi"), extra_headers={"x-api-key": "sk-ant", "x-octavo-key": secret})
        assert house.provider.headers[-1]["x-api-key"] == "sk-ant"
    assert all(secret not in json.dumps(headers) for headers in house.provider.headers)
    assert all("x-octavo-key" not in headers for headers in house.provider.headers)
    assert b"sk-anns-own" not in contents(tmp_path)


async def test_on_this_machine_the_client_may_be_preferred(make_engine: MakeEngine) -> None:
    engine = await make_engine(provider=None)
    async with setup(engine, Provider(), upstream_keys="client") as house:
        await house.ask(user("Hi"), extra_headers={"authorization": "Bearer sk-mine"})
        assert house.provider.headers[-1]["authorization"] == "Bearer sk-mine"


async def test_without_any_key_the_answer_says_what_to_do(make_engine: MakeEngine) -> None:
    async with client_of(create_app(await make_engine(provider=None), ServerSettings())) as client:
        answer = await client.post("/v1/chat/completions", json={"model": "gpt-4o", "messages": [user("Hi")]})
        assert answer.status_code == 401
        assert "OPENAI_API_KEY" in answer.json()["error"]["octavo"]["hint"]
        for model in ("local/x", "compatible/x"):
            missing = await client.post(
                "/v1/chat/completions", json={"model": model, "messages": [user("Hi")]}
            )
            assert missing.status_code == 404
        wrong = await client.post("/v1/messages", json={"model": "gpt-4o", "messages": [user("Hi")]})
        assert wrong.status_code == 401


async def test_a_prefixed_model_is_called_by_its_own_name_upstream(house: Setup) -> None:
    await house.ask(user("Hi"), model="compatible/some/model")
    assert house.provider.last["model"] == "some/model"


async def test_a_clients_key_shows_in_no_error_and_no_log(
    make_engine: MakeEngine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "sk-anns-own-0123456789"
    caplog.set_level("DEBUG")

    def lost(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError(f"cannot send {request.headers.get('authorization')}")

    engine = await make_engine(provider=None)
    app = create_app(engine, ServerSettings(), transport=httpx2.MockTransport(lost))
    async with client_of(app, authorization=f"Bearer {secret}") as client:
        answer = await client.post("/v1/chat/completions", json={"model": "gpt-4o", "messages": [user("Hi")]})
    await app.state.octavo.close()
    assert answer.status_code == 503
    assert "cannot send Bearer ***" in answer.json()["error"]["message"]
    async with setup(engine, Provider(), upstream_keys="client") as house:
        await house.ask(user("Hi"), extra_headers={"authorization": f"Bearer {secret}"})
        assert house.provider.headers[-1]["authorization"] == f"Bearer {secret}"
    assert "/v1/chat/completions" in caplog.text
    assert secret not in answer.text + caplog.text
    assert secret.encode() not in contents(tmp_path)
