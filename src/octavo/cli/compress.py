"""`compress` and `plan`: a message list made to fit, or what that would do; nothing is stored.

What comes out is in the format and the shape of what went in, and never measures more than it may. No model is asked
unless a summariser is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from octavo.cli.app import app
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
from octavo.cli.lines import Line, line, table
from octavo.cli.message_files import STDIN, History, dumped, rewrap
from octavo.cli.options import AsJson, Db, InputFile, Model, Policy
from octavo.cli.printing import put, show, tell, written
from octavo.cli.progress import progress
from octavo.cli.receipts import brief, receipt_lines, unwritten_lines
from octavo.cli.setup import Setup, run_busy, setup_of
from octavo.core.json_values import Json, JsonObject
from octavo.errors import ContextOverflow

if TYPE_CHECKING:
    from octavo.core.budget import Budget
    from octavo.engine.stateless import Result
    from octavo.meters.meter import Meter


@app.command(
    short_help="Make a message history fit.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo compress chat.json --budget 8000 > smaller.json\n"
    "  octavo compress chat.json --ratio 0.3 --focus 'the database schema' --receipt\n"
    "  octavo compress run.jsonl --model claude-sonnet-4-5 --out smaller.jsonl\n"
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
    run_busy(_compress(setup, file, options, summariser, out, whole=receipt, as_json=as_json))


async def _compress(
    setup: Setup,
    name: str,
    options: CompressOptions,
    summariser: str,
    out: Path | None,
    *,
    whole: bool,
    as_json: bool,
) -> None:
    from octavo.engine.stateless import acompress

    async with (
        metered(setup, options.model) as meter,
        summarising(setup, summariser, options.model) as narrator,
    ):
        with written(out) as write, progress() as shown:
            for history in histories_of(name, shown):
                with naming(name, history.where):
                    result = await acompress(history.messages, **options.arguments(history, meter, narrator))
                    _check_left(history, result)
                    text = rewrap(history, result.messages, result.system)
                shown.clear()
                write(dumped(_result_json(history, result)) + "\n" if as_json else text)
                tell(setup, _told(history, result, meter, whole=whole))


def _check_left(history: History, result: Result) -> None:
    """Refuse a result that says nothing any more: no provider takes it, and nobody means it."""
    if history.messages and not result.messages:
        raise ContextOverflow(
            "no message fits: give a larger --budget or --ratio",
            {"needed": result.before, "left": result.after},
        )


def _told(history: History, result: Result, meter: Meter, *, whole: bool) -> Iterator[Line]:
    place = f"{history.where}: " if history.where else ""
    if result.snapshot is None and not result.notes:
        yield line(f"{place}{result.before:,} tokens: it fits; nothing was changed")
        return
    count = f"{result.covered:,} of {len(history.messages):,} messages compressed"
    yield line(f"{place}{result.before:,} → {result.after:,} tokens ({meter.card.name}); {count}")
    for note in result.notes:
        yield line(("warn", f"{place}{note}"))
    if result.receipt is not None and whole:
        yield from receipt_lines(result.receipt)
    elif result.receipt is not None:
        yield from unwritten_lines(result.receipt)
        yield line(("faint", place + brief(result.receipt)))


def _result_json(history: History, result: Result) -> JsonObject:
    import json

    return {
        "messages": cast("list[Json]", result.messages),
        "system": result.system,
        "format": result.format,
        "before": result.before,
        "after": result.after,
        "covered": result.covered,
        "of": len(history.messages),
        "notes": list(result.notes),
        "summary": result.snapshot.summary if result.snapshot else "",
        "receipt": json.loads(result.receipt.to_json()) if result.receipt else None,
    }


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
