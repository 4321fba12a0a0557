"""`models` and `local`: which models are known, which can be used here, and getting one that runs on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli.app import app
from octavo.cli.lines import Line, is_terminal, line, table
from octavo.cli.options import AsJson, Db
from octavo.cli.printing import show, show_json
from octavo.cli.progress import ProgressLog, progress
from octavo.cli.setup import Setup, opened, run, setup_of
from octavo.core.json_values import Json, JsonObject

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.core.budget import ModelCard
    from octavo.providers.availability import Availability
    from octavo.providers.model_files import ModelFile

local = typer.Typer(
    help="Install models that run inside Octavo.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(local, name="local")
MEGABYTE = 1_000_000
OURS = "octavo"
"""The provider of cards that are only yardsticks for counting, not models."""


@app.command(
    short_help="List providers and models.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo models                    what can be used here, and what every known model costs\n"
    "  octavo models claude\n"
    "  octavo models --ready\n"
    "  octavo models --json | jq '.models[] | select(.window > 500000) | .name'",
)
def models(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", show_default=False, help="List only models with this text in their name."
        ),
    ] = "",
    *,
    ready: Annotated[bool, typer.Option("--ready", help="List only models that can be used now.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List providers and models: window, longest answer, tokenizer, price in dollars per million tokens.

    Any other name of a known provider works too: an unknown model gets a small window that is shown as assumed and
    corrected by the first error the provider sends.
    """
    setup = setup_of(context, db)
    found = providers(setup)
    usable = {one.provider for one in found if one.ready}
    every, own = run(_cards(setup))
    cards = [card for card in every if name.lower() in card.name.lower()]
    if ready:
        cards = [card for card in cards if card.provider in usable]
    if as_json:
        show_json(
            {
                "providers": [provider_json(one) for one in found],
                "models": [card_json(card, usable, own) for card in cards],
            }
        )
    else:
        show(setup, [*provider_lines(found), line(), *_card_lines(cards, usable, own)])


def providers(setup: Setup) -> tuple[Availability, ...]:
    from octavo.providers.availability import availability
    from octavo.providers.settings import read_settings

    return availability(read_settings(setup.environment))


async def _cards(setup: Setup) -> tuple[list[ModelCard], frozenset[str]]:
    """Give the cards, and the names of those that users defined. Without a database these are the ones that ship.

    With one, the users' cards come first, and the cards show what was learned there.
    """
    from octavo.meters.cards import shipped

    if not setup.stored:
        return [card for card in shipped().cards.values() if card.provider != OURS], frozenset()
    async with opened(setup) as engine:
        await engine.settings.of()
        own = frozenset(engine.models.own)
        known = [card for card in engine.models.book.cards.values() if card.provider != OURS]
        known.sort(key=lambda card: card.name not in own)
        return [(await engine.models.meter(card.name)).card for card in known], own


def provider_json(one: Availability) -> JsonObject:
    return {
        "provider": one.provider,
        "title": one.title,
        "ready": one.ready,
        "detail": one.detail,
        "remedy": one.remedy,
        "example": one.example,
        "models": list(one.models),
    }


def provider_lines(found: tuple[Availability, ...]) -> Iterator[Line]:
    for one in found:
        todo = f"; {one.remedy}" if one.remedy else ""
        yield line(
            ("good", "ready  ") if one.ready else ("faint", "-      "),
            ("strong", one.title),
            f": {one.detail}{todo}",
        )


def card_json(card: ModelCard, usable: set[str], own: frozenset[str]) -> JsonObject:
    price: Json = None
    if card.price:
        price = {"input": card.price.input, "output": card.price.output, "cached": card.price.cached}
    return {
        "name": card.name,
        "provider": card.provider,
        "ready": card.provider in usable,
        "window": card.window,
        "max_output": card.max_output,
        "tokenizer": card.tokenizer,
        "vision": card.vision,
        "price": price,
        "cache_write": card.cache_write,
        "cache_seconds": card.cache_seconds,
        "price_step": card.price_step,
        "summariser": card.summariser,
        "soft": card.soft,
        "retained": card.retained,
        "own": card.name in own,
    }


