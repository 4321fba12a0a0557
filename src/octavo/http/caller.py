"""Who sends a request, and what that caller may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends
from starlette.datastructures import Headers
from starlette.requests import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request."""

    owner: str
    scopes: frozenset[str]
    account: str
    """The account whose limits count: the id of the key."""
    apart: bool = False
    """Whether the key came as `x-octavo-key`, so that `Authorization` is meant for the provider."""

    def may(self, scope: str) -> bool:
        return scope in self.scopes


def bearer(headers: Headers) -> str | None:
    """Take the token out of `Authorization: Bearer ...`."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


# Asynchronous although it waits for nothing: the framework runs plain functions in a thread.
async def the_caller(request: Request) -> Caller:
    return cast(Caller, request.state.caller)


TheCaller = Annotated[Caller, Depends(the_caller)]
"""Who sent the request, for a route."""
