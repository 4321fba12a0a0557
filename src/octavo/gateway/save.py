"""Stores a request and its answer, learns from the bill, and has the next snapshot prepared.

New messages become a branch below the stored ones, so an edited message changes nothing that is stored. The id of a
message is made from its place and its content: two requests that say the same at the same place store it once, even at
the same time. By then the client has its answer, so no failure here fails its request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from octavo.core.json_values import Json
from octavo.core.messages import Branch, chain
from octavo.core.policy import Keep
from octavo.core.price_rule import cache_prices
from octavo.core.wire import Format
from octavo.core.wire.pairing import renumber
from octavo.engine.history import (
    BranchMatch,
    canonical,
    digests_of,
    new_entries,
    store_entries,
    stored_form,
    title_of,
    without_reasoning,
)
from octavo.engine.turn import cached_count
from octavo.errors import OctavoError, StoreError, UsageError
from octavo.gateway.continued import item_ids, remember_response
from octavo.gateway.dialects.dialect import ClientRequest, ProviderAnswer
from octavo.gateway.exchange import Exchange
from octavo.gateway.fit import counted_reasoning, covers_more, prefix_sizes
from octavo.gateway.gateway import CachedNode, Gateway
from octavo.gateway.identify import identify, remembered
from octavo.gateway.rebound import remember_rebound
from octavo.gateway.translate.answers import as_sent_to_client, response_id
from octavo.meters.meter import Meter
from octavo.store.values import Entry

log = logging.getLogger("octavo.gateway")

MOST_REASONING = 0.25
"""The meter learns from bills with at most this share of reasoning in them."""
LEARNED_FROM = 0.5
"""The meter learns from bills above this share of the window. Far below the window nothing depends on them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRequest:
    """Where a request and its answers are stored."""

    branch: BranchMatch
    """The branch, now that it holds the whole request."""
    tip: str
    """The node of the request's last message."""
    answers: tuple[str, ...] = ()


async def save_request(
    gateway: Gateway,
    owner: str,
    request: ClientRequest,
    branch: BranchMatch,
    format: Format,
    meter: Meter,
    answers: Sequence[Entry] = (),
) -> SavedRequest:
    """Store the new messages of a request, and its answers below them; several answers are siblings."""
    if branch.new:
        # Requests that fork one unseen history come at once. The first stores it, and the others find it there.
        before = gateway.cache.created.get(branch.conversation)
        async with gateway.cache.creating(branch.conversation):
            if gateway.cache.created.get(branch.conversation) is None:
                saved = await _save_or_look_again(gateway, owner, request, branch, format, meter, answers)
                gateway.cache.created.put(branch.conversation, saved.branch.conversation)
                return saved
        # Only what was cached while this one waited is known to be there still.
        found = remembered(gateway, owner, request, branch.digests) if before is None else None
        branch = found or await identify(gateway, owner, request, branch)
    return await _save_or_look_again(gateway, owner, request, branch, format, meter, answers)


async def _save_or_look_again(
    gateway: Gateway,
    owner: str,
    request: ClientRequest,
    branch: BranchMatch,
    format: Format,
    meter: Meter,
    answers: Sequence[Entry],
) -> SavedRequest:
    try:
        entries = _entries(gateway, request, branch, format, meter)
        return await _save(gateway, owner, request, branch, answers, entries)
    except (UsageError, StoreError):
        # The branch was deleted, or another process stored the same messages just now. Look it up again and store anew.
        gateway.cache.forget(branch.conversation)
        again = await identify(gateway, owner, request, branch)
        entries = _entries(gateway, request, again, format, meter)
        return await _save(
            gateway, owner, request, again, answers, [replace(entry, id=None) for entry in entries]
        )


async def _save(
    gateway: Gateway,
    owner: str,
    request: ClientRequest,
    branch: BranchMatch,
    answers: Sequence[Entry],
    said: Sequence[Entry],
) -> SavedRequest:
    """Store a request and its first answer in one transaction, which is faster than two."""
    store, entries = gateway.engine.store, [*said, *answers[:1]]
    values: dict[str, Json] = {"model": request.model}
    if request.prompt.strip():
        # For chats that continue the conversation. Requests bring their own system prompt.
        values["system"] = request.prompt
    title = title_of(request.messages)
    nodes: Branch = ()
    if branch.new or entries:
        nodes = (await store_entries(store, branch, entries, title=title, owner=owner, values=values)).nodes
    tip = nodes[len(said) - 1].id if said else branch.node or ""
    others = [
        await store.messages.append_many(branch.conversation, [one], parent=tip, select=False)
        for one in answers[1:]
    ]
    saved = [*nodes[len(said) :], *(node for branch in others for node in branch)]
    spots = {branch.digests[-1]: tip}
    if len(said) > 1:
        # Forks of the same history come at once, and go on from here.
        spots[branch.digests[-2]] = nodes[len(said) - 2].id
    for entry, node in zip(answers, saved, strict=True):
        if entry.status == "complete":
            spots[chain(branch.digests[-1], canonical(entry.message))] = node.id
    for digest, id in spots.items():
        gateway.cache.nodes.put((owner, digest), CachedNode(branch.conversation, id))
    whole = replace(branch, new=False, known=len(request.messages), node=tip)
    return SavedRequest(branch=whole, tip=tip, answers=tuple(node.id for node in saved))


def _entries(
    gateway: Gateway, request: ClientRequest, branch: BranchMatch, format: Format, meter: Meter
) -> list[Entry]:
    """Make the entries for the new messages of a request."""
    sums = prefix_sizes(gateway, meter, request.messages, branch.digests)
    sizes = [after - before for before, after in pairwise([0, *sums])]
    return new_entries(request.messages, branch, format, meter.unit.name, sizes)


