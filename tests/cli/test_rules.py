"""`octavo rules`: what stands in a compression."""

from __future__ import annotations

import pytest

from tests.cli.kit import Run
from tests.cli.scripted import MODEL


@pytest.fixture
def ruled(run: Run) -> Run:
    said = [
        "Never push to main. Now at length 1",
        "Call me Max. Now at length 2",
        "at length 3",
        "/compress --keep 0",
    ]
    assert run("chat", "--model", MODEL, stdin="\n".join([*said, ""])).code == 0
    return run


def test_rules_are_shown_with_their_sources_and_dropped_by_number(ruled: Run) -> None:
    done = ruled("rules", "last")
    assert (done.code, done.err) == (0, "")
    assert done.lines == ["1  Never push to main.  message 1", "2  Call me Max.  message 3"]
    found = ruled("rules", "last", "--json").json
    nodes = {node["id"]: node for node in ruled("show", "last", "--json").json["nodes"]}
    assert all(one["text"] in str(nodes[one["source"]]["message"]) for one in found)
    assert ruled("rules", "last", "--drop", "1").lines == ["1  Call me Max.  message 3"]
    assert ruled("rules", "last").lines == ["1  Call me Max.  message 3"]
    done = ruled("rules", "last", "--drop", "2")
    assert (done.code, done.out) == (2, "")
    assert "there is no line 2: 1 lines stand" in done.err


def test_nothing_that_stands_is_said_and_is_an_exit_code(talked: Run) -> None:
    done = talked("rules", "last")
    assert (done.code, done.out, done.err) == (1, "nothing stands\n", "")
    assert talked("rules", "last", "--json").json == []


def test_without_a_compression_there_is_nothing_to_list(run: Run) -> None:
    assert run("chat", "--model", MODEL, stdin="hello\n").code == 0
    assert "nothing is compressed on this branch" in run("rules", "last").err
