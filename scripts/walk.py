"""Walks through the code: `python -m scripts.walk [--functions] [WALK ...]`.

Each walk does something that was done before, so that everything is open and cached, and notes which modules and
functions of Octavo are entered: by the thread that asks, and by all threads together (SQLite works in one of its own).
The fewer there are, the less has to be read by somebody who follows it. `--functions` lists them, module by module.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

import httpx2
import uvicorn

import octavo
from octavo.cli.terminal.keyboard import Ended, Entered, Typed
from octavo.cli.terminal.placeholders import InputDraft
from octavo.cli.terminal.screen import Screen
from octavo.cli.terminal.session import Session
from octavo.core.context import Context
from octavo.core.messages import assistant
from octavo.core.reply import Reply, Request, Usage
from octavo.engine.chat import Chat
from octavo.engine.engine import Engine
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.providers.secret import Secret
from octavo.providers.settings import ProviderAccount, ProviderSettings
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from octavo.testing import ScriptedProvider

PACKAGE = f"{Path(octavo.__file__).parent}/"
FAKES = "testing.py"
"""The provider that answers is a fake, and no step of a walk."""
MODEL = "gpt-4o"
ANSWER = "The berth is free from noon."
WORDS = 7
"""Tokens of the answer."""
TURNS = 12
"""Turns of a conversation before it is walked through: enough that there is something to compress."""
SEAT = "http://127.0.0.1:8765"


@dataclass(slots=True)
class Steps:
    """The functions that were entered, by module."""

    entered: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    asking: set[str] = field(default_factory=set)
    """The modules that the thread that asks entered itself."""

    def __str__(self) -> str:
        functions = sum(map(len, self.entered.values()))
        return (
            f"{len(self.asking):>3} modules; in all threads {len(self.entered):>3}, {functions:>4} functions"
        )


class Recorder:
    """Notes functions of Octavo while it is switched on. Threads are heard if they began after it was made."""

    def __init__(self) -> None:
        self._steps: Steps | None = None
        self._asking = threading.get_ident()
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def close(self) -> None:
        threading.setprofile(None)
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        steps, code = self._steps, frame.f_code
        if steps is None or event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        module = code.co_filename.removeprefix(PACKAGE)
        if module != FAKES:
            steps.entered[module].add(code.co_qualname)
            if threading.get_ident() == self._asking:
                steps.asking.add(module)

    def start(self) -> Steps:
        self._steps = Steps()
        return self._steps

    def stop(self) -> None:
        self._steps = None

    def answer(self, request: Request) -> Reply:
        """Answer as a provider that bills what its model reads; what counts it here is no step of a walk."""
        steps, self._steps = self._steps, None
        read = Meter(find_card(MODEL)).read(Context(retained=request.messages)).tokens
        usage = Usage(input=read, output=WORDS)
        self._steps = steps
        return Reply(message=assistant(ANSWER), usage=usage, model=MODEL)

    @contextmanager
    def recording(self) -> Iterator[Steps]:
        try:
            yield self.start()
        finally:
            self.stop()


Walk: TypeAlias = Callable[[Engine, Recorder, Path], Awaitable[Steps]]


def question(number: int) -> str:
    return (
        f"Does ship-{number} of {number % 37} metres fit at berth {number}? " + "The tide matters too. " * 12
    )


async def _talk(chat: Chat, turns: int = TURNS) -> None:
    for number in range(turns):
        async for _ in chat.turn(question(number)):
            pass


async def walk_library(engine: Engine, recorder: Recorder, _: Path) -> Steps:
    """One turn of a program: `chat.turn`."""
    chat = await engine.create(title="Berths")
    await _talk(chat)
    with recorder.recording() as steps:
        await _talk(chat, 1)
    return steps


async def walk_compression(engine: Engine, recorder: Recorder, _: Path) -> Steps:
    """One compression: `chat.compress`."""
    first, second = await engine.create(), await engine.create()
    for chat in (first, second):
        await _talk(chat)
    await first.compress()
    with recorder.recording() as steps:
        await second.compress()
        await second.wait_until_idle()
    return steps


async def walk_stateless(_: Engine, recorder: Recorder, __: Path) -> Steps:
    """One call on plain messages: `octavo.acompress`."""
    messages = [{"role": "user", "content": question(number)} for number in range(TURNS)]
    await octavo.acompress(messages, model=MODEL, ratio=0.4)
    with recorder.recording() as steps:
        await octavo.acompress(messages, model=MODEL, ratio=0.4)
    return steps


async def walk_import(engine: Engine, recorder: Recorder, folder: Path) -> Steps:
    """One file of messages becomes a conversation: `engine.import_file`."""
    file = folder / "messages.json"
    file.write_text(json.dumps([{"role": "user", "content": question(1)}]), "utf-8")
    await (await engine.chat((await engine.import_file(file))[0].id)).wait_until_idle()
    with recorder.recording() as steps:
        (made,) = await engine.import_file(file)
    await (await engine.chat(made.id)).wait_until_idle()
    return steps


async def walk_search(engine: Engine, recorder: Recorder, _: Path) -> Steps:
    """One search in a conversation: `chat.search`."""
    chat = await engine.create()
    await _talk(chat)
    await chat.search("tide")
    with recorder.recording() as steps:
        await chat.search("berth")
    return steps


async def walk_page(engine: Engine, recorder: Recorder, _: Path) -> Steps:
    """One turn over HTTP, as the page asks for it."""
    async with _client(engine, ServerSettings()) as client:
        made = await client.post("/api/v1/conversations", json={})
        turns = f"/api/v1/conversations/{made.json()['id']}/turns"
        for number in range(TURNS):
            await client.post(turns, json={"content": question(number)})
        with recorder.recording() as steps:
            said = await client.post(turns, json={"content": question(TURNS)})
    assert '"status":"done"' in said.text[-80:]
    return steps


async def walk_gateway(engine: Engine, recorder: Recorder, _: Path) -> Steps:
    """One request of an OpenAI client that sends its whole history."""
    async with _listening(_upstream) as upstream:
        account = ProviderAccount(key=Secret("sk-walk", "WALK"), base_url=f"{upstream}/v1")
        settings = ServerSettings(providers=ProviderSettings(openai=account))
        history: list[dict[str, str]] = []
        steps = Steps()
        async with _client(engine, settings) as client:
            for number in range(TURNS):
                history.append({"role": "user", "content": question(number)})
                with recorder.recording() as steps:
                    body = {"model": MODEL, "messages": history}
                    said = await client.post("/v1/chat/completions", json=body)
                assert said.status_code == 200, said.text
                history.append(said.json()["choices"][0]["message"])
    return steps


async def walk_terminal(engine: Engine, recorder: Recorder, _: Path) -> Steps:
    """One turn at the prompt."""
    screen = Screen(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), {})
    keyboard = Typist(recorder)
    await Session(engine, screen, keyboard).run()
    return keyboard.steps


class Typist:
    """A keyboard that asks one question after the other; what the last one sets off is recorded."""

    pending = ""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._typed = recorder, 0
        self.steps = Steps()

    async def read(self, default: str = "") -> Entered:
        del default
        self._typed += 1
        if self._typed == TURNS:
            self.steps = self._recorder.start()
        if self._typed > TURNS:
            self._recorder.stop()
            return Ended()
        return Typed(InputDraft(question(self._typed)))

    def watch(self, stop: Callable[[], object]) -> AbstractContextManager[None]:
        del stop
        return nullcontext()

    async def aside(self, show: Callable[[], None]) -> None:
        show()


async def _upstream(scope: Any, receive: Any, send: Any) -> None:
    """Answer every request as OpenAI does."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    message = {"role": "assistant", "content": ANSWER}
    body = {
        "id": "walk",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@asynccontextmanager
async def _client(engine: Engine, settings: ServerSettings) -> AsyncIterator[httpx2.AsyncClient]:
    """Talk to the server in this process."""
    app = create_app(engine, settings)
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url=SEAT, timeout=None) as client,
    ):
        yield client


