"""What the providers need to know: keys, addresses, time limits, and where model files are kept.

Read once, at the edge, from the environment; nothing in this package looks into the environment later.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from octavo.errors import UsageError
from octavo.providers.secret import Secret, find_secret

CONNECT_SECONDS = 10.0
"""A service that is there answers a connection in well under a second; ten allow for a bad network."""
FIRST_BYTE_SECONDS = 60.0
"""The longest until an answer begins. Services that let a model think send a sign of life meanwhile."""
SILENCE_SECONDS = 60.0
"""The longest silence within an answer."""
ANSWER_SECONDS = 1_800.0
"""The longest for a whole answer: 128,000 tokens, the most that a model writes, at 80 a second take 27 minutes."""
ATTEMPTS = 4
"""How often a service is asked at most: with the waits in between a hiccup of several seconds is bridged."""
LOCAL_WINDOW = 4_096
"""Tokens: a full prompt takes the embedded model half a minute to read on two cores; more is no fun to wait for."""
OLLAMA_ADDRESS = "http://127.0.0.1:11434"
AZURE_VERSION = "2024-10-21"
"""The newest version of the interface that Azure calls stable for chat completions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccount:
    """How to reach a service."""

    key: Secret | None = None
    base_url: str = field(default="", repr=False)
    """Empty for the service's own address; it may hold a password."""
    api_version: str = ""
    """Empty for the one that the service's library prefers."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request; they may hold credentials too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitLimits:
    """How long to wait, and how often to try again before anything was received."""

    attempts: int = ATTEMPTS
    """No try begins later than `first_byte` seconds after the first."""
    first_wait: float = 0.5
    growth: float = 2.0
    longest_wait: float = 8.0
    longest_retry_after: float = 60.0
    """A service that asks for a longer pause than a person would sit through is reported instead."""
    connect: float = CONNECT_SECONDS
    first_byte: float = FIRST_BYTE_SECONDS
    silence: float = SILENCE_SECONDS
    answer: float = ANSWER_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """How models run in this process."""

    cache: Path
    window: int = LOCAL_WINDOW
    threads: int = 0
    """0 for one per core, at most four: the small models gain nothing from more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """Everything the providers are told."""

    openai: ProviderAccount = ProviderAccount()
    azure: ProviderAccount = ProviderAccount(api_version=AZURE_VERSION)
    anthropic: ProviderAccount = ProviderAccount()
    google: ProviderAccount = ProviderAccount()
    ollama: ProviderAccount = ProviderAccount(base_url=OLLAMA_ADDRESS)
    local: Local = field(default_factory=lambda: Local(cache=cache_folder(os.environ)))
    waits: WaitLimits = WaitLimits()


def read_settings(environment: Mapping[str, str]) -> ProviderSettings:
    """Read the variables that the services' own tools use, and `OCTAVO_...` for the rest."""
    get = environment.get
    return ProviderSettings(
        openai=ProviderAccount(
            key=find_secret(environment, "OPENAI_API_KEY"), base_url=get("OPENAI_BASE_URL", "")
        ),
        azure=ProviderAccount(
            key=find_secret(environment, "AZURE_OPENAI_API_KEY"),
            base_url=get("AZURE_OPENAI_ENDPOINT", ""),
            api_version=get("AZURE_OPENAI_API_VERSION") or get("OPENAI_API_VERSION") or AZURE_VERSION,
        ),
        anthropic=ProviderAccount(
            key=find_secret(environment, "ANTHROPIC_API_KEY"), base_url=get("ANTHROPIC_BASE_URL", "")
        ),
        google=ProviderAccount(
            key=find_secret(environment, "GEMINI_API_KEY", "GOOGLE_API_KEY"),
            base_url=get("GOOGLE_GEMINI_BASE_URL", ""),
            api_version=get("GOOGLE_GENAI_API_VERSION", ""),
        ),
        ollama=ProviderAccount(base_url=_ollama(get("OLLAMA_HOST", ""))),
        local=Local(
            cache=cache_folder(environment),
            window=_number(environment, "OCTAVO_LOCAL_WINDOW", LOCAL_WINDOW),
            threads=_number(environment, "OCTAVO_LOCAL_THREADS", 0),
        ),
        waits=WaitLimits(
            attempts=max(1, _number(environment, "OCTAVO_TRIES", ATTEMPTS)),
            first_byte=_seconds(environment, "OCTAVO_FIRST_BYTE", FIRST_BYTE_SECONDS),
            silence=_seconds(environment, "OCTAVO_SILENCE", SILENCE_SECONDS),
            answer=_seconds(environment, "OCTAVO_LONGEST_ANSWER", ANSWER_SECONDS),
        ),
    )


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Find the folder for what can be fetched again: `OCTAVO_CACHE`, else where the platform keeps such things."""
    if chosen := environment.get("OCTAVO_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "octavo" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "octavo"
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "octavo"


def _ollama(host: str) -> str:
    """Read `OLLAMA_HOST` as Ollama does: an address, a host, or a host and a port; `0.0.0.0` means here."""
    if not host:
        return OLLAMA_ADDRESS
    scheme, _, rest = host.rpartition("://")
    rest = rest.rstrip("/").replace("0.0.0.0", "127.0.0.1")
    if ":" not in rest and not scheme:
        rest += ":11434"
    return f"{scheme or 'http'}://{rest}"


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    value = environment.get(name, "").strip()
    if not value:
        return default
    if not value.isdecimal():
        raise UsageError(f"{name} is {value!r}; expected a whole number")
    return int(value)


def _seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    value = environment.get(name, "").strip()
    try:
        seconds = float(value) if value else default
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{name} is {value!r}; expected a number of seconds above 0")
    return seconds
