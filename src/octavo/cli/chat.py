"""`chat`: the terminal chat."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli.app import app
from octavo.cli.lines import line
from octavo.cli.options import Db, Model, complete_conversations, complete_policies
from octavo.cli.printing import put, tell
from octavo.cli.setup import Setup, find_conversation, opened, run, setup_of
from octavo.cli.terminal.echo import quiet_terminal
from octavo.core.json_values import Json
from octavo.errors import ProviderError, UsageError

if TYPE_CHECKING:
    from octavo.cli.terminal.keyboard import Keyboard
    from octavo.cli.terminal.session import Session
    from octavo.engine.engine import Engine
    from octavo.engine.outcome import Event


@app.command(
    short_help="Chat in the terminal; the context window never overflows.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo chat\n"
    "  octavo chat --model claude-sonnet-4-5\n"
    "  octavo chat --conversation last\n"
    "  octavo chat --policy gemini --db sqlite:///work.db\n"
    "  echo 'Why is the sky blue?' | octavo chat --model local/smollm2-135m",
)
def chat(
    context: typer.Context,
    *,
    model: Model = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation",
            "-c",
            metavar="CONVERSATION",
            show_default=False,
            help="Continue this conversation: an id, the end of an id, a title, or `last`.",
            autocompletion=complete_conversations,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", "-r", help="Choose from the last conversations, and go on with one.")
    ] = False,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME",
            show_default=False,
            help="How to compress: octavo, onyx, wave, requirements or gemini.",
            autocompletion=complete_policies,
        ),
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="TEXT", show_default=False, help="The system prompt.")
    ] = None,
    db: Db = None,
) -> None:
    """Talk at a prompt; the conversation is compressed before the window of the model is full.

    The line under the input shows what the next request costs, how full the window is, and how many tokens are left
    until the next compression. /help lists the commands; none of them is ever sent to a model. Enter sends, Alt-Enter
    starts a new line, Ctrl-C stops an answer, twice leaves. A paste of more than 200 characters is shown as
    [LongText#1] and sent whole. @FILE attaches a text file or a PDF; !COMMAND runs a command, and what it prints goes
    with the next message.

    With something piped in, every line is a message or a command, and answers are printed as plain Markdown. Failures
    are reported on standard error; the other lines are still read, and the exit code is 1.
    """
    setup = setup_of(context, db)
    wanted: dict[str, Json] = {
        name: value for name, value in (("model", model), ("policy", policy), ("system", system)) if value
    }
    if resume and not conversation:
        conversation = run(_choose(setup))
    with quiet_terminal():
        run(_chat(setup, conversation, wanted))


async def _choose(setup: Setup) -> str | None:
    """Let a person choose one of the last conversations; where nobody can be asked, it is the last one."""
    from octavo.cli.conversations import conversation_lines

    async with opened(setup) as engine:
        known = await engine.conversations(limit=LISTED)
    if not known:
        raise UsageError("there is no conversation to go on with yet: octavo chat begins one")
    if not sys.stdin.isatty():
        return known[0].id
    tell(setup, conversation_lines(known))
    number: int = typer.prompt(
        f"Which one? 1 is the first in the list, {len(known)} the last", type=int, default=1, err=True
    )
    return known[max(1, min(int(number), len(known))) - 1].id


@app.command(
    short_help="Ask one question, with files or piped text.",
    epilog="\b\nExamples:\n  octavo ask 'Why is the sky blue?'\n"
    "  octavo ask 'What is wrong here?' app.log config.toml\n"
    "  git diff | octavo ask 'Write a commit message'",
)
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False, help="What to ask.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", show_default=False, help="Text files and PDFs that go with it."),
    ] = None,
    *,
    model: Model = None,
    db: Db = None,
) -> None:
    """Ask one question and print the answer; what is piped in goes with it.

    The conversation is stored: `octavo chat --conversation last` goes on with it.
    """
    setup = setup_of(context, db)
    run(_ask(setup, question, files or [], model))


async def _ask(setup: Setup, question: str, files: list[Path], model: str | None) -> None:
    from octavo.cli.terminal.attached import as_attachment, message_of, read_attachment
    from octavo.engine.outcome import Answered, AnswerFailed, AnswerText

    attached = [read_attachment(path) for path in files]
    if not sys.stdin.isatty() and (piped := sys.stdin.read()).strip():
        attached.append(as_attachment("standard input", piped.encode()))
    async with opened(setup) as engine:
        chosen = model or (await engine.settings.of()).get("model") or _usual_model(setup)
        chat = await engine.create(question[:TITLE], model=chosen)
        async for event in chat.turn(message_of(question, attached)):
            match event:
                case AnswerText(text, "text"):
                    put(text)
                case Answered():
                    put("\n")
                case AnswerFailed(error):
                    raise ProviderError(error)


LISTED = 20
"""Conversations to choose from."""
TITLE = 60
"""Characters of a question that become the title."""


TO_TRY = (
    ("/summary", "what stands for the compressed messages"),
    ("/receipt", "which facts were kept, and which were left out"),
    ("/context", "where the tokens of the next request go"),
    ("/recall spare sensor", "what a question brings back from compressed messages"),
    ("/undo", "send the originals again; /redo takes that back"),
)


@app.command(
    short_help="Try everything on a sample conversation; needs no model.",
    epilog="\b\nExamples:\n  octavo demo\n  echo /receipt | octavo demo",
)
def demo(context: typer.Context, *, model: Model = None, db: Db = None) -> None:
    """Open the sample conversation in the terminal: a long one that is compressed once.

    Compressing, undoing, receipts and recall need no model; with one you can go on talking.
    """
    setup = setup_of(context, db)

    async def sample() -> str:
        from octavo.cli.models import providers
        from octavo.engine.sample import open_sample
        from octavo.providers.availability import usual_model

        async with opened(setup) as engine:
            return (await open_sample(engine, usual=usual_model(providers(setup)))).id

    with quiet_terminal():
        id = run(sample())
        tell(setup, [line(("accent", f"{command:<24}"), ("faint", says)) for command, says in TO_TRY])
        run(_chat(setup, id, {"model": model} if model else {}))


async def _chat(setup: Setup, conversation: str | None, wanted: dict[str, Json]) -> None:
    from octavo.cli.terminal.screen import Screen
    from octavo.cli.terminal.session import Session, overheard

    sessions: list[Session] = []

    def overhear(id: str, event: Event) -> None:
        for session in sessions:
            session.overhear(id, event)

    async with opened(setup, listen=overhear) as engine:
        piped = not (sys.stdin.isatty() and sys.stdout.isatty())
        session = Session(
            engine,
            Screen(sys.stdout, setup.environment),
            _keyboard(setup, sessions),
            complaints=Screen(sys.stderr, setup.environment) if piped else None,
            wanted=wanted,
            usual=dict(wanted),
        )
        sessions.append(session)
        with overheard(session.murmur):
            await _prepare(setup, engine, session, conversation)
            await _until_hung_up(session)
        if piped and session.failed:
            raise typer.Exit(1)


async def _until_hung_up(session: Session) -> None:
    """Run a session; when the terminal goes away, as a broken connection does it, what was said by then is kept."""
    import asyncio
    import signal
    from contextlib import suppress

    me, hung_up = asyncio.current_task(), list[bool]()

    def leave() -> None:
        hung_up.append(True)
        if me is not None:
            me.cancel()

    with suppress(NotImplementedError, AttributeError):  # not on every platform
        for one in (signal.SIGHUP, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(one, leave)
    try:
        await session.run()
    except asyncio.CancelledError:
        if not hung_up:
            raise


async def _prepare(setup: Setup, engine: Engine, session: Session, conversation: str | None) -> None:
    """Open what was asked for, and find a model if none is chosen."""
    if conversation:
        session.chat = await engine.chat((await find_conversation(engine, conversation)).id)
        if session.wanted:
            await session.chat.set(**session.wanted)
            session.wanted = {}
    elif session.wanted:
        wanted, session.wanted = session.wanted, {}
        await session.configure(wanted)
    if not (await session.settings()).get("model"):
        await session.configure({"model": _usual_model(setup)})
    if session.screen.terminal:
        hello = (
            f"Octavo · {session.model or (await session.settings()).get('model')} · /help lists the commands"
        )
        tell(setup, [line(("faint", hello))])


def _usual_model(setup: Setup) -> str:
    """Choose a model of a provider that is ready; without one, say what to do."""
    from octavo.cli.models import providers
    from octavo.providers.availability import usual_model

    found = providers(setup)
    usual = usual_model(found)
    if usual:
        return usual
    if ready := [one.example for one in found if one.ready]:
        raise UsageError(f"no model is chosen, and only you know how yours is called: --model {ready[0]}")
    raise UsageError(
        "no model can answer yet: set the key of a provider, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or fetch a "
        "small model that needs none with `octavo local install`, or name one with --model NAME; `octavo doctor` lists "
        "every way, and `octavo demo` needs no model"
    )


def _keyboard(setup: Setup, sessions: list[Session]) -> Keyboard:
    """Choose how words come in: a line editor on a terminal, plain lines otherwise."""
    from octavo.cli.terminal.keyboard import LineEditor, PlainLines

    if not sys.stdin.isatty() or not sys.stdout.isatty() or setup.environment.get("TERM") == "dumb":
        return PlainLines(sys.stdin)
    from octavo.cli.terminal.commands import suggest
    from octavo.cli.terminal.history import InputHistory

    return LineEditor(
        history=InputHistory(setup.settings.history),
        suggest=lambda text: suggest(sessions[0], text),
        status=lambda: sessions[0].status(),
    )
