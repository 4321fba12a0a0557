"""`@copilotkit/aimock`: a fake of all providers that was written by somebody else, run as the program it is.

It is installed once per machine, in a pinned version, into a cache folder; what it answers is in `aimock.json`. Where
there is no Node, the tests that need it are skipped, loudly.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from octavo.core.json_values import JsonObject
from octavo.providers.locks import locked
from octavo.providers.settings import cache_folder

VERSION = "1.43.0"
PATIENCE = 300
"""Seconds the registry may take."""
FIXTURES = Path(__file__).with_name("aimock.json")
CACHE = cache_folder(os.environ) / "tests" / f"aimock-{VERSION}"
MAIN = Path("node_modules/@copilotkit/aimock/dist/cli.js")


def installed() -> Path:
    """Give the program's main file, installing it first if need be."""
    with locked(CACHE.with_suffix(".lock")):
        if not (CACHE / MAIN).exists():
            npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(CACHE)]
            subprocess.run(
                [*npm, f"@copilotkit/aimock@{VERSION}"],
                check=True,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
    return CACHE / MAIN


def missing() -> str:
    """Say why aimock cannot run here; empty if it can."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "NOT TESTED against aimock: there is no Node with npm on this machine"
    try:
        installed()
    except subprocess.CalledProcessError as error:
        return f"NOT TESTED against aimock: npm could not install it: {error.stderr[-300:]}"
    except subprocess.TimeoutExpired:
        return f"NOT TESTED against aimock: npm did not install it within {PATIENCE} seconds"
    return ""


@dataclass(frozen=True)
class Aimock:
    """The running program."""

    url: str

    def chaos(self, test: str, **rates: float) -> None:
        """Have things go wrong for the requests of one test."""
        self._post(f"/__aimock/chaos?testId={test}", dict(rates))

    def journal(self, test: str) -> list[JsonObject]:
        """List the requests of one test."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal?testId={test}") as response:
            entries: list[JsonObject] = json.load(response)
        return entries

    def _post(self, path: str, body: object) -> None:
        data = json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data=data, headers={"content-type": "application/json"}
        )
        urllib.request.urlopen(request).close()


@contextmanager
def running() -> Iterator[Aimock]:
    """Run the program on a free port."""
    command = ["node", str(installed()), "--port", "0", "--fixtures", str(FIXTURES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            yield Aimock(_address(process.stdout))
        finally:
            process.kill()


def _address(said: IO[str]) -> str:
    """Wait until the program says where it listens; what it says later is read and forgotten, lest it stop to wait."""
    lines: list[str] = []
    for line in said:
        lines.append(line)
        if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
            threading.Thread(target=said.read, daemon=True).start()
            return found[1]
    raise AssertionError(f"aimock did not start: {lines}")
