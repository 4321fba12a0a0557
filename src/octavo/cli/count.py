"""`count`: what a message list costs, in the model's own tokens, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated, cast

import typer

from octavo.cli.app import app
from octavo.cli.compress_options import (
    USUAL_MODEL,
    FormatName,
    format_of,
    histories_of,
    metered,
    naming,
    served,
)
from octavo.cli.lines import Line, line, table
from octavo.cli.message_files import STDIN, read_text
from octavo.cli.options import AsJson, Db, InputFile, Model
from octavo.cli.printing import put, show
from octavo.cli.progress import progress
from octavo.cli.setup import Setup, run_busy, setup_of
from octavo.core.history_json import History, dumped
from octavo.core.json_values import Json, JsonObject
from octavo.errors import BadInput

if TYPE_CHECKING:
    from octavo.core.context import Context
    from octavo.meters.meter import Meter
    from octavo.protocols import Provider


@app.command(
    short_help="Count the tokens a history costs.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo count chat.json --model claude-sonnet-4-5\n"
    "  octavo count run.jsonl --json | jq .tokens\n"
    "  octavo count chat.json --model claude-sonnet-4-5 --remote\n"
    "  cat README.md | octavo count - --text",
)
def count(
    context: typer.Context,
    file: InputFile = STDIN,
    *,
    model: Model = None,
    text: Annotated[bool, typer.Option("--text", help="Count plain text instead of messages.")] = False,
    remote: Annotated[
        bool, typer.Option("--remote", help="Ask the model's provider for its own count, too.")
    ] = False,
    format: FormatName = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Count the tokens a message history costs, in the model's own tokenizer.

    Says how sure that is: counted with the model's own tokenizer, calibrated by what a provider billed, or estimated,
    with the bound of the error: what a provider adds to a request is not known before its first bill. With
    several conversations in a file, each has a line of its own.

    With --remote the messages are sent to the model's provider (Anthropic, Google or OpenAI), which charges nothing for
    counting them; its number stands beside ours.
    """
    setup = setup_of(context, db)
    chosen = model or setup.settings.model or USUAL_MODEL
    if text and remote:
        raise BadInput("--remote", "providers count messages: leave --text out")
    if text:
        run_busy(_count_text(setup, file, chosen, as_json=as_json))
    else:
        run_busy(_count(setup, file, chosen, format, remote=remote, as_json=as_json))


async def _count(
    setup: Setup, name: str, model: str, format: str | None, *, remote: bool, as_json: bool
) -> None:
    async with AsyncExitStack() as stack:
        meter = await stack.enter_async_context(metered(setup, model))
        asked = await stack.enter_async_context(served(setup, model)) if remote else None
        shown = stack.enter_context(progress())
        for history in histories_of(name, shown):
            with naming(name, history.where):
                context, kind = _context(history, format)
            counted = _counted(context, kind, meter)
            if asked is not None:
                counted["remote"] = await _counted_by(*asked, context)
            shown.clear()
            if as_json:
                put(dumped(counted) + "\n")
            else:
                show(setup, _count_lines(history, counted))


async def _count_text(setup: Setup, name: str, model: str, *, as_json: bool) -> None:
    async with metered(setup, model) as meter:
        words = read_text(name)
        tokens, exact = meter.count_text(words), meter.unit.tokenizer.exact
    basis = "exact" if exact else "estimated"
    if as_json:
        put(
            dumped({"model": meter.card.name, "tokens": tokens, "basis": basis, "characters": len(words)})
            + "\n"
        )
    else:
        show(setup, [line(("strong", f"{tokens:,} tokens"), f" ({basis}, {meter.card.name})")])


def _context(history: History, format: str | None) -> tuple[Context, str]:
    from octavo.core.context import Context
    from octavo.core.wire import read, read_tools

    kind = format_of(history, format)
    messages = read(kind, history.messages, history.system)
    return Context(tools=read_tools(kind, history.tools), retained=messages), kind


async def _counted_by(provider: Provider, model: str, context: Context) -> int:
    """Ask a provider, for what it would be sent."""
    from octavo.core.harden import harden
    from octavo.core.reply import Request
    from octavo.engine.remote_count import count

    sent = harden(context.messages, provider.rules).messages
    return await count(provider, Request(model=model, messages=sent, tools=context.tools))


def _counted(context: Context, kind: str, meter: Meter) -> JsonObject:
    messages, tools = context.messages, context.tools
    reading = meter.read(context)
    roles: dict[str, Json] = dict(meter.by_role(messages))
    if tools:
        roles["tools"] = meter.count_tools(tools)
    frame = reading.tokens - sum(tokens for tokens in roles.values() if isinstance(tokens, int))
    return {
        "model": meter.card.name,
        "format": kind,
        "messages": len(messages),
        "tokens": reading.tokens,
        "basis": reading.basis,
        "error_bound": reading.error_bound,
        "certainty": reading.certainty,
        "by_role": {**roles, "frame": frame},
        "window": meter.card.window,
        "assumed": meter.card.assumed,
    }


def _count_lines(history: History, counted: JsonObject) -> Iterator[Line]:
    place = f"{history.where}: " if history.where else ""
    assumed = ", window assumed" if counted["assumed"] else ""
    yield line(
        place,
        ("strong", f"{counted['tokens']:,} tokens"),
        f" ({counted['certainty']}, {counted['model']}{assumed}) in {counted['messages']:,} messages",
    )
    if not history.where:
        roles = cast("dict[str, int]", counted["by_role"])
        yield from table([(f"  {role}", f"{tokens:,}") for role, tokens in roles.items()], right=(1,))
    if "remote" in counted:
        theirs, ours = cast("int", counted["remote"]), cast("int", counted["tokens"])
        apart = (
            f"{abs(theirs - ours):,} {'more' if theirs > ours else 'fewer'}" if theirs != ours else "the same"
        )
        yield line(place, ("strong", f"{theirs:,} tokens"), f" by the provider's own count: {apart}")
