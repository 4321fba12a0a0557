"""One turn, top to bottom: store, load the state of the tip, decide, compress or shrink, recall, send, keep the answer.

Everything that answers calls this module: the page, the terminal, the library and agents call `take_turn` or `answer`.
The gateway calls `prepare` and sends the request itself. What both do after a refusal is in `octavo.engine.overflow`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from octavo.core.budget import ModelCard
from octavo.core.context import Context
from octavo.core.harden import Repair
from octavo.core.message_json import Json
from octavo.core.messages import Message, Node, user
from octavo.core.policy import Compress, Keep, Prepare, Shrink, decide
from octavo.core.recall.passages import Passages
from octavo.core.reply import Delta, Reply, Request, Retrying, Usage
from octavo.core.tools import Tool
from octavo.engine.accept import Accepted
from octavo.engine.answer_draft import AnswerDraft
from octavo.engine.answer_notes import AnswerNotes, keep_answer_notes
from octavo.engine.compression import FOR_LINES, WAITED_FOR, CompressionRequest, takes_long
from octavo.engine.models import close_stream
from octavo.engine.outcome import (
    Answered,
    AnswerFailed,
    AnswerText,
    ContextShrunk,
    ContextUsage,
    Event,
    MessageStored,
    Repaired,
    Sending,
    Waiting,
)
from octavo.engine.overflow import OverflowRetry, leave_free
from octavo.engine.recall import recall
from octavo.engine.recall_tool import RESERVE, offered_tools, stream_with_tool
from octavo.engine.state import NOTHING, Revision, TipState
from octavo.errors import NotFound, ProviderError, UsageError, WindowExceeded
from octavo.store.values import CACHED, TIP, Added, Entry

if TYPE_CHECKING:
    from octavo.engine.engine import Engine

GO_ON = "[Your answer broke off here. Go on exactly where it stopped, and repeat nothing.]"
"""The instruction to a model that has to go on with an answer. It is sent and not stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOptions:
    """How a turn is answered."""

    tools: tuple[Tool, ...] = ()
    temperature: float | None = None
    select: bool = True
    """Whether the tip moves to the answer."""
    id: str | None = None
    """The id under which the answer is stored."""


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A context that fits, and the very messages that are sent."""

    state: TipState
    context: Context
    messages: tuple[Message, ...]
    usage: ContextUsage
    """What the request costs as it is sent: with what was recalled, shrunk or repaired."""
    repairs: tuple[Repair, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def recalled(self) -> Passages:
        """What was recalled for the message that waits for an answer, and is sent."""
        given_up = self.context is not self.state.context and bool(self.notes)
        return () if given_up else self.state.loaded.recalled.get(self.state.tip, ())


async def take_turn(
    engine: Engine, conversation: str, said: Accepted, options: TurnOptions
) -> AsyncGenerator[Event]:
    """Store a user's message and answer it; yields what happens."""
    node, revision = await store_message(engine, conversation, said)
    yield MessageStored(node)
    async with aclosing(answer(engine, conversation, node.id, options, revision)) as answering:
        async for event in answering:
            yield event


async def store_message(
    engine: Engine, conversation: str, said: Accepted, parent: str | None = TIP, id: str | None = None
) -> tuple[Node, Revision]:
    """Count and store a message; gives its node, and the settings and the revision that hold for it."""
    settings = await engine.settings.of(conversation)
    meter = await engine.models.meter(str(settings.get("model") or ""))
    usage = said.usage
    entry = Entry(
        message=said.message,
        id=id,
        counts={meter.unit.name: meter.count_message(said.message)},
        input_tokens=usage.input if usage else None,
        output_tokens=usage.output if usage else None,
        model=said.model,
    )
    added = await engine.store.messages.add(conversation, [entry], parent=parent)
    engine.states.grow(conversation, added, meter)
    return added.nodes[0], Revision(settings, added.revision)


async def answer(
    engine: Engine, conversation: str, tip: str | None, options: TurnOptions, revision: Revision | None = None
) -> AsyncGenerator[Event]:
    """Answer a tip. A request that the provider finds too large all the same is made smaller and sent again."""
    settings = revision.settings if revision else await engine.settings.of(conversation)
    # The provider is opened first: without a key, all further work would be in vain.
    engine.models.provider(str(settings.get("model") or ""))
    retry = OverflowRetry(engine.models, str(settings.get("model") or ""))
    while True:
        prepared: PreparedRequest | None = None
        again = retry.refusals > 0
        known = None if again else revision
        steps = prepare(
            engine, conversation, tip, options.tools, forced=again, spare=retry.spare, revision=known
        )
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, PreparedRequest):
                    prepared = step
                else:
                    yield step
        if prepared is None:
            raise NotFound("the conversation is empty: add a message first")
        yield Sending(prepared.usage)
        count_in_background(engine, prepared)
        state, tokens = prepared.state, prepared.usage.reading.tokens
        try:
            async with aclosing(_send(engine, prepared, options)) as sending:
                async for event in sending:
                    if isinstance(event, Answered) and retry.refusals:
                        await retry.accepted(tokens, event.reply.usage.input, state.budget.reply)
                    yield event
            return
        except WindowExceeded as error:
            if not await retry.refused(error, prepared.context, state.counts, tokens, state.budget.hard):
                yield AnswerFailed(str(error), "window_exceeded", retryable=False)
                return


