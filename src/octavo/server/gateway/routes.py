"""The routes of the gateway: what the libraries of OpenAI and Anthropic call."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from octavo.core.fields import Json, JsonObject
from octavo.errors import NotFound, ProviderError
from octavo.server.errors import Refusal, refuse
from octavo.server.gateway.catalogue import anthropic_model, listed, openai_model
from octavo.server.gateway.dialect import ANTHROPIC, OPENAI, Asked
from octavo.server.gateway.fit import plain_context
from octavo.server.gateway.recognise import loaded
from octavo.server.gateway.relay import relay, send
from octavo.server.gateway.schema import (
    CHAT_REQUEST,
    COUNT_REQUEST,
    COUNT_RESPONSES,
    MESSAGES_REQUEST,
    MODEL_RESPONSES,
    MODELS_RESPONSES,
    RESPONSES,
)
from octavo.server.gateway.upstream import find_target
from octavo.server.hub import Hub, TheCaller, TheHub
from octavo.server.reply import json_response

routes = APIRouter(prefix="/v1", tags=["gateway"])


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise refuse(415, "unsupported_media_type", "expected JSON", "send content-type: application/json")
    return await request.body()


@routes.post("/chat/completions", response_model=None, responses=RESPONSES, openapi_extra=CHAT_REQUEST)
async def chat_completions(request: Request, hub: TheHub, caller: TheCaller) -> Response:
    """OpenAI's Chat Completions."""
    hub.check_open()
    return await relay(hub, OPENAI, caller, await _body(request), request.headers)


@routes.post("/messages", response_model=None, responses=RESPONSES, openapi_extra=MESSAGES_REQUEST)
async def messages(request: Request, hub: TheHub, caller: TheCaller) -> Response:
    """Anthropic's Messages."""
    hub.check_open()
    return await relay(hub, ANTHROPIC, caller, await _body(request), request.headers)


@routes.post(
    "/messages/count_tokens", response_model=None, responses=COUNT_RESPONSES, openapi_extra=COUNT_REQUEST
)
async def count_tokens(request: Request, hub: TheHub, caller: TheCaller) -> Response:
    """Count as Anthropic does: by asking it, or by our own meter where it cannot be asked."""
    raw = await _body(request)
    await hub.registry.refresh()
    asked = ANTHROPIC.read(raw, request.headers)
    told = await _ask_provider(hub, asked, request.headers, caller)
    if told is not None:
        return told
    meter = await loaded(await hub.engine.models.meter(asked.model))
    reading = meter.read(plain_context(asked))
    return json_response({"input_tokens": reading.tokens}, headers={"x-octavo-basis": reading.basis})


async def _ask_provider(hub: Hub, asked: Asked, headers: Headers, caller: TheCaller) -> Response | None:
    """Let the provider count; None if it cannot be asked, or does not count."""
    try:
        target = find_target(hub, ANTHROPIC, asked.model, headers, caller, "/count_tokens")
        response = await send(hub, target, _without_options(asked))
    except (Refusal, ProviderError, NotFound):
        return None
    body = await response.aread()
    if response.status_code in (404, 405, 501) or response.status_code >= 500:
        return None
    await _learn(hub, asked, response.status_code, body)
    return Response(body, response.status_code, {"x-octavo-basis": "exact"}, "application/json")


def _without_options(asked: Asked) -> bytes:
    return asked.onward


async def _learn(hub: Hub, asked: Asked, status: int, body: bytes) -> None:
    """An exact count is as good as a bill."""
    try:
        said: Any = json.loads(body)
    except ValueError:
        return
    count = said.get("input_tokens") if isinstance(said, dict) and status == 200 else None
    if isinstance(count, int) and count > 0:
        await loaded(await hub.engine.models.meter(asked.model))
        await hub.engine.models.learn_bill(asked.model, plain_context(asked), count, {})


@routes.get("/models", response_model=None, responses=MODELS_RESPONSES)
async def list_gateway_models(request: Request, hub: TheHub, _: TheCaller) -> Response:
    """List the models that can be used, in the shape of whoever asks."""
    await hub.registry.refresh()
    cards = await listed(hub)
    if "anthropic-version" in request.headers:
        shown: list[Json] = [anthropic_model(card) for card in cards]
        ends: JsonObject = {
            "first_id": cards[0].name if cards else None,
            "last_id": cards[-1].name if cards else None,
        }
        return json_response({"data": shown, "has_more": False, **ends})
    return json_response({"object": "list", "data": [openai_model(card) for card in cards]})


@routes.get("/models/{model:path}", response_model=None, responses=MODEL_RESPONSES)
async def read_gateway_model(model: str, request: Request, hub: TheHub, _: TheCaller) -> Response:
    """Read about a model."""
    await hub.registry.refresh()
    card = hub.engine.models.book.find(model)
    if "anthropic-version" in request.headers:
        return json_response(anthropic_model(card))
    return json_response(openai_model(card))
