"""`costs`: what conversations sent, had cached, saved, and spent on summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import reduce
from typing import TYPE_CHECKING, Annotated, cast

import typer

from octavo.cli.app import app
from octavo.cli.lines import Line, line, table
from octavo.cli.options import AsJson, Db
from octavo.cli.printing import show as show_lines
from octavo.cli.printing import show_json
from octavo.cli.setup import find_chat, opened, run, setup_of, short
from octavo.errors import BadInput

if TYPE_CHECKING:
    from octavo.engine.costs import CostLine, GroupBy

GROUPS = ("day", "model", "conversation")


@app.command(
    short_help="Show what conversations cost.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo costs                        by day\n"
    "  octavo costs --by model\n"
    "  octavo costs last                   one conversation, by day\n"
    "  octavo costs --by conversation --json | jq '.[] | [.conversation, .sent, .saved]'",
)
def costs(
    context: typer.Context,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONVERSATION]", show_default=False, help="One conversation only: id, title, or `last`."
        ),
    ] = None,
    *,
    by: Annotated[str, typer.Option("--by", metavar="GROUP", help="day, model or conversation.")] = "day",
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Show what was sent, how much of it came from the provider's cache, what compressing saved, and what it cost.

    `saved` are the tokens that requests were shorter because of compressions before them. Dollars are those of today's
    model cards, and leave out what has no price there.
    """
    setup = setup_of(context, db)
    if by not in GROUPS:
        raise BadInput("--by", f"expected one of {', '.join(GROUPS)}, got {by!r}")

    async def look() -> tuple[CostLine, ...]:
        from octavo.engine.costs import costs as add_up

        async with opened(setup) as engine:
            id = (await find_chat(engine, conversation)).id if conversation else None
            return await add_up(engine, conversation=id, by=cast("GroupBy", by))

    found = run(look())
    if as_json:
        show_json([asdict(each) for each in found])
    elif found:
        show_lines(setup, _lines(found, by))
    else:
        show_lines(setup, [line("nothing was billed yet")])


def _lines(found: Sequence[CostLine], by: str) -> list[Line]:
    from octavo.engine.costs import CostLine

    total = reduce(CostLine.plus, found, CostLine())
    rows: list[tuple[str, ...]] = [(by, "requests", "sent", "cached", "saved", "summaries", "dollars")]
    rows += [_row(_name(each, by), each) for each in found]
    if len(found) > 1:
        rows.append(_row("total", total))
    return list(table(rows, right=(1, 2, 3, 4, 5, 6)))


def _name(each: CostLine, by: str) -> str:
    name = str(getattr(each, by))
    return short(name) if by == "conversation" else name or "no model"


def _row(name: str, each: CostLine) -> tuple[str, ...]:
    from octavo.core.price_rule import dollars

    spent = [amount for amount in (each.dollars, each.summary_dollars) if amount is not None]
    return (
        name,
        f"{each.requests:,}",
        f"{each.sent:,}",
        f"{each.cached:,}",
        f"{each.saved:,}",
        f"{each.summary_tokens:,}",
        dollars(sum(spent)) if spent else "–",
    )
