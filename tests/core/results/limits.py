"""What happens at limits: a size grows in steps of one, and it is written down where the outcome changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, islice, product

from octavo.core.ask.answer import Expected, JudgedAnswer, judge, judge_bullets, thin
from octavo.core.ask.blocks import JOINT, Chunk, blocks, divide
from octavo.core.ask.forms import prepare
from octavo.core.ask.language import Language, detect, foreign
from octavo.core.ask.source_check import source_text
from octavo.core.budget import Marks, Overhead, Price, Reading
from octavo.core.budget import divide as divide_window
from octavo.core.context import ContextInputs, build_context
from octavo.core.extract.choose import extract
from octavo.core.extract.facts import Wording
from octavo.core.extract.render import headline, render
from octavo.core.extract.standing import own_lines
from octavo.core.extract.units import analyse, pieces, sentences, spell
from octavo.core.messages import Message, Text, ToolCall, ToolResult, assistant, user
from octavo.core.policy import OCTAVO, budget_for, decide
from octavo.core.price_rule import CachePrices, Habits, by_price
from octavo.core.recall.choose import choose
from octavo.core.recall.pieces import cut, stretches
from octavo.core.recall.question import ask
from octavo.core.recall.rank import ByWords
from octavo.core.recall.rank import count as count_words
from octavo.core.reply import Reply
from octavo.core.shrink import shrink
from octavo.core.snapshot import Extracts, Snapshot
from octavo.core.summary import SummaryJob
from octavo.core.transcript import shorten, transcript
from octavo.errors import ContextOverflow
from octavo.summarise.prompts import packaged
from tests.core.extract.samples import quarter, utf8
from tests.core.results.contexts import CARDS
from tests.core.results.records import Lines, compact, record, size, titled
from tests.core.results.talks import CHATS, LANGUAGES, MIXED, TRIP, WORK


def steps(outcomes: Iterable[tuple[int, object]]) -> Lines:
    """Tell from which size on there is which outcome."""
    before: object = None
    for at, outcome in outcomes:
        if outcome != before:
            yield f"{at}: {outcome}"
            before = outcome


def _first_of(texts: Sequence[str]) -> str:
    return f"{len(texts[0])} of {len(texts)}" if len(texts) > 1 else str(len(texts))


def _lengths(texts: Sequence[str]) -> str:
    return " ".join(map(str, map(len, texts)))


LONG_LINES = {
    "commas": "seven jars, " * 30,
    "semicolons": "seven jars of plums and pears on the shelf; " * 8,
    "blanks": "a shelf with jars " * 20,
    "solid": "x" * 400,
    "cyrillic": "полка с банками, " * 20,
    "chinese": "架子上有七个罐子，" * 30,
    "accents": "e\u0301" * 200,
    "json": '{"jar": 1, "of": "plums", "at": [2, 3]}, ' * 9,
}


@record
def lines() -> Lines:
    """Into how many pieces long lines are cut."""
    for name, line in LONG_LINES.items():
        yield titled(name)
        yield from steps((n, _first_of(pieces(line[:n]))) for n in range(1, 300))
    yield titled("of a tool")
    for text in ("[" + LONG_LINES["json"], LONG_LINES["commas"], "é" + LONG_LINES["blanks"]):
        result = ToolResult(call_id="c", content=(Text(text=text),))
        for length in (2, 3, 99, 100, 101, 139, 140, 141, 330):
            short = replace(result, content=(Text(text=text[:length]),))
            units = analyse(Message(role="tool", parts=(short,))).units
            yield f"{length}: {[unit.text for unit in units]}"


OUTPUT = [f"test {n} failed" for n in range(12)]


@record
def outputs() -> Lines:
    """What is told of the lines of an output, and in how many words a call is."""
    for error in (False, True):
        result = ToolResult(call_id="c", content=(Text(text="\n".join(OUTPUT)),), error=error)
        yield f"{[unit.cues for unit in analyse(Message(role='tool', parts=(result,))).units]}"
    yield titled("calls")
    for given in ('{"path": "%s"}', '{"path": "src/%s/a.py", "n": 3}', '{"text": "%s b\\nc"}', "%s", "[%s]"):
        calls = (ToolCall(id="c", name="read", input=given % ("x" * n)) for n in range(1, 170))
        yield from steps((n, len(spell(call))) for n, call in enumerate(calls, start=1))
    yield titled("headers")
    for call in (
        "read path: src/%s/core/a.py",
        "find %s",
        "look for: %s in src/a.py",
        "%s src/a.py",
        "f ü%s",
    ):
        for n in range(1, 34, 2):
            yield f"{n}: {headline(call % ('x' * n))}"


BEGUN = ("Never push", "We decided to use", "only deploy", "绝不要推送")
SPOKEN = (
    "Never push to the main branch of %s without a review.",
    "Summarise this text.\n%s",
    "Please fix it.\n\n%s",
    "One more thing:\n%s",
    "%s wrote:\nNever push to main.",
    "%s (note) [2] Never push to main.",
    "Why %s? never push to main",
    "From: %s\n\n\nSubject: you\nNever push to main.",
    '"%s never push to main" she said',
)


@record
def own_words() -> Lines:
    """What is a user's own, and what stands of it."""
    lengths = (*range(4), *range(226, 262), 400, 1_960, *range(1_978, 2_002))
    for spoken in SPOKEN:
        yield titled(compact(spoken))
        texts = ((n, spoken % ("x" * n)) for n in lengths)
        yield from steps((n, f"{sorted(own_lines(text))} {_stands(text)}") for n, text in texts)
    yield titled("broken")
    for begun, (following, most) in product(
        BEGUN, (("Main without me.", 55), ("to main", 3), ("- to main", 3))
    ):
        lengths = (0, 1, 2, *range(28, most))
        broken = ((n, f"{begun} {'x' * n}\n{following}\nand nothing\nElse. Ever.") for n in lengths)
        yield from steps((n, _stands(text)) for n, text in broken)