async def prepare(
    engine: Engine,
    conversation: str,
    tip: str | None,
    tools: tuple[Tool, ...] = (),
    *,
    forced: bool = False,
    spare: int = 0,
    focus: str = "",
    override: Mapping[str, Json] = NOTHING,
    revision: Revision | None = None,
) -> AsyncGenerator[Event | PreparedRequest]:
    """Make the context of a tip fit; what fits comes last, and nothing comes if there is no message yet.

    `forced`: the provider found too large what we thought fits. `spare`: tokens to leave free beyond the usual margin.
    `override` are settings for this time only; `revision` is what the caller has just found out, and need not be read
    again.
    """
    if tip is None:
        return

    async def load() -> TipState:
        return _spared(await engine.state_of(conversation, tip, tools=tools, override=override), spare)

    # The revision of a message that was just stored is known, so nothing need be read again.
    known = engine.states.load(conversation, tip, revision, tools=tools) if revision else None
    state = _spared(await known, spare) if known else await load()
    too_large = forced
    match decide(state.policy, state.budget, state.reading, engine.decision_inputs(state)):
        case Keep() | Prepare():
            pass  # what is prepared is prepared in the background, after the answer
        case Compress(urgency="hard"):
            async with aclosing(_compress_now(engine, state, focus, load)) as compressing:
                async for step in compressing:
                    if isinstance(step, TipState):
                        state = step
                    else:
                        yield step
            too_large = forced or state.reading.cautious > state.budget.hard
        case Compress():
            pass  # between turns: after the answer
        case Shrink():
            too_large = True
        case other:
            assert_never(other)
    prepared, done = await _build_request(engine, state, too_large=too_large)
    for event in done:
        yield event
    yield prepared


def _spared(state: TipState, spare: int) -> TipState:
    """Leave tokens free, and room for what the model may search for."""
    spare += RESERVE if state.searches else 0
    return leave_free(state, spare) if spare else state


async def _compress_now(
    engine: Engine, state: TipState, focus: str, load: Callable[[], Awaitable[TipState]]
) -> AsyncGenerator[Event | TipState]:
    """Compress while the turn waits, or wait for a compression that is under way; the new state comes last.

    What would take minutes is begun, and not waited for: until it is done, requests are shrunk.
    """
    if takes_long(state):
        engine.compress_in_background(state)
        yield state
        return
    until = asyncio.get_running_loop().time() + WAITED_FOR
    if engine.is_compressing(state.conversation):
        yield Waiting()
        await engine.wait_until_idle(state.conversation, WAITED_FOR - FOR_LINES)
        state = await load()
    if state.reading.cautious > state.budget.hard:
        request = CompressionRequest(urgency="hard", focus=focus, until=until)
        async with aclosing(engine.run_compression(state, request)) as compressing:
            async for event in compressing:
                yield event
        state = await load()
    yield state


async def _build_request(
    engine: Engine, state: TipState, *, too_large: bool
) -> tuple[PreparedRequest, list[Event]]:
    """Build what is sent: with what the question recalls, or shrunk without a model if it is too large."""
    done = list[Event]()
    if not too_large and state.loaded.snapshot is not None:
        state, recalled = await recall(engine, state)
        done += [recalled] if recalled else []
    context, notes, usage = state.context, tuple[str, ...](), state.usage
    if too_large:
        shrunk, usage = state.shrunk()
        context, notes = shrunk.context, shrunk.notes
        if notes:
            done.append(ContextShrunk(notes=notes, before=state.reading.tokens, after=usage.reading.tokens))
    if any(map(is_unfinished, (state.added or state.loaded.branch)[-1:])):
        context = replace(context, pending=(user(GO_ON),))
        usage = state.gauge(state.meter.read(context, state.counts))
    hardened = state.sent(context, engine.rules_of(state.model))
    if len(hardened.messages) <= len(state.loaded.system):
        raise UsageError(
            "there is nothing to answer: every message here was deleted or is empty; say something first"
        )
    if hardened.faults:
        done.append(Repaired(hardened.faults))
    return PreparedRequest(state, context, hardened.messages, usage, hardened.repairs, notes), done


def is_unfinished(node: Node) -> bool:
    """Tell whether a message is an answer that broke off."""
    return node.status == "aborted" and node.message.role == "assistant"


def count_in_background(engine: Engine, prepared: PreparedRequest) -> None:
    """Have the provider count a request in the background, unless a bill for such a request is known.

    A shrunk one is not counted: it is sent too seldom.
    """
    state = prepared.state
    if prepared.context is state.context and not state.meter.knows(state.survey):
        engine.counts.begin(state, prepared.messages)


