"""Classifies what a service said instead of an answer, once.

Every adapter turns what its library raised into a `Fault`; `classify` turns that into the one error the rest of
Octavo sees. Its message is the service's own, cut to a sensible length, with every key blotted out.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from octavo.core.json_values import Json, JsonObject
from octavo.errors import (
    BadReply,
    OctavoError,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    ReplyTooLarge,
    WindowExceeded,
)
from octavo.providers.secret import Secret, mask

LONGEST_MESSAGE = 500
"""Characters: enough for any message meant for people; an error page of a proxy is longer."""
RETRYABLE = frozenset({408, 409, 425, 429})
"""Statuses worth another try, besides all from 500 on: timeouts, conflicts and rate limits."""
STATUS_OF_TYPE: Mapping[str, int] = MappingProxyType(
    {
        "invalid_request_error": 400,
        "exceed_context_size_error": 400,
        "authentication_error": 401,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "api_error": 500,
        "server_error": 500,
        "timeout_error": 504,
        "overloaded_error": 529,
    }
)
"""What an error inside a stream means, whose response had begun with 200."""
SPENT = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_error", "credit_balance_too_low"}
)
"""Rate limits that no waiting lifts."""
ADVICE: Mapping[int, str] = MappingProxyType(
    {
        401: "check the key",
        403: "check what the key may do",
        404: "check the model's name and the address",
    }
)
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What is raised while an answer is read that does not follow the service's own description; the libraries do not check
it."""
_NUMBER = r"(\d[\d,]*)"
WINDOWS = tuple(
    re.compile(pattern.replace("N", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"maximum context length (?:is|of) N",
        r"context length (?:is|of) only N",
        r"maximum (?:prompt|model) length (?:is|of) N",
        r"with N maximum context length",
        r"tokens? > N maximum",
        r"exceed context limit: \d+ \+ \d+ > N",
        r"maximum number of tokens allowed \(N\)",
        r"available context size \(N tokens",
        r"`max_new_tokens` must be <= N",
    )
)
"""How services name their window when a request is too large for it."""
TOO_LARGE = re.compile(
    r"prompt is too long|input is too long|exceeds? (?:the|its|this model's) (?:available )?context"
    r"|context[ _](?:length|window|size)[ _]exceeded|exceed_context_size|request_too_large",
    re.IGNORECASE,
)
"""How they say so without a number."""


class GivenUp(Exception):
    """A request that was ended here, because it took too long or gave too much; its words say which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A failed request, as far as the service spoke."""

    provider: str
    status: int | None = None
    body: Json = None
    """What the service sent, parsed if it was JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Sequence[Secret] = ()


def classify(fault: Fault) -> ProviderError:
    """Name the error that a service's answer means."""
    said = _said(fault.body)
    status = _status(fault, said)
    text = _message(fault, said, status)
    if status is not None and 300 <= status < 400:
        return _redirected(fault, status)
    if status not in (401, 403, 429) and _is_too_large(said, status):
        return WindowExceeded(text, window=_window(said), status=status)
    if status == 429 and _kinds(said) & SPENT:
        return ProviderError(text, retryable=False, status=status)
    retry_after = _retry_after(fault.headers, said)
    if status == 429 or (retry_after is not None and _retryable(status)):
        return RateLimited(text, retry_after=retry_after, status=status)
    if status in (408, 504):
        return ProviderTimeout(text)
    asked = fault.headers.get("x-should-retry")
    return ProviderError(text, retryable=asked == "true" if asked else _retryable(status), status=status)


@contextmanager
def sdk_errors(sdk: Any, httpx2: Any, provider: str, secrets: Sequence[Secret]) -> Iterator[None]:
    """Raise what goes wrong in the library of OpenAI or Anthropic as our errors: both name theirs alike."""
    try:
        yield
    except OctavoError:
        raise
    except (sdk.APITimeoutError, httpx2.TimeoutException) as error:
        raise silent(provider, error) from None
    except (sdk.APIConnectionError, httpx2.RequestError) as error:
        raise unreachable(provider, error, secrets) from None
    except (sdk.APIResponseValidationError, json.JSONDecodeError) as error:
        raise unreadable(provider, str(error), secrets) from None
    except sdk.APIError as error:
        response = getattr(error, "response", None)
        fault = Fault(
            provider=provider,
            status=getattr(error, "status_code", None),
            body=error.message if error.body is None else error.body,
            headers={} if response is None else response.headers,
            secrets=secrets,
        )
        raise classify(fault) from None
    except MALFORMED as error:
        raise malformed(provider, error) from error


def _redirected(fault: Fault, status: int) -> ProviderError:
    where = _short(mask(fault.headers.get("location") or "another address", fault.secrets))
    return ProviderError(
        f"{fault.provider} answered {status}: it redirects to {where}, and redirects are not followed; "
        "give the service's own address",
        status=status,
    )


def unreachable(provider: str, error: BaseException, secrets: Sequence[Secret]) -> ProviderError:
    """Name a connection that could not be made, broke, or was given up."""
    cause = _cause(error)
    detail = _short(mask(str(cause) or type(cause).__name__, secrets))
    if isinstance(cause, GivenUp):
        return ReplyTooLarge(f"{provider}: {detail}")
    return ProviderError(f"{provider}: the connection failed: {detail}", retryable=True)


def silent(provider: str, error: BaseException) -> ProviderTimeout:
    """Name a service that did not answer in time."""
    cause = _cause(error)
    return ProviderTimeout(f"{provider}: {cause if isinstance(cause, GivenUp) else 'no answer in time'}")


def _cause(error: BaseException) -> BaseException:
    """Find what a library wrapped."""
    if isinstance(error, GivenUp):
        return error
    return error.__cause__ or error.__context__ or error


def counted(provider: str, said: object) -> int:
    """Read a count that was asked for; anything but a number is a fault."""
    if not isinstance(said, int) or isinstance(said, bool) or said < 1:
        raise unreadable(provider, f"{said!r} stands where a number of tokens was expected")
    return said


def ended_early(provider: str, *, heard: bool) -> ProviderError:
    """Make the error for a stream that stopped before its end; `heard`: part of an answer had come."""
    if not heard:
        return unreadable(provider, "there is no event of the service's format in it")
    return ProviderError(
        f"{provider}: the answer ended early, before the service said it was done", retryable=True
    )


def malformed(provider: str, error: Exception) -> BadReply:
    """Name an answer that is not what the service's own description says."""
    return unreadable(provider, f"not the format of the service ({type(error).__name__})")


def unreadable(provider: str, problem: str, secrets: Sequence[Secret] = ()) -> BadReply:
    """Name an answer that does not follow the service's own format."""
    text = _short(mask(problem, secrets))
    return BadReply(f"{provider}: the answer cannot be read: {text}", retryable=True)


def _said(body: Json) -> JsonObject:
    """Unwrap the object that describes the error, whichever way the service packs it."""
    match body:
        case [one]:
            return _said(one)
        case {"error": dict(inner)}:
            return inner
        case {"error": str(text)} | str(text):
            return {"message": text}
        case dict():
            return body
        case _:
            return {}


def _status(fault: Fault, said: JsonObject) -> int | None:
    if fault.status is not None and fault.status != 200:
        return fault.status
    code = said.get("code")
    if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600:
        return code
    return STATUS_OF_TYPE.get(str(said.get("type")))


def _message(fault: Fault, said: JsonObject, status: int | None) -> str:
    words = said.get("message") or said.get("detail") or said.get("type") or "the request failed"
    text = _short(mask(words if isinstance(words, str) else str(words), fault.secrets))
    where = fault.provider if status is None else f"{fault.provider} answered {status}"
    advice = ADVICE.get(status or 0)
    return f"{where}: {text} ({advice})" if advice else f"{where}: {text}"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_MESSAGE else words[:LONGEST_MESSAGE] + "..."


def _kinds(said: JsonObject) -> set[str]:
    return {value for key in ("code", "type", "status") if isinstance(value := said.get(key), str)}


def _is_too_large(said: JsonObject, status: int | None) -> bool:
    words = f"{said.get('message', '')} {' '.join(_kinds(said))}"
    return status == 413 or _window(said) is not None or TOO_LARGE.search(words) is not None


def _window(said: JsonObject) -> int | None:
    size = said.get("n_ctx")
    if isinstance(size, int):
        return size
    text = str(said.get("message", ""))
    found = next((match for pattern in WINDOWS if (match := pattern.search(text))), None)
    return None if found is None else int(found[1].replace(",", ""))


def _retryable(status: int | None) -> bool:
    return status is not None and (status in RETRYABLE or status >= 500)


def _retry_after(headers: Mapping[str, str], said: JsonObject) -> float | None:
    """Read how many seconds the service asks to wait: in milliseconds, seconds, as a date, or in the body."""
    if (milliseconds := _float(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1_000
    asked = headers.get("retry-after")
    if (seconds := _float(asked)) is not None:
        return seconds
    if asked and (date := email.utils.parsedate_tz(asked)) is not None:
        return max(0.0, email.utils.mktime_tz(date) - time.time())
    details = said.get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and isinstance(delay := detail.get("retryDelay"), str):
            return _float(delay.removesuffix("s"))
    return None


def _float(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None
