"""Every error in one JSON format: what happened, the numbers, what to do, and the id of the request.

`TABLE` is the only place where an error becomes a status. No message holds a stack trace; what nobody expected is
logged with its id and reported as that and nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil
from typing import cast

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from octavo.core.json_values import Json, JsonObject
from octavo.errors import (
    BadBudget,
    BadInput,
    BadReply,
    ContextOverflow,
    NotFound,
    NotOnBranch,
    OctavoError,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    ReadOnly,
    StoreError,
    UnknownModel,
    UsageError,
    WindowExceeded,
)

TABLE: tuple[tuple[type[OctavoError], int, str], ...] = (
    (NotFound, 404, "check the id: what it names is not here, or not yours"),
    (NotOnBranch, 409, "name a message of this branch"),
    (UnknownModel, 409, "choose a model: the setting 'model', or a card of your own under /api/v1/models"),
    (BadBudget, 409, "the numbers show what takes the room; change one of them"),
    (BadInput, 422, "correct the value that the message names"),
    (UsageError, 409, "the message says what is missing"),
    (ContextOverflow, 422, "nothing that was stored is lost"),
    (RateLimited, 429, "wait, then try again"),
    (ProviderTimeout, 504, "try again"),
    (WindowExceeded, 502, "compress, or tell the model's true window in a card of your own"),
    (BadReply, 502, "try again, or use another model"),
    (ProviderError, 502, "the message is the provider's own"),
    (ReadOnly, 403, "this server only shows what is stored: nothing can be said or changed here"),
    (StoreError, 503, "the database is the cause; try again later"),
    (OctavoError, 500, "report this with the request id"),
)
"""From the most special to the most general; the first match counts."""
STORE_RETRY_SECONDS = "1"
"""When a client may try again after an error of the database."""
PLACE = re.compile(r"\b(?:postgresql|sqlite)\S{0,500}: ")
"""The address of the database: it is logged, and not shown to clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiError:
    """An error as clients see it."""

    status: int
    type: str
    message: str
    hint: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> JsonObject:
        return {
            "error": {
                "type": self.type,
                "message": self.message,
                "numbers": cast(Json, dict(self.numbers)),
                "hint": self.hint,
                "request_id": request_id,
            }
        }


class Refusal(Exception):
    """A request that is refused before anything was done for it."""

    def __init__(self, api_error: ApiError) -> None:
        super().__init__(api_error.message)
        self.api_error = api_error


def refuse(status: int, type: str, message: str, hint: str = "", **headers: str) -> Refusal:
    """Make a refusal; names of headers are given with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Refusal(ApiError(status=status, type=type, message=message, hint=hint, headers=named))


def explain(error: OctavoError) -> ApiError:
    """Turn an error of Octavo into one for clients."""
    status, hint = next((status, hint) for kind, status, hint in TABLE if isinstance(error, kind))
    headers: dict[str, str] = {}
    if isinstance(error, RateLimited) and error.retry_after is not None:
        headers["retry-after"] = str(ceil(error.retry_after))
    if isinstance(error, StoreError) and not isinstance(error, ReadOnly):
        headers["retry-after"] = STORE_RETRY_SECONDS
    if status == HTTPStatus.BAD_GATEWAY and getattr(error, "retryable", False):
        status = HTTPStatus.SERVICE_UNAVAILABLE
    numbers = error.terms if isinstance(error, BadBudget | ContextOverflow) else {}
    return ApiError(
        status=status,
        type=snake(type(error).__name__),
        message=PLACE.sub("", str(error)) if isinstance(error, StoreError) else str(error),
        hint=hint,
        numbers=numbers,
        headers=headers,
    )


def hint_of(type: str) -> str:
    """Give the hint for an error of which only the type is known."""
    return next((hint for kind, _, hint in TABLE if snake(kind.__name__) == type), "")


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def explain_http(error: HTTPException) -> ApiError:
    """Turn a refusal of the framework into an error for clients: a wrong path, method or body."""
    phrase = HTTPStatus(error.status_code).phrase
    hint = {404: "see /openapi.json for what is here", 405: "see /openapi.json for the methods"}
    return ApiError(
        status=error.status_code,
        type=phrase.lower().replace(" ", "_"),
        message=str(error.detail or phrase),
        hint=hint.get(error.status_code, ""),
        headers=dict(error.headers or {}),
    )


def explain_invalid(error: RequestValidationError) -> ApiError:
    """Name the field of a request that is wrong, without its value, which may be long or secret."""
    first = error.errors()[0]
    # For a union, the framework also names the validators that it tried. They help nobody.
    where = ".".join(str(step) for step in first["loc"] if re.fullmatch(r"[\w-]+", str(step)))
    more = len(error.errors()) - 1
    message = f"{where}: {first['msg']}" + (f" (and {more} more)" if more else "")
    return ApiError(
        status=422, type="bad_input", message=message, hint="see /openapi.json for what is expected"
    )


UNEXPECTED = ApiError(
    status=500, type="internal", message="something went wrong here", hint="report this with the request id"
)


def api_error_of(error: Exception) -> ApiError:
    """Turn any error into one for clients."""
    match error:
        case Refusal():
            return error.api_error
        case OctavoError():
            return explain(error)
        case RequestValidationError():
            return explain_invalid(error)
        case HTTPException():
            return explain_http(error)
        case _:
            return UNEXPECTED
