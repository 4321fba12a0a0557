"""What can be typed after a slash: one table, a line of it for each command.

A line that begins with a slash is never sent to a model, whether it is in the table or not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING

from octavo.cli.setup import short
from octavo.cli.terminal import compression_commands, session_commands, tree_commands, view
from octavo.cli.terminal.attached import offer_files
from octavo.cli.transfer import EXPORTS
from octavo.engine.settings import SETTINGS
from octavo.errors import UsageError

if TYPE_CHECKING:
    from octavo.cli.terminal.session import Session

Run = Callable[["Session", str], Awaitable[None]]
Offers = Callable[["Session"], Iterable[tuple[str, str]]]
"""What can follow a command: text and meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One row of the table."""

    name: str
    run: Run
    arguments: str = ""
    says: str
    aliases: tuple[str, ...] = ()
    offers: Offers | None = None

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.arguments}".rstrip()


async def help_(session: Session, text: str) -> None:
    chosen = [find_command(text.removeprefix("/"))] if text else list(COMMANDS)
    rows = ((each.usage, ", ".join(f"/{name}" for name in each.aliases), each.says) for each in chosen)
    session.show([*view.help_lines(rows), *([] if text else view.key_lines())])


async def quit_(session: Session, text: str) -> None:
    del text
    session.leaving = True


# What can follow


def _offer(*pairs: tuple[str, str]) -> Offers:
    return lambda session: pairs  # noqa: ARG005 - the same in every session


def _models(session: Session) -> Iterator[tuple[str, str]]:
    return ((name, f"{card.window:,} tokens") for name, card in session.engine.models.book.cards.items())


def _conversations(session: Session) -> Iterator[tuple[str, str]]:
    return ((one.title or short(one.id), f"{one.messages:,} messages") for one in session.known)


def _settings(session: Session) -> Iterator[tuple[str, str]]:
    del session
    return ((setting.name, setting.meaning) for setting in SETTINGS.values())


COMMANDS = (
    Command(name="help", arguments="[COMMAND]", says="this list", aliases=("?",), run=help_),
    Command(
        name="compress",
        arguments="[FOCUS] [--dry-run] [--keep N] [--up-to M]",
        says="compress the older messages now; FOCUS is what matters most",
        aliases=("compact", "summarize", "summarise", "condense"),
        run=compression_commands.compress,
        offers=_offer(
            ("--dry-run", "say what would happen"),
            ("--keep", "tokens, or a share, that stay verbatim; 0 for none"),
            ("--up-to", "compress up to this message"),
        ),
    ),
    Command(
        name="context",
        arguments="[full]",
        says="what the next request holds; `full` prints exactly what is sent",
        aliases=("usage", "tokens"),
        run=compression_commands.context,
        offers=_offer(("full", "exactly what is sent")),
    ),
    Command(
        name="summary",
        arguments="[edit|regen|versions|diff|receipt]",
        says="what stands for the compressed messages",
        run=compression_commands.summary,
        offers=_offer(
            ("edit", "write it yourself"),
            ("regen", "have it written again, with a focus"),
            ("versions", "all snapshots of this branch"),
            ("diff", "compare two versions"),
            ("receipt", "what was kept and left out"),
        ),
    ),
    Command(
        name="undo",
        arguments="[N]",
        says="take a compression back",
        aliases=("undo-compact",),
        run=compression_commands.undo,
    ),
    Command(name="redo", says="bring back what was undone last", run=compression_commands.redo),
    Command(
        name="use",
        arguments="N",
        says="choose the version in use, by /summary versions",
        run=compression_commands.use,
    ),
    Command(
        name="receipt",
        arguments="[N]",
        says="which facts a compression kept, retold and left out",
        run=compression_commands.receipt,
    ),
    Command(
        name="rules",
        arguments="[drop N|pin N]",
        says="which rules, preferences and decisions stand in the compression, and where they were said",
        run=compression_commands.rules,
        offers=_offer(
            ("drop", "take a line out, by its number"),
            ("pin", "always send a line word for word, by its number"),
        ),
    ),
    Command(
        name="recall",
        arguments="[WORDS]",
        says="what was recalled for the last question, or what would be found for words",
        run=compression_commands.recalled,
    ),
    Command(
        name="restore",
        arguments="FACT",
        says="put a fact that was left out back in",
        run=compression_commands.restore,
    ),
    Command(
        name="expand",
        arguments="[N|N-M]",
        says="show the compressed messages; N shows message N whole",
        run=compression_commands.expand,
    ),
    Command(
        name="find",
        arguments="WORDS",
        says="search the whole conversation",
        aliases=("search",),
        run=tree_commands.find,
    ),
    Command(
        name="history",
        arguments="[N]",
        says="the last messages, numbered",
        aliases=("log",),
        run=tree_commands.history,
    ),
    Command(
        name="pin",
        arguments="[N [TEXT]]",
        says="always send message N, or TEXT of it, word for word",
        run=tree_commands.pin,
    ),
    Command(name="unpin", arguments="N", says="take a pin away", run=tree_commands.unpin),
    Command(name="branches", says="the branches of this conversation", run=tree_commands.branches),
    Command(
        name="checkout", arguments="N", says="go to branch N", aliases=("switch",), run=tree_commands.checkout
    ),
    Command(
        name="edit",
        arguments="[N] [TEXT]",
        says="write a message anew; the old branch stays",
        run=tree_commands.edit,
    ),
    Command(name="retry", says="ask for another answer", aliases=("regenerate",), run=tree_commands.retry),
    Command(name="continue", says="go on with an answer that was interrupted", run=tree_commands.go_on),
    Command(
        name="model",
        arguments="[NAME]",
        says="which model answers",
        run=session_commands.model,
        offers=_models,
    ),
    Command(
        name="settings",
        arguments="[NAME [VALUE|unset]] [--everywhere]",
        says="what holds for this conversation",
        aliases=("set",),
        run=session_commands.settings,
        offers=_settings,
    ),
    Command(
        name="export",
        arguments="[FILE] [--format NAME] [--force]",
        says="write the conversation to a file",
        run=session_commands.export,
        offers=_offer(*((f"--format {name}", "") for name in EXPORTS)),
    ),
    Command(name="new", arguments="[TITLE]", says="begin another conversation", run=session_commands.new),
    Command(
        name="conversations",
        arguments="[NAME]",
        says="list them, or go to one",
        aliases=("open", "list"),
        run=session_commands.conversations,
        offers=_conversations,
    ),
    Command(
        name="rename",
        arguments="TITLE",
        says="give this conversation a title",
        aliases=("title",),
        run=session_commands.rename,
    ),
    Command(name="quit", says="leave", aliases=("exit", "q", "bye"), run=quit_),
)
"""Every command, in the order of the help."""
BY_NAME: Mapping[str, Command] = MappingProxyType(
    {name: each for each in COMMANDS for name in (each.name, *each.aliases)}
)


def is_command(text: str) -> bool:
    """Tell a command from a message: it begins with one slash; `//` is for messages that do."""
    said = text.lstrip()
    return said.startswith("/") and not said.startswith("//")


def find_command(name: str) -> Command:
    found = BY_NAME.get(name.lower())
    if found is None:
        near = get_close_matches(name.lower(), BY_NAME, n=1)
        hint = f"did you mean /{near[0]}?" if near else "/help lists them"
        raise UsageError(
            f"there is no command /{name}: {hint} (a message that begins with / is written with //)"
        )
    return found


async def obey(session: Session, text: str) -> None:
    """Run what was typed after a slash."""
    name, _, rest = text.strip().removeprefix("/").partition(" ")
    head, newline, tail = name.partition("\n")
    await find_command(head).run(session, f"{tail} {rest}".strip() if newline else rest.strip())


def suggest(session: Session, text: str) -> tuple[int, Iterable[tuple[str, str]]]:
    """Offer commands, and what can follow them."""
    if not is_command(text) or "\n" in text:
        word = text.rpartition(" ")[2].rpartition("\n")[2]
        return (len(word) - 1, offer_files(word[1:])) if word.startswith("@") else (0, ())
    name, space, rest = text.lstrip().removeprefix("/").partition(" ")
    if not space:
        return len(name), [
            (known, each.says) for known, each in BY_NAME.items() if known.startswith(name.lower())
        ]
    command = BY_NAME.get(name.lower())
    if command is None or command.offers is None:
        return 0, ()
    begun = rest.lstrip().lower()
    return len(rest.lstrip()), [
        (offer, meaning) for offer, meaning in command.offers(session) if offer.lower().startswith(begun)
    ]
