"""The routes of the gateway: those that the client libraries of OpenAI and Anthropic call."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from octavo.core.json_values import Json, JsonObject
from octavo.core.wire.stream import text_at
from octavo.errors import NotFound
from octavo.gateway.compaction import answer_compact
from octavo.gateway.continued import continue_branch, forget_response, response_note
from octavo.gateway.dialects.anthropic import ANTHROPIC, COUNT_REQUEST, MESSAGES_REQUEST
from octavo.gateway.dialects.dialect import Dialect
from octavo.gateway.dialects.openai import CHAT_REQUEST, OPENAI
from octavo.gateway.dialects.responses import COUNT_REQUEST as RESPONSES_COUNT_REQUEST
from octavo.gateway.dialects.responses import RESPONSES, RESPONSES_REQUEST
from octavo.gateway.dialects.schema import (
    COMPACT_RESPONSES,
    COUNT_RESPONSES,
    MODEL_RESPONSES,
    MODELS_RESPONSES,
    RESPONSE_RESPONSES,
)
from octavo.gateway.dialects.schema import RESPONSES as RESPONSES_TOLD
from octavo.gateway.forward import find_destination, send, with_model_name
from octavo.gateway.gateway import Gateway, TheGateway
from octavo.gateway.models import anthropic_model, list_models, openai_model
from octavo.gateway.reply import pass_through
from octavo.gateway.request import count_request, relay
from octavo.http.caller import Caller, TheCaller
from octavo.http.errors import refuse
from octavo.http.responses import json_response, request_id

routes = APIRouter(prefix="/v1", tags=["gateway"])


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise refuse(415, "unsupported_media_type", "expected JSON", "send content-type: application/json")
    return await request.body()


@routes.post("/chat/completions", response_model=None, responses=RESPONSES_TOLD, openapi_extra=CHAT_REQUEST)
async def chat_completions(request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Answer a request of OpenAI's Chat Completions."""
    return await _relayed(request, gateway, caller, OPENAI)


@routes.post("/messages", response_model=None, responses=RESPONSES_TOLD, openapi_extra=MESSAGES_REQUEST)
async def messages(request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Answer a request of Anthropic's Messages."""
    return await _relayed(request, gateway, caller, ANTHROPIC)


@routes.post("/responses", response_model=None, responses=RESPONSES_TOLD, openapi_extra=RESPONSES_REQUEST)
async def responses(request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Answer a request of OpenAI's Responses."""
    return await _relayed(request, gateway, caller, RESPONSES)


async def _relayed(request: Request, gateway: Gateway, caller: Caller, dialect: Dialect) -> Response:
    gateway.host.check_open()
    raw = await _body(request)
    return await relay(gateway, dialect, caller, raw, request.headers, request_id(request), request.url.query)


@routes.post(
    "/messages/count_tokens", response_model=None, responses=COUNT_RESPONSES, openapi_extra=COUNT_REQUEST
)
async def count_tokens(request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Count the tokens of a request: by the provider if it counts, else by our own meter."""
    raw = await _body(request)
    await gateway.upstreams.refresh()
    return await count_request(
        gateway,
        ANTHROPIC,
        caller,
        ANTHROPIC.read(raw, request.headers),
        request.headers,
        request.url.query,
    )


@routes.post(
    "/responses/input_tokens",
    response_model=None,
    responses=COUNT_RESPONSES,
    openapi_extra=RESPONSES_COUNT_REQUEST,
)
async def count_input_tokens(request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Count the tokens of a request of Responses: by the provider if it counts, else by our own meter."""
    raw, headers = await _body(request), request.headers
    await gateway.upstreams.refresh()
    asked = await continue_branch(gateway, caller.owner, RESPONSES.read(raw, headers))
    return await count_request(gateway, RESPONSES, caller, asked, headers, request.url.query)


@routes.post(
    "/responses/compact",
    response_model=None,
    responses=COMPACT_RESPONSES,
    openapi_extra=RESPONSES_COUNT_REQUEST,
)
async def compact_response(request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Compact a conversation: by OpenAI for its own models, else into a reference to our snapshot."""
    gateway.host.check_open()
    raw, headers = await _body(request), request.headers
    await gateway.upstreams.refresh()
    asked = RESPONSES.read(raw, headers)
    to = await find_destination(
        gateway, RESPONSES, asked.model, headers, caller, path="/compact", query=request.url.query
    )
    if not to.official:
        return await answer_compact(gateway, caller, asked)
    body = with_model_name(asked.onward, asked.model, to)
    return pass_through(await send(gateway, to, body, streamed=False))


@routes.get("/responses/{id}", response_model=None, responses=RESPONSE_RESPONSES)
async def read_response(id: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Read an answer where it was made."""
    return await _asked_by_id(request, gateway, caller, id)


@routes.delete("/responses/{id}", response_model=None, responses=RESPONSE_RESPONSES)
async def delete_response(id: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Delete an answer where it was made; the conversation here keeps it."""
    return await _asked_by_id(request, gateway, caller, id)


@routes.get("/responses/{id}/input_items", response_model=None, responses=RESPONSE_RESPONSES)
async def list_input_items(id: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """List what an answer was made from, where it was made."""
    return await _asked_by_id(request, gateway, caller, id, "/input_items")


@routes.post("/responses/{id}/cancel", response_model=None, responses=RESPONSE_RESPONSES)
async def cancel_response(id: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Cancel an answer that is made in the background."""
    return await _asked_by_id(request, gateway, caller, id, "/cancel")


async def _asked_by_id(
    request: Request, gateway: Gateway, caller: Caller, id: str, path: str = ""
) -> Response:
    """Pass a request about one answer on to the provider of the model that made it."""
    await gateway.upstreams.refresh()
    known = await response_note(gateway, caller.owner, id)
    if known.get("ours"):
        raise NotFound(
            f"{id} is a compaction: it can be named as previous_response_id, and is kept nowhere else"
        )
    to = await find_destination(
        gateway,
        RESPONSES,
        text_at(known, "model"),
        request.headers,
        caller,
        path=f"/{quote(id, safe='')}{path}",
        query=request.url.query,
    )
    answer = await send(gateway, to, await request.body(), streamed=False, method=request.method)
    if request.method == "DELETE" and answer.is_success:
        await forget_response(gateway, id)
    return pass_through(answer)


@routes.get("/models", response_model=None, responses=MODELS_RESPONSES)
async def list_gateway_models(request: Request, gateway: TheGateway, _: TheCaller) -> Response:
    """List the models that can be used, in the format of the client: OpenAI's or Anthropic's."""
    await gateway.upstreams.refresh()
    cards = await list_models(gateway)
    if "anthropic-version" in request.headers:
        shown: list[Json] = [anthropic_model(card) for card in cards]
        ends: JsonObject = {
            "first_id": cards[0].name if cards else None,
            "last_id": cards[-1].name if cards else None,
        }
        return json_response({"data": shown, "has_more": False, **ends})
    return json_response({"object": "list", "data": [openai_model(card) for card in cards]})


@routes.get("/models/{model:path}", response_model=None, responses=MODEL_RESPONSES)
async def read_gateway_model(model: str, request: Request, gateway: TheGateway, _: TheCaller) -> Response:
    """Read what is known of a model."""
    await gateway.upstreams.refresh()
    card = gateway.engine.models.book.find(model)
    if "anthropic-version" in request.headers:
        return json_response(anthropic_model(card))
    return json_response(openai_model(card))
