"""Schemas of settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from octavo.core.policy import PRESETS
from octavo.server.schemas.base import Focus, Mark, Shape, Share, Some, Switch, Tokens


class SettingsIn(Shape):
    """Settings. Null removes a setting, so that the next level counts."""

    model: Annotated[str, StringConstraints(max_length=200)] | None = None
    policy: Literal["octavo", "onyx", "wave", "requirements", "gemini"] | None = None
    system: str | None = None
    auto: Switch | None = None
    prepare: Mark | None = None
    soft: Mark | None = None
    hard: Mark | None = None
    retained: Tokens | Share | None = None
    minimum: Tokens | None = None
    reply: Some | None = None
    prompt: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    summariser: Annotated[str, StringConstraints(max_length=200)] | None = None
    instructions: Focus | None = None
    notifications: Switch | None = None


class SettingsOut(Shape):
    own: dict[str, Any] = Field(description="The settings that are set at this level.")
    effective: dict[str, Any] = Field(description="The settings that apply, from all levels.")
    inherited: dict[str, Any] = Field(
        description="The settings that would apply without this level, built-in values included."
    )


assert set(PRESETS) == {"octavo", "onyx", "wave", "requirements", "gemini"}, (
    "SettingsIn.policy lists the presets"
)
