"""The settings of a server, read from the environment once, when it starts.

A server that other machines can reach demands a key of every caller. That cannot be switched off.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from octavo.errors import UsageError
from octavo.providers.secret import Secret, find_secret
from octavo.providers.settings import ProviderSettings, read_settings

PORT = 8765
LOOPBACK = "127.0.0.1"
MIB = 1 << 20
LOG_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of callers, requests and connections."""

    body: int = 32 * MIB
    """Bytes of a request: as many as Anthropic accepts, the most of all providers."""
    upload: int = 512 * MIB
    """Bytes of a file to import: several times a person's whole history with a chat service."""
    rate: float = 100.0
    """Requests a second that a key may send in the long run."""
    burst: int = 500
    """Requests that a key may send at once after a pause."""
    concurrency: int = 1_000
    """Requests and streams of one key that are open at a time."""
    body_seconds: float = 60.0
    """The longest that a client may take to send a request."""
    answer_seconds: float = 600.0
    """The longest time until a response begins: as long as providers take for an answer that is not streamed."""
    ping_seconds: float = 15.0
    """Silence after which a stream sends a ping: half of what proxies usually allow."""
    stream_seconds: float = 3_600.0
    """How long the event feed of a conversation stays open before the client has to reconnect."""
    keep_seconds: float = 300.0
    """How long the events of a finished task can still be read."""
    grace_seconds: float = 20.0
    """How long a stopping server waits for its tasks: less than the half minute after which supervisors kill it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The settings of a server."""

    db: str = "sqlite://"
    host: str = LOOPBACK
    port: int = PORT
    model: str = ""
    policy: str = "octavo"
    summariser: str = ""
    """As `Engine` takes it: a model, `same`, `none`; empty for the cheap model of the provider."""
    require_key: bool = False
    """Demand a key even if only this machine can connect, as behind a reverse proxy."""
    admin_key: Secret | None = None
    """A key that is not in the database: the first one of a new installation."""
    hosts: tuple[str, ...] = ()
    """Host names of this server, besides those of the loopback; if it is empty and keys are needed, any."""
    origins: tuple[str, ...] = ()
    """Other web sites whose pages may use this server."""
    limits: Limits = Limits()
    upstream_keys: Literal["server", "client"] = "server"
    """Whose key the gateway sends to a provider when both have one."""
    log: str = "warning"
    """The lowest level that is logged to standard error; `info` logs every request."""
    private_upstreams: bool = False
    """Whether upstream addresses set over HTTP may lie in a private network."""
    providers: ProviderSettings = field(default_factory=ProviderSettings)

    @property
    def local(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)

    @property
    def keyed(self) -> bool:
        """Whether every caller needs a key."""
        return self.require_key or not self.local


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address; of all names, only `localhost` is known to be local."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_server_settings(environment: Mapping[str, str]) -> ServerSettings:
    """Read the variables `OCTAVO_...`, and those that the providers' own tools use."""
    get = environment.get
    keys = get("OCTAVO_UPSTREAM_KEYS", "server")
    if keys not in ("server", "client"):
        raise UsageError(f"OCTAVO_UPSTREAM_KEYS is {keys!r}; expected server or client")
    return ServerSettings(
        db=get("OCTAVO_DB") or "sqlite://",
        host=get("OCTAVO_HOST") or LOOPBACK,
        port=int(_number(environment, "OCTAVO_PORT", PORT)),
        model=get("OCTAVO_MODEL", ""),
        policy=get("OCTAVO_POLICY") or "octavo",
        summariser=get("OCTAVO_SUMMARISER", ""),
        require_key=_switch(environment, "OCTAVO_REQUIRE_KEY"),
        admin_key=find_secret(environment, "OCTAVO_API_KEY"),
        hosts=_words(get("OCTAVO_HOSTS", "")),
        origins=_words(get("OCTAVO_ORIGINS", "")),
        limits=_limits(environment),
        upstream_keys="client" if keys == "client" else "server",
        log=_log(environment),
        private_upstreams=_switch(environment, "OCTAVO_PRIVATE_UPSTREAMS"),
        providers=read_settings(environment),
    )


def _log(environment: Mapping[str, str]) -> str:
    level = environment.get("OCTAVO_LOG", "").strip().lower() or "warning"
    if level not in LOG_LEVELS:
        raise UsageError(f"OCTAVO_LOG is {level!r}; expected one of {', '.join(LOG_LEVELS)}")
    return level


def _limits(environment: Mapping[str, str]) -> Limits:
    usual = Limits()
    return replace(
        usual,
        body=int(_number(environment, "OCTAVO_MAX_BODY", usual.body)),
        upload=int(_number(environment, "OCTAVO_MAX_UPLOAD", usual.upload)),
        rate=_number(environment, "OCTAVO_RATE", usual.rate),
        burst=int(_number(environment, "OCTAVO_BURST", usual.burst)),
        concurrency=int(_number(environment, "OCTAVO_CONCURRENCY", usual.concurrency)),
        grace_seconds=_number(environment, "OCTAVO_GRACE", usual.grace_seconds),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.replace(",", " ").split() if word)


def _switch(environment: Mapping[str, str], name: str) -> bool:
    value = environment.get(name, "").strip().lower()
    if value in ("", "0", "false", "no", "off"):
        return False
    if value in ("1", "true", "yes", "on"):
        return True
    raise UsageError(f"{name} is {value!r}; expected 1 or 0")


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    value = environment.get(name, "").strip()
    try:
        number = float(value) if value else default
    except ValueError:
        number = -1
    if not 0 < number < float("inf"):
        raise UsageError(f"{name} is {value!r}; expected a number above 0")
    return number
