"""The words that built-in conversations are made of; they are data, in `phrases.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPattern:
    """Something worth keeping: how it is said, perhaps how it changes, what is asked, and what the answer is."""

    kind: str
    said: str
    asked: str
    answer: str
    before: str = ""
    """What was said earlier and holds no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagePhrases:
    """A language: small talk, with numbers that are nobody's answer, and things worth keeping with their questions."""

    remarks: list[str]
    facts: list[tuple[str, str, str]]
    """Kind, what is said, what is asked; `{}` is the answer."""


_TABLE = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text("utf-8"))
WORDS: dict[str, list[str]] = _TABLE["words"]
FACTS = tuple(FactPattern(**fact) for fact in _TABLE["facts"])
LANGUAGES = {name: LanguagePhrases(**phrases) for name, phrases in _TABLE["languages"].items()}
