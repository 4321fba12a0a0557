"""Ids are uuid7, in order, and never twice."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from octavo.store.ids import made_at, new_id
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


def test_an_id_says_when_it_was_made() -> None:
    before = time.time_ns() // 1_000_000
    assert before <= made_at(new_id()) <= time.time_ns() // 1_000_000 + 1


def test_times_are_written_to_the_millisecond_and_read_back() -> None:
    assert time_text(1_700_000_000_123) == "2023-11-14T22:13:20.123+00:00"
    assert time_value("2023-11-14T22:13:20.123+00:00") == 1_700_000_000_123
    assert abs(now() - time.time_ns() // 1_000_000) < 60_000
