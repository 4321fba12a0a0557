"""Write docs/cli.md by running every command; with --check, only tell whether it is up to date.

    python scripts/make_cli_docs.py [--check]

The commands run in this process, in an empty folder, with a provider that answers from a script. What differs from
run to run (ids, times, secrets, folders) is replaced by examples of the same form.
"""

from __future__ import annotations

import difflib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path

from octavo.cli.main import main
from octavo.cli.setup import read_setup
from octavo.core.context import Context
from octavo.core.messages import assistant
from octavo.core.reply import Reply, Request, Usage
from octavo.core.title import ASKED
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.testing import ScriptedProvider

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
COLUMNS = "100"
HOME = "/home/you"
DAY = "2026-11-15"

INTRODUCTION = """\
# The command line

This page is made by running the commands: `python scripts/make_cli_docs.py` writes it, and a test checks that it is
up to date. The answers come from a script; ids, times and secrets are examples.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage or wrong
input. An error is one sentence that says what to do. `--json` works wherever data is printed. The shell completes
commands, models, settings and conversations after `octavo --install-completion`.
"""

ANSWERS = {
    "Which database": "PostgreSQL 16, on port 5433. The password is in `/etc/ledger/secret`.",
    "How do we keep it fast": "With an index on `account_id`, and no joins in the hot path:\n\n"
    "1. every query has a limit of 200 ms\n2. reports run on the replica, port 5434\n\n"
    + "Beyond that, measure before you change anything, and change one thing at a time. "
    * 8,
    "Write the start command": "```sh\nledger serve --port 8443 --db postgresql://db:5433/ledger\n```",
}
TITLE = "Database and port"
"""A title that will do: what is no title is asked for once more, or not, depending on which answer comes first."""
CHAT = """\
[
  {"role": "system", "content": "You are brief."},
  {"role": "user", "content": "Which port does the ledger use? It must not be 8080."},
  {"role": "assistant", "content": "Port 8443, since 8080 is taken by the proxy. The file is /etc/ledger.toml."},
  {"role": "user", "content": "And tell me a long story about accounting, please."},
  {"role": "assistant", "content": "STORY"},
  {"role": "user", "content": "Thank you. What was the port again?"}
]
"""
STORY = "Once there was a bookkeeper who wrote down every number that she was told, and never lost one. " * 12

CHATS = f"{json.dumps(json.loads(CHAT.replace('STORY', STORY.strip())))}\n[{{}}, broken]\n[]\n"


@dataclass(frozen=True, slots=True)
class Shown:
    """A section: a heading, some words, and commands whose output is shown."""

    title: str
    words: str
    commands: tuple[str, ...]
    stdin: str = ""


