"""`eval`: on its own conversations, on files and folders, on a stored one, with plots, and with a judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from octavo.cli.evaluating import read_size
from octavo.cli.main import main
from octavo.cli.setup import read_setup
from octavo.core.reply import Request
from octavo.errors import BadInput
from octavo.testing import ScriptedProvider
from tests.cli.kit import Run

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


def test_an_empty_conversation_is_refused(run: Run) -> None:
    assert run("chat", "--model", "parrot", stdin="/rename Empty\n").code == 0
    done = run("eval", "--conversation", "last")
    assert done.code == 2


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


def probed(environment: dict[str, str], tmp_path: Path, *options: str) -> ScriptedProvider:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(TALK[:3]))
    provider = ScriptedProvider(model)
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


def test_probes_do_not_start_where_nobody_can_agree(
    environment: dict[str, str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with pytest.raises(SystemExit) as ended:
        probed(environment, tmp_path)
    assert ended.value.code == 2
    err = capfdbinary.readouterr()[1].decode()
    assert "probes: at most" in err
    assert "give --yes" in err
