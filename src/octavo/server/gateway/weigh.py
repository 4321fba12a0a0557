"""The size of a request as the client sent it, beside the marks of its model's window.

Messages are counted once: what the beginning of a conversation weighs is remembered by its digest. Thinking is
counted apart, since only that of the turn which goes on is sent to a model.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from octavo.core.budget import REPLY_SHARE, Budget, ModelCard, Overhead, Reading
from octavo.core.context import Context
from octavo.core.fields import Json
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    ToolResult,
    last_turn,
    system,
)
from octavo.core.policy import Compress, Decision, Keep, Policy, budget_for, decide
from octavo.core.tools import Tool
from octavo.engine.state import policy_of
from octavo.errors import BadBudget
from octavo.meters.meter import Meter
from octavo.server.gateway.canon import bare, digests_of
from octavo.server.gateway.dialect import Asked
from octavo.server.gateway.recognise import Place
from octavo.server.hub import Hub

SURE = 2
"""A body with half as many bytes as there is room in tokens fits whatever the marks."""
ROUGH = 2.0
"""A sum of local counts this far from the mark needs no second look: no calibration is off by so much."""
THOUGHT = 3
"""Characters of a token of thinking, on the safe side: its true count is known to the provider only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSize:
    """The size of a request as it came."""

    reading: Reading
    budget: Budget | None
    """How the window is divided for it; None if it cannot be."""
    limit: int
    """The most tokens that may be sent as they are: the hard mark, or the whole room if there are no marks."""
    known: Mapping[Message, int]
    """Counts of its messages, as far as they were needed one by one."""


async def loaded(meter: Meter) -> Meter:
    """Load a meter's vocabulary, outside of the event loop if it is not there yet."""
    if "unit" not in meter.__dict__:
        await asyncio.to_thread(lambda: meter.unit)
    return meter


async def settings_for(hub: Hub, asked: Asked, place: Place) -> dict[str, Json]:
    """Resolve the settings of a request: those of its conversation, and what it says itself."""
    where = "" if place.new else place.conversation
    known = hub.memory.settings(where)
    if known is None:
        known = await hub.engine.settings_of(where or None)
        hub.memory.keep_settings(where, known)
    # The system prompt is the client's own, also when it has none: one that was set here is for chats here.
    said: dict[str, Json] = {**known, "model": asked.model, "system": asked.prompt or None}
    if asked.reply is not None:
        said["reply"] = asked.reply + thinking(asked)
    if asked.options.policy:
        said["policy"] = asked.options.policy
    return said


def thinking(asked: Asked) -> int:
    """Guess the tokens of thinking in the turn that goes on: it is sent back, and stored counts leave it out."""
    start = last_turn(asked.messages) or 0
    thoughts = (
        part for message in asked.messages[start:] for part in message.parts if isinstance(part, Reasoning)
    )
    return sum(math.ceil(len(part.text) / THOUGHT) for part in thoughts)


def usual_reply(card: ModelCard) -> int:
    """What is left for an answer when the client does not say."""
    return min(card.max_output, card.window // REPLY_SHARE)


def surely_fits(asked: Asked, meter: Meter) -> bool:
    """Tell at a glance that a request fits: a token is a byte at least, except in what is only linked to."""
    room = meter.card.window - (asked.reply or usual_reply(meter.card))
    small = len(asked.raw) * SURE < room
    return small and not any(_weighs_more(part) for message in asked.messages for part in message.parts)


def _weighs_more(part: Part) -> bool:
    """Tell whether a part may have more tokens than its address has letters."""
    if isinstance(part, ToolResult):
        return any(_weighs_more(piece) for piece in part.content)
    return isinstance(part, Image | Attachment | Opaque)


def measure_request(
    hub: Hub, asked: Asked, place: Place, meter: Meter, settings: Mapping[str, Json]
) -> RequestSize:
    """Measure a request as it came, counting only what was not counted before."""
    sums = _sums(hub, meter, asked.messages, place.digests)
    prompt = _sums(hub, meter, asked.system, digests_of(asked.system))[-1:]
    frame, tools = meter.unit.frame.request, _tools(hub, meter, asked.tools)
    overhead = Overhead(system=sum(prompt) + frame, tools=tools)
    total = overhead.total + sums[-1]
    budget = _budget(meter, settings, overhead)
    limit = budget.hard if budget else _room(meter, asked)
    if not limit / ROUGH < total < limit * ROUGH:
        return RequestSize(reading=Reading(tokens=total), budget=budget, limit=limit, known={})
    before = [0, *sums]
    known = {bare(m): sums[i] - before[i] for i, m in enumerate(asked.messages)}
    return RequestSize(
        reading=meter.read(plain_context(asked), known), budget=budget, limit=limit, known=known
    )


def decide_request(size: RequestSize, policy: Policy) -> Decision:
    """Decide about a request as it came, by the rule that every turn follows.

    Where the window cannot be divided there are no marks, and the provider judges what is close to its window.
    """
    if size.budget is not None:
        return decide(policy, size.budget, size.reading)
    tokens = size.reading.cautious
    return Keep("fits") if tokens <= size.limit else Compress("hard", "mark", tokens, size.limit)


def plain_context(asked: Asked) -> Context:
    """See a request as the context it is, without thinking."""
    return Context(
        system=(system(asked.prompt),) if asked.prompt.strip() else (),
        tools=asked.tools,
        retained=tuple(bare(message) for message in asked.messages),
    )


def _sums(hub: Hub, meter: Meter, messages: Sequence[Message], digests: Sequence[bytes]) -> list[int]:
    """Add messages up: `[i]` is what the first `i + 1` hold."""
    unit, sums = meter.unit.name, list[int]()
    for message, digest in zip(messages, digests, strict=True):
        known = hub.memory.sizes.get((unit, digest))
        if known is None:
            known = (sums[-1] if sums else 0) + meter.count_message(bare(message))
            hub.memory.sizes.put((unit, digest), known)
        sums.append(known)
    return sums


def _tools(hub: Hub, meter: Meter, tools: tuple[Tool, ...]) -> int:
    if not tools:
        return 0
    key = (meter.unit.name, tools)
    known = hub.memory.tools.get(key)
    if known is None:
        known = meter.count_tools(tools)
        hub.memory.tools.put(key, known)
    return known


def _budget(meter: Meter, settings: Mapping[str, Json], overhead: Overhead) -> Budget | None:
    reply = settings.get("reply")
    try:
        return budget_for(
            policy_of(settings, meter),
            meter.card,
            overhead=overhead,
            reply=reply if isinstance(reply, int) else None,
        )
    except BadBudget:
        return None


def _room(meter: Meter, asked: Asked) -> int:
    """What the window holds besides the answer, if there is anything besides it."""
    room = meter.card.window - (asked.reply or 0)
    return room if room > 0 else meter.card.window
