"""Reading: a real small model answers questions about facts from what is left of a conversation.

Made-up conversations with planted facts, always the same ones; every question is asked at temperature 0 with the whole
history, with its newest messages, with extracts alone, with a narrative alone, and with both, the last four at the same
budget. An answer counts if it contains the planted value, whatever the case and the punctuation.

In use the question is known when a request is built. So long conversations, with far more facts than a tenth of them
holds, are asked as well: from their newest messages, from extracts, from what the question recalls, from both, and from
the whole history.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

import octavo
from benchmarks.figures import Absent, Cell, Goal, Item, Table, Tell
from benchmarks.yardstick import ECONOMICAL
from octavo.core.compose import compose
from octavo.core.context import render_summary
from octavo.core.harden import harden
from octavo.core.messages import Branch, Message, assistant, place, system, user
from octavo.core.policy import Voice
from octavo.core.protocol import Rules
from octavo.core.recall.choose import choose
from octavo.core.recall.pieces import cut
from octavo.core.recall.question import ask as look_for
from octavo.core.recall.rank import ByWords, count
from octavo.core.recall.render import with_passages
from octavo.core.recall.size import part_of
from octavo.core.reply import Chunk, Reply, Request
from octavo.core.snapshot import Snapshot, draft
from octavo.core.summary import SummaryJob
from octavo.core.wire import read as read_messages
from octavo.core.wire import write
from octavo.engine.summary_writing import NARRATIVE_SHARE
from octavo.errors import BadReply, ProviderError
from octavo.evals.measure.interval import Measurement, interval
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.protocols import Provider
from octavo.providers.embedded import open_embedded
from octavo.providers.model_files import DEFAULT
from octavo.providers.settings import Local, WaitLimits, cache_folder
from octavo.summarise.model import model_summariser

CONVERSATIONS = 4
SHARE = 0.3
"""Of the history, for what is left of it."""
WINDOW = 4_096
ANSWER = 24
"""Tokens: the values are short."""
ATTEMPTS = 5
"""On a busy machine the model's own server closes a connection now and then."""
ORDERS = "Answer questions about the conversation with the exact value, as briefly as possible."
FORMS = ("newest messages", "extracts", "narrative", "narrative + extracts", "full history")
QUICK_FORMS = ("newest messages", "extracts", "full history")
ASKED_CONVERSATIONS = 3
SITES = 12
"""Every fact is planted once for each, so that a tenth of a conversation cannot hold all of them."""
ASKED_SHARE = 0.1
"""Of the history, where the question is known."""
ASKED_WINDOW = 16_384
ASKED_FORMS = ("newest messages", "extracts", "recall", "extracts + recall", "full history")

