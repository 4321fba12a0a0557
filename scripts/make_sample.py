"""Makes the sample conversation from what is said in it: `python -m scripts.make_sample`.

The words are in `src/octavo/engine/sample/*.md`, written by people. Everything else is what the engine makes of them:
the exact lines, the receipt, what is recalled for a question. The result
is a file as `octavo export` writes it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from octavo.core.reply import Request
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.engine.outcome import Compressed
from octavo.engine.sample import CONVERSATION, TITLE
from octavo.providers.settings import LOCAL_WINDOW
from octavo.store.values import Everywhere
from octavo.testing import ScriptedProvider

WORDS = CONVERSATION.parent
MODEL = "gpt-4-0613"
"""Whose tokens the figures of the compression are."""
SMALLEST = LOCAL_WINDOW
"""The window it is held in: that of a model in this process, so that it looks right in every larger one too."""
COMPRESSED_IN = 6_000
"""The window it is compressed in: the smallest that has room for a summary of every section."""
KEPT = 160
"""Tokens that stay word for word when it is compressed: the last turn."""
RECALLED = 120
"""Tokens that a question may bring back: a message or two."""
COVERED_BY = "2026-05-11T19:20:00.000Z"
"""When it is compressed: after the last message of that day."""
AUTHOR = "the author of this sample"
"""Who wrote the summary: no model did."""

BILLED = ("model", "input_tokens", "output_tokens")
DAY = len("2026-05-11")
WRITTEN = {"model": AUTHOR, "created": COVERED_BY, "compressionTimestamp": COVERED_BY}
READINGS = 72
"""Lines of a log that somebody pastes: what makes a conversation long."""

Piece = tuple[str, str, str]


def log() -> str:
    """Write what the station noted in its first night, a line every ten minutes."""
    return "\n".join(_reading(n) for n in range(READINGS))


def _reading(n: int) -> str:
    """Write a line; the coldest is at 05:10, and the signal is weak once."""
    degrees = 3.5 + round(((n - 55) / 55) ** 2 * 18) / 2
    damp, signal = 95 - abs(n - 55) // 11 * 5, "weak at 02:40, -111 dBm" if n == 40 else "good"
    return f"{degrees} °C, {damp} %, no rain, soil moist at both probes, cell full, packet complete, signal {signal}"


def pieces() -> list[Piece]:
    """Read what is said: who, when, what."""
    text = (WORDS / "conversation.md").read_text("utf-8")
    found: list[Piece] = []
    for piece in text.split("=== ")[1:]:
        head, _, words = piece.partition("\n")
        who, _, when = head.partition(" ")
        found.append((who, f"{when.strip()}:00.000Z", words.strip().replace("{log}", log())))
    return found


async def make() -> list[dict[str, Any]]:
    """Hold the conversation, and give the lines of its export."""
    said, summary = pieces(), (WORDS / "summary.md").read_text("utf-8").strip()
    before = [piece for piece in said if piece[1] < COVERED_BY]
    after = said[len(before) :]
    answers = {words: answer for (_, _, words), (_, _, answer) in pairwise(after)}

    def script(request: Request) -> str:
        asked = request.messages[-1].text
        return next((answer for words, answer in answers.items() if words in asked), summary)

    engine = await Engine.open("sqlite://", model=MODEL, provider=ScriptedProvider(script), summariser="same")
    async with engine:
        await engine.settings.change(Everywhere(), {"recall": RECALLED})
        await engine.models.set_window(MODEL, COMPRESSED_IN)
        chat = await engine.create(TITLE)
        for who, _, words in before:
            await chat.add(words, role=who)
        await _compress(chat)
        await engine.models.set_window(MODEL, SMALLEST)
        await engine.wait_until_idle(chat.id)
        for who, _, words in after:
            if who == "user":
                async for _ in chat.turn(words):
                    pass
            elif who == "assistant-again":
                await _again(chat, words)
        rule = next(node for node in await chat.branch() if "that is a rule" in node.message.text)
        await chat.pins.add(rule.id)
        await engine.wait_until_idle(chat.id)
        with tempfile.TemporaryDirectory() as folder:
            await engine.store.export(Path(folder) / "sample", [chat.id])
            text = (Path(folder) / "sample").read_text("utf-8")
    days: dict[str, str] = {}
    return [_dated(json.loads(line), said, days) for line in text.splitlines()]


async def _compress(chat: Chat) -> None:
    outcome = await chat.compress(keep=KEPT)
    assert isinstance(outcome, Compressed), outcome
    assert not outcome.problems, outcome.problems


async def _again(chat: Chat, words: str) -> None:
    """Add another answer to the last question; the first one stays in sight."""
    tip = (await chat.info()).tip
    assert tip is not None
    question = (await chat.branch())[-2].id
    await chat.add(words, role="assistant", parent=question)
    await chat.checkout(tip)


def _dated(line: dict[str, Any], said: list[Piece], days: dict[str, str]) -> dict[str, Any]:
    """Put a line at the time it is said to have been written, by whoever wrote it; `days` are those of the messages."""
    match line["type"]:
        case "conversation":
            return {**line, "created": said[0][1], "updated": said[-1][1]}
        case "message":
            text = line["message"]["parts"][0]["text"]
            when = next(when for _, when, words in said if words == text)
            days[line["id"]] = when[:DAY]
            kept = {key: value for key, value in line.items() if key not in BILLED}
            return {**kept, "created": when}
        case "snapshot":
            content = line["content"]
            paper = {**json.loads(content["receipt"]), "model": AUTHOR, "price": None, "seconds": 0}
            paper.pop("summary", None)
            return {
                **line,
                "content": {**content, **WRITTEN, "receipt": json.dumps(paper, ensure_ascii=False)},
            }
        case "recalled":
            passages = [{**one, "day": days[one["source"]]} for one in line["passages"]]
            return {**line, "passages": passages}
        case _:
            return line


def main() -> None:
    lines = asyncio.run(make())
    CONVERSATION.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    print(f"{CONVERSATION}: {len(lines)} lines")


if __name__ == "__main__":
    main()
