"""Takes one very long conversation through its day: `python -m scripts.long_conversation [--messages N]`.

It is imported into an SQLite file, looked at, compressed, answered once, and compressed again. After each step it
prints the processor time that the step took and the most memory so far, of this process and of the worker. Facts are
planted all over the conversation; it tells how many of them the compression kept. Last, it prints what a message takes
in the database beside its text, table by table.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from octavo.core.json_values import compact
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.testing import ScriptedProvider

MODEL = "gpt-4o"
WORDS = 12
"""Words of a message: about 80 characters, as in a chat."""
PLANTED = 50
"""Facts that are said, at equal distances."""


def planted(number: int) -> str:
    return f"The access code of vault {number} is K{number * 7_919 % 100_003}-{number}."


def talk(messages: int) -> Iterator[str]:
    """Write messages of words that mean nothing, and some facts."""
    dice = random.Random(messages)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(3_000)]
    every = max(1, messages // PLANTED)
    for number in range(messages):
        if number % every == every // 2:
            yield planted(number // every + 1)
        else:
            yield " ".join(dice.choices(words, k=WORDS)).capitalize() + "."


def write_file(path: Path, messages: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(talk(messages)):
            said = {
                "id": f"m{number}",
                "parent_id": f"m{number - 1}" if number else None,
                "role": "assistant" if number % 2 else "user",
                "content": text,
            }
            file.write(compact(said) + "\n")


def peak(process: str) -> float:
    """The most megabytes that a process has held."""
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    found = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(found.split()[1]) / 1_024


def seconds(process: str) -> float:
    """Processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Steps:
    """Prints what each step took."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._before: dict[str, float] = {"self": seconds("self")}

    def show(self, what: str) -> None:
        told = [f"{what:<24}"]
        for name, process in [("server", "self"), *(("worker", str(pid)) for pid in self._workers())]:
            took = seconds(process) - self._before.get(process, 0.0)
            self._before[process] = seconds(process)
            told.append(f"{name} {took:7.1f} s  {peak(process):5.0f} MB")
        print("   ".join(told), flush=True)

    def _workers(self) -> list[int]:
        return [child.pid for child in self._engine._workers._free]


async def live(folder: Path, messages: int, *, index: bool) -> None:
    file, database = folder / "chat.jsonl", folder / "chats.db"
    write_file(file, messages)
    provider = ScriptedProvider(lambda _: "So it is.")
    async with await Engine.open(database, model=MODEL, provider=provider, summariser="none") as engine:
        steps = Steps(engine)
        (made,) = await engine.store.import_file(file)
        steps.show("imported")
        chat = await engine.chat(made.id)
        await chat.usage()
        steps.show("looked at and counted")
        outcome = await chat.compress()
        steps.show("compressed")
        if not isinstance(outcome, Compressed):
            raise SystemExit(f"it was not compressed: {outcome}")
        sent = "\n".join(message.text for message in (await engine.state_of(chat.id)).context.messages)
        kept = sum(planted(number + 1) in sent for number in range(PLANTED))
        before, after = outcome.before, outcome.after
        print(f"  {outcome.snapshot.messages:,} messages covered, {before:,} tokens become {after:,}")
        print(f"  {kept} of {PLANTED} planted facts are still sent")
        async for _ in chat.turn("What is the code of vault 7?"):
            pass
        steps.show("a turn")
        if index:
            await asyncio.gather(*engine._indexing.values())
            steps.show("indexed for recall")
        for number in range(20):
            await chat.add(f"And then, berth {number}? {planted(PLANTED + number + 1)}")
        await chat.compress()
        steps.show("compressed again")
    show_rest(database)


def show_rest(database: Path) -> None:
    """Print what a message takes in the file beside its text."""
    file = sqlite3.connect(database)
    count, text = file.execute("SELECT count(*), sum(length(CAST(text AS BLOB))) FROM message").fetchone()
    sizes = file.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC").fetchall()
    total = sum(size for _, size in sizes)
    print(f"bytes of a message: {text / count:.0f} of text, {(total - text) / count:.0f} besides")
    for name, size in sizes:
        if size >= count:
            print(f"  {name:<36} {size / count:6.1f}")
    file.close()


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__)
    reading.add_argument("--messages", type=int, default=100_000)
    reading.add_argument("--index", action="store_true", help="wait until everything can be recalled")
    told = reading.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live(Path(folder), told.messages, index=told.index))


if __name__ == "__main__":
    main()
