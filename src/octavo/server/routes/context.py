"""The context: what would be sent, what it costs, and what a compression would do."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from octavo.core.json_values import Json
from octavo.core.wire import Format, write, write_tools
from octavo.engine.chat import RequestPreview
from octavo.engine.recall_tool import offered_tools
from octavo.engine.state import TipState
from octavo.server.app_state import TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.routes.settings import check_settings
from octavo.server.schemas.base import Id, Share, Tokens
from octavo.server.schemas.context import (
    ContextIn,
    ContextOut,
    CountOut,
    DraftIn,
    PlanOut,
    RecallOut,
    RepairOut,
    UsageOut,
)
from octavo.server.show import (
    read_message,
    read_tool,
    show_passage,
    show_plan,
    show_reading,
    show_repair,
    show_usage,
)
from octavo.store.values import ForConversation

routes = router("context", "/conversations/{conversation}")


@routes.get("/usage", response_model=UsageOut)
async def read_usage(chat: TheChat, *, tip: Annotated[Id | None, Query()] = None) -> Response:
    """Count the tokens by section, for the branch that is shown or for the branch of another message."""
    await chat.require(tip)
    return reply(show_usage(await chat.usage(tip=tip)))


@routes.post("/usage", response_model=UsageOut)
async def read_usage_with_draft(body: DraftIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Count the tokens by section with a message that is being written, or under other settings. Nothing is stored."""
    draft = None if body.content is None else read_message(body.content, "user")
    trial = body.settings.model_dump(exclude_unset=True)
    await check_settings(app_state, ForConversation(chat.id), trial)
    return reply(show_usage(await chat.usage(draft=draft, trial=trial)))


@routes.get("/recall", response_model=RecallOut)
async def find_recalled(
    chat: TheChat, *, words: Annotated[str, Query(min_length=1, max_length=2_000)]
) -> Response:
    """Find what words would bring back from the compressed messages of this branch. Nothing is stored."""
    found = await chat.snapshots.recall(words)
    return reply(RecallOut(passages=[show_passage(one) for one in found]))


@routes.post("/count", response_model=CountOut)
async def count_context(body: ContextIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Have the provider count what would be sent, tools included. The meter learns from the count."""
    await chat.require(body.tip)
    settings = await chat.settings()
    # Opening a provider imports its library, which takes seconds once: not in the event loop.
    await asyncio.to_thread(app_state.engine.models.provider, str(settings.get("model") or ""))
    counted = await chat.count(tools=[read_tool(tool) for tool in body.tools], tip=body.tip)
    expected = show_reading(counted.expected)
    return reply(CountOut(tokens=counted.tokens, expected=expected, model=counted.model))


@routes.get("/plan", response_model=PlanOut)
async def read_plan(
    chat: TheChat,
    *,
    focus: Annotated[str, Query(max_length=2_000)] = "",
    keep: Annotated[Tokens | Share | None, Query()] = None,
    up_to: Annotated[Id | None, Query()] = None,
) -> Response:
    """Plan a compression without running it."""
    await chat.require(up_to)
    return reply(show_plan(await chat.plan(focus=focus, keep=keep, up_to=up_to)))


@routes.get("/context", response_model=ContextOut)
async def read_context(
    chat: TheChat, app_state: TheAppState, *, tip: Annotated[Id | None, Query()] = None
) -> Response:
    """Read what would be sent now. Nothing is compressed for it; `fits` is false if a turn would have to."""
    await chat.require(tip)
    state = await app_state.engine.state_of(chat.id, tip)
    format = app_state.engine.format_of(state.model)
    hardened = state.sent(state.context, app_state.engine.rules_of(state.model))
    wired = write(format, hardened.messages)
    return reply(
        _shown(
            state,
            format,
            [*wired.messages],
            wired.system,
            repairs=[show_repair(repair) for repair in hardened.repairs],
            notes=[],
            fits=state.reading.cautious <= state.budget.hard,
        )
    )


@routes.post("/context", response_model=ContextOut)
async def make_context(body: ContextIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Make the context to send now, compressed if it has to be, for programs that ask the model themselves."""
    await chat.require(body.tip)
    sent = await chat.context(tools=[read_tool(tool) for tool in body.tools], tip=body.tip)
    state = await app_state.engine.state_of(chat.id, body.tip)
    return reply(
        _shown(
            state,
            sent.format,
            [*sent.messages],
            sent.system,
            repairs=[show_repair(repair) for repair in sent.repairs],
            notes=[*sent.notes],
            fits=True,
            sent=sent,
        )
    )


def _shown(
    state: TipState,
    format: Format,
    messages: list[dict[str, Json]],
    system: Json,
    *,
    repairs: list[RepairOut],
    notes: list[str],
    fits: bool,
    sent: RequestPreview | None = None,
) -> ContextOut:
    context = sent.context if sent else state.context
    passages = sent.recalled if sent else state.loaded.recalled.get(state.tip, ())
    tools = sent.tools if sent else write_tools(format, offered_tools(state))
    return ContextOut(
        format=format,
        messages=messages,
        system=system,
        tools=[*tools],
        usage=show_usage(sent.usage if sent else state.usage),
        repairs=repairs,
        notes=notes,
        fits=fits,
        snapshot=state.serving,
        sent=[*context.sent],
        pinned=[*context.pinned],
        recalled=[show_passage(one) for one in passages],
    )
