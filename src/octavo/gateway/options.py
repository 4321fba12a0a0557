"""The options of a request: headers `x-octavo-…`, or the field `octavo` of the body.

The field is removed before the body is sent on. A body without it is sent on byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import Headers

from octavo.core.json_values import Json, JsonObject
from octavo.core.policy import preset
from octavo.errors import BadInput
from octavo.store.schema import plain_id

FIELD = "octavo"
HEADER = "x-octavo-"
LONGEST_FOCUS = 10_000
_WORDS = ("conversation", "policy", "focus")
_SWITCHES = ("off", "recall", "usage")
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions:
    """The options of one request."""

    conversation: str = ""
    """The conversation to store the request in; empty: the one that its messages continue."""
    policy: str = ""
    focus: str = ""
    """What a compression should pay attention to."""
    off: bool = False
    """Pass the request on; store nothing and compress nothing."""
    recall: bool = False
    """Offer the model a tool to search what the snapshot covers."""
    usage: bool = False
    """Report in the body, too, what happened."""


def read_options(headers: Headers, body: JsonObject) -> GatewayOptions:
    """Read the options; the body's win over headers. Raise `BadInput` naming the one that is wrong."""
    said = body.get(FIELD)
    if said is not None and not isinstance(said, dict):
        raise BadInput(FIELD, f"expected an object, got {type(said).__name__}")
    given: JsonObject = {
        name: headers[HEADER + name] for name in (*_WORDS, *_SWITCHES) if HEADER + name in headers
    }
    for name in _SWITCHES:
        if name in given:
            given[name] = _read_switch(name, str(given[name]))
    given |= said or {}
    for name in given:
        if name not in (*_WORDS, *_SWITCHES):
            raise BadInput(f"{FIELD}.{name}", f"unknown option; one of {', '.join((*_WORDS, *_SWITCHES))}")
    options = GatewayOptions(
        conversation=_word(given, "conversation"),
        policy=_word(given, "policy"),
        focus=_word(given, "focus")[:LONGEST_FOCUS],
        off=_switch(given, "off"),
        recall=_switch(given, "recall"),
        usage=_switch(given, "usage"),
    )
    if "conversation" in given:
        plain_id(options.conversation)
    if options.policy:
        preset(options.policy)
    return options


def _word(given: JsonObject, name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise BadInput(f"{FIELD}.{name}", f"expected text, got {type(value).__name__}")
    return value


def _switch(given: JsonObject, name: str) -> bool:
    value: Json = given.get(name, False)
    if not isinstance(value, bool):
        raise BadInput(f"{FIELD}.{name}", "expected true or false")
    return value


def _read_switch(name: str, text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise BadInput(HEADER + name, "expected true or false")
