"""Options that several commands share, and what the shell is told to complete them with."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

from octavo.cli.setup import opened, run, setup_of, short
from octavo.errors import OctavoError

SHOWN = 50
"""Names offered to the shell: more would not be read."""


def complete_models(incomplete: str) -> list[str]:
    """Offer the models that are known by name."""
    from octavo.meters.cards import shipped

    return sorted(name for name in shipped().cards if name.startswith(incomplete))[:SHOWN]


def complete_policies(incomplete: str) -> list[str]:
    from octavo.core.policy import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]


def complete_settings(incomplete: str) -> list[str]:
    from octavo.engine.settings import SETTINGS

    return [name for name in SETTINGS if name.startswith(incomplete)]


def complete_conversations(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Offer the ids of conversations, with their titles; a database that cannot be opened offers none."""

    async def look() -> list[tuple[str, str]]:
        database = context.params.get("db")
        async with opened(setup_of(context, database if isinstance(database, str) else None)) as engine:
            known = await engine.conversations(limit=SHOWN)
        return [(short(one.id), one.title) for one in known if short(one.id).startswith(incomplete)]

    try:
        return run(look())
    except OctavoError:
        return []


Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        show_default=False,
        help="The database: sqlite:///FILE, postgresql://..., or a path. The default is OCTAVO_DB, or a file in "
        "your data folder.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        show_default=False,
        help="The model: gpt-4o, claude-sonnet-4-5, ollama/llama3.2, ... `octavo models` lists them.",
        autocompletion=complete_models,
    ),
]
Policy = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="The policy to compress by: octavo, onyx, wave, requirements or gemini.",
        autocompletion=complete_policies,
    ),
]
ConversationId = Annotated[
    str,
    typer.Argument(
        metavar="CONVERSATION",
        show_default=False,
        help="The conversation: an id, the end of an id, a title, or `last`.",
        autocompletion=complete_conversations,
    ),
]
InputFile = Annotated[
    str, typer.Argument(metavar="FILE", show_default=False, help="The file to read; - is standard input.")
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups of options: a dataclass parameter stands for one option for each of its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, taken in inspect.signature(command).parameters.items():
        if name not in groups:
            parameters.append(taken.replace(annotation=hints[name]))
            continue
        types = get_type_hints(groups[name], include_extras=True)
        parameters += [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name]
            )
            for one in fields(groups[name])
        ]

    def run(**given: Any) -> None:
        made = {
            name: group(**{one.name: given.pop(one.name) for one in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    run.__doc__ = command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run
