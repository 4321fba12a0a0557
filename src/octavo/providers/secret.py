"""Keys that do not show: not in a repr, not in a log line, not in an error.

A key is text only where a request is signed (`reveal`); everywhere else it is a `Secret`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from octavo.errors import UsageError

HIDDEN = "***"
FILE = "_FILE"
"""The ending of a variable that names a file which holds the value."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A key, and where it came from."""

    _value: str = field(repr=False)
    origin: str = ""

    def reveal(self) -> str:
        """Give the key itself, for the one who signs a request."""
        return self._value

    def __str__(self) -> str:
        return HIDDEN


def mask(text: str, secrets: Iterable[Secret]) -> str:
    """Blot keys out of a text that somebody else wrote."""
    for secret in secrets:
        if value := secret.reveal():
            text = text.replace(value, HIDDEN)
    return text


def find_secret(environment: Mapping[str, str], *names: str) -> Secret | None:
    """Take the first key that is set, in a variable or in the file that `NAME_FILE` names."""
    for name in names:
        if value := environment.get(name, "").strip():
            return Secret(value, name)
        if path := environment.get(name + FILE, "").strip():
            return Secret(_read(name + FILE, path), name + FILE)
    return None


def _read(name: str, path: str) -> str:
    try:
        value = Path(path).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name} names {path!r}, which cannot be read: {type(error).__name__}") from None
    if not value:
        raise UsageError(f"{name} names {path!r}, which is empty")
    return value
