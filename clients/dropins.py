"""Drop-ins for frameworks: real agents against a strict provider, without a gateway, ours beside the framework's own.

`python -m clients.dropins` installs each framework into an environment of its own, runs its program in
`programs/`, and prints a table. A run fails if a request was refused, if a fork saw what it should not, or if the
framework's own history was not whole at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.types import ASGIApp

from clients.install import InstallFailed, install, path_of, version
from clients.watch import Watch, unchanged
from octavo.engine.engine import Engine
from octavo.engine.models import LEARNED
from tests.gateway.strict import StrictProvider
from tests.gateway.strict_gemini import GeminiProvider, GeminiReply
from tests.gateway.strict_gemini import count as count_gemini
from tests.integrations.guides import TITLES, guide
from tests.server.fake import Json, Reply, count
from tests.server.kit import listening

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(__file__).parent / "programs"
STEPS = 10
"""Calls of a tool in a turn."""
SUMMARY = 3_000
"""Characters that the stand-in for a model that summarises repeats of what it was shown."""
SECONDS = 900
QUESTION = re.compile(r"Question: what did valve V-(\d{3})(\d+) read\?")
EDITED = re.compile(r"(old|new)-branch-1")


def log(number: int) -> str:
    """What the tool of the programs answers; see `dropin_plan`."""
    return "\n".join(
        f"Log {number}, line {line}: valve V-{number:03d}{line} reads {(number * 7 + line * 13) % 100} bar"
        for line in range(14)
    )


@dataclass(frozen=True, kw_only=True)
class DropIn:
    """A framework, and the program that runs its agent."""

    name: str
    packages: tuple[str, ...]
    program: str
    dialect: str = "chat"
    model: str = "gpt-4-0613"
    window: int = 8_192
    billed: bool = True
    """Whether the framework passes on what the provider billed."""
    env: Mapping[str, str] = field(default_factory=dict)


LANGCHAIN = DropIn(
    name="langchain", packages=("langchain", "langchain-openai"), program="dropin_langchain.py"
)
DROP_INS = (
    LANGCHAIN,
    replace(
        LANGCHAIN,
        name="deepagents",
        packages=("deepagents", "langchain-openai"),
        window=16_000,
        model="gpt-4o",
        env={"DEEP": "1"},
    ),
    DropIn(name="openai-agents", packages=("openai-agents",), program="dropin_agents.py"),
    DropIn(name="pydantic-ai", packages=("pydantic-ai-slim[openai]",), program="dropin_pydantic.py"),
    DropIn(
        name="litellm",
        packages=("litellm[mcp]",),
        program="dropin_litellm.py",
        env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    ),
    DropIn(
        name="google-adk",
        packages=("google-adk",),
        program="dropin_adk.py",
        dialect="gemini",
        model="gemini-2.0-flash",
        env={"GOOGLE_API_KEY": "unused"},
    ),
    DropIn(
        name="llama-index",
        packages=("llama-index-core", "llama-index-llms-openai-like"),
        program="dropin_llama_index.py",
        billed=False,
    ),
)


@dataclass
class DropInResult:
    """What a run was like."""

    name: str
    mode: str
    version: str = "?"
    requests: int = 0
    overflows: int = 0
    tokens: int = 0
    unchanged: float = 0.0
    kept: str = ""
    """Answers that could be given: the asked-for line stood in the request."""
    problems: list[str] = field(default_factory=list)


@dataclass
class PlantModel:
    """A model that calls `read_log` ten times a turn; asked for a summary, it repeats what it is shown."""

    made: int = 0
    kept: dict[str, bool] = field(default_factory=dict)

    def step(self, said: str, last: str, *, tools: bool) -> tuple[str, int | None]:
        """Give the answer to a request that says all this: a text, and the number of a log to read."""
        if not tools:
            return said[:SUMMARY], None
        # What is recalled stands before a question, and may be an earlier one.
        if found := next(reversed([*QUESTION.finditer(last)]), None):
            number, line = int(found[1]), int(found[2])
            self.kept[found[0]] = log(number).split("\n")[line] in said.replace("\\n", "\n")
            return "It read as noted.", None
        self.made += 1
        if self.made % (STEPS + 1):
            return f"Looking, step {self.made}.", self.made
        return f"Part {self.made} is checked: all valves are within their limits.", None


@dataclass
class Provider:
    """A strict provider, and what it found."""

    app: ASGIApp
    url: str
    size: Any
    refused: Any
    wrong: Any


def provider_of(dropin: DropIn, model: PlantModel) -> Provider:
    """Make the provider of a drop-in's dialect."""
    if dropin.dialect == "gemini":

        def say_gemini(body: Json) -> GeminiReply:
            users = [p.get("text", "") for c in body["contents"] if c["role"] == "user" for p in c["parts"]]
            text, number = model.step(_texts(body["contents"]), users[-1], tools=bool(body.get("tools")))
            return GeminiReply(text, ("read_log", {"number": number}) if number else None)

        gemini = GeminiProvider(say=say_gemini, window=dropin.window)
        return Provider(gemini.app, "", count_gemini, lambda: gemini.refused, lambda: gemini.wrong)

    def say(body: Json) -> Reply:
        users = [_texts(m["content"]) for m in body["messages"] if m["role"] == "user"]
        last = users[-1] if users and body["messages"][-1]["role"] == "user" else ""
        text, number = model.step(_texts(body["messages"]), last, tools=bool(body.get("tools")))
        return Reply(text, [(f"call_{number}", "read_log", {"number": number})] if number else [])

    chat = StrictProvider(say=say, window=dropin.window)
    return Provider(chat.strict_app, "/v1", count, lambda: chat.refused, lambda: [*chat.wrong, *chat.torn])


