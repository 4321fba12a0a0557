"""What one request sends: the history of a framework, with its older part replaced by the snapshot of its branch.

The engine finds the branch by its content, stores what is new, and makes a context that fits, as it does for a turn of
a chat and for a request of the gateway. What is kept are the very objects of the framework; new ones stand only for the
snapshot and for messages that had to be changed. No trouble here reaches the agent: it is logged, and the newest
messages that fit are sent, with calls and results together.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypedDict, TypeVar

from octavo.core.context import Context, ContextInputs
from octavo.core.harden import harden
from octavo.core.json_values import Json, compact
from octavo.core.lru_cache import LruCache
from octavo.core.messages import Branch, Message, ToolCall, opens_turn, place, system
from octavo.core.policy import budget_for, preset
from octavo.core.protocol import OPENAI, Rules
from octavo.core.recall.size import wanted
from octavo.core.shrink import shrink
from octavo.core.tools import Tool
from octavo.core.wire import Format
from octavo.engine.accept import check_options
from octavo.engine.engine import Engine
from octavo.engine.history import StoredHistory, in_callers_words, store_history
from octavo.engine.recall_tool import NAME as RECALL
from octavo.engine.recall_tool import RecallAnswerer
from octavo.engine.settings import check_setting
from octavo.engine.state import Revision, TipState
from octavo.engine.turn import PreparedRequest, learn_bill, prepare
from octavo.errors import BadBudget, BadInput, ContextOverflow
from octavo.integrations.shared_engine import SharedEngine, shared_engine
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter

log = logging.getLogger("octavo.integrations")

ANY_MODEL = "gpt-4o"
"""Whose tokenizer counts where a framework does not say which model is asked."""

UNBILLED = 100
"""Requests that wait for their bills: more than one process asks at a time, and some never come."""

BETWEEN_TURNS = 2.0
"""Seconds that a new question waits for a compression: exact lines of a full window take a tenth of one."""

T = TypeVar("T")


class ViewOptions(TypedDict, total=False):
    """What every drop-in may be told."""

    model: str
    """The model that answers; by default what the framework says."""
    window: int
    """Tokens that the model accepts; by default what its card says."""
    reply: int
    """Tokens kept free for the answer; by default what the framework says, or the model's card."""
    policy: str
    """When to compress and how much stays: `octavo`, `onyx`, `wave`, `requirements`, `gemini`."""
    summariser: str
    """The model that writes summaries, or `same`; by default exact lines stand alone, and no model is asked."""
    owner: str
    """Whose conversations these are, where several people share a database."""


@dataclass(frozen=True, slots=True)
class HistoryItem(Generic[T]):
    """A message, and the objects of the framework that it was read from."""

    message: Message
    objects: tuple[T, ...]


