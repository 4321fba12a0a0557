"""Opens a store and models, hands out conversations, and looks after compressions in the background."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, Unpack, cast

from octavo.core.budget import Price
from octavo.core.message_json import Json
from octavo.core.policy import (
    CALM,
    Compress,
    DecisionInputs,
    FailureStreak,
    LastCompression,
    Prepare,
    compressed,
    decide,
    failed,
)
from octavo.core.price_rule import cache_prices
from octavo.core.protocol import ANTHROPIC, COMPATIBLE, GEMINI, OPENAI, Rules
from octavo.core.recall.rank import Ranker, Statistics
from octavo.core.snapshot import Snapshot
from octavo.core.tools import Tool
from octavo.core.wire import Format
from octavo.engine.accept import check_options
from octavo.engine.attempt import Attempt, attempt_of
from octavo.engine.chat import Chat
from octavo.engine.compression import CompressionRequest, CompressionTools, compress
from octavo.engine.outcome import (
    Cancelled,
    Compressed,
    CompressionEnded,
    CompressionStarted,
    Event,
    Failed,
    Outcome,
    Preparing,
    Rejected,
    Skipped,
    Unwritten,
    one_line,
)
from octavo.engine.read_ahead import ReadAhead
from octavo.engine.retelling import retell, retells
from octavo.engine.settings import MODEL_FREE, SAME, SettingLevels
from octavo.engine.spending import SPENDING, Spending, requests_of, share_of
from octavo.engine.state import NOTHING, Revision, TipState
from octavo.engine.state_cache import TipStateCache
from octavo.engine.titles import write_title
from octavo.engine.worker import WorkerPool
from octavo.errors import NotFound, OctavoError, ReadOnly, UnknownModel, UsageError
from octavo.protocols import Provider, Summariser
from octavo.store.ids import new_id
from octavo.store.values import Conversation, ForConversation

if TYPE_CHECKING:
    from octavo.engine.models import Models
    from octavo.engine.remote_count import RemoteCounts
    from octavo.store.store import Store
    from octavo.store.transfer.formats import Format as FileFormat

log = logging.getLogger(__name__)

COUNTED = 100
"""Conversations of an import that are counted in the background: more than anybody opens soon."""

UNSET = "no model was asked: none is set as the summariser"
UNTOLD = "no model retells these messages at once (the embedded one tries in the background)"

LOOKED_AGAIN = 5.0
"""Seconds between two looks at idle conversations at least."""
TITLED = 4
"""Messages up to which a title is written: what failed after the first answer is tried again after the second."""
REMEMBERED = 2_000
"""Conversations of which it is remembered how their last compressions went: about a kilobyte each."""


class Hook(Protocol):
    """A listener of your own that takes part in compressions. A hook that fails never breaks a turn."""

    async def before(self, chat: Chat, request: CompressionRequest) -> str | Literal[False] | None:
        """Give further instructions, or False to veto, or None."""

    async def after(self, chat: Chat, outcome: Outcome) -> None:
        """Learn how it ended."""


class EngineOptions(TypedDict, total=False):
    """The options of an engine; see `Engine`."""

    model: str
    provider: Provider | None
    summariser: Summariser | str | None
    policy: str
    hooks: Sequence[Hook]
    listen: Callable[[str, Event], None] | None
    ranker: Callable[[Statistics], Ranker] | None
    clock: Callable[[], float]


@dataclass(slots=True)
class CompressionRecord:
    """What the engine remembers of one conversation while it runs."""

    trouble: FailureStreak = CALM
    pace: LastCompression = field(default_factory=LastCompression)
    task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether it is compressed in the background."""
        return self.task is not None and not self.task.done()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingTip:
    """A conversation that waits for its provider's cache to forget it."""

    tip: str
    tools: tuple[Tool, ...]
    settings: Mapping[str, Json]
    cold_at: float


@dataclass(frozen=True, slots=True)
class SummaryWriter:
    """Who writes the summary of a compression, or why nobody does."""

    summariser: Summariser | None = None
    name: str = ""
    price: Price | None = None
    unasked: str = ""
    free: bool = False
    """Whether it runs on this machine."""


