"""The gate: who gets in, from where, with how much, how often; and what nobody is ever told."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from fastapi import FastAPI

from octavo.engine.engine import Engine
from octavo.errors import ProviderError, ReadOnly, StoreError, UsageError
from octavo.providers.secret import Secret
from octavo.server.app import create_app
from octavo.server.config import Limits, ServerSettings, is_loopback, read_server_settings
from octavo.server.http_protocol import TimedHttpProtocol
from octavo.server.rate_limiter import RateLimiter
from octavo.server.routes import health
from octavo.server.run import check_safe
from octavo.store.connection import Connection
from octavo.store.schema import api_key
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider
from tests.server.kit import KEY, accounts, client_of, conversation, gateway, listening

pytestmark = pytest.mark.anyio

KEYED = ServerSettings(require_key=True)


async def key(engine: Engine, *scopes: str, owner: str = "ann") -> str:
    _, secret = await engine.store.keys.create("test", owner=owner, scopes=scopes)
    return f"Bearer {secret}"


# Who


async def test_on_this_machine_no_key_is_needed(client: httpx2.AsyncClient) -> None:
    me = (await client.get("/api/v1/me")).json()
    assert me == {"owner": "", "scopes": ["read", "write", "admin"], "key_required": False}


async def test_with_keys_required_nobody_gets_in_without_one(engine: Engine) -> None:
    async with client_of(create_app(engine, KEYED)) as client:
        for path in ("/api/v1/me", "/v1/models", "/metrics"):
            refused = await client.get(path)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/ready")).status_code == 200
        assert (await client.get("/openapi.json")).status_code == 200
        wrong = await client.get("/api/v1/me", headers={"authorization": "Bearer octavo_wrong"})
        assert wrong.status_code == 401


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("authorization", "Bearer octavo_wrong"),
        ("authorization", "Bearer laptop"),
        ("x-api-key", "sk-of-a-provider"),
        ("x-octavo-key", "laptop"),
    ],
)
async def test_a_wrong_key_is_called_wrong(engine: Engine, header: str, value: str) -> None:
    async with client_of(create_app(engine, KEYED)) as client:
        refused = await client.get("/api/v1/me", headers={header: value})
        missing = await client.get("/api/v1/me")
    assert refused.status_code == missing.status_code == 401
    assert "this key is wrong" in refused.json()["error"]["message"]
    assert value.removeprefix("Bearer ") not in refused.text
    assert missing.json()["error"]["message"] == "a key is needed"


async def test_a_key_for_the_api_has_a_name_and_rights(client: httpx2.AsyncClient) -> None:
    made = (await client.post("/api/v1/keys", json={"name": "laptop"})).json()
    assert made["scopes"] == ["read", "write"]
    for body in ({"name": ""}, {"name": "  "}, {"name": "laptop", "scopes": []}):
        refused = await client.post("/api/v1/keys", json=body)
        assert 400 <= refused.status_code < 500
        assert refused.json()["error"]["message"]
    assert len((await client.get("/api/v1/keys")).json()["keys"]) == 1


async def test_a_key_is_shown_once_stored_hashed_and_revoked_at_once(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(require_key=True, admin_key=Secret("first-key", "TEST")))
    async with client_of(app, authorization="Bearer first-key") as admin, client_of(app) as client:
        body = {"name": "laptop", "owner": "ann", "scopes": ["write"]}
        made = (await admin.post("/api/v1/keys", json=body)).json()
        assert len(made["secret"]) > 40
        headers = {"authorization": f"Bearer {made['secret']}"}
        me = (await client.get("/api/v1/me", headers=headers)).json()
        assert (me["owner"], me["scopes"]) == ("ann", ["read", "write"])
        listed = await admin.get("/api/v1/keys")
        assert made["secret"] not in listed.text
        assert listed.json()["keys"][0]["prefix"] == made["secret"][:13]
        assert (await admin.delete(f"/api/v1/keys/{made['id']}")).json()["revoked"] is True
        assert (await client.get("/api/v1/me", headers=headers)).status_code == 401
        assert (await admin.delete(f"/api/v1/keys/{'0' * 32}")).status_code == 404


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "x-octavo-key"])
async def test_a_key_is_taken_from_any_header_that_clients_use(engine: Engine, header: str) -> None:
    secret = (await key(engine, "read")).removeprefix("Bearer ")
    async with client_of(create_app(engine, KEYED)) as client:
        value = f"Bearer {secret}" if header == "authorization" else secret
        assert (await client.get("/api/v1/me", headers={header: value})).json()["owner"] == "ann"


async def test_scopes_open_only_their_doors(engine: Engine) -> None:
    app = create_app(engine, KEYED)
    reader, writer = await key(engine, "read"), await key(engine, "write")
    async with client_of(app, authorization=reader) as client:
        assert (await client.get("/api/v1/conversations")).status_code == 200
        assert (await client.post("/api/v1/conversations", json={})).status_code == 403
        assert (await client.post("/v1/chat/completions", json={})).status_code == 403
    async with client_of(app, authorization=writer) as client:
        assert (await client.post("/api/v1/conversations", json={})).status_code == 201
        assert (await client.get("/api/v1/keys")).status_code == 403
        assert (await client.post("/api/v1/keys", json={"name": "more"})).status_code == 403
        assert (await client.patch("/api/v1/settings", json={"auto": False})).status_code == 403
        assert (await client.put("/api/v1/models/mine", json={"window": 1_000_000})).status_code == 403
        assert (await client.get("/api/v1/upstreams")).status_code == 403
    bare = await key(engine, "read", owner="eve")
    await engine.store._database.write(_take_the_rights_of_eve)
    async with client_of(app, authorization=bare) as client:
        assert (await client.get("/api/v1/conversations")).status_code == 403


async def _take_the_rights_of_eve(connection: Connection) -> None:
    """Leave a key as version 0.1.0 made them where only a name was given."""
    await connection.execute(sa.update(api_key).where(api_key.c.owner == "eve").values(scopes=[]))


async def test_a_request_that_came_through_a_proxy_is_not_the_person_at_this_machine(
    client: httpx2.AsyncClient,
) -> None:
    refused = await client.get("/api/v1/me", headers={"x-forwarded-for": "203.0.113.9"})
    assert refused.status_code == 401
    assert "OCTAVO_REQUIRE_KEY" in refused.json()["error"]["hint"]


# From where


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", ""])
async def test_a_name_that_points_here_by_somebody_elses_doing_is_refused(
    client: httpx2.AsyncClient, host: str
) -> None:
    for path in ("/", "/api/v1/me", "/openapi.json", "/v1/models"):
        assert (await client.get(path, headers={"host": host})).status_code == 421
    assert (await client.get("/health", headers={"host": host})).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8765", "[::1]:9", "chat.example.org"])
async def test_its_own_names_are_answered_to(engine: Engine, host: str) -> None:
    async with client_of(create_app(engine, ServerSettings(hosts=("chat.example.org",)))) as client:
        assert (await client.get("/api/v1/me", headers={"host": host})).status_code == 200


async def test_pages_of_other_sites_can_do_nothing(client: httpx2.AsyncClient) -> None:
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"origin": "http://[not-an-address"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ):
        refused = await client.post("/api/v1/conversations", json={}, headers=headers)
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers
    form = await client.post(
        "/api/v1/conversations", content='{"title":"x"}', headers={"content-type": "text/plain"}
    )
    assert form.status_code == 422
    own = await client.post("/api/v1/conversations", json={}, headers={"origin": "http://127.0.0.1:8765"})
    assert own.status_code == 201
    assert len((await client.get("/api/v1/conversations")).json()["conversations"]) == 1


async def test_a_site_that_was_named_may_use_the_server(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(origins=("https://app.example.org",)))
    async with client_of(app, origin="https://app.example.org") as client:
        asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        allowed = await client.options("/api/v1/conversations", headers=asked)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://app.example.org"
        assert (await client.post("/api/v1/conversations", json={})).status_code == 201


async def test_responses_cannot_be_framed_sniffed_or_read_by_others(client: httpx2.AsyncClient) -> None:
    headers = (await client.get("/")).headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


# How much, how often, how long


async def test_a_request_that_is_too_large_is_refused_whether_or_not_it_says_so(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(limits=Limits(body=1_000, upload=2_000)))

    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"title": "'
        for _ in range(100):
            yield b"x" * 100

    async with client_of(app) as client:
        said = await client.post("/api/v1/conversations", json={"title": "x" * 2_000})
        assert (said.status_code, said.json()["error"]["type"]) == (413, "too_large")
        json_type = {"content-type": "application/json"}
        unsaid = await client.post("/api/v1/conversations", content=pieces(), headers=json_type)
        assert unsaid.status_code == 413
        assert (await client.post("/api/v1/import", content=b"x" * 1_500)).status_code == 422
        assert (await client.post("/api/v1/import", content=b"x" * 2_500)).status_code == 413


async def test_a_compressed_request_is_not_unpacked(client: httpx2.AsyncClient) -> None:
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    assert (await client.post("/api/v1/conversations", content=b"bomb", headers=headers)).status_code == 415


async def test_a_client_that_asks_too_often_is_told_when_to_come_back(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(limits=Limits(rate=0.5, burst=3)))
    async with client_of(app) as client:
        statuses = [(await client.get("/api/v1/me")).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        refused = await client.get("/api/v1/me")
        assert 1 <= int(refused.headers["retry-after"]) <= 2
        assert (await client.get("/health")).status_code == 200


async def test_keys_do_not_take_from_each_others_limits(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(require_key=True, limits=Limits(rate=0.01, burst=2)))
    one, other = await key(engine, "read"), await key(engine, "read")
    async with client_of(app) as client:
        first = [
            (await client.get("/api/v1/me", headers={"authorization": one})).status_code for _ in range(3)
        ]
        assert first == [200, 200, 429]
        assert (await client.get("/api/v1/me", headers={"authorization": other})).status_code == 200


async def test_open_streams_count_against_the_cap_until_they_are_closed(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(limits=Limits(concurrency=2)))
    async with listening(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        place = await conversation(client)
        async with client.stream("GET", f"{place}/events"), client.stream("GET", f"{place}/events"):
            assert (await client.get(place)).status_code == 429
        for _ in range(200):
            if (await client.get(place)).status_code == 200:
                break
            await asyncio.sleep(0.02)
        assert (await client.get(place)).status_code == 200


def test_a_bucket_refills_and_forgets_nobody_who_is_still_here() -> None:
    now = [0.0]
    meters = RateLimiter(Limits(rate=2.0, burst=2, concurrency=10), clock=lambda: now[0])
    assert [meters.admit("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    now[0] = 0.5
    assert meters.admit("a") == 0.0
    for number in range(10_100):
        meters.admit(f"b{number}")
        meters.leave(f"b{number}")
    assert meters.admit("a") > 0


async def test_a_client_that_sends_too_slowly_is_hung_up_on(engine: Engine) -> None:
    app = create_app(engine, ServerSettings(limits=Limits(body_seconds=0.1)))

    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"title": '
        await asyncio.sleep(5)
        yield b'"x"}'

    async with listening(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
        slow = await client.post(
            "/api/v1/conversations", content=pieces(), headers={"content-type": "application/json"}
        )
        assert slow.status_code == 408


async def test_an_answer_that_does_not_begin_in_time_is_a_timeout(make_engine: MakeEngine) -> None:
    engine = await make_engine()
    provider = Provider(pause=5)
    told: dict[str, Any] = {"limits": Limits(answer_seconds=0.2), "private_upstreams": True}
    async with gateway(engine, provider.app, **told) as (_, url):
        body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "x" * 100}]}

        async def hang(_: Any) -> Any:
            await asyncio.sleep(5)

        provider.chat = hang  # type: ignore[method-assign, assignment]
        async with listening(provider.app) as slow, httpx2.AsyncClient(base_url=url, timeout=60) as client:
            await engine.store.notes.put("upstreams", {"slow": {"base_url": f"{slow}/v1", "account": ""}})
            late = await client.post("/v1/chat/completions", json={**body, "model": "slow"})
            assert late.status_code == 504
            assert late.json()["error"]["type"] == "server_error"


async def test_a_client_that_never_finishes_its_headers_is_hung_up_on(engine: Engine) -> None:
    class Hasty(TimedHttpProtocol):
        patience = 0.05

    async with listening(create_app(engine), http=Hasty) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        for said in (b"", b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(said)
            assert await reader.read() == b""
            writer.close()
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            place = await conversation(client)
            async with client.stream("GET", f"{place}/events") as response:
                assert "state" in await anext(response.aiter_text())
                reader, writer = await asyncio.open_connection(host, int(port))
                assert await reader.read() == b""
                writer.close()
            assert (await client.get("/health")).status_code == 200


async def test_what_is_no_http_is_answered_in_the_shape_of_every_error(engine: Engine) -> None:
    async with listening(create_app(engine), http=TimedHttpProtocol) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        assert head.startswith(b"HTTP/1.1 400 ")
        error = json.loads(body)["error"]
        assert set(error) == {"type", "message", "numbers", "hint", "request_id"}
        assert f"x-request-id: {error['request_id']}".encode() in head


# What is told


async def test_every_response_has_a_request_id_and_every_error_names_it(client: httpx2.AsyncClient) -> None:
    assert len((await client.get("/health")).headers["x-request-id"]) == 32
    for response in (
        await client.get("/nowhere"),
        await client.get(f"/api/v1/conversations/{'0' * 32}"),
        await client.post("/api/v1/conversations", json={"titel": "x"}),
        await client.put("/api/v1/conversations", json={}),
    ):
        error = response.json()["error"]
        assert set(error) == {"type", "message", "numbers", "hint", "request_id"}
        assert error["request_id"] == response.headers["x-request-id"]
        assert error["message"]
    assert (await client.put("/api/v1/conversations", json={})).headers["allow"] == "GET, POST"


async def test_errors_become_the_right_statuses(
    make_engine: MakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine = await make_engine()
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)

        async def broken() -> Any:
            raise StoreError("postgresql://octavo:***@db.internal/octavo: the disk is full")

        engine.store.check_writable = broken  # type: ignore[method-assign]
        away = await client.get("/ready")
        assert (away.status_code, away.headers["retry-after"]) == (503, "1")
        assert away.json()["error"]["message"] == "the disk is full"
        assert "db.internal" in caplog.text
        assert (await client.get(f"{place}/plan")).status_code == 404
        big = await client.patch(f"{place}/settings", json={"reply": 4_000})
        assert (big.status_code, big.json()["error"]["type"]) == (409, "bad_budget")
        assert big.json()["error"]["numbers"]["window"] == 4_096


async def test_a_server_whose_database_cannot_be_written_is_not_ready(
    make_engine: MakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that others keep locked still reads, and a process in front of it still lives."""
    monkeypatch.setattr(health, "READY_SECONDS", 0.2)
    async with client_of(create_app(await make_engine())) as client:
        assert (await client.get("/ready")).status_code == 200
        other = sqlite3.connect(tmp_path / "octavo.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        away = await client.get("/ready")
        assert (away.status_code, away.json()["error"]["type"]) == (503, "store_error")
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/api/v1/conversations")).status_code == 200
        other.execute("ROLLBACK")
        other.close()
        monkeypatch.undo()
        assert (await client.get("/ready")).json() == {
            "status": "ready",
            "database": "sqlite",
            "read_only": False,
        }


async def test_a_database_that_became_read_only_is_not_ready_to_be_written(make_engine: MakeEngine) -> None:
    """A primary that became a standby: requests are refused with 403, and another server has to take them."""
    engine = await make_engine()
    async with client_of(create_app(engine)) as client:

        async def standby() -> Any:
            raise ReadOnly("postgresql://db/octavo: the server accepts reads only")

        engine.store.check_writable = standby  # type: ignore[method-assign]
        away = await client.get("/ready")
        assert (away.status_code, away.headers["retry-after"]) == (503, "1")


async def test_what_nobody_expected_is_told_by_its_id_and_nothing_else(app: FastAPI) -> None:
    @app.get("/api/v1/broken")
    async def broken() -> None:
        raise RuntimeError("secret detail")

    async with client_of(app) as client:
        failed = await client.get("/api/v1/broken")
        assert failed.status_code == 500
        assert failed.json()["error"]["type"] == "internal"
        assert "secret" not in failed.text


async def test_provider_keys_never_show(make_engine: MakeEngine, caplog: pytest.LogCaptureFixture) -> None:
    """Not in a response, not in a log, not in an error, whatever the provider echoes."""
    caplog.set_level(logging.DEBUG)
    secret = KEY.reveal()
    engine = await make_engine(lambda _: ProviderError("bad key", status=401))
    provider = Provider()
    async with (
        gateway(engine, provider.app) as (_, url),
        httpx2.AsyncClient(base_url=url, timeout=60) as client,
    ):
        texts = []
        for path in ("/api/v1/models", "/api/v1/settings", "/v1/models", "/openapi.json", "/metrics"):
            texts.append((await client.get(path)).text)
        body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
        answer = await client.post("/v1/chat/completions", json=body)
        texts += [answer.text, str(answer.headers)]
        place = await conversation(client)
        texts.append((await client.post(f"{place}/turns", json={"content": "Hello?"})).text)
        texts.append((await client.get(f"{place}/export")).text)
        echo = {
            "error": {"message": f"Incorrect API key provided: {secret}.", "type": "invalid_request_error"}
        }
        for path, model in (("/v1/chat/completions", "gpt-4o"), ("/v1/messages", "claude-3-haiku")):
            for more in ({}, {"stream": True}, {"octavo": {"off": True}}):
                provider.fail = [(401, echo)]
                refused = await client.post(path, json={**body, "model": model, "max_tokens": 9, **more})
                assert refused.status_code == 401
                assert "Incorrect API key" in refused.text
                texts += [refused.text, str(refused.headers)]
        # The page that a proxy in between shows may hold the headers it was sent.
        provider.fail = [(500, {"error": {"message": f"upstream said no: authorization: Bearer {secret}"}})]
        texts.append((await client.post("/v1/chat/completions", json=body)).text)
    assert provider.headers[0]["authorization"] == f"Bearer {secret}"
    assert all(secret not in text for text in texts)
    assert secret not in caplog.text


@pytest.mark.parametrize("model", ["gpt-4-0613", "claude-3-haiku"])
async def test_nor_do_they_when_the_providers_own_library_asks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, model: str
) -> None:
    caplog.set_level(logging.DEBUG)
    secret, provider = KEY.reveal(), Provider(counts=False)
    async with listening(provider.app) as upstream:
        told = ServerSettings(
            db=str(tmp_path / "o.db"), model=model, summariser="none", providers=accounts(upstream)
        )
        async with listening(create_app(told)) as url, httpx2.AsyncClient(base_url=url, timeout=60) as client:
            place = await conversation(client)
            answered = (await client.post(f"{place}/turns", json={"content": "Hello?"})).text
            assert "Answer to: Hello?" in answered
            provider.fail = [(401, {"error": {"message": f"Incorrect API key provided: {secret}"}})]
            failed = (await client.post(f"{place}/turns", json={"content": "Again?"})).text
    assert "Incorrect API key provided" in failed
    assert len(provider.bodies) == 2
    assert secret in str(provider.headers[0])
    for text in (answered, failed, caplog.text):
        assert secret not in text


