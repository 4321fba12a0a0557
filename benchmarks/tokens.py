"""Counting tokens: ours against tiktoken in the same run, from a cold start, warm, in bulk, and on hostile text.

Every figure comes from fresh processes that take turns, so a busy machine slows all of them alike; medians of
processor time are shown. Texts are new in every repetition, so caches of words stay honest.
"""

from __future__ import annotations

import base64
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import Cell, Goal, Item, Note, Table, Tell
from benchmarks.ranks import write_ranks
from benchmarks.texts import LANGUAGES, code_lines

ROUNDS = 5
REPEATS = 5
MESSAGES = 1_000
MANY = 10_000
GOAL_FASTER, GOAL_CLAUDE_MS, GOAL_TURN_MS = 4, 300, 0.1
TURN_ROUNDS = 3
MODELS = ("gpt-4o", "claude-opus-4-5", "claude-opus-4-8", "gemini-3-pro")
"""One for each vocabulary."""

COUNTERS = (
    "tiktoken",
    "octavo o200k",
    "octavo gpt-4o",
    "octavo gemma",
    "octavo gemma, warmed",
    "octavo claude-3",
    "octavo claude-4.8",
)
"""`octavo gpt-4o` counts whole messages with their frames; the others count texts."""
HOSTILE = ("a × 1M", "spaces × 1M", "random letters 1M", "base64 1 MB", "Chinese 300 kB", "prose 1 MB")


def prose() -> list[str]:
    """Sentences that every Python has with it."""
    from pydoc_data.topics import topics

    return [
        " ".join(part.split()) for text in topics.values() for part in text.split("\n\n") if len(part) > 80
    ]


class Writer:
    """Writes messages of about a hundred tokens, of all kinds."""

    def __init__(self) -> None:
        self.sentences, self.code = prose(), code_lines()
        self.words = sorted({word for text in self.sentences for word in text.split() if word.isalpha()})

    def message(self, rng: random.Random) -> str:
        kinds = (self.talk, self.program, self.data, self.foreign, self.log, self.encoded)
        return rng.choices(kinds, (44, 22, 16, 9, 7, 2))[0](rng)

    def talk(self, rng: random.Random) -> str:
        return " ".join(" ".join(rng.choice(self.sentences).split()[:30]) for _ in range(3))

    def program(self, rng: random.Random) -> str:
        start = rng.randrange(len(self.code) - 20)
        return "```python\n" + "\n".join(self.code[start : start + rng.randint(9, 14)]) + "\n```"

    def data(self, rng: random.Random) -> str:
        rows = [
            {"id": rng.randrange(10**6), "path": f"{rng.choice(self.words)}.py", "ms": 7.25} for _ in "123"
        ]
        return json.dumps({"tool": "run_tests", "result": rows}, indent=rng.choice([None, 2]))

    def foreign(self, rng: random.Random) -> str:
        return " ".join(rng.choices(list(LANGUAGES.values()), k=3))

    def log(self, rng: random.Random) -> str:
        return "\n".join(
            f"2026-11-{rng.randint(10, 28)}T10:{rng.randint(10, 59)}:07Z WARN worker-{rng.randrange(32)} "
            f"req={rng.getrandbits(64):016x} {rng.choice(self.words)} took {rng.randrange(9_999)}ms"
            for _ in range(3)
        )

    def encoded(self, rng: random.Random) -> str:
        return "data:image/png;base64," + base64.b64encode(rng.randbytes(150)).decode()

    def conversation(self, seed: int, size: int) -> list[str]:
        rng = random.Random(seed)
        return [self.message(rng) for _ in range(size)]


def hostile(name: str, writer: Writer) -> str:
    rng = random.Random(3)
    match name:
        case "a × 1M":
            return "a" * 1_000_000
        case "spaces × 1M":
            return " " * 1_000_000 + "x"
        case "random letters 1M":
            return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000))
        case "base64 1 MB":
            return base64.b64encode(rng.randbytes(786_432)).decode()
        case "Chinese 300 kB":
            return "".join(rng.choices(LANGUAGES["Chinese"], k=100_000))
        case _:
            return " ".join(rng.choices(writer.sentences, k=6_000))[:1_000_000]


def counter(name: str) -> Callable[[str], int]:
    """Load a counter; importing it is part of what is measured."""
    if name == "tiktoken":
        import tiktoken

        encode = tiktoken.get_encoding("o200k_base").encode_ordinary
        return lambda text: len(encode(text))
    if name == "octavo gpt-4o":
        from octavo.core.messages import Message, Text
        from octavo.meters.cards import find_card
        from octavo.meters.meter import Meter

        count = Meter(find_card("gpt-4o")).count_message
        return lambda text: count(Message(role="user", parts=(Text(text=text),)))
    from octavo.meters.tokenizers import load, warm

    vocabulary, _, warmed = name.removeprefix("octavo ").partition(", ")
    if warmed:
        warm(vocabulary).join()
    return load(vocabulary).count


def clock(work: Callable[..., object], *given: object) -> float:
    start = time.process_time()
    work(*given)
    return (time.process_time() - start) * 1e3


