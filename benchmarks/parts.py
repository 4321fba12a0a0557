"""The parts, each run in a process of its own: one that fails or cannot run is reported and stops no other.

A part is a module with `measure`, which gives its findings one after the other; they are written as lines of JSON as
soon as they are there, so what was found before a failure is kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from types import MappingProxyType
from typing import IO, Protocol, cast

from benchmarks.figures import Absent, Item, Part, Tell, dump_item, read_item
from benchmarks.places import ROOT
from octavo import __version__

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "imports": "Import time",
        "tokens": "Counting tokens",
        "bills": "Predicted against billed",
        "core": "Deciding and building",
        "extracts": "Extracts and receipts",
        "compressing": "A whole compression",
        "store": "The context query",
        "recall": "The lookup of a question",
        "frequency": "How often a conversation is compressed",
        "engine": "The engine's share of a turn",
        "peers": "Beside other libraries",
        "gateway": "The gateway",
        "caches": "What a prompt cache can serve",
        "quality": "What compressing keeps",
        "reading": "Read by a small model",
    }
)
"""The parts and their titles, in the order of the page."""
LONGEST = 3_600.0
"""Seconds a part may take: one that hangs must not keep the others waiting for ever."""
ABSENT = 3
"""Exit code of a part that cannot run here."""
LAST_WORDS = 12
"""Lines of a failed part's error output that are looked at."""


class Module(Protocol):
    """What the module of a part has."""

    def measure(self, *, quick: bool, tell: Tell) -> Iterator[Item]:
        """Give what is found, saying what is being done."""


def run_part(name: str, *, quick: bool, tell: Tell) -> Part:
    """Run a part in a process of its own."""
    started, load = time.monotonic(), round(os.getloadavg()[0], 1)
    command = [sys.executable, "-m", "benchmarks.parts", name, *(["--quick"] if quick else [])]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", cwd=ROOT
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        words: deque[str] = deque(maxlen=LAST_WORDS)
        listener = threading.Thread(target=_listen, args=(running.stderr, words, tell, name))
        alarm = threading.Timer(LONGEST, running.kill)
        listener.start()
        alarm.start()
        items = tuple(read_item(json.loads(line)) for line in running.stdout if line.startswith(START))
        listener.join()
        code = running.wait()
        alarm.cancel()
    said = words[-1] if words else f"ended with code {code}"
    return Part(
        name=name,
        title=PARTS.get(name, name),
        octavo=__version__,
        date=datetime.now(UTC).date().isoformat(),
        load=load,
        seconds=time.monotonic() - started,
        items=items,
        absent=said if code == ABSENT else "",
        failed=said if code not in (0, ABSENT) else "",
    )


START = '{"kind": '
"""How a line with a finding begins; what libraries print of their own accord is passed over."""
SIGN = "… "
"""What a line of progress begins with; all else on the error output is trouble."""


def _listen(stream: IO[str], words: deque[str], tell: Tell, name: str) -> None:
    for line in stream:
        if line.startswith(SIGN):
            tell(f"{name}: {line.removeprefix(SIGN).strip()}")
        elif line.strip():
            words.append(line.strip())


def main(name: str, *, quick: bool) -> None:
    """Run a part in this process, for the one that started it."""

    def tell(words: str) -> None:
        print(f"{SIGN}{words}", file=sys.stderr, flush=True)

    module = cast("Module", import_module(f"benchmarks.{name}"))
    try:
        for item in module.measure(quick=quick, tell=tell):
            print(json.dumps(dump_item(item)), flush=True)
    except Absent as reason:
        print(reason, file=sys.stderr)
        sys.exit(ABSENT)


if __name__ == "__main__":
    main(sys.argv[1], quick="--quick" in sys.argv[2:])
