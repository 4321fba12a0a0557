"""Runs one client through a gateway in front of a strict provider, and judges what went through.

The client gets an environment of its own: an empty HOME, a key that is none, and addresses on this machine only.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from clients.entry import Client
from clients.install import InstallFailed, install, path_of, programs_of, version
from clients.providers import PROVIDERS, Upstream
from clients.script import FILES, Script, log
from clients.watch import TURNS, Exchange, Watch, unchanged
from octavo.core.memory_tools import is_memory_tool
from octavo.core.messages import ToolResult
from octavo.core.wire import read
from octavo.engine.engine import Engine
from octavo.providers.settings import ProviderAccount
from octavo.server.app import create_app
from octavo.server.config import ServerSettings
from tests.server.kit import KEY as SERVER_KEY
from tests.server.kit import accounts, listening

PROGRAMS = Path(__file__).parent / "programs"
KEY = "sk-not-a-key-0123456789"
NOWHERE = "http://127.0.0.1:9"
"""Nothing listens there: a client that wants to reach another machine finds none."""
EDITED = re.compile(rb"(old|new)-branch-(\d+)")
"""Words in a question before and after it was edited; no request may have both."""
ALL = 10_000
DATABASE = "octavo.db"
LOOKED_UP = "valve V-"
"""Words of what our tools find in the logs."""
PROGRESS = 20
"""Seconds between two lines about a run."""


@dataclass(kw_only=True)
class Result:
    """What happened to a client."""

    client: str
    version: str = "?"
    dialect: str = ""
    window: int = 0
    requests: int = 0
    compressions: int = 0
    refused: int = 0
    """Requests that the provider refused, of whatever kind; the gateway may have mended them."""
    errors: int = 0
    """Refusals that the client saw."""
    trees: int = 0
    unchanged: float = 0.0
    """The share of what was sent that a prompt cache could serve."""
    own: float = 0.0
    """The same for what the client asked."""
    fill: float = 0.0
    """The mean share of the window that was used."""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Place:
    """A gateway with what stands behind and before it."""

    engine: Engine
    provider: Upstream
    asked: Watch
    sent: Watch
    url: str


@asynccontextmanager
async def place(client: Client, folder: Path, script: Script) -> AsyncIterator[Place]:
    """Open a gateway for one client."""
    provider = PROVIDERS[client.upstream or client.dialect](client, script)
    sent = Watch(provider.app)
    async with (
        await Engine.open(folder / DATABASE, model=client.model, summariser="none") as engine,
        listening(sent) as upstream,
    ):
        await engine.models.learn_window(client.model, client.window)
        google = ProviderAccount(key=SERVER_KEY, base_url=upstream)
        providers = replace(accounts(upstream), google=google)
        app = create_app(engine, ServerSettings(providers=providers))
        asked = Watch(app)
        async with listening(asked) as url:
            yield Place(engine, provider, asked, sent, url)


async def run_client(client: Client, *, fresh: bool, keep: Path | None) -> Result:
    """Install a client, run it, and tell what happened."""
    folder = await asyncio.to_thread(install, client.registry, client.packages, fresh=fresh)
    result = Result(client=client.name, dialect=client.spoken, window=client.window)
    result.version = version(folder, client.registry, client.packages[0])
    with TemporaryDirectory(prefix="octavo-client-") as made:
        home, work = Path(made) / "home", Path(made) / "work"
        script = Script(client.steps, str(work), client.thinking, client.last_call)
        script.says = client.says or script.says
        async with place(client, Path(made), script) as there:
            _furnish(client, home, work, folder, there.url)
            await _give_tools(client, home, Path(made) / DATABASE)
            progress = asyncio.create_task(_progress(there.asked))
            said = await _run(client, folder, home, work, there.url, result)
            progress.cancel()
            await _judge(client, there, result)
            if keep:
                _write(keep / client.name, there, said)
    return result


async def _progress(asked: Watch) -> None:
    while True:
        await asyncio.sleep(PROGRESS)
        print(f"  ... {len(asked.seen)} requests", flush=True)


def _furnish(client: Client, home: Path, work: Path, folder: Path, url: str) -> None:
    """Make the folders of a run."""
    home.mkdir()
    work.mkdir()
    for number in range(FILES):
        (work / f"log{number}.txt").write_text(log(number))
    if client.program:
        for file in PROGRAMS.iterdir():
            if file.is_file():
                shutil.copy(file, work)
        if client.registry == "npm":
            (work / "node_modules").symlink_to(folder / "node_modules")
    fill = _filler(client, folder, home, work, url)
    for name, text in client.files.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(fill(text))


async def _give_tools(client: Client, home: Path, database: Path) -> None:
    """Write our tools into the settings of a client, as a user does."""
    if not client.mcp:
        return
    programs = Path(sys.executable).parent
    env = {"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}"}
    command = (programs / "octavo", "mcp", "install", "--client", client.mcp, "--db", f"sqlite:///{database}")
    process = await asyncio.create_subprocess_exec(*command, env=env, stdout=asyncio.subprocess.DEVNULL)
    if await process.wait():
        raise InstallFailed(f"octavo mcp install ended with {process.returncode}")


def _filler(client: Client, folder: Path, home: Path, work: Path, url: str) -> Any:
    values = {
        "{url}": url,
        "{model}": client.model,
        "{bin}": str(programs_of(folder, client.registry)),
        "{home}": str(home),
        "{work}": str(work),
        "{key}": KEY,
    }

    def fill(text: str) -> str:
        for name, value in values.items():
            text = text.replace(name, value)
        return text

    return fill


async def _run(client: Client, folder: Path, home: Path, work: Path, url: str, result: Result) -> str:
    """Run the commands of a client; what they print is given back, and the end of it is a problem if one failed."""
    fill = _filler(client, folder, home, work, url)
    env = {
        "PATH": path_of(folder, client.registry),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
        "GEMINI_API_KEY": KEY,
        "GATEWAY": url,
        "MODEL": client.model,
        **{name: fill(value) for name, value in client.env.items()},
    }
    said = ""
    for start in client.starts():
        process = await asyncio.create_subprocess_exec(
            *map(fill, start),
            cwd=work,
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        talk = asyncio.create_task(process.communicate(fill(client.stdin).encode()))
        try:
            out, _ = await asyncio.wait_for(asyncio.shield(talk), client.seconds)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = await talk
            result.problems.append(f"given up after {client.seconds} s")
        said += out.decode(errors="replace")
        if process.returncode:
            last = " ".join(said.split())[-500:]
            result.problems.append(f"{Path(start[0]).name} ended with {process.returncode}: {last}")
            break
    return said


async def _judge(client: Client, there: Place, result: Result) -> None:
    """Count what went through, and find what should not have happened."""
    asked, sent, provider = there.asked.seen, there.sent.seen, there.provider
    found = await there.engine.store.conversations.list(limit=ALL)
    result.requests = len(asked)
    result.trees = len(found)
    for one in found:
        result.compressions += len(await there.engine.store.snapshots.of_conversation(one.id))
    refused = [one for one in asked if one.status >= 400]
    result.errors, result.refused = len(refused), sum(one.status >= 400 for one in sent)
    result.unchanged = unchanged(one.asked for one in sent if one.status == 200)
    result.own = unchanged(one.asked for one in asked if one.status == 200)
    result.fill = _fill(client, there)
    result.problems += _wrong(client, result)
    result.problems += [f"the client got {one.status}: {one.error.decode()}" for one in refused[:3]]
    result.problems += [f"the provider refused: {one}" for one in {*provider.wrong()}]
    result.problems += _leaks(sent)
    if client.mcp:
        answers = _answers(client, asked)
        result.notes.append(f"our tools answered {len(answers)} times")
        if not any(LOOKED_UP in one.text for one in answers) or any(one.error for one in answers):
            result.problems.append(f"our tools did not answer: {[one.text[:200] for one in answers][:3]}")
    result.notes += [f"the gateway does not have {one}" for one in sorted({*there.asked.missing})]


def _answers(client: Client, asked: Sequence[Exchange]) -> list[ToolResult]:
    """What our tools answered, by the requests of the client."""
    found: dict[str, ToolResult] = {}
    for one in asked:
        turns: Any = next((one.asked[name] for name in TURNS if name in one.asked), [])
        said = read("responses" if client.dialect == "responses" else "anthropic", turns)
        ours = {call.id for message in said for call in message.calls if is_memory_tool(call.name)}
        found |= {
            answer.call_id: answer for message in said for answer in message.results if answer.call_id in ours
        }
    return [*found.values()]


def _fill(client: Client, there: Place) -> float:
    answered = [one for one in there.sent.seen if one.status == 200 and not one.path.endswith("/embeddings")]
    sizes = [there.provider.size(one.asked) for one in answered]
    return mean(sizes) / client.window if sizes else 0.0


def _wrong(client: Client, result: Result) -> list[str]:
    """What the figures of a run should not be."""
    wrong = []
    if result.requests < client.least:
        wrong.append(f"{result.requests} requests, fewer than {client.least}")
    if result.compressions < client.compressions:
        wrong.append(f"{result.compressions} compressions, fewer than {client.compressions}")
    if client.trees is not None and result.trees != client.trees:
        wrong.append(f"{result.trees} conversations in place of {client.trees}")
    return wrong


def _leaks(sent: Iterable[Exchange]) -> list[str]:
    """Requests that mix what was said before and after an edit."""
    for number, one in enumerate(sent):
        words = {(word, edit) for word, edit in EDITED.findall(one.body)}
        both = {edit for word, edit in words if (b"old", edit) in words and (b"new", edit) in words}
        if both:
            return [f"request {number} shows what edit {sorted(both)[0].decode()} took away"]
    return []


def _write(folder: Path, there: Place, said: str) -> None:
    """Keep what went through for a look at it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "said.txt").write_text(said)
    for name, watch in (("asked", there.asked), ("sent", there.sent)):
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(one.body for one in watch.seen))
        (folder / f"{name}.txt").write_text(
            "\n".join(f"{one.status} {one.path} {len(one.body)} {one.headers}" for one in watch.seen)
        )
        (folder / f"{name}-missing.txt").write_text("\n".join(watch.missing))
