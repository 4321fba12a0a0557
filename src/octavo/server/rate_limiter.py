"""How much one caller may take: a bucket that refills for the rate, a counter for what is open.

Both are of this process: with N replicas behind a proxy a key may take N times as much.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from octavo.server.config import Limits

REMEMBERED = 10_000
"""Callers whose state is kept; whoever is forgotten starts with a full bucket."""


@dataclass(slots=True)
class CallerUsage:
    """What a caller has left, and has open."""

    tokens: float
    at: float
    open: int = 0


class RateLimiter:
    """The accounts of all callers."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._accounts: OrderedDict[str, CallerUsage] = OrderedDict()

    def admit(self, caller: str) -> float:
        """Let a request in (0), or tell how many seconds to wait; `leave` must follow once it is in."""
        account, limits = self._account(caller), self._limits
        now = self._clock()
        account.tokens = min(float(limits.burst), account.tokens + (now - account.at) * limits.rate)
        account.at = now
        if account.tokens < 1:
            return (1 - account.tokens) / limits.rate
        if account.open >= limits.concurrency:
            return 1.0
        account.tokens -= 1
        account.open += 1
        return 0.0

    def leave(self, caller: str) -> None:
        self._account(caller).open -= 1

    def _account(self, caller: str) -> CallerUsage:
        account = self._accounts.pop(caller, None) or CallerUsage(float(self._limits.burst), self._clock())
        self._accounts[caller] = account
        if len(self._accounts) > REMEMBERED:
            idle = next((name for name, each in self._accounts.items() if not each.open), None)
            if idle is not None:
                del self._accounts[idle]
        return account
