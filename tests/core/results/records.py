"""Records: what the core makes of the conversations in `talks`, one text for each subject, fit to be read.

A change that was only to make something faster leaves every text as it is. One that changes results changes the texts,
and whoever reads the commit sees what became of them: `python -m scripts.renew_results` writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from octavo.core.messages import Message
from octavo.core.transcript import transcript
from tests.core.extract.samples import quarter

Lines = Iterator[str]
RECORDS: dict[str, Callable[[], Lines]] = {}


def record(make: Callable[[], Lines]) -> Callable[[], Lines]:
    """Name a record after its function."""
    RECORDS[make.__name__] = make
    return make


def written(name: str) -> str:
    """Write a record down."""
    return "".join(f"{line}\n" for line in RECORDS[name]())


def measure(message: Message) -> int:
    """Count a message as so many characters, whatever its parts."""
    return 3 + quarter(transcript([message], result_cap=None))


def size(messages: Iterable[Message]) -> int:
    return sum(map(measure, messages))


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def titled(*words: object) -> str:
    return f"\n== {' '.join(map(str, words))}"
