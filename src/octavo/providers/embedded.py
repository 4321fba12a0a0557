"""A small language model in this process, so that a machine without a key can answer.

`xllamacpp` brings llama.cpp and its server. It listens on a free port of the loopback address, behind a key that only
this process knows, and is spoken to like any server of its kind: so closing a stream stops the model even while it
still reads the prompt, which a call into the library cannot.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import platform
import re
import secrets
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from octavo.core.json_values import JsonObject
from octavo.core.protocol import COMPATIBLE, Rules
from octavo.core.reply import Chunk, Request
from octavo.core.wire import write, write_tools
from octavo.errors import BadReply, ProviderError, UsageError
from octavo.providers.error_mapping import Fault, classify
from octavo.providers.model_files import MODEL_FILES
from octavo.providers.openai import ChatCompletions, open_openai
from octavo.providers.sdk import demand, is_installed, remedy
from octavo.providers.secret import Secret
from octavo.providers.settings import Local, ProviderAccount, WaitLimits

EXTRA = "local"
ENGINE = "xllamacpp"
NEEDED = frozenset({"avx2", "fma", "f16c", "bmi2"})
"""What the prebuilt engine demands of an x86 processor; without it the whole process would be killed."""
MOST_THREADS = 4
"""Small models are bound by memory: more threads only wait for each other."""
BATCH = 128
"""Tokens of a prompt that are read at once: the engine notices only in between that nobody waits any more."""
FIGURE = re.compile(r"^llamacpp:(\w+) ([\d.e+-]+)$", re.MULTILINE)
SILENT = -1
"""The verbosity at which the engine writes nothing to the terminal."""
REPEAT_PENALTY, REPEAT_WINDOW = 1.1, 256
"""How much less likely a token of the last 256 is: small models fall into loops without it."""
LOOP_PENALTY = 0.8
"""The strength against whole phrases that come again; what llama.cpp's authors suggest."""
KEY_BYTES = 32
FIRST_BYTE = 300.0
"""Seconds: it reads a full prompt in half a minute, and answers one request after the other."""
COUNT_SECONDS = 30.0
"""Counting takes a millisecond; this is for a machine that is overloaded."""


