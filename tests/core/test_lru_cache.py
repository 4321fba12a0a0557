"""A cache is bounded, and keeps what is used again."""

from __future__ import annotations

from octavo.core.extract import units
from octavo.core.lru_cache import LruCache
from octavo.core.messages import place, user


def test_what_was_used_longest_ago_is_dropped() -> None:
    cache = LruCache[int, str](20)
    for number in range(100):
        cache.put(number, str(number))
        assert cache.get(0) == "0"
    assert len(cache) == 20
    assert [*cache] == [*range(81, 100), 0]
    assert cache.get(50) is None


def test_entries_count_by_their_size() -> None:
    cache = LruCache[str, str](10)
    cache.put("large", "value", 6)
    cache.put("small", "value", 4)
    assert [*cache] == ["large", "small"]
    cache.put("large", "again", 5)
    cache.put("one more", "value")
    assert [*cache] == ["small", "large", "one more"]
    cache.put("last", "value")
    assert [*cache] == ["large", "one more", "last"]


def test_a_value_larger_than_the_cache_stays_until_the_next_one() -> None:
    cache = LruCache[str, str](10)
    cache.put("large", "value", 1_000)
    assert cache.get("large") == "value"
    cache.put("other", "value", 5)
    assert "large" not in cache
    cache.put("another", "value", 5)
    assert [*cache] == ["other", "another"]


def test_what_is_taken_out_makes_room() -> None:
    cache = LruCache[str, int](3)
    for name, value in (("one", 1), ("two", 2), ("three", 3)):
        cache.put(name, value)
    assert cache.pop("two") == 2
    assert cache.pop("two") is None
    cache.put("four", 4)
    cache.drop(lambda value: value in (1, 4))
    assert [*cache] == ["three"]
    cache.clear()
    cache.put("five", 5, 3)
    assert [*cache] == ["five"]


def test_a_message_that_says_the_same_is_analysed_once() -> None:
    units.forget()
    (node,) = place([user("Only deploy on Tuesdays.")])
    one, other = (units.analyse_all([node])[node.id] for _ in range(2))
    assert one is other
    units.forget()
    again = units.analyse_all([node])[node.id]
    assert again == one
    assert again is not one
