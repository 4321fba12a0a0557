"""The title of a conversation, written by a model after the first answer, in the background.

Nobody waits for it and nothing depends on it: whatever goes wrong, the first words stay the title.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from octavo.core.reply import Reply
from octavo.core.title import title_of_answer, title_request
from octavo.engine.compression import cost
from octavo.engine.settings import MODEL_FREE, SAME
from octavo.errors import OctavoError, UsageError
from octavo.store.values import TitleBill

if TYPE_CHECKING:
    from octavo.engine.engine import Engine
    from octavo.engine.state import TipState
    from octavo.protocols import Provider

log = logging.getLogger(__name__)

OUTPUT = 400
"""Tokens of an answer: a title takes ten, and models that think first need the others."""
OUTPUT_HERE = 32
"""The same for an embedded model, which does not think and may not stop."""


async def write_title(engine: Engine, state: TipState) -> None:
    """Have a title written, if nobody gave one."""
    id = state.conversation
    try:
        if not await engine.store.titles.is_provisional(id):
            return
        branch = await engine.store.tree.branch(state.tip)
        question = next((node.message.text for node in branch if node.message.role == "user"), "")
        answer = next((node.message.text for node in branch if node.message.role == "assistant"), "")
        if not question.strip() or not answer.strip():
            return
        provider, name = await _writer(engine, state)
        reply = await _ask(engine, provider, name, question, answer)
        title = title_of_answer(reply.message.text, f"{question}\n{answer}")
        price = cost(reply.usage, engine.models.book.find(name).price)
        bill = TitleBill(
            model=name, requests=1, input=reply.usage.input, output=reply.usage.output, price=price
        )
        await engine.store.titles.write(id, title, bill)
    except OctavoError as error:
        log.info("no title for %s: %s", id, error)


async def _writer(engine: Engine, state: TipState) -> tuple[Provider, str]:
    """Find who writes: the summariser, or else the model that answers."""
    chosen = str(state.settings.get("summariser") or state.meter.card.summariser or SAME)
    name = state.model if chosen in (SAME, MODEL_FREE) else chosen
    try:
        # Opening a provider imports its library, which takes seconds once: not in the event loop.
        return await asyncio.to_thread(engine.models.provider, name), name
    except UsageError:
        return engine.models.provider(state.model), state.model


async def _ask(engine: Engine, provider: Provider, name: str, question: str, answer: str) -> Reply:
    from octavo.engine.models import LOCAL
    from octavo.summarise.calls import ModelCalls

    card, embedded = engine.models.book.find(name), engine.models.address(name).startswith(LOCAL)
    calls = ModelCalls(
        provider=provider,
        model=engine.models.name(name),
        window=card.window,
        max_output=card.max_output,
        measure=len,
        gate=asyncio.Semaphore(1),
        temperature=0.0 if embedded else None,
    )
    return await calls.ask(title_request(question, answer), OUTPUT_HERE if embedded else OUTPUT)