@dataclass(frozen=True, slots=True)
class ViewItem(Generic[T]):
    """A message that is sent."""

    message: Message
    objects: tuple[T, ...] = ()
    """The objects of the framework that the message was; none for a snapshot."""
    kept: bool = False
    """Whether these are sent as they are; else they were changed, and the message says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRequest(Generic[T]):
    """What a framework is about to send."""

    history: Sequence[HistoryItem[T]]
    model: str = ""
    system: str = ""
    """The system prompt, which is counted, and which the framework sends itself."""
    tools: tuple[Tool, ...] = ()
    reply: int | None = None
    """Tokens that the framework reserves for the answer."""
    format: Format = "openai"
    """The wire format that the messages were read from."""
    rules: Rules | None = None
    """What the framework demands of messages; None: what the provider of the model demands."""

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(item.message for item in self.history)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeView(Generic[T]):
    """What is sent, and what it took."""

    items: tuple[ViewItem[T], ...]
    compressed: bool = False
    """Whether a snapshot stands for the older part, or something was shortened or left out."""
    tokens: int = 0
    """Tokens of the request, with system prompt and tools."""
    failed: bool = False
    """Whether the newest messages are sent because something went wrong."""
    prepared: PreparedRequest | None = None
    """What a bill for the view tells about."""


@dataclass(slots=True)
class ContextView:
    """Makes the views of one drop-in."""

    engine: SharedEngine
    options: ViewOptions = field(default_factory=ViewOptions)
    unbilled: LruCache[str, PreparedRequest] = field(default_factory=lambda: LruCache(UNBILLED))
    """Requests whose bill comes in another hook, by what names them there."""

    @classmethod
    def open(
        cls, name: str, store: str | Path | None, options: ViewOptions, *, more: Sequence[str] = ()
    ) -> ContextView:
        """Check the options of the drop-in `name`; the database is opened with its first request."""
        check_options(name, options, {*ViewOptions.__optional_keys__, "store", *more})
        for key in ("policy", "summariser", "reply"):
            check_setting(key, _option(options, key))
        if (policy := options.get("policy")) is not None:
            preset(policy)
        window = options.get("window")
        if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window <= 0):
            raise BadInput("window", f"expected a number of tokens above 0, got {window!r}")
        return cls(shared_engine(store), options)

    def view(self, request: ViewRequest[T]) -> MadeView[T]:
        """Give what is sent in place of a history."""
        request = self._complete(request)
        if not request.history:
            return MadeView(items=())
        try:
            return self.engine.run(lambda engine: self._view(engine, request))
        except Exception as error:
            log.warning(TROUBLE, error, exc_info=True)
            return newest_that_fit(request, self.options.get("window"))

    async def aview(self, request: ViewRequest[T]) -> MadeView[T]:
        """Do what `view` does, inside an event loop."""
        request = self._complete(request)
        if not request.history:
            return MadeView(items=())
        try:
            return await self.engine.arun(lambda engine: self._view(engine, request))
        except Exception as error:
            log.warning(TROUBLE, error, exc_info=True)
            return newest_that_fit(request, self.options.get("window"))

    def learn(self, view: MadeView[T], billed: object) -> None:
        """Count better from now on, by the tokens that the provider billed for a view, if the framework says."""
        if view.prepared is not None and isinstance(billed, int) and billed > 0:
            prepared, tokens = view.prepared, billed
            try:
                self.engine.run(lambda engine: learn_bill(engine, prepared, tokens))
            except Exception as error:
                log.warning(UNLEARNED, error, exc_info=True)

    async def alearn(self, view: MadeView[T], billed: object) -> None:
        """Do what `learn` does, inside an event loop."""
        if view.prepared is not None and isinstance(billed, int) and billed > 0:
            prepared, tokens = view.prepared, billed
            try:
                await self.engine.arun(lambda engine: learn_bill(engine, prepared, tokens))
            except Exception as error:
                log.warning(UNLEARNED, error, exc_info=True)

    def expect_bill(self, name: str, view: MadeView[T]) -> None:
        """Remember a view whose bill comes in another hook, where it is known by `name`."""
        if view.prepared is None:
            self.unbilled.pop(name)
        else:
            self.unbilled.put(name, view.prepared)

    async def billed(self, name: str, tokens: object) -> None:
        """Learn from the bill for the view that is known by `name`."""
        if tokens and (prepared := self.unbilled.pop(name)) is not None:
            await self.alearn(MadeView(items=(), prepared=prepared), tokens)

    def recall(self, request: ViewRequest[T], query: str, message: str = "") -> str:
        """Search what the snapshot of a history covers, or read one message of it."""
        return self.engine.run(lambda engine: self._recall(engine, self._complete(request), query, message))

    async def arecall(self, request: ViewRequest[T], query: str, message: str = "") -> str:
        """Do what `recall` does, inside an event loop."""
        request = self._complete(request)
        return await self.engine.arun(lambda engine: self._recall(engine, request, query, message))

    def _complete(self, request: ViewRequest[T]) -> ViewRequest[T]:
        model = self.options.get("model") or request.model or ANY_MODEL
        return replace(request, model=model, reply=self.options.get("reply") or request.reply)

    async def _view(self, engine: Engine, request: ViewRequest[T]) -> MadeView[T]:
        ready = await self._prepare(engine, request)
        engine.compress_in_background(ready.state)
        return _items(ready, request, request.rules or engine.rules_of(request.model))

    async def _prepare(self, engine: Engine, request: ViewRequest[T]) -> PreparedRequest:
        if (window := self.options.get("window")) is not None:
            await engine.models.set_window(request.model, window)
        owner = self.options.get("owner", "")
        assert self.engine.storing is not None
        async with self.engine.storing:
            stored = await store_history(
                engine, owner, request.messages, request.format, request.model, request.system
            )
        settings = self._settings(request)
        changed = await _compress_between_turns(engine, stored, request, settings)
        revision = None
        if stored.revision is not None and not changed:
            known = await engine.settings.of(stored.conversation)
            revision = Revision({**known, **settings}, stored.revision)
        steps = prepare(
            engine,
            stored.conversation,
            stored.tip,
            request.tools,
            override=settings,
            revision=revision,
        )
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, PreparedRequest):
                    return step
        raise ContextOverflow("nothing can be sent", {})

    def _settings(self, request: ViewRequest[T]) -> dict[str, Json]:
        said: dict[str, Json] = {"model": request.model, "system": request.system or None}
        if request.reply is not None:
            said["reply"] = request.reply
        return said | {
            key: value for key in ("policy", "summariser") if (value := _option(self.options, key))
        }

    async def _recall(self, engine: Engine, request: ViewRequest[T], query: str, message: str) -> str:
        ready = await self._prepare(engine, request)
        asked: dict[str, Json] = {"message": message} if message else {"query": query}
        call = ToolCall(id="recall", name=RECALL, input=compact(asked))
        answered = await RecallAnswerer(engine=engine, state=ready.state).answer(
            Message(role="assistant", parts=(call,))
        )
        return "\n".join(result.text for result in answered.results)


async def _compress_between_turns(
    engine: Engine, stored: StoredHistory, request: ViewRequest[T], settings: Mapping[str, Json]
) -> bool:
    """Compress what the last turns left behind before a new question is sent; tells whether a mark asked for it.

    A framework tells of an answer only with its next request. Then it is too late to compress behind the answer, and
    what the question asks for would find no room. A model that writes a summary may take longer than this waits: its
    work goes on in the background.
    """
    if not opens_turn(request.messages[-1]):
        return False
    if not engine.is_compressing(stored.conversation):
        state = await engine.state_of(stored.conversation, stored.tip, tools=request.tools, override=settings)
        engine.compress_in_background(state, ahead=_recall_room(state))
    task = engine.record(stored.conversation).task
    if task is None or task.done():
        return False
    await asyncio.wait([task], timeout=BETWEEN_TURNS)
    return True


def _recall_room(state: TipState) -> int:
    """Tokens that a question may take for what it recalls: none where nothing is covered yet."""
    return wanted(state.policy.recall, state.budget) if state.loaded.snapshot else 0


UNLEARNED = "nothing was learned from a bill, because Octavo failed: %s"
TROUBLE = "the newest messages are sent without a snapshot, because Octavo failed: %s"


def _option(options: ViewOptions, key: str) -> Json:
    value: Json = dict(options).get(key)  # type: ignore[assignment]
    return value


def _items(ready: PreparedRequest, request: ViewRequest[T], rules: Rules) -> MadeView[T]:
    """Turn a context into objects of the framework, and into messages where there are none."""
    context = in_callers_words(ready, (), request.messages)
    recipe = ready.state.recipe
    branch = recipe.carried + recipe.branch
    hardened = ready.state.sent(context, rules).messages
    return MadeView(
        items=_matched(context, branch, hardened, request.history),
        compressed=bool(ready.context.summary or ready.context.omitted or ready.notes),
        tokens=ready.usage.reading.tokens,
        prepared=ready,
    )


def _matched(
    context: Context, branch: Branch, sent: Sequence[Message], history: Sequence[HistoryItem[T]]
) -> tuple[ViewItem[T], ...]:
    """Find the objects of the messages that are sent.

    A message that was laid out for the provider, such as two that were joined, is a new one.
    """
    depths = {node.id: node.depth for node in branch}
    places: dict[Message, deque[int]] = {}
    for node, message in zip(context.sent, context.system + context.retained, strict=True):
        places.setdefault(message, deque()).append(depths[node] - 1)

    def found(message: Message) -> ViewItem[T]:
        where = places.get(message)
        if not where:
            return ViewItem(message)
        source = history[where.popleft()]
        return ViewItem(message, source.objects, kept=message == source.message)

    return tuple(map(found, sent))


def newest_that_fit(request: ViewRequest[T], window: int | None = None) -> MadeView[T]:
    """Give the newest messages that fit, without a database; all of them if not even the last ones do."""
    branch = place(request.messages)
    front = (system(request.system),) if request.system.strip() else ()
    try:
        card = find_card(request.model)
        meter = Meter(replace(card, window=window) if window else card)
        budget = budget_for(preset("octavo"), meter.card, reply=request.reply)

        def measure(context: Context) -> int:
            return meter.read(replace(context, system=(*front, *context.system))).cautious

        context = shrink(ContextInputs(branch=branch, tools=request.tools), budget.hard, measure).context
    except (ContextOverflow, BadBudget):
        kept = tuple(ViewItem(item.message, item.objects, kept=True) for item in request.history)
        return MadeView(items=kept, failed=True)
    hardened = harden(context.messages, request.rules or OPENAI).messages
    items = _matched(context, branch, hardened, request.history)
    return MadeView(items=items, compressed=bool(context.omitted), failed=True)
