"""Deciding and splitting a long branch with known counts: cost per call, and how it grows."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.clock import best_cpu
from benchmarks.figures import Cell, Item, Table, Tell
from octavo.core.budget import ModelCard, Reading
from octavo.core.context import ContextInputs, build_context
from octavo.core.harden import harden
from octavo.core.messages import Branch, Message, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.policy import OCTAVO, budget_for, decide, retained_tokens
from octavo.core.protocol import ANTHROPIC
from octavo.core.split import split

SIZES = (1_000, 10_000, 100_000)
EACH = 20
"""Tokens of a message."""


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


def row(size: int) -> tuple[Cell, ...]:
    branch = agent_branch(size)
    said = [node.message for node in branch]
    sizes = [EACH] * size
    budget = budget_for(OCTAVO, ModelCard(name="m", window=max(8_192, 24 * size), max_output=1_000))

    def turn() -> object:
        total = sum(sizes)
        decide(OCTAVO, budget, Reading(tokens=total))
        return split(said, sizes, retained_tokens(OCTAVO.retain, total))

    recipe = ContextInputs(branch=branch)
    chosen = best_cpu(turn)
    built = best_cpu(lambda: build_context(recipe))
    hardened = best_cpu(lambda: harden(build_context(recipe).messages, ANTHROPIC))
    return (size, chosen, chosen / size * 1_000, built, hardened)


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    rows: list[tuple[Cell, ...]] = []
    for size in SIZES[:1] if quick else SIZES:
        tell(f"{size:,} messages")
        rows.append(row(size))
    yield Table(
        name="core",
        title="Decide, split and build with known counts, ms of processor time",
        columns=("messages", "decide + split", "per 1,000", "build context", "build + harden"),
        rows=tuple(rows),
        reading="Best of five; no store, no tokenizer. `per 1,000` that stays the same means: linear.",
    )
