"""The official SDKs as real clients against a small server on this machine."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from octavo.core.context import Context
from octavo.core.messages import Attachment, Image, Message, Text, ToolCall, ToolResult, system, user
from octavo.core.tools import Tool
from octavo.errors import BadReply, ProviderError, RateLimited, UsageError
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.meters.remote import calibrate, remote_counter
from tests.meters.test_images import png, url

CONTEXT = Context(
    system=(system("Be brief."),),
    tools=(Tool(name="read_file", description="Read a file.", schema='{"type":"object","properties":{}}'),),
    retained=(
        user("What is in it?"),
        Message(
            role="assistant",
            parts=(Text(text="Let me see."), ToolCall(id="c1", name="read_file", input="{}")),
        ),
        Message(
            role="tool", parts=(ToolResult(call_id="c1", name="read_file", content=(Text(text="hello"),)),)
        ),
    ),
    pending=(
        Message(
            role="user",
            parts=(
                Text(text="And this?"),
                Image(source=url(png(20, 20))),
                Attachment(
                    name="a.pdf", media_type="application/pdf", source="data:application/pdf;base64,JVBERg=="
                ),
            ),
        ),
    ),
)


@dataclass
class Fake:
    """A server that answers every request with the same status and body, and keeps what it was asked."""

    status: int = 200
    body: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    address: str = ""


@pytest.fixture
def fake() -> Iterator[Fake]:
    state = Fake()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            state.asked.append((self.path, json.loads(data)))
            answer = json.dumps(state.body).encode()
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


pytestmark = [
    pytest.mark.anyio,
    # Google's SDK writes a stray backslash in a description, which Python tells of when it first compiles the file.
    pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning"),
]


async def test_openai_is_asked_for_everything_that_would_be_sent(fake: Fake) -> None:
    fake.body = {"object": "response.input_tokens", "input_tokens": 321}
    count = remote_counter(find_card("gpt-4o"), api_key="k", base_url=f"{fake.address}/v1")
    assert await count(CONTEXT) == 321
    path, asked = fake.asked[0]
    assert path == "/v1/responses/input_tokens"
    assert asked["model"] == "gpt-4o"
    assert [item["type"] for item in asked["input"]] == [
        "message",
        "message",
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert asked["input"][3] == {
        "type": "function_call",
        "call_id": "c1",
        "name": "read_file",
        "arguments": "{}",
    }
    assert [piece["type"] for piece in asked["input"][5]["content"]] == [
        "input_text",
        "input_image",
        "input_file",
    ]
    assert asked["tools"][0]["name"] == "read_file"


async def test_anthropic_is_asked_for_everything_that_would_be_sent(fake: Fake) -> None:
    fake.body = {"input_tokens": 654}
    count = remote_counter(find_card("claude-opus-4-8"), api_key="k", base_url=fake.address)
    assert await count(CONTEXT) == 654
    path, asked = fake.asked[0]
    assert path == "/v1/messages/count_tokens"
    assert asked["system"] == "Be brief."
    assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "user", "user"]
    assert asked["tools"][0]["input_schema"] == {"type": "object", "properties": {}}


async def test_google_is_asked_for_the_contents_and_tools_are_added(fake: Fake) -> None:
    fake.body = {"totalTokens": 100}
    card = find_card("gemini-2.5-pro")
    count = remote_counter(card, api_key="k", base_url=fake.address)
    assert await count(CONTEXT) == 100 + Meter(card).count_tools(CONTEXT.tools)
    path, asked = fake.asked[0]
    assert path.endswith("/models/gemini-2.5-pro:countTokens")
    assert asked["contents"][0]["parts"][0]["text"] == "Be brief."
    assert len(asked["contents"]) == 5


@pytest.mark.parametrize("model", ["gpt-4o", "claude-opus-4-8", "gemini-2.5-pro"])
@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [(429, RateLimited, True), (401, ProviderError, False), (503, ProviderError, True)],
)
async def test_what_goes_wrong_is_told_in_our_words(
    fake: Fake, model: str, status: int, kind: type[ProviderError], again: bool
) -> None:
    fake.status, fake.body = status, {"error": {"message": "no", "type": "x", "code": status, "status": "X"}}
    count = remote_counter(find_card(model), api_key="k", base_url=fake.address)
    with pytest.raises(kind) as caught:
        await count(CONTEXT)
    assert (caught.value.status, caught.value.retryable) == (status, again)


async def test_an_answer_without_a_number_is_a_bad_reply(fake: Fake) -> None:
    fake.body = {"totally": "unexpected"}
    count = remote_counter(find_card("claude-opus-4-8"), api_key="k", base_url=fake.address)
    with pytest.raises(BadReply):
        await count(CONTEXT)


async def test_a_provider_that_cannot_be_reached_is_told_so() -> None:
    count = remote_counter(find_card("gpt-4o"), api_key="k", base_url="http://127.0.0.1:9")
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        await count(CONTEXT)
    assert caught.value.retryable


async def test_one_count_calibrates_a_new_system_prompt_and_is_not_asked_for_twice(fake: Fake) -> None:
    fake.body = {"input_tokens": 9_000}
    card = find_card("claude-opus-4-8")
    count = remote_counter(card, api_key="k", base_url=fake.address)
    learned = await calibrate(Meter(card), CONTEXT, count)
    meter = Meter(card, learned)
    assert meter.read(CONTEXT).tokens == 9_000
    shorter = Context(system=CONTEXT.system, tools=CONTEXT.tools, pending=(user("Hi"),))
    assert 6_000 < meter.read(shorter).tokens < 7_000
    assert await calibrate(meter, shorter, count) == learned
    assert len(fake.asked) == 1


async def test_a_provider_without_a_counter_is_named() -> None:
    with pytest.raises(UsageError, match="deepseek offers no way"):
        remote_counter(find_card("deepseek-chat"))


@pytest.mark.parametrize(
    ("model", "module", "extra"),
    [
        ("gpt-4o", "openai", "openai"),
        ("claude-opus-4-8", "anthropic", "anthropic"),
        ("gemini-2.5-pro", "google.genai", "google"),
    ],
)
async def test_a_missing_sdk_names_the_extra_to_install(
    model: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # how Python itself marks what cannot be imported
    with pytest.raises(UsageError, match=rf"pip install 'octavo\[{extra}\]'"):
        remote_counter(find_card(model), api_key="k")
