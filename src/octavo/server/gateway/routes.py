"""The routes of the gateway: what the libraries of OpenAI and Anthropic call."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from octavo.core.fields import Json, JsonObject
from octavo.http.caller import Caller
from octavo.http.errors import refuse
from octavo.http.responses import json_response
from octavo.server.gateway.catalogue import anthropic_model, listed, openai_model
from octavo.server.gateway.counting import count
from octavo.server.gateway.dialect import ANTHROPIC, OPENAI, Dialect
from octavo.server.gateway.relay import relay
from octavo.server.gateway.schema import (
    CHAT_REQUEST,
    COUNT_REQUEST,
    COUNT_RESPONSES,
    MESSAGES_REQUEST,
    MODEL_RESPONSES,
    MODELS_RESPONSES,
    RESPONSES,
)
from octavo.server.hub import Hub, TheCaller, TheHub
from octavo.server.problems import request_id

routes = APIRouter(prefix="/v1", tags=["gateway"])


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise refuse(415, "unsupported_media_type", "expected JSON", "send content-type: application/json")
    return await request.body()


@routes.post("/chat/completions", response_model=None, responses=RESPONSES, openapi_extra=CHAT_REQUEST)
async def chat_completions(request: Request, hub: TheHub, caller: TheCaller) -> Response:
    """OpenAI's Chat Completions."""
    return await _relayed(request, hub, caller, OPENAI)


@routes.post("/messages", response_model=None, responses=RESPONSES, openapi_extra=MESSAGES_REQUEST)
async def messages(request: Request, hub: TheHub, caller: TheCaller) -> Response:
    """Anthropic's Messages."""
    return await _relayed(request, hub, caller, ANTHROPIC)


async def _relayed(request: Request, hub: Hub, caller: Caller, dialect: Dialect) -> Response:
    hub.check_open()
    raw = await _body(request)
    return await relay(hub, dialect, caller, raw, request.headers, request_id(request), request.url.query)


@routes.post(
    "/messages/count_tokens", response_model=None, responses=COUNT_RESPONSES, openapi_extra=COUNT_REQUEST
)
async def count_tokens(request: Request, hub: TheHub, caller: TheCaller) -> Response:
    """Count as Anthropic does: by asking it, or by our own meter where it cannot be asked."""
    raw = await _body(request)
    await hub.registry.refresh()
    return await count(hub, caller, ANTHROPIC.read(raw, request.headers), request.headers, request.url.query)


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
