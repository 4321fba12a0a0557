"""Writes errors in the formats of the providers, so that their own client libraries understand them."""

from __future__ import annotations

from collections.abc import Callable

from octavo.core.json_values import Json, JsonObject
from octavo.errors import BadBudget, BadInput, ContextOverflow
from octavo.http.errors import ApiError

OPENAI_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
TOO_LONG = "context_length_exceeded"
CLIENT_ERRORS = (409, 422)
"""Statuses of our API that the providers' libraries expect as 400."""


def status_of(api_error: ApiError) -> int:
    return 400 if api_error.status in CLIENT_ERRORS else api_error.status


def openai_error(api_error: ApiError, error: Exception, request_id: str) -> JsonObject:
    """Write an error as OpenAI does."""
    status = status_of(api_error)
    kind = OPENAI_TYPES.get(status) or ("server_error" if status >= 500 else "invalid_request_error")
    code: Json = api_error.type
    message = api_error.message
    if isinstance(error, ContextOverflow | BadBudget):
        code, message = TOO_LONG, f"{_maximum(error)} {message}"
    return {
        "error": {
            "message": message,
            "type": kind,
            "param": error.where if isinstance(error, BadInput) else None,
            "code": code,
            "octavo": _ours(api_error, request_id),
        }
    }


def anthropic_error(api_error: ApiError, error: Exception, request_id: str) -> JsonObject:
    """Write an error as Anthropic does."""
    status = status_of(api_error)
    kind = ANTHROPIC_TYPES.get(status) or ("api_error" if status >= 500 else "invalid_request_error")
    message = api_error.message
    if isinstance(error, ContextOverflow | BadBudget):
        needed, limit = _sum(error)
        message = f"prompt is too long: {needed} tokens > {limit} maximum. {message}"
    return {
        "type": "error",
        "error": {"type": kind, "message": message, "octavo": _ours(api_error, request_id)},
        "request_id": request_id,
    }


GEMINI_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def gemini_error(api_error: ApiError, error: Exception, request_id: str) -> JsonObject:
    """Write an error as Google does."""
    status, message = status_of(api_error), api_error.message
    if isinstance(error, ContextOverflow | BadBudget):
        needed, window = _sum(error)
        message = f"The input token count ({needed}) exceeds the maximum number of tokens allowed ({window}). {message}"
    named = GEMINI_STATUSES.get(status) or ("INTERNAL" if status >= 500 else "FAILED_PRECONDITION")
    said: JsonObject = {"code": status, "message": message, "status": named}
    return {"error": {**said, "octavo": _ours(api_error, request_id)}}


ErrorWriter = Callable[[ApiError, Exception, str], JsonObject]


def error_writer(interface: str) -> ErrorWriter:
    """Give what writes errors for the clients of an interface."""
    match interface:
        case "anthropic":
            return anthropic_error
        case "gemini":
            return gemini_error
        case _:
            return openai_error


def _ours(api_error: ApiError, request_id: str) -> JsonObject:
    numbers: JsonObject = {**api_error.numbers}
    return {"type": api_error.type, "numbers": numbers, "hint": api_error.hint, "request_id": request_id}


def _sum(error: ContextOverflow | BadBudget) -> tuple[int, int]:
    """Give the tokens that are needed, with the room for the answer, and the tokens of the model's window."""
    terms = error.terms
    reserved = terms.get("reply", 0) + terms.get("margin", 0)
    overhead = sum(terms.get(name, 0) for name in ("system", "tools", "files", "pins"))
    return terms.get("needed", overhead) + reserved, terms.get("window", terms.get("limit", 0))


def _maximum(error: ContextOverflow | BadBudget) -> str:
    needed, window = _sum(error)
    return (
        f"This model's maximum context length is {window} tokens; the messages and the room for the answer need "
        f"{needed}."
    )
