"""Everything else that a client may call: embeddings, files, audio … Octavo passes it on and reads nothing of it.

The model that a body names decides where a request goes, as it does for chats. A request that names none goes to the
provider whose interface the client speaks.

Files, batches and the like live at the provider under the key that made them. With the server's key every user would
see the files of all the others, so on a server with users these routes take the client's own key only.
"""

from __future__ import annotations

import re
from dataclasses import replace
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response

from octavo.core.json_values import JsonObject
from octavo.gateway.dialects.anthropic import ANTHROPIC
from octavo.gateway.dialects.dialect import Dialect, read_object
from octavo.gateway.dialects.gemini import COUNT, GEMINI, GENERATE, STREAM
from octavo.gateway.dialects.openai import OPENAI
from octavo.gateway.forward import NATIVE, Destination, find_destination, send
from octavo.gateway.gateway import Gateway
from octavo.gateway.reply import pass_through
from octavo.http.caller import Caller
from octavo.http.errors import Refusal, refuse
from octavo.http.responses import to_json

STATELESS = (
    "embeddings",
    "completions",
    "moderations",
    "audio",
    "images",
    "rerank",
    "score",
    "tokenize",
    "detokenize",
)
STATEFUL = (
    "files",
    "uploads",
    "batches",
    "fine_tuning",
    "vector_stores",
    "containers",
    "conversations",
    "evals",
    "videos",
    "assistants",
    "threads",
    "skills",
    "messages/batches",
)
"""What lives at the provider under the key that made it."""
GEMINI_STATELESS = ("models",)
GEMINI_STATEFUL = ("files", "cachedContents", "tunedModels", "batches", "operations", "fileSearchStores")
OWN = ("chat/completions", "responses", "messages", "messages/count_tokens", "models")
"""The routes that Octavo answers itself."""
GEMINI_OWN = re.compile(rf"models|models/[^:]+|models/.+:({GENERATE}|{STREAM}|{COUNT})")
OWN_PATHS = re.compile(
    r"chat/completions|messages(/count_tokens)?|models(/[^/].*)?"
    r"|responses(/input_tokens|/compact|/[^/]+(/input_items|/cancel)?)?"
)
"""Paths that Octavo answers itself, with other methods than the one that was tried."""
WITHOUT_V1 = ("/chat/completions", "/responses", "/messages", "/completions", "/embeddings", "/models")
"""Paths that clients ask for if their base URL lacks its `/v1`."""
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
MODEL_FIELD = re.compile(rb'name="model"\r\n(?:[^\r\n]{1,200}\r\n){0,8}\r\n([^\r\n]{1,200})\r\n')
"""The field `model` of a form, as it is sent with audio and images; after its name come a few headers at most."""


def speaks_anthropic(path: str, headers: Headers) -> bool:
    """Tell whether a client speaks Anthropic's interface; only its libraries send this header."""
    return "anthropic-version" in headers or path.removeprefix("/v1/").startswith("messages")


def speaks_gemini(path: str, headers: Headers) -> bool:
    """Tell whether a client speaks Gemini's interface; only Google's clients send their key in this header."""
    return path.startswith("/v1beta/") or "x-goog-api-key" in headers or "x-goog-api-client" in headers


async def pass_request(
    gateway: Gateway, caller: Caller, method: str, path: str, query: str, headers: Headers, body: bytes
) -> Response:
    """Pass a request on as it is, to the provider of its model or of its interface."""
    if OWN_PATHS.fullmatch(path):
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED)
    if not _is_passed_on(path, (*STATELESS, *STATEFUL)):
        raise unknown_route(f"/v1/{path}")
    dialect = ANTHROPIC if speaks_anthropic(path, headers) else OPENAI
    if _is_below(path, STATEFUL):
        check_own_key(gateway, dialect, caller)
    return await _pass(gateway, dialect, caller, method, path, query, headers, body)


