"""`backup`, `check`, `doctor`, `serve`."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests.cli.kit import Run


def test_a_backup_is_a_database_of_its_own(talked: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert talked("backup", str(copy)).code == 0
    assert talked("export", "last", "--db", str(copy)).out == talked("export", "last").out
    again = talked("backup", str(copy))
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert talked("backup", str(copy), "--overwrite", "--json").json["bytes"] == copy.stat().st_size


@pytest.mark.parametrize("name", ["octavo.db", "link.db", "hard.db", "octavo.db-wal"])
def test_no_command_writes_over_the_database_it_reads(
    talked: Run, database: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "link.db").symlink_to(database)
    os.link(database, tmp_path / "hard.db")
    before, (found,) = database.read_bytes(), talked("conversations", "--json").json
    history = tmp_path / "history.json"
    history.write_text(talked("export", "last", "--format", "openai").out)
    target = str(tmp_path / name)
    for command in (
        ["backup", target, "--overwrite"],
        ["backup", target, "--overwrite", "--db", str(tmp_path / "link.db")],
        ["export", "last", "--out", target],
        ["export", "--all", "--format", "markdown", "--out", target],
        ["compress", str(history), "--out", target],
    ):
        done = talked(*command)
        assert (done.code, done.out) == (2, ""), command
        assert "database" in done.err
        assert done.err.count("\n") == 1
    assert database.read_bytes() == before
    assert talked("conversations", "--json").json == [found]
    assert talked("check").code == 0


def test_a_database_that_is_only_read_can_be_looked_at(talked: Run, database: Path, tmp_path: Path) -> None:
    only = ["--db", f"sqlite:///{database}?mode=ro"]
    before = database.read_bytes()
    for command in (
        ["conversations", "--json"],
        ["show", "last"],
        ["search", "service1", "--json"],
        ["stats", "--json"],
        ["export", "last"],
        ["export", "--all", "--format", "markdown"],
    ):
        done = talked(*command, *only)
        assert (done.code, done.out) == (0, talked(*command).out), command
    assert talked("check", *only).out.endswith("everything adds up\n")
    assert "for reading only" in talked("doctor", *only).out
    assert "for reading only" not in talked("doctor").out
    assert talked("backup", str(tmp_path / "copy.db"), *only).code == 0
    assert talked("check", "--db", str(tmp_path / "copy.db")).code == 0
    history = tmp_path / "history.json"
    history.write_text('[{"role": "user", "content": "hi"}]')
    for command in (["import", str(history)], ["delete", "last", "--yes"]):
        done = talked(*command, *only)
        assert (done.code, done.out) == (1, "")
        assert "opened for reading only" in done.err
        assert done.err.count("\n") == 1
    assert database.read_bytes() == before


def test_a_sound_database_passes(talked: Run) -> None:
    done = talked("check")
    assert done.code == 0
    assert done.out.endswith("everything adds up\n")
    assert talked("check", "--json").json["problems"] == []


def test_what_does_not_add_up_is_told_and_fails(talked: Run, database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE message SET depth = 99 WHERE depth = 3")
    connection.close()
    done = talked("check")
    assert done.code == 1
    assert "depth" in done.out
    assert talked("check", "--json").json["problems"]


def test_the_doctor_tells_what_is_set_up(run: Run, environment: dict[str, str]) -> None:
    done = run("doctor")
    assert done.code == 0
    found = {one["topic"]: one for one in run("doctor", "--json").json}
    assert "schema" in found["database"]["detail"]
    assert found["OpenAI"]["remedy"].startswith("set OPENAI_API_KEY")
    assert found["tokenizers"]["state"] == "ok"
    assert found["data"]["detail"] == environment["OCTAVO_DATA"]
    assert found["models"]["remedy"] == "octavo local install"


def test_the_doctor_fails_when_the_database_does(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"not a database at all" * 200)
    done = run("doctor", "--db", str(tmp_path / "bad.db"))
    assert done.code == 1
    assert "! database" in done.out.replace("!  ", "! ")


def test_the_doctor_asks_providers_that_are_set_up(run: Run, environment: dict[str, str]) -> None:
    environment["OPENAI_API_KEY"] = "sk-secret"
    found = {one["topic"]: one for one in run("doctor", "--ask", "--json").json}
    assert "gpt-4o answered 'You said 19 characters: Say the word: ready'" in found["OpenAI"]["detail"]
    assert "sk-secret" not in str(found)


def test_a_server_is_not_opened_to_others_without_a_key(run: Run) -> None:
    done = run("serve", "--host", "0.0.0.0")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "octavo keys create" in done.err
