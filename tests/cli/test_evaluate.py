"""`eval`: on its own conversations, on files and folders, on a stored one, with plots, and with a judge."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from octavo.cli.evaluate import read_size
from octavo.cli.main import main
from octavo.cli.setup import read_setup
from octavo.core.reply import Request
from octavo.engine.engine import Engine
from octavo.errors import BadInput, ProviderError
from octavo.testing import ScriptedProvider
from tests.cli.kit import Run, plainly

TALK = [
    {
        "role": "user",
        "content": "The ledger listens on port 5433, see src/ledger/main.py and max_batch = 9912.",
    },
    {"role": "assistant", "content": "Noted. " + "We could go on about it for a long time. " * 60},
    {"role": "user", "content": "Go on."},
    {
        "role": "assistant",
        "content": "I set port 5433 and max_batch to 9912 in src/ledger/main.py, with load_rows.",
    },
    {"role": "user", "content": "Thanks for load_rows."},
    {"role": "assistant", "content": "You are welcome."},
]


def found(data: Any, set: str, compressor: str) -> dict[str, list[float]]:
    rows = [one for one in data["summaries"] if (one["set"], one["compressor"]) == (set, compressor)]
    assert len(rows) == 1
    return dict(rows[0]["found"])


def test_it_works_without_anything(run: Run) -> None:
    done = run("eval", "--only", "languages", "-c", "octavo", "-c", "truncate", "-b", "10%")
    assert done.code == 0
    assert "### languages, budget 10 %" in done.out
    rows = [line for line in done.lines if line.startswith(("| octavo |", "| truncate |"))]
    assert len(rows) == 3
    assert "### octavo against the others, item by item" in done.out


def test_a_file_is_measured_by_what_its_assistant_went_on_to_write(run: Run, tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    done = run(
        "eval", str(tmp_path / "talk.json"), "-c", "octavo@0.05", "-c", "truncate", "-b", "0.3", "--json"
    )
    assert done.code == 0
    ours, theirs = (found(done.json, "files", name) for name in ("octavo@0.05", "truncate"))
    assert ours["recall"][0] == 1.0
    assert ours["valid"][0] == 1.0
    assert ours["over"][0] == 0.0
    assert theirs["recall"][0] == 0.0


def test_a_folder_is_a_set_of_any_formats(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.json").write_text(json.dumps(TALK))
    gemini = [
        {"role": "user", "parts": [{"text": "The code is B12-77."}]},
        {"role": "model", "parts": [{"text": "Ok."}]},
    ]
    (tmp_path / "mine" / "b.jsonl").write_text(json.dumps({"contents": gemini}) + "\n")
    (tmp_path / "mine" / "notes.txt").write_text("not read")
    done = run("eval", str(tmp_path / "mine"), "-c", "none", "--json", "-b", "0.5", "-m", "gpt-4o")
    assert done.code == 0
    assert {case["case"] for case in done.json["cases"]} == {"a.json at 40%", "b.jsonl"}
    assert found(done.json, "mine", "none")["facts"][0] == 1.0
    assert done.json["meter"] == "gpt-4o"


def test_a_stored_conversation_is_compared_with_what_is_sent_now(talked: Run) -> None:
    done = talked("eval", "--conversation", "Ports", "-c", "truncate", "-b", "0.5", "--json")
    assert done.code == 0
    now = found(done.json, "stored", "as it is sent now")
    assert now["valid"][0] == 1.0
    assert now["kept"][0] < 1.0
    assert now["facts"][0] > found(done.json, "stored", "truncate")["facts"][0]


def test_an_empty_conversation_is_refused(run: Run, database: Path) -> None:
    async def make() -> None:
        async with await Engine.open(database) as engine:
            await engine.create("Nothing yet")

    asyncio.run(make())
    done = run("eval", "--conversation", "last")
    assert done.code == 2
    assert "is empty" in done.err


OWN = """
calls = []

def text(messages, budget):
    return "hello"

def nothing(messages, budget):
    return None

def body(messages, budget):
    return {"messages": messages[-1:]}

def broken(messages, budget):
    return [{"role": "nobody", "content": 3}]

def moody(messages, budget):
    calls.append(budget)
    if len(calls) % 2:
        raise RuntimeError("not\\ntoday")
    return messages[-2:]
