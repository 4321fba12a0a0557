"""What a provider may do to the gateway: redirect, send what is no JSON, fall silent, never end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from octavo.engine.engine import Engine
from octavo.providers.client import LONGEST_LINE
from octavo.providers.settings import WaitLimits
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.gateway.conftest import CLAUDE, MODEL, user
from tests.providers.fake import FakeService, Say, fake_service
from tests.server.conftest import MakeEngine
from tests.server.kit import accounts, listening

pytestmark = pytest.mark.anyio

PATHS = {"/v1/chat/completions": MODEL, "/v1/messages": CLAUDE, "/v1/responses": MODEL}


@asynccontextmanager
async def behind(
    engine: Engine, *script: Say, patience: WaitLimits | None = None
) -> AsyncIterator[tuple[httpx2.AsyncClient, FakeService]]:
    """A gateway in front of a service, with its own connections to it."""
    async with fake_service(*script) as service:
        told = accounts(service.url)
        app = create_app(engine, ServerSettings(providers=replace(told, waits=patience or told.waits)))
        async with listening(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
            yield client, service


def asked(path: str, **options: Any) -> dict[str, Any]:
    if path == "/v1/responses":
        return {"model": PATHS[path], "max_output_tokens": 100, "input": [user("Hi")], **options}
    return {"model": PATHS[path], "max_tokens": 100, "messages": [user("Hi")], **options}


@pytest.fixture
async def plain(make_engine: MakeEngine) -> Engine:
    return await make_engine(provider=None)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("off", ["0", "1"])
async def test_redirects_are_not_followed(plain: Engine, path: str, off: str) -> None:
    async with fake_service(Say(body={})) as elsewhere:
        to = Say(status=302, headers={"location": f"{elsewhere.url}/stolen"})
        async with behind(plain, to) as (client, service):
            told = await client.post(path, json=asked(path), headers={"x-octavo-off": off})
            assert told.status_code == 502
            assert "redirects are not followed" in told.json()["error"]["message"]
            assert len(service.asked) == 1
        assert not elsewhere.asked


@pytest.mark.parametrize("path", PATHS)
async def test_an_answer_that_is_no_json_has_a_name(plain: Engine, path: str) -> None:
    for odd in (b"<html>please log in</html>", b"\xff\xfe\x00", b"", b"[" * 100_000):
        page = Say(headers={"content-type": "application/json"}, events=(odd,) if odd else ("\n",))
        async with behind(plain, page) as (client, _):
            told = await client.post(path, json=asked(path))
            assert told.status_code == 503
            assert told.json()["error"]["octavo"]["type"] == "bad_reply"
    assert await plain.store.conversations.list() == ()


@pytest.mark.parametrize("path", PATHS)
async def test_a_provider_that_never_answers_is_given_up(plain: Engine, path: str) -> None:
    for stream, patience in (
        (True, WaitLimits(first_byte=0.2)),
        (False, WaitLimits(first_byte=0.1, answer=0.3)),
    ):
        async with behind(plain, Say(), patience=patience) as (client, service):
            service.mute = True
            told = await client.post(path, json=asked(path, stream=stream))
            assert told.status_code == 504
            assert told.json()["error"]["octavo"]["type"] == "provider_timeout"
            assert len(service.asked) == 1


async def test_an_answer_that_comes_whole_may_take_longer_to_begin(plain: Engine) -> None:
    """Nothing of it is sent before all of it is written."""
    slow = Say(body={"choices": [{"message": {"role": "assistant", "content": "Hi"}}]}, before=0.5)
    async with behind(plain, slow, patience=WaitLimits(first_byte=0.1)) as (client, _):
        told = await client.post("/v1/chat/completions", json=asked("/v1/chat/completions"))
        assert told.json()["choices"][0]["message"]["content"] == "Hi"


@pytest.mark.parametrize("path", PATHS)
async def test_a_stream_that_falls_silent_or_never_ends_breaks_off_in_words(plain: Engine, path: str) -> None:
    silent = Say(events=(": wait\n\n",), then="hang")
    endless = Say(events=(b"data: ", b"x" * (64 << 10)), then="repeat")
    for say, kind in ((silent, "provider_timeout"), (endless, "reply_too_large")):
        async with behind(plain, say, patience=WaitLimits(silence=0.3)) as (client, service):
            told = await client.post(path, json=asked(path, stream=True))
            assert told.status_code == 200
            assert kind in told.text.rpartition("data: ")[2]
            assert len(told.content) < 2 * LONGEST_LINE
            await service.hung_up.wait()


@pytest.mark.parametrize("path", PATHS)
async def test_who_hangs_up_before_all_is_sent_is_no_error(
    plain: Engine, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    """Seen failing with: a traceback in the log."""
    told: list[Any] = []
    heard = iter(({"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}))

    async def receive() -> Any:
        return next(heard)

    async def send(message: Any) -> None:
        told.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8765"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }
    await create_app(plain, ServerSettings(providers=accounts("http://127.0.0.1:9")))(scope, receive, send)
    assert [message["status"] for message in told if "status" in message] == [499]
    assert "unexpected" not in caplog.text