@dataclass(slots=True)
class Embedded:
    """One model file, loaded when it is first needed."""

    path: Path
    local: Local
    waits: WaitLimits = WaitLimits()
    name: str = "embedded"
    rules: Rules = replace(COMPATIBLE, vision=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _key: Secret = field(default_factory=lambda: Secret(secrets.token_urlsafe(KEY_BYTES)), repr=False)
    _server: Any = field(default=None, repr=False)
    _speaker: ChatCompletions | None = field(default=None, repr=False)

    @property
    def title(self) -> str:
        """What it is, for people."""
        known = next((model for model in MODEL_FILES.values() if model.file == self.path.name), None)
        return f"embedded {known.title}: small, for trying out" if known else f"embedded {self.path.stem}"

    @property
    def window(self) -> int:
        """How many tokens it is given, to read and to write."""
        return self.local.window

    async def load(self) -> None:
        """Load the model, which holds the whole process up for a second or two; nothing if it is loaded."""
        await asyncio.to_thread(self._start)

    async def account(self) -> ProviderAccount:
        """Load the model; tell where it listens, and behind which key: it speaks OpenAI's language."""
        await self.load()
        return ProviderAccount(key=self._key, base_url=f"{self._server.listening_address}/v1")

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer a request; see `Provider`."""
        account = await self.account()
        # The model here is busy or broken: asking again at once would not help in either case.
        waits = replace(self.waits, attempts=1, first_byte=max(FIRST_BYTE, self.waits.first_byte))
        speaker = self._speaker = self._speaker or open_openai(account, waits, name=self.name)
        async with aclosing(speaker.stream(replace(request, model=self.path.stem))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def close(self) -> None:
        """Stop the model and give its memory back."""
        if self._speaker is not None:
            await self._speaker.close()
        with self._lock:
            self._speaker, self._server = None, None

    def count(self, text: str) -> int:
        """Count the tokens of a text with the model's own tokenizer, exactly."""
        said = self._ask("/tokenize", {"content": text, "add_special": False, "parse_special": False})
        if not isinstance(tokens := said.get("tokens"), list):
            raise BadReply(f"{self.name}: no tokens in the answer")
        return len(tokens)

    def measure(self, request: Request) -> int:
        """Count the tokens of a whole request exactly, as the model will read it through its chat template."""
        body: JsonObject = {"messages": [*write("openai", request.messages).messages]}
        if request.tools:
            body["tools"] = [*write_tools("openai", request.tools)]
        count = self._ask("/v1/chat/completions/input_tokens", body).get("input_tokens")
        if not isinstance(count, int):
            raise BadReply(f"{self.name}: no count in the answer")
        return count

    def figures(self) -> dict[str, float]:
        """Read the engine's own figures, by name; none before it is loaded. Asked often, this slows the engine down."""
        said: str = self._server.handle_metrics() if self._server is not None else ""
        return {name: float(value) for name, value in FIGURE.findall(said)}

    def _start(self) -> None:
        with self._lock:
            if self._server is None:
                self._server = _serve(self.path, self.local, self._key)

    def _ask(self, path: str, body: JsonObject) -> JsonObject:
        self._start()
        address = urlsplit(self._server.listening_address)
        connection = http.client.HTTPConnection(address.netloc, timeout=COUNT_SECONDS)
        headers = {"Authorization": f"Bearer {self._key.reveal()}", "Content-Type": "application/json"}
        try:
            connection.request("POST", path, json.dumps(body).encode("utf-8"), headers)
            response = connection.getresponse()
            said: JsonObject = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ProviderError(f"{self.name}: {type(error).__name__}: {error}", retryable=True) from error
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise classify(Fault(provider=self.name, status=response.status, body=said))
        return said


def open_embedded(path: Path, local: Local, waits: WaitLimits) -> Embedded:
    """Open a model file; it is loaded later, but what is missing is said now."""
    if not path.is_file():
        raise UsageError(f"there is no model file at {path}")
    check_runnable()
    _engine()
    return Embedded(path=path, local=local, waits=waits)


def check_runnable() -> None:
    """Refuse where no embedded model could run: the processor is too old, or a package is missing."""
    if lacking := lacking_features():
        raise UsageError(f"this processor cannot run embedded models: it lacks {', '.join(sorted(lacking))}")
    for package in ("openai", ENGINE):
        if not is_installed(package):
            raise UsageError(f"the package {package!r} is not installed; {remedy(EXTRA)}")


def lacking_features() -> frozenset[str]:
    """Tell what the processor lacks to run the engine, where that can be known."""
    cpu = Path("/proc/cpuinfo")
    if platform.machine().lower() not in ("x86_64", "amd64") or not cpu.exists():
        return frozenset()
    flags = next((line for line in cpu.read_text().splitlines() if line.startswith("flags")), None)
    return frozenset() if flags is None else NEEDED - set(flags.split())


def _engine() -> Any:
    # On busy cores its threads would spin while they wait for each other, and run ten times slower. The engine reads
    # this while it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    return demand(ENGINE, EXTRA)


def _serve(path: Path, local: Local, key: Secret) -> Any:
    engine = _engine()
    params = engine.CommonParams()
    params.model.path = str(path)
    params.model_alias = {path.stem}
    params.n_ctx = local.window
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cache_ram_mib = 0
    params.port = 0
    params.api_keys = [key.reveal()]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    params.endpoint_metrics = True
    params.offline = True
    params.verbosity = SILENT
    params.sampling.penalty_repeat, params.sampling.penalty_last_n = REPEAT_PENALTY, REPEAT_WINDOW
    params.sampling.dry_multiplier = LOOP_PENALTY
    threads = local.threads or min(os.cpu_count() or 1, MOST_THREADS)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    try:
        server = engine.Server(params)
    except RuntimeError as error:
        raise ProviderError(f"embedded: {path.name} could not be loaded; is it a GGUF model file?") from error
    # The engine calls itself ready just before its loop runs, and stopping it in between would hang for ever. Its
    # figures come from that loop: once they are there, it runs.
    server.handle_metrics()
    return server
