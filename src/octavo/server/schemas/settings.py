"""Schemas of settings, derived from the one table of settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, WrapValidator, create_model
from pydantic_core import PydanticCustomError

from octavo.engine.settings import MAX_TOKENS, SETTINGS, Setting
from octavo.server.schemas.base import Mark, Shape, Share, Some, Switch, Tokens


def _type_of(setting: Setting) -> Any:
    """Give the type of a setting in JSON."""
    match setting.kind:
        case "switch":
            return Switch
        case "mark":
            return Mark
        case "number" | "tokens":
            return Some if setting.least else Tokens
        case "amount":
            return Tokens | Share
        case "auto_tokens":
            return Annotated[Literal[setting.choices] | Tokens, WrapValidator(_explain_auto_tokens)]
        case "choice":
            return Literal[setting.choices]
        case _:
            return Annotated[str, StringConstraints(max_length=setting.longest)] if setting.longest else str


def _explain_auto_tokens(value: object, validate: Callable[[object], object]) -> object:
    """Say all that would be right: a union by itself tells what each of its types would want, one after the other."""
    try:
        return validate(value)
    except ValidationError:
        expected = f"expected auto, off or a number of tokens, at most {MAX_TOKENS:,}"
        raise PydanticCustomError("auto_tokens", "{expected}", {"expected": expected}) from None


def _field_of(setting: Setting) -> tuple[Any, Any]:
    return _type_of(setting) | None, Field(default=None, description=setting.meaning)


if TYPE_CHECKING:

    class SettingsIn(Shape): ...

else:
    SettingsIn = create_model(
        "SettingsIn",
        __base__=Shape,
        __doc__="Settings. Null removes a setting, so that the next level counts.",
        **{name: _field_of(setting) for name, setting in SETTINGS.items()},
    )


class SettingsOut(Shape):
    own: dict[str, Any] = Field(description="The settings that are set at this level.")
    effective: dict[str, Any] = Field(description="The settings that apply, from all levels.")
    inherited: dict[str, Any] = Field(
        description="The settings that would apply without this level, built-in values included."
    )
