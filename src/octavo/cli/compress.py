"""`compress` and `plan`: a message list made to fit, or what that would do; nothing is stored.

What comes out is in the format and the shape of what went in, and never measures more than it may. No model is asked
unless a summariser is named.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from octavo.cli.app import app
from octavo.cli.batch import (
    LineDone,
    LineTask,
    in_order,
    processes,
    refusal,
    result_json,
    told_lines,
)
from octavo.cli.compress_options import (
    USUAL_MODEL,
    Budgeted,
    CompressOptions,
    Focus,
    FormatName,
    Keep,
    Ratio,
    histories_of,
    metered,
    naming,
    read_keep,
    summarising,
)
from octavo.cli.lines import Line, is_terminal, line, many, table
from octavo.cli.message_files import STDIN, RawLine, open_input, read_opening
from octavo.cli.options import AsJson, Db, InputFile, Model, Policy
from octavo.cli.printing import put, show, tell, written
from octavo.cli.progress import ProgressLine, ProgressSteps, progress, size_of
from octavo.cli.resumable import BatchState, LineDigest, ResumableFile, resumable
from octavo.cli.setup import Setup, run_busy, setup_of
from octavo.core.history_json import History, dumped
from octavo.core.json_values import JsonObject
from octavo.errors import OctavoError, UsageError

if TYPE_CHECKING:
    from octavo.core.budget import Budget
    from octavo.engine.stateless import CompressionOptions, Result
    from octavo.meters.meter import Meter


@app.command(
    short_help="Make a message history fit.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo compress chat.json --budget 8000 > smaller.json\n"
    "  octavo compress chat.json --ratio 0.3 --focus 'the database schema' --receipt\n"
    "  octavo compress run.jsonl --model claude-sonnet-4-5 --out smaller.jsonl\n"
    "  octavo compress chats.jsonl --budget 2000 --jobs 4 --out smaller.jsonl --resume\n"
    "  my-agent --dump | octavo compress - --budget 4000 | my-agent --load\n"
    "  octavo compress chat.json --budget 8000 --summariser gpt-4o-mini",
)
def compress(
    context: typer.Context,
    file: InputFile = STDIN,
    *,
    model: Model = None,
    budget: Budgeted = None,
    ratio: Ratio = None,
    keep: Keep = None,
    policy: Policy = "octavo",
    focus: Focus = "",
    summariser: Annotated[
        str,
        typer.Option(
            "--summariser",
            metavar="MODEL",
            help="The model that writes the summary; `same` means --model. With `none`, no model is asked and only "
            "exact lines are kept.",
        ),
    ] = "none",
    format: FormatName = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", show_default=False, help="Write to this file."),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            min=0,
            help="Processes that share the conversations of a JSON Lines file; 0 means one for each core.",
        ),
    ] = 1,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on where an earlier run with the same --out stopped."),
    ] = False,
    receipt: Annotated[
        bool,
        typer.Option(
            "--receipt", help="Print the whole receipt: which facts were kept, retold and left out."
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object a line: the messages, their token counts and the receipt."
        ),
    ] = False,
    db: Db = None,
) -> None:
    """Make a message history fit, and print it in the format it came in.

    Takes OpenAI, Anthropic or Gemini messages: a JSON array, the body of a request, or JSON Lines of messages or of
    conversations. The newest turns stay as they are; what is older is compressed into one message that holds a summary
    and the exact lines that matter. Without --budget or --ratio the window of the model decides. A history that fits
    already comes out unchanged.

    A file with one conversation in each line may have any number of them: results come in the order of the lines, and
    memory does not grow. A line that cannot be compressed is reported by its number, has no result, and makes the exit
    code 1; all others are done. A run with --out that was stopped goes on with --resume.

    The receipt goes to standard error, so a pipe gets nothing but messages.
    """
    setup = setup_of(context, db)
    options = CompressOptions(
        model=model or setup.settings.model or USUAL_MODEL,
        budget=budget,
        ratio=ratio,
        keep=read_keep(keep),
        policy=policy,
        focus=focus,
        format=format,
    )
    if jobs != 1 and summariser != "none":
        raise UsageError("a summariser is asked by one process: leave --jobs out, or --summariser")
    asked = _Asked(
        summariser=summariser,
        out=out,
        whole=receipt,
        as_json=as_json,
        jobs=jobs or os.cpu_count() or 1,
        resume=resume,
    )
    run_busy(_compress(setup, file, options, asked))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is asked besides the compression itself."""

    summariser: str
    out: Path | None
    whole: bool
    as_json: bool
    jobs: int
    resume: bool


