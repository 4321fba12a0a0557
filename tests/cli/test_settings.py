"""`settings` and `keys`."""

from __future__ import annotations

import pytest

from tests.cli.kit import Run


def test_the_nearest_setting_holds(talked: Run) -> None:
    """Case 82: settings persist, and a conversation's own come before the global ones."""
    assert talked("settings", "set", "soft", "0.7").code == 0
    assert talked("settings", "set", "soft", "0.75", "--conversation", "last").code == 0
    assert talked("settings", "set", "soft", "0.72", "--model", "gpt-4o").code == 0
    assert talked("settings", "get", "soft").out == "0.7\n"
    assert talked("settings", "set", "prepare", "1").code == 0
    assert talked("settings", "get", "prepare", "--json").json == 1
    assert talked("settings", "set", "prepare", "1.1").code == 2
    assert talked("settings", "get", "soft", "--conversation", "last").out == "0.75\n"
    assert talked("settings", "get", "soft", "--model", "gpt-4o", "--json").json == 0.72
    assert talked("settings", "unset", "soft", "--conversation", "last").code == 0
    assert talked("settings", "get", "soft", "--conversation", "last").out == "0.7\n"


def test_values_are_read_as_their_setting_wants_them(run: Run) -> None:
    for name, text, value in (
        ("auto", "off", False),
        ("retained", "2000", 2000),
        ("retained", "0.3", 0.3),
        ("minimum", "500", 500),
        ("system", "Be brief.", "Be brief."),
        ("model", "gpt-4o", "gpt-4o"),
    ):
        assert run("settings", "set", name, text).code == 0
        assert run("settings", "get", name, "--json").json == value
    listed = run("settings", "list", "--json").json
    assert (listed["auto"], listed["model"]) == (False, "gpt-4o")


def test_what_is_not_set_is_shown_as_it_is_built_in(run: Run) -> None:
    listed = run("settings", "list").lines
    assert any(row.split()[:5] == ["soft", "0.8", "(built", "in)", "Share"] for row in listed)
    done = run("settings", "get", "soft")
    assert (done.code, done.out) == (1, "")
    assert "not set" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["set", "nope", "1"],
        ["set", "soft", "7"],
        ["set", "soft", "much"],
        ["set", "auto", "maybe"],
        ["set", "policy", "nope"],
        ["get", "nope"],
        ["unset", "soft"],
        ["set", "soft", "0.7", "--model", "x", "--conversation", "last"],
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_refused(talked: Run, arguments: list[str]) -> None:
    """Case 12 at the command line."""
    before = talked("settings", "list").out
    done = talked("settings", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert talked("settings", "list").out == before


def test_a_key_is_shown_once_listed_and_revoked(run: Run) -> None:
    made = run("keys", "create", "laptop", "--owner", "ann", "--scope", "read", "--json").json
    assert made["secret"].startswith("octavo_")
    assert (made["owner"], made["scopes"]) == ("ann", ["read"])
    (listed,) = run("keys", "list", "--json").json
    assert "secret" not in listed
    assert made["secret"] not in run("keys", "list").out
    assert run("keys", "revoke", "laptop").code == 0
    assert run("keys", "list", "--json").json[0]["revoked"] is True
    assert run("keys", "revoke", "nobody").code == 2


def test_a_key_that_was_only_named_may_read_and_write(run: Run) -> None:
    assert run("keys", "create", "laptop", "--json").json["scopes"] == ["read", "write"]
    assert "read, write" in run("keys", "list").out


@pytest.mark.parametrize("arguments", [("",), ("  ",), ("laptop", "--scope", "wirte")])
def test_a_key_without_a_name_or_with_an_unknown_right_is_refused(
    run: Run, arguments: tuple[str, ...]
) -> None:
    done = run("keys", "create", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert run("keys", "list").out == "no keys\n"


def test_the_secret_alone_is_on_standard_output(run: Run) -> None:
    done = run("keys", "create", "ci")
    assert len(done.lines) == 1
    assert done.out.startswith("octavo_")
    assert "keep it" in done.err
    assert run("keys", "list").out.count("\n") == 2