def _stands(text: str) -> str:
    units = analyse(user(text)).units
    return " | ".join(f"{re.sub('x+', 'x', one.text)} {one.standing:b}" for one in units if one.standing)


@record
def sentences_cut() -> Lines:
    """Where sentences end."""
    for text in (
        "One. two. Three.Four 5. Six 12. Seven 123. Eight!? Nine",
        "He said: 'No.' (Yes.) [See 3.] She. i. e. So…  Well… no.",
        "これは。「はい。」そして！いいえ？終わり",
        "ठीक है। नहीं॥ चलो",
        "كيف؟ نعم۔ لا",
        "https://a.b/c.d?e=f. Next v1.2.3. Then 3.5 kg. End.",
        "- Item. more\n# Head. More",
    ):
        yield compact(sentences(text))


@record
def chunks() -> Lines:
    """Which messages stand in one chunk, and what is shown of the newest."""
    for name, branch in CHATS.items():
        shown = blocks(branch[1:])
        costs = {quarter(block.text) + JOINT for block in shown}
        rooms = sorted({*(cost + by for cost in costs for by in (-1, 0, 1)), *range(20, 90, 9)})
        yield titled(name)
        yield from steps((room, _begin(divide(shown, room, quarter))) for room in rooms if room > 12)
    job = SummaryJob(covered=TRIP[1:3], recent=TRIP[-4:])
    taken = [*accumulate(quarter(block.text) for block in reversed(blocks(job.recent)))]
    for room in (0, 1, 5, *(tokens + by for tokens in taken for by in (-1, 0, 1))):
        yield f"newest in {room}: {compact(prepare(job, packaged(), room=room, measure=quarter).recent)}"


def _begin(chunks: Iterable[Chunk]) -> str:
    """Say with which message, and which piece of it, each chunk begins."""
    return " ".join(f"{one[0].source}{f'.{len(one[0].text)}' * (one[0].piece > 0)}" for one in chunks)


FACTS = tuple(f"- The {name} costs {n} euros a night." for n, name in enumerate("abcdefghijkl", start=30))
STORY = " ".join(f"The hotel of {name} costs {n} euros a night." for n, name in enumerate(("Ann", "Bob"), 80))
SOURCE = (
    f"{STORY} They stay from 4 May to 9 May, and never book anything. Please write to Ann about the garden."
)
WRONG = tuple(f"- See port {8_000 + n}." for n in range(6))
HEARD = Expected(
    source_text=source_text([SOURCE, *FACTS]),
    language=Language("English", "latin"),
    source=400,
    cap=90,
    told=SOURCE,
)


