"""A section of the store: a class that holds the SQL of one kind of record.

A method marked `reads` or `writes` is given a connection. It is one read or one transaction, begun and ended inside the
call. So a caller holds no lock between two calls, however long it waits for a model, and what a method returns is
committed. `within(connection)` gives the same methods inside a transaction that is under way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from octavo.store.connection import Connection, Work

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S", bound="Section")
Given = Callable[Concatenate[S, Connection, P], Awaitable[T]]
"""A method as it is written: with the connection it works on."""
Called = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]
"""A method as it is called."""


class Transactions(Protocol):
    """What runs work: a database, or a transaction that is under way."""

    async def read(self, work: Work[T]) -> T: ...

    async def write(self, work: Work[T]) -> T: ...


class _UnderWay:
    """A transaction that somebody else has begun and will end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(self, work: Work[T]) -> T:
        return await work(self._connection)

    write = read


class Section:
    """One kind of record in a store."""

    def __init__(self, database: Transactions) -> None:
        self._transactions = database

    @classmethod
    def within(cls, connection: Connection) -> Self:
        """Work inside a transaction that is under way: what is written is committed with it."""
        return cls(_UnderWay(connection))


def reads(method: Given[S, P, T]) -> Called[S, P, T]:
    """Run a method on a connection that cannot write; each statement sees the newest committed state."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._transactions.read(lambda connection: method(self, connection, *args, **kwargs))

    return run


def writes(method: Given[S, P, T]) -> Called[S, P, T]:
    """Run a method in a transaction: everything it writes is stored, or nothing. It may run more than once."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._transactions.write(lambda connection: method(self, connection, *args, **kwargs))

    return run
