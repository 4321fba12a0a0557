"""Conversations from records: questions, cuts, trees; and a reference to agree with."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from octavo.errors import BadInput, UsageError
from octavo.evals.compressors import CompressorFactory, make_all, meter_of
from octavo.evals.run import EvaluationPlan, run, summaries
from octavo.evals.sources import cut_cases, read_messages, read_set, read_sets
from octavo.testing import messages

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
METER = meter_of("chars4")
COUNT = METER.count_message

QUESTIONS = {
    "id": "talk",
    "speakers": ["Anna"],
    "messages": [
        {"role": "user", "content": "Anna: The kitchen is blue.", "mid": "D1"},
        {"role": "assistant", "content": "Nice.", "mid": "D2", "x_usage": {"prompt_tokens": 9}},
    ],
    "qa": [{"q": "Which colour has the kitchen?", "a": "blue", "evidence": ["D1"], "cat": 4}],
}
TREE = {
    "tree_id": "oak",
    "messages": [
        {"id": "1", "parent_id": None, "role": "user", "content": "Why trees?"},
        {"id": "2", "parent_id": "1", "role": "assistant", "content": "For shade."},
        {"id": "3", "parent_id": "1", "role": "assistant", "content": "For wood."},
    ],
}


def write(path: Path, *records: Any) -> Path:
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_a_record_with_questions_is_one_case(tmp_path: Path) -> None:
    (case,) = read_set(write(tmp_path / "talks.jsonl.gz", QUESTIONS), COUNT)
    assert (case.set, case.name, case.speakers, len(case.messages)) == ("talks", "talk", ("Anna",), 2)
    (question,) = case.questions
    assert (question.answer, question.evidence, question.kind) == ("blue", (0,), "4")


def test_a_tree_is_a_case_for_every_leaf_with_the_words_of_the_others(tmp_path: Path) -> None:
    shade, wood = read_set(write(tmp_path / "trees.jsonl", TREE), COUNT)
    assert [message.text for message in shade.messages] == ["Why trees?", "For shade."]
    assert shade.elsewhere == {"wood"}
    assert wood.elsewhere == {"shad"}
    assert shade.group == wood.group == "oak"


def test_a_run_is_cut_where_the_assistant_goes_on() -> None:
    names = " ".join(f"name_{n}" for n in range(6))
    said = messages("u: " + names, "a: ok", "u: go " + "on " * 30, "a: " + names, "u: so", "a: yes")
    cases = list(cut_cases(said, "files", "run", COUNT))
    assert [(case.name, len(case.messages)) for case in cases] == [("run at 40%", 3)]
    assert cases[0].future == said[3:]
    assert len(list(cut_cases(said, "files", "run", COUNT, once=False))) == 2


def test_a_chat_that_tells_nothing_later_is_taken_whole() -> None:
    said = messages("u: hello", "a: hi", "u: how are you", "a: fine")
    (case,) = cut_cases(said, "files", "chat", COUNT)
    assert (case.messages, case.future) == (said, ())


def test_any_format_is_read() -> None:
    assert read_messages([{"role": "user", "parts": [{"text": "hi"}]}])[0].text == "hi"
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}
    assert read_messages([call])[0].calls[0].name == "f"


def test_files_without_conversations_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "counts.jsonl", {"text": "no messages"})
    write(tmp_path / "talks.jsonl", QUESTIONS)
    assert [case.set for case in read_sets(tmp_path, COUNT)] == ["talks"]


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files that end in"):
        list(read_sets(tmp_path, COUNT))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{oops\n", "line 1: not JSON"),
        (b"[1]\n", "expected a record"),
        (json.dumps({**QUESTIONS, "qa": [{"q": "?"}]}).encode(), "not a record of a set"),
    ],
)
def test_a_broken_set_is_refused_with_its_line(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=why):
        list(read_set(path, COUNT))


def test_a_set_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(b"{}\n" * 100)[:-9])
    for path in (torn, tmp_path / "gone.jsonl"):
        with pytest.raises(UsageError, match="cannot read"):
            list(read_set(path, COUNT))


REFERENCE = {
    "newest": (9.5, 0.0),
    "truncate": (15.4, 7.7),
    "head+tail": (16.1, 10.3),
    "mask": (11.0, 5.5),
}
"""Grounded and deep recall that an independent yardstick measures for these baselines at 10 %."""


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_reference_is_reproduced_within_a_point() -> None:
    path = DATA / "agent_tau_airline.jsonl.gz"
    if not path.exists():
        pytest.skip("the public sets are not here")
    plan = EvaluationPlan(
        cases=tuple(read_set(path, COUNT)),
        compressors=make_all(CompressorFactory(meter=METER), list(REFERENCE)),
        budgets=(0.1,),
        count=COUNT,
    )
    for found in summaries(await run(plan, lambda *_: None)):
        grounded, deep = found.found["grounded"], found.found["deep"]
        assert grounded is not None
        assert deep is not None
        expected = REFERENCE[found.compressor]
        assert (100 * grounded.mean, 100 * deep.mean) == pytest.approx(expected, abs=1.0), found.compressor
