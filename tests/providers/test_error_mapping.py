"""What services say when a request fails, and the one error each of it becomes."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from octavo.core.json_values import Json
from octavo.errors import ProviderError, ProviderTimeout, RateLimited, WindowExceeded
from octavo.providers.error_mapping import LONGEST_MESSAGE, Fault, classify
from tests.providers.kit import KEY

OVERFLOWS: list[tuple[str, int | None, Json, int | None]] = [
    (
        "openai",
        400,
        {
            "code": "context_length_exceeded",
            "message": "This model's maximum context length is 128000 tokens. However, you sent 130,512.",
        },
        128_000,
    ),
    ("openai responses", 400, {"message": "Your input exceeds the context window of this model."}, None),
    (
        "anthropic",
        400,
        {"type": "error", "error": {"message": "prompt is too long: 215000 tokens > 200000 maximum"}},
        200_000,
    ),
    (
        "anthropic, with the output",
        400,
        {"error": {"message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}},
        200_000,
    ),
    (
        "anthropic, bytes",
        413,
        {"error": {"type": "request_too_large", "message": "Request exceeds 32 MB"}},
        None,
    ),
    (
        "gemini",
        400,
        [
            {
                "error": {
                    "message": "The input token count exceeds the maximum number of tokens allowed (1,048,576)."
                }
            }
        ],
        1_048_576,
    ),
    (
        "llama.cpp",
        400,
        {"error": {"type": "exceed_context_size_error", "message": "too much", "n_ctx": 2048}},
        2048,
    ),
    (
        "vllm",
        400,
        {"message": "However, the model's context length is only 4096 tokens, resulting in a maximum of ..."},
        4096,
    ),
    ("vllm, older", 400, {"message": "is longer than the maximum model length of 8192"}, 8192),
    ("mistral", 400, {"message": "too large for model with 32768 maximum context length"}, 32_768),
    ("lm studio", None, "the model is loaded with context length of only 4096 tokens", 4096),
    (
        "xai",
        400,
        {"error": "This model's maximum prompt length is 131072 but the request contains 140000"},
        131_072,
    ),
    ("tgi", 422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"}, 4096),
]


@pytest.mark.parametrize(
    ("status", "body", "window"), [case[1:] for case in OVERFLOWS], ids=[c[0] for c in OVERFLOWS]
)
def test_an_overflow_is_recognised_and_its_window_read(
    status: int | None, body: Json, window: int | None
) -> None:
    error = classify(Fault(provider="p", status=status, body=body))
    assert isinstance(error, WindowExceeded)
    assert error.window == window
    assert not error.retryable


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
        "messages: at least one message is required",
        "image exceeds 5 MB maximum",
    ],
)
def test_other_bad_requests_are_no_overflow(message: str) -> None:
    error = classify(Fault(provider="p", status=400, body={"error": {"message": message}}))
    assert type(error) is ProviderError
    assert not error.retryable
    assert message in str(error)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_passes_can_be_tried_again(status: int) -> None:
    assert classify(Fault(provider="p", status=status)).retryable


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
def test_what_does_not_pass_cannot(status: int) -> None:
    assert not classify(Fault(provider="p", status=status)).retryable


def test_timeouts_of_the_service_are_timeouts() -> None:
    assert isinstance(classify(Fault(provider="p", status=504)), ProviderTimeout)


def test_a_quota_that_is_used_up_is_no_rate_limit() -> None:
    error = classify(Fault(provider="p", status=429, body={"code": "insufficient_quota", "message": "pay"}))
    assert not isinstance(error, RateLimited)
    assert not error.retryable


def test_the_service_may_say_itself_whether_to_retry() -> None:
    assert not classify(Fault(provider="p", status=500, headers={"x-should-retry": "false"})).retryable
    assert classify(Fault(provider="p", status=400, headers={"x-should-retry": "true"})).retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "7", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_pause_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    error = classify(Fault(provider="p", status=429, headers=headers))
    assert isinstance(error, RateLimited)
    assert error.retry_after == seconds


def test_a_pause_may_be_a_date_and_come_with_any_passing_error() -> None:
    error = classify(
        Fault(provider="p", status=503, headers={"retry-after": formatdate(time.time() + 1000, usegmt=True)})
    )
    assert isinstance(error, RateLimited)
    assert error.status == 503
    assert error.retry_after is not None
    assert 0 < error.retry_after <= 1000


def test_the_status_is_found_in_the_body_when_the_response_had_begun() -> None:
    overloaded: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert classify(Fault(provider="p", status=200, body=overloaded)).status == 529
    assert classify(Fault(provider="p", body={"code": 503, "message": "busy"})).status == 503


@pytest.mark.parametrize("body", [None, 7, [], "", {"error": None}, {"message": {"nested": 1}}, ["a", "b"]])
def test_a_body_of_any_shape_gives_an_error_in_words(body: Json) -> None:
    assert str(classify(Fault(provider="p", status=400, body=body))).startswith("p answered 400: ")


def test_a_message_is_cut_and_names_what_to_do() -> None:
    error = classify(Fault(provider="p", status=401, body="<html>" + "x" * 10_000))
    assert len(str(error)) < LONGEST_MESSAGE + 100
    assert str(error).endswith("(check the key)")


def test_a_key_in_what_the_service_says_is_blotted_out() -> None:
    body: Json = {"message": f"Incorrect API key provided: {KEY.reveal()}."}
    error = classify(Fault(provider="p", status=401, body=body, secrets=(KEY,)))
    assert str(error) == "p answered 401: Incorrect API key provided: ***. (check the key)"
