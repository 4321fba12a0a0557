"""Identifies callers by their keys: 32 random bytes that are stored as a hash and belong to an owner.

The scopes of a key say what its caller may do; the owner says with whose conversations. Nobody sees the conversations
of another owner. Where no key is needed there is one caller, the person at this machine.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable

from starlette.datastructures import Headers

from octavo.core.lru_cache import LruCache
from octavo.http.caller import Caller, bearer
from octavo.http.errors import Refusal, refuse
from octavo.providers.secret import Secret
from octavo.store.keys import START
from octavo.store.store import Store
from octavo.store.values import ApiKey

GRANTS: dict[str, frozenset[str]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
}
"""The scopes that each scope of a key includes."""
TRUSTED_SECONDS = 5.0
"""How long a key is cached: the longest that a revoked key still works in another process."""
TRUSTED = 10_000
"""Keys that are cached at a time."""
FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip")
"""Headers that a proxy adds. A request that has one does not come from the person at this machine."""


LOCAL = Caller(owner="", scopes=GRANTS["admin"], account="local")


class Authenticator:
    """Identifies callers."""

    def __init__(
        self,
        store: Store,
        *,
        keyed: bool,
        admin: Secret | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._keyed, self._clock = store, keyed, clock
        self._admin = hashlib.sha256(admin.reveal().encode()).digest() if admin else None
        self._trusted = LruCache[bytes, tuple[float, ApiKey | None]](TRUSTED)

    async def identify(self, headers: Headers) -> Caller:
        """Identify the caller of a request; raise `Refusal` without a valid key."""
        apart = headers.get("x-octavo-key")
        if apart is not None:
            return await self._holder(apart, apart=True)
        named = (bearer(headers), headers.get("x-api-key"), headers.get("x-goog-api-key"))
        sent = [given for given in named if given]
        for given in sent:
            if given.startswith(START) or self._is_admin(given):
                return await self._holder(given)
        if self._keyed and sent:
            raise _unauthorised(
                f"this key is wrong: the keys of this server begin with {START}",
                "a provider's own key may stand there if yours is sent too, as: x-octavo-key: octavo_...",
            )
        if self._keyed:
            raise _unauthorised("a key is needed", "send it as: Authorization: Bearer octavo_...")
        if any(name in headers for name in FORWARDED):
            raise _unauthorised(
                "this came through a proxy, and the server takes callers without a key for the person at its machine",
                "start the server with OCTAVO_REQUIRE_KEY=1",
            )
        return LOCAL

    async def _holder(self, secret: str, *, apart: bool = False) -> Caller:
        if self._is_admin(secret):
            return Caller(owner="", scopes=GRANTS["admin"], account="admin", apart=apart)
        key = await self._find(secret)
        if key is None:
            raise _unauthorised(
                "this key is wrong: it is unknown here, or was revoked", "ask an administrator for a new one"
            )
        scopes = frozenset[str]().union(*(GRANTS.get(scope, frozenset()) for scope in key.scopes))
        return Caller(owner=key.owner, scopes=scopes, account=key.id, apart=apart)

    def _is_admin(self, secret: str) -> bool:
        given = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
        return self._admin is not None and hmac.compare_digest(given, self._admin)

    async def _find(self, secret: str) -> ApiKey | None:
        digest, now = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest(), self._clock()
        until, known = self._trusted.get(digest) or (0.0, None)
        if now < until:
            return known
        found = await self._store.keys.find(secret)
        self._trusted.put(digest, (now + TRUSTED_SECONDS, found))
        return found

    def forget(self) -> None:
        """Forget all cached keys: one was revoked."""
        self._trusted.clear()


def _unauthorised(message: str, hint: str) -> Refusal:
    return refuse(401, "unauthorized", message, hint, www_authenticate="Bearer")
