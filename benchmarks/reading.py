"""Reading: a real small model answers questions about facts from what is left of a conversation.

Made-up conversations with planted facts, always the same ones; every question is asked at temperature 0 with the whole
history, with its newest messages, with extracts alone, with a narrative alone, and with both, the last four at the same
budget. An answer counts if it contains the planted value, whatever the case and the punctuation.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from benchmarks.figures import Absent, Cell, Item, Table, Tell
from octavo.core.compose import compose
from octavo.core.context import render_summary
from octavo.core.harden import harden
from octavo.core.messages import Branch, Message, assistant, place, system, user
from octavo.core.policy import Voice
from octavo.core.protocol import Rules
from octavo.core.reply import Chunk, Reply, Request
from octavo.core.snapshot import Snapshot, draft
from octavo.core.summary import SummaryJob
from octavo.engine.summary_writing import NARRATIVE_SHARE
from octavo.errors import BadReply, ProviderError
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


def facts(draw: Draw) -> list[Fact]:
    """Fill the templates: every thing and every person is spoken of once."""
    things, names = draw.shuffled(THINGS), draw.shuffled(NAMES)
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
    said: list[Message] = []
    for fact in planted:
        before, after = draw.shuffled(SMALL_TALK)[:2]
        said += [user(f"{before} {fact.said} {after}"), assistant(draw.shuffled(REPLIES)[0])]
    return place(said), planted


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
        asked = harden((system(ORDERS), *left, user(question)), self.provider.rules).messages
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


async def read_all(forms: Sequence[str], conversations: int, tell: Tell) -> list[tuple[Cell, ...]]:
    local = Local(cache=cache_folder(os.environ), window=WINDOW, threads=1)
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
        rows=tuple(asyncio.run(read_all(forms, conversations, tell))),
        reading="Made-up conversations with planted facts, temperature 0; an answer counts if it has the value. "
        "The full history is the upper end: what the model cannot read from that, no compression can save.",
    )
