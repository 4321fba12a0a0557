"""Totals that are kept: what they spare, and that nothing depends on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.extract import totals as module
from octavo.core.extract.choose import extract
from octavo.core.extract.totals import CountedSources, Totals, advance
from octavo.core.extract.units import analyse_all
from octavo.core.messages import Branch, Message, Node, Text, ToolCall, ToolResult, assistant, place, user
from octavo.core.receipt import Receipt, receipt
from octavo.core.snapshot import Extracts
from octavo.testing import talk
from tests.core.extract.samples import quarter

PLACES = ("harbour", "mill", "orchard", "quarry", "lighthouse")
LINES = (
    "I like the {place} near house {n}.",
    "Ada: I saw the {place} on day {n}.",
    "Bob: Was the {place} open in week {n}?",
    "[1{n} March 2024] We went to the {place}.",
    "Always paint the {place} blue.",
    "From now on paint the {place} green instead.",
    "Port: 80{n}",
    "We decided to sell the {place} for {n}00 euros.",
    "What about the {place}?",
    "Thanks, that is fine.",
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Write messages that settle, change and ask something, between tools or without any."""
    said: list[Message] = []
    kinds = st.sampled_from(("user", "assistant") * draw(st.integers(1, 6)) + ("call",))
    for number in range(draw(st.integers(6, 26))):
        line = draw(st.sampled_from(LINES)).format(
            place=draw(st.sampled_from(PLACES)), n=draw(st.integers(1, 5))
        )
        match draw(kinds):
            case "call":
                path = f"src/{draw(st.sampled_from(PLACES))}.py"
                call = ToolCall(id=f"c{number}", name="read", input=f'{{"path": "{path}"}}')
                said.append(Message(role="assistant", parts=(Text(text=line), call)))
                output = f"{path}: {line}\nport = {draw(st.integers(1, 3))}\nERROR in find_{number % 3}"
                result = ToolResult(call_id=call.id, content=(Text(text=output),))
                said.append(Message(role="tool", parts=(result,)))
            case role:
                said.append(user(line) if role == "user" else assistant(line))
    return tuple(said)


