"""The conversation, the answers and the short cuts that the tests of the model summariser share."""

from __future__ import annotations

import asyncio

from octavo.core.messages import Branch, Message, ToolCall, assistant
from octavo.core.reply import Finish, Reply, Usage
from octavo.core.summary import Narrative, SummaryJob
from octavo.protocols import Provider
from octavo.summarise.model import ModelSummariser
from octavo.testing import talk

TALK = talk(
    "u: The import fails on big files since 2024-03-10. Please find out why, and never touch prod.toml.",
    "a: I will read the importer first, because it is what opens the files.",
    'c: read {"path": "src/importer.py"}',
    "r: 41: rows = list(reader)  # all of them, whatever the size of the file may be",
    "a: It reads all rows at once (line 41), so a big file does not fit. Shall I make it read in batches of 500?",
    "u: Yes, please do that, and keep the order of the rows as it is now, since the report depends on it.",
    "a: Done: src/importer.py reads batches of 500 now, and the order of the rows is the same as before.",
)
RECENT = talk("u: Thanks. What about the tests of the importer?")
GOOD = """## Context
The import failed on big files; the user wants to know why. Never touch prod.toml.

## Key Points
- src/importer.py read all rows at once (line 41).
- It reads batches of 500 now; the order of the rows is kept.

## Technical Details
(none)

## Decisions and Outcomes
Batches of 500.

## Unresolved Questions
(none)"""
TERSE = "## Context\nImport of big files; never touch prod.toml.\n## Key Points\n- Batches of 500.\n## Decisions\nDone."
CALL = Message(role="assistant", parts=(ToolCall(id="1", name="read", input="{}"),))


def words(text: str) -> int:
    return len(text.split())


def model(provider: Provider, **fields: object) -> ModelSummariser:
    limits: dict[str, object] = {"window": 8_000, "max_output": 4_000, "measure": words}
    return ModelSummariser(provider=provider, model="m", **(limits | fields))  # type: ignore[arg-type]


def run(summariser: ModelSummariser, job: SummaryJob, told: list[str] | None = None) -> Narrative:
    heard: list[str] = [] if told is None else told
    return asyncio.run(summariser.summarise(job, heard.append))


def flaws(narrative: Narrative) -> list[str]:
    return [problem.flaw for problem in narrative.problems]


JOB = SummaryJob(covered=TALK, recent=RECENT, cap=300)


def reply(answer: str | Message, finish: Finish) -> Reply:
    return Reply(
        message=assistant(answer) if isinstance(answer, str) else answer, finish=finish, usage=Usage(output=7)
    )


def history(turns: int) -> Branch:
    lines: list[str] = []
    for n in range(turns):
        lines += [
            f"u: Please note item {n}00 of the long list, and what it is for in the house.",
            "a: I noted it. " + "It is for the house and for the garden. " * 6,
        ]
    return talk(*lines)
