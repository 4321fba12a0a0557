"""The memory for results is bounded, and keeps what is needed again."""

from __future__ import annotations

from octavo.core.bounded_memory import BoundedMemory
from octavo.core.extract import units
from octavo.core.messages import place, user


def test_what_is_needed_again_stays_and_the_rest_is_forgotten() -> None:
    memory = BoundedMemory[int, str](20)
    for number in range(100):
        memory.put(number, str(number), 1)
        assert memory.get(0) == "0"
    assert len(memory) <= 21
    assert memory.get(99) == "99"
    assert memory.get(50) is None


def test_a_value_larger_than_the_memory_is_kept_until_the_next_one() -> None:
    memory = BoundedMemory[str, str](10)
    memory.put("large", "value", 1_000)
    assert memory.get("large") == "value"
    memory.put("other", "value", 1_000)
    memory.put("another", "value", 1_000)
    assert memory.get("large") is None
    memory.clear()
    assert len(memory) == 0


def test_a_message_that_says_the_same_is_analysed_once() -> None:
    units.forget()
    (node,) = place([user("Only deploy on Tuesdays.")])
    one, other = (units.analyse_all([node])[node.id] for _ in range(2))
    assert one is other
    units.forget()
    again = units.analyse_all([node])[node.id]
    assert again == one
    assert again is not one