SECTIONS = (
    Shown("octavo", "", ("octavo --help",)),
    Shown("octavo chat", "", ("octavo chat --help",)),
    Shown(
        "In the chat",
        "A line that begins with `/` is a command and is never sent to a model. Messages are numbered by their place\n"
        "on the branch; `/history` shows the numbers.",
        ("octavo chat --model gpt-4o",),
        "/help\n",
    ),
    Shown(
        "A session",
        "With lines piped in, the chat prints plain text, so a session can be shown here. On a terminal, answers are\n"
        "rendered as they arrive, and a line under the input shows the meter:\n\n"
        "```text\n"
        " ██░░░░░░░░ 20% · 1,580 of 7,500 tokens · compresses in 4,440 tokens · gpt-4o · exact\n"
        "```",
        ("octavo chat --model gpt-4o --system 'You are brief.'",),
        "Which database, and on which port?\nHow do we keep it fast?\nWrite the start command.\n"
        "/settings summariser none\n/compress --dry-run\n/compress the ports\n/summary\n/context\n/undo\n/redo\n"
        "/rename Ledger\n",
    ),
    Shown("octavo ask", "", ("octavo ask --help",)),
    Shown("octavo demo", "", ("octavo demo --help",)),
    Shown("octavo serve", "", ("octavo serve --help",)),
    Shown(
        "octavo mcp",
        "",
        ("octavo mcp --help", "octavo mcp install --help", "octavo mcp uninstall --help"),
    ),
    Shown(
        "octavo compress",
        "",
        (
            "octavo compress --help",
            "octavo compress chat.json --budget 200",
            "octavo compress chat.json --ratio 0.5 --receipt --out smaller.json",
        ),
    ),
    Shown(
        "A file of many conversations",
        "With one conversation in each line, `--jobs` shares them among processes. Results come in the order\n"
        "of the lines, and a bounded number of lines is under way, so a file may be larger than memory. How\n"
        "far it is goes to standard error. A line that cannot be compressed has no result, is told with its\n"
        "number, and makes the exit code 1. Until all lines are done the result is called `FILE.partial`, and\n"
        "`FILE.partial.json` beside it says how far it is: after Ctrl-C, a kill or a power cut, the same\n"
        "command with `--resume` goes on at the next line, and the file comes out as if nothing had happened.\n"
        "How much a machine does, and how the same function runs in Ray Data and PySpark, is told in\n"
        "[scale](scale.md).",
        ("octavo compress chats.jsonl --budget 200 --jobs 2 --out smaller.jsonl",),
    ),
    Shown(
        "octavo count",
        "",
        (
            "octavo count --help",
            "octavo count chat.json --model claude-sonnet-4-5",
            "octavo count chat.json --json",
        ),
    ),
    Shown("octavo plan", "", ("octavo plan --help", "octavo plan chat.json --budget 200")),
    Shown(
        "octavo eval",
        "What the columns mean, how compressors and probes are made, and how to read the intervals is told in the\n"
        "[evaluation guide](evaluation.md).",
        ("octavo eval --help",),
    ),
    Shown("octavo conversations", "", ("octavo conversations --help", "octavo conversations")),
    Shown("octavo label", "", ("octavo label --help", "octavo label Ledger work")),
    Shown("octavo show", "", ("octavo show --help", "octavo show Ledger")),
    Shown("octavo search", "", ("octavo search --help", "octavo search port 5433")),
    Shown(
        "octavo recall",
        "How passages are found, and when they are sent, is told in [recall](recall.md).",
        ("octavo recall --help", "octavo recall Ledger 'which replicas?'"),
    ),
    Shown(
        "octavo rules", "What stands, and why, is told in [standing](standing.md).", ("octavo rules --help",)
    ),
    Shown("octavo stats", "", ("octavo stats --help", "octavo stats", "octavo stats Ledger --json")),
    Shown("octavo costs", "", ("octavo costs --help", "octavo costs --by model")),
    Shown("octavo import", "", ("octavo import --help", "octavo import chat.json --title Imported")),
    Shown("octavo export", "", ("octavo export --help", "octavo export Imported --format openai")),
    Shown("octavo delete", "", ("octavo delete --help", "octavo delete Imported --yes")),
    Shown("octavo models", "", ("octavo models --help", "octavo models claude-sonnet")),
    Shown(
        "octavo local",
        "",
        (
            "octavo local --help",
            "octavo local list --help",
            "octavo local list",
            "octavo local install --help",
        ),
    ),
    Shown(
        "octavo settings",
        "",
        (
            "octavo settings --help",
            "octavo settings list --help",
            "octavo settings get --help",
            "octavo settings set --help",
            "octavo settings unset --help",
            "octavo settings set soft 0.7",
            "octavo settings list",
            "octavo settings set soft 7",
        ),
    ),
    Shown(
        "octavo keys",
        "",
        (
            "octavo keys --help",
            "octavo keys create --help",
            "octavo keys list --help",
            "octavo keys revoke --help",
            "octavo keys create laptop",
            "octavo keys list",
        ),
    ),
    Shown("octavo backup", "", ("octavo backup --help",)),
    Shown("octavo check", "", ("octavo check --help", "octavo check")),
    Shown("octavo doctor", "", ("octavo doctor --help", "octavo doctor")),
)


