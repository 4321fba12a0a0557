"""Values that changed: a key that several messages give different values, of which only the newest holds.

A key belongs to what was said, or to the output of one call (a file read twice, a command run again). A key that one
message gives two values is a column of a table, not a setting, and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from octavo.core.extract.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenValue:
    """What a key was given, and where: `sources[source].units[unit]`."""

    key: str
    value: str
    source: int
    unit: int


def changed(sources: Sequence[Source]) -> Iterator[tuple[GivenValue, ...]]:
    """Give for each key whose value changed all its values, oldest first."""
    histories: dict[tuple[str, str], dict[int, list[GivenValue]]] = {}
    for at, source in enumerate(sources):
        for index, unit in enumerate(source.units):
            if unit.setting:
                key, value = unit.setting
                scope = source.origins.get(unit.call, "") if unit.channel == "result" else "said"
                found = GivenValue(key=key, value=value, source=at, unit=index)
                histories.setdefault((scope, key), {}).setdefault(at, []).append(found)
    for history in histories.values():
        values = [found[0] for found in history.values()]
        single = all(len({value.value for value in found}) == 1 for found in history.values())
        if single and len({value.value for value in values}) > 1:
            yield tuple(values)


def superseded(sources: Sequence[Source]) -> frozenset[tuple[int, int]]:
    """Name the units (source, number) whose value a later message changed."""
    return frozenset(
        (value.source, value.unit)
        for values in changed(sources)
        for value in values
        if value.value != values[-1].value
    )