def _judged(text: str, expected: Expected) -> str:
    return _told(judge(Reply(message=assistant(text)), expected, quarter))


def _listed(text: str, expected: Expected) -> str:
    return _told(judge_bullets(Reply(message=assistant(text)), expected))


def _told(draft: JudgedAnswer) -> str:
    return f"{len(draft.text)} {len(draft.doubtful)} {[problem.detail for problem in draft.problems]}"


def _initials(text: str) -> str:
    return " ".join(line[:7] for line in text.split("\n"))


@record
def judged() -> Lines:
    """How much of an answer may be wrong, repeated, too long or too short."""
    text = "\n".join(("## Hotels", *FACTS, "", "**Open**", "Who writes?"))
    yield titled("thinned out")
    yield from steps((cap, _initials(thin(text, cap, quarter))) for cap in range(130))
    yield titled("cap")
    yield from steps((cap, _judged(text, replace(HEARD, cap=cap))) for cap in range(1, 130))
    yield titled("source")
    for answer, least in ((text, quarter(text)), (FACTS[0], 120)):
        sizes = range(least - 2, least + 8)
        yield from steps((n, _judged(answer, replace(HEARD, source=n))) for n in sizes)
    yield titled("repeated")
    for different in (1, 3, 8):
        line = "\n".join(FACTS[:different])
        yield from steps((n, _judged("\n".join([line, *[FACTS[0]] * n]), HEARD)) for n in range(8))
    yield from steps((n, _judged(f"{STORY}\n{'The hotel is. ' * n}", HEARD)) for n in range(40, 50))
    yield titled("wrong")
    for right in range(1, 5):
        yield from steps((n, _judged("\n".join([*FACTS[:right], *WRONG[:n]]), HEARD)) for n in range(6))
    yield titled("sections")
    for wanted in range(5):
        asked = replace(HEARD, sections=tuple("abcde"[:wanted]))
        yield _judged(text, asked)
        yield _judged("\n".join(FACTS[:2]), asked)
        yield _judged("They stay from 4 May to 9 May at a hotel.", asked)
    yield titled("paragraphs")
    for n in range(247, 254):
        yield _judged(f"{'x' * n} costs 30 euros. See port 8123. It costs 31 euros.", HEARD)
    yield titled("lists")
    words = [
        "Please",
        "write",
        "to",
        "Ann",
        "about",
        "the",
        "garden",
        "of",
        "the",
        "hotel",
        "that",
        "costs",
        "80",
        "euros",
    ]
    for n in range(1, len(words) + 1):
        yield _listed(
            f"- {' '.join(words[:n])}\n- {' '.join(words[-n:])}\n- {' '.join(words[n % 3 :: 2])}", HEARD
        )


@record
def fitting() -> Lines:
    """What fits into growing room."""
    for name, branch in CHATS.items():
        yield titled(name)
        budgets = range(10, 190, 5)
        found = {budget: extract(branch, budget=budget, measure=utf8) for budget in budgets}
        yield from steps((budget, _places(kept)) for budget, kept in found.items())


def _places(kept: Extracts) -> str:
    return f"{utf8(render(kept))} {' '.join(f'{line.source}.{line.at}' for line in kept)}"


@record
def stretched() -> Lines:
    """Where long texts are cut to be recalled."""
    for text in ("One two three. " * 60, "x" * 900, "слово за словом, " * 60, "Jar.\nShelf.\n\n" * 60):
        for n in (498, 499, 500, 501, 520, 700, 880):
            yield f"{n}: {[*stretches(text[:n])]}"


