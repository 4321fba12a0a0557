"""Thinking after a compression: newer Claude models bind a thinking block to everything that stands before it.

A compressed request has another beginning, so the provider would refuse the thinking in its newest turns, and every
later request with it. The provider has a switch that leaves out such blocks instead. Octavo sets it on a compressed
request and on every later request of that conversation, unless the client has chosen for itself. The blocks stay as the
client wrote them: only the provider leaves them out.
"""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus

from octavo.core.json_values import JsonObject
from octavo.core.messages import Reasoning
from octavo.gateway.dialects.dialect import ClientRequest
from octavo.gateway.exchange import Exchange
from octavo.gateway.rebound import is_rebound
from octavo.gateway.reply import ProviderResponse
from octavo.http.responses import to_json

BETA_HEADER = "anthropic-beta"
BETA = "thinking-binding-controls-2026-08-01"
BINDING = "block_binding"
DROP: JsonObject = {"prefix_mismatch_behavior": "drop_block"}
THINKING_TYPES = ("enabled", "adaptive")
LONGEST_ERROR = 2_000
"""Bytes of an error that are searched for what it is about."""


def sends_thinking(request: ClientRequest) -> bool:
    """Tell whether a request sends thinking back."""
    return any(isinstance(part, Reasoning) for message in request.messages for part in message.parts)


def has_thinking(exchange: Exchange) -> bool:
    """Tell whether a request sends thinking of Claude back."""
    return exchange.is_claude and sends_thinking(exchange.request)


async def must_drop(exchange: Exchange) -> bool:
    """Tell whether a request must tell the provider to leave out thinking that is bound to something else."""
    if not has_thinking(exchange) or exchange.gateway.cache.no_binding.get(exchange.destination.url):
        return False
    return exchange.compressed or await is_rebound(exchange.gateway, exchange.branch.conversation)


def drop_bound_blocks(exchange: Exchange, body: bytes, *, ask: bool = False) -> bytes:
    """Set the switch in a body, and the header that it needs; the client's own choice stays.

    `ask`: turn thinking on if the request does not name it. A model that always thinks needs no field to do so.
    """
    said: JsonObject = json.loads(body)
    thinking = said.get("thinking")
    if thinking is None and ask:
        thinking = {"type": "adaptive"}
    if not isinstance(thinking, dict) or thinking.get("type") not in THINKING_TYPES or BINDING in thinking:
        return body
    exchange.rebound = True
    headers = exchange.destination.headers
    betas = [beta.strip() for beta in headers.get(BETA_HEADER, "").split(",") if beta.strip()]
    if BETA not in betas:
        named = {**headers, BETA_HEADER: ",".join([*betas, BETA])}
        exchange.destination = replace(exchange.destination, headers=named)
    return to_json({**said, "thinking": {**thinking, BINDING: DROP}})


def keep_bound_blocks(exchange: Exchange, body: bytes) -> bytes:
    """Take the switch out of a body again, for a service that does not know it; remember that it does not."""
    exchange.gateway.cache.no_binding.put(exchange.destination.url, value=True)
    said: JsonObject = json.loads(body)
    thinking = said.get("thinking")
    if isinstance(thinking, dict):
        said["thinking"] = {key: value for key, value in thinking.items() if key != BINDING}
    headers = exchange.destination.headers
    betas = [beta for beta in headers.get(BETA_HEADER, "").split(",") if beta.strip() not in ("", BETA)]
    rest = {name: value for name, value in headers.items() if name != BETA_HEADER}
    named = {**rest, BETA_HEADER: ",".join(betas)} if betas else rest
    exchange.destination = replace(exchange.destination, headers=named)
    return to_json(said)


def refuses_thinking(answer: ProviderResponse) -> bool:
    """Tell whether a provider refuses thinking because it is bound to something else."""
    text = _error_text(answer)
    return "thinking" in text and ("signature" in text or "bound to" in text) and not refuses_switch(answer)


def refuses_switch(answer: ProviderResponse) -> bool:
    """Tell whether a service refuses the switch itself."""
    text = _error_text(answer)
    return BINDING in text or BETA in text


def _error_text(answer: ProviderResponse) -> str:
    if answer.response.status_code != HTTPStatus.BAD_REQUEST or answer.raw is None:
        return ""
    return answer.raw[:LONGEST_ERROR].decode("utf-8", "replace")
