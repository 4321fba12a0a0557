"""One run of a summariser: what it works on, what it has noticed, and the narrative that comes out of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from octavo.core.ask.answer import Expected, JudgedAnswer, JudgeTask
from octavo.core.ask.forms import Brief
from octavo.core.ask.source_check import SourceText, said, source_text
from octavo.core.extract.changes import StandingLine
from octavo.core.reply import Reply
from octavo.core.summary import Narrative, SummaryJob
from octavo.core.verify import Problem
from octavo.summarise.calls import ModelCalls, Tell

STATE = "<state_snapshot>"
"""A prompt that shows this tag asks for a structured state."""


@dataclass(slots=True, kw_only=True)
class SummaryRun:
    """The work on one narrative."""

    calls: ModelCalls
    brief: Brief
    source: SourceText
    shown: int
    """Tokens of what is to be summarised, the previous summary included."""
    tell: Tell
    standing: tuple[StandingLine, ...] = ()
    """What users settled in the covered messages."""
    told: bool = False
    """Whether anything was told that an answer from now on would be added to."""
    problems: list[Problem] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    notes: list[str] | None = None
    """Notes on chunks, once it is known that the whole does not fit; taken once, whatever becomes of the merge."""

    @property
    def expected(self) -> Expected:
        """What an answer to the whole task is judged by."""
        return Expected(
            source_text=self.source,
            language=self.brief.language,
            source=self.shown,
            cap=self.brief.cap,
            sections=self.brief.form.sections,
            state=STATE in self.brief.form.text,
            wish=self.brief.wish,
            standing=self.standing,
        )

    def expected_of(self, text: str, *, cap: int, source: SourceText) -> Expected:
        """What an answer on one chunk is judged by: any form will do."""
        size = self.calls.measure(text)
        return replace(self.expected, source_text=source, source=size, cap=cap, sections=(), state=False)

    async def judged(
        self, reply: Reply, expected: Expected | None = None, *, bullets: bool = False
    ) -> JudgedAnswer:
        """Judge an answer: to the whole task, unless it was another one."""
        asked = JudgeTask(reply=reply, expected=expected or self.expected, bullets=bullets)
        return await self.calls.judge(asked, self.calls.measure)

    def say(self, piece: str) -> None:
        """Pass on a piece of the text as it streams."""
        self.told = True
        self.tell(piece)

    def begin_anew(self) -> None:
        """Say that what was told so far is replaced by what follows."""
        if self.told:
            self.tell("")
        self.told = False

    def keep(self, draft: JudgedAnswer, where: str) -> str:
        """Take in what came of one chunk."""
        self.note(Problem(problem.flaw, f"{where}: {problem.detail}") for problem in draft.problems)
        if draft.text:
            self.doubtful += draft.doubtful
            self.say(f"{draft.text}\n")
        return draft.text

    def note(self, problems: Iterable[Problem]) -> None:
        self.problems += problems

    def narrative(self, text: str) -> Narrative:
        return Narrative(
            text=text,
            model=self.calls.answered_by or self.calls.model,
            prompt=self.brief.form.label,
            usage=self.calls.usage,
            requests=self.calls.made,
            problems=tuple(self.problems),
            doubtful=tuple(dict.fromkeys(self.doubtful)),
        )


def source_of(job: SummaryJob) -> SourceText:
    """Gather what a summary may name: what is covered, what was summarised before, and what the user asked for."""
    always_sent = (*job.live.system, *job.live.pins) if job.live else ()
    messages = (*always_sent, *(node.message for node in job.covered))
    return source_text([job.previous, job.focus, job.prompt, *said(messages)])
