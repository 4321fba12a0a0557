"""What a process is told by its environment."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from octavo.errors import UsageError
from octavo.settings import make_folder, read_settings


def test_the_database_is_in_the_data_folder_unless_another_is_named(tmp_path: Path) -> None:
    usual = read_settings({"OCTAVO_DATA": str(tmp_path)})
    assert (usual.database, usual.chosen, usual.model) == (str(tmp_path / "octavo.db"), False, "")
    assert usual.history.parent == tmp_path
    named = read_settings(
        {"OCTAVO_DATA": str(tmp_path), "OCTAVO_DB": "postgresql://x/y", "OCTAVO_MODEL": "gpt-4o"}
    )
    assert (named.database, named.chosen, named.model) == ("postgresql://x/y", True, "gpt-4o")


def test_the_data_folder_is_where_the_platform_keeps_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert read_settings({"XDG_DATA_HOME": str(tmp_path)}).data == tmp_path / "octavo"
    monkeypatch.setattr("sys.platform", "darwin")
    assert read_settings({}).data == Path.home() / "Library" / "Application Support" / "octavo"
    monkeypatch.setattr("sys.platform", "win32")
    assert read_settings({"LOCALAPPDATA": str(tmp_path)}).data == tmp_path / "octavo"


def test_a_url_with_a_password_can_be_in_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("postgresql://me:secret@db/octavo\n")
    assert read_settings({"OCTAVO_DB_FILE": str(secret)}).database == "postgresql://me:secret@db/octavo"
    with pytest.raises(UsageError, match=r"OCTAVO_DB_FILE names .* which cannot be read"):
        read_settings({"OCTAVO_DB_FILE": str(tmp_path / "none")})


def test_a_folder_that_is_made_is_the_users_alone(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="set OCTAVO_DATA to one that can"):
        make_folder(tmp_path / "file" / "b")
