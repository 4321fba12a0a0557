"""Between a service's library and the assembler of its format: an event as plain JSON, an answer as a reply."""

from __future__ import annotations

import uuid
from typing import Any, cast

from octavo.core.json_values import JsonObject
from octavo.core.reply import Reply
from octavo.core.wire.stream import StreamAssembler
from octavo.errors import BadInput
from octavo.providers.error_mapping import ended_early, unreadable


def new_call_id() -> str:
    """Give an id to a tool call that came without one, so that its result can name it."""
    return f"call_{uuid.uuid4().hex}"


def plain(event: Any) -> JsonObject:
    """Give an event of a library as it came over the wire. Libraries do not check what comes, and say so when asked."""
    return cast(JsonObject, event.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False))


def reply_of(stream: StreamAssembler, provider: str) -> Reply:
    """Give the answer that came; raise if it is not complete, or cannot be read."""
    finish = stream.finish
    if finish is None:
        raise ended_early(provider, heard=stream.heard)
    try:
        message = stream.messages()[0]
    except BadInput as error:
        raise unreadable(provider, str(error)) from None
    return Reply(message=message, finish=finish, usage=stream.usage, model=stream.model)
