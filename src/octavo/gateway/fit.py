"""A context that fits in the place of a request that does not.

The engine makes it from the stored tree, with the snapshot that is true on this branch. What it retains is sent as
the client wrote it this time, with its own system prompt, cache markers and thinking.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

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
    chain,
    last_turn,
    system,
)
from octavo.core.policy import Compress, Decision, Keep, Policy, budget_for, decide
from octavo.core.protocol import Rules
from octavo.core.tools import Tool
from octavo.core.wire import Wired, write
from octavo.engine.settings import policy_of
from octavo.engine.turn import PreparedRequest, prepare
from octavo.errors import BadBudget, ContextOverflow
from octavo.gateway.dialects.dialect import ClientRequest, Dialect
from octavo.gateway.gateway import Gateway
from octavo.gateway.identify import BranchMatch, canonical, digests_of, without_reasoning
from octavo.meters.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedContext:
    """A context that fits, as it is sent."""

    wired: Wired
    context: Context
    tokens: int
    mark: int
    """The hard mark it had to fit under."""
    compressed: bool


async def fit(
    gateway: Gateway,
    dialect: Dialect,
    request: ClientRequest,
    conversation: str,
    tip: str,
    *,
    settings: Mapping[str, Json],
    rules: Rules,
    forced: bool = False,
    spare: int = 0,
) -> FittedContext:
    """Make a context that fits; raise `ContextOverflow` or `BadBudget` with the sums if there is none."""
    ready: PreparedRequest | None = None
    focus = request.options.focus
    steps = prepare(
        gateway.engine,
        conversation,
        tip,
        request.tools,
        forced=forced,
        spare=spare,
        focus=focus,
        override=settings,
    )
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, PreparedRequest):
                ready = step
            else:
                gateway.host.announce(conversation, step)
    if ready is None:
        raise ContextOverflow("nothing can be sent", {})
    hardened = ready.state.sent(with_client_wording(ready, request), rules)
    return FittedContext(
        wired=write(dialect.name, hardened.messages),
        context=ready.context,
        tokens=ready.state.meter.read(ready.context, ready.state.counts).tokens,
        mark=ready.state.budget.hard,
        compressed=bool(ready.context.summary or ready.context.omitted or ready.notes),
    )


def with_client_wording(ready: PreparedRequest, request: ClientRequest) -> Context:
    """Put what is sent verbatim into the words of this very request."""
    context, recipe = ready.context, ready.state.recipe
    places = {node.id: node.depth for node in recipe.branch}
    if recipe.carried:
        places[recipe.carried.id] = recipe.carried.depth

    def own(id: str, message: Message) -> Message:
        said = request.messages[places[id] - 1]
        # What was shortened to fit, or is shown by head and tail, stays so.
        return said if chain(b"", canonical(said)) == chain(b"", message) else message

    stored = context.system[len(recipe.system) :] + context.retained
    sent = [own(*pair) for pair in zip(context.sent, stored, strict=True)]
    front = len(context.system) - len(recipe.system)
    return replace(context, system=(*request.system, *sent[:front]), retained=tuple(sent[front:]))


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


async def load_vocabulary(meter: Meter) -> Meter:
    """Load a meter's vocabulary, outside of the event loop if it is not there yet."""
    if "unit" not in meter.__dict__:
        await asyncio.to_thread(lambda: meter.unit)
    return meter


async def settings_for(gateway: Gateway, request: ClientRequest, branch: BranchMatch) -> dict[str, Json]:
    """Resolve the settings of a request: those of its conversation, and what it says itself."""
    where = "" if branch.new else branch.conversation
    known = gateway.cache.settings(where)
    if known is None:
        known = await gateway.engine.settings.of(where or None)
        gateway.cache.keep_settings(where, known)
    # The system prompt is the client's own, also when it has none: one that was set here is for chats here.
    said: dict[str, Json] = {**known, "model": request.model, "system": request.prompt or None}
    if request.reply is not None:
        said["reply"] = request.reply + reasoning_tokens(request)
    if request.options.policy:
        said["policy"] = request.options.policy
    return said


