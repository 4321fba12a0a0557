"""A summariser that asks a model, in as many calls as its window needs, and believes nothing it can check.

Whatever the model answers, the outcome is a narrative that passed every check, or an empty one that names the problems.
After a bad answer it is asked once more, more tersely (from the live form, up to twice); then it is given up.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Literal

from octavo.core.ask.answer import JudgedAnswer
from octavo.core.ask.blocks import Measure, text_of
from octavo.core.ask.forms import check, joined, live, merge, prepare, whole
from octavo.core.ask.template import Prompts
from octavo.core.budget import ModelCard
from octavo.core.extract.changes import standing_in
from octavo.core.messages import Message
from octavo.core.summary import Narrative, Style, SummaryJob
from octavo.core.verify import Problem
from octavo.errors import BadBudget, BadInput
from octavo.protocols import Provider
from octavo.summarise.calls import Judge, ModelCalls, Tell, in_thread
from octavo.summarise.chunked import list_facts, take_notes
from octavo.summarise.prompts import packaged
from octavo.summarise.summary_run import SummaryRun, source_of

RECENT_SHARE = 0.15
"""Of the window, for recent messages: they show what matters and are not summarised."""
PARALLEL = 4
"""Calls at a time: most providers allow that many to anybody."""

Mode = Literal["whole", "bullets"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummariser:
    """Asks a model of a provider for summaries."""

    provider: Provider
    model: str
    window: int
    """Tokens the model accepts, its answer included."""
    max_output: int
    """Tokens the model can answer with."""
    measure: Measure
    """Counts the tokens of a text."""
    prompts: Prompts = field(default_factory=packaged)
    mode: Mode = "whole"
    """`bullets` is for models of a billion parameters or so: small chunks, a few lines on each, no merging."""
    second_look: bool = False
    """Whether a draft is checked against its source by a further call."""
    judge: Judge = in_thread
    """Judges answers; a long one takes seconds."""
    parallel: int = PARALLEL
    temperature: float | None = None
    options: str = "{}"
    """Further parameters for the provider, as in `Request`."""

    def __post_init__(self) -> None:
        if self.parallel < 1:
            raise BadInput("parallel", f"expected 1 call at a time or more, got {self.parallel}")

    def continues(self, model: str) -> bool:
        """Tell whether it asks the model that chats: then its provider has most of the request in its cache."""
        return self.mode == "whole" and model in (self.model, f"{self.provider.name}/{self.model}")

    async def summarise(self, job: SummaryJob, tell: Tell) -> Narrative:
        """Write a narrative, as the protocol says."""
        # All of a long conversation is measured and read: that takes a while.
        run = await asyncio.to_thread(self._start, job, tell)
        if not run.brief.blocks:
            run.note([Problem("empty", "the covered messages say nothing")])
            return run.narrative("")
        try:
            text = await (list_facts(run) if self.mode == "bullets" else self._write(run))
        except BadBudget as error:
            run.note([Problem("no_room", str(error))])
            text = ""
        return run.narrative(text)

    def _start(self, job: SummaryJob, tell: Tell) -> SummaryRun:
        calls = ModelCalls(
            provider=self.provider,
            model=self.model,
            window=self.window,
            max_output=self.max_output,
            measure=self.measure,
            gate=asyncio.Semaphore(self.parallel),
            judge=self.judge,
            temperature=self.temperature,
            options=self.options,
            most=job.most if self.mode == "whole" else None,
        )
        brief = prepare(job, self.prompts, room=int(self.window * RECENT_SHARE), measure=self.measure)
        shown = sum(map(self.measure, (brief.previous, *(block.text for block in brief.blocks))))
        return SummaryRun(
            calls=calls,
            brief=brief,
            source=source_of(job),
            shown=shown,
            tell=tell,
            standing=standing_in(job.covered),
        )

    async def _write(self, run: SummaryRun) -> str:
        draft = await _climb_down(run)
        if draft.text and self.second_look:
            draft = await _look_again(run, draft)
        run.doubtful += draft.doubtful
        return draft.text


def model_summariser(
    provider: Provider,
    name: str,
    card: ModelCard,
    *,
    measure: Measure,
    embedded: bool,
    judge: Judge = in_thread,
    parallel: int = PARALLEL,
) -> ModelSummariser:
    """Give the summariser that a model is; `name` is what its provider calls it.

    Embedded models are small: they are asked for short lists, and without any chance in what they answer.
    """
    return ModelSummariser(
        provider=provider,
        model=name,
        window=card.window,
        max_output=card.max_output,
        measure=measure,
        judge=judge,
        # One engine answers one request after the other: somebody who asks meanwhile waits for one, not for four.
        parallel=1 if embedded else parallel,
        mode="bullets" if embedded else "whole",
        temperature=0.0 if embedded else None,
    )


@dataclass(frozen=True, slots=True)
class _Rung:
    """One way of asking, and what went wrong on the one above."""

    form: Literal["live", "transcript"]
    style: Style
    problem: str = ""
    last: bool = False


async def _climb_down(run: SummaryRun) -> JudgedAnswer:
    """Ask in the best way, and after a bad answer in the next best; a draft that is merely long is better than none."""
    rung: _Rung | None = _Rung("live" if _live_messages(run) else "transcript", run.brief.job.style)
    best = JudgedAnswer()
    while rung:
        draft = await (_ask_live(run) if rung.form == "live" else _ask(run, rung))
        run.note(draft.problems)
        best = draft if draft.text else best
        rung = _lower(rung, draft) if run.calls.may_ask() else None
    return best


def _lower(rung: _Rung, draft: JudgedAnswer) -> _Rung | None:
    """Name the next way of asking: in a transcript there are no tools to call, and terse is easier than detailed."""
    if rung.last or not draft.problems:
        return None
    problem = draft.problems[0]
    if rung.form == "live" and problem.flaw == "tool_call":
        return _Rung("transcript", rung.style, problem.detail)
    return _Rung("transcript", "concise", problem.detail, last=True)


def _live_messages(run: SummaryRun) -> tuple[Message, ...]:
    """Give the request in the form that hits the chat model's cache, if there is one and it fits."""
    context = run.brief.job.live
    asked = live(run.brief, run.brief.job.style)
    if context is None or asked is None or not run.calls.fits(asked, run.brief.cap, context.tools):
        return ()
    return asked


