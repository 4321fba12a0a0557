"""Questions with files: `octavo ask`, `@file` and `!command` in the chat, and going on where one was."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.cli.terminal.attached import offer_files
from octavo.core.messages import Attachment
from tests.cli.kit import Run
from tests.cli.scripted import MODEL, Parrot
from tests.engine.pdfs import pdf


def attached(parrot: Parrot) -> list[tuple[str, int]]:
    return [
        (part.name, part.size)
        for part in parrot.requests[-1].messages[-1].parts
        if isinstance(part, Attachment)
    ]


def test_one_question_is_asked_with_files_and_with_what_is_piped_in(run: Run, tmp_path: Path) -> None:
    notes, parrot = tmp_path / "notes.txt", Parrot()
    notes.write_text("The port is 8123.")
    done = run("ask", "Which port?", str(notes), "--model", MODEL, stdin="piped words", parrot=parrot)
    assert done.code == 0, done.err
    assert done.out.startswith("You said")
    assert attached(parrot) == [("notes.txt", 17), ("standard input", 11)]
    assert run("conversations", "--json").json[0]["title"] == "Which port?"
    failed = run("ask", "fail now", "--model", MODEL)
    assert failed.code == 1
    assert "the parrot is asleep" in failed.err
    missing = run("ask", "Which port?", str(tmp_path / "gone.txt"), "--model", MODEL)
    assert missing.code == 2
    assert "cannot be read" in missing.err


def test_a_file_that_is_named_goes_with_the_message_and_other_words_do_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("The port is 8123.")
    (tmp_path / "picture.bin").write_bytes(b"\xff\xfe\x00")
    parrot = Parrot()
    done = run("chat", "--model", MODEL, stdin="Read @notes.txt for @ann\n", parrot=parrot)
    assert "attached notes.txt, 17 bytes" in done.out
    assert attached(parrot) == [("notes.txt", 17)]
    assert "@ann" in parrot.requests[-1].messages[-1].text
    refused = run("chat", "--model", MODEL, stdin="Read @picture.bin\n")
    assert "is no text file" in refused.err
    assert dict(offer_files("no")) == {"notes.txt": "17 bytes"}


def test_what_a_command_printed_goes_with_the_next_message_only(run: Run) -> None:
    parrot = Parrot()
    done = run("chat", "--model", MODEL, stdin="!echo 42 bananas\nHow many?\nAnd now?\n", parrot=parrot)
    assert "42 bananas" in done.out
    assert "its output (1 line) goes with your next message" in done.out
    first, second = parrot.requests[0].messages[-1], parrot.requests[1].messages[-1]
    assert [part.name for part in first.parts if isinstance(part, Attachment)] == ["$ echo 42 bananas"]
    assert not [part for part in second.parts if isinstance(part, Attachment)]


def test_the_last_conversation_is_gone_on_with(run: Run) -> None:
    run("chat", "--model", MODEL, stdin="First\n")
    run("chat", "--model", MODEL, stdin="Second\n")
    done = run("chat", "--resume", stdin="And on\n")
    assert done.code == 0, done.err
    listed = run("conversations", "--json").json
    assert [(one["title"], one["messages"]) for one in listed] == [("Second", 4), ("First", 2)]
    assert "did you mean /context?" in run("chat", "--model", MODEL, stdin="/contxt\n").err


def test_a_pdf_goes_as_its_text(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.pdf").write_bytes(pdf("The port is 8123."))
    (tmp_path / "locked.pdf").write_bytes(pdf("secret", password="x"))
    parrot = Parrot()
    done = run("chat", "--model", MODEL, stdin="Read @report.pdf\n", parrot=parrot)
    assert (done.code, done.err) == (0, "")
    assert attached(parrot) == [("report.pdf", len("[page 1]\nThe port is 8123."))]
    assert run("ask", "What?", "report.pdf", "--model", MODEL, parrot=parrot).code == 0
    refused = run("ask", "What?", "locked.pdf", "--model", MODEL)
    assert refused.code == 2
    assert "locked.pdf is protected with a password" in refused.err
