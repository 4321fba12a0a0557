"""The command: parts are chosen, results are kept and shown again, and what is wrong is said at once."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.__main__ import app
from benchmarks.parts import PARTS
from octavo.cli.main import run as run_command
from tests.cli.kit import Done, captured


def run(*arguments: str) -> Done:
    return captured(lambda: run_command(app, "python -m benchmarks", arguments))


def test_a_part_is_measured_printed_and_kept(tmp_path: Path) -> None:
    out, page = tmp_path / "results.json", tmp_path / "page.md"
    done = run("core", "--quick", "--json", str(out), "--markdown", str(page))
    assert done.code == 0
    assert "core: 1,000 messages" in done.err
    assert "| messages | decide + split |" in done.out
    kept = json.loads(out.read_text())
    assert (kept["quick"], [part["name"] for part in kept["parts"]]) == (True, ["core"])
    again = tmp_path / "again.md"
    assert run("--from", str(out), "--markdown", str(again)).code == 0
    assert again.read_text() == page.read_text()


def test_a_quick_run_is_not_put_into_a_page(tmp_path: Path) -> None:
    out, page = tmp_path / "results.json", tmp_path / "page.md"
    page.write_text("<!-- benchmark: core -->\nold\n<!-- end -->\n")
    assert run("core", "--quick", "--json", str(out)).code == 0
    done = run("--from", str(out), "--readme", str(page))
    assert "stays as it is" in done.err
    assert "old" in page.read_text()
    kept = json.loads(out.read_text())
    out.write_text(json.dumps({**kept, "quick": False}))
    assert run("--from", str(out), "--readme", str(page)).code == 0
    assert "old" not in page.read_text()
    assert "| messages | decide + split |" in page.read_text()


def test_a_part_that_failed_is_told_by_the_exit_code(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    assert run("core", "--quick", "--json", str(out)).code == 0
    kept = json.loads(out.read_text())
    kept["parts"][0]["failed"] = "OSError: disk full"
    out.write_text(json.dumps(kept))
    assert run("--from", str(out)).code == 1


def test_one_part_is_measured_again_and_the_others_stay(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    assert run("core", "--quick", "--json", str(out)).code == 0
    kept = json.loads(out.read_text())
    imports = {**kept["parts"][0], "name": "imports", "title": "Import time"}
    old = {**kept["parts"][0], "items": []}
    out.write_text(json.dumps({**kept, "parts": [imports, old]}))
    assert run("core", "--quick", "--from", str(out), "--json", str(out)).code == 0
    parts = json.loads(out.read_text())["parts"]
    assert [part["name"] for part in parts] == ["imports", "core"]
    assert parts[1]["items"]
    other = run("core", "--from", str(out))
    assert (other.code, "measure all parts again" in other.err) == (2, True)


def test_the_parts_are_listed() -> None:
    assert [line.split()[0] for line in run("--list").lines] == list(PARTS)


def test_what_cannot_be_done_is_said_before_anything_is_measured(tmp_path: Path) -> None:
    unknown = run("core", "speed")
    assert (unknown.code, unknown.out) == (2, "")
    assert "no such part: speed; there are imports, tokens" in unknown.err
    nowhere = run("core", "--json", str(tmp_path / "no" / "results.json"))
    assert (nowhere.code, "there is no folder" in nowhere.err) == (2, True)
    assert "cannot read" in run("--from", str(tmp_path / "none.json")).err
    (tmp_path / "other.json").write_text("{}")
    assert "does not hold results" in run("--from", str(tmp_path / "other.json")).err
    (tmp_path / "other.json").write_text("[]")
    assert "does not hold results" in run("--from", str(tmp_path / "other.json")).err
