"""Whether a request fits as it is, and a context that does if not.

A request that fits is not touched, also when a snapshot could make it smaller. For one that does not, the engine makes
the context from the stored tree; what it retains is sent as the client wrote it this time, with its own cache markers
and its own thinking.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from octavo.core.budget import REPLY_SHARE, Budget, Overhead
from octavo.core.context import Context
from octavo.core.fields import Json
from octavo.core.messages import Attachment, Image, Message, Opaque, Reasoning, chain, last_turn
from octavo.core.policy import budget_for
from octavo.core.protocol import Rules
from octavo.core.split import lead
from octavo.core.tools import Tool
from octavo.core.wire import Wired, write
from octavo.engine.chat import Chat, Ready
from octavo.engine.scene import policy_of
from octavo.errors import BadBudget, ContextOverflow
from octavo.meters.meter import Meter
from octavo.server.gateway.dialect import Asked, Dialect
from octavo.server.gateway.recognise import Place, plain
from octavo.server.hub import Hub

SURE = 2
"""A body with half as many bytes as there is room in tokens fits whatever the marks."""
ROUGH = 2.0
"""A sum of local counts this far from the mark needs no second look: no calibration is off by so much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What a request weighs as it is."""

    tokens: int
    fits: bool
    prepare: bool
    """Whether it is time to get a snapshot ready."""
    known: Mapping[Message, int]
    """Counts of its messages, as far as they were needed one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A context that fits, as it is sent."""

    wired: Wired
    context: Context
    tokens: int
    compressed: bool


async def settings_for(hub: Hub, asked: Asked, place: Place) -> dict[str, Json]:
    """Resolve the settings of a request: those of its conversation, and what it says itself."""
    where = "" if place.new else place.conversation
    known = hub.memory.settings(where)
    if known is None:
        known = await hub.engine.settings_of(where or None)
        hub.memory.keep_settings(where, known)
    # The client sends its own system prompt; one that was set for chats here is not for it.
    said: dict[str, Json] = {**known, "model": asked.model, "system": None}
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
    return sum(math.ceil(len(part.text) / 3) for part in thoughts)


def surely_fits(asked: Asked, meter: Meter) -> bool:
    """Tell at a glance that a request fits: a token is a byte at least, except in what is only linked to."""
    card = meter.card
    room = card.window - (asked.reply or min(card.max_output, card.window // REPLY_SHARE))
    small = len(asked.raw) * SURE < room
    return small and not any(
        isinstance(part, Image | Attachment | Opaque) for message in asked.messages for part in message.parts
    )


def weigh(hub: Hub, asked: Asked, place: Place, meter: Meter, settings: Mapping[str, Json]) -> Weight:
    """Measure a request as it came, counting only what was not counted before."""
    sums = _sums(hub, asked, place, meter)
    tools = _tools(hub, meter, asked.tools)
    front = lead(asked.messages)
    system = sums[front - 1] if front else 0
    total = meter.unit.frame.request + tools + sums[-1]
    budget = _budget(meter, settings, Overhead(system=system + meter.unit.frame.request, tools=tools))
    hard = budget.hard if budget else _limit(meter, asked)
    if total * ROUGH <= hard:
        return Weight(tokens=total, fits=True, prepare=False, known={})
    if total >= hard * ROUGH:
        return Weight(tokens=total, fits=False, prepare=True, known={})
    before = [0, *sums]
    known = {plain(m): sums[i] - before[i] for i, m in enumerate(asked.messages)}
    reading = meter.read(plain_context(asked), known)
    mark = budget.prepare if budget and budget.prepare is not None else hard
    return Weight(
        tokens=reading.tokens,
        fits=reading.cautious <= hard,
        prepare=reading.cautious > mark,
        known=known,
    )


def plain_context(asked: Asked) -> Context:
    """See a request as the context it is, without thinking, which is counted apart."""
    said = tuple(plain(message) for message in asked.messages)
    front = lead(said)
    return Context(system=said[:front], tools=asked.tools, retained=said[front:])


def _sums(hub: Hub, asked: Asked, place: Place, meter: Meter) -> list[int]:
    """Add up the messages: `[i]` is what the first `i + 1` hold."""
    unit, sums = meter.unit.name, list[int]()
    for message, digest in zip(asked.messages, place.digests, strict=True):
        known = hub.memory.sizes.get((unit, digest))
        if known is None:
            known = (sums[-1] if sums else 0) + meter.count_message(plain(message))
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


def _limit(meter: Meter, asked: Asked) -> int:
    """What may be sent when the window cannot be divided: the provider judges what is close to it."""
    room = meter.card.window - (asked.reply or 0)
    return room if room > 0 else meter.card.window


async def fit(
    hub: Hub,
    dialect: Dialect,
    asked: Asked,
    place: Place,
    tip: str,
    *,
    settings: Mapping[str, Json],
    rules: Rules,
    forced: bool = False,
) -> Fitted:
    """Make a context that fits; raise `ContextOverflow` or `BadBudget` with the sums if there is none."""
    chat = Chat(hub.engine, place.conversation)
    ready: Ready | None = None
    steps = chat.ready(tip, asked.tools, forced=forced, focus=asked.options.focus, override=settings)
    async for step in steps:
        if isinstance(step, Ready):
            ready = step
        else:
            hub.heard(place.conversation, step)
    if ready is None:
        raise ContextOverflow("nothing can be sent", {})
    context = dressed(ready, asked)
    hardened = ready.scene.sent(context, rules)
    return Fitted(
        wired=write(dialect.name, hardened.messages),
        context=ready.context,
        tokens=ready.scene.meter.read(ready.context, ready.scene.counts).tokens,
        compressed=bool(ready.context.summary or ready.context.omitted or ready.notes),
    )


def dressed(ready: Ready, asked: Asked) -> Context:
    """Put what is sent verbatim into the words of this very request."""
    context, recipe = ready.context, ready.scene.recipe
    places = {node.id: node.depth for node in recipe.branch}
    if recipe.carried:
        places[recipe.carried.id] = recipe.carried.depth
    front = len(context.system)

    def own(id: str, message: Message) -> Message:
        said = asked.messages[places[id] - 1]
        # What was shortened to fit, or is shown by head and tail, stays so.
        return said if chain(b"", plain(said)) == chain(b"", message) else message

    ids = context.sent
    return replace(
        context,
        system=tuple(own(*pair) for pair in zip(ids[:front], context.system, strict=True)),
        retained=tuple(own(*pair) for pair in zip(ids[front:], context.retained, strict=True)),
    )
