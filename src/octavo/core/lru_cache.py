"""A cache of limited size. What it drops can be found again, so it affects speed only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """A mapping of limited size; when it is full, it drops the entry that was used longest ago.

    An entry takes 1 of the size unless it is put with another one. An entry larger than the whole cache stays until the
    next one comes. Threads may share it: `get`, `put` and `pop` take
    each step in one operation of a dictionary.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Value | None:
        """Find a value; None if it is not there."""
        found = self._entries.get(key)
        if found is None:
            return None
        try:  # noqa: SIM105 - `suppress` takes as long as the whole lookup
            self._entries.move_to_end(key)
        except KeyError:  # pragma: no cover - another thread has just dropped it
            pass
        return found[0]

    def put(self, key: Key, value: Value, size: int = 1) -> None:
        """Keep a value of this size."""
        self.pop(key)
        self._entries[key] = value, size
        self._size += size
        while self._size > self.most and len(self._entries) > 1:
            _, (_, dropped) = self._entries.popitem(last=False)
            self._size -= dropped

    def pop(self, key: Key) -> Value | None:
        """Take a value out; None if it is not there."""
        found = self._entries.pop(key, None)
        if found is None:
            return None
        self._size -= found[1]
        return found[0]

    def drop(self, unwanted: Callable[[Value], bool]) -> None:
        """Drop every value that is unwanted."""
        for key in [key for key, (value, _) in self._entries.items() if unwanted(value)]:
            self.pop(key)

    def clear(self) -> None:
        """Drop everything."""
        self._entries, self._size = OrderedDict(), 0

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[Key]:
        """Give the keys, the one that was used longest ago first."""
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
