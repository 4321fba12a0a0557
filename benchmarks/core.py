"""Deciding and splitting a long branch with known counts: cost per call, and how it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from octavo.core.budget import ModelCard, Reading
from octavo.core.context import Recipe, build_context
from octavo.core.harden import harden
from octavo.core.messages import Branch, Message, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.policy import OCTAVO, budget_for, decide, retained_tokens
from octavo.core.protocol import ANTHROPIC
from octavo.core.split import split

SIZES = (1_000, 10_000, 100_000)
REPEATS = 5


def agent_branch(size: int) -> Branch:
    """Turns of a question, a tool round and an answer."""
    said: list[Message] = []
    while len(said) < size:
        call = ToolCall(id=f"c{len(said)}", name="run", input='{"command":"ls"}')
        result = ToolResult(call_id=call.id, content=(Text(text="a.py b.py c.py"),))
        said += [
            user("Please look at the next file and fix what you find."),
            Message(role="assistant", parts=(Text(text="Let me look."), call)),
            Message(role="tool", parts=(result,)),
            assistant("Fixed: the loop ran once too often."),
        ]
    return place(said[:size])


def cpu(work: Callable[[], object]) -> float:
    """The best of several runs, in milliseconds of processor time."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1_000


def main(arguments: Sequence[str]) -> None:
    del arguments
    print("| messages | decide + split, ms CPU | per 1,000 | build context, ms | build + harden, ms |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size in SIZES:
        branch = agent_branch(size)
        said = [node.message for node in branch]
        sizes = [20] * size
        budget = budget_for(OCTAVO, ModelCard(name="m", window=max(8_192, 24 * size), max_output=1_000))

        def turn(sizes: list[int] = sizes, said: list[Message] = said) -> object:
            total = sum(sizes)
            decide(OCTAVO, budget, Reading(tokens=total))  # noqa: B023 - called at once
            return split(said, sizes, retained_tokens(OCTAVO.retain, total))

        recipe = Recipe(branch=branch)
        chosen = cpu(turn)
        built = cpu(lambda: build_context(recipe))  # noqa: B023 - called at once
        hardened = cpu(lambda: harden(build_context(recipe).messages, ANTHROPIC))  # noqa: B023 - called at once
        print(f"| {size:,} | {chosen:.2f} | {chosen / size * 1_000:.3f} | {built:.2f} | {hardened:.2f} |")


if __name__ == "__main__":
    main([])