async def _send(engine: Engine, prepared: PreparedRequest, options: TurnOptions) -> AsyncGenerator[Event]:
    """Send a request, pass on what the model says, and store it as far as it comes."""
    state = prepared.state
    request = Request(
        model=engine.models.name(state.model),
        messages=prepared.messages,
        tools=offered_tools(state) if state.searches else state.loaded.tools,
        max_output=state.budget.reply,
        temperature=options.temperature,
        # The next request repeats all of this one, but for what is said to a model that is to go on with an answer.
        stable=len(prepared.messages) - bool(prepared.context.pending),
        snapshot=_front(engine, prepared),
        cache_key=state.conversation,
    )
    draft = AnswerDraft(
        store=engine.store,
        worker=engine.worker,
        conversation=state.conversation,
        parent=state.tip,
        id=options.id,
        model=state.model,
    )
    reply: Reply | None = None
    provider = engine.models.provider(state.model)
    stream = (
        stream_with_tool(engine, state, provider, request) if state.searches else provider.stream(request)
    )
    draft.begin()
    try:
        async for chunk in stream:
            match chunk:
                case Reply():
                    reply = chunk
                case Retrying():
                    yield chunk
                case Delta(text, kind):
                    if kind == "text":
                        draft.said.append(text)
                    yield AnswerText(text, kind)
                case other:
                    assert_never(other)
    except ProviderError as error:
        if isinstance(error, WindowExceeded) and not draft.said:
            raise
        kept = await draft.stop(select=options.select)
        node = kept.nodes[0] if kept else None
        yield AnswerFailed(str(error), type(error).__name__, error.retryable, node)
        return
    except (asyncio.CancelledError, GeneratorExit):
        await asyncio.shield(draft.stop(select=options.select))
        raise
    finally:
        await draft.end()
        await close_stream(stream)
    if reply is None:
        kept = await draft.stop(select=options.select)
        node = kept.nodes[0] if kept else None
        yield AnswerFailed("the provider ended without an answer", "BadReply", retryable=True, node=node)
        return
    added = await _keep(engine, prepared, reply, draft, select=options.select)
    (node,) = added.nodes
    yield Answered(node, reply)
    revision = Revision(state.settings, added.revision)
    after = await engine.states.load(state.conversation, node.id, revision, tools=state.loaded.tools)
    engine.compress_in_background(after)
    engine.title_in_background(after)


def _front(engine: Engine, prepared: PreparedRequest) -> int:
    """Count the messages up to the end of the snapshot, as they are sent."""
    context = prepared.context
    if not context.summary:
        return 0
    front = replace(context, retained=(), pending=(), sent=())
    return len(prepared.state.sent(front, engine.rules_of(prepared.state.model)).messages)


async def _keep(
    engine: Engine, prepared: PreparedRequest, reply: Reply, draft: AnswerDraft, *, select: bool
) -> Added:
    """Store an answer, and learn from its bill."""
    state, models = prepared.state, engine.models
    entry = Entry(
        message=reply.message,
        counts={state.meter.unit.name: state.meter.count_message(reply.message)}
        | cached_count(reply.usage, state.meter.card),
        input_tokens=reply.usage.input or None,
        output_tokens=reply.usage.output or None,
        model=reply.model or state.model,
        # An answer that reached its longest can be continued, like any other that broke off.
        status="aborted" if reply.finish == "length" else "complete",
    )
    added = await draft.finish(entry, select=select)
    cut = reply.finish == "length"
    if prepared.notes or cut:
        notes = AnswerNotes(left_out=prepared.notes, cut=cut)
        await keep_answer_notes(engine.store, state.conversation, added.nodes[0].id, notes)
    if not state.searches:  # what the tool adds to a bill was not counted
        await learn_bill(engine, prepared, reply.usage.input)
    engine.states.billed(state.conversation, entry.model or "", reply.usage)
    engine.states.grow(state.conversation, added, await models.meter(state.model))
    return added


async def learn_bill(engine: Engine, prepared: PreparedRequest, billed: int) -> None:
    """Calibrate the counts by what the provider billed for a request."""
    state = prepared.state
    sent = state.survey
    if prepared.context is not state.context:
        sent = state.meter.survey(prepared.context, state.counts)
    await engine.models.learn_bill(state.model, sent, billed)


def cached_count(usage: Usage, card: ModelCard) -> dict[str, int]:
    """Give the tokens of a bill that came from the cache, to store them, if the card has a price for them."""
    told = usage.input > 0 and card.price is not None and card.price.cached is not None
    return {CACHED: min(usage.cached, usage.input)} if told else {}


async def question_of(engine: Engine, conversation: str, node: str) -> Node:
    """Give the user's message that an answer belongs to; `UsageError` if there is none any more."""
    await engine.require(conversation, node)
    for above in reversed(await engine.store.tree.branch(node, previews=True)):
        if above.message.role == "user":
            if above.status == "deleted":
                raise UsageError("the question of this answer was deleted; ask it again to have it answered")
            return above
    raise UsageError("there is no question above this message to answer again")
