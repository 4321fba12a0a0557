"""What a summary names has to occur in its source."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.ask.source_check import said, source_text, unfounded
from octavo.core.messages import Message, Text, ToolCall, ToolResult, user

SOURCE = source_text(
    [
        "The worker in /srv/billing/worker.py takes 1,234.50 EUR, 16 GB and 31,000,000 rows; limit 5%.",
        "See https://example.org/a?b=1 and run_migration() in BillingSync on 2024-03-10 at 14:05, version 2.4.1.",
        "advisory lock 7741, PR #482, commit 3fa9c1d2e5b7, KeyError: 'tax_id'; ١٢٣٤٥ and 第128行",
    ]
)
DATA = Path(__file__).parents[3] / ".." / "shared" / "data" / "agent_pi_sessions.jsonl.gz"


@pytest.mark.parametrize(
    "line",
    [
        "- The worker takes 1234.5 EUR.",
        "- 1.234,50 EUR (16GB) for 31 million rows, 31 000 000 in all, see worker.py",
        "12. On 10.03.2024 at 14:05, i.e. on March 10th, 2024, version 2.4.1 came.",
        "* `run_migration()` in `billingsync`, commit 3fa9c1d, PR #482",
        "3) There were 2 options and 4 people, e.g. two.",
        "<key_knowledge>lock 7741</key_knowledge>",
        "| advisory | 7741 |",
        "第128行, ١٢٣٤٥ and 12345",
        "They talked about the limit of 5% and/or the worker/lock.",
        "https://example.org/a?b=1, ./srv/billing/",
    ],
)
def test_notation_is_forgiven(line: str) -> None:
    assert unfounded(line, SOURCE) == ()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("- The lock is 7742.", ("7742",)),
        ("- It takes 1,234.51 EUR.", ("1,234.51",)),
        ("- Limit 6%.", ("6",)),
        ("- Costs $8.", ("8",)),
        ("- Edited /srv/billing/other.py.", ("/srv/billing/other.py",)),
        ("- See https://example.com/a.", ("https://example.com/a",)),
        ("- Raised in drop_tables and TaxService.", ("drop_tables", "TaxService")),
        ("- ValueError came up.", ("ValueError",)),
        ("- Run `terraform apply` and `worker`.", ("terraform", "apply")),
        ("- Version 2.4.2 on 2023-03-10.", ("2.4.2", "2023")),
        ("- commit 9fa9c1d", ("9fa9c1d",)),
        ("第129行", ("129",)),
        ("- 12 people", ("12",)),
        ("- foo/bar", ("foo/bar",)),
    ],
)
def test_what_nobody_named_is_found(line: str, names: tuple[str, ...]) -> None:
    assert sorted(unfounded(line, SOURCE)) == sorted(names)


def test_a_digit_is_looked_at_beside_a_sign_or_a_unit_only() -> None:
    source = source_text(["It costs $8 for all."])
    assert unfounded("$9 each", source) == ("9",)
    assert unfounded("9% more", source) == ("9",)
    assert unfounded("9 people", source) == ()


def test_all_that_messages_say_is_a_source_whole_and_without_json_escapes() -> None:
    call = ToolCall(
        id="1", name="write_file", input='{"path": "C:\\\\temp\\\\a.txt", "n": [{"deep": "x_y"}, 7]}'
    )
    broken = ToolCall(id="2", name="run_it", input="{not json some_arg")
    long = "z " * 5_000 + "secret_9481"
    messages = [
        Message(role="assistant", name="Priya", parts=(Text(text="on it"), call, broken)),
        Message(role="tool", parts=(ToolResult(call_id="1", content=(Text(text=long),)),)),
        user("fine"),
    ]
    source = source_text(said(messages))
    line = "Priya: `C:\\temp\\a.txt`, x_y, some_arg, write_file, run_it, secret_9481"
    assert unfounded(line, source) == ()


@given(st.integers(10, 10**9), st.sampled_from(["{}", "{:,}", "{:_}", "€{}", "{} GB", "{}.", "({})"]))
def test_a_number_is_found_in_any_notation_and_its_neighbour_is_not(number: int, notation: str) -> None:
    """Planted and found: groups of thousands not read as one number; a neighbour added to what the source names."""
    source = source_text([f"it was {number:,} then"])
    assert unfounded("- " + notation.format(number), source) == ()
    assert unfounded("- " + notation.format(number + 1), source) != ()


def read(message: dict[str, Any]) -> Message:
    calls = tuple(
        ToolCall(id=call["id"], name=call["function"]["name"], input=call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    text = (Text(text=message["content"]),) if message.get("content") else ()
    if message["role"] == "tool":
        return Message(role="tool", parts=(ToolResult(call_id=message["tool_call_id"], content=text),))
    return Message(role=message["role"], parts=(*text, *calls))


def test_real_summaries_pass_and_their_forgeries_do_not() -> None:
    """Two summaries by a large model of a coding session: hardly a line is doubted; with other numbers, nearly all."""
    if not DATA.exists():
        pytest.skip("the shared data is not here")
    with gzip.open(DATA, "rt") as lines:
        sessions = [json.loads(line) for line in lines]
    honest = forged = doubted = caught = 0
    for session in sessions:
        for compaction in session.get("llm_compactions", ()):
            source = source_text(said(map(read, session["messages"][: compaction["at_message"]])))
            for line in compaction["summary"].split("\n"):
                honest += 1
                doubted += bool(unfounded(line, source))
                if re.search(r"\w/\w+\.\w|\d{3}", line):
                    forged += 1
                    lie = re.sub(r"\w(?=\.\w+\b)|\d(?=\d\d)", "97531", line)
                    caught += bool(unfounded(lie, source))
    assert (honest, forged) > (100, 10)
    assert doubted <= honest * 0.02
    assert caught >= forged * 0.9
