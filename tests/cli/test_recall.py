"""`octavo recall`: what a question would bring back."""

from __future__ import annotations

import re

from tests.cli.kit import Run
from tests.cli.scripted import MODEL


def test_what_a_question_would_recall_is_shown_with_its_source(talked: Run) -> None:
    done = talked("recall", "last", "Which PORTS has service1?")
    assert (done.code, done.err) == (0, "")
    head, text = done.lines[:2]
    assert re.fullmatch(r"[0-9a-f]{8}  (user|assistant)  \d{4}-\d\d-\d\d", head)
    assert any(line.startswith("  The port of service1 is 8001.") for line in done.lines), text
    found = talked("recall", "Ports", "which", "ports", "has", "service1", "--json").json
    (first,) = [passage for passage in found if "service1 " in passage["text"]]
    assert (first["channel"], first["depth"], first["opens"]) == ("assistant", 2, True)
    nodes = {node["id"]: node for node in talked("show", "last", "--json").json["nodes"]}
    for passage in found:
        assert passage["text"] in str(nodes[passage["source"]]["message"])
    assert len(nodes) == 6


def test_nothing_found_is_said_and_is_an_exit_code(talked: Run) -> None:
    for words in ("zeppelin", "thanks!"):
        done = talked("recall", "last", words)
        assert (done.code, done.out, done.err) == (1, "nothing was found\n", "")
    done = talked("recall", "last", "zeppelin", "--json")
    assert (done.code, done.json) == (1, [])


def test_errors_say_what_to_do(run: Run) -> None:
    assert run("chat", "--model", MODEL, stdin="hello\n").code == 0
    done = run("recall", "last", "hello")
    assert (done.code, done.out) == (2, "")
    assert "nothing is compressed on this branch" in done.err
    assert "octavo search WORDS --conversation" in done.err
    assert "see: octavo conversations" in run("recall", "nowhere", "hello").err
    assert run("recall", "last").code == 2


def test_the_help_has_examples(run: Run) -> None:
    assert "octavo recall last" in run("recall", "--help").out
