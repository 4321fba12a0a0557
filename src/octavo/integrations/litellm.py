"""LiteLLM: a callback for its SDK and its proxy, by which no request outgrows the window of its model.

It runs after a deployment was chosen, so the real model is known. A retry or a fallback calls it again, with the
caller's messages or with what it made of them before; both give the same request. Only asynchronous calls have this
hook in LiteLLM: `acompletion`, the router, and everything that the proxy serves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from litellm.integrations.custom_logger import CustomLogger

from octavo.core.json_values import Json, JsonObject
from octavo.core.lru_cache import LruCache
from octavo.core.messages import Message
from octavo.core.protocol import ANTHROPIC, OPENAI, RESPONSES, Rules
from octavo.core.split import lead
from octavo.core.wire import Format, read, write
from octavo.core.wire.responses import read_steps
from octavo.engine.history import digests_of
from octavo.errors import BadInput
from octavo.integrations.tools import count_tools
from octavo.integrations.view import (
    ContextView,
    HistoryItem,
    ViewItem,
    ViewOptions,
    ViewRequest,
    log,
)

LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
REMEMBERED = 1_000
"""Requests that are recognised when a retry brings them back."""
KINDS: Mapping[str, tuple[Format, str, Rules]] = {
    "completion": ("openai", "messages", OPENAI),
    "acompletion": ("openai", "messages", OPENAI),
    "aresponses": ("responses", "input", RESPONSES),
    "responses": ("responses", "input", RESPONSES),
    "anthropic_messages": ("anthropic", "messages", ANTHROPIC),
}
"""By the kind of a call: the format of its messages, where they are, and what holds for them."""


class OctavoHandler(CustomLogger):
    """Sends a view of the messages that fits; the caller's list stays as it is.

    `store` is a file or the URL of a database; without one, snapshots live as long as the process.
    """

    def __init__(self, store: str | Path | None = None, **options: Unpack[ViewOptions]) -> None:
        super().__init__()
        self._view = ContextView.open("OctavoHandler", store, options)
        self._made = LruCache[bytes, bool](REMEMBERED)
        """Digests of what was made here."""

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Replace the messages of a request by a view of them."""
        kind = KINDS.get(str(getattr(call_type, "value", call_type)))
        if kind is None:
            return None
        format, field, rules = kind
        try:
            front, history = _read(format, kwargs.get(field))
        except (BadInput, TypeError) as error:
            log.warning("the messages of a request are sent as they are: %s", error)
            return None
        if not history or self._is_made_here(history):
            return None
        system = kwargs.get("system") or kwargs.get("instructions") or ""
        view = await self._view.aview(
            ViewRequest(
                history=history,
                model=_model(kwargs),
                system="\n".join([_text(system), *(_text(one.get("content")) for one in front)]).strip(),
                tools=count_tools(kwargs.get("tools"), _definition),
                reply=_reply(kwargs),
                format=format,
                rules=rules,
            )
        )
        self._view.expect_bill(_name(kwargs), view)
        if not view.compressed:
            return None
        self._remember([item.message for item in view.items])
        return {**kwargs, field: [*front, *(one for item in view.items for one in _write(item, format))]}

    async def async_post_call_success_deployment_hook(
        self,
        request_data: dict[str, Any],
        response: Any,
        call_type: Any,  # noqa: ARG002
    ) -> Any:
        """Learn from the bill of a request; a stream has none yet."""
        usage = getattr(response, "usage", None)
        billed = getattr(usage, "prompt_tokens", None) or getattr(usage, "input_tokens", None)
        await self._view.billed(_name(request_data), billed)
        return None

    def _is_made_here(self, history: Sequence[HistoryItem[Any]]) -> bool:
        return digests_of([item.message for item in history])[-1] in self._made

    def _remember(self, messages: Sequence[Message]) -> None:
        self._made.put(digests_of(messages)[-1], value=True)


def _read(format: Format, messages: Any) -> tuple[list[Any], list[HistoryItem[Any]]]:
    """Read the messages of a request: those of the system at the front, and the conversation."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    given = list(messages or ())
    plain = [_plain(one) for one in given]
    if format == "responses":
        history: list[HistoryItem[Any]] = []
        at = 0
        for message, number in read_steps(plain):
            history.append(HistoryItem(message, tuple(given[at : at + number])))
            at += number
        return [], history
    found = read(format, plain)
    front = lead(found) if lead(found) < len(found) else 0
    pairs = zip(found[front:], given[front:], strict=True)
    return given[:front], [HistoryItem(message, (one,)) for message, one in pairs]


def _plain(message: Any) -> JsonObject:
    dump = getattr(message, "model_dump", None)
    found: JsonObject = dump(exclude_none=True) if callable(dump) else dict(message)
    return {name: value for name, value in found.items() if value is not None or name == "content"}


def _write(item: ViewItem[Any], format: Format) -> Sequence[Any]:
    if item.kept:
        return item.objects
    return write(format, [item.message]).messages


def _name(kwargs: Mapping[str, Any]) -> str:
    return str(kwargs.get("litellm_call_id") or "")


def _model(kwargs: Mapping[str, Any]) -> str:
    name = kwargs.get("model")
    return name if isinstance(name, str) else ""


def _reply(kwargs: Mapping[str, Any]) -> int | None:
    said = (kwargs.get(name) for name in LIMITS)
    return next((value for value in said if isinstance(value, int) and value > 0), None)


def _text(content: Json) -> str:
    if isinstance(content, list):
        return "\n".join(_text(one.get("text")) for one in content if isinstance(one, dict))
    return content if isinstance(content, str) else ""


def _definition(tool: object) -> Mapping[str, Any]:
    assert isinstance(tool, Mapping)
    return tool


handler = OctavoHandler(os.environ.get("OCTAVO_DB") or None)
"""For the proxy: `litellm_settings.callbacks: octavo.integrations.litellm.handler`; OCTAVO_DB names the database."""

__all__ = ["OctavoHandler", "handler"]