async def pass_to_gemini(
    gateway: Gateway, caller: Caller, method: str, path: str, query: str, headers: Headers, body: bytes
) -> Response:
    """Pass a request of Gemini's interface on as it is, to Google."""
    if GEMINI_OWN.fullmatch(path):
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED)
    if not _is_passed_on(path, (*GEMINI_STATELESS, *GEMINI_STATEFUL)):
        listed = ", ".join(f"/v1beta/{name}" for name in (*GEMINI_STATELESS, *GEMINI_STATEFUL))
        raise refuse(404, "not_found", f"there is no route /v1beta/{path[:200]}; there are {listed}")
    if _is_below(path, GEMINI_STATEFUL):
        check_own_key(gateway, GEMINI, caller)
    return await _pass(gateway, GEMINI, caller, method, path, query, headers, body)


async def _pass(
    gateway: Gateway,
    dialect: Dialect,
    caller: Caller,
    method: str,
    path: str,
    query: str,
    headers: Headers,
    body: bytes,
) -> Response:
    await gateway.upstreams.refresh_in_time()
    said = read_object(body) if _is_json(headers) else {}
    asked = "" if dialect is GEMINI else _model_of(said, body, headers)
    model = gateway.upstreams.aliases.get(asked, asked)
    destination = await find_destination(gateway, dialect, model, headers, caller, query=query, route=path)
    if _content_type(headers):
        destination = _as_sent(destination, headers)
    renamed = said and asked and destination.model != asked
    sent = to_json({**said, "model": destination.model}) if renamed else body
    response = await send(gateway, destination, sent, streamed=said.get("stream") is True, method=method)
    return pass_through(response)


def unknown_route(path: str) -> Refusal:
    """Say that there is no such route, and which one was probably meant."""
    inner = path.removeprefix("/v1/").lstrip("/")
    if inner.startswith("v1/"):
        hint = "the base URL of an Anthropic client is the address of the server, without /v1"
    elif not path.startswith("/v1/") and _is_below(inner, (*OWN, *STATELESS, *STATEFUL)):
        hint = f"you probably mean /v1/{inner}: the base URL of an OpenAI client ends in /v1"
    else:
        listed = ", ".join(f"/v1/{name}" for name in (*OWN, *STATELESS, *STATEFUL))
        hint = f"the routes of the gateway are {listed}, and Gemini's under /v1beta/models"
    return refuse(
        404, "not_found", f"there is no route {path[:200]}; {hint}", "use one of the routes that are named"
    )


def _is_passed_on(path: str, routes: tuple[str, ...]) -> bool:
    """Tell whether a path is one of a provider's routes, or below one, without a way out of it."""
    return _is_below(path, routes) and not any(step in ("", ".", "..") for step in path.split("/"))


def _is_below(path: str, routes: tuple[str, ...]) -> bool:
    return any(path == route or path.startswith(f"{route}/") for route in routes)


def check_own_key(gateway: Gateway, dialect: Dialect, caller: Caller) -> None:
    """Refuse what lives at a provider to users who share the server's key there."""
    account = getattr(gateway.providers, NATIVE[dialect.name])
    if caller.account == "local" or account.key is None or caller.apart:
        return
    raise refuse(
        403,
        "forbidden",
        "what is stored at a provider belongs to the key that made it, and all users share the server's key",
        "send your own key of the provider, and the one for Octavo as x-octavo-key",
    )


def _model_of(said: JsonObject, body: bytes, headers: Headers) -> str:
    """Find the model that a request names, in JSON or in a form; empty if it names none."""
    if _content_type(headers).startswith("multipart/"):
        found = MODEL_FIELD.search(body)
        return found[1].decode("utf-8", "replace") if found else ""
    model = said.get("model")
    return model if isinstance(model, str) else ""


def _is_json(headers: Headers) -> bool:
    return _content_type(headers).partition(";")[0].strip() == "application/json"


def _content_type(headers: Headers) -> str:
    return headers.get("content-type", "").lower()


def _as_sent(destination: Destination, headers: Headers) -> Destination:
    """Keep the client's own content type: a form is no JSON."""
    return replace(destination, headers={**destination.headers, "content-type": headers["content-type"]})
