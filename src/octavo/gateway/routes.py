"""The routes of the gateway: those that the client libraries of OpenAI, Anthropic and Google call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from octavo.core.json_values import Json, JsonObject
from octavo.core.wire.stream import text_at
from octavo.errors import NotFound
from octavo.gateway.compaction import answer_compact
from octavo.gateway.continued import continue_branch, forget_response, response_note
from octavo.gateway.dialects.anthropic import ANTHROPIC, COUNT_REQUEST, MESSAGES_REQUEST
from octavo.gateway.dialects.dialect import Dialect
from octavo.gateway.dialects.gemini import (
    COUNT,
    GEMINI,
    GEMINI_COUNT_REQUEST,
    GEMINI_REQUEST,
    GENERATE,
    STREAM,
    as_array,
    whole_count,
)
from octavo.gateway.dialects.openai import CHAT_REQUEST, OPENAI
from octavo.gateway.dialects.responses import COUNT_REQUEST as RESPONSES_COUNT_REQUEST
from octavo.gateway.dialects.responses import RESPONSES, RESPONSES_REQUEST
from octavo.gateway.dialects.schema import (
    COMPACT_RESPONSES,
    COUNT_RESPONSES,
    GEMINI_COUNT_RESPONSES,
    GEMINI_MODEL_RESPONSES,
    GEMINI_MODELS_RESPONSES,
    MODEL_RESPONSES,
    MODELS_RESPONSES,
    RESPONSE_RESPONSES,
)
from octavo.gateway.dialects.schema import RESPONSES as RESPONSES_TOLD
from octavo.gateway.forward import find_destination, send, with_model_name
from octavo.gateway.gateway import Gateway, TheGateway
from octavo.gateway.models import anthropic_model, find_model_card, gemini_model, list_models, openai_model
from octavo.gateway.passthrough import (
    METHODS,
    WITHOUT_V1,
    check_own_key,
    pass_request,
    pass_to_gemini,
    speaks_gemini,
    unknown_route,
)
from octavo.gateway.reply import pass_through
from octavo.gateway.request import count_request, relay
from octavo.http.caller import Caller, TheCaller
from octavo.http.errors import refuse
from octavo.http.responses import EVENTS, JSON, json_response, request_id

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
    read = dialect.read(await _body(request), request.headers)
    return await relay(
        gateway, dialect, caller, read, request.headers, request_id(request), request.url.query
    )


@routes.post(
    "/messages/count_tokens", response_model=None, responses=COUNT_RESPONSES, openapi_extra=COUNT_REQUEST
)
async def count_tokens(request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Count the tokens of a request: by the provider if it counts, else by our own meter."""
    raw = await _body(request)
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
    await gateway.upstreams.refresh_in_time()
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
    await gateway.upstreams.refresh_in_time()
    known = await response_note(gateway, caller.owner, id)
    if not known:
        check_own_key(gateway, RESPONSES, caller)
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
    if to.format != RESPONSES.name:
        raise NotFound(
            f"the provider of this model does not keep {id}: its conversation is under /api/v1/conversations"
        )
    answer = await send(gateway, to, await request.body(), streamed=False, method=request.method)
    if request.method == "DELETE" and answer.is_success:
        await forget_response(gateway, id)
    return pass_through(answer)


@routes.get("/models", response_model=None, responses=MODELS_RESPONSES)
async def list_gateway_models(request: Request, gateway: TheGateway, _: TheCaller) -> Response:
    """List the models that can be used, in the format of the client: OpenAI's or Anthropic's."""
    await gateway.upstreams.refresh_in_time()
    cards = await list_models(gateway)
    if speaks_gemini(request.url.path, request.headers):
        return json_response({"models": [gemini_model(card) for card in cards]})
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
    await gateway.upstreams.refresh_in_time()
    card = await find_model_card(gateway, model)
    if speaks_gemini(request.url.path, request.headers):
        return json_response(gemini_model(card))
    if "anthropic-version" in request.headers:
        return json_response(anthropic_model(card))
    return json_response(openai_model(card))