def _card_lines(cards: list[ModelCard], usable: set[str], own: frozenset[str]) -> list[Line]:
    rows = [
        (
            card.name,
            card.provider or "any",
            f"{card.window:,}",
            f"{card.max_output:,}",
            card.tokenizer,
            f"{card.price.input:g} / {card.price.output:g}" if card.price else "-",
            ", ".join(
                word
                for word, holds in (("ready", card.provider in usable), ("yours", card.name in own))
                if holds
            ),
        )
        for card in cards
    ]
    head = ("model", "provider", "window", "answer", "tokenizer", "price", "")
    return table(rows, head=head, right=(2, 3)) if rows else [line("no known model has that name")]


@local.command(
    "list", short_help="List the models that can be installed.", epilog="\b\nExamples:\n  octavo local list"
)
def list_local(context: typer.Context, *, as_json: AsJson = False, db: Db = None) -> None:
    """List the models that can be installed, and those that are."""
    from octavo.providers.model_files import MODEL_FILES
    from octavo.providers.settings import read_settings

    setup = setup_of(context, db)
    cache = read_settings(setup.environment).local.cache
    if as_json:
        show_json(
            [
                {
                    "name": f"local/{file.name}",
                    "title": file.title,
                    "bytes": file.size,
                    "window": file.window,
                    "licence": file.licence,
                    "installed": file.is_installed(cache),
                    "path": str(file.place(cache)),
                }
                for file in MODEL_FILES.values()
            ]
        )
        return
    rows = [
        (
            f"local/{file.name}",
            file.title,
            f"{file.size / MEGABYTE:,.0f} MB",
            file.licence,
            "installed" if file.is_installed(cache) else "octavo local install " + file.name,
        )
        for file in MODEL_FILES.values()
    ]
    show(setup, table(rows, head=("model", "title", "size", "licence", ""), right=(2,)))


def _complete_files(incomplete: str) -> list[str]:
    from octavo.providers.model_files import MODEL_FILES

    return [name for name in MODEL_FILES if name.startswith(incomplete)]


@local.command(
    short_help="Download a small model.",
    epilog="\b\nExamples:\n  octavo local install\n  octavo local install smollm2-135m",
)
def install(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            show_default=False,
            help="The model to install; without a name, the recommended one.",
            autocompletion=_complete_files,
        ),
    ] = "",
    *,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Fetch a small model that runs inside Octavo; an interrupted download goes on where it stopped."""
    setup = setup_of(context, db)
    model, path = fetch(setup, name.removeprefix("local/"))
    if as_json:
        show_json({"name": f"local/{model.name}", "path": str(path), "bytes": model.size})
    else:
        show(setup, _installed_lines(model))


def fetch(setup: Setup, name: str = "") -> tuple[ModelFile, Path]:
    """Fetch a model unless it is there, and show how far it is; without a name, the one that is recommended."""
    from octavo.providers.fetch import InstallProgress, install
    from octavo.providers.model_files import MODEL_FILES
    from octavo.providers.settings import read_settings

    chosen = name or next(iter(MODEL_FILES))
    with progress() as shown:
        log, seen = ProgressLog(), is_terminal(sys.stderr)

        def report(at: InstallProgress) -> None:
            sizes = f"{at.done / MEGABYTE:,.0f} of {at.total / MEGABYTE:,.0f} MB"
            if seen:
                shown.step(f"{at.model.title}: {at.stage}, {sizes}", at.done, at.total)
            else:
                log.step(f"{at.model.title}: {at.stage}", at.done, at.total)

        path = install(chosen, report, cache=read_settings(setup.environment).local.cache)
    return MODEL_FILES[chosen], path


def _installed_lines(model: ModelFile) -> Iterator[Line]:
    yield line(("good", f"{model.title} is installed"), f"; try: octavo chat --model local/{model.name}")
