"""Extracts of real conversations, where the data lies next to the project."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from octavo.core.extract.choose import extract
from octavo.core.extract.render import parse, render
from octavo.core.messages import Branch, place
from octavo.core.receipt import Receipt, receipt
from octavo.core.wire import read
from tests.core.extract.samples import quarter
from tests.core.extract.test_extract import letters, said

DATA = Path(__file__).parents[3] / ".." / "shared" / "data"
FILES = ("locomo10", "longmemeval_merged", "agent_miniswe", "agent_tau_airline", "agent_pi_sessions")
FIELDS = ("role", "content", "tool_calls", "tool_call_id", "name")


def load(file: str) -> Branch:
    path = DATA / f"{file}.jsonl.gz"
    if not path.exists():
        pytest.skip("the shared data is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        messages = json.loads(next(iter(lines)))["messages"]
    return place(read("openai", [{key: m[key] for key in FIELDS if key in m} for m in messages]))


@pytest.mark.parametrize("file", FILES)
def test_a_tenth_of_a_real_conversation_fits_is_verbatim_and_reads_back(file: str) -> None:
    covered = load(file)
    budget = sum(quarter(said(node.message)) for node in covered) // 10
    extracts = extract(covered, budget=budget, measure=quarter)
    text = render(extracts)
    assert 0.95 * budget <= quarter(text) <= budget
    originals = {node.id: letters(said(node.message)) for node in covered}
    assert all(letters(one.text) in originals[one.source] for one in extracts)
    assert render(parse(text)) == text
    paper = receipt(covered, extracts=extracts)
    assert sum(tally.verbatim_count for tally in paper.tallies) > 0
    assert Receipt.from_json(paper.to_json()) == paper