async def test_a_query_is_not_logged(client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="octavo.access")
    await client.get("/api/v1/search", params={"q": "my secret disease"})
    lines = [record.getMessage() for record in caplog.records if record.name == "octavo.access"]
    assert any("/api/v1/search" in line for line in lines)
    assert "disease" not in "".join(lines)


# Where it may listen


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.4", False),
        ("localhost.example.org", False),
    ],
)
def test_only_this_machines_own_addresses_are_local(host: str, local: bool) -> None:
    assert is_loopback(host) is local
    assert ServerSettings(host=host).keyed is not local


async def test_no_other_address_is_listened_at_without_a_key(tmp_path: Path) -> None:
    settings = ServerSettings(host="0.0.0.0", db=str(tmp_path / "o.db"))
    with pytest.raises(UsageError, match="there is no key"):
        await check_safe(settings)
    engine = await Engine.open(settings.db)
    made, _ = await engine.store.keys.create("one", scopes=["admin"])
    await check_safe(settings)
    await engine.store.keys.revoke(made.id)
    with pytest.raises(UsageError, match="there is no key"):
        await check_safe(settings)
    await engine.close()
    await check_safe(ServerSettings(host="0.0.0.0", admin_key=Secret("k", "X")))
    await check_safe(ServerSettings())


