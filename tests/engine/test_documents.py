"""The text of PDFs, and what is said of those that have none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from octavo.engine import documents, pdf_text
from octavo.engine.documents import LARGEST, is_pdf, read_document
from octavo.engine.pdf_text import BROKEN, LOCKED, MOST_MEMORY, MOST_PAGES, SCANNED, read_pdf
from octavo.errors import UsageError
from tests.engine.pdfs import pdf

pytestmark = pytest.mark.anyio


async def test_the_text_of_every_page_is_read_and_the_page_is_named() -> None:
    found = await read_document("report.pdf", pdf("The port is 8123.", "", "The end"))
    assert (found.name, found.pages, found.read) == ("report.pdf", 3, 3)
    assert found.text == "[page 1]\nThe port is 8123.\n\n[page 3]\nThe end"


async def test_one_that_is_locked_against_changes_only_is_read() -> None:
    assert "8123" in (await read_document("a.pdf", pdf("port 8123", password="x", opens=True))).text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (pdf("secret", password="x"), LOCKED),
        (pdf("", ""), SCANNED),
        (b"%PDF-1.7 and nothing more", BROKEN),
        (b"", BROKEN),
        (pdf("x")[:200], BROKEN),
    ],
)
async def test_what_cannot_be_read_says_so(content: bytes, problem: str) -> None:
    with pytest.raises(UsageError) as told:
        await read_document("report.pdf", content)
    assert str(told.value) == f"report.pdf {problem}"


async def test_a_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(UsageError, match="larger than"):
        await read_document("a.pdf", b"%PDF-" + bytes(LARGEST - 4))
    with pytest.raises(UsageError, match=BROKEN):
        await read_document("a.txt", bytes(LARGEST))


def test_a_book_is_read_up_to_a_page_and_says_so() -> None:
    found = read_pdf(pdf(*["x"] * (MOST_PAGES + 2)))
    assert (found["pages"], found["read"]) == (MOST_PAGES + 2, MOST_PAGES)
    assert str(found["text"]).endswith(f"[The first {MOST_PAGES} of {MOST_PAGES + 2} pages.]")


def test_a_pdf_is_told_by_how_it_begins() -> None:
    assert is_pdf(pdf("x"))
    assert not is_pdf(b"A text about %PD")
    assert is_pdf(b"x" * 1_019 + b"%PDF-"), "readers look for it in the first 1,024 bytes"
    assert not is_pdf(b"x" * 1_020 + b"%PDF-")


async def test_one_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "SECONDS", 0)
    with pytest.raises(UsageError, match=r"a\.pdf takes longer than 0 seconds to read"):
        await read_document("a.pdf", pdf("x"))


@pytest.mark.parametrize("last", ["printf '{\"text\"'; kill -9 $$", "exit 0", "printf '{}'; exit 3"])
async def test_one_that_nobody_can_read_to_the_end_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    """As if the process that reads it had been killed, with half of an answer printed or none at all."""
    reader = tmp_path / "reader"
    reader.write_text(f"#!/bin/sh\ncat > /dev/null\n{last}\n")
    reader.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(reader))
    with pytest.raises(UsageError, match="damaged, or too complex"):
        await read_document("a.pdf", pdf("x"))


@pytest.mark.parametrize(("most", "read"), [(8, 3), (7, 2), (4, 2), (3, 1)])
def test_a_book_is_read_until_there_is_more_text_than_is_taken(
    monkeypatch: pytest.MonkeyPatch, most: int, read: int
) -> None:
    monkeypatch.setattr(pdf_text, "MOST_TEXT", most)
    found = read_pdf(pdf("four", "five", "nine"))
    assert (found["pages"], found["read"]) == (3, read)
    assert str(found["text"]).startswith("[page 1]"[:most])


def test_a_file_without_pages_is_broken() -> None:
    assert read_pdf(pdf()) == {"problem": BROKEN}


def test_what_reads_has_a_limit_of_its_own() -> None:
    code = (
        "import resource; from octavo.engine.pdf_text import main; main(); "
        "print(resource.getrlimit(resource.RLIMIT_AS))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pdf("x"), capture_output=True, check=True)
    assert done.stdout.decode().strip().endswith(f"({MOST_MEMORY}, {MOST_MEMORY})")
