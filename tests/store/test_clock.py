"""The database's clock: when a time has passed, to the millisecond, by the database and by what it told."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from octavo.store import Store
from octavo.store.clock import clock, in_seconds, is_over, is_used_up
from octavo.store.rows import now

pytestmark = pytest.mark.anyio

LONGEST = 10.0
"""Seconds ahead that a time is set at most."""


@pytest.mark.parametrize(
    ("left", "over"),
    [(-0.001, True), (0.0, False), (0.001, False), (10.0, False), (20.0, False), (20.001, True)],
)
async def test_a_time_is_over_when_it_has_passed_or_lies_too_far_ahead(
    memory: Store, left: float, over: bool
) -> None:
    """Within one statement, SQLite's clock stands still."""
    asked = sa.select(is_over(in_seconds(left), LONGEST))
    assert bool(await memory._database.read(lambda c: c.scalar(asked))) is over
    assert is_used_up(left, LONGEST) is over


async def test_a_time_ahead_is_as_far_ahead_as_was_said(memory: Store) -> None:
    asked = sa.select(in_seconds(1.5) - clock())
    assert await memory._database.read(lambda c: c.scalar(asked)) == 1_500


async def test_the_clock_counts_milliseconds_as_the_program_does(store: Store) -> None:
    found = await store._database.read(lambda c: c.scalar(sa.select(clock())))
    assert abs(found - now()) < 60_000
