"""The command line's manners."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from octavo.cli.app import ORDER
from tests.cli.kit import Run

HEAVY = (
    "rich",
    "prompt_toolkit",
    "sqlalchemy",
    "asyncio",
    "pydantic",
    "fastapi",
    "openai",
    "octavo.engine",
    "concurrent.futures",
    "multiprocessing",
    "uvicorn",
    "httpx2",
    "splintr",
)
GROUPS = {
    "local": ("list", "install"),
    "settings": ("list", "get", "set", "unset"),
    "keys": ("create", "list", "revoke"),
}
EVERY = [(name,) for name in ORDER if name not in GROUPS] + [
    (group, name) for group in GROUPS for name in GROUPS[group]
]


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "octavo", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )


def test_help_and_version() -> None:
    shown = start("--help")
    assert shown.returncode == 0
    assert "keeps LLM conversations alive" in shown.stdout
    assert [
        line.split()[0]
        for line in shown.stdout.splitlines()
        if line[2:].startswith(ORDER) and line[2:3] != " "
    ] == list(ORDER)
    assert start("--version").stdout.startswith("octavo 0.")


def test_help_imports_nothing_heavy() -> None:
    """This is what keeps `octavo --help` under a quarter of a second of processor time."""
    script = (
        "import sys\nfrom octavo.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.strip() == ""


def test_ctrl_c_while_the_program_is_still_being_loaded_is_quiet(tmp_path: Path) -> None:
    """The signal comes when the first library is imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    done = start("--help", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_program_is_the_one_that_leaves_quietly() -> None:
    scripts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"octavo": "octavo.__main__:main"}


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_every_command_has_help_with_examples(run: Run, command: tuple[str, ...]) -> None:
    shown = run(*command, "--help")
    assert shown.code == 0
    assert f"Usage: octavo {' '.join(command)}" in shown.out
    assert "Examples:" in shown.out
    assert f"octavo {' '.join(command)}" in shown.out.split("Examples:")[1]


def test_an_unknown_command_is_a_usage_error(run: Run) -> None:
    done = run("fold-everything")
    assert done.code == 2
    assert "No such command 'fold-everything'" in done.err
    assert done.out == ""


def test_an_unknown_option_is_a_usage_error(run: Run) -> None:
    assert run("count", "--tokens").code == 2


def test_errors_are_one_sentence_on_standard_error(run: Run) -> None:
    done = run("show", "nosuch\n\x1b[2Jthing")
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert done.err.startswith("octavo: there is no conversation")
    assert "octavo conversations" in done.err
    assert "\x1b" not in done.err


def test_a_database_that_cannot_be_opened_is_said_in_one_line(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database, but long enough to look at" * 100)
    done = run("conversations", "--db", str(broken))
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert run("conversations", "--db", "mysql://x").code == 2


def without(
    *modules: str, arguments: tuple[str, ...], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command where packages are not installed."""
    script = (
        f"import sys\nsys.modules.update(dict.fromkeys({modules}))\n"
        f"from octavo.cli.main import main\nmain({arguments})"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.mark.parametrize("modules", [("asyncpg", "greenlet"), ("greenlet",), ("asyncpg",)])
def test_a_postgresql_address_without_its_driver_is_answered_with_the_usual_advice(
    modules: tuple[str, ...],
) -> None:
    done = without(*modules, arguments=("conversations", "--db", "postgresql://ann@127.0.0.1:1/chats"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "octavo: PostgreSQL needs a driver; run: pip install 'octavo[postgres]'\n"


@pytest.mark.parametrize("module", ["xllamacpp", "openai"])
def test_no_model_is_fetched_that_nothing_here_could_run(module: str, tmp_path: Path) -> None:
    done = without(module, arguments=("local", "install"), OCTAVO_CACHE=str(tmp_path / "cache"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'octavo[local]'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "cache").exists()


def test_the_database_can_be_named_before_the_command_and_after_it(run: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    assert run("--db", str(first), "conversations").code == 0
    assert run("conversations", "--db", f"sqlite:///{second}").code == 0
    assert first.exists()
    assert second.exists()


def test_the_default_database_is_made_in_the_data_folder(run: Run, environment: dict[str, str]) -> None:
    del environment["OCTAVO_DB"]
    assert run("conversations").out == "no conversations; start one: octavo chat\n"
    assert (Path(environment["OCTAVO_DATA"]) / "octavo.db").exists()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("octavo comp", ["compress"]),
        ("octavo count --model gpt-4o-m", ["gpt-4o-mini"]),
        ("octavo compress --policy on", ["onyx"]),
        ("octavo settings get pre", ["prepare"]),
        ("octavo local install smol", ["smollm2-135m"]),
    ],
)
def test_the_shell_completes_commands_and_names(
    run: Run, monkeypatch: pytest.MonkeyPatch, typed: str, offered: list[str]
) -> None:
    monkeypatch.setenv("_OCTAVO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert run().lines == offered


def test_the_shell_completes_conversations(talked: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (known,) = talked("conversations", "--json").json
    monkeypatch.setenv("_OCTAVO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "octavo show ")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert talked().lines == [known["id"][-8:]]


def in_shell(command: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        f"{sys.executable} -m octavo {command}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this system has no device that is full")
@pytest.mark.parametrize("command", ["--help", "models", "models --json", "conversations"])
def test_an_output_that_takes_nothing_is_one_sentence(environment: dict[str, str], command: str) -> None:
    done = in_shell(f"{command} > /dev/full", environment)
    assert (done.returncode, done.stderr) == (
        1,
        "octavo: cannot write to standard output: No space left on device\n",
    )


def test_closed_streams_are_no_trouble(environment: dict[str, str]) -> None:
    assert in_shell("conversations >&-", environment).stderr == ""
    assert in_shell("conversations nosuch 2>&-", environment).returncode == 2


def test_a_closed_pipe_is_no_error(environment: dict[str, str]) -> None:
    done = in_shell("models | head -n 1", environment)
    assert done.stderr == ""
    assert "OpenAI" in done.stdout
