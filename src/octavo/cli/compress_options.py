"""What is asked of `compress`, `count` and `plan`, and what they work with: histories, a meter, a summariser."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from octavo.cli.message_files import STDIN, open_input, read_histories
from octavo.cli.progress import ProgressLine, size_of
from octavo.cli.setup import Setup, opened
from octavo.core.history_json import History
from octavo.errors import BadInput, ContextOverflow, OctavoError

if TYPE_CHECKING:
    from octavo.engine.stateless import CompressionOptions
    from octavo.meters.meter import Meter
    from octavo.protocols import Provider, Summariser

USUAL_MODEL = "gpt-4o"
"""Whose tokenizer and window count where no model is named."""

Budgeted = Annotated[
    int | None,
    typer.Option(
        "--budget", metavar="TOKENS", show_default=False, help="The maximum number of tokens of the result."
    ),
]
Ratio = Annotated[
    float | None,
    typer.Option(
        "--ratio",
        metavar="SHARE",
        show_default=False,
        help="The maximum size as a share of the history, such as 0.3.",
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="N",
        show_default=False,
        help="How much of the result the newest turns may take, word for word: tokens, or a share such as 0.5. "
        "With 0, only the last turn stays.",
    ),
]
Focus = Annotated[
    str,
    typer.Option(
        "--focus",
        metavar="TEXT",
        show_default=False,
        help="What matters most; lines about it are kept first.",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        show_default=False,
        help="The format, if it cannot be recognised: openai, anthropic, gemini or responses.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressOptions:
    """What is asked of a compression."""

    model: str
    budget: int | None = None
    ratio: float | None = None
    keep: int | float | None = None
    policy: str = "octavo"
    focus: str = ""
    format: str | None = None

    def arguments(self, history: History, meter: Meter, summariser: Summariser | None) -> CompressionOptions:
        """Write it down for one history."""
        options = self.for_lines(meter, summariser)
        options["format"] = format_of(history, self.format)
        options["tools"], options["system"] = history.tools, history.system
        return options

    def for_lines(self, meter: Meter, summariser: Summariser | None) -> CompressionOptions:
        """Write down what holds for every history."""
        options: CompressionOptions = {
            "model": self.model,
            "policy": self.policy,
            "focus": self.focus,
            "meter": meter,
        }
        if self.format is not None:
            options["format"] = known_format(self.format)
        if self.budget is not None:
            options["budget"] = self.budget
        if self.ratio is not None:
            options["ratio"] = self.ratio
        if self.keep is not None:
            options["keep"] = self.keep
        if summariser is not None:
            options["summariser"] = summariser
        return options


def format_of(history: History, named: str | None) -> Literal["openai", "anthropic", "gemini", "responses"]:
    return history.format if named is None else known_format(named)


def known_format(named: str) -> Literal["openai", "anthropic", "gemini", "responses"]:
    """Give the format of that name."""
    from octavo.core.wire import FORMATS

    found = next((format for format in FORMATS if format == named), None)
    if found is None:
        raise BadInput("--format", f"unknown format {named!r}; one of {', '.join(FORMATS)}")
    return found


def read_keep(text: str | None) -> int | float | None:
    """Read how much is kept: `2000` tokens, `0.3` or `30%` of it, `0` for nothing."""
    if text is None:
        return None
    digits = text.strip().removesuffix("%")
    try:
        number = float(digits)
    except ValueError:
        raise BadInput("keep", f"expected tokens, or a share such as 0.3, got {text!r}") from None
    if text.strip().endswith("%"):
        return number / 100
    return int(number) if number.is_integer() and "." not in digits else number


@asynccontextmanager
async def metered(setup: Setup, model: str) -> AsyncIterator[Meter]:
    """Give the meter of a model; it knows what people said of it, and bills taught, in the database there is."""
    from octavo.meters.cards import find_card
    from octavo.meters.meter import Meter

    if not setup.stored:
        yield Meter(find_card(model))
        return
    async with opened(setup) as engine:
        yield await engine.models.meter(model)


@asynccontextmanager
async def summarising(setup: Setup, name: str, model: str) -> AsyncIterator[Summariser | None]:
    """Open the summariser of that name: a model, `same` for the model itself, or `none`."""
    if name == "none":
        yield None
        return
    from octavo.engine.models import LOCAL
    from octavo.summarise.model import model_summariser

    wanted = model if name == "same" else name
    embedded = (await addressed(setup, wanted)).startswith(LOCAL)
    async with metered(setup, wanted) as meter, served(setup, wanted) as (provider, called):
        yield model_summariser(provider, called, meter.card, measure=meter.count_text, embedded=embedded)


@asynccontextmanager
async def served(setup: Setup, model: str) -> AsyncIterator[tuple[Provider, str]]:
    """Open the provider of a model, and tell the name it knows the model by."""
    from octavo.providers.catalogue import open_provider, resolve
    from octavo.providers.settings import read_settings

    address = await addressed(setup, model)
    provider = setup.provider or open_provider(address, read_settings(setup.environment))
    try:
        yield provider, model if setup.provider else resolve(address).model
    finally:
        await provider.close()


async def addressed(setup: Setup, model: str) -> str:
    """Give the name by which a model's provider is found; a card in the database there is may say whose it is."""
    if not setup.stored:
        return model
    async with opened(setup) as engine:
        await engine.models.meter(model)
        return engine.models.address(model)


@contextmanager
def naming(name: str, where: str = "") -> Iterator[None]:
    """Say in which file, and which line of it, something is wrong."""
    place = ", ".join(part for part in ("standard input" if name == STDIN else name, where) if part)
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{place}: {error.where}" if error.where else place, error.problem) from error
    except ContextOverflow as error:
        raise OctavoError(f"{place}: {error}") from error


def histories_of(name: str, shown: ProgressLine) -> Iterator[History]:
    with open_input(name) as file:
        total = size_of(file)
        found = read_histories(file)
        while True:
            with naming(name):
                history = next(found, None)
            if history is None:
                return
            shown.step(
                f"{len(history.messages):,} messages {history.where}", file.tell() if total else 0, total
            )
            yield history