THINGS = """
ledger harbour orchard printer archive cinema kitchen telescope ferry greenhouse library scanner tunnel bakery antenna
museum turbine garage theatre reservoir
""".strip().split()
NAMES = """
Priya Tomas Ingrid Kwame Yuki Delia Marek Sofia Ahmed Lena Oskar Bianca Rafael Noor Henrik Tamar
""".strip().split()
CITIES = ("Lisbon", "Tampere", "Gdansk", "Cusco", "Bergen", "Izmir", "Hobart", "Quito")
FOODS = ("peanuts", "shellfish", "sesame", "strawberries")
MONTHS = """
January February March April May June July August September October November December
""".strip().split()
ERRORS = ("TimeoutError", "QuotaExceeded", "ChecksumMismatch", "PermissionDenied")
TEMPLATES = (
    ("The {0} service listens on port {port}.", "On which port does the {0} service listen?", "{port}"),
    ("{boss} is responsible for the {1}.", "Who is responsible for the {1}?", "{boss}"),
    (
        "We decided to spend at most {euros} euros on the {2}.",
        "How many euros may the {2} cost at most?",
        "{euros}",
    ),
    ("The plan for the {3} is due on {date}.", "When is the plan for the {3} due?", "{date}"),
    ("The settings of the {4} are in {file}.", "In which file are the settings of the {4}?", "{file}"),
    ("My badge for the {5} is {badge}.", "What is the user's badge for the {5}?", "{badge}"),
    ("{mover} moved to {city} last year.", "Where did {mover} move?", "{city}"),
    ("{guest} is allergic to {food}.", "What is {guest} allergic to?", "{food}"),
    (
        "The last build of the {6} failed with {error}.",
        "With which error did the build of the {6} fail?",
        "{error}",
    ),
    ("We raised the limit of the {7} from {old} to {new}.", "What is the limit of the {7} now?", "{new}"),
)
"""What is said, what is asked, and the answer."""
SMALL_TALK = """
Thanks, that helps a lot.
I had far too much coffee this morning, as always.
Let us take it one step at a time and not rush anything.
The weather here has been grey and wet for the whole week.
I think we should talk about that again when everybody is back.
It took me longer than expected to read through all of it.
That is how these things go, and nobody is to blame for it.
Somebody should write this down properly one day.
Please tell me if any of this sounds wrong to you.
We can come back to the details whenever you like.
I am not sure yet what the others will say about it.
It looks better than last time, which is a good sign.
There is still a lot of tidying up to do around here.
My train was late again, so I worked on the platform.
""".strip().splitlines()
REPLIES = """
Understood. I will keep that in mind while we go on with the other topics.
Good to know. It fits well with what you told me before, and it makes the next steps easier to plan.
Thank you for telling me. Is there anything else around it that I should look at in the meantime?
That makes sense. We can build on it, and I will bring it up again when it becomes relevant.
Sure. Take your time with the rest of it; there is no need to decide everything at once.
I see. In that case it is best to stay with the plan and look at the open ends afterwards.
""".strip().splitlines()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something said once, and how it is asked for later."""

    said: str
    question: str
    answer: str


class Draw:
    """Draws without chance: the same numbers on every machine."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 7_919 + 1

    def number(self, low: int, high: int) -> int:
        self._state = self._state * 48_271 % 2_147_483_647
        return low + self._state % (high - low)

    def shuffled(self, words: Sequence[str]) -> list[str]:
        left = list(words)
        return [left.pop(self.number(0, len(left))) for _ in words]


def facts(draw: Draw, site: int = 0) -> list[Fact]:
    """Fill the templates: every thing and every person of a site is spoken of once."""
    end = f"-{site}" if site else ""
    things, names = ([f"{word}{end}" for word in draw.shuffled(words)] for words in (THINGS, NAMES))
    old = draw.number(100, 400)
    values = {
        "port": draw.number(4_000, 9_999),
        "boss": names[0],
        "euros": draw.number(210, 990),
        "date": f"{draw.number(2, 28)} {draw.shuffled(MONTHS)[0]}",
        "file": f"/etc/{things[4]}/main.toml",
        "badge": f"B{draw.number(1_000, 9_999)}",
        "mover": names[1],
        "city": draw.shuffled(CITIES)[0],
        "guest": names[2],
        "food": draw.shuffled(FOODS)[0],
        "error": draw.shuffled(ERRORS)[0],
        "old": old,
        "new": old + draw.number(5, 90),
    }
    return [Fact(*(text.format(*things, **values) for text in template)) for template in TEMPLATES]


def conversation(number: int) -> tuple[Branch, list[Fact]]:
    """Plant each fact in a message of its own, with small talk around it."""
    draw = Draw(number + 1)
    planted = facts(draw)
    return _told(planted, draw), planted


def long_conversation(number: int) -> tuple[Branch, list[Fact]]:
    """Plant the facts of all sites; one of each is asked for."""
    draw = Draw(number + 101)
    sites = [facts(draw, site) for site in range(1, SITES + 1)]
    asked = [planted[site % len(planted)] for site, planted in enumerate(sites)]
    return _told([fact for planted in sites for fact in planted], draw), asked


def _told(planted: Sequence[Fact], draw: Draw) -> Branch:
    said: list[Message] = []
    for fact in planted:
        before, after = draw.shuffled(SMALL_TALK)[:2]
        said += [user(f"{before} {fact.said} {after}"), assistant(draw.shuffled(REPLIES)[0])]
    return place(said)


async def last(chunks: AsyncIterator[Chunk]) -> Reply:
    """Wait for the reply that ends a stream."""
    async for chunk in chunks:
        if isinstance(chunk, Reply):
            return chunk
    raise BadReply("a stream ended without a reply")


