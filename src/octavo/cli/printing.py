"""Prints results to standard output, everything else to standard error, and JSON always as UTF-8."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from octavo.cli.lines import Line, write_lines
from octavo.cli.setup import Setup
from octavo.core.history_json import dumped
from octavo.core.json_values import Json
from octavo.errors import OctavoError, UsageError
from octavo.store.files import half_of, refuse_database


def prepare_streams() -> None:
    """Let any text be printed: what an old terminal cannot show is written as an escape, not raised as an error.

    Where a stream was closed (`>&-`), nobody wants to read it.
    """
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - open as long as the program runs
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """Throw away what standard output does not take: the interpreter would complain about it again when it ends."""
    with suppress(OSError, ValueError):  # a stream in memory has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
    """Give a way to write: to standard output, or to a file that appears whole or not at all.

    What is no file, such as a device or a named pipe, is written to as it is: it must not be replaced by one.
    """
    if path is None:
        yield put
        return
    special = path.exists() and not path.is_file()
    target = path if special else path.resolve()
    if not special:
        refuse_database(target)
    begun = target if special else half_of(target)
    with _unwritable(path, UsageError):
        file = begun.open("w", encoding="utf-8", errors="surrogatepass", newline="\n")

    def write(text: str) -> None:
        with _unwritable(path, OctavoError):
            file.write(text)

    try:
        try:
            yield write
        finally:
            with _unwritable(path, OctavoError):
                file.close()
        if not special:
            with _unwritable(path, UsageError):
                begun.replace(target)
    finally:
        if not special:
            begun.unlink(missing_ok=True)


@contextmanager
def _unwritable(path: Path, kind: type[OctavoError]) -> Iterator[None]:
    """Say which file cannot be written, and why."""
    try:
        yield
    except OSError as error:
        raise kind(f"cannot write {path}: {error.strerror or error}") from error
