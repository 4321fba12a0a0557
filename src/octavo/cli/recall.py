"""`recall`: what a question would bring back from the compressed messages of a conversation."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli.app import app
from octavo.cli.lines import line
from octavo.cli.options import AsJson, ConversationId, Db
from octavo.cli.printing import show as show_lines
from octavo.cli.printing import show_json
from octavo.cli.setup import find_chat, opened, run, setup_of, short
from octavo.errors import UsageError

if TYPE_CHECKING:
    from octavo.core.recall.passages import Passages


@app.command(
    short_help="Show what a question would recall.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo recall last 'which port does the service use?'\n"
    "  octavo recall 'Trip to Norway' ferry bergen\n"
    "  octavo recall 3f9a2c1b invoice --json | jq -r '.[].text'",
)
def recall(
    context: typer.Context,
    conversation: ConversationId,
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORDS", show_default=False, help="The question, or some of its words."),
    ],
    *,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Show which passages of compressed messages a question would bring back, in the order of the conversation.

    Each passage stands below the end of its message's id, who said it, and the day. Words are found in other forms,
    too. What is sent anyway, or stands in the snapshot, is not shown. Nothing is stored and no model is asked. The
    exit code is 1 if nothing was found.
    """
    setup = setup_of(context, db)

    async def look() -> Passages:
        async with opened(setup) as engine:
            chat = await find_chat(engine, conversation)
            if await chat.snapshots.serving() is None:
                raise UsageError(
                    "nothing is compressed on this branch, so every message is sent and none has to be recalled; "
                    f"to search all messages: octavo search WORDS --conversation {short(chat.id)}"
                )
            return await chat.snapshots.recall(" ".join(words))

    found = run(look())
    if as_json:
        show_json([asdict(passage) for passage in found])
    elif found:
        from octavo.cli.terminal.view import passage_lines

        show_lines(setup, passage_lines(found))
    else:
        show_lines(setup, [line("nothing was found")])
    if not found:
        raise typer.Exit(1)