@pytest.fixture(params=(0, module.LOOKED_AT_WHOLE), autouse=True, scope="module")
def small_blocks(request: pytest.FixtureRequest) -> object:
    """Count every few messages; look at all units of old blocks, or at the best ones only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 3)
        patch.setattr(module, "NEAR", 3)
        patch.setattr("octavo.core.extract.sources.NEAR", 3)
        patch.setattr(module, "LEAST_OF_BLOCK", 60)
        patch.setattr(module, "SPARE", 1)
        patch.setattr(module, "LOOKED_AT_WHOLE", request.param)
        yield


def made(covered: Branch, retained: Branch, known: str, totals: Totals | None) -> tuple[Extracts, Receipt]:
    chosen = extract(covered, budget=90, measure=quarter, retained=retained, known=known, totals=totals)
    return chosen, receipt(covered, extracts=chosen, narrative=known, totals=totals)


def kept(covered: Sequence[Node], retained: Sequence[Node], earlier: Totals | None = None) -> Totals:
    return advance(earlier, covered, retained, analyse_all((*covered, *retained)))


@settings(deadline=None, max_examples=150)
@given(histories(), histories(), st.data())
def test_totals_that_were_kept_never_change_a_result(
    said: tuple[Message, ...], other: tuple[Message, ...], data: st.DataObject
) -> None:
    """A conversation goes on, forks, and has a message edited or deleted, while totals are kept.

    Seen failing when a name that turned out to be one did not start everything anew.
    """
    branch = place(said)
    cut = data.draw(st.integers(1, len(branch)))
    first = kept(branch[:cut], branch[cut:])
    again = data.draw(st.integers(cut, len(branch)))
    second = kept(branch[:again], branch[again:], first)
    at = data.draw(st.integers(0, len(branch) - 1))
    edited = replace(branch[at], message=data.draw(st.sampled_from((user(""), user("Ada: Port: 81")))))
    fork = (*branch[:cut], *place((*said[:cut], *other))[cut:])
    known = data.draw(st.sampled_from(("", "They paint the harbour green and went to the mill on day 2.")))
    for whole in (branch, fork, (*branch[:at], edited, *branch[at + 1 :])):
        stop = data.draw(st.integers(1, len(whole)))
        fresh = made(whole[:stop], whole[stop:], known, None)
        for totals in (first, second):
            assert made(whole[:stop], whole[stop:], known, totals) == fresh


@settings(deadline=None, max_examples=150)
@given(histories(), st.data())
def test_how_large_blocks_are_changes_nothing(said: tuple[Message, ...], data: st.DataObject) -> None:
    """Seen failing when the last sources of a block were counted before it was known whether tools are near."""
    branch = place(said)
    stop = data.draw(st.integers(1, len(branch)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LOOKED_AT_WHOLE", 20_000)
        small = made(branch[:stop], branch[stop:], "", None)
        patch.setattr(module, "BLOCK", len(branch) + 1)
        assert made(branch[:stop], branch[stop:], "", None) == small


def test_what_was_counted_is_not_counted_again() -> None:
    branch = talk(*[f"{'ua'[n % 2]}: I like the {PLACES[n % 5]} near house {n}." for n in range(20)])
    first = kept(branch[:14], branch[14:])
    assert first.nodes == branch[:12]
    assert kept(branch[:14], branch[14:], first) is first
    assert kept(branch[:19], branch[19:], first).sources[: len(first.sources)] == first.sources
    assert len(first.nodes) == 12


def test_a_question_waits_for_its_answer_before_it_is_counted() -> None:
    asked = talk(
        "u: I like the harbour.",
        "a: Fine.",
        "u: When is the mill open?",
        "u: Is the quarry open?",
        "u: Ok.",
        "u: Hm.",
    )
    assert kept(asked, ()).facts.counted == 2
    answered = (*asked, *place([*(node.message for node in asked), *map(assistant, ("No idea.",) * 3)])[6:])
    found = kept(answered, (), kept(asked, ())).facts
    assert found.counted == 9
    assert [mention[0] for mention in found.found if mention[0][0] == "question"] == [
        ("question", "When is the mill open?"),
        ("question", "Is the quarry open?"),
    ]


def test_blocks_in_which_nothing_is_said_are_counted_too() -> None:
    said = [f"{'ua'[n % 2]}: I like the {PLACES[n % 5]} near house {n}." for n in range(9)]
    branch = place([*(node.message for node in talk(*said)), *[user("")] * 9, user("Good night.")])
    found = kept(branch, ())
    assert len(found.nodes) == 18
    assert found.counts.number == len(said)
    assert made(branch, (), "", found) == made(branch, (), "", None)


def test_work_is_about_its_first_request_even_if_that_brings_an_answer_along() -> None:
    answer = ToolResult(call_id="c", content=(Text(text="42 passed in 3 s"),))
    said = (
        *(assistant(f"The {name} is quiet today.") for name in PLACES),
        Message(role="assistant", parts=(ToolCall(id="c", name="test", input="{}"),)),
        Message(role="user", parts=(answer, Text(text="Please paint the harbour blue."))),
        assistant("I paint it."),
        user("Is it done?"),
    )
    branch = place(said)
    for totals in (None, kept(branch[:6], ())):
        counted = CountedSources(branch, (), analyse_all(branch), totals)
        assert counted.work_span == (2, 8, 6)


def test_of_old_blocks_the_best_sentences_are_looked_at_that_fit() -> None:
    branch = talk(*[f"{'ua'[n % 2]}: I like the {PLACES[n % 5]} near house {n}." for n in range(20)])
    number = kept(branch, ()).counts.number
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LOOKED_AT_WHOLE", number)
        assert kept(branch, ()).old == []
        patch.setattr(module, "LOOKED_AT_WHOLE", number - 1)
        totals = kept(branch, ())
        (block,) = totals.old
        assert (block.stop, block.size) == (number, sum(totals.counts.weight))
        assert sorted(block.chat) == [*range(number)]
        counted = CountedSources(branch, (), analyse_all(branch), totals)
        two = sum(totals.counts.weight[n] for n in block.chat[:2])
        for room, looked_at in ((two, 2), (two - 1, 1)):
            patch.setattr(module, "LEAST_OF_BLOCK", room)
            eligible = counted.eligible(1)
            assert (eligible.start, eligible.chat) == (number, sorted(block.chat[:looked_at]))
