"""The real command line with a model that is a function: `python -m tests.cli.scripted chat ...`.

What it answers depends on the question alone, so every run of a session looks the same.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from octavo.cli.main import main
from octavo.cli.setup import Setup, read_setup
from octavo.core.context import Context
from octavo.core.messages import assistant
from octavo.core.protocol import OPENAI, Rules
from octavo.core.reply import Chunk, Delta, Reply, Request, Retrying, Usage
from octavo.core.title import ASKED
from octavo.errors import ProviderError
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter

MODEL = "parrot"
"""A name nothing is known of: its window is assumed, and its snapshots are exact lines only."""
PAUSE = 0.05
"""Seconds between the words of an answer that is asked for slowly: long enough to press a key meanwhile."""
MARKDOWN = """# Plan

First **measure**, then cut:

1. count
2. fold

```python
print("fold")
```

That is all."""


def answer_to(question: str) -> str:
    """Answer a question; nothing where a title is asked for."""
    if question.endswith(ASKED):
        return ""
    if question.startswith("slowly"):
        return " ".join(f"word{i}" for i in range(1, 400))
    if question.startswith("markdown"):
        return MARKDOWN
    if question.startswith("at length"):
        number = question.split()[-1]
        return f"The port of service{number} is {8000 + int(number)}. " + "So it goes on and on. " * 60
    return f"You said {len(question)} characters: {question[:60]}"


@dataclass(slots=True)
class Parrot:
    """A provider that answers `answer_to`, and remembers what it was asked."""

    name: str = "parrot"
    rules: Rules = OPENAI
    requests: list[Request] = field(default_factory=list)
    """What it was asked, but for titles."""
    waiting: asyncio.Event | None = None
    """If there is one, an answer that is asked for slowly stops after three words until it is set."""

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        question = request.messages[-1].text
        if not question.endswith(ASKED):
            self.requests.append(request)
        if question.startswith("fail"):
            raise ProviderError("the parrot is asleep", retryable=True)
        if question.startswith("again"):
            yield Retrying(attempt=2, attempts=4, wait=0.5, reason="the parrot answered 503: not now")
        text = answer_to(question)
        for number, word in enumerate(text.split(" ")):
            yield Delta(word if number == 0 else f" {word}")
            if question.startswith("slowly"):
                await self._pause(number)
        meter = Meter(find_card(MODEL))
        read = meter.read(Context(retained=request.messages)).tokens
        usage = Usage(input=read, output=meter.count_text(text))
        yield Reply(message=assistant(text), usage=usage, model=MODEL)

    async def _pause(self, number: int) -> None:
        if self.waiting is None:
            await asyncio.sleep(PAUSE)
        elif number == 2:
            await self.waiting.wait()

    async def close(self) -> None:
        """Nothing is held."""


def scripted(environment: dict[str, str], parrot: Parrot | None = None) -> Setup:
    """Make a setup in which the parrot serves every model."""
    return replace(read_setup(environment), provider=parrot or Parrot())


if __name__ == "__main__":
    main(setup=scripted(dict(os.environ)))
