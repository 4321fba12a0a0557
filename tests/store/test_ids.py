"""Ids are uuid7, in order, and never twice."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import and_, or_
from uuid import UUID

import pytest

from octavo.errors import BadInput
from octavo.store.ids import _layout, made_at, new_id
from octavo.store.rows import now, time_text, time_value


def test_ids_are_uuid7_in_order() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    for id in made[:100]:
        assert (UUID(id).version, UUID(id).variant) == (7, "specified in RFC 4122")


def test_ids_of_many_threads_differ() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: [new_id() for _ in range(2_000)], range(8)))
    assert len({id for each in made for id in each}) == 16_000
    for each in made:
        assert each == sorted(each)


def test_every_bit_that_was_drawn_has_its_place_in_the_id() -> None:
    bits = 48 + 12 + 62
    placed = [_layout(1 << bit) ^ _layout(0) for bit in range(bits)]
    assert placed == sorted({one for one in placed if one.bit_count() == 1})
    assert len(placed) == bits
    assert sum(placed) ^ _layout(0) == (1 << 128) - 1 ^ (1 << 127 - 48) ^ (1 << 62)


def test_ids_of_programs_that_count_alike_differ_in_any_bit_but_those_of_time() -> None:
    drawn, last = list[int](), 0
    while len(drawn) < 40:
        # The first one of a millisecond is drawn anew, and the low end of each.
        id = new_id()
        if made_at(id) > last:
            drawn.append(int(id, 16))
            last = made_at(id)
    free = (1 << 76) - 1 ^ 0b11 << 62
    assert reduce(or_, drawn) & free == free
    assert reduce(and_, drawn) & free == 0
    lows = [int(new_id()[-8:], 16) for _ in range(200)]
    assert reduce(or_, lows) == (1 << 32) - 1
    assert reduce(and_, lows) == 0


def test_an_id_says_when_it_was_made() -> None:
    before = time.time_ns() // 1_000_000
    assert before <= made_at(new_id()) <= time.time_ns() // 1_000_000 + 1


def test_times_are_written_to_the_millisecond_and_read_back() -> None:
    assert time_text(1_700_000_000_123) == "2023-11-14T22:13:20.123+00:00"
    assert time_value("2023-11-14T22:13:20.123+00:00") == 1_700_000_000_123
    assert abs(now() - time.time_ns() // 1_000_000) < 60_000


def test_a_time_is_read_in_its_zone_and_without_one_in_utc() -> None:
    assert time_value("2023-11-14T23:13:20.123+01:00") == 1_700_000_000_123
    assert time_value("2023-11-14T22:13:20.123") == 1_700_000_000_123
    with pytest.raises(BadInput, match="line 3: expected an ISO 8601 time, got 'yesterday'"):
        time_value("yesterday", "line 3")
