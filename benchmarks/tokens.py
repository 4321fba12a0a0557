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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import bills
from benchmarks.ranks import write_ranks
from tests.meters.texts import LANGUAGES, code_lines

ROUNDS = 5
REPEATS = 5
MESSAGES = 1_000
MANY = 10_000
GOAL_FASTER, GOAL_CLAUDE_MS, GOAL_TURN_MS = 4, 300, 0.1

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


def show_speed(cache: Path) -> None:
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in COUNTERS}
    for _ in range(ROUNDS):
        for name in COUNTERS:
            runs[name].append(fresh(cache, "speed", name))
    table = {name: medians(rows) for name, rows in runs.items()}
    base = table["tiktoken"]
    print(
        f"Processor milliseconds, medians of {ROUNDS} runs; {MESSAGES:,} messages of {base['tokens']:.0f} tokens.\n"
    )
    print("| counter | load | start → 1,000 counted | 1,000 more | than tiktoken | 10,000 |")
    print("|---|---|---|---|---|---|")
    for name, row in table.items():
        print(
            f"| {name} | {row['load']:.0f} | {row['start']:.0f} | {row['later']:.1f} "
            f"| {base['later'] / row['later']:.1f}× | {row['many']:.0f} |"
        )
    ours, claude = table["octavo o200k"], max(table[f"octavo claude-{v}"]["start"] for v in ("3", "4.8"))
    verdict(
        "at least 4× faster than tiktoken once loaded",
        base["later"] / ours["later"],
        GOAL_FASTER,
        "×",
        more=True,
    )
    verdict("not slower than tiktoken from a cold start", ours["start"], base["start"], " ms")
    verdict("Claude: 1,000 messages from a cold start", claude, GOAL_CLAUDE_MS, " ms")


def verdict(what: str, found: float, goal: float, unit: str, *, more: bool = False) -> None:
    met = found >= goal if more else found <= goal
    sign = "≥" if more else "≤"
    print(f"- {'met' if met else 'MISSED'}: {what}: {found:.3g}{unit} (goal {sign} {goal:.3g}{unit})")


def show_turn(cache: Path) -> None:
    print("\n### One new message after 10,000\n")
    for model in ("gpt-4o", "claude-opus-4-5", "claude-opus-4-8", "gemini-3-pro"):
        spent = medians([fresh(cache, "turn", model) for _ in range(3)])["turn"]
        verdict(model, spent, GOAL_TURN_MS, " ms")


def show_hostile(cache: Path) -> None:
    print("\n### Hostile megabytes (processor milliseconds)\n")
    print("| counter | " + " | ".join(HOSTILE) + " |")
    print("|---" * (len(HOSTILE) + 1) + "|")
    for name in COUNTERS:
        answers = [fresh(cache, "hurt", name, case) for case in HOSTILE]
        cells = [
            f"{answer[case]:.0f}" if case in answer else "the process dies"
            for case, answer in zip(HOSTILE, answers, strict=True)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main(_: Sequence[str] = ()) -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        cache = write_ranks(Path(folder))
        show_speed(cache)
        show_turn(cache)
        show_hostile(cache)
    if bills.DATA.exists():
        bills.main()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["speed", name]:
            print(json.dumps(speed(name)))
        case ["turn", name]:
            print(json.dumps(turn(name)))
        case ["hurt", name, case]:
            print(json.dumps(hurt(name, case)))
        case _:
            main()