def _texts(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


async def run_dropin(dropin: DropIn, mode: str, *, fresh: bool) -> DropInResult:
    """Install a framework, run its program once, and judge what its provider was sent."""
    packages = (*dropin.packages, "-e", str(ROOT))
    folder = await asyncio.to_thread(install, "pypi", packages, fresh=fresh)
    result = DropInResult(dropin.name, mode, version(folder, "pypi", dropin.packages[0]))
    model = PlantModel()
    provider = provider_of(dropin, model)
    watch = Watch(provider.app)
    with TemporaryDirectory(prefix="octavo-dropin-") as made:
        async with listening(watch) as url:
            env = {
                "PATH": path_of(folder, "pypi"),
                "HOME": made,
                "LANG": "C.UTF-8",
                "PYTHONPATH": str(PROGRAMS),
                "HTTPS_PROXY": "http://127.0.0.1:9",
                "NO_PROXY": "127.0.0.1,localhost",
                "OPENAI_API_KEY": "unused",
                "OPENAI_AGENTS_DISABLE_TRACING": "1",
                "PROVIDER": url + provider.url,
                "MODEL": dropin.model,
                "WINDOW": str(dropin.window),
                "MODE": mode,
                "STORE": f"{made}/agent.db",
                **dropin.env,
            }
            process = await asyncio.create_subprocess_exec(
                str(folder / "bin" / "python"),
                str(PROGRAMS / dropin.program),
                cwd=made,
                env=env,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            try:
                async with asyncio.timeout(SECONDS):
                    out, _ = await process.communicate()
            except TimeoutError:
                process.kill()
                out, _ = await process.communicate()
                result.problems.append(f"given up after {SECONDS} s")
            if mode == "octavo":
                result.problems += await _check_bills(dropin, Path(env["STORE"]))
                result.problems += await _run_guide(dropin, folder, made, env)
    if process.returncode:
        result.problems.append(" ".join(out.decode(errors="replace").split())[-500:])
    bodies = [one.asked for one in watch.seen if one.status == 200]
    result.requests, result.overflows = len(watch.seen), provider.refused()
    result.tokens = sum(provider.size(body) for body in bodies)
    result.unchanged = unchanged(bodies)
    result.kept = f"{sum(model.kept.values())} of {len(model.kept)}"
    result.problems += [f"the provider refused: {one}" for one in {*provider.wrong()}]
    result.problems += [f"{result.overflows} requests were too large"] if result.overflows else []
    leaks = [n for n, body in enumerate(bodies) if len({*EDITED.findall(_texts(body))}) > 1]
    result.problems += [f"request {leaks[0]} shows what belongs to another branch"] if leaks else []
    return result


async def _check_bills(dropin: DropIn, store: Path) -> list[str]:
    """Tell of a drop-in that did not learn from the bills which its framework passes on."""
    if not dropin.billed:
        return []
    async with await Engine.open(store, summariser="none") as engine:
        learned = await engine.store.notes.starting(LEARNED)
    return [] if any(learned.values()) else ["it learned nothing from its bills"]


async def _run_guide(dropin: DropIn, folder: Path, made: str, env: Mapping[str, str]) -> list[str]:
    """Run the guide of docs/integrations.md as it stands; tell what went wrong."""
    if dropin.name not in TITLES or dropin.name == "openai-agents":
        return []  # its guide speaks Responses, which this provider does not: tests/integrations runs it
    program = Path(made) / "guide.py"
    program.write_text(guide(dropin.name))
    told = {"OPENAI_BASE_URL": env["PROVIDER"], "OPENAI_API_BASE": env["PROVIDER"]}
    told["GOOGLE_GEMINI_BASE_URL"] = env["PROVIDER"]
    process = await asyncio.create_subprocess_exec(
        str(folder / "bin" / "python"),
        str(program),
        cwd=made,
        env={**env, **told},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    if process.returncode:
        return [f"its guide failed: {' '.join(out.decode(errors='replace').split())[-300:]}"]
    return [] if (Path(made) / "chats.db").exists() else ["its guide stored nothing"]


COLUMNS = (
    "framework",
    "version",
    "kept small by",
    "requests",
    "too large",
    "tokens sent",
    "unchanged prefix",
    "answers kept",
)


def row(result: DropInResult) -> str:
    """One line of the table."""
    cells = (
        result.name,
        result.version,
        {"octavo": "Octavo", "own": "its own"}[result.mode],
        str(result.requests),
        str(result.overflows),
        f"{result.tokens:,}",
        f"{result.unchanged:.2f}",
        result.kept if not result.problems else f"{result.kept}, stopped",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Run what the command line names."""
    names = [one.name for one in DROP_INS]
    parser = argparse.ArgumentParser(prog="python -m clients.dropins", description=__doc__)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--mode", choices=("octavo", "own"), help="only ours, or only the framework's own way"
    )
    parser.add_argument("--fresh", action="store_true", help="install the newest versions again")
    asked = parser.parse_args()
    rows: list[str] = []
    failed = False
    for dropin in DROP_INS:
        if asked.only and dropin.name not in asked.only:
            continue
        for mode in [asked.mode] if asked.mode else ["octavo", "own"]:
            try:
                result = asyncio.run(run_dropin(dropin, mode, fresh=asked.fresh))
            except InstallFailed as error:
                result = DropInResult(dropin.name, mode, problems=[f"not installed: {error}"])
            rows.append(row(result))
            print(rows[-1], flush=True)
            for problem in result.problems:
                print(f"  {'PROBLEM' if mode == 'octavo' else 'note'}: {problem}", flush=True)
            failed = failed or (mode == "octavo" and bool(result.problems))
    rule = "| " + " | ".join("---" for _ in COLUMNS) + " |"
    print("\n".join(["", "| " + " | ".join(COLUMNS) + " |", rule, *rows]))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
