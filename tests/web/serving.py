"""The real server, `octavo serve`, as a process of its own that a test can stop and start again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2

MODEL = "gpt-4-0613"
"""A small window, so that a few messages fill it."""


class Octavo:
    """A server on a file in `folder`; it keeps its address over a restart."""

    def __init__(self, folder: Path, upstream: str, *, model: str = MODEL, **environment: str) -> None:
        self._folder, self._model = folder, model
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("OCTAVO_", "OPENAI_", "ANTHROPIC_"))},
            "HOME": str(folder),
            "OCTAVO_CACHE": str(folder / "cache"),
            "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            "OPENAI_BASE_URL": f"{upstream}/v1",
            "OCTAVO_SUMMARISER": "none",
            "OCTAVO_GRACE": "0.5",
            **environment,
        }
        self._process: subprocess.Popen[str] | None = None
        # Connections are not kept: the server on their other end may be another one by then.
        self._http = httpx2.Client(timeout=60, limits=httpx2.Limits(max_keepalive_connections=0))
        self.url = ""

    def start(self) -> None:
        """Start it, and wait until it listens."""
        port = self.url.rpartition(":")[2] or "0"
        command = [sys.executable, "-m", "octavo", "serve", "--port", port, "--model", self._model]
        command += ["--db", f"sqlite:///{self._folder / 'octavo.db'}"]
        self._process = subprocess.Popen(
            command, cwd=self._folder, env=self._environment, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        said = ""
        for line in self._process.stderr:
            said += line
            if found := re.search(r"Octavo at (http://\S+)", line):
                self.url = found[1]
                break
        assert self.url, said
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until it answers: it takes connections from the moment it listens."""
        self._http.get(f"{self.url}/ready").raise_for_status()

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def reset(self) -> None:
        """Forget what the last test did: its conversations, and what it set for everything."""
        if not self.alive:
            self.start()
        for which in ("archived=false", "archived=true", "deleted=true"):
            for one in self.get(f"conversations?limit=1000&{which}")["conversations"]:
                self._http.delete(f"{self.url}/api/v1/conversations/{one['id']}")
        for level in ("settings", f"settings/models/{MODEL}"):
            if own := self.get(level)["own"]:
                changed = self._http.patch(f"{self.url}/api/v1/{level}", json=dict.fromkeys(own))
                assert changed.is_success, changed.text

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process = None

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx2.Response:
        answer = self._http.request(method, f"{self.url}/api/v1/{path}", json=body)
        assert answer.is_success, answer.text
        return answer

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return self._ask("POST", path, body).json()

    def post_stream(self, path: str, body: dict[str, Any]) -> str:
        """Ask for something that is answered with events, and wait for the last of them."""
        return self._ask("POST", path, body).text

    def delete(self, path: str) -> None:
        self._ask("DELETE", path)

    def put(self, path: str, body: dict[str, Any]) -> Any:
        return self._ask("PUT", path, body).json()

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        return self._ask("PATCH", path, body).json()

    def get(self, path: str) -> Any:
        return self._ask("GET", path).json()

    def conversation(self, *lines: str, title: str = "A talk") -> str:
        """Store a conversation without asking a model: `u: ...` and `a: ...`; give its id."""
        id: str = self.post("conversations", {"title": title})["id"]
        roles = {"u": "user", "a": "assistant", "s": "system"}
        for line in lines:
            kind, _, text = line.partition(": ")
            self.post(f"conversations/{id}/messages", {"role": roles[kind], "content": text})
        return id
