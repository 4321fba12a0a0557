"""`python -m benchmarks`: the speed of Octavo beside others in one run, what compressing keeps, and pages of both.

Parts run one after the other, each in a process of its own, so that they do not disturb each other and one that
fails or cannot run here stops no other.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.figures import Results, dump, read, start
from benchmarks.parts import PARTS, run_part
from benchmarks.render import fill, page, part_text
from octavo.cli.main import run
from octavo.cli.printing import put, written
from octavo.errors import UsageError

FAILED = 1
app = typer.Typer(add_completion=False)


@app.command(
    epilog="\b\n"
    "Examples:\n"
    "  python -m benchmarks --quick                        see that it works, in two minutes\n"
    "  python -m benchmarks store engine                   some parts\n"
    "  python -m benchmarks --json results.json            everything, and keep it\n"
    "  python -m benchmarks --from results.json --markdown benchmarks.md\n"
    "  python -m benchmarks engine --from results.json --json results.json   one part again",
)
def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PART", show_default=False, help="Parts to run; all when none is named."),
    ] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: to see that it works.")] = False,
    parts: Annotated[bool, typer.Option("--list", help="List the parts and leave.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", show_default=False, help="Write the results to this file."),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", show_default=False, help="Write a page of them."),
    ] = None,
    readme: Annotated[
        Path | None,
        typer.Option(
            "--readme",
            metavar="FILE",
            show_default=False,
            help="Put tables between the marks `<!-- benchmark: NAME -->` and `<!-- end -->` of this page.",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            show_default=False,
            help="Read results that were kept; parts that are named are measured again.",
        ),
    ] = None,
) -> None:
    """Measure Octavo's speed beside others, and what its compressions keep.

    What it is compared with (tiktoken, LangChain, Strands, pydantic-ai-harness) and what it is measured on (a
    PostgreSQL) is measured if it is installed: `make bench` installs all of it. Progress goes to
    standard error. Run it on a quiet machine; everything takes the better part of an hour.
    """

    if parts:
        put("".join(f"{name:10} {title}\n" for name, title in PARTS.items()))
        return
    if unknown := [name for name in names or () if name not in PARTS]:
        raise UsageError(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for path in filter(None, (out, markdown, readme)):
        if not path.parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {path.parent}")
    kept = _kept(source) if source else None
    results = kept if kept and not names else _measured(names or list(PARTS), out, kept, quick=quick)
    _write(results, out, markdown, readme)
    if any(part.failed for part in results.parts):
        raise typer.Exit(FAILED)


def _measured(names: list[str], out: Path | None, kept: Results | None, *, quick: bool) -> Results:
    """Run the parts, printing and keeping each as soon as it is done; others are taken from what was kept."""

    results, order = start(quick=quick), list(PARTS)
    if kept is not None:
        if not kept.belongs_with(results):
            raise UsageError("those results are of another machine or size: measure all parts again")
        results = replace(results, parts=tuple(part for part in kept.parts if part.name not in names))
    for name in names:
        part = run_part(name, quick=quick, tell=lambda words: print(words, file=sys.stderr, flush=True))
        put(part_text(part) + "\n")
        parts = sorted((*results.parts, part), key=lambda one: order.index(one.name))
        results = replace(results, parts=tuple(parts))
        _keep(results, out)
    return results


def _kept(source: Path) -> Results:

    try:
        return read(json.loads(source.read_text("utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{source} does not hold results of `python -m benchmarks --json`: {error!r}"
        ) from error


def _write(results: Results, out: Path | None, markdown: Path | None, readme: Path | None) -> None:

    _keep(results, out)
    results = read(dump(results))  # the pages say what the file says, to the last digit
    if markdown is not None:
        with written(markdown) as write:
            write(page(results))
    if readme is not None:
        try:
            text = readme.read_text("utf-8")
        except OSError as error:
            raise UsageError(f"cannot read {readme}: {error.strerror or error}") from error
        if results.quick:
            print(f"octavo: a quick run is not for quoting: {readme} stays as it is", file=sys.stderr)
            return
        with written(readme) as write:
            write(fill(text, results))


def _keep(results: Results, out: Path | None) -> None:

    if out is not None:
        with written(out) as write:
            write(json.dumps(dump(results), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    run(app, "python -m benchmarks")
