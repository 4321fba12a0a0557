"""`import`, `export`, `delete`: read conversations from files, write them to files, and delete them for good."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from octavo.cli.app import app
from octavo.cli.compress_options import naming
from octavo.cli.conversations import conversation_json, conversation_lines
from octavo.cli.lines import clean, line
from octavo.cli.message_files import STDIN, open_input
from octavo.cli.options import AsJson, Db, InputFile, complete_conversations
from octavo.cli.printing import show, show_json, tell, written
from octavo.cli.setup import SEARCHED, find_conversation, opened, run, setup_of, short
from octavo.core.history_json import dumped
from octavo.core.json_values import Json
from octavo.errors import BadInput, OctavoError, UsageError

if TYPE_CHECKING:
    from octavo.engine.engine import Engine
    from octavo.store.transfer.formats import Format
    from octavo.store.values import Conversation

ExportFormat = Literal["octavo", "openai", "anthropic", "gemini", "wave", "markdown"]
EXPORTS: tuple[ExportFormat, ...] = get_args(ExportFormat)
BLOCK = 1 << 20
"""Bytes copied at a time."""


@app.command(
    "import",
    short_help="Read conversations from a file.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo import chat.json --title 'From the old tool'\n"
    "  octavo import conversations.json               an export of ChatGPT or Claude\n"
    "  octavo export last | octavo import - --db other.db",
)
def import_file(
    context: typer.Context,
    file: InputFile = STDIN,
    *,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            show_default=False,
            help="octavo, openai, anthropic, gemini, wave, chatgpt, claude, openassistant or plain; by default the "
            "file tells.",
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            "--title", metavar="TEXT", show_default=False, help="The title of the new conversation."
        ),
    ] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Import under new ids, even what is in the database already.")
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Read conversations from a file: all of them, or none if anything is wrong.

    Takes Octavo's own export, message lists of OpenAI, Anthropic and Gemini, the exports of ChatGPT and Claude,
    OpenAssistant trees, and plain lines with id, parent_id, role and content. Trees keep their branches.
    """
    setup = setup_of(context, db)

    async def work() -> tuple[Conversation, ...]:
        async with opened(setup) as engine, _on_disk(file) as path:
            with naming(file):
                made = await engine.import_file(
                    path, format=_import_format(format), title=title, new_ids=copy
                )
            for one in made[:1]:
                await engine.wait_until_idle(one.id)
            return made

    found = run(work())
    if as_json:
        show_json([conversation_json(one) for one in found])
    else:
        show(setup, conversation_lines(found))


def _import_format(name: str | None) -> Format | None:
    from octavo.store.transfer.formats import FORMATS

    if name is None:
        return None
    found = next((format for format in FORMATS if format == name), None)
    if found is None:
        raise BadInput("--format", f"unknown format {name!r}; one of {', '.join(FORMATS)}")
    return found


@asynccontextmanager
async def _on_disk(name: str) -> AsyncIterator[Path]:
    """Give a file's path; what is piped in is put into one first, since it may be read twice."""
    if name != STDIN:
        yield Path(name)
        return
    with tempfile.NamedTemporaryFile(prefix="octavo-") as copy, open_input(name) as piped:
        try:
            _copy(piped, cast("IO[bytes]", copy))
        except OSError as error:
            raise OctavoError(f"cannot copy what is piped in to {copy.name}: {error.strerror}") from error
        yield Path(copy.name)


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    while block := source.read(BLOCK):
        target.write(block)
    target.flush()


@app.command(
    short_help="Write conversations to a file.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo export last > chat.jsonl\n"
    "  octavo export 3f9a2c1b --format openai --out chat.json\n"
    "  octavo export last --format markdown | less\n"
    "  octavo export --all --out everything.jsonl",
)
def export(
    context: typer.Context,
    conversations: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CONVERSATION",
            show_default=False,
            help="The conversations: ids, ends of ids, titles, or `last`.",
            autocompletion=complete_conversations,
        ),
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Export all conversations.")] = False,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="octavo (everything: branches, snapshots, pins, settings); or the branch of the tip as openai, "
            "anthropic, gemini, wave or markdown.",
        ),
    ] = "octavo",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", show_default=False, help="Write to this file."),
    ] = None,
    db: Db = None,
) -> None:
    """Write conversations to standard output or a file.

    The octavo format is JSON Lines, and `octavo import` reads it back without loss. The others hold every message of
    the branch that is shown, covered ones included: what was said, not what would be sent. A session of Wave has a
    `compress` block in place of the covered ones; `octavo import` makes a snapshot of such a block.
    """
    setup = setup_of(context, db)
    chosen = export_format(format)
    if not conversations and not every:
        raise UsageError("name a conversation to export, or say --all; see: octavo conversations")

    async def work() -> None:
        async with opened(setup) as engine:
            if every:
                ids = [one.id for one in await engine.conversations(limit=SEARCHED, archived=None)]
            else:
                ids = [(await find_conversation(engine, name)).id for name in conversations or ()]
            with written(out) as write:
                for piece in await export_text(engine, ids, chosen):
                    write(piece)

    run(work())