async def save_exchange(exchange: Exchange, *answers: Entry) -> SavedRequest:
    """Store the new messages of an exchange, and its answers."""
    owner, format = exchange.caller.owner, exchange.dialect.name
    saved = await save_request(
        exchange.gateway, owner, exchange.request, exchange.branch, format, exchange.meter, answers
    )
    exchange.branch = saved.branch
    return saved


async def finish_and_wait(exchange: Exchange, raw: bytes, *, streamed: bool) -> None:
    """Finish an exchange and wait for it; it is finished even if the client goes away meanwhile."""
    await asyncio.shield(exchange.gateway.host.spawn(finish(exchange, raw, streamed=streamed)))


async def finish(exchange: Exchange, raw: bytes, *, streamed: bool) -> None:
    """Store an answer as far as it came, learn from its bill, and prepare the next snapshot."""
    try:
        answer = _read_answer(exchange, raw, streamed=streamed)
        saved = await _store(exchange, answer)
        if exchange.is_claude and (exchange.compressed or exchange.rebound):
            await remember_rebound(exchange.gateway, exchange.branch.conversation)
        if (
            answer.id
            and answer.complete
            and saved.answers
            and exchange.request.body.get("store") is not False
        ):
            await _remember(exchange, answer, saved)
        exchange.gateway.engine.states.billed(
            saved.branch.conversation, answer.model or exchange.request.model, answer.usage
        )
        if answer.complete and (billed := _comparable_bill(exchange, answer.usage.input)):
            await _learn_bill(exchange, billed)
        if saved.answers and (not isinstance(exchange.decision, Keep) or _may_cool(exchange)):
            await _prepare(exchange, saved.answers[0])
    except OctavoError as error:
        log.warning("an answer in %s was not stored: %s", exchange.branch.conversation, error)


def _read_answer(exchange: Exchange, raw: bytes, *, streamed: bool) -> ProviderAnswer:
    answer = exchange.provider_dialect.read_answer(raw, streamed=streamed)
    if exchange.provider_dialect.name == "gemini":
        # Calls without an id are numbered by their place in the conversation.
        answer.messages = [renumber(message, exchange.request.messages) for message in answer.messages]
    if exchange.translated and exchange.dialect.name == "responses":
        # As the client was given it, and will send it back.
        answer.id = response_id(exchange.id)
        answer.messages = [as_sent_to_client(message, exchange.request.body) for message in answer.messages]
    return answer


async def _remember(exchange: Exchange, answer: ProviderAnswer, saved: SavedRequest) -> None:
    """Note by which ids a later request may name an answer."""
    owner, (node,) = exchange.caller.owner, saved.answers[:1]
    items = {id: node for message in answer.messages[:1] for id in item_ids(message)}
    await remember_response(
        exchange.gateway,
        owner,
        answer.id,
        conversation=saved.branch.conversation,
        model=exchange.request.model,
        node=node,
        items=items,
    )


async def _store(exchange: Exchange, answer: ProviderAnswer) -> SavedRequest:
    unit = exchange.meter.unit.name
    answers = [
        Entry(
            message=stored_form(message, exchange.provider_dialect.name),
            status="complete" if answer.complete else "aborted",
            counts={unit: exchange.meter.count_message(without_reasoning(message))}
            | cached_count(answer.usage, exchange.meter.card),
            input_tokens=answer.usage.input or None,
            output_tokens=answer.usage.output or None,
            model=answer.model or exchange.request.model,
        )
        for message in answer.messages
    ]
    if not answer.earlier:
        return await save_exchange(exchange, *answers)
    # What a provider said and did before its last message is stored above that, as if the client had sent it.
    messages = (*exchange.request.messages, *answer.earlier)
    longer = replace(
        exchange,
        request=replace(exchange.request, messages=messages),
        branch=replace(exchange.branch, digests=digests_of(messages)),
    )
    saved = await save_exchange(longer, *answers)
    exchange.branch = replace(exchange.branch, conversation=saved.branch.conversation, new=False)
    return saved


def _comparable_bill(exchange: Exchange, billed: int) -> int:
    """Give what was billed for what the meter counted; 0 if that cannot be told.

    `recall` adds to a bill nobody knows what. Reasoning that was sent back is taken off, as long as it is the smaller
    part: what is wrong about its count is then no more than noise.
    """
    thoughts = counted_reasoning(exchange.request, exchange.meter)
    if exchange.offers_recall or thoughts > billed * MOST_REASONING:
        return 0
    return billed - thoughts


async def _learn_bill(exchange: Exchange, billed: int) -> None:
    models, model = exchange.gateway.engine.models, exchange.request.model
    await exchange.retry.accepted(exchange.sent, billed, exchange.request.reply or 0)
    meter = await models.meter(model)
    close = billed > meter.card.window * LEARNED_FROM
    if close or not meter.knows(exchange.context):
        await models.learn_bill(model, meter.survey(exchange.context, exchange.size.known), billed)


def _may_cool(exchange: Exchange) -> bool:
    """Tell whether it may be compressed once the provider's cache has forgotten it."""
    budget = exchange.size.budget
    priced = cache_prices(exchange.meter.card) is not None
    return priced and budget is not None and exchange.sent > budget.middle


async def _prepare(exchange: Exchange, tip: str) -> None:
    """Compress in the background, before the client sends its next request."""
    engine, conversation = exchange.gateway.engine, exchange.branch.conversation
    tools, settings = exchange.request.tools, exchange.settings
    state = await engine.state_of(conversation, tip, tools=tools, override=settings)
    if exchange.stable is None or not covers_more(state, "soft", exchange.stable):
        engine.compress_in_background(state)
