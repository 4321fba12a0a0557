"""Ids: uuid7 as 32 hex digits, in order of creation within a process.

Every id is larger than the one made before it, also within a millisecond and when the clock steps back, so rows
made in order sort in order. Ids order nothing in the conversation tree: position on a branch does.
"""

from __future__ import annotations

import os
import threading
import time

_TAIL_BITS = 74
"""What uuid7 leaves free besides the time, the version (4 bits) and the variant (2 bits)."""
_RANDOM_BITS = 32
"""The low end of the tail, new for every id: two processes that count alike still differ."""

_lock = threading.Lock()
_last = 0


def new_id() -> str:
    """Make an id that is larger than every other this process made."""
    global _last
    with _lock:
        now = time.time_ns() // 1_000_000
        tail = int.from_bytes(os.urandom(10), "big") >> (80 - _TAIL_BITS)
        value = now << _TAIL_BITS | tail
        if value <= _last:
            value = (_last >> _RANDOM_BITS) + 1 << _RANDOM_BITS | tail & (1 << _RANDOM_BITS) - 1
        _last = value
    return f"{_layout(value):032x}"


def _layout(value: int) -> int:
    """Put the version and the variant where uuid7 wants them: after 48 bits of time, and 12 bits later."""
    milliseconds, tail = value >> _TAIL_BITS, value & (1 << _TAIL_BITS) - 1
    high, low = tail >> 62, tail & (1 << 62) - 1
    return milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low


def made_at(id: str) -> int:
    """Tell when an id was made, in milliseconds since 1970."""
    return int(id[:12], 16)
