"""`backup`, `check` and `doctor`: copy the database, check it, and look at what is set up."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from octavo import __version__
from octavo.cli.app import app
from octavo.cli.lines import Line, Style, line, many
from octavo.cli.options import AsJson, Db
from octavo.cli.printing import show, show_json, tell
from octavo.cli.setup import Setup, opened, run, setup_of
from octavo.core.json_values import Json, JsonObject
from octavo.errors import OctavoError, ProviderError, UsageError

if TYPE_CHECKING:
    from octavo.providers.availability import Availability
    from octavo.store.values import StoreProblem

ASK_SECONDS = 60.0
"""How long a provider has to say a word; an embedded model may have to load first."""
SHOWN = 200
"""Characters of a provider's complaint."""


@app.command(
    short_help="Copy the database while it is in use.",
    epilog="\b\nExamples:\n  octavo backup ~/octavo-$(date +%F).db\n  octavo backup copy.db --overwrite",
)
def backup(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="FILE", show_default=False, help="The file to write the copy to.")
    ],
    *,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Copy the database while it is in use; the copy is one state of it, and appears whole or not at all."""
    setup = setup_of(context, db)

    async def work() -> str:
        async with opened(setup) as engine:
            await engine.store.backup(path, overwrite=overwrite)
            return engine.store.place

    place = run(work())
    size = path.stat().st_size
    if as_json:
        show_json({"database": place, "copy": str(path), "bytes": size})
    else:
        tell(setup, [line(f"{place} copied to {path} ({size:,} bytes)")])


@app.command(
    short_help="Prove that everything stored adds up.",
    epilog="\b\nExamples:\n  octavo check\n  octavo check --db postgresql://octavo@db/octavo --json",
)
def check(context: typer.Context, *, as_json: AsJson = False, db: Db = None) -> None:
    """Prove that everything stored adds up; exit code 1 when something does not."""
    setup = setup_of(context, db)

    async def work() -> tuple[str, tuple[StoreProblem, ...]]:
        async with opened(setup) as engine:
            return engine.store.place, await engine.store.check()

    place, problems = run(work())
    if as_json:
        listed: list[Json] = [{"kind": one.kind, "id": one.id, "detail": one.detail} for one in problems]
        show_json({"database": place, "problems": listed})
    elif problems:
        show(setup, [line(("bad", "! "), str(problem)) for problem in problems])
    else:
        show(setup, [line(("good", "ok"), f"  {place}: everything adds up")])
    if problems:
        raise typer.Exit(1)


State = Literal["ok", "note", "wrong"]
STYLES: Mapping[State, Style] = {"ok": "good", "note": "faint", "wrong": "bad"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the doctor looked at."""

    topic: str
    state: State
    detail: str
    remedy: str = ""


