"""The database's time: the one clock that all processes which share a database agree on."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class clock(FunctionElement[int]):
    """The database's time in milliseconds since 1970."""

    type = sa.BigInteger()
    inherit_cache = True


@compiles(clock, "sqlite")
def _sqlite(element: clock, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(clock)
def _postgresql(element: clock, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"


def in_seconds(seconds: float) -> sa.ColumnElement[int]:
    """The time in so many seconds from now."""
    return clock() + int(seconds * 1000)


def is_over(until: sa.ColumnElement[int], longest: float) -> sa.ColumnElement[bool]:
    """Whether a time has passed that was set at most `longest` seconds ahead.

    A time further ahead was set before the clock was set back, and counts as passed. Up to twice as far is believed,
    because clocks are corrected a little all the time.
    """
    return (until < clock()) | (until > in_seconds(2 * longest))


def is_used_up(left: float, longest: float) -> bool:
    """Tell the same of a time by the seconds that are left until then."""
    return not 0 <= left <= 2 * longest