@record
def recalled() -> Lines:
    """Which passages fit into growing room."""
    for (name, branch), told in product(CHATS.items(), ("Who has the key, and which port and price?",)):
        found = [piece for node in branch for piece in cut(node.id, node.depth, node.message)]
        asked = ask(told)
        ranker = ByWords(count_words(asked, found))
        yield titled(name)
        rooms = {room: choose(asked, found, ranker, room=room, count=quarter) for room in range(0, 240, 4)}
        yield from steps(
            (room, [f"{one.source}.{one.start}" for one in some]) for room, some in rooms.items()
        )


@record
def phrases() -> Lines:
    """Which phrases stand in a text."""
    text = transcript([node.message for node in TRIP])
    wanted = [
        f"{'x' * (n % 7 == 3)}{text[start:stop]}"
        for n, (start, stop) in enumerate(
            islice(zip(range(0, 4_000, 17), range(9, 4_200, 19), strict=False), 220)
        )
        if start < stop
    ]
    wanted += [
        *text.split()[:60],
        "é",
        "Portugal in",
        "in Portugal",
        "…",
        "4–9",
        "-",
        "18 May",
        "8 May",
        "May:",
    ]
    for name, wording in (
        ("asked", Wording(text)),
        ("expected", Wording(text)),
        ("lines", Wording("", wanted[:3])),
    ):
        if name == "expected":
            wording.expect(wanted)
        yield titled(name)
        yield "".join("1" if wording.has(phrase) else "0" for phrase in wanted)


@record
def languages_by_length() -> Lines:
    """From how many characters on a language is told."""
    german = Language("German", "latin")
    for name, branch in LANGUAGES.items():
        text = " ".join(node.message.text for node in branch)
        yield titled(name)
        yield from steps((n, f"{detect(text[:n])} {foreign(text[:n], german)}") for n in range(4, 160, 3))


@record
def shrinking_step_by_step() -> Lines:
    """What is given up at which limit."""
    snapshot = Snapshot(
        id="s",
        first="m2",
        cutoff="m7",
        cutoff_depth=7,
        anchor="m7",
        anchor_depth=7,
        messages=6,
        summary="What happened before. " * 90,
        extracts=extract(WORK[1:7], budget=90, measure=quarter),
    )
    for branch, held in ((WORK[:24], snapshot), (MIXED, None)):
        recipe = ContextInputs(branch=branch, snapshot=held)
        yield titled("with a snapshot" if held else "without one")
        limits = range(size(build_context(recipe).messages), 0, -9)
        yield from steps((limit, _given_up(recipe, limit)) for limit in limits)


def _given_up(recipe: ContextInputs, limit: int) -> str:
    try:
        done = shrink(recipe, limit, lambda context: size(context.messages))
    except ContextOverflow as overflow:
        return compact(dict(overflow.terms) | {"limit": 0})
    return f"{done.tokens} {done.notes}"


@record
def shortened() -> Lines:
    """How a text is shortened."""
    yield from steps(
        (cap, shorten("0123456789" * 9, cap)) for cap in (-1, 0, 1, 2, *range(36, 44), *range(88, 92))
    )
    yield from steps((cap, shorten("0123456789" * 12, cap, hint="there")) for cap in (60, 61, 118, 119, 120))


@record
def marks() -> Lines:
    """What is decided at which size, and where prices put the mark."""
    card = CARDS[-1]
    for growth, fixed in product((0, 900, 9_000), (0, 30_000)):
        habits = Habits(requests=40, tokens=40 * growth, largest=2 * growth, misses=0.05)
        budget = budget_for(
            OCTAVO, card, overhead=Overhead(system=fixed), habits=habits, writer=Price(input=1, output=4)
        )
        yield f"{growth} {fixed}: {budget.prepare} {budget.soft} {budget.hard} {budget.retained} {budget.priced}"
    plain = divide_window(CARDS[2], marks=Marks(prepare=0.3))
    for step in (None, 25_000, 31_999, 32_000, 40_000, 80_000, 89_000):
        moved = by_price(plain, CachePrices(read=0.1, write=1.25, step=step), Habits(), retained=0.2)
        yield f"{step}: {moved.prepare} {moved.soft} {moved.retained} {moved.priced}"
    small = budget_for(OCTAVO, CARDS[1])
    yield from steps((n, type(decide(OCTAVO, small, Reading(tokens=n))).__name__) for n in range(8_000))
