"""Runs the real command line in this process, with standard streams that are bytes in memory."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from octavo.cli.main import main
from octavo.cli.setup import Setup, read_setup
from tests.cli.scripted import Parrot, scripted

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _stream(data: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")


def octavo(
    *arguments: str,
    environment: dict[str, str],
    stdin: str | bytes = b"",
    parrot: Parrot | None = None,
) -> Done:
    """Run a command in which the parrot serves every model, and wait for it."""
    return _run(arguments, scripted(environment, parrot), stdin)


def plainly(*arguments: str, environment: dict[str, str], stdin: str | bytes = b"") -> Done:
    """Run a command in which each model is served by whom its name says, and wait for it."""
    return _run(arguments, read_setup(environment), stdin)


def _run(arguments: tuple[str, ...], setup: Setup, stdin: str | bytes) -> Done:
    return captured(lambda: main(arguments, setup), stdin)


def captured(command: Callable[[], None], stdin: str | bytes = b"") -> Done:
    """Run a command with standard streams that are bytes in memory."""
    out, err = _stream(), _stream()
    before = sys.stdin
    sys.stdin = _stream(stdin.encode() if isinstance(stdin, str) else stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            command()
        code: object = 0
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdin = before
    return Done(code=int(str(code)), out=_text(out), err=_text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()


Run = Callable[..., Done]
"""`octavo` with the environment of a test."""