async def generate_content(model: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Answer a request of Gemini's interface."""
    return await _generated(model, request, gateway, caller, stream=False)


async def stream_content(model: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Answer a request of Gemini's interface as a stream: of events with `alt=sse`, else as an array that grows."""
    answer = await _generated(model, request, gateway, caller, stream=True)
    events = answer.headers.get("content-type", "").startswith(EVENTS)
    if request.query_params.get("alt") == "sse" or not events:
        return answer
    pieces = answer.body_iterator if isinstance(answer, StreamingResponse) else _once(bytes(answer.body))
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    return StreamingResponse(as_array(pieces), answer.status_code, {**headers, "content-type": JSON})


async def _once(whole: bytes) -> AsyncIterator[bytes]:
    yield whole


async def _generated(
    model: str, request: Request, gateway: Gateway, caller: Caller, *, stream: bool
) -> Response:
    gateway.host.check_open()
    read = GEMINI.read(await _body(request), request.headers, model=model, stream=stream)
    query, path = ("alt=sse", f":{STREAM}") if stream else ("", f":{GENERATE}")
    return await relay(gateway, GEMINI, caller, read, request.headers, request_id(request), query, path)


async def count_content(model: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Count the tokens of a request of Gemini's interface."""
    raw = await _body(request)
    read = GEMINI.read(whole_count(raw), request.headers, model=model, stream=False)
    return await count_request(gateway, GEMINI, caller, replace(read, raw=raw), request.headers, "")


gemini_routes = APIRouter(prefix="/v1beta", tags=["gateway"])
# Google's library asks under /v1 or under /v1beta, by its version.
for _router, _version in ((routes, "v1"), (gemini_routes, "v1beta")):
    for _method, _answer, _asked, _told in (
        (GENERATE, generate_content, GEMINI_REQUEST, RESPONSES_TOLD),
        (STREAM, stream_content, GEMINI_REQUEST, RESPONSES_TOLD),
        (COUNT, count_content, GEMINI_COUNT_REQUEST, GEMINI_COUNT_RESPONSES),
    ):
        _router.add_api_route(
            f"/models/{{model:path}}:{_method}",
            _answer,
            methods=["POST"],
            name=f"{_answer.__name__}_{_version}",
            response_model=None,
            responses=_told,
            openapi_extra=_asked,
        )


@gemini_routes.get("/models", response_model=None, responses=GEMINI_MODELS_RESPONSES)
async def list_gemini_models(gateway: TheGateway, _: TheCaller) -> Response:
    """List the models that can be used, in Gemini's format."""
    await gateway.upstreams.refresh_in_time()
    return json_response({"models": [gemini_model(card) for card in await list_models(gateway)]})


@gemini_routes.get("/models/{model:path}", response_model=None, responses=GEMINI_MODEL_RESPONSES)
async def read_gemini_model(model: str, gateway: TheGateway, _: TheCaller) -> Response:
    """Read what is known of a model, in Gemini's format."""
    await gateway.upstreams.refresh_in_time()
    return json_response(gemini_model(await find_model_card(gateway, model)))


@gemini_routes.api_route("/{path:path}", methods=METHODS, response_model=None, include_in_schema=False)
async def pass_to_google(path: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Pass on what Octavo has nothing to do with: files, caches, embeddings."""
    gateway.host.check_open()
    body, query = await request.body(), request.url.query
    return await pass_to_gemini(gateway, caller, request.method, path, query, request.headers, body)


@routes.api_route("/{path:path}", methods=METHODS, response_model=None, include_in_schema=False)
async def pass_anything(path: str, request: Request, gateway: TheGateway, caller: TheCaller) -> Response:
    """Pass on what Octavo has nothing to do with."""
    gateway.host.check_open()
    body, query = await request.body(), request.url.query
    if speaks_gemini(request.url.path, request.headers):
        return await pass_to_gemini(gateway, caller, request.method, path, query, request.headers, body)
    return await pass_request(gateway, caller, request.method, path, query, request.headers, body)


lost_routes = APIRouter(include_in_schema=False)
"""Routes of clients whose base URL lacks its `/v1`."""


async def say_what_was_meant(request: Request) -> Response:
    """Name the route that was probably meant."""
    raise unknown_route(request.url.path)


for _path in WITHOUT_V1:
    lost_routes.add_api_route(_path, say_what_was_meant, methods=["GET", "POST"], response_model=None)
