"""What is to be known of an answer besides its words: what its request left out, and that it reached its longest.

Kept as a note of the conversation, and only where there is something to say: most answers have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.core.json_values import Json, JsonObject

if TYPE_CHECKING:
    from octavo.store.store import Store

ANSWER = "answer:"
"""What the keys of these notes begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNotes:
    """What is told at an answer."""

    left_out: tuple[str, ...] = ()
    """What the model did not see, besides what was compressed."""
    cut: bool = False
    """The answer reached the longest length it may have."""


NOTHING = AnswerNotes()


async def keep_answer_notes(store: Store, conversation: str, node: str, notes: AnswerNotes) -> None:
    """Store what is to be told at an answer."""
    value: JsonObject = {"left_out": [*notes.left_out], "cut": notes.cut}
    await store.notes.put_all({ANSWER + node: value}, conversation=conversation)


async def read_answer_notes(store: Store, nodes: Iterable[str]) -> dict[str, AnswerNotes]:
    """Give what is to be told at answers; those of which nothing is are not there."""
    keys = [ANSWER + node for node in nodes]
    found = await store.notes.named(*keys) if keys else {}
    return {key.removeprefix(ANSWER): _read(value) for key, value in found.items() if isinstance(value, dict)}


def _read(value: Mapping[str, Json]) -> AnswerNotes:
    left_out = value.get("left_out")
    told = tuple(str(one) for one in left_out) if isinstance(left_out, list) else ()
    return AnswerNotes(left_out=told, cut=bool(value.get("cut")))