def test_settings_are_read_from_the_environment_and_nonsense_is_refused() -> None:
    told = read_server_settings(
        {
            "OCTAVO_HOST": "0.0.0.0",
            "OCTAVO_PORT": "9000",
            "OCTAVO_DB": "postgresql://db/octavo",
            "OCTAVO_API_KEY": "k",
            "OCTAVO_HOSTS": "a.example, b.example",
            "OCTAVO_RATE": "5",
            "OCTAVO_REQUIRE_KEY": "yes",
            "OCTAVO_UPSTREAM_KEYS": "client",
            "OCTAVO_LOG": "Info",
        }
    )
    assert (told.host, told.port, told.hosts, told.limits.rate) == (
        "0.0.0.0",
        9_000,
        ("a.example", "b.example"),
        5,
    )
    assert told.require_key
    assert told.log == "info"
    assert told.upstream_keys == "client"
    assert "k" not in json.dumps(str(told.admin_key))
    for name, value in (
        ("OCTAVO_PORT", "many"),
        ("OCTAVO_RATE", "-1"),
        ("OCTAVO_REQUIRE_KEY", "maybe"),
        ("OCTAVO_UPSTREAM_KEYS", "nobody"),
        ("OCTAVO_LOG", "loud"),
    ):
        with pytest.raises(UsageError, match=name):
            read_server_settings({name: value})
