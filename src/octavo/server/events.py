"""Turns events of the engine into events of the API: a name and plain JSON, by one table."""

from __future__ import annotations

from typing import assert_never

from octavo.core.json_values import Json, JsonObject
from octavo.core.reply import Retrying
from octavo.engine.outcome import (
    Answered,
    AnswerFailed,
    AnswerText,
    Cancelled,
    Compressed,
    CompressionEnded,
    CompressionStarted,
    ContextShrunk,
    Event,
    Failed,
    MessageStored,
    Outcome,
    Preparing,
    Recalled,
    Rejected,
    Repaired,
    Sending,
    Skipped,
    SummaryText,
    Waiting,
)
from octavo.http.errors import ApiError, hint_of, snake
from octavo.server.show import show_node, show_passage, show_reply, show_snapshot, show_usage

NOTIFIED = (Preparing, CompressionStarted, CompressionEnded, ContextShrunk)
"""Events that the feed of a conversation publishes, besides the beginning and end of turns."""


def describe(event: Event) -> tuple[str, JsonObject]:  # noqa: C901 - a table, one row a case
    """Give an event's name and its data."""
    match event:
        case MessageStored():
            return "stored", {"message": show_node(event.node).model_dump()}
        case CompressionStarted():
            return "compression_started", {
                "urgency": event.urgency,
                "messages": event.messages,
                "tokens": event.tokens,
            }
        case SummaryText(""):
            return "summary_restarted", {}
        case SummaryText():
            return "summary_text", {"text": event.text}
        case CompressionEnded():
            return "compression_ended", describe_outcome(event.outcome)
        case Recalled():
            passages: list[Json] = [show_passage(passage).model_dump() for passage in event.passages]
            return "recalled", {"message": event.node, "tokens": event.tokens, "passages": passages}
        case Repaired():
            repairs: list[Json] = [
                {"fix": r.fix, "index": r.index, "detail": r.detail} for r in event.repairs
            ]
            return "repaired", {"repairs": repairs}
        case ContextShrunk():
            return "shrunk", {"notes": [*event.notes], "before": event.before, "after": event.after}
        case Sending():
            return "sending", {"usage": show_usage(event.usage).model_dump()}
        case Retrying():
            return "retrying", {
                "attempt": event.attempt,
                "attempts": event.attempts,
                "wait": round(event.wait, 1),
                "reason": event.reason,
                "limited": event.limited,
            }
        case AnswerText():
            return "text", {"text": event.text, "kind": event.kind}
        case Answered():
            return "answered", {
                "message": show_node(event.node).model_dump(),
                "reply": show_reply(event.reply).model_dump(),
            }
        case AnswerFailed():
            return "failed", _failed(event)
        case Preparing():
            return "preparing", {"urgency": event.urgency}
        case Waiting():
            return "waiting", {}
    assert_never(event)


def _failed(event: AnswerFailed) -> JsonObject:
    kind = snake(event.kind)
    api_error = ApiError(status=502, type=kind, message=event.error, hint=hint_of(kind))
    partial = show_node(event.node).model_dump() if event.node else None
    return {**describe_failure(api_error), "retryable": event.retryable, "partial": partial}


def describe_failure(api_error: ApiError) -> JsonObject:
    """Describe a failure in an event, with the fields of an error response."""
    return {
        "type": api_error.type,
        "message": api_error.message,
        "numbers": {**api_error.numbers},
        "hint": api_error.hint,
        "retryable": False,
        "partial": None,
    }


def describe_outcome(outcome: Outcome) -> JsonObject:
    """Describe how a compression ended."""
    match outcome:
        case Compressed():
            return {
                "outcome": "compressed",
                "urgency": outcome.urgency,
                "messages": outcome.snapshot.messages,
                "before": outcome.before,
                "after": outcome.after,
                "saved": outcome.before - outcome.after,
                "snapshot": show_snapshot(outcome.snapshot).model_dump(),
                "problems": [{"flaw": p.flaw, "detail": p.detail} for p in outcome.problems],
            }
        case Skipped():
            return {"outcome": "skipped", "reason": outcome.reason, "detail": outcome.detail}
        case Rejected():
            return {
                "outcome": "rejected",
                "problems": [{"flaw": p.flaw, "detail": p.detail} for p in outcome.problems],
                "before": outcome.before,
                "after": outcome.after,
            }
        case Failed():
            return {"outcome": "failed", "error": outcome.error, "retryable": outcome.retryable}
        case Cancelled():
            return {"outcome": "cancelled"}
    assert_never(outcome)