def speed(name: str) -> dict[str, float]:
    """Measure a counter from a cold start; runs in a process of its own."""
    writer = Writer()
    texts = [writer.conversation(seed, MESSAGES) for seed in range(REPEATS + 1)]
    many = writer.conversation(99, MANY)
    found: list[Callable[[str], int]] = []
    load = clock(lambda: found.append(counter(name)))
    count = found[0]

    def all_of(batch: list[str]) -> int:
        return sum(map(count, batch))

    first = clock(all_of, texts[0])
    later = statistics.median(clock(all_of, batch) for batch in texts[1:])
    tokens = all_of(texts[0]) / MESSAGES
    return {
        "load": load,
        "start": load + first,
        "later": later,
        "many": clock(all_of, many),
        "tokens": tokens,
    }


def hurt(name: str, case: str) -> dict[str, float]:
    """Measure a counter on a hostile text; runs in a process of its own."""
    count, text = counter(name), hostile(case, Writer())
    count("warm up")
    return {case: clock(count, text)}


def turn(model: str) -> dict[str, float]:
    """Measure one new message after ten thousand that are counted already."""
    from octavo.core.messages import Message, user
    from octavo.meters.cards import find_card
    from octavo.meters.meter import Meter
    from octavo.meters.tokenizers import warm

    card, writer = find_card(model), Writer()
    warm(card.tokenizer).join()
    meter = Meter(card)
    before = meter.start()
    for text in writer.conversation(1, MANY):
        before = meter.extend(before, user(text))

    def one_more(message: Message) -> object:
        return meter.predict(meter.extend(before, message))

    new = [user(text) for text in writer.conversation(2, MESSAGES)]
    return {"turn": clock(lambda: [one_more(message) for message in new]) / MESSAGES}


def fresh(cache: Path, *what: str) -> dict[str, Any]:
    """Run a measurement in a process of its own; an answer with `error` if it dies."""
    command = [sys.executable, "-m", "benchmarks.tokens", *what]
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(cache), "RUST_BACKTRACE": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["died"])[-1][:60]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def medians(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    good = [row for row in rows if "error" not in row]
    return {key: statistics.median(row[key] for row in good) for key in good[0]} if good else {}


def speeds(cache: Path, rounds: int, tell: Tell) -> dict[str, dict[str, float]]:
    """Measure all counters in turns; those that cannot be had are left out."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in COUNTERS}
    for turn in range(rounds):
        for name in COUNTERS:
            tell(f"{name}, round {turn + 1} of {rounds}")
            runs[name].append(fresh(cache, "speed", name))
    return {name: found for name, rows in runs.items() if (found := medians(rows))}


def speed_items(table: dict[str, dict[str, float]]) -> Iterator[Item]:
    base = table.get("tiktoken", {})
    rows: list[tuple[Cell, ...]] = []
    for name, row in table.items():
        times = base["later"] / row["later"] if base else None
        rows.append((name, row["load"], row["start"], row["later"], times, row["many"]))
    tokens = next(iter(table.values()))["tokens"]
    yield Table(
        name="tokens.speed",
        title=f"{MESSAGES:,} messages of {tokens:.0f} tokens, ms of processor time",
        columns=(
            "counter",
            "load",
            "start → 1,000 counted",
            "1,000 more",
            "times tiktoken's speed",
            "10,000",
        ),
        rows=tuple(rows),
        reading="Medians of fresh processes that take turns; texts are new each time, so caches of words stay honest.",
    )
    if base:
        ours = table["octavo o200k"]
        faster = base["later"] / ours["later"]
        yield Goal(
            what="faster than tiktoken once loaded", found=faster, limit=GOAL_FASTER, unit="×", at_least=True
        )
        slower = ours["start"] / base["start"]
        yield Goal(what="from a cold start, against tiktoken", found=slower, limit=1.0, unit="×")
    else:
        yield Note(
            text="tiktoken or its rank files (package bpe-openai) are not installed: nothing to compare with."
        )
    claude = max(table[f"octavo claude-{version}"]["start"] for version in ("3", "4.8"))
    what = "Claude's tokens: 1,000 messages from a cold start"
    yield Goal(what=what, found=claude, limit=GOAL_CLAUDE_MS, unit=" ms")


def turn_items(cache: Path, models: Sequence[str], tell: Tell) -> Iterator[Item]:
    for model in models:
        tell(f"one new message, {model}")
        spent = medians([fresh(cache, "turn", model) for _ in range(TURN_ROUNDS)])["turn"]
        what = f"one new message after 10,000, {model}"
        yield Goal(what=what, found=spent, limit=GOAL_TURN_MS, unit=" ms")


def hostile_table(cache: Path, tell: Tell) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in COUNTERS:
        tell(f"hostile megabytes, {name}")
        answers = [fresh(cache, "hurt", name, case) for case in HOSTILE]
        cells = [answer.get(case, "the process dies") for case, answer in zip(HOSTILE, answers, strict=True)]
        rows.append((name, *cells))
    return Table(
        name="tokens.hostile",
        title="Hostile megabytes, ms of processor time",
        columns=("counter", *HOSTILE),
        rows=tuple(rows),
        reading="What somebody may paste to make a counter hang; a fresh process for each.",
    )


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    with tempfile.TemporaryDirectory() as folder:
        cache = write_ranks(Path(folder))
        yield from speed_items(speeds(cache, 1 if quick else ROUNDS, tell))
        yield from turn_items(cache, MODELS[:1] if quick else MODELS, tell)
        if not quick:
            yield hostile_table(cache, tell)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["speed", name]:
            print(json.dumps(speed(name)))
        case ["turn", name]:
            print(json.dumps(turn(name)))
        case ["hurt", name, case]:
            print(json.dumps(hurt(name, case)))
        case _:
            sys.exit("`python -m benchmarks tokens` runs this")
