"""A provider with Gemini's interface that refuses what Google refuses.

Contents begin with the user and end with the user, a call follows a turn of the user, a response stands directly after
its call, and every call of the current turn carries its signature. Tools count against the window.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.server.fake import Json, tokens

NO_CHECK = "skip_thought_signature_validator"


def sign(name: str, args: Any) -> str:
    return hashlib.sha256(json.dumps([name, args], sort_keys=True).encode()).hexdigest()


@dataclass
class GeminiReply:
    """What the model says."""

    text: str = ""
    call: tuple[str, Json] | None = None

    @property
    def parts(self) -> list[Json]:
        parts: list[Json] = [{"text": self.text}] if self.text else []
        if self.call:
            name, args = self.call
            parts.append({"functionCall": {"name": name, "args": args}, "thoughtSignature": sign(name, args)})
        return parts


@dataclass
class GeminiProvider:
    """A strict provider; `app` is its application."""

    say: Callable[[Json], GeminiReply] = lambda _: GeminiReply("Answer.")
    window: int = 8_192
    bodies: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    refused: int = 0

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[Route("/v1beta/{path:path}", self.answer, methods=["GET", "POST", "DELETE"])]
        )

    async def answer(self, request: Request) -> Response:
        path = request.path_params["path"]
        self.paths.append(f"{request.method} {path}?{request.url.query}")
        self.headers.append(dict(request.headers))
        method = path.rpartition(":")[2]
        if method not in ("generateContent", "streamGenerateContent", "countTokens"):
            return JSONResponse({"embedding": {"values": [0.5]}, "files": []})
        body: Json = json.loads(await request.body())
        self.bodies.append(body)
        size = count(body)
        if method == "countTokens":
            return JSONResponse({"totalTokens": size})
        if wrong := wrong_with(body):
            self.wrong.append(wrong)
            return _refused(wrong)
        if size > self.window:
            self.refused += 1
            return _refused(
                f"The input token count ({size}) exceeds the maximum number of tokens allowed ({self.window})."
            )
        reply = self.say(body)
        whole = {
            "candidates": [
                {"content": {"role": "model", "parts": reply.parts}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": size,
                "candidatesTokenCount": 5,
                "totalTokenCount": size + 5,
            },
            "modelVersion": path.rpartition(":")[0].removeprefix("models/"),
        }
        if method == "generateContent":
            return JSONResponse(whole)
        return StreamingResponse(_events(reply, whole), media_type="text/event-stream")


async def _events(reply: GeminiReply, whole: Json) -> AsyncIterator[bytes]:
    for piece in (reply.text[i : i + 8] for i in range(0, len(reply.text), 8)):
        yield _event({"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}, "index": 0}]})
    last = {"content": {"role": "model", "parts": [p for p in reply.parts if "text" not in p]}}
    yield _event({**whole, "candidates": [{**last, "finishReason": "STOP", "index": 0}]})


def _event(value: Json) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\r\n\r\n"


def _refused(message: str) -> JSONResponse:
    return JSONResponse({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}, 400)


def count(body: Json) -> int:
    said = [part for content in body["contents"] for part in content["parts"]]
    said += (body.get("systemInstruction") or {}).get("parts", [])
    tools = sum(tokens(json.dumps(tool)) for tool in body.get("tools") or [])
    return tools + sum(
        4 + tokens(part["text"] if "text" in part else json.dumps({**part, "thoughtSignature": ""}))
        for part in said
    )


def wrong_with(body: Json) -> str:
    """Say what Google would refuse."""
    contents = body["contents"]
    if contents[0]["role"] != "user" or any("functionResponse" in part for part in contents[0]["parts"]):
        return "contents must begin with a user turn"
    if contents[-1]["role"] != "user":
        return "a request must not end with a model turn"
    called: list[str] = []
    for index, content in enumerate(contents):
        if content["role"] not in ("user", "model") or not content["parts"]:
            return f"contents[{index}]: a role is user or model, and parts must not be empty"
        calls = any("functionCall" in part for part in content["parts"])
        if calls and (content["role"] != "model" or contents[index - 1]["role"] != "user"):
            return (
                "a function call turn comes immediately after a user turn or after a function response turn"
            )
        answered = [p["functionResponse"]["name"] for p in content["parts"] if "functionResponse" in p]
        if answered != called:
            return f"contents[{index}]: the calls {called} were answered by {answered}"
        called = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
    turns = [i for i, c in enumerate(contents) if c["role"] == "user" and not _results(c)]
    for content in contents[turns[-1] :]:
        call = next((part for part in content["parts"] if "functionCall" in part), None)
        if call is None:
            continue
        right = sign(call["functionCall"]["name"], call["functionCall"]["args"])
        if call.get("thoughtSignature") not in (right, NO_CHECK):
            return "Function call is missing a thought_signature in functionCall parts."
    return ""


def _results(content: Json) -> bool:
    return any("functionResponse" in part for part in content["parts"])
