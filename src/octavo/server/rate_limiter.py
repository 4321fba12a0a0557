"""Limits how many requests a caller may send: a token bucket for the rate, a counter for open requests.

Both belong to this process. With N replicas behind a proxy, a caller may send N times as many.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from octavo.server.config import Limits

REMEMBERED = 10_000
"""Callers that are remembered; a forgotten one starts with a full bucket."""


@dataclass(slots=True)
class CallerUsage:
    """The requests that a caller may still send, and has open."""

    tokens: float
    at: float
    open: int = 0


class RateLimiter:
    """The limits of all callers."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._accounts: OrderedDict[str, CallerUsage] = OrderedDict()

    def admit(self, caller: str) -> float:
        """Admit a request (0), or give the seconds to wait; every admitted request must `leave`."""
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
