"""Models: their cards, which of them can be used now, and upstream addresses."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from octavo.gateway.upstreams import Upstream, check_address
from octavo.http.caller import TheCaller
from octavo.providers.availability import availability, usual_model
from octavo.server.app_state import TheAdmin, TheAppState
from octavo.server.responses import reply
from octavo.server.routes import router
from octavo.server.routes.settings import ModelName
from octavo.server.schemas.models import CardIn, CardOut, ModelsOut, UpstreamIn, UpstreamList, UpstreamOut
from octavo.server.show import show_card, show_provider

routes = router("models")


@routes.get("/models", response_model=ModelsOut)
async def list_models(app_state: TheAppState, _: TheCaller) -> Response:
    """List all model cards, and the providers that can be used now."""
    await app_state.registry.refresh()
    providers = await asyncio.to_thread(availability, app_state.settings.providers)
    own = app_state.registry.fields_of
    cards = [show_card(card, own(card.name)) for card in app_state.engine.models.book.cards.values()]
    default = str((await app_state.engine.settings.of()).get("model") or "")
    shown = [show_provider(each) for each in providers]
    usual = usual_model(providers)
    return reply(ModelsOut(models=cards, providers=shown, default=default, usual=usual))


@routes.get("/models/{model:path}", response_model=CardOut)
async def read_model(model: ModelName, app_state: TheAppState, _: TheCaller) -> Response:
    """Read the card of a model; for an unknown model, the assumed one."""
    await app_state.registry.refresh()
    card = (await app_state.engine.models.meter(model)).card
    return reply(show_card(card, app_state.registry.fields_of(model)))


@routes.put("/models/{model:path}", response_model=CardOut)
async def define_model(model: ModelName, body: CardIn, app_state: TheAppState, _: TheAdmin) -> Response:
    """Define a card of your own. It replaces the card that comes with Octavo."""
    await app_state.engine.models.define(model, body.model_dump(exclude_none=True))
    app_state.gateway.cache.forget_settings()
    return reply(show_card(app_state.engine.models.book.find(model), app_state.registry.fields_of(model)))


@routes.delete("/models/{model:path}", status_code=204)
async def undefine_model(model: ModelName, app_state: TheAppState, _: TheAdmin) -> Response:
    """Remove a card of your own."""
    await app_state.engine.models.undefine(model)
    app_state.gateway.cache.forget_settings()
    return Response(status_code=204)


@routes.get("/upstreams", response_model=UpstreamList)
async def list_upstreams(app_state: TheAppState, _: TheAdmin) -> Response:
    """List the addresses that the gateway uses in place of the providers' own."""
    await app_state.registry.refresh()
    found = [
        UpstreamOut(model=model, base_url=upstream.base_url, account=upstream.account, format=upstream.format)
        for model, upstream in app_state.registry.upstreams().items()
    ]
    return reply(UpstreamList(upstreams=found))


@routes.put("/upstreams/{model:path}", response_model=UpstreamOut)
async def set_upstream(model: ModelName, body: UpstreamIn, app_state: TheAppState, _: TheAdmin) -> Response:
    """Send the requests for a model to another address. `name*` stands for all models that begin with `name`."""
    await check_address(body.base_url, private=app_state.settings.private_upstreams)
    upstream = Upstream(base_url=body.base_url, account=body.account, format=body.format)
    await app_state.registry.put_upstream(model, upstream)
    return reply(UpstreamOut(model=model, **body.model_dump()))


@routes.delete("/upstreams/{model:path}", status_code=204)
async def remove_upstream(model: ModelName, app_state: TheAppState, _: TheAdmin) -> Response:
    """Remove the address of a model, so that its requests go to its provider again."""
    await app_state.registry.remove_upstream(model)
    return Response(status_code=204)