@asynccontextmanager
async def _listening(app: Any) -> AsyncIterator[str]:
    """Serve an application on a free port of this machine; gives its address."""
    config = uvicorn.Config(app, port=0, log_level="warning", lifespan="off", access_log=False)
    with config.bind_socket() as socket:
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([socket]))
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
        server.should_exit = True
        await serving


WALKS: dict[str, Walk] = {
    "library": walk_library,
    "page": walk_page,
    "gateway": walk_gateway,
    "terminal": walk_terminal,
    "compression": walk_compression,
    "stateless": walk_stateless,
    "import": walk_import,
    "search": walk_search,
}


def walk(name: str) -> Steps:
    """Take one walk, with an engine and a database of its own."""
    recorder = Recorder()
    try:
        return asyncio.run(_walk(WALKS[name], recorder))
    finally:
        recorder.close()


async def _walk(way: Walk, recorder: Recorder) -> Steps:
    with tempfile.TemporaryDirectory() as folder:
        provider = ScriptedProvider(recorder.answer)
        place = Path(folder)
        async with await Engine.open(
            place / "chats.db", model=MODEL, provider=provider, summariser="none"
        ) as engine:
            return await way(engine, recorder, place)


def main() -> None:
    reading = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reading.add_argument("walks", nargs="*", metavar="WALK", help=", ".join(WALKS))
    reading.add_argument("--functions", action="store_true", help="list the functions, module by module")
    told = reading.parse_args()
    if unknown := set(told.walks) - set(WALKS):
        reading.error(f"there is no walk {min(unknown)}; there are {', '.join(WALKS)}")
    for name in told.walks or WALKS:
        steps = walk(name)
        print(f"{name:<12}{steps}")
        for module, functions in sorted(steps.entered.items()) if told.functions else ():
            print(f"    {module:<40} {len(functions):>3}  {', '.join(sorted(functions))}")


if __name__ == "__main__":
    main()
