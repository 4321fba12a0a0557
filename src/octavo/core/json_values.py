"""Reading the fields of JSON values; whatever is wrong is named by its place.

Every function here returns what was asked for or raises `BadInput`; none raises `KeyError` or `TypeError`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TypeAlias

from octavo.errors import BadInput

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]

MAX_DEPTH = 100
"""Levels of nesting: far deeper than any tool's input, far from Python's recursion limit of 1,000."""
MAX_BITS = 1_024
"""Size of a whole number: the range of a double, beyond which other JSON readers lose it or refuse it."""
_DEEP = f"nested deeper than {MAX_DEPTH} levels, or holding itself"


def compact(value: object) -> str:
    """Write JSON the way it is stored and counted: no spaces, no escapes for other scripts."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parse(text: str) -> Json:
    """Read JSON text as strictly as `check_json` does; raise `ValueError` for anything else."""
    try:
        value: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError(_DEEP) from error
    if (flaw := _flaw(value, 0)) is not None:
        raise ValueError(flaw[1])
    return value


def check_json(value: object, where: str) -> None:
    """Raise `BadInput` unless a value is JSON through and through, finite, and not nested too deep."""
    flaw = _flaw(value, 0)
    if flaw is not None:
        path, problem = flaw
        # The path into something that holds itself would be a hundred steps long and help nobody.
        raise BadInput(where if problem == _DEEP else where + path, problem)


def _flaw(value: object, depth: int) -> tuple[str, str] | None:
    """Find the first thing in a value that is not JSON: the path to it and what is wrong."""
    if value is None or isinstance(value, str | bool):
        return None
    if isinstance(value, int):
        return None if value.bit_length() <= MAX_BITS else ("", f"a number of over {MAX_BITS} bits")
    if isinstance(value, float):
        return None if math.isfinite(value) else ("", f"expected a finite number, got {value}")
    if depth > MAX_DEPTH:
        return ("", _DEEP)
    if isinstance(value, list):
        return _flaw_of_list(value, depth)
    if isinstance(value, dict):
        return _flaw_of_object(value, depth)
    return ("", f"expected JSON, got {type(value).__name__}")


def _flaw_of_list(value: list[object], depth: int) -> tuple[str, str] | None:
    for i, item in enumerate(value):
        if (flaw := _flaw(item, depth + 1)) is not None:
            return (f"[{i}]{flaw[0]}", flaw[1])
    return None


def _flaw_of_object(value: dict[object, object], depth: int) -> tuple[str, str] | None:
    for key, item in value.items():
        if not isinstance(key, str):
            return ("", f"expected text as key, got {type(key).__name__}")
        if (flaw := _flaw(item, depth + 1)) is not None:
            return (f".{key}{flaw[0]}", flaw[1])
    return None


def take_object(value: Json, where: str) -> JsonObject:
    """Take a value that is to be an object."""
    if not isinstance(value, dict):
        raise BadInput(where, f"expected an object, got {type(value).__name__}")
    return value


def take_inner(data: Mapping[str, Json], key: str, where: str) -> JsonObject:
    """Take a field that is to be an object."""
    return take_object(data.get(key), f"{where}.{key}")


def take_text(data: Mapping[str, Json], key: str, where: str, default: str | None = None) -> str:
    """Take a field that is to be text; without a default it has to be there."""
    value = data.get(key, default)
    if not isinstance(value, str):
        raise BadInput(f"{where}.{key}", f"expected text, got {type(value).__name__}")
    return value


def take_optional(data: Mapping[str, Json], key: str, where: str) -> str:
    """Take a field that is text, null or not there; the latter two are empty."""
    return "" if data.get(key) is None else take_text(data, key, where)


def take_list(data: Mapping[str, Json], key: str, where: str) -> list[Json]:
    """Take a field that is to be a list."""
    value = data.get(key)
    if not isinstance(value, list):
        raise BadInput(f"{where}.{key}", f"expected a list, got {type(value).__name__}")
    return value


def take_count(data: Mapping[str, Json], key: str, where: str) -> int:
    """Take a field that is to be a whole number of 0 or more; 0 when it is not there."""
    value = data.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"{where}.{key}", f"expected a whole number of 0 or more, got {value!r}")
    return value
