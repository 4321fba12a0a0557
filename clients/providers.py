"""The providers that clients run against, one for each dialect: as strict as the real ones, with a model by script."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from clients.entry import Client
from clients.script import Script
from tests.gateway import strict_gemini
from tests.gateway.strict import StrictProvider, TitleCase
from tests.gateway.strict_gemini import GeminiProvider, GeminiReply
from tests.gateway.strict_responses import Output, StrictResponses
from tests.server.fake import Json, count


@dataclass
class Upstream:
    """A provider: its application, what it found wrong so far, and how it counts."""

    app: ASGIApp
    wrong: Callable[[], list[str]]
    size: Callable[[Json], int]


@dataclass
class ServingProvider(StrictProvider):
    """A strict provider that has embeddings as well."""

    @property
    def app(self) -> Starlette:
        app = super().app
        app.routes.append(Route("/v1/embeddings", self.embeddings, methods=["POST"]))
        return app

    async def embeddings(self, request: Request) -> Response:
        asked = await request.json()
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        data = [{"object": "embedding", "index": i, "embedding": [0.5, 0.25]} for i, _ in enumerate(texts)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return JSONResponse({"object": "list", "data": data, "model": asked["model"], "usage": usage})


def chat_and_messages(client: Client, script: Script) -> Upstream:
    """OpenAI's Chat Completions and Anthropic's Messages."""
    provider = ServingProvider(say=script, window=client.window, counts_reserve=client.reserve_counts)
    return Upstream(provider.strict_app, lambda: [*provider.wrong, *provider.torn], count)


def responses(client: Client, script: Script) -> Upstream:
    """OpenAI's Responses."""

    def say(_: list[Json]) -> Output:
        reply = script(provider.last)
        call = next(((name, json.dumps(arguments)) for _, name, arguments in reply.calls), None)
        return Output(reply.text, call, thinks=client.thinking)

    provider = StrictResponses(say=say, window=client.window)
    return Upstream(
        TitleCase(provider.app), lambda: provider.torn, lambda body: provider.size(body, provider.whole(body))
    )


def gemini(client: Client, script: Script) -> Upstream:
    """Google's Gemini."""

    def say(body: Json) -> GeminiReply:
        reply = script(body)
        return GeminiReply(reply.text, next(((name, given) for _, name, given in reply.calls), None))

    provider = GeminiProvider(say=say, window=client.window)
    return Upstream(TitleCase(provider.app), lambda: provider.wrong, strict_gemini.count)


def embedded(client: Client, _: Script) -> Upstream:
    """The model inside the gateway: nobody else is asked. Its window is set as a user sets it."""
    os.environ["OCTAVO_LOCAL_WINDOW"] = str(client.window)
    return Upstream(Starlette(), list, count)


PROVIDERS: Mapping[str, Callable[[Client, Script], Upstream]] = {
    "chat": chat_and_messages,
    "anthropic": chat_and_messages,
    "responses": responses,
    "gemini": gemini,
    "embedded": embedded,
}
