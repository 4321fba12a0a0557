"""Results to standard output, all else to standard error; JSON as UTF-8 whatever the terminal is set to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from octavo.cli.histories import dumped
from octavo.cli.lines import Line, write_lines
from octavo.cli.setup import Setup
from octavo.core.fields import Json
from octavo.errors import UsageError
from octavo.store.files import half_of, refuse_database


def prepare_streams() -> None:
    """Let any text be printed: what an old terminal cannot show is written as an escape, not raised as an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def show(setup: Setup, lines: Iterable[Line]) -> None:
    write_lines(lines, environment=setup.environment)


def tell(setup: Setup, lines: Iterable[Line]) -> None:
    """Print what is not the result."""
    write_lines(lines, environment=setup.environment, file=sys.stderr)


def show_json(value: Json) -> None:
    """Print a value: indented for a person, in one line for a pipe."""
    put(dumped(value, indent=2 if sys.stdout.isatty() else None) + "\n")


def put(text: str) -> None:
    """Write text as UTF-8."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


@contextmanager
def written(path: Path | None) -> Iterator[Callable[[str], object]]:
    """Give a way to write: to standard output, or to a file that appears whole or not at all."""
    if path is None:
        yield put
        return
    refuse_database(path)
    partial = half_of(path)
    try:
        file = partial.open("w", encoding="utf-8", errors="surrogatepass", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        with file:
            yield file.write
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
