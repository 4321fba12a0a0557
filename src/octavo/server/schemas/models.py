"""Schemas of model cards, providers and upstreams."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from octavo.server.schemas.base import Address, Mark, Name, Number, Shape, Some, Switch, Tokens


class CardIn(Shape):
    like: Name | None = Field(default=None, description="The model whose card provides all other fields.")
    provider: Annotated[str, StringConstraints(max_length=200)] | None = None
    window: Some | None = None
    max_output: Some | None = None
    tokenizer: Annotated[str, StringConstraints(max_length=200)] | None = None
    frame: Annotated[str, StringConstraints(max_length=200)] | None = None
    image_rule: Annotated[str, StringConstraints(max_length=200)] | None = None
    vision: Switch | None = None
    price: (
        Annotated[list[Annotated[float, Field(ge=0, le=1e9), Number]], Field(min_length=2, max_length=3)]
        | None
    ) = Field(default=None, description="US dollars per million tokens: input, output, and cached input.")
    cache_write: Annotated[float, Field(ge=1, le=100), Number] | None = Field(
        default=None,
        description="What a token costs that is written to the cache, in those of an input token.",
    )
    cache_seconds: Some | None = Field(
        default=None, description="Seconds that the provider's cache lives without being used."
    )
    price_step: Some | None = Field(
        default=None, description="Tokens above which the whole request is dearer."
    )
    summariser: Annotated[str, StringConstraints(max_length=200)] | None = None
    soft: Mark | None = None
    retained: Tokens | None = None


class CardOut(Shape):
    name: str
    provider: str
    window: int
    max_output: int
    tokenizer: str
    vision: bool
    price: list[float | None] | None
    cache_write: float = Field(
        description="What a token costs that is written to the cache, in those of an input token."
    )
    cache_seconds: int = Field(description="Seconds that the provider's cache lives without being used.")
    price_step: int | None = Field(
        description="Tokens above which the whole request is dearer; null if there is no such step."
    )
    summariser: str
    soft: float | None = Field(
        description="The soft mark of the default policy for this model; null for the usual one."
    )
    retained: int | None = Field(
        description="Tokens that the default policy keeps verbatim for this model; null for the usual share."
    )
    assumed: bool
    own: bool = Field(description="Whether a user defined this card. The others come with Octavo.")
    given: dict[str, Any] = Field(description="The fields that a user defined.")


class ProviderOut(Shape):
    provider: str
    title: str
    ready: bool
    example: str
    detail: str
    remedy: str
    models: list[str]


class ModelsOut(Shape):
    models: list[CardOut]
    providers: list[ProviderOut]
    default: str = Field(description="The model of conversations that set none; may be empty.")
    usual: str = Field(description="A model that can be used now, as a suggestion; may be empty.")


class UpstreamIn(Shape):
    base_url: Address
    account: Literal["", "openai", "anthropic", "google", "azure"] = Field(
        default="",
        description="The provider whose key of the server is sent there; without one, the client's own key is.",
    )
    format: Literal["", "openai", "anthropic", "responses"] = Field(
        default="",
        description="The interface that the server there speaks; without one, that of the client. Requests in another "
        "interface are translated.",
    )


class UpstreamOut(Shape):
    model: str
    base_url: str
    account: str
    format: str


class UpstreamList(Shape):
    upstreams: list[UpstreamOut]
