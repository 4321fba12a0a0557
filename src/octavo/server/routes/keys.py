"""API keys: an administrator creates and revokes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from octavo.http.caller import TheCaller
from octavo.server.app_state import TheAdmin, TheAppState
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.schemas.base import Id
from octavo.server.schemas.keys import CallerOut, KeyIn, KeyList, KeyMade, KeyOut
from octavo.server.show import show_key
from octavo.store.keys import SCOPES

routes = router("keys")


@routes.get("/me", response_model=CallerOut)
async def read_caller(app_state: TheAppState, caller: TheCaller) -> Response:
    """Read whose key you use, and what it may do."""
    scopes = [scope for scope in SCOPES if caller.may(scope)]
    return reply(CallerOut(owner=caller.owner, scopes=[*scopes], key_required=app_state.settings.keyed))


@routes.get("/keys", response_model=KeyList)
async def list_keys(app_state: TheAppState, _: TheAdmin) -> Response:
    """List all keys, without their secrets, which are not stored."""
    return reply(KeyList(keys=[show_key(key) for key in await app_state.engine.store.keys.every()]))


@routes.post("/keys", response_model=KeyMade, status_code=201)
async def create_key(body: KeyIn, app_state: TheAppState, _: TheAdmin) -> Response:
    """Create a key. Only this response contains its secret."""
    key, secret = await app_state.engine.store.keys.create(body.name, owner=body.owner, scopes=body.scopes)
    return reply(KeyMade(**dict(show_key(key)), secret=secret), 201, {"cache-control": "no-store"})


@routes.delete("/keys/{key}", response_model=KeyOut)
async def revoke_key(key: Annotated[Id, Path()], app_state: TheAppState, _: TheAdmin) -> Response:
    """Revoke a key. Other replicas notice within seconds."""
    revoked = await app_state.engine.store.keys.revoke(key)
    app_state.authenticator.forget()
    return reply(show_key(revoked))