async def _compress(setup: Setup, name: str, options: CompressOptions, asked: _Asked) -> None:
    async with (
        metered(setup, options.model) as meter,
        summarising(setup, asked.summariser, options.model) as narrator,
    ):
        with open_input(name) as file, naming(name):
            found = read_opening(file)
            if isinstance(found, History):
                await _compress_one(setup, found, options.arguments(found, meter, narrator), asked)
                return
            task = LineTask(
                options=options.for_lines(meter, narrator), whole=asked.whole, as_json=asked.as_json
            )
            await _compress_many(setup, name, found, task, options, asked, size_of(file))


async def _compress_one(setup: Setup, history: History, options: CompressionOptions, asked: _Asked) -> None:
    from octavo.engine.batch import written_line
    from octavo.engine.stateless import acompress

    with written(asked.out) as write, progress() as shown:
        shown.step(f"{len(history.messages):,} messages")
        result = await acompress(history.messages, **options)
        made = written_line(history, result)
        shown.clear()
        write((dumped(result_json(made, result.format)) if asked.as_json else made.text) + "\n")
    model = options["meter"].card.name if not isinstance(options["meter"], str) else ""
    tell(setup, told_lines(made, "", model, whole=asked.whole))


async def _compress_many(
    setup: Setup,
    name: str,
    lines: Iterator[RawLine],
    task: LineTask,
    options: CompressOptions,
    asked: _Asked,
    total: int,
) -> None:
    """Compress a conversation in each line; those that cannot be are told, and stop no other."""
    from octavo.engine.stateless import compress as try_options

    try_options([], **task.options)  # what makes no sense is said once, not for every line
    with ExitStack() as stack:
        out = stack.enter_context(_opened_out(asked, options))
        shown = stack.enter_context(progress())
        batch = _Batch(setup, name, out, shown, total)
        rest = batch.skip_done(lines)
        if asked.jobs == 1:
            for given in rest:
                batch.add(given, refusal(given) if given.problem else await task.arun(given))
        else:
            submit = stack.enter_context(processes(asked.jobs, task))
            for given, done in in_order(rest, submit, asked.jobs):
                batch.add(given, done)
    batch.finish()


@contextmanager
def _opened_out(asked: _Asked, options: CompressOptions) -> Iterator[BatchOut]:
    """Open the place where results go: a file can be continued later, anything else is written as it comes."""
    if asked.out is None or (asked.out.exists() and not asked.out.is_file()):
        if asked.resume:
            raise UsageError("--resume goes on with a file: name it with --out")
        with written(asked.out) as write:
            yield PlainOut(write)
        return
    told = {**asdict(options), "summariser": asked.summariser, "json": asked.as_json}
    with resumable(asked.out, told, resume=asked.resume) as file:
        yield file


class PlainOut:
    """A pipe, a terminal or a device, which a later run cannot continue."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self.state = BatchState()

    def add(self, text: str, state: BatchState) -> None:
        if text:
            self._write(text)
        self.state = state


BatchOut = PlainOut | ResumableFile


class _Batch:
    """A batch under way: writes results, says how far it is, and what went wrong."""

    def __init__(self, setup: Setup, name: str, out: BatchOut, shown: ProgressLine, total: int) -> None:
        self._setup, self._name, self._out, self._shown = setup, name, out, shown
        self._digest, self._read, self._total = LineDigest(), 0, total
        self._log = None if is_terminal(sys.stderr) else ProgressSteps()
        self._began, self._before = time.monotonic(), out.state.conversations

    def skip_done(self, lines: Iterator[RawLine]) -> Iterator[RawLine]:
        """Pass over the lines that an earlier run did, and see that they are the same."""
        earlier = self._out.state
        digest = ""
        if earlier.line:
            for given in lines:
                digest, self._read = self._digest.add(given.raw), self._read + len(given.raw)
                if given.number >= earlier.line:
                    break
            if digest != earlier.digest:
                raise UsageError(
                    f"{self._name} is not the input that was begun with: its first {earlier.line:,} lines differ"
                )
            tell(self._setup, [line(f"going on after line {earlier.line:,}")])
        return lines

    def add(self, given: RawLine, done: LineDone) -> None:
        """Write a result down."""
        state = self._out.state
        self._read += len(given.raw)
        self._out.add(
            f"{done.text}\n" if done.text else "",
            replace(
                state,
                line=given.number,
                conversations=state.conversations + 1,
                failed=state.failed + bool(done.error),
                before=state.before + done.before,
                after=state.after + done.after,
                digest=self._digest.add(given.raw),
            ),
        )
        told = done.told
        if done.error:
            told = (
                line(("bad", f"octavo: {self._name}: line {done.number}: {' '.join(done.error.split())}")),
            )
        if told:
            self._shown.clear()
            tell(self._setup, told)
        self._show()

    def _show(self) -> None:
        count = self._out.state.conversations
        rate = (count - self._before) / max(time.monotonic() - self._began, 1e-9)
        words = f"{many(count, 'conversation')}, {rate:,.0f} a second"
        if self._log is None:
            self._shown.step(words, self._read, self._total)
        else:
            self._log.step(words, count, self._read, self._total)

    def finish(self) -> None:
        """Say what was done; the exit code says whether all of it was."""
        state = self._out.state
        words = f"{many(state.conversations, 'conversation')}: {state.before:,} → {state.after:,} tokens"
        self._shown.clear()
        tell(self._setup, [line(words)])
        if state.failed:
            failed = many(state.failed, "line")
            raise OctavoError(
                f"{failed} of {self._name} could not be compressed, as told above; all others are done"
            )


@app.command(
    short_help="Say what `compress` would do.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo plan chat.json --model gpt-4o\n"
    "  octavo plan chat.json --budget 8000 --keep 0.3\n"
    "  octavo plan chat.json --policy gemini --json",
)
def plan(
    context: typer.Context,
    file: InputFile = STDIN,
    *,
    model: Model = None,
    budget: Budgeted = None,
    ratio: Ratio = None,
    keep: Keep = None,
    policy: Policy = "octavo",
    focus: Focus = "",
    format: FormatName = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Say what `compress` would do, without doing it.

    Shows how the window of the model is divided, where the history stands in it, and what would be covered and
    retained. The numbers are those that `compress` with the same options and no summariser arrives at.
    """
    setup = setup_of(context, db)
    options = CompressOptions(
        model=model or setup.settings.model or USUAL_MODEL,
        budget=budget,
        ratio=ratio,
        keep=read_keep(keep),
        policy=policy,
        focus=focus,
        format=format,
    )
    run_busy(_plan(setup, file, options, as_json=as_json))


