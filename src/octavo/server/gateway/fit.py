"""A context that fits in the place of a request that does not.

The engine makes it from the stored tree, with the snapshot that is true on this branch. What it retains is sent as
the client wrote it this time, with its own system prompt, cache markers and thinking.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace

from octavo.core.context import Context
from octavo.core.fields import Json
from octavo.core.messages import Message, chain
from octavo.core.protocol import Rules
from octavo.core.wire import Wired, write
from octavo.engine.turn import PreparedRequest, prepare
from octavo.errors import ContextOverflow
from octavo.server.gateway.canon import plain
from octavo.server.gateway.dialect import Asked, Dialect
from octavo.server.hub import Hub


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A context that fits, as it is sent."""

    wired: Wired
    context: Context
    tokens: int
    mark: int
    """The hard mark it had to fit under."""
    compressed: bool


async def fit(
    hub: Hub,
    dialect: Dialect,
    asked: Asked,
    conversation: str,
    tip: str,
    *,
    settings: Mapping[str, Json],
    rules: Rules,
    forced: bool = False,
    spare: int = 0,
) -> Fitted:
    """Make a context that fits; raise `ContextOverflow` or `BadBudget` with the sums if there is none."""
    ready: PreparedRequest | None = None
    focus = asked.options.focus
    steps = prepare(
        hub.engine, conversation, tip, asked.tools, forced=forced, spare=spare, focus=focus, override=settings
    )
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, PreparedRequest):
                ready = step
            else:
                hub.heard(conversation, step)
    if ready is None:
        raise ContextOverflow("nothing can be sent", {})
    hardened = ready.state.sent(dressed(ready, asked), rules)
    return Fitted(
        wired=write(dialect.name, hardened.messages),
        context=ready.context,
        tokens=ready.state.meter.read(ready.context, ready.state.counts).tokens,
        mark=ready.state.budget.hard,
        compressed=bool(ready.context.summary or ready.context.omitted or ready.notes),
    )


def dressed(ready: PreparedRequest, asked: Asked) -> Context:
    """Put what is sent verbatim into the words of this very request."""
    context, recipe = ready.context, ready.state.recipe
    places = {node.id: node.depth for node in recipe.branch}
    if recipe.carried:
        places[recipe.carried.id] = recipe.carried.depth

    def own(id: str, message: Message) -> Message:
        said = asked.messages[places[id] - 1]
        # What was shortened to fit, or is shown by head and tail, stays so.
        return said if chain(b"", plain(said)) == chain(b"", message) else message

    stored = context.system[len(recipe.system) :] + context.retained
    sent = [own(*pair) for pair in zip(context.sent, stored, strict=True)]
    front = len(context.system) - len(recipe.system)
    return replace(context, system=(*asked.system, *sent[:front]), retained=tuple(sent[front:]))
