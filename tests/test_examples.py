"""The examples run as they stand, as programs of their own, against a real server where they want one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.server.fake import Provider
from tests.web.serving import Octavo

EXAMPLES = Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.xdist_group("examples")


@contextmanager
def answering(provider: Provider) -> Iterator[str]:
    """Run a fake provider on a free port, in a thread."""
    server = uvicorn.Server(uvicorn.Config(provider.app, port=0, log_level="warning"))
    up = threading.Event()
    startup = server.startup

    async def started(sockets: Any = None) -> None:
        await startup(sockets)
        up.set()

    server.startup = started  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run)
    thread.start()
    assert up.wait(60)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def provider() -> Provider:
    return Provider(window=8_192)


@pytest.fixture(scope="module")
def gateway(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with answering(provider) as url:
        octavo = Octavo(
            tmp_path_factory.mktemp("octavo"),
            url,
            ANTHROPIC_API_KEY="sk-ant-test-0123456789",
            ANTHROPIC_BASE_URL=url,
        )
        octavo.start()
        try:
            yield octavo.url
        finally:
            octavo.kill()


def run(name: str, *arguments: str, folder: Path, **environment: str) -> str:
    """Run an example as a user would; give what it printed."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_in_the_list_and_is_tested() -> None:
    files = {path.name for path in EXAMPLES.glob("*.py")}
    assert files == set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text()))
    assert all(name in Path(__file__).read_text() for name in files)


def test_openai_through_the_gateway(gateway: str, provider: Provider, tmp_path: Path) -> None:
    shown = run(
        "openai_gateway.py", "24", folder=tmp_path, OCTAVO_URL=gateway, MODEL="gpt-4-0613"
    ).splitlines()
    assert len(shown) == 24
    assert re.fullmatch(r"turn 1: the client sent (\d+) tokens, the model got \1", shown[0])
    assert shown[-1].endswith("(folded)")
    assert provider.refused == 0


def test_anthropic_through_the_gateway(gateway: str, provider: Provider, tmp_path: Path) -> None:
    shown = run("anthropic_gateway.py", "4", folder=tmp_path, OCTAVO_URL=gateway).splitlines()
    assert len(shown) == 4
    assert "answered: Answer to: Ship 3" in shown[-1]
    assert provider.refused == 0


def test_langchain_through_the_gateway(gateway: str, tmp_path: Path) -> None:
    shown = run("langchain_gateway.py", "3", folder=tmp_path, OCTAVO_URL=gateway, MODEL="gpt-4-0613")
    assert shown.count("Answer to: Ship") == 3


def test_an_agent_loop(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Ships lie at berths.\n" * 50)
    shown = run("agent.py", "--scripted", folder=tmp_path)
    assert '[read_file {"path": "README.md"}]' in shown
    assert "I have read it." in shown
    assert re.search(r"\d+ tokens, \d+\.\d % of what is available", shown)


def export(turns: int) -> list[dict[str, Any]]:
    """An export as ChatGPT writes it: a mapping of nodes, each with a message of parts."""
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": ["n0"], "message": None}}
    for n in range(turns):
        role, text = (
            ("user", f"Where is ship {n}?")
            if n % 2 == 0
            else ("assistant", f"At berth {n}, crate 77{n:02}31. " * 60)
        )
        message = {
            "id": f"n{n}",
            "author": {"role": role},
            "create_time": 1_700_000_000 + n,
            "content": {"content_type": "text", "parts": [text]},
        }
        children = [f"n{n + 1}"] if n + 1 < turns else []
        parent = f"n{n - 1}" if n else "root"
        mapping[f"n{n}"] = {"id": f"n{n}", "parent": parent, "children": children, "message": message}
    return [
        {
            "title": "Harbour",
            "mapping": mapping,
            "current_node": f"n{turns - 1}",
            "create_time": 1_700_000_000,
        }
    ]


def test_importing_a_chatgpt_export(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(export(40)))
    shown = run("import_chatgpt.py", str(file), "berth 7", folder=tmp_path)
    assert "1 conversations, 40 messages" in shown
    assert "found:" in shown
    assert re.search(r"[\d,]+ -> [\d,]+ tokens", shown)
    assert re.search(r"number: [1-9]\d* kept word for word, \d+ lost", shown)


@pytest.mark.parametrize(("name", "library"), [("ray_data.py", "ray"), ("pyspark_lines.py", "pyspark")])
def test_lines_are_compressed_by_other_engines(name: str, library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    said = [{"role": "user", "content": f"Ship {n} lies at berth {n * 7}. " * 20} for n in range(8)]
    source = tmp_path / "chats.jsonl"
    source.write_text("".join(json.dumps({"id": n, "messages": said}) + "\n" for n in range(5)) + "[broken\n")
    shown = run(name, str(source), str(tmp_path / "smaller"), "300", folder=tmp_path)
    assert re.search(r"6 conversations: \d+ -> \d+ tokens, 1 failed", shown)