async def _plan(setup: Setup, name: str, options: CompressOptions, *, as_json: bool) -> None:
    from octavo.engine.stateless import acompress

    async with metered(setup, options.model) as meter:
        with progress() as shown:
            for history in histories_of(name, shown):
                with naming(name, history.where):
                    result = await acompress(history.messages, **options.arguments(history, meter, None))
                    planned = _planned(history, result, options, meter)
                shown.clear()
                if as_json:
                    put(dumped(planned) + "\n")
                else:
                    show(setup, _plan_lines(history, planned))


def _planned(history: History, result: Result, options: CompressOptions, meter: Meter) -> JsonObject:
    from octavo.core.policy import budget_for, preset

    policy = preset(options.policy)
    divided = budget_for(policy, meter.card)
    return {
        "model": meter.card.name,
        "policy": policy.name,
        "messages": len(history.messages),
        "tokens": result.before,
        "covered": result.covered,
        "retained": len(history.messages) - result.covered,
        "after": result.after,
        "decision": _decision(options, result, divided),
        "notes": list(result.notes),
        "window": divided.window,
        "reply": divided.reply,
        "margin": divided.margin,
        "available": divided.available,
        "prepare": divided.prepare,
        "soft": divided.soft,
        "hard": divided.hard,
    }


def _decision(options: CompressOptions, result: Result, divided: Budget) -> str:
    """Say in words what would happen and why."""
    limit = "the budget" if options.budget is not None else "the ratio" if options.ratio is not None else ""
    if result.snapshot is None and not result.notes:
        return f"nothing: it fits {limit or f'under the mark of {divided.trigger:,} tokens'}"
    reason = f"above {limit}" if limit else f"above the mark of {divided.trigger:,} tokens"
    return f"compress: {result.before:,} tokens are {reason}"


def _plan_lines(history: History, planned: JsonObject) -> Iterator[Line]:
    place = f"{history.where}: " if history.where else ""
    yield line(place, ("strong", str(planned["decision"])))
    numbers = {key: value for key, value in planned.items() if isinstance(value, int)}
    rows = [
        (
            "messages",
            f"{numbers['messages']:,}",
            f"{numbers['covered']:,} covered, {numbers['retained']:,} verbatim",
        ),
        ("tokens", f"{numbers['tokens']:,}", f"{numbers['after']:,} afterwards"),
        ("window", f"{numbers['window']:,}", f"{planned['model']}"),
        ("reply", f"{numbers['reply']:,}", "kept for the answer"),
        ("margin", f"{numbers['margin']:,}", "kept free"),
        ("available", f"{numbers['available']:,}", "for the conversation"),
    ]
    words = {"prepare": "starts in the background", "soft": "between turns", "hard": "before sending"}
    rows += [(name, f"{numbers[name]:,}", words[name]) for name in words if name in numbers]
    yield from table([(f"  {a}", b, c) for a, b, c in rows], right=(1,))
    for note in cast("list[str]", planned["notes"]):
        yield line(("warn", f"  {note}"))
