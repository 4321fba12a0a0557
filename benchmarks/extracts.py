"""Extracts and receipts: processor time per 100,000 tokens, how it grows, and what cached analyses save.

The made-up conversations need nothing; where the yardstick's data lies next to the project, real ones are added.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, pairwise

from benchmarks.clock import best_cpu
from benchmarks.figures import Cell, Goal, Item, Table, Tell
from benchmarks.places import DATA
from octavo.core.extract import scan, units
from octavo.core.extract.choose import extract
from octavo.core.extract.units import analyse_all
from octavo.core.messages import Branch, Message, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.receipt import receipt
from octavo.core.wire import read

REAL = (
    ("people", "locomo10"),
    ("assistant", "longmemeval_merged"),
    ("agent", "agent_miniswe"),
    ("coding", "agent_pi_sessions"),
)
SIZES = (25_000, 50_000, 100_000, 200_000, 400_000)
UNIT = 100_000
KEPT = 0.10
REPEATS = 3
GROWING = (1_250, 2_500, 5_000)
QUICK_GROWING = (40, 80)
"""Messages of the texts that could make choosing slow, each size twice the one before."""
GOAL_GROWTH = 2.6
"""Times the processor time when the size doubles: 2 is linear."""
SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "za", "dor", "len")


def tokens_in(text: str) -> int:
    return -(-len(text) // 4)


def word(rank: int) -> str:
    """Spell a rank as a word: few short ones, many long ones, like a language."""
    return "".join(SYLLABLES[rank // 12**place % 12] for place in range(2 + (rank >= 144) + (rank >= 1_728)))


def ranks(size: int) -> Iterator[int]:
    """Draw ranks without end, the second half as often as the first, as in a language; always the same ones."""
    state = 1
    while True:
        state = state * 48_271 % 2_147_483_647
        yield int(size ** (state / 2_147_483_647)) - 1


def chat(tokens: int) -> Branch:
    vocabulary, numbers = ranks(12**4), ranks(2_000)
    said: list[Message] = []
    size = 0
    for speak in cycle((user, assistant)):
        said.append(speak(" ".join(sentence(vocabulary, next(numbers)) for _ in range(4))))
        size += tokens_in(said[-1].text)
        if size >= tokens:
            break
    return place(said)


def sentence(vocabulary: Iterator[int], number: int) -> str:
    said = [word(next(vocabulary)) for _ in range(6)]
    return "I {} the {} and {} of my {} in {} for {}".format(*said) + (
        f" on {number}." if number > 50 else "."
    )


def work(tokens: int) -> Branch:
    names, vocabulary, numbers = ranks(2_000), ranks(12**4), ranks(10_000)
    said: list[Message] = [user("Fix the failing tests in src/main.py and keep the public names.")]
    size = 0
    while size < tokens:
        path = f"src/{word(next(names) % 12)}/{word(next(names))}.py"
        call = ToolCall(id=f"c{len(said)}", name="read", input=json.dumps({"path": path}))
        lines = "\n".join(code(names, vocabulary, next(numbers)) for _ in range(60))
        said.append(Message(role="assistant", parts=(Text(text=f"Let me read {path} first."), call)))
        said.append(Message(role="tool", parts=(ToolResult(call_id=call.id, content=(Text(text=lines),)),)))
        size += tokens_in(lines) + 30
    return place(said)


def code(names: Iterator[int], vocabulary: Iterator[int], number: int) -> str:
    name, other, comment = word(next(names)), word(next(names)), word(next(vocabulary))
    if number < 100:
        return f"    # the {comment} of {other} is not what {name} wants"
    return f"    self.{name}_{other} = {other}(self.{name}, {number % 300})"


def real(file: str) -> Branch | None:
    path = DATA / f"{file}.jsonl.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        messages = json.loads(next(iter(lines)))["messages"]
    known = ("role", "content", "tool_calls", "tool_call_id", "name")
    plain = [{key: message[key] for key in known if key in message} for message in messages]
    return place(read("openai", plain))


def few_words(size: int) -> list[str]:
    """Write sentences of forty words, which all share most of what they are worth."""
    drawn = ranks(40)
    return [" ".join(word(next(drawn)) for _ in range(14)) + "." for _ in range(size)]


def chinese(size: int) -> list[str]:
    signs, drawn = (
        "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生",
        ranks(40),
    )
    return ["".join(signs[next(drawn)] for _ in range(30)) + "。" for _ in range(size)]


HOSTILE: Mapping[str, Callable[[int], list[str]]] = {
    "forty words": few_words,
    "identical turns": lambda size: ["The weather is nice today, and the train was on time."] * size,
    "templated logs": lambda size: [
        f"2026-11-{1 + n % 28:02d} 12:{n % 60:02d}:{n % 59:02d} INFO worker-{n % 8} finished job {n} in {n % 97} ms"
        for n in range(size)
    ],
    "tables of numbers": lambda size: [
        "\n".join(" ".join(str((n * 7_919 + row * at) % 9_973) for at in range(6)) for row in range(4))
        for n in range(size)
    ],
    "one word": lambda size: ["word " * 20] * size,
    "lines of one message": lambda size: [
        "Remark: " + "\n".join(f"the word w{n}x is {n * 7} of u{n % 97}" for n in range(4 * size))
    ],
    "all words unique": lambda size: [" ".join(f"w{n}x{at}q" for at in range(14)) for n in range(size)],
    "Chinese": chinese,
}
"""Texts by which choosing could become slow, by what they are."""


def growth(name: str, size: int) -> float:
    """Measure how long it takes to choose from such a text and to write the receipt."""
    texts = HOSTILE[name](size)
    branch = place([(user, assistant)[at % 2](text) for at, text in enumerate(texts)])

    def once() -> None:
        scan.forget()
        units.forget()
        chosen = extract(branch, budget=int(tokens_of(branch) * KEPT), measure=tokens_in)
        receipt(branch, extracts=chosen)

    return best_cpu(once, REPEATS)


def grown(sizes: Sequence[int], tell: Tell) -> Iterator[Item]:
    """Measure how the time grows with texts that could make it grow faster than they do."""
    rows: list[tuple[Cell, ...]] = []
    for name in HOSTILE:
        tell(f"{name}, up to {sizes[-1]:,} messages")
        times = [growth(name, size) for size in sizes]
        rows.append((name, *times, max(after / before for before, after in pairwise(times))))
    yield Table(
        name="extracts.growth",
        title="Choosing extracts and the receipt, ms of processor time, by the number of messages",
        columns=("text", *(f"{size:,}" for size in sizes), "most, per doubling"),
        rows=tuple(rows),
        reading="Two per doubling is linear. No text may make it quadratic.",
    )
    worst = max(float(row[-1] or 0) for row in rows)
    yield Goal(what="growth per doubling", found=worst, limit=GOAL_GROWTH, unit=" times")


def tokens_of(branch: Branch) -> int:
    return sum(
        tokens_in(node.message.text)
        + sum(tokens_in(call.input) for call in node.message.calls)
        + sum(tokens_in(result.text) for result in node.message.results)
        for node in branch
    )


def row(name: str, branch: Branch) -> tuple[Cell, ...]:
    tokens = tokens_of(branch)
    budget = int(tokens * KEPT)
    analyses = analyse_all(branch)
    chosen = extract(branch, budget=budget, measure=tokens_in, analyses=analyses)

    def cold() -> None:
        scan.forget()
        analysed()

    def analysed() -> None:
        units.forget()
        extract(branch, budget=budget, measure=tokens_in)

    times = (
        best_cpu(cold, REPEATS),
        best_cpu(analysed, REPEATS),
        best_cpu(lambda: extract(branch, budget=budget, measure=tokens_in, analyses=analyses), REPEATS),
        best_cpu(lambda: receipt(branch, extracts=chosen, analyses=analyses), REPEATS),
    )
    return (name, tokens, *(milliseconds * UNIT / tokens for milliseconds in times))


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    rows: list[tuple[Cell, ...]] = []
    for make in (chat, work):
        for size in SIZES[:1] if quick else SIZES:
            tell(f"made-up {make.__name__} of {size:,} tokens")
            rows.append(row(f"made-up {make.__name__}", make(size)))
    for name, file in REAL[:0] if quick else REAL:
        if branch := real(file):
            tell(f"real {name}")
            rows.append(row(f"real {name}", branch))
    yield from grown(QUICK_GROWING if quick else GROWING, tell)
    yield Table(
        name="extracts",
        title="Choosing extracts, ms of processor time per 100,000 tokens",
        columns=(
            "conversation",
            "tokens",
            "first call",
            "later calls",
            "analyses cached",
            "receipt, cached",
        ),
        rows=tuple(rows),
        reading="A tenth is kept; `cached` is what a stored conversation pays, whose messages were analysed before.",
    )
