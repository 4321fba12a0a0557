"""Checks every request before a route sees it, in one place, so that no route can forget a check.

Host, origin, key, scope, rate, number of open requests, size and time; and every response gets its request id. What
is public is listed here; everything else needs a caller.
"""

from __future__ import annotations

import asyncio
import logging
import time
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from octavo.http.caller import Caller
from octavo.http.errors import Refusal, refuse
from octavo.server.app_state import AppState
from octavo.server.config import ServerSettings
from octavo.server.error_responses import respond
from octavo.store.ids import new_id

log = logging.getLogger("octavo.access")

MCP = "/mcp"
"""Where agents ask. Every question is a POST; what changes something asks for the scope itself."""
GUARDED = ("/api/", "/v1/", "/v1beta/", "/metrics", MCP)
"""Paths that need a caller. The rest is public: the page, health, and the OpenAPI document."""
GOOGLE = ("/v1beta/", "/v1/models/")
"""Where clients of Google put their key into the query."""
PROBES = ("/health", "/ready")
"""Paths that supervisors ask under any host name. The answers are of no use to anybody else."""
UPLOAD = "/api/v1/import"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
READING = ("GET", "HEAD", "OPTIONS")
SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}


def take_key_from_query(scope: Scope) -> Scope:
    """Move the key of a Google client from its query into a header, so that no log and no provider sees it there."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    keys = [value for name, value in pairs if name == "key"]
    if not keys:
        return scope
    query = urlencode([pair for pair in pairs if pair[0] != "key"]).encode("latin-1")
    headers = [*scope["headers"], (b"x-goog-api-key", keys[0].encode("latin-1", "replace"))]
    return {**scope, "query_string": query, "headers": headers}


class GuardMiddleware:
    """Checks each request, then passes it to the application."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        app_state: AppState = scope["app"].state.octavo
        if scope["path"].startswith(GOOGLE) and b"key=" in scope["query_string"]:
            scope = take_key_from_query(scope)
        guarded = GuardedRequest(scope, receive, send, app_state)
        scope.setdefault("state", {})["request_id"] = guarded.id
        try:
            account = await self._check(guarded, app_state)
        except Refusal as refusal:
            await guarded.refuse(refusal)
            return
        try:
            await guarded.run(self.app)
        finally:
            if account:
                app_state.rate_limiter.leave(account)
            if guarded.method not in READING:
                app_state.feeds.nudge()
            guarded.record()

    async def _check(self, guarded: GuardedRequest, app_state: AppState) -> str:
        """Check a request; give the account that it counts for, empty for public paths. Raise `Refusal`."""
        if guarded.path not in PROBES:
            check_host(guarded.headers, app_state.settings)
        check_origin(guarded.headers, app_state.settings)
        guarded.check_size()
        if not guarded.path.startswith(GUARDED):
            return ""
        caller = await self._identify(guarded, app_state)
        guarded.scope["state"]["caller"] = caller
        reads = guarded.method in READING or guarded.path == MCP
        needed = "read" if reads else "write"
        if not caller.may(needed):
            raise refuse(
                403, "forbidden", f"this key may not {needed}", f"use a key with the scope {needed!r}"
            )
        _admit(app_state, caller.account)
        return caller.account

    async def _identify(self, guarded: GuardedRequest, app_state: AppState) -> Caller:
        try:
            return await app_state.authenticator.identify(guarded.headers)
        except Refusal:
            # Wrong keys are limited by the address they come from, so that nobody can guess one.
            client = f"from {(guarded.scope.get('client') or ('',))[0]}"
            _admit(app_state, client)
            app_state.rate_limiter.leave(client)
            raise


def _admit(app_state: AppState, account: str) -> None:
    wait = app_state.rate_limiter.admit(account)
    if wait:
        seconds = max(1, round(wait))
        raise refuse(
            429,
            "too_many_requests",
            "too many requests at a time, or in too short a time",
            f"wait {seconds} s, then try again",
            retry_after=str(seconds),
        )


def check_host(headers: Headers, settings: ServerSettings) -> None:
    """Refuse host names that are not configured: a site may make its own name point to this server."""
    name = headers.get("host", "").lower()
    bare = name[: name.rfind(":")] if name.rpartition(":")[2].isdecimal() else name
    if bare in settings.hosts or (settings.local and bare in LOOPBACK_NAMES):
        return
    if settings.keyed and not settings.hosts:
        return
    raise refuse(
        421, "misdirected_request", "this server does not answer to that name", "add it to OCTAVO_HOSTS"
    )


def check_origin(headers: Headers, settings: ServerSettings) -> None:
    """Refuse requests of other sites' pages; browsers send the origin of a request."""
    origin = headers.get("origin")
    if origin is None:
        crossed = (
            headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate"
        )
    else:
        site = _site(origin)
        same = bool(site) and site == headers.get("host", "").lower()
        crossed = not same and origin not in settings.origins
    if crossed:
        raise refuse(
            403,
            "cross_origin",
            "pages of other sites may not use this server",
            "add the site to OCTAVO_ORIGINS",
        )


def _site(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


class GuardedRequest:
    """One request: its size, its time limits, and its line in the log."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, app_state: AppState) -> None:
        self.scope, self._receive, self._send, self._app_state = scope, receive, send, app_state
        self.headers = Headers(scope=scope)
        self.path: str = scope["path"]
        self.method: str = scope["method"]
        self.id = new_id()
        self.status = 0
        limits = app_state.settings.limits
        self._most = limits.upload if self.path == UPLOAD else limits.body
        self._size = 0
        self._complete = False
        self._began = time.perf_counter()
        self._clock: asyncio.Timeout | None = None

    def check_size(self) -> None:
        said = self.headers.get("content-length", "0")
        if said.isdecimal() and int(said) > self._most:
            raise Refusal(_too_large(self._most).api_error)
        if self.headers.get("content-encoding", "identity") != "identity":
            raise refuse(
                415, "unsupported_media_type", "compressed requests are not read", "send it as it is"
            )

    async def run(self, app: ASGIApp) -> None:
        """Pass the request to the application, which must begin to answer in time."""
        try:
            async with asyncio.timeout(self._app_state.settings.limits.answer_seconds) as self._clock:
                await app(self.scope, self.receive, self.send)
        except TimeoutError:
            if self.status or not (self._clock and self._clock.expired()):
                raise
            self._clock = None
            await self.refuse(refuse(504, "timeout", "no answer in time", "try again, or ask for a stream"))

    async def receive(self) -> Message:
        """Receive a piece of the body; refuse a body that is too late or too large."""
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(self._app_state.settings.limits.body_seconds):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, "the request did not arrive in time") from None
        self._size += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        if self._size > self._most:
            raise HTTPException(413, _too_large(self._most).api_error.message)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self._clock is not None:
                self._clock.reschedule(None)
            headers = MutableHeaders(scope=message)
            headers.setdefault("x-request-id", self.id)
            for name, value in SECURITY.items():
                headers.setdefault(name, value)
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        response = respond(Request(self.scope), refusal)
        await response(self.scope, self._receive, self.send)
        self.record()

    def record(self) -> None:
        """Log the request, without its query, which may hold words of a conversation."""
        seconds = time.perf_counter() - self._began
        log.info("%s %s %s %d %.1f ms", self.id, self.method, self.path, self.status, seconds * 1_000)
        self._app_state.telemetry.request(self.method, self.status, seconds)


def _too_large(most: int) -> Refusal:
    return refuse(413, "too_large", f"a request may have {most:,} bytes here", "send less at a time")
