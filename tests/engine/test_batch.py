"""One line of a large file: what comes out of it, and why nothing does."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from octavo.core.receipt import Receipt
from octavo.engine.batch import acompress_line, compress_line

TALK: list[dict[str, Any]] = [
    {"role": ("user", "assistant")[n % 2], "content": f"Note {n}: port {8000 + n}. {'And so on. ' * 20}"}
    for n in range(20)
]


def test_a_line_that_fits_comes_back_and_has_no_receipt() -> None:
    line = compress_line(json.dumps(TALK), model="gpt-4o")
    assert json.loads(line.text) == TALK
    assert (line.messages, line.covered, line.receipt, line.summary, line.error) == (20, 0, "", "", "")
    assert line.before == line.after > 0


def test_a_line_that_does_not_fit_is_compressed_in_its_own_shape() -> None:
    held = {"id": "talk-7", "messages": TALK, "mood": "good"}
    line = compress_line(json.dumps(held).encode(), model="gpt-4o", ratio=0.5)
    assert (line.error, line.messages) == ("", 20)
    assert "\n" not in line.text
    written = json.loads(line.text)
    assert (written["id"], written["mood"]) == ("talk-7", "good")
    assert 0 < len(written["messages"]) < 20
    assert 0 < line.covered < 20
    assert line.after <= 0.5 * line.before
    assert Receipt.from_json(line.receipt).tokens_after == line.after
    assert asyncio.run(acompress_line(json.dumps(held), model="gpt-4o", ratio=0.5)) == line


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no JSON", "not JSON"),
        ("3", "messages"),
        ('[{"role": "user"', "JSON"),
        (b"\xff\xfe", "UTF-8"),
        ('[{"role": "nobody", "content": "hi"}]', "nobody"),
    ],
)
def test_a_line_that_is_no_conversation_says_so_and_takes_nothing_else_down(
    line: str | bytes, why: str
) -> None:
    for made in (compress_line(line), asyncio.run(acompress_line(line))):
        assert why in made.error
        assert (made.text, made.before, made.messages) == ("", 0, 0)


def test_a_line_of_which_nothing_would_be_left_says_so() -> None:
    made = compress_line(json.dumps(TALK), model="gpt-4o", budget=3)
    assert made.text == ""
    assert made.error
