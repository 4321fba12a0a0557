"""Lists the models that a client can use: those of configured providers, and those that users defined."""

from __future__ import annotations

import asyncio

from octavo.core.budget import ModelCard
from octavo.core.json_values import JsonObject
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
    return [cards[name] for name in sorted(cards)]


def openai_model(card: ModelCard) -> JsonObject:
    return {
        "id": card.name,
        "object": "model",
        "created": 0,
        "owned_by": card.provider or "unknown",
        "context_window": card.window,
    }


def anthropic_model(card: ModelCard) -> JsonObject:
    return {
        "type": "model",
        "id": card.name,
        "display_name": card.name,
        "created_at": UNKNOWN_TIME,
        "max_input_tokens": card.window,
        "max_tokens": card.max_output,
    }