async def _ask_live(run: SummaryRun) -> JudgedAnswer:
    context = run.brief.job.live
    asked = _live_messages(run)
    run.begin_anew()
    reply = await run.calls.ask(
        asked,
        run.calls.answer_room(run.brief.cap),
        tools=context.tools if context else (),
        stable=len(asked) - 1,
        tell=run.say,
    )
    return await run.judged(reply)


async def _ask(run: SummaryRun, rung: _Rung) -> JudgedAnswer:
    calls = run.calls
    asked = whole(run.brief, rung.style, rung.problem)
    if run.notes is None and not calls.fits(asked, run.brief.cap):
        run.notes = await take_notes(run)
    if run.notes is not None:
        asked = merge(run.brief, run.notes, rung.style, rung.problem)
    if run.notes is not None and not calls.may_ask():
        return JudgedAnswer(problems=(Problem("spent", "no request was left to put the notes together"),))
    if run.notes == []:
        return JudgedAnswer(problems=(Problem("empty", "no part of the conversation could be summarised"),))
    run.begin_anew()
    reply = await calls.ask(asked, calls.answer_room(run.brief.cap), tell=run.say)
    return await run.judged(reply)


async def _look_again(run: SummaryRun, draft: JudgedAnswer) -> JudgedAnswer:
    """Have a draft checked against its source; if the answer cannot be used, the draft stands."""
    text = text_of(run.brief.blocks) if run.notes is None else joined(run.notes)
    asked = check(run.brief, text, draft.text, notes=run.notes is not None)
    if not run.calls.may_ask() or not run.calls.fits(asked, run.brief.cap):
        return draft
    reply = await run.calls.ask(asked, run.calls.answer_room(run.brief.cap))
    looked = await run.judged(reply)
    run.note(looked.problems)
    if looked.problems:
        return draft
    return replace(looked, doubtful=draft.doubtful + looked.doubtful)
