"""The prompts that come with Octavo, read from their Markdown files once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from octavo.core.ask.template import Prompts, prompts


@cache
def packaged() -> Prompts:
    """Read the packaged prompts."""
    return prompts(_texts())


def with_custom(custom: Mapping[str, str]) -> Prompts:
    """Read the packaged prompts and a user's own, by name; a name of a packaged form replaces it."""
    return prompts(_texts(), custom)


@cache
def _texts() -> Mapping[str, str]:
    folder = files("octavo.core") / "prompts"
    return {
        file.name.removesuffix(".md"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".md")
    }
