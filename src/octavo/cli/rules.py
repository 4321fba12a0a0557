"""`rules`: what stands in the compression of a conversation."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli.app import app
from octavo.cli.lines import line
from octavo.cli.options import AsJson, ConversationId, Db
from octavo.cli.printing import show as show_lines
from octavo.cli.printing import show_json
from octavo.cli.setup import find_chat, opened, run, setup_of
from octavo.errors import NotFound, UsageError

if TYPE_CHECKING:
    from octavo.core.snapshot import Extracts


@app.command(
    short_help="Show the rules, preferences and decisions that stand.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo rules last\n"
    "  octavo rules 'Trip to Norway' --drop 2\n"
    "  octavo rules 3f9a2c1b --json | jq -r '.[].text'",
)
def rules(
    context: typer.Context,
    conversation: ConversationId,
    *,
    drop: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default=False, help="Take line N out of the compression."),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Show which rules, preferences, responsibilities, deadlines and decisions stand in the compression in use.

    Each is a sentence of a user, word for word, with the number of the message that says it. A line that is dropped is
    not found again by later compressions; the version of the compression before it stays stored. The exit code is 1 if
    nothing stands.
    """
    setup = setup_of(context, db)

    async def look() -> Extracts:
        async with opened(setup) as engine:
            chat = await find_chat(engine, conversation)
            serving, standing = await chat.snapshots.serving(), await chat.snapshots.standing()
            if serving is None:
                raise UsageError("nothing is compressed on this branch, so every message is sent as it is")
            if drop is None:
                return standing
            if drop > len(standing):
                raise NotFound(f"there is no line {drop}: {len(standing)} lines stand")
            chosen = standing[drop - 1]
            await chat.snapshots.drop(serving.id, chosen.source, chosen.text)
            return await chat.snapshots.standing()

    found = run(look())
    if as_json:
        show_json([asdict(one) for one in found])
    elif found:
        from octavo.cli.terminal.view import rule_lines

        show_lines(setup, rule_lines(found))
    else:
        show_lines(setup, [line("nothing stands")])
    if not found:
        raise typer.Exit(1)
