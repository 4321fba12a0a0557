"""Settings at three levels: those of a conversation, then those of a model, then the general ones."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from octavo.core.json_values import Json
from octavo.errors import BadInput
from octavo.http.caller import TheCaller
from octavo.http.errors import refuse
from octavo.server.app_state import AppState, TheAdmin, TheAppState, TheChat
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.base import Name
from octavo.server.schemas.settings import SettingsIn, SettingsOut
from octavo.store.values import Everywhere, ForConversation, ForModel, Scope

routes = router("settings")

ModelName = Annotated[Name, Path(description="A model, such as `gpt-4o` or `ollama/llama3.2`.")]


async def _shown(app_state: AppState, scope: Scope) -> Response:
    settings = app_state.engine.settings
    return reply(
        SettingsOut(
            own=await app_state.engine.store.settings.of_scope(scope),
            effective=await settings.at(scope),
            inherited=await settings.inherited(scope),
        )
    )


async def check_settings(app_state: AppState, scope: Scope, given: dict[str, Json]) -> None:
    """Refuse settings that contradict others. Each value by itself is valid."""
    try:
        await app_state.engine.settings.check(scope, given)
    except BadInput as error:
        raise refuse(409, "conflict", str(error), "change the other setting too, or remove it") from error


async def _change(app_state: AppState, scope: Scope, body: SettingsIn) -> None:
    given = body.model_dump(exclude_unset=True)
    await check_settings(app_state, scope, given)
    await app_state.engine.settings.change(scope, given)
    app_state.gateway.cache.forget_settings()
    app_state.registry.forget_aliases()


@routes.get("/settings", response_model=SettingsOut)
async def read_settings(app_state: TheAppState, _: TheCaller) -> Response:
    """Read the general settings."""
    return await _shown(app_state, Everywhere())


@routes.patch("/settings", response_model=SettingsOut)
async def change_settings(body: SettingsIn, app_state: TheAppState, _: TheAdmin) -> Response:
    """Change the general settings: all of the given ones, or none if one is refused."""
    await _change(app_state, Everywhere(), body)
    return await _shown(app_state, Everywhere())


@routes.get("/settings/models/{model:path}", response_model=SettingsOut)
async def read_model_settings(model: ModelName, app_state: TheAppState, _: TheCaller) -> Response:
    """Read the settings of a model."""
    return await _shown(app_state, ForModel(model))


@routes.patch("/settings/models/{model:path}", response_model=SettingsOut)
async def change_model_settings(
    model: ModelName, body: SettingsIn, app_state: TheAppState, _: TheAdmin
) -> Response:
    """Change the settings of a model."""
    await _change(app_state, ForModel(model), body)
    return await _shown(app_state, ForModel(model))


@routes.get("/conversations/{conversation}/settings", response_model=SettingsOut)
async def read_conversation_settings(chat: TheChat, app_state: TheAppState) -> Response:
    """Read the settings of a conversation."""
    return await _shown(app_state, ForConversation(chat.id))


@routes.patch("/conversations/{conversation}/settings", response_model=SettingsOut)
async def change_conversation_settings(body: SettingsIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Change the settings of a conversation."""
    await _change(app_state, ForConversation(chat.id), body)
    return await _shown(app_state, ForConversation(chat.id))
