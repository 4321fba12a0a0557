"""Extracts and receipts: processor time per 100,000 tokens, how it grows, and what cached analyses save.

The made-up conversations need nothing; where the yardstick's data lies next to the project, real ones are added.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path

from octavo.core.extract import analyse_all, extract, scan
from octavo.core.messages import Branch, Message, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.receipt import receipt
from octavo.core.wire import read

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
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
SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "za", "dor", "len")


def measure(text: str) -> int:
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
        size += measure(said[-1].text)
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
        size += measure(lines) + 30
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


def tokens_of(branch: Branch) -> int:
    return sum(
        measure(node.message.text)
        + sum(measure(call.input) for call in node.message.calls)
        + sum(measure(result.text) for result in node.message.results)
        for node in branch
    )


def cpu(work: Callable[[], object]) -> float:
    """The best of several runs, in milliseconds of processor time."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1_000


def row(name: str, branch: Branch) -> str:
    tokens = tokens_of(branch)
    budget = int(tokens * KEPT)
    analyses = analyse_all(branch)
    chosen = extract(branch, budget=budget, measure=measure, analyses=analyses)

    def cold() -> None:
        scan._atoms.clear()
        extract(branch, budget=budget, measure=measure)

    times = (
        cpu(cold),
        cpu(lambda: extract(branch, budget=budget, measure=measure)),
        cpu(lambda: extract(branch, budget=budget, measure=measure, analyses=analyses)),
        cpu(lambda: receipt(branch, extracts=chosen, analyses=analyses)),
    )
    per = " | ".join(f"{milliseconds * UNIT / tokens:,.0f}" for milliseconds in times)
    return f"| {name} | {tokens:,} | {per} |"


def main(arguments: Sequence[str]) -> None:
    del arguments
    print("Milliseconds of processor time per 100,000 tokens, a tenth kept.\n")
    print("| conversation | tokens | first call | later calls | analyses cached | receipt, cached |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for make in (chat, work):
        for size in SIZES:
            print(row(f"made-up {make.__name__}", make(size)), flush=True)
    for name, file in REAL:
        if branch := real(file):
            print(row(f"real {name}", branch), flush=True)


if __name__ == "__main__":
    main([])
