"""What is read of requests with something missing or wrong in them, field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from octavo.core.json_values import Json
from octavo.core.transcript import transcript
from octavo.core.wire import FORMATS, Format, detect, read, read_tools, write, write_tools
from octavo.errors import BadInput
from tests.core.results.contexts import request_lists
from tests.core.results.records import Lines, compact, record, titled
from tests.core.wire.test_tools import DRESSED

MISSING = object()
WRONG: dict[str, object] = {"missing": MISSING, "null": None, "7": 7, "empty": ""}


def _spoiled(value: Any, wrong: object) -> Iterator[tuple[str, Any]]:
    """Give a value with one field after the other wrong, deep ones too, each with its path."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, field in inner:
        for path, changed in (("", wrong), *_spoiled(field, wrong)):
            copy = value.copy()
            copy[key] = changed
            if changed is MISSING:
                del copy[key]
            yield f".{key}{path}", copy


def _outcomes(value: Any, tell: Callable[[Any], str]) -> Lines:
    """Tell what becomes of a value, whatever is wrong with which field."""
    found: dict[str, list[str]] = {}
    for name, wrong in WRONG.items():
        for path, spoiled in _spoiled(value, wrong):
            found.setdefault(tell(spoiled), []).append(f"{path.removeprefix('.0.')} {name}")
    for outcome, places in found.items():
        yield f"{outcome} <- {', '.join(places)}"


def _read(format: Format, system: Json, listed: Json) -> str:
    try:
        messages = read(format, listed, system)
    except BadInput as problem:
        return problem.problem
    again = write(format, messages)
    same = (again.messages, again.system) == (listed, system)
    return f"{'' if same else 'not '}written again: {compact(transcript(messages)[:60])} {detect(listed)}"


@record
def flawed_requests() -> Lines:
    """What is read of a request in which a field is missing or wrong."""
    for format, name, listed, system in request_lists():
        yield titled(format, name)
        for message in listed:
            yield from _outcomes([message], partial(_read, format, system))


def _read_tools(format: Format, tools: Json) -> str:
    try:
        found = read_tools(format, tools)
    except BadInput as problem:
        return problem.problem
    same = write_tools(format, found) == tools
    others = [compact(write_tools(other, found))[:60] for other in FORMATS if other != format]
    return f"{'' if same else 'not '}written again: {[tool.name for tool in found]} {others}"


@record
def flawed_tools() -> Lines:
    """What is read of tools' definitions in which a field is missing or wrong."""
    for format, tools in DRESSED.items():
        yield titled(format)
        for tool in tools:
            yield from _outcomes([tool], partial(_read_tools, format))
