"""A bounded memory for results of pure functions: it changes the speed, never the answer."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedMemory(Generic[Key, Value]):
    """What was needed lately, by key, up to a total size.

    There are two generations. What is needed again moves into the young one; when that holds half of the total, the old
    one is forgotten. So to find something costs a lookup, and nothing is kept in order.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._young: dict[Key, tuple[Value, int]] = {}
        self._old: dict[Key, tuple[Value, int]] = {}
        self._size = 0

    def get(self, key: Key) -> Value | None:
        """Find a value; None if it is not remembered."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.put(key, *found)
        return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Remember a value of this size."""
        self._size += size
        if self._size > self.most // 2:
            self._old, self._young, self._size = self._young, {}, size
        self._young[key] = value, size

    def clear(self) -> None:
        """Forget everything."""
        self._young, self._old, self._size = {}, {}, 0

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())
