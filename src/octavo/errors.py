"""Every error Octavo raises, classified once, where it is noticed.

OctavoError
├─ UsageError           the caller's mistake
│  ├─ NotFound          no such conversation, message, snapshot, ...
│  ├─ NotOnBranch       a node that lies on another branch than the one asked for
│  ├─ UnknownModel      a model name nothing is known about
│  ├─ BadBudget         a window that cannot be divided that way; carries the sums
│  └─ BadInput          data of the wrong shape; names where
├─ ContextOverflow      cannot fit even when shrunk; carries every term of the sum
├─ ProviderError        the model's service failed; says whether a retry can help
│  ├─ RateLimited
│  ├─ ProviderTimeout
│  ├─ WindowExceeded    the request was larger than the model accepts
│  └─ BadReply          an answer that cannot be used
│     └─ ReplyTooLarge  more came than any answer has
└─ StoreError           the database failed, is newer than this program, or is inconsistent
   └─ ReadOnly          it can be read, and not written

A message says what happened, the numbers, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


class OctavoError(Exception):
    """The root: catch this to catch everything Octavo raises on purpose."""


class UsageError(OctavoError, ValueError):
    """The caller asked for something that cannot be."""


class NotFound(UsageError):
    """What was asked for does not exist."""


class NotOnBranch(UsageError):
    """A node lies on another branch."""


class UnknownModel(UsageError):
    """Nothing is known about a model of this name."""


class BadInput(UsageError):
    """Data of the wrong shape; `where` names the place (`messages[3].content[0].text`)."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)
        self.where = where
        self.problem = problem


class _WithTerms(OctavoError):
    """An error that shows its arithmetic."""

    def __init__(self, message: str, terms: Mapping[str, int]) -> None:
        sums = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in terms.items())
        super().__init__(f"{message} ({sums})" if sums else message)
        self.terms: Mapping[str, int] = MappingProxyType(dict(terms))


class BadBudget(_WithTerms, UsageError):
    """A window that cannot be divided that way."""


class ContextOverflow(_WithTerms):
    """The part that must be sent does not fit, even after everything else was given up."""


class ProviderError(OctavoError):
    """The model's service failed."""

    def __init__(self, message: str, *, retryable: bool = False, status: int | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.status = status


class RateLimited(ProviderError):
    """Too many requests; `retry_after` seconds if the provider said so."""

    def __init__(self, message: str, *, retry_after: float | None = None, status: int | None = 429) -> None:
        super().__init__(message, retryable=True, status=status)
        self.retry_after = retry_after


class ProviderTimeout(ProviderError):
    """No answer in time."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


class WindowExceeded(ProviderError):
    """The request was larger than the model accepts; `window` if the provider named it."""

    def __init__(self, message: str, *, window: int | None = None, status: int | None = 400) -> None:
        super().__init__(message, status=status)
        self.window = window


class BadReply(ProviderError):
    """The provider answered with something that cannot be used."""


class ReplyTooLarge(BadReply):
    """The provider sent more than any answer has: an endless line, or an endless answer."""


class StoreError(OctavoError):
    """The database failed, is newer than this program, or does not add up."""


class ReadOnly(StoreError):
    """The database can be read, and not written."""