def export_format(name: str) -> ExportFormat:
    found = next((format for format in EXPORTS if format == name), None)
    if found is None:
        raise BadInput("--format", f"unknown format {name!r}; one of {', '.join(EXPORTS)}")
    return found


async def export_text(engine: Engine, ids: list[str], format: ExportFormat) -> Iterator[str]:
    """Give the text of an export in pieces."""
    if format != "octavo":
        return iter([await _branch_text(engine, id, format) for id in ids])
    with tempfile.TemporaryDirectory(prefix="octavo-") as folder:
        path = Path(folder) / "export"
        await engine.store.export(path, ids)
        return iter([path.read_text("utf-8")])


async def _branch_text(
    engine: Engine, id: str, format: Literal["openai", "anthropic", "gemini", "wave", "markdown"]
) -> str:
    from octavo.core.wire import write

    info = await engine.store.conversations.get(id)
    if format == "wave":
        return dumped(await _session(engine, info.tip), indent=2) + "\n"
    nodes = await engine.store.tree.branch(info.tip) if info.tip else ()
    messages = [node.message for node in nodes if node.status not in ("error", "deleted")]
    if format == "markdown":
        from octavo.cli.tree import content
        from octavo.core.transcript import LABELS

        said = "".join(f"## {LABELS[message.role]}\n\n{content(message)}\n\n" for message in messages)
        return f"# {info.title or 'Conversation'}\n\n{said}"
    wired = write(format, messages)
    listed = cast("list[Json]", wired.messages)
    if format == "openai":
        return dumped(listed, indent=2) + "\n"
    names = {"anthropic": ("system", "messages"), "gemini": ("systemInstruction", "contents")}[format]
    body: dict[str, Json] = {names[0]: wired.system} if wired.system is not None else {}
    return dumped({**body, names[1]: listed}, indent=2) + "\n"


async def _session(engine: Engine, tip: str | None) -> list[Json]:
    """Write a branch as Wave keeps it: a block for what the snapshot in use covers, then what follows it."""
    from octavo.core.context import UNSENT, summary_text
    from octavo.core.wire.wave import write_block, write_wave

    if tip is None:
        return []
    found = await engine.store.snapshots.context(tip)
    written: list[Json] = [*write_wave([node.message for node in found.leading])]
    if found.snapshot is not None:
        bare = not found.snapshot.extracts and not found.snapshot.files
        written.append(write_block(found.snapshot.summary if bare else summary_text(found.snapshot)))
    after = found.carried + found.retained
    return [*written, *write_wave([node.message for node in after if node.status not in UNSENT])]


@app.command(
    short_help="Delete conversations for good.",
    epilog="\b\nExamples:\n  octavo delete 3f9a2c1b\n  octavo delete 3f9a2c1b 77d0e5aa --yes",
)
def delete(
    context: typer.Context,
    conversation: Annotated[
        list[str],
        typer.Argument(
            metavar="CONVERSATION",
            show_default=False,
            help="The conversations: ids, ends of ids, titles, or `last`.",
            autocompletion=complete_conversations,
        ),
    ],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Delete conversations for good: messages, snapshots, pins and settings. There is no undo."""
    setup = setup_of(context, db)

    async def work() -> list[Conversation]:
        async with opened(setup) as engine:
            found = [await find_conversation(engine, name) for name in conversation]
            for one in found:
                if not yes:
                    _confirm(one)
                await engine.store.bin.delete(one.id)
            return found

    gone = run(work())
    if as_json:
        show_json({"deleted": [one.id for one in gone]})
    else:
        tell(setup, [line(f"deleted {short(one.id)} {clean(one.title)}".rstrip()) for one in gone])


def _confirm(one: Conversation) -> None:
    if not sys.stdin.isatty():
        raise UsageError(f"deleting {short(one.id)} cannot be undone and nobody can be asked; say --yes")
    title = clean(one.title) or "(untitled)"
    typer.confirm(f"Delete {title} with {one.messages:,} messages for good?", abort=True, err=True)