def reasoning_tokens(request: ClientRequest) -> int:
    """Guess the tokens of thinking in the turn that goes on: it is sent back, and stored counts leave it out."""
    start = last_turn(request.messages) or 0
    thoughts = (
        part for message in request.messages[start:] for part in message.parts if isinstance(part, Reasoning)
    )
    return sum(math.ceil(len(part.text) / THOUGHT) for part in thoughts)


def usual_reply(card: ModelCard) -> int:
    """What is left for an answer when the client does not say."""
    return min(card.max_output, card.window // REPLY_SHARE)


def surely_fits(request: ClientRequest, meter: Meter) -> bool:
    """Tell at a glance that a request fits: a token is a byte at least, except in what is only linked to."""
    room = meter.card.window - (request.reply or usual_reply(meter.card))
    small = len(request.raw) * SURE < room
    return small and not any(_weighs_more(part) for message in request.messages for part in message.parts)


def _weighs_more(part: Part) -> bool:
    """Tell whether a part may have more tokens than its address has letters."""
    if isinstance(part, ToolResult):
        return any(_weighs_more(piece) for piece in part.content)
    return isinstance(part, Image | Attachment | Opaque)


def measure_request(
    gateway: Gateway, request: ClientRequest, branch: BranchMatch, meter: Meter, settings: Mapping[str, Json]
) -> RequestSize:
    """Measure a request as it came, counting only what was not counted before."""
    sums = _sums(gateway, meter, request.messages, branch.digests)
    prompt = _sums(gateway, meter, request.system, digests_of(request.system))[-1:]
    frame, tools = meter.unit.frame.request, _tools(gateway, meter, request.tools)
    overhead = Overhead(system=sum(prompt) + frame, tools=tools)
    total = overhead.total + sums[-1]
    budget = _budget(meter, settings, overhead)
    limit = budget.hard if budget else _room(meter, request)
    if not limit / ROUGH < total < limit * ROUGH:
        return RequestSize(reading=Reading(tokens=total), budget=budget, limit=limit, known={})
    before = [0, *sums]
    known = {without_reasoning(m): sums[i] - before[i] for i, m in enumerate(request.messages)}
    return RequestSize(
        reading=meter.read(request_context(request), known), budget=budget, limit=limit, known=known
    )


def decide_request(size: RequestSize, policy: Policy) -> Decision:
    """Decide about a request as it came, by the rule that every turn follows.

    Where the window cannot be divided there are no marks, and the provider judges what is close to its window.
    """
    if size.budget is not None:
        return decide(policy, size.budget, size.reading)
    tokens = size.reading.cautious
    return Keep("fits") if tokens <= size.limit else Compress("hard", "mark", tokens, size.limit)


def request_context(request: ClientRequest) -> Context:
    """See a request as the context it is, without thinking."""
    return Context(
        system=(system(request.prompt),) if request.prompt.strip() else (),
        tools=request.tools,
        retained=tuple(without_reasoning(message) for message in request.messages),
    )


def _sums(gateway: Gateway, meter: Meter, messages: Sequence[Message], digests: Sequence[bytes]) -> list[int]:
    """Add messages up: `[i]` is what the first `i + 1` hold."""
    unit, sums = meter.unit.name, list[int]()
    for message, digest in zip(messages, digests, strict=True):
        known = gateway.cache.sizes.get((unit, digest))
        if known is None:
            known = (sums[-1] if sums else 0) + meter.count_message(without_reasoning(message))
            gateway.cache.sizes.put((unit, digest), known)
        sums.append(known)
    return sums


def _tools(gateway: Gateway, meter: Meter, tools: tuple[Tool, ...]) -> int:
    if not tools:
        return 0
    key = (meter.unit.name, tools)
    known = gateway.cache.tools.get(key)
    if known is None:
        known = meter.count_tools(tools)
        gateway.cache.tools.put(key, known)
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


def _room(meter: Meter, request: ClientRequest) -> int:
    """What the window holds besides the answer, if there is anything besides it."""
    room = meter.card.window - (request.reply or 0)
    return room if room > 0 else meter.card.window
