"""Settings at three levels, model cards, upstream addresses; health, metrics and the page."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from octavo.engine.engine import Engine
from octavo.engine.settings import SETTINGS
from octavo.errors import BadInput, UsageError
from octavo.gateway.upstreams import Upstream, UpstreamRegistry, check_address, check_upstream
from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app, open_engine
from octavo.server.config import ServerSettings
from octavo.server.page import add_page
from octavo.server.schemas.settings import SettingsIn
from octavo.server.telemetry import Telemetry, open_telemetry
from tests.server.conftest import MODEL, MakeEngine
from tests.server.fake import Provider
from tests.server.kit import client_of, conversation, gateway, read_events, talk

pytestmark = pytest.mark.anyio


def test_every_setting_of_the_engine_can_be_set() -> None:
    assert set(SettingsIn.model_fields) == set(SETTINGS)


async def test_the_conversations_settings_win_over_the_models_and_those_over_the_global_ones(
    client: httpx2.AsyncClient,
) -> None:
    place = await conversation(client)
    await client.patch("/api/v1/settings", json={"soft": 0.7, "instructions": "Keep numbers.", "auto": False})
    await client.patch("/api/v1/settings/models/gpt-4-0613", json={"soft": 0.6})
    changed = (await client.patch(f"{place}/settings", json={"soft": 0.75})).json()
    assert changed["own"] == {"soft": 0.75}
    assert changed["effective"]["soft"] == 0.75
    back = (await client.patch(f"{place}/settings", json={"soft": None})).json()
    assert back["own"] == {}
    assert (back["effective"]["soft"], back["effective"]["instructions"]) == (0.6, "Keep numbers.")
    model = (await client.get("/api/v1/settings/models/gpt-4-0613")).json()
    assert model["own"] == {"soft": 0.6}
    assert (await client.get("/api/v1/settings")).json()["own"]["auto"] is False


async def test_settings_are_tried_out_and_nothing_is_stored(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    now = (await client.get(f"{place}/usage")).json()
    tried = (await client.post(f"{place}/usage", json={"settings": {"soft": 0.75}})).json()
    assert tried["budget"]["soft"] > now["budget"]["soft"]
    assert tried["reading"] == now["reading"]
    refused = await client.post(f"{place}/usage", json={"settings": {"soft": 0.9, "hard": 0.8}})
    assert refused.status_code == 409
    assert "soft" in refused.json()["error"]["message"]
    assert (await client.get(f"{place}/usage")).json() == now
    assert (await client.get(f"{place}/settings")).json()["own"] == {}


async def test_every_level_says_what_it_inherits(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    built_in = (await client.get("/api/v1/settings")).json()["inherited"]
    # The card of the model that answers prefers an early mark.
    assert (built_in["policy"], built_in["soft"], built_in["hard"]) == ("octavo", 0.7, 0.95)
    assert (built_in["auto"], built_in["notifications"], built_in["retained"]) == (True, True, 0.2)
    changed = await client.patch("/api/v1/settings", json={"soft": 0.78, "auto": False})
    assert changed.json()["inherited"]["soft"] == 0.7
    model = (await client.patch("/api/v1/settings/models/gpt-4-0613", json={"soft": 0.6})).json()
    assert (model["inherited"]["soft"], model["inherited"]["auto"]) == (0.78, False)
    here = (await client.patch(f"{place}/settings", json={"soft": 0.75})).json()
    assert (here["inherited"]["soft"], here["inherited"]["auto"]) == (0.6, False)
    other = (await client.patch(f"{place}/settings", json={"policy": "requirements"})).json()
    assert (other["inherited"]["policy"], other["inherited"]["retained"]) == ("octavo", 1_000)


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"soft": 0.9, "hard": 0.8}, 409),
        ({"soft": 1.1}, 422),
        ({"soft": "much"}, 422),
        ({"auto": 1}, 422),
        ({"policy": "unknown"}, 422),
        ({"colour": "red"}, 422),
        ({"retained": -1}, 422),
        ({"retained": 5_000}, 409),
    ],
    ids=str,
)
async def test_settings_that_make_no_sense_are_refused_and_nothing_changes(
    client: httpx2.AsyncClient, settings: dict[str, object], status: int
) -> None:
    place = await conversation(client)
    refused = await client.patch(f"{place}/settings", json={"instructions": "New.", **settings})
    assert refused.status_code == status
    assert (await client.get(f"{place}/settings")).json()["own"] == {}


async def test_a_threshold_of_one_turns_a_mark_off(client: httpx2.AsyncClient) -> None:
    """Written as 1 or 1.0: to JSON that is the same."""
    place = await conversation(client)
    assert (await client.get(f"{place}/usage")).json()["budget"]["soft"]
    for one in ("1", "1.0"):
        body = f'{{"soft": {one}}}'
        changed = await client.patch(
            f"{place}/settings", content=body, headers={"content-type": "application/json"}
        )
        assert (changed.status_code, changed.json()["own"]) == (200, {"soft": 1.0})
        budget = (await client.get(f"{place}/usage")).json()["budget"]
        assert (budget["prepare"], budget["soft"]) == (None, None)
        assert (await client.patch(f"{place}/settings", json={"soft": None})).json()["own"] == {}
    wave = (await client.patch(f"{place}/settings", json={"policy": "wave"})).json()
    assert (wave["inherited"]["soft"], wave["inherited"]["hard"]) == (1.0, 1.0)


async def test_a_card_of_ones_own_changes_the_meter_at_once(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/api/v1/models/my-model")).json()["assumed"] is True
    card = {"window": 64_000, "max_output": 2_000, "like": "gpt-4o"}
    made = await client.put("/api/v1/models/my-model", json=card)
    assert (made.json()["window"], made.json()["own"], made.json()["assumed"]) == (64_000, True, False)
    assert made.json()["given"] == card
    place = await conversation(client, model="my-model")
    await talk(client, place, "Hello?")
    usage = (await client.get(f"{place}/usage")).json()
    assert (usage["budget"]["window"], usage["assumed"]) == (64_000, False)
    listed = (await client.get("/api/v1/models")).json()
    assert [m["name"] for m in listed["models"] if m["own"]] == ["my-model"]
    assert {p["provider"] for p in listed["providers"]} >= {"openai", "anthropic", "ollama", "local"}
    assert listed["default"] == "gpt-4-0613"
    for wrong in ({"tokenizer": "none"}, {"window": 10, "max_output": 20}, {"like": "nobody"}):
        assert (await client.put("/api/v1/models/other", json=wrong)).status_code == 422
    assert (await client.delete("/api/v1/models/my-model")).status_code == 204
    assert (await client.get("/api/v1/models/my-model")).json()["assumed"] is True
    assert (await client.delete("/api/v1/models/my-model")).status_code == 404


async def test_a_card_defined_at_one_replica_holds_at_the_other(engine: Engine) -> None:
    one, other = create_app(engine), create_app(engine)
    async with client_of(one) as here, client_of(other) as there:
        await here.put("/api/v1/models/team/model", json={"window": 99_000})
        assert (await there.get("/api/v1/models/team/model")).json()["window"] == 99_000


async def test_a_window_set_at_one_replica_holds_at_once_on_every_route_of_the_other(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    """Both have used the model, whose provider once named a window of 4,096."""
    one, other = await make_engine(), await make_engine()
    async with (
        client_of(create_app(one)) as here,
        gateway(other, Provider(window=16_000).app) as (_, url),
        httpx2.AsyncClient(base_url=url) as there,
    ):
        place = await conversation(here)
        await talk(here, place, "Hello?")
        await talk(there, place, "Hello again?")
        body = {"model": MODEL, "messages": [{"role": "user", "content": "word " * 5_000}]}
        asked = await there.post("/v1/chat/completions", json=body)
        assert "context" in asked.json()["error"]["message"]
        assert (await here.put(f"/api/v1/models/{MODEL}", json={"window": 16_000})).status_code == 200
        asked = await there.post("/v1/chat/completions", json=body)
        assert (asked.status_code, asked.headers["x-octavo-compressed"]) == (200, "false")
        assert (await there.get(f"{place}/usage")).json()["budget"]["window"] == 16_000
        assert (await there.get(f"/v1/models/{MODEL}")).json()["context_window"] == 16_000
        assert (await there.get(f"/api/v1/models/{MODEL}")).json()["window"] == 16_000
        await there.put(f"/api/v1/models/{MODEL}", json={"window": 12_000})
        assert (await here.get(f"{place}/usage")).json()["budget"]["window"] == 12_000
    async with (
        await Engine.open(tmp_path / "octavo.db", model=MODEL) as restarted,
        client_of(create_app(restarted)) as again,
    ):
        assert (await again.get(f"{place}/usage")).json()["budget"]["window"] == 12_000


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/v1",
        "http://169.254.169.254/latest",
        "http://10.0.0.8/v1",
        "http://192.168.1.1",
        "http://[::1]/v1",
        "http://localhost:5432",
        "http://100.64.0.1/",
        "http://[::ffff:10.0.0.8]/v1",
    ],
)
async def test_no_upstream_leads_into_a_private_network_unless_that_is_allowed(url: str) -> None:
    with pytest.raises(BadInput, match="private network"):
        await check_address(url, private=False)
    await check_address(url, private=True)


@pytest.mark.parametrize(
    "url",
    [
        "http://224.0.0.1/v1",
        "http://239.255.255.250:1900",
        "http://[ff02::1]/v1",
        "http://[::ffff:224.0.0.1]/v1",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://255.255.255.255/",
    ],
)
async def test_an_upstream_is_a_single_machine_even_if_private_ones_are_allowed(
    url: str, engine: Engine
) -> None:
    for private in (False, True):
        with pytest.raises(BadInput, match="no address of a single machine"):
            await check_address(url, private=private)
    async with client_of(create_app(engine, ServerSettings(private_upstreams=True))) as client:
        refused = await client.put("/api/v1/upstreams/mine", json={"base_url": url})
        assert refused.status_code == 422
        assert "base_url" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://host/", "https://user:secret@host/", "https:///v1", "https://h/?q=1", "x"],
)
async def test_what_is_no_address_is_none_even_if_private_ones_are_allowed(url: str) -> None:
    with pytest.raises(BadInput, match="expected an address"):
        await check_address(url, private=True)


async def test_a_name_that_leads_elsewhere_later_is_not_followed_into_the_private_network(
    engine: Engine,
) -> None:
    """What was public when it was set may point inwards when it is used."""
    registry = UpstreamRegistry(engine.store, engine.models, engine.settings)
    for host in ("llm.example", "own.example"):
        await registry.put_upstream(host, Upstream(base_url=f"https://{host}/v1"))
    answers = {"llm.example": "93.184.215.14"}

    async def resolve(host: str, _: int) -> list[Any]:
        if host not in answers:
            raise BadInput("base_url", "there is no such host")
        return [ip_address(answers[host])]

    own = ProviderSettings(openai=ProviderAccount(base_url="https://own.example/v1"))
    check = check_upstream(registry, own, private=False, resolve=resolve)

    async def sent(host: str) -> httpx2.Request:
        request = httpx2.Request("POST", f"https://{host}/v1/chat/completions")
        await check(request)
        return request

    request = await sent("llm.example")
    assert (request.url.host, request.headers["host"]) == ("93.184.215.14", "llm.example")
    assert request.extensions["sni_hostname"] == "llm.example"
    for inward in ("169.254.169.254", "127.0.0.1", "10.1.2.3", "::1", "fd00::1"):
        answers["llm.example"] = inward
        with pytest.raises(httpx2.ConnectError, match="private network"):
            await sent("llm.example")
    del answers["llm.example"]
    with pytest.raises(httpx2.ConnectError, match="no such host"):
        await sent("llm.example")
    for trusted in ("own.example", "api.openai.com"):
        assert (await sent(trusted)).url.host == trusted
    allowed = check_upstream(registry, ProviderSettings(), private=True, resolve=resolve)
    answers["llm.example"] = "10.1.2.3"
    await allowed(httpx2.Request("POST", "https://llm.example/v1"))
    for everybody in ("224.0.0.1", "0.0.0.0", "ff02::1"):
        answers["llm.example"] = everybody
        with pytest.raises(httpx2.ConnectError, match="no address of a single machine"):
            await allowed(httpx2.Request("POST", "https://llm.example/v1"))


async def test_an_address_that_turned_private_is_an_error_of_the_gateway(engine: Engine) -> None:
    app = create_app(engine)
    await engine.store.notes.put(
        "upstreams", {"inward": {"base_url": "http://127.0.0.1:9/v1", "account": ""}}
    )
    async with client_of(app) as client:
        body = {"model": "inward", "messages": [{"role": "user", "content": "Hi"}]}
        assert (await client.post("/v1/chat/completions", json=body)).status_code in (502, 503)


async def test_files_of_the_server_are_no_models_for_those_who_are_not_at_it(tmp_path: Path) -> None:
    file = tmp_path / "secret.gguf"
    file.write_bytes(b"GGUF")
    shared = await open_engine(ServerSettings(db=str(tmp_path / "o.db"), require_key=True))
    with pytest.raises(UsageError, match="not by a file"):
        shared.models.provider(f"local/{file}")
    await shared.close()
    alone = await open_engine(ServerSettings(db=str(tmp_path / "o.db")))
    assert alone.models.provider(f"local/{file}").name == "embedded"
    await alone.close()


async def test_upstreams_are_set_listed_and_removed_by_administrators(engine: Engine) -> None:
    async with client_of(create_app(engine, ServerSettings(private_upstreams=True))) as client:
        body = {"base_url": "http://127.0.0.1:9/v1", "account": "openai"}
        made = await client.put("/api/v1/upstreams/llama*", json=body)
        assert made.json() == {"model": "llama*", **body, "format": ""}
        assert (await client.get("/api/v1/upstreams")).json()["upstreams"] == [made.json()]
        assert (await client.delete("/api/v1/upstreams/llama*")).status_code == 204
        assert (await client.delete("/api/v1/upstreams/llama*")).status_code == 404
    async with client_of(create_app(engine)) as client:
        refused = await client.put("/api/v1/upstreams/llama*", json=body)
        assert refused.status_code == 422
        assert "OCTAVO_PRIVATE_UPSTREAMS" in refused.json()["error"]["message"]


async def test_metrics_count_requests_tokens_and_compressions(client: httpx2.AsyncClient) -> None:
    place = await conversation(client)
    await talk(client, place, "The word is xylophone.", "And?", "And?")
    await client.post(f"{place}/compressions", json={"keep": 0})
    page = (await client.get("/metrics")).text
    assert 'octavo_compressions_total{otel_scope_name="octavo"' in page or "octavo_compressions_total" in page
    assert "gen_ai_client_token_usage" in page
    assert "octavo_http_duration" in page
    assert "xylophone" not in page


def counted(page: str, name: str) -> dict[frozenset[tuple[str, str]], float]:
    """Read the samples of a metric by their labels, those of the library left out."""
    found = re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", page, re.MULTILINE)
    return {
        frozenset(
            pair for pair in re.findall(r'(\w+)="([^"]*)"', labels) if not pair[0].startswith("otel_")
        ): float(n)
        for labels, n in found
    }


async def test_every_attempt_to_compress_is_counted_once_with_its_sizes_and_how_it_ended(
    make_engine: MakeEngine,
) -> None:
    """Seen failing with: nothing told of what was cancelled, and sizes of successes only."""
    engine = await make_engine(lambda _: "I cannot help with that.", summariser="same")
    async with client_of(create_app(engine)) as client:
        place = await conversation(client)
        await talk(client, place, "The word is xylophone. " * 40)
        assert (
            await client.post(f"{place}/compressions", json={})
        ).is_success  # one turn: nothing to be done
        await talk(client, place, "And?", "And?")
        told = read_events((await client.post(f"{place}/compressions", json={"keep": 0})).text)
        (ended,) = [event.data for event in told if event.name == "compression_ended"]
        page = (await client.get("/metrics")).text
    skipped = frozenset({("outcome", "skipped"), ("trigger", "manual")})
    compressed = frozenset({("outcome", "compressed"), ("trigger", "manual")})
    assert counted(page, "octavo_compressions_total") == {skipped: 1, compressed: 1}
    sizes = counted(page, "octavo_compression_context_sum")
    for when in ("before", "after"):
        assert sizes[compressed | {("when", when)}] == ended[when]
    failed = frozenset({("reason", "refused"), ("gen_ai_request_model", MODEL)})
    assert counted(page, "octavo_summaries_failed_total") == {failed: 1}
    assert "xylophone" not in page


async def test_every_metric_of_the_page_for_operators_is_there(make_engine: MakeEngine) -> None:
    engine = await make_engine(lambda _: "I cannot help with that.", summariser="same")
    page = (Path(__file__).parents[2] / "docs" / "operating.md").read_text("utf-8")
    described = set(re.findall(r"^\| `(\w+)` \|", page.partition("| metric |")[2], re.MULTILINE))
    telemetry = open_telemetry()
    telemetry.relayed(compressed=True)
    async with client_of(create_app(engine, telemetry=telemetry)) as client:
        place = await conversation(client)
        await talk(client, place, "The word is xylophone. " * 40, "And?", "And?")
        await client.post(f"{place}/compressions", json={"keep": 0})
        shown = (await client.get("/metrics")).text
    told = set(re.findall(r"^# TYPE (\w+)", shown, re.MULTILINE)) - {"target_info"}
    assert told == described


async def test_without_the_extra_metrics_say_how_to_get_it(engine: Engine) -> None:
    app = create_app(engine, telemetry=open_telemetry(installed=False))
    async with client_of(app) as client:
        missing = await client.get("/metrics")
        assert missing.status_code == 404
        assert missing.json()["error"]["hint"] == "install it: pip install 'octavo[otel]'"
        await talk(client, await conversation(client), "Hello?")
    assert Telemetry().page() is None


async def test_without_the_web_chat_the_page_says_where_the_interface_is(client: httpx2.AsyncClient) -> None:
    page = await client.get("/")
    assert page.status_code == 200
    assert "/api/v1" in page.text or "<div" in page.text


async def test_the_built_page_is_served_for_every_path_people_may_open(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>Octavo</title>", "utf-8")
    (tmp_path / "main.js").write_text("1", "utf-8")
    app = FastAPI()

    @app.get("/api/v1/here")
    async def here() -> dict[str, bool]:
        return {"here": True}

    add_page(app, tmp_path)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as client:
        html = {"accept": "text/html"}
        assert (await client.get("/", headers=html)).text == "<title>Octavo</title>"
        assert (await client.get("/c/123", headers=html)).text == "<title>Octavo</title>"
        assert (await client.get("/main.js")).text == "1"
        assert (await client.get("/api/v1/here")).json() == {"here": True}
        assert (await client.get("/../secret", headers={"accept": "*/*"})).status_code == 404
