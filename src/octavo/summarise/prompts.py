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


@cache
def _texts() -> Mapping[str, str]:
    folder = files("octavo.core") / "prompts"
    return {
        file.name.removesuffix(".md"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".md")
    }