class Engine:
    """Conversations that do not outgrow their window."""

    def __init__(
        self,
        store: Store,
        *,
        model: str = "",
        provider: Provider | None = None,
        summariser: Summariser | str | None = None,
        policy: str = "octavo",
        hooks: Sequence[Hook] = (),
        listen: Callable[[str, Event], None] | None = None,
        ranker: Callable[[Statistics], Ranker] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`provider` serves every model; without one it is found by the model's name.

        `summariser` is one of your own, or what holds where no setting says otherwise: a model's name, `same`, or
        `none` (exact lines only); by default the cheap model of the provider. `listen` is called with the conversation
        and the event for everything that happens in the background. `ranker` makes the object that orders covered
        messages for a question; give one if you have something better than words, such as embeddings.
        """
        # Imported with the first engine, like the store: a program that only imports Octavo does not pay for them.
        from octavo.engine.models import Models
        from octavo.engine.remote_count import RemoteCounts

        self.store = store
        self.models: Models = Models(store, _serving(provider) or self._opened)
        self.counts: RemoteCounts = RemoteCounts(self.models)
        self.clock = clock
        self.worker = new_id()
        defaults: dict[str, Json] = {"model": model, "policy": policy}
        if isinstance(summariser, str):
            defaults["summariser"] = summariser
        self.settings = SettingLevels(store, self.models, defaults)
        self._given = provider is not None
        self._summariser = None if isinstance(summariser, str) else summariser
        self._hooks = tuple(hooks)
        self.listeners: list[Callable[[str, Event], None]] = [] if listen is None else [listen]
        self.watchers: list[Callable[[Attempt], None]] = []
        """Told of every attempt to compress, whoever made it."""
        self.states = TipStateCache(store, self.models)
        self._workers = WorkerPool()
        self.reading = ReadAhead(store, self._workers)
        self.ranker = ranker
        self._indexing: dict[str, asyncio.Task[None]] = {}
        self._titling: dict[str, asyncio.Task[None]] = {}
        self._retelling: dict[str, asyncio.Task[None]] = {}
        self._records: OrderedDict[str, CompressionRecord] = OrderedDict()
        self._cooling: dict[str, CoolingTip] = {}
        self._waiting: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, where: str | Path = "sqlite://", **options: Unpack[EngineOptions]) -> Engine:
        """Open a database by its URL, or a SQLite file by its path."""
        # Imported here: it takes longer than all the rest, and much can be done without a database.
        from octavo.store.store import Store

        check_options("Engine.open", options, EngineOptions.__optional_keys__)
        return cls(await Store.open(database_url(where)), **options)

    async def close(self) -> None:
        """Stop what runs in the background and give everything back; jobs left behind are taken over."""
        tasks = [record.task for record in self._records.values() if record.task]
        tasks += [*self._indexing.values(), *self._titling.values(), *self._retelling.values()]
        tasks += [self._waiting] if self._waiting else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.counts.close()
        await self.reading.close()
        await self._workers.close()
        await self.models.close()
        await self.store.close()

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Conversations

    async def create(
        self, title: str = "", *, owner: str = "", provisional: bool = False, **settings: Json
    ) -> Chat:
        """Make a conversation; settings such as `model`, `system` or `policy` may be given at once.

        `provisional`: the title stands until the model has written a better one, after its first answer.
        """
        made = await self.store.conversations.create(title, owner=owner, provisional=provisional)
        if settings:
            await self.settings.change(ForConversation(made.id), settings)
        return Chat(self, made.id)

    async def chat(self, id: str) -> Chat:
        """Give a conversation by its id."""
        found = await self.store.conversations.get(id)
        with suppress(ReadOnly):
            # Close compressions that broke off here: the next turn compresses again if it has to.
            await self.store.jobs.close_abandoned(found.id)
        return Chat(self, found.id)

    async def conversations(self, **filters: object) -> tuple[Conversation, ...]:
        return await self.store.conversations.list(**filters)  # type: ignore[arg-type]

    async def state_of(
        self,
        conversation: str,
        tip: str | None = None,
        *,
        tools: Sequence[Tool] = (),
        without: Snapshot | None = None,
        override: Mapping[str, Json] = NOTHING,
    ) -> TipState:
        """Load everything about a tip; `NotFound` while the conversation is empty.

        `without`: as if that snapshot had never been made. `override` are settings that hold for this time only.
        """
        now = await self.store.conversations.get(conversation)
        at = tip or now.tip
        if at is None:
            raise NotFound("the conversation is empty: add a message first")
        if at != now.tip:
            await self.require(conversation, at)
        revision = Revision({**await self.settings.of(conversation), **override}, now.revision)
        return await self.states.load(conversation, at, revision, tools=tuple(tools), without=without)

    async def require(self, conversation: str, *nodes: str | None) -> None:
        """Raise `NotFound` for messages of other conversations."""
        named = [node for node in nodes if node]
        if named and (missing := await self.store.tree.missing(conversation, named)):
            raise NotFound(f"there is no message {missing[0]} in this conversation")

    # Models

    def rules_of(self, model: str) -> Rules:
        """Give the rules of the model's provider.

        Before it is opened, which takes a while, the model's name tells them.
        """
        if self._given or not model or self.models.is_opened(model):
            return self.models.provider(model).rules
        return _rules_by_name(self.models.address(model))

    def _opened(self, model: str) -> tuple[Provider, str]:
        """Open the provider that a model's name, or its card, tells."""
        return _open_provider(self.models.address(model))

    def format_of(self, model: str) -> Format:
        return cast(Format, self.rules_of(model).name)

    async def _compression_tools(self, state: TipState, request: CompressionRequest) -> CompressionTools:
        writer = await self.summary_writer(state)
        if writer.summariser is not None and not writer.free and request.urgency != "manual":
            refusal = await self._spending_refusal(state, writer.name)
            writer = SummaryWriter(unasked=refusal) if refusal else writer
        return CompressionTools(
            store=self.store,
            summariser=writer.summariser,
            rules=self.rules_of(state.model),
            worker=self.worker,
            workers=self._workers,
            price=writer.price,
            writer=writer.name,
            unasked=writer.unasked,
            requests=None if writer.free else requests_of(state.settings),
        )

    async def _spending_refusal(self, state: TipState, writer: str) -> str:
        """Say why a summariser is not asked, if this conversation has spent enough on summaries."""
        spending = await self._spending(state.conversation)
        if not spending.tokens:
            return ""
        sent, _, _ = await self.store.costs.sent(state.conversation)
        asked, share = _asked_for(state, writer), share_of(state.settings)
        return spending.refuses(asked, covered=state.history, sent=sent, share=share)

    async def _spending(self, conversation: str) -> Spending:
        """Give what summaries have cost, by the receipts and by what was noted, whichever process it was."""
        bills = await self.store.costs.compressions(id=conversation)
        noted = await self.store.notes.get(SPENDING + conversation)
        return Spending.of_note(noted, sum(bill.input + bill.output for bill in bills))

    async def _note_spending(self, state: TipState, ended: CompressionEnded, writer: str) -> None:
        if not ended.spent.input + ended.spent.output:
            return
        try:
            spending = await self._spending(state.conversation)
            spending.ended(ended, _asked_for(state, writer), stored=isinstance(ended.outcome, Compressed))
            notes = {SPENDING + state.conversation: spending.note()}
            await self.store.notes.put_all(notes, conversation=state.conversation)
        except OctavoError as error:
            log.warning("cannot note what the summary of %s cost: %s", state.conversation, error)

    async def summary_writer(self, state: TipState, *, asked: str = "") -> SummaryWriter:
        """Find who writes a summary: the model `asked`, or the one in the settings or on the card."""
        if self._summariser is not None:
            return SummaryWriter(self._summariser, type(self._summariser).__name__)
        chosen, card = asked or str(state.settings.get("summariser") or ""), state.meter.card
        if chosen == MODEL_FREE:
            return SummaryWriter(unasked=f"no model was asked: the setting summariser is {MODEL_FREE}")
        if not chosen and not card.summariser:
            return SummaryWriter(unasked=UNTOLD if retells(self, state) else UNSET)
        name = state.model if chosen == SAME else chosen or card.summariser
        from octavo.engine.models import LOCAL
        from octavo.summarise.model import model_summariser

        try:
            # Opening a provider imports its library, which takes seconds once: not in the event loop.
            provider = await asyncio.to_thread(self.models.provider, name)
        except UsageError as error:
            if chosen:
                raise
            # Nobody asked for this model by name, so without a key for it the snapshot has exact lines only.
            return SummaryWriter(unasked=one_line(f"no model was asked: {error}"))
        meter = await self.models.meter(name)
        embedded = self.models.address(name).startswith(LOCAL)
        summariser = model_summariser(
            provider,
            self.models.name(name),
            meter.card,
            measure=meter.count_text,
            embedded=embedded,
            judge=self._workers.judge,
        )
        return SummaryWriter(summariser, name, meter.card.price, free=embedded)

    # Compressing

    def record(self, conversation: str) -> CompressionRecord:
        """Give what is remembered of a conversation; nothing is, if it was not used for long."""
        record = self._records.setdefault(conversation, CompressionRecord())
        self._records.move_to_end(conversation)
        while len(self._records) > REMEMBERED and not self._records[oldest := next(iter(self._records))].busy:
            del self._records[oldest]
        return record

    async def run_compression(self, state: TipState, request: CompressionRequest) -> AsyncGenerator[Event]:
        """Run one compression, and tell of it exactly once, however it ends."""
        began, told = time.monotonic(), False
        try:
            async with aclosing(self._run_compression(state, request)) as events:
                async for event in events:
                    if isinstance(event, CompressionEnded):
                        told = True
                        self._attempted(state, request, began, event)
                    yield event
        except BaseException as error:
            if not told:
                ended = Failed(str(error)) if isinstance(error, Exception) else Cancelled()
                self._attempted(state, request, began, CompressionEnded(ended))
            raise

    def _attempted(
        self, state: TipState, request: CompressionRequest, began: float, ended: CompressionEnded
    ) -> None:
        attempt = attempt_of(
            ended.outcome,
            conversation=state.conversation,
            trigger=request.urgency,
            before=state.reading.tokens,
            seconds=time.monotonic() - began,
            unwritten=ended.unwritten,
        )
        attempt.record()
        for watcher in self.watchers:
            watcher(attempt)

    async def _run_compression(self, state: TipState, request: CompressionRequest) -> AsyncGenerator[Event]:
        """Run one compression with hooks around it, and remember how it went."""
        chat = Chat(self, state.conversation)
        asked = await self._ask_hooks(chat, request)
        if asked is False:
            yield CompressionEnded(Skipped("vetoed", "a hook refused"))
            return
        if asked:
            request = replace(request, focus="\n".join(text for text in (request.focus, asked) if text))
        await self.reading.settle(state.conversation)
        began, tools = False, await self._compression_tools(state, request)
        async with aclosing(compress(state, request, tools)) as events:
            async for event in events:
                began = began or isinstance(event, CompressionStarted)
                if isinstance(event, CompressionEnded):
                    _complain(state, event.unwritten)
                    self._remember(state, request, event.outcome)
                    await self._note_spending(state, event, tools.writer)
                yield event
                if isinstance(event, CompressionEnded) and began:
                    if isinstance(event.outcome, Compressed):
                        self.index_in_background(event.outcome.snapshot.cutoff)
                        if tools.summariser is None and retells(self, state):
                            self.retell_in_background(state, event.outcome.snapshot)
                    await self._tell_hooks(chat, event.outcome)

    async def import_file(
        self,
        path: Path,
        *,
        format: FileFormat | None = None,
        owner: str | None = None,
        title: str | None = None,
        new_ids: bool = False,
    ) -> tuple[Conversation, ...]:
        """Read conversations from a file; they are counted in the background, so that the first look need not."""
        made = await self.store.import_file(path, format=format, owner=owner, title=title, new_ids=new_ids)
        if made:
            name = f"import {made[0].id}"
            self._indexing[name] = asyncio.create_task(self._look_at([one.id for one in made[:COUNTED]]))
            self._indexing[name].add_done_callback(lambda _: self._indexing.pop(name, None))
        return made

    async def _look_at(self, conversations: Sequence[str]) -> None:
        """Load conversations once, so that their messages are counted and the counts stored."""
        for id in conversations:
            try:
                self.reading.begin(await self.state_of(id))
            except OctavoError as error:  # the first who opens it is told
                log.debug("conversation %s was not counted after its import: %s", id, error)

    def index_in_background(self, cutoff: str) -> None:
        """Index what is covered down to a message, so that it can be recalled."""
        if cutoff not in self._indexing:
            self._indexing[cutoff] = asyncio.create_task(self._index(cutoff))
            self._indexing[cutoff].add_done_callback(lambda _: self._indexing.pop(cutoff, None))

    async def _index(self, cutoff: str) -> None:
        try:
            await self.store.recall.fill(cutoff)
        except ReadOnly:
            pass  # a process that can write does it
        except OctavoError as error:
            log.warning("cannot index what was compressed, so that it can be recalled: %s", error)

    def title_in_background(self, state: TipState) -> None:
        """Have a title written if nobody gave one and the conversation has just begun."""
        id = state.conversation
        long_begun = len(state.loaded.branch) + len(state.added) > TITLED
        if long_begun or id in self._titling or not state.policy.titles:
            return
        self._titling[id] = asyncio.create_task(write_title(self, state))
        self._titling[id].add_done_callback(lambda _: self._titling.pop(id, None))

    def retell_in_background(self, state: TipState, made: Snapshot) -> None:
        """Have the embedded model write a summary for a compression.

        One that it is still writing for this conversation is given up.
        """
        id = state.conversation
        if id in self._retelling:
            self._retelling[id].cancel()
        task = self._retelling[id] = asyncio.create_task(retell(self, state, made))
        task.add_done_callback(lambda _: self._retelling.get(id) is task and self._retelling.pop(id))

    async def wait_until_retold(self, conversation: str) -> None:
        """Wait until no summary is written in the background; that takes minutes, and nothing depends on it."""
        if task := self._retelling.get(conversation):
            await asyncio.wait([task])

    async def _ask_hooks(self, chat: Chat, request: CompressionRequest) -> str | Literal[False]:
        said: list[str] = []
        for hook in self._hooks:
            answer = await _safely(hook.before(chat, request), "before")
            if answer is False:
                return False
            if isinstance(answer, str) and answer:
                said.append(answer)
        return "\n".join(said)

    async def _tell_hooks(self, chat: Chat, outcome: Outcome) -> None:
        for hook in self._hooks:
            await _safely(hook.after(chat, outcome), "after")

    def _remember(self, state: TipState, request: CompressionRequest, outcome: Outcome) -> None:
        record, forced = self.record(state.conversation), request.urgency == "manual"
        match outcome:
            case Compressed():
                record.trouble = CALM
                if not forced:
                    record.pace = compressed(state.turn, outcome.before, outcome.after)
            case Rejected() | Failed():
                record.trouble = failed(
                    record.trouble,
                    model=state.model,
                    tokens=state.reading.cautious,
                    now=self.clock(),
                    forced=forced,
                )

    def compress_in_background(self, state: TipState, *, cold: bool = False, ahead: int = 0) -> None:
        """Start a compression in the background if a mark asks for one and none is under way.

        A conversation that may be compressed once the provider's cache has forgotten it is remembered until then;
        `cold` says that it has. `ahead` are tokens that must still fit below the mark.
        """
        self._cooling.pop(state.conversation, None)
        if self.is_compressing(state.conversation):
            return
        reading = replace(state.reading, tokens=state.reading.tokens + ahead)
        decision = decide(state.policy, state.budget, reading, self.decision_inputs(state, cold=cold))
        if isinstance(decision, Prepare | Compress):
            self.record(state.conversation).task = asyncio.create_task(self._in_background(state))
            return
        if state.half_way:
            self.reading.begin(state)
        if not cold and self.cools(state):
            self._cool_down(state)

    def cools(self, state: TipState) -> bool:
        """Tell whether a conversation is worth compressing once its provider's cache has forgotten it."""
        if cache_prices(state.meter.card) is None:
            return False
        inputs = self.decision_inputs(state, cold=True)
        return isinstance(decide(state.policy, state.budget, state.reading, inputs), Compress)

    def _cool_down(self, state: TipState) -> None:
        """Look at a conversation again when its provider's cache has forgotten it."""
        self._cooling[state.conversation] = CoolingTip(
            tip=state.tip,
            tools=state.loaded.tools,
            settings=state.settings,
            cold_at=self.clock() + state.meter.card.cache_seconds,
        )
        while len(self._cooling) > REMEMBERED:
            del self._cooling[next(iter(self._cooling))]
        if self._waiting is None or self._waiting.done():
            self._waiting = asyncio.create_task(self._wait_for_cold())

    async def _wait_for_cold(self) -> None:
        while self._cooling:
            first = min(cooling.cold_at for cooling in self._cooling.values())
            await asyncio.sleep(max(LOOKED_AGAIN, first - self.clock()))
            await self.compress_idle()

    async def compress_idle(self) -> None:
        """Compress in the background what was idle for longer than its provider's cache lives.

        Whatever is sent next has to be written to the cache anyway, so the compression costs no more than its summary.
        """
        now = self.clock()
        for id in [id for id, cooling in self._cooling.items() if cooling.cold_at <= now]:
            cooling = self._cooling.pop(id)
            try:
                state = await self.state_of(id, cooling.tip, tools=cooling.tools, override=cooling.settings)
            except OctavoError as error:
                log.info("%s is not compressed while it is idle: %s", id, error)
                continue
            self.compress_in_background(state, cold=True)

    def decision_inputs(self, state: TipState, *, cold: bool = False) -> DecisionInputs:
        """Say what a decision depends on besides the count."""
        record = self.record(state.conversation)
        return DecisionInputs(
            turn=state.turn,
            model=state.model,
            now=self.clock(),
            trouble=record.trouble,
            pace=record.pace,
            undone=state.originals_wanted,
            growth=state.habits.largest,
            cold=cold,
        )

    async def _in_background(self, state: TipState) -> None:
        conversation = state.conversation
        self._announce(conversation, Preparing("soft"))
        try:
            async for event in self.run_compression(state, CompressionRequest(urgency="soft")):
                self._announce(conversation, event)
        except OctavoError as error:
            log.warning("compressing %s in the background failed: %s", conversation, error)
            self._announce(conversation, CompressionEnded(Failed(str(error))))
        except asyncio.CancelledError:
            self._announce(conversation, CompressionEnded(Cancelled()))
            raise

    def _announce(self, conversation: str, event: Event) -> None:
        for listener in self.listeners:
            listener(conversation, event)

    def is_compressing(self, conversation: str) -> bool:
        """Tell whether a compression goes on in the background."""
        return conversation in self._records and self._records[conversation].busy

    async def wait_until_idle(self, conversation: str, seconds: float | None = None) -> None:
        """Wait until nothing is done in the background; compressing is stopped after so long."""
        task = self.record(conversation).task
        if task is not None:
            _, late = await asyncio.wait([task], timeout=seconds)
            if late:
                task.cancel()
                await asyncio.wait([task])
        if seconds is None and (others := [*self._indexing.values(), *self._titling.values()]):
            await asyncio.wait(others)

    async def resume_abandoned(self, conversation: str | None = None) -> int:
        """Close compressions and answers whose workers died, in one conversation or in all; gives how many there were.

        Where a mark asks for it, a compression is begun anew.
        """
        try:
            answers = await self.store.answers.close(conversation)
            left = await self.store.jobs.close_abandoned(conversation)
        except ReadOnly:
            # A process that can write does it.
            return 0
        for id in {job.conversation for job in left}:
            try:
                self.compress_in_background(await self.state_of(id))
            except OctavoError as error:
                log.warning("cannot go on with the compression of %s: %s", id, error)
        return len(left) + len(answers)


def _asked_for(state: TipState, writer: str) -> tuple[str, ...]:
    """Give what identifies a summariser that failed: its name, its prompt and its instructions."""
    return (writer, state.policy.prompt, str(state.settings.get("instructions") or ""))


def _complain(state: TipState, unwritten: Unwritten | None) -> None:
    """Log a summary that was not written."""
    if unwritten is not None:
        told = (state.conversation, unwritten.model, unwritten.noted, unwritten.seconds)
        log.warning("no summary of %s by %s: %s (%.1f s)", *told)


async def _safely(work: Awaitable[object], when: str) -> object:
    """Wait for a hook; whatever it raises is logged and forgotten."""
    try:
        return await work
    except Exception:
        log.warning("a hook failed %s compressing", when, exc_info=True)
        return None


def _serving(provider: Provider | None) -> Callable[[str], tuple[Provider, str]] | None:
    """Have one provider serve all models; None if none was given."""
    return None if provider is None else lambda model: (provider, model)


def _open_provider(model: str) -> tuple[Provider, str]:
    from octavo.providers.catalogue import open_provider, resolve
    from octavo.providers.settings import read_settings

    return open_provider(model, read_settings(os.environ)), resolve(model).model


_RULES = {"openai": OPENAI, "azure": OPENAI, "anthropic": ANTHROPIC, "google": GEMINI}


def _rules_by_name(model: str) -> Rules:
    from octavo.providers.catalogue import resolve

    try:
        return _RULES.get(resolve(model).provider, COMPATIBLE)
    except UnknownModel:
        return OPENAI


def database_url(where: str | Path) -> str:
    """Read a URL, or a path of a SQLite file."""
    text = str(where)
    return text if "://" in text else f"sqlite:///{text}"