"""


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("text", "6 of 6 results count 0: it gave a value of type str, not a list of messages"),
        ("nothing", "6 of 6 results count 0: it gave a value of type NoneType, not a list of messages"),
        ("body", "6 of 6 results count 0: it gave a value of type dict, not a list of messages"),
        ("broken", "6 of 6 results count 0: it gave what cannot be read as messages: messages[0]"),
        ("moody", "3 of 6 results count 0: it raised RuntimeError: not today"),
    ],
)
def test_a_compressor_that_fails_costs_its_own_result_only_and_says_why(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, why: str
) -> None:
    (tmp_path / "my_compressors.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_compressors", raising=False)
    options = ("eval", "--only", "branches", "-c", f"my_compressors:{function}", "-c", "octavo", "-b", "0.3")
    done = run(*options, "--html", str(tmp_path / "report.html"))
    assert done.code == 0, done.err
    assert f"- **my_compressors:{function}**: {why}" in done.out
    assert "| octavo | " in done.out
    assert why.partition(":")[0] in (tmp_path / "report.html").read_text()


def test_a_module_that_cannot_be_imported_is_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_broken.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    done = run("eval", "-c", "my_broken:f")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot import 'my_broken': ZeroDivisionError" in done.err


def test_nothing_is_the_upper_end_though_no_budget_holds_it(run: Run) -> None:
    options = ("eval", "--only", "branches", "-c", "octavo", "-c", "none", "-b", "0.1", "--json")
    for more in ((), ("--rounds", "3")):
        data = run(*options, *more).json
        end, ours = found(data, "branches", "none"), found(data, "branches", "octavo")
        assert end["index"][0] == end["answers"][0] == 1.0 > ours["index"][0]
        assert end["over"][0] == 1.0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--model", "gpt4oo"], "nothing is known of the model 'gpt4oo'"),
        (["--originals"], "--originals says how rounds go on: give --rounds too"),
        (["--judge", "words"], "--judge is about probes: give --probe too"),
        (["--repeats", "7"], "--repeats is about probes: give --probe too"),
        (["--probes", "2"], "--probes is about probes: give --probe too"),
        (["--probe-cases", "2"], "--probe-cases is about probes: give --probe too"),
        (["--yes"], "--yes is about probes: give --probe too"),
        (["--seed", "3", "chat.json"], "--seed is about conversations that are made here"),
        (["--only", "chats", "--conversation", "last"], "--only chooses among sets"),
        (["--summariser", "gpt-4o-mini", "-c", "truncate"], "--summariser is for policies: name one with -c"),
        (["--probe", "gpt-4o", "--judge", "claude-sonnet-4-5", "--yes"], "another model of openai"),
        (["--probe", "nosuch", "--yes"], "no provider is known for the model 'nosuch'"),
    ],
)
def test_what_is_unknown_or_of_no_use_is_refused_before_anything_is_measured(
    environment: dict[str, str], arguments: list[str], why: str
) -> None:
    own = environment | {"OPENAI_API_KEY": "k"}
    done = plainly("eval", *arguments, environment=own)
    assert (done.code, done.out) == (2, "")
    assert why in done.err


def test_rounds_tell_how_long_facts_last(run: Run) -> None:
    options = ("eval", "--only", "branches", "-c", "octavo", "-b", "0.2", "--rounds", "4")
    done = run(*options)
    assert "| rounds |" in done.out
    assert "from its own last result" in done.out
    assert "from the originals" in run(*options, "--originals").out


def test_a_summariser_is_measured_beside_the_policy_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "talk.json").write_text(json.dumps(TALK[:2]))
    done = run(
        "eval", str(tmp_path / "talk.json"), "-c", "octavo", "-b", "0.4", "--summariser", "parrot", "--json"
    )
    assert done.code == 0
    assert {case["compressor"] for case in done.json["cases"]} == {"octavo", "octavo + parrot"}
    assert found(done.json, "files", "octavo + parrot")["valid"][0] == 1.0


def test_the_report_is_one_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    done = run("eval", "--only", "branches", "-c", "octavo", "-b", "0.2", "--html", str(path))
    assert done.code == 0
    assert f"report: {path}" in done.err
    html = path.read_text("utf-8")
    assert html.startswith("<!doctype html>")
    assert html.count("<svg") >= 4
    assert (
        run("eval", "--html", str(tmp_path / "no" / "where.html"), "--only", "branches", "-c", "none").code
        == 2
    )


def test_public_sets_are_read_from_a_folder(run: Run, tmp_path: Path) -> None:
    record = {
        "id": "talk",
        "messages": [{**message, "mid": str(n)} for n, message in enumerate(TALK)],
        "qa": [{"q": "On which port does the ledger listen?", "a": "5433", "evidence": ["0"], "cat": "fact"}],
    }
    (tmp_path / "talks.jsonl").write_text(json.dumps(record) + "\n")
    done = run("eval", "--data", str(tmp_path), "-c", "octavo", "-c", "none", "-b", "0.4", "--json")
    assert found(done.json, "talks", "none")["answers"][0] == 1.0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--compressor", "best"], "unknown 'best'"),
        (["--budget", "lots"], "expected a share such as 0.1"),
        (["--only", "mine"], "there is nothing to measure; sets there are: chats"),
        (["--conversation", "last", "chat.json"], "measured by itself"),
        (["gone.json"], "cannot read gone.json"),
        (["--data", "gone"], "has no files that end in"),
        (["."], "has no files that end in .json"),
    ],
)
def test_wrong_usage_is_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], why: str
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    done = run("eval", *arguments)
    assert done.code == 2
    assert done.err.startswith("octavo: ")
    assert why in done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("text", "size"), [("0.1", 0.1), ("10%", 0.1), ("100 %", 1.0), ("1", 1.0), ("4000", 4000.0)]
)
def test_a_budget_is_a_share_or_tokens(text: str, size: float) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["0", "-1", "lots", "150%", "nan", "inf", ""])
def test_a_budget_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_size(text)


def model(request: Request) -> str:
    asked = request.messages[-1].text
    if "one JSON object in each line" in asked:
        return json.dumps({"question": "Which port?", "answer": "5433"})
    if asked.startswith("Score an answer"):
        return "5" if "5433" in asked.rpartition("Answer: ")[2] else "0"
    return "5433" if "5433" in asked.partition("context>>>")[0] else "unknown"


def probed(
    environment: dict[str, str], tmp_path: Path, *options: str, provider: ScriptedProvider | None = None
) -> ScriptedProvider:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK[:3]))
    provider = provider or ScriptedProvider(model)
    setup = read_setup(environment)
    arguments = [
        "eval",
        str(path),
        "-c",
        "octavo",
        "-c",
        "truncate",
        "-b",
        "0.3",
        "--probe",
        "gpt-4o-mini",
        *options,
    ]
    main(arguments, setup.__class__(environment=environment, settings=setup.settings, provider=provider))
    return provider


def test_probes_show_their_price_first_and_are_judged(
    environment: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with pytest.raises(SystemExit) as ended:
        probed(environment, tmp_path, "--yes", "--judge", "gpt-4o")
    assert ended.value.code == 0
    out, err = (text.decode() for text in capfdbinary.readouterr())
    assert "probes: at most" in err
    assert "at most $" in err
    assert "probes: 1 made, 1 of them usable; " in err
    assert "### Probes" in out
    table = [line.split(" | ") for line in out.partition("### Probes")[2].splitlines() if " | " in line]
    scores = {row[0]: row[3] for row in table}
    assert scores["| the whole conversation"] == "5.00"
    assert scores["| octavo"] == "5.00"
    assert scores["| truncate"] == "0.00"


def test_probes_tell_how_far_they_are_in_a_pipe_and_keep_what_they_have(
    environment: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    def tiring(request: Request) -> str:
        if len(provider.requests) > 30:
            raise ProviderError("the quota is used up")
        return model(request)

    provider = ScriptedProvider(tiring)
    with pytest.raises(SystemExit) as ended:
        probed(environment, tmp_path, "--yes", "--judge", "gpt-4o", provider=provider)
    assert ended.value.code == 1
    out, err = (text.decode() for text in capfdbinary.readouterr())
    assert "asking about talk.json" in err
    assert "answering and judging" in err
    assert "the probes stopped early: the quota is used up" in err
    assert "### files, budget 30 %" in out
    assert "Stopped early, after " in out
    assert "| the whole conversation | 1 |" in out


def test_probes_do_not_start_where_nobody_can_agree(
    environment: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with pytest.raises(SystemExit) as ended:
        probed(environment, tmp_path)
    assert ended.value.code == 2
    err = capfdbinary.readouterr()[1].decode()
    assert "probes: at most" in err
    assert "give --yes" in err
