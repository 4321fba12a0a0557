"""The interfaces that providers speak, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from octavo.gateway.dialects.anthropic import ANTHROPIC
from octavo.gateway.dialects.dialect import Dialect, Name
from octavo.gateway.dialects.gemini import GEMINI
from octavo.gateway.dialects.openai import OPENAI
from octavo.gateway.dialects.responses import RESPONSES

DIALECTS: Mapping[Name, Dialect] = MappingProxyType(
    {"openai": OPENAI, "anthropic": ANTHROPIC, "responses": RESPONSES, "gemini": GEMINI}
)