@dataclass(slots=True)
class Bench:
    """Where the commands run."""

    folder: Path
    ids: dict[str, str] = field(default_factory=dict)

    def run(self, command: str, stdin: str) -> str:
        """Run a command; give what it printed, made the same in every run."""
        environment = {
            "OCTAVO_DATA": f"{self.folder}/data",
            "OCTAVO_CACHE": f"{self.folder}/cache",
            "OLLAMA_HOST": "127.0.0.1:9",
        }
        setup = replace(read_setup(environment), provider=ScriptedProvider(answer))
        both = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        try:
            with redirect_stdout(both), redirect_stderr(both), chdir(self.folder):
                main(shlex.split(command)[1:], setup)
        except SystemExit as ended:
            code = ended.code or 0
        finally:
            sys.stdin = before
        both.seek(0)
        said = self.steady(both.read()).rstrip()
        return said + (f"\n[exit code {code}]" if code else "")

    def steady(self, text: str) -> str:
        """Replace what differs from run to run by examples."""
        text = text.replace(f"{self.folder}/data", f"{HOME}/.local/share/octavo")
        text = text.replace(f"{self.folder}/cache", f"{HOME}/.cache/octavo")
        for found in re.findall(r"\b[0-9a-f]{32}\b", text):
            self.example(found[-8:])
            text = text.replace(found, f"0198f2b04c3e7000a000{found[-12:-8]}{found[-8:]}")
        text = re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b", lambda found: self.example(found[0]), text)
        text = re.sub(r"octavo_[\w-]{43}", "octavo_EXAMPLE_EXAMPLE_EXAMPLE_EXAMPLE_EXAMPLE_EXA", text)
        text = re.sub(r"octavo_[\w-]{6}\.\.\.", "octavo_EXAMPL...", text)
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", f"{DAY} 12:00", text)
        text = re.sub(r"\d{4}-\d\d-\d\d(?=  [█░]|\"|$)", DAY, text, flags=re.MULTILINE)
        text = re.sub(r"^[\d,]+ conversations?, [\d,]+ a second.*\n", "", text, flags=re.MULTILINE)
        text = re.sub(r" in \d+\.\d s\b", " in 0.1 s", text)
        return re.sub(r"on Python [\d.]+\w*, \w+", "on Python 3.11, Linux", text)

    def example(self, short: str) -> str:
        return self.ids.setdefault(short, f"{len(self.ids) + 1:08x}".replace("0000000", "3f9a2c1"))


def answer(request: Request) -> Reply:
    """Answer the questions of the session, and bill what they cost."""
    question = request.messages[-1].text
    text = next((said for start, said in ANSWERS.items() if question.startswith(start)), "I see.")
    if question.endswith(ASKED):
        text = TITLE
    meter = Meter(find_card(request.model))
    read = meter.read(Context(retained=request.messages)).tokens
    usage = Usage(input=read, output=meter.count_text(text))
    return Reply(message=assistant(text), usage=usage, model=request.model)


def section(bench: Bench, shown: Shown) -> Iterator[str]:
    """Run the commands of a section."""
    yield f"## {shown.title}\n"
    if shown.words:
        yield shown.words + "\n"
    if shown.stdin:
        yield f"`lines.txt`:\n\n```text\n{shown.stdin.rstrip()}\n```\n"
    for command in shown.commands:
        typed = f"{command} < lines.txt" if shown.stdin else command
        printed = f"$ {typed}\n{bench.run(command, shown.stdin)}".rstrip()
        fence = "````" if "```" in printed else "```"
        yield f"{fence}console\n{printed}\n{fence}\n"


def page() -> str:
    """Run everything and write it down."""
    os.environ["COLUMNS"] = COLUMNS
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder).resolve())
        (bench.folder / "chat.json").write_text(CHAT.replace("STORY", STORY.strip()))
        (bench.folder / "chats.jsonl").write_text(CHATS)
        parts = [INTRODUCTION, *(part for shown in SECTIONS for part in section(bench, shown))]
    return "\n".join(parts)


def compare(made: str, there: str) -> int:
    """Tell whether the page is up to date."""
    for row in difflib.unified_diff(there.splitlines(), made.splitlines(), "docs/cli.md", "now", lineterm=""):
        print(row)
    return int(made != there)


if __name__ == "__main__":
    text = page()
    if "--check" in sys.argv:
        sys.exit(compare(text, PAGE.read_text("utf-8") if PAGE.exists() else ""))
    PAGE.write_text(text, "utf-8")