@app.command(
    short_help="See what is set up, and what is missing.",
    epilog="\b\nExamples:\n  octavo doctor\n  octavo doctor --ask          also ask every provider for one word",
)
def doctor(
    context: typer.Context,
    *,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask", help="Send one short request to every provider that is set up; this costs a few tokens."
        ),
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Look at what is set up: database, providers, tokenizers, folders; and say what to do about what is missing.

    Exit code 1 when something is wrong; a provider that is not set up is not wrong.
    """
    setup = setup_of(context, db)
    found = list(_examine(setup, ask=ask))
    if as_json:
        show_json([_finding_json(one) for one in found])
    else:
        show(setup, _finding_lines(found))
    if any(one.state == "wrong" for one in found):
        raise typer.Exit(1)


def _examine(setup: Setup, *, ask: bool) -> Iterator[Finding]:
    yield Finding(
        topic="octavo",
        state="ok",
        detail=f"{__version__} on Python {platform.python_version()}, {platform.system()}",
    )
    yield run(_database(setup))
    yield from _providers(setup, ask=ask)
    yield from _tokenizers()
    yield from _folders(setup)


async def _database(setup: Setup) -> Finding:
    from octavo.store.migrate import HEAD

    try:
        async with opened(setup) as engine:
            known = len(await engine.conversations(limit=10_000, archived=None))
            only = ", for reading only" if engine.store.read_only else ""
            detail = f"{engine.store.place}, schema {HEAD}, {many(known, 'conversation')}{only}"
            return Finding(topic="database", state="ok", detail=detail)
    except OctavoError as error:
        return Finding(
            topic="database", state="wrong", detail=str(error), remedy="give another one: --db, or OCTAVO_DB"
        )


def _providers(setup: Setup, *, ask: bool) -> Iterator[Finding]:
    from octavo.cli.models import providers

    found = providers(setup)
    for one in found:
        if ask and one.ready:
            yield run(_asked(setup, one))
        else:
            state: State = "ok" if one.ready else "note"
            yield Finding(topic=one.title, state=state, detail=one.detail, remedy=one.remedy)
    if not any(one.ready for one in found):
        yield Finding(
            topic="models",
            state="note",
            detail="no provider can answer; compressing, counting and searching work without one",
            remedy="octavo local install",
        )


async def _asked(setup: Setup, one: Availability) -> Finding:
    """Ask a provider for one word."""
    import asyncio
    import time

    started = time.monotonic()
    try:
        async with asyncio.timeout(ASK_SECONDS):
            said = await _one_word(setup, one.example)
    except (ProviderError, UsageError, TimeoutError) as error:
        problem = " ".join(str(error).split())[:SHOWN] or f"no answer within {ASK_SECONDS:.0f} s"
        return Finding(topic=one.title, state="wrong", detail=f"{one.example} does not answer: {problem}")
    seconds = time.monotonic() - started
    detail = f"{one.detail}; {one.example} answered {said!r} in {seconds:.1f} s"
    return Finding(topic=one.title, state="ok", detail=detail)


async def _one_word(setup: Setup, model: str) -> str:
    from octavo.core.messages import user
    from octavo.core.reply import Reply, Request
    from octavo.providers.catalogue import open_provider, resolve
    from octavo.providers.settings import read_settings

    provider = setup.provider or open_provider(model, read_settings(setup.environment))
    try:
        request = Request(model=resolve(model).model, messages=(user("Say the word: ready"),), max_output=64)
        async for chunk in provider.stream(request):
            if isinstance(chunk, Reply):
                return " ".join(chunk.message.text.split())[:SHOWN]
        return ""
    finally:
        await provider.close()


def _tokenizers() -> Iterator[Finding]:
    from octavo.meters.tokenizers import VOCABULARIES, load

    wanted = [name for name, vocabulary in VOCABULARIES.items() if vocabulary.golden]
    missing = [name for name in wanted if not load(name).exact]
    here = len(wanted) - len(missing)
    yield Finding(
        topic="tokenizers",
        state="ok",
        detail=f"{here} of {len(wanted)} vocabularies count their probes rightly",
    )
    if missing:
        yield Finding(
            topic="tokenizers",
            state="wrong",
            detail=f"estimated only: {', '.join(missing)}",
            remedy="reinstall octavo with splintr-rs",
        )


def _folders(setup: Setup) -> Iterator[Finding]:
    from octavo.providers.settings import read_settings

    yield Finding(topic="data", state="ok", detail=str(setup.settings.data))
    yield Finding(topic="cache", state="ok", detail=str(read_settings(setup.environment).local.cache))


def _finding_json(one: Finding) -> JsonObject:
    return {"topic": one.topic, "state": one.state, "detail": one.detail, "remedy": one.remedy}


def _finding_lines(found: list[Finding]) -> Iterator[Line]:
    columns = max(len(one.topic) for one in found)
    marks: Mapping[State, str] = {"ok": "ok", "note": "-", "wrong": "!"}
    for one in found:
        todo = f"; {one.remedy}" if one.remedy else ""
        mark = (STYLES[one.state], f"{marks[one.state]:<3}")
        yield line(mark, ("strong", one.topic.ljust(columns)), f"  {one.detail}{todo}")