@dataclass(slots=True)
class Remembering:
    """A provider that is asked the same thing once: at temperature 0 it would say the same again."""

    inner: Provider
    replies: dict[Request, Reply] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def rules(self) -> Rules:
        return self.inner.rules

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        for attempt in range(ATTEMPTS):
            try:
                if request not in self.replies:
                    self.replies[request] = await last(self.inner.stream(request))
            except ProviderError as error:
                if not error.retryable or attempt == ATTEMPTS - 1:
                    raise
        yield self.replies[request]

    async def close(self) -> None:
        await self.inner.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The model, as summariser and as reader, and the meter of its tokens."""

    provider: Remembering
    meter: Meter

    async def ask(self, left: Sequence[Message], question: str) -> str:
        return await self.answer((*left, user(question)))

    async def answer(self, messages: Sequence[Message]) -> str:
        asked = harden((system(ORDERS), *messages), self.provider.rules).messages
        request = Request(model=DEFAULT.name, messages=asked, max_output=ANSWER, temperature=0.0)
        return (await last(self.provider.stream(request))).message.text

    async def narrate(self, branch: Branch, cap: int) -> Snapshot:
        card = replace(self.meter.card, window=WINDOW, max_output=WINDOW // 4)
        measure = self.meter.count_text
        writer = model_summariser(
            self.provider, DEFAULT.name, card, measure=measure, embedded=True, parallel=1
        )
        narrative = await writer.summarise(SummaryJob(covered=branch, cap=cap), lambda _: None)
        return draft(branch, len(branch), id="snapshot", summary=narrative.text)

    def size(self, messages: Sequence[Message]) -> int:
        return sum(map(self.meter.count_message, messages))

    async def left_of(self, branch: Branch, form: str, budget: int) -> tuple[Message, ...]:
        """Give what a form leaves of a conversation."""
        said = tuple(node.message for node in branch)
        bare = draft(branch, len(branch), id="snapshot", summary="")
        match form:
            case "full history":
                return said
            case "newest messages":
                return next(said[at:] for at in range(0, len(said), 2) if self.size(said[at:]) <= budget)
            case "extracts":
                return render_summary(self._filled(bare, branch, budget), Voice())
            case "narrative":
                told = await self.narrate(branch, budget - self.size(render_summary(bare, Voice())))
                return render_summary(told, Voice())
            case _:
                room = budget - self.size(render_summary(bare, Voice()))
                told = await self.narrate(branch, int(room * NARRATIVE_SHARE))
                return render_summary(self._filled(told, branch, budget), Voice())

    def _filled(self, snapshot: Snapshot, branch: Branch, budget: int) -> Snapshot:
        return compose(snapshot, branch, cap=budget, count=self.meter.count_message)

    def sent_for(self, branch: Branch, form: str, question: str, budget: int) -> tuple[Message, ...]:
        """Give what a form sends where the question is known."""
        said, asked = tuple(node.message for node in branch), user(question)
        match form:
            case "full history":
                return (*said, asked)
            case "newest messages":
                return (
                    *next(said[at:] for at in range(0, len(said), 2) if self.size(said[at:]) <= budget),
                    asked,
                )
            case "recall":
                pieces = [piece for node in branch for piece in cut(node.id, node.depth, node.message)]
                words = look_for(question)
                ranker = ByWords(count(words, pieces))
                found = choose(words, pieces, ranker, room=budget, count=self.meter.count_text)
                return (with_passages(asked, found),)
            case _:
                wired = write("openai", (*said, asked)).messages
                room = budget + self.size([asked])
                share = part_of(room) if form == "extracts + recall" else 0
                made = octavo.compress(wired, budget=room, keep=ECONOMICAL, recall=share, meter=self.meter)
                return tuple(read_messages("openai", made.messages))


def contains(reply: str, answer: str) -> bool:
    return f" {plain(answer)} " in f" {plain(reply)} "


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


async def read(reader: Reader, form: str, conversations: int) -> tuple[Cell, ...]:
    """Ask everything about what a form leaves; give the row of the table."""
    started = time.monotonic()
    sizes: list[int] = []
    answers: list[bool] = []
    for number in range(conversations):
        branch, planted = conversation(number)
        budget = int(SHARE * reader.size([node.message for node in branch]))
        left = await reader.left_of(branch, form, budget)
        sizes.append(reader.size(left))
        answers += [contains(await reader.ask(left, fact.question), fact.answer) for fact in planted]
    share = 100 * sum(answers) / len(answers)
    return (form, sum(sizes) // len(sizes), sum(answers), len(answers), share, time.monotonic() - started)


async def read_asked(reader: Reader, form: str, conversations: int) -> tuple[Cell, ...]:
    """Ask about long conversations, each question with what a form sends for it; give the row of the table."""
    started = time.monotonic()
    sizes: list[int] = []
    answers: list[Measurement] = []
    for number in range(conversations):
        branch, planted = long_conversation(number)
        budget = int(ASKED_SHARE * reader.size([node.message for node in branch]))
        for fact in planted:
            sent = reader.sent_for(branch, form, fact.question, budget)
            sizes.append(reader.size(sent))
            right = contains(await reader.answer(sent), fact.answer)
            answers.append(Measurement(str(number), fact.question, float(right)))
    found = interval(answers)
    assert found is not None
    between = f"{100 * found.low:.0f}–{100 * found.high:.0f}"
    mean = sum(sizes) // len(sizes)
    return (form, mean, found.count, 100 * found.mean, between, time.monotonic() - started)


Read = Callable[[Reader, str, int], Awaitable[tuple[Cell, ...]]]


async def read_all(
    read: Read, forms: Sequence[str], conversations: int, window: int, tell: Tell
) -> list[tuple[Cell, ...]]:
    local = Local(cache=cache_folder(os.environ), window=window, threads=1)
    provider = Remembering(open_embedded(DEFAULT.place(local.cache), local, WaitLimits()))
    reader = Reader(provider=provider, meter=Meter(find_card(f"local/{DEFAULT.name}")))
    rows: list[tuple[Cell, ...]] = []
    try:
        for form in forms:
            tell(form)
            rows.append(await read(reader, form, conversations))
    finally:
        await provider.close()
    return rows


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    if find_spec("xllamacpp") is None:
        raise Absent("what runs the small model (octavo[local]) is not installed")
    if not DEFAULT.is_installed(cache_folder(os.environ)):
        raise Absent(f"{DEFAULT.title} is not on this machine: octavo local install")
    forms, conversations = (QUICK_FORMS, 1) if quick else (FORMS, CONVERSATIONS)
    yield Table(
        name="reading",
        title=f"{DEFAULT.title} answers questions about facts, from {SHARE:.0%} of the history",
        columns=("what the model is sent", "tokens", "answered", "of", "%", "seconds"),
        rows=tuple(asyncio.run(read_all(read, forms, conversations, WINDOW, tell))),
        reading="Made-up conversations with planted facts, temperature 0; an answer counts if it has the value. "
        "The full history is the upper end: what the model cannot read from that, no compression can save.",
    )
    asked = 1 if quick else ASKED_CONVERSATIONS
    rows = tuple(asyncio.run(read_all(read_asked, ASKED_FORMS, asked, ASKED_WINDOW, tell)))
    yield Table(
        name="reading.asked",
        title=f"{DEFAULT.title} is asked about long conversations, from {ASKED_SHARE:.0%} of the history",
        columns=("what the model is sent", "tokens", "questions", "answered %", "95 %", "seconds"),
        rows=rows,
        reading="The question is known, as it is in use: `extracts + recall` is what Octavo sends. "
        f"Each conversation has {SITES * len(TEMPLATES)} facts, more than a tenth of it can hold.",
    )
    answered = {str(row[0]): row[3] for row in rows}
    full, ours = answered["full history"], answered["extracts + recall"]
    assert isinstance(full, float)
    assert isinstance(ours, float)
    yield Goal(
        what=f"answers from {ASKED_SHARE:.0%} with recall, of those from the full history",
        found=100 * ours / full if full else 100.0,
        limit=100.0,
        unit="%",
        at_least=True,
    )
