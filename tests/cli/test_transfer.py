"""`import`, `export`, `delete`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.kit import Run, octavo
from tests.cli.scripted import MODEL


def test_an_export_read_elsewhere_is_the_same_export(talked: Run, tmp_path: Path) -> None:
    text = talked("export", "last").out
    other = str(tmp_path / "other.db")
    done = talked("import", "-", "--db", other, stdin=text)
    assert done.code == 0
    assert "Ports" in done.out
    assert talked("export", "--all", "--db", other).out == text
    assert talked("show", "last", "--db", other).out == talked("show", "last").out


def test_a_copy_gets_new_ids(talked: Run) -> None:
    text = talked("export", "last").out
    same = talked("import", stdin=text)
    assert (same.code, same.err.count("\n")) == (2, 1)
    assert talked("import", "--copy", "--title", "Again", stdin=text).code == 0
    assert {one["title"] for one in talked("conversations", "--json").json} == {"Ports", "Again"}


def test_exports_for_other_programs_hold_every_message(talked: Run, tmp_path: Path) -> None:
    openai = talked("export", "last", "--format", "openai").json
    assert [message["role"] for message in openai] == ["user", "assistant"] * 3
    assert openai[0]["content"] == "at length 1"
    assert len(talked("export", "last", "--format", "anthropic").json["messages"]) == 6
    assert len(talked("export", "last", "--format", "gemini").json["contents"]) == 6
    out = tmp_path / "chat.md"
    assert talked("export", "last", "--format", "markdown", "--out", str(out)).out == ""
    assert out.read_text().startswith(
        "# Ports\n\n## User\n\nat length 1\n\n## Assistant\n\nThe port of service1"
    )


def test_what_is_exported_can_be_counted_and_compressed(talked: Run) -> None:
    text = talked("export", "last", "--format", "openai").out
    assert talked("count", "--json", stdin=text).json["messages"] == 6
    assert talked("compress", "--budget", "600", stdin=text).code == 0


def test_message_lists_are_imported(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(
        json.dumps([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}])
    )
    (made,) = run("import", str(path), "--title", "Old tool", "--json").json
    assert (made["title"], made["messages"]) == ("Old tool", 2)


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["import"], "{]"),
        (["import"], ""),
        (["import", "--format", "nope"], "[]"),
        (["import", "no-such-file.json"], ""),
        (["export"], ""),
        (["export", "nothing"], ""),
        (["export", "--all", "--format", "nope"], ""),
        (["delete", "nothing"], ""),
        (["delete", "last"], ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_one_line_and_change_nothing(talked: Run, arguments: list[str], stdin: str) -> None:
    done = talked(*arguments, stdin=stdin)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert len(talked("conversations", "--json").json) == 1


def test_a_session_of_wave_comes_in_as_a_snapshot_and_goes_out_as_it_was(run: Run, tmp_path: Path) -> None:
    session = [
        {"role": "assistant", "blocks": [{"type": "compress", "content": "They chose port 8443."}]},
        {"role": "user", "blocks": [{"type": "text", "content": "Why not 8080?"}]},
        {"role": "assistant", "blocks": [{"type": "text", "content": "It is taken."}]},
    ]
    path = tmp_path / "session.json"
    path.write_text(json.dumps(session))
    assert run("import", str(path), "--title", "Ports").code == 0
    assert run("export", "last", "--format", "wave").json == session
    asked = run("chat", "-c", "last", "--model", MODEL, stdin="/context full\n").out
    assert "They chose port 8443." in asked
    assert run("check").code == 0


def test_a_compressed_conversation_goes_out_with_a_block_and_comes_back(talked: Run, tmp_path: Path) -> None:
    first, *rest = talked("export", "last", "--format", "wave").json
    assert first["blocks"][0]["type"] == "compress"
    assert "8001" in first["blocks"][0]["content"]
    assert len(rest) == 2
    path, other = tmp_path / "session.json", str(tmp_path / "other.db")
    path.write_text(json.dumps([first, *rest]))
    assert talked("import", str(path), "--format", "wave", "--db", other).code == 0
    assert talked("export", "last", "--format", "wave", "--db", other).json == [first, *rest]


def test_a_mistake_in_a_file_names_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('[{"role": "user", "content": "hello"},\n {"role": "nobody", "content": "hi"}]')
    done = run("import", str(path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(f"octavo: {path}: line 1: messages[1].role: unknown role 'nobody'")
    assert run("import", stdin="{broken").err.startswith("octavo: standard input: line 1: not JSON")


def test_a_deleted_conversation_is_gone(talked: Run) -> None:
    done = talked("delete", "last", "--yes")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("Ports\n")
    assert talked("conversations", "--json").json == []
    assert talked("search", "service1", "--json").json == []


def test_a_deletion_as_json_names_what_is_gone(talked: Run) -> None:
    (known,) = talked("conversations", "--json").json
    assert talked("delete", "last", "--yes", "--json").json == {"deleted": [known["id"]]}


def test_what_is_imported_is_counted_already(tmp_path: Path, environment: dict[str, str]) -> None:
    """The first look at a long conversation need not do it."""
    source = tmp_path / "chat.json"
    source.write_text(json.dumps([{"role": "user", "content": f"Ship {n}"} for n in range(300)]))
    assert octavo("import", str(source), environment={**environment, "OCTAVO_MODEL": "gpt-4o"}).code == 0
    with closing(sqlite3.connect(environment["OCTAVO_DB"])) as database:
        assert database.execute("SELECT count(*) FROM message_token").fetchone() == (300,)
