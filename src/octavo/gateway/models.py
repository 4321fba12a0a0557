"""Lists the models that a client can use: those of configured providers, and those that users defined."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from octavo.core.budget import ModelCard
from octavo.core.json_values import JsonObject
from octavo.errors import NotFound
from octavo.gateway.gateway import Gateway
from octavo.providers.availability import availability

UNKNOWN_TIME = "1970-01-01T00:00:00Z"
"""The date of a model is unknown here, and no client depends on it."""


async def list_models(gateway: Gateway) -> list[ModelCard]:
    """List the usable models, by name."""
    every = await asyncio.to_thread(availability, gateway.providers)
    found = [one for one in every if one.ready]
    ready, book = {one.provider for one in found}, gateway.engine.models.book
    cards = {card.name: card for card in book.cards.values() if card.provider in ready}
    for one in found:
        cards |= {name: book.find(name) for name in one.models}
    names = [*gateway.upstreams.own_cards, *(n for n in gateway.upstreams.upstreams() if not n.endswith("*"))]
    cards |= {name: book.find(name) for name in names}
    cards |= {name: replace(book.find(model), name=name) for name, model in gateway.upstreams.aliases.items()}
    windows = await gateway.engine.models.learned_windows()
    for name, model in gateway.upstreams.aliases.items():
        windows |= {name: windows[model]} if model in windows else {}
    return [_learned(cards[name], windows) for name in sorted(cards)]


async def find_model_card(gateway: Gateway, model: str) -> ModelCard:
    """Give what is known of a model; raise `NotFound` for a name that nothing here stands for."""
    answering = gateway.upstreams.aliases.get(model, model)
    card = gateway.engine.models.book.find(answering)
    serves_others = bool(gateway.providers.openai.base_url)
    if card.assumed and not serves_others and gateway.upstreams.upstream(answering) is None:
        raise NotFound(f"the model {model!r} does not exist here; GET /v1/models lists those that do")
    windows = await gateway.engine.models.learned_windows()
    return replace(_learned(replace(card, name=answering), windows), name=model)


def _learned(card: ModelCard, windows: Mapping[str, int]) -> ModelCard:
    """Give a card with the window that was learned for it."""
    return replace(card, window=windows.get(card.name, card.window))


def openai_model(card: ModelCard) -> JsonObject:
    return {
        "id": card.name,
        "object": "model",
        "created": 0,
        "owned_by": card.provider or "unknown",
        "context_window": card.window,
        **({"context_window_assumed": True} if card.assumed else {}),
    }


def anthropic_model(card: ModelCard) -> JsonObject:
    return {
        "type": "model",
        "id": card.name,
        "display_name": card.name,
        "created_at": UNKNOWN_TIME,
        "max_input_tokens": card.window,
        "max_tokens": card.max_output,
        **({"max_input_tokens_assumed": True} if card.assumed else {}),
    }


def gemini_model(card: ModelCard) -> JsonObject:
    return {
        "name": f"models/{card.name}",
        "displayName": card.name,
        "inputTokenLimit": card.window,
        "outputTokenLimit": card.max_output,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        **({"inputTokenLimitAssumed": True} if card.assumed else {}),
    }
