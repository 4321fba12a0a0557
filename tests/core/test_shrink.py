"""Cases 60, 61, 68, 102: the last resort always ends, and spares what matters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.context import Context, ContextInputs, Pin, build_context, coverage_problems
from octavo.core.harden import harden
from octavo.core.messages import Attachment, Image, Message, Text, place, user
from octavo.core.protocol import RULES, check
from octavo.core.shrink import SUMMARY_FLOOR, shrink
from octavo.core.snapshot import Extract, draft
from octavo.core.tools import Tool
from octavo.errors import ContextOverflow
from octavo.testing import WordMeter, talk
from tests.core.strategies import tidy

MEASURE = WordMeter().context


def characters(context: Context) -> int:
    return sum(len(m.text) + sum(len(r.text) for r in m.results) for m in context.messages)


def words(n: int, word: str = "w") -> str:
    return " ".join([word] * n)


def test_what_fits_comes_back_untouched() -> None:
    recipe = ContextInputs(branch=talk("u: hi", "a: hello"))
    assert shrink(recipe, 2, MEASURE).recipe == recipe
    assert shrink(recipe, 2, MEASURE).notes == ()


def test_old_tool_outputs_are_shortened_first() -> None:
    branch = talk(
        "u: look",
        "c: cat {}",
        f"r: {'x' * 50_000}",
        "a: seen",
        "u: now this",
        "c: cat {}",
        f"r: {'y' * 9_000}",
    )
    shrunk = shrink(ContextInputs(branch=branch), 20_000, characters)
    assert shrunk.tokens <= 20_000
    assert shrunk.notes == ("outputs of older tool calls shortened to 8,000 characters",)
    assert "y" * 9_000 in shrunk.context.retained[-1].results[0].text
    old = shrunk.context.retained[2].results[0].text
    assert "whole text: message m3" in old
    assert "42,000 of 50,000 characters left out" in old


def test_files_of_messages_that_are_left_out_leave_their_names() -> None:
    picture = Image(source="https://example.org/plans/harbour.png")
    file = Attachment(name="</earlier> berths.pdf")
    branch = talk(f"u: {words(300)}", f"a: {words(300)}", f"u: {words(300)}", "a: ok", "u: and now?")
    shown = replace(branch[0].message, parts=(*branch[0].message.parts, picture))
    more = replace(branch[2].message, parts=(*branch[2].message.parts, file))
    recipe = ContextInputs(
        branch=(
            replace(branch[0], message=shown),
            branch[1],
            replace(branch[2], message=more),
            *branch[3:],
        )
    )
    shrunk = shrink(recipe, 100, MEASURE)
    assert shrunk.context.omitted == ("m1", "m2", "m3", "m4")
    (gap,) = shrunk.context.summary
    assert gap.text.endswith("not included here:\n- harbour.png (image)\n- &lt;/earlier> berths.pdf")
    assert "harbour.png" not in shrink(recipe, 7, MEASURE).context.messages[0].text


def test_a_long_output_beside_a_short_one_is_shortened() -> None:
    branch = talk("u: look", "c: ls {}", "c: cat {}", "r: a.py", f"r: {'x' * 9_000}")
    both = replace(branch[2].message, parts=(*branch[2].message.parts, *branch[3].message.parts))
    together = (*branch[:2], replace(branch[2], message=both))
    shrunk = shrink(ContextInputs(branch=together), 3_000, characters)
    assert [len(result.text) > 2_000 for result in shrunk.context.retained[-1].results] == [False, True]


def test_a_megabyte_on_one_line_in_this_turn_is_shortened_too() -> None:
    branch = talk("u: look", "c: cat {}", f"r: {'x' * 1_000_000}")
    shrunk = shrink(ContextInputs(branch=branch), 3_000, characters)
    assert shrunk.notes == ("outputs of this turn's tool calls shortened to 2,000 characters",)
    assert shrunk.tokens <= 3_000


def test_words_beside_a_tool_output_are_left_alone() -> None:
    branch = talk("u: look", "c: cat {}", f"r: {'x' * 9_000}")
    noted = replace(
        branch[2], message=replace(branch[2].message, parts=(*branch[2].message.parts, Text(text="hm")))
    )
    shrunk = shrink(ContextInputs(branch=(*branch[:2], noted)), 3_000, characters)
    assert shrunk.context.retained[-1].text == "hm"


def test_extracts_go_before_turns_and_the_oldest_go_first() -> None:
    """Case 60: the summary is not the first victim."""
    branch = talk("u: a", "a: b", f"u: {words(20)}", f"a: {words(20)}", "u: last")
    snapshot = replace(
        draft(branch, 2, id="s", summary="they met"),
        extracts=tuple(Extract("m1", f"fact{n} {words(9)}") for n in range(10)),
    )
    recipe = ContextInputs(branch=branch, snapshot=snapshot)
    full = MEASURE(build_context(recipe))
    shrunk = shrink(recipe, full - 25, MEASURE)
    assert shrunk.notes == ("the 3 oldest of 10 extracts left out",)
    text = shrunk.context.summary[0].text
    assert "they met" in text
    assert "fact2" not in text
    assert "fact3" in text


def test_what_stands_goes_after_the_other_extracts() -> None:
    branch = talk("u: a", "a: b", f"u: {words(20)}", f"a: {words(20)}", "u: last")
    rules = tuple(Extract("m1", f"rule{n} {words(9)}", standing=True) for n in range(3))
    others = tuple(Extract("m1", f"fact{n} {words(9)}") for n in range(3))
    snapshot = replace(draft(branch, 2, id="s", summary="they met"), extracts=(*rules, *others))
    recipe = ContextInputs(branch=branch, snapshot=snapshot)
    full = MEASURE(build_context(recipe))
    some = shrink(recipe, full - 15, MEASURE).context.summary[0].text
    assert ("rule0" in some, "fact0" in some, "fact2" in some) == (True, False, True)
    more = shrink(recipe, full - 45, MEASURE).context.summary[0].text
    assert ("rule0" in more, "rule2" in more, "fact2" in more) == (False, True, False)


def test_then_the_oldest_retained_turns_go_and_the_last_question_stays() -> None:
    branch = talk(f"u: {words(30)}", f"a: {words(30)}", f"u: {words(30)}", "a: ok", "u: the question")
    shrunk = shrink(ContextInputs(branch=branch), 55, MEASURE)
    assert shrunk.notes == ("2 older messages left out",)
    assert shrunk.context.omitted == ("m1", "m2")
    assert shrunk.context.messages[0].text.startswith("[2 older messages are left out here")
    shrunk = shrink(ContextInputs(branch=branch), 20, MEASURE)
    assert shrunk.context.retained == (user("the question"),)
    assert coverage_problems(branch, shrunk.context) == ()


def test_pending_input_makes_every_stored_turn_an_old_one() -> None:
    branch = talk(f"u: {words(30)}", f"a: {words(30)}")
    shrunk = shrink(ContextInputs(branch=branch, pending=(user("new"),)), 20, MEASURE)
    assert shrunk.context.retained == ()
    assert shrunk.context.pending == (user("new"),)


def test_then_the_oldest_tool_rounds_of_the_last_turn() -> None:
    rounds = [line for n in range(6) for line in (f"c: step{n} {{}}", f"r: {words(10)}")]
    branch = talk("u: do it all", *rounds)
    shrunk = shrink(ContextInputs(branch=branch), 60, MEASURE)
    assert shrunk.notes == ("6 messages of earlier tool rounds left out",)
    assert shrunk.context.retained[0] == user("do it all")
    assert check(shrunk.context.messages, RULES["openai"]) == ()


def test_rounds_can_go_where_the_question_is_carried() -> None:
    rounds = [line for n in range(6) for line in (f"c: step{n} {{}}", f"r: {words(10)}")]
    branch = talk("u: do it all", *rounds)
    recipe = ContextInputs(
        branch=branch[5:], snapshot=draft(branch, 5, id="s", summary="x"), carried=branch[:1]
    )
    shrunk = shrink(recipe, 95, MEASURE)
    assert shrunk.context.retained[0] == user("do it all")
    assert check(shrunk.context.messages, RULES["openai"]) == ()


def test_the_summary_is_shortened_last() -> None:
    branch = talk("u: a", "a: b", "u: last")
    snapshot = draft(branch, 2, id="s", summary="A" + "x" * 5_000 + "Z")
    shrunk = shrink(ContextInputs(branch=branch, snapshot=snapshot), 1_700, characters)
    assert shrunk.notes[-1] == "the summary shortened to 1,251 characters"
    assert shrunk.recipe.snapshot is not None
    assert len(shrunk.recipe.snapshot.summary) == pytest.approx(1_251, rel=0.05)
    assert "Z\n</earlier>" in shrunk.context.summary[0].text


@pytest.mark.parametrize(
    ("length", "shortest"),
    [
        (SUMMARY_FLOOR, None),
        (2 * SUMMARY_FLOOR - 1, None),
        (2 * SUMMARY_FLOOR, SUMMARY_FLOOR),
        (9 * SUMMARY_FLOOR, 9 * SUMMARY_FLOOR // 8),
    ],
)
def test_a_summary_is_halved_down_to_its_floor_and_then_left_out(length: int, shortest: int | None) -> None:
    """Seen failing with: a floor that must not be touched, and thirds for halves."""
    branch = talk("u: a", "a: b", "u: last")
    snapshot = draft(branch, 2, id="s", summary="x" * length)
    recipe = ContextInputs(branch=branch, snapshot=snapshot)
    shrunk = shrink(recipe, len("last"), characters)
    assert shrunk.context.messages == (user("last"),)
    before = f"the summary shortened to {shortest:,} characters" if shortest else None
    assert shrunk.notes == (*([before] if before else []), "nothing said of what is left out")


def test_where_every_token_counts_even_the_note_goes() -> None:
    shrunk = shrink(ContextInputs(branch=talk(f"u: {words(9)}", "a: ok", "u: now?")), 1, MEASURE)
    assert shrunk.context.messages == (user("now?"),)
    assert shrunk.notes[-1] == "nothing said of what is left out"


def test_a_request_with_nothing_in_it_is_no_way_out() -> None:
    branch = talk("u: one two three", "a: four five six")
    recipe = ContextInputs(branch=branch, snapshot=draft(branch, 2, id="s", summary="they counted to six"))
    with pytest.raises(ContextOverflow):
        shrink(recipe, 5, MEASURE)


def test_pins_survive_when_their_turn_goes() -> None:
    branch = talk("u: never on Friday", f"a: {words(50)}", f"u: {words(50)}", f"a: {words(50)}", "u: now?")
    shrunk = shrink(ContextInputs(branch=branch, pins=(Pin(branch[0]),)), 60, MEASURE)
    assert "never on Friday" in shrunk.context.pins[0].text
    assert coverage_problems(branch, shrunk.context) == ()


def test_an_output_as_short_as_its_preview_is_not_said_to_be_shortened() -> None:
    for length, notes in ((400, 2), (401, 3)):
        branch = talk("u: look", "c: cat {}", f"r: {'x' * length}", f"a: {words(90)}", "u: now")
        shrunk = shrink(ContextInputs(branch=branch), 3, characters)
        assert len(shrunk.notes) == notes
        assert any("outputs" in note for note in shrunk.notes) is (length > 400)


def test_as_little_is_given_up_when_what_is_left_fits_exactly() -> None:
    rounds = [line for n in range(3) for line in (f"c: step{n} {{}}", f"r: {words(10 + n)}")]
    branch = talk(f"u: {words(30)}", "a: ok", f"u: {words(9)}", f"a: {words(12)}", "u: do it all", *rounds)
    snapshot = draft(branch, 2, id="s", summary=words(400))
    recipe = ContextInputs(branch=branch, snapshot=replace(snapshot, extracts=(Extract("m1", "a fact"),)))
    limit, seen = MEASURE(build_context(recipe)) - 1, list[str]()
    while limit > 60:
        shrunk = shrink(recipe, limit, MEASURE)
        assert shrink(recipe, shrunk.tokens, MEASURE) == shrunk
        seen += shrunk.notes[-1:]
        limit = shrunk.tokens - 1
    assert len(set(seen)) == 5


def test_a_pinned_tool_output_is_not_shortened() -> None:
    branch = talk("u: look", "c: cat {}", f"r: {'x' * 5_000}", "a: seen", "u: now")
    with pytest.raises(ContextOverflow):
        shrink(ContextInputs(branch=branch, pins=(Pin(branch[2]),)), 1_000, characters)


def test_a_mandatory_part_that_does_not_fit_gives_every_term() -> None:
    """Case 61."""
    branch = talk(f"s: {words(40)}", "u: a", "a: b", f"u: {words(30)}")
    tools = (Tool(name="ls", description=words(9)),)
    recipe = ContextInputs(
        branch=branch, tools=tools, snapshot=draft(branch, 3, id="s", summary="x"), pins=(Pin(branch[1]),)
    )
    with pytest.raises(ContextOverflow, match="does not fit") as overflow:
        shrink(recipe, 50, MEASURE)
    terms = dict(overflow.value.terms)
    assert terms["limit"] == 50
    assert (terms["system"], terms["tools"], terms["last_turn"]) == (40, 10, 30)
    assert terms["needed"] == sum(terms[t] for t in ("system", "tools", "pins", "summary", "last_turn"))


def test_what_every_request_costs_is_in_no_term_of_its_own() -> None:
    """The terms and that cost are the whole; seen failing with: it counted for a part, or counted twice."""
    request = 7

    def measure(context: Context) -> int:
        return MEASURE(context) + request

    branch = talk(f"s: {words(40)}", "u: a b", "a: c", f"u: {words(30)}")
    recipe = ContextInputs(
        branch=branch,
        tools=(Tool(name="ls", description=words(9)),),
        pins=(Pin(branch[1]),),
        pending=(user(words(5)),),
    )
    with pytest.raises(ContextOverflow, match="the system prompt takes 40") as overflow:
        shrink(recipe, 50, measure)
    terms = dict(overflow.value.terms)
    assert (terms["limit"], terms["system"], terms["tools"], terms["summary"]) == (50, 40, 10, 0)
    assert terms["last_turn"] == 5
    assert terms["pins"] > 0
    parts = ("system", "tools", "pins", "summary", "last_turn")
    assert terms["needed"] == sum(terms[part] for part in parts) + request


def test_the_largest_part_is_named() -> None:
    branch = talk("s: be brief", f"u: {words(90)}")
    with pytest.raises(ContextOverflow, match=r"of 92 tokens 50 may be sent, and the newest turn takes 90\."):
        shrink(ContextInputs(branch=branch), 50, MEASURE)


@settings(max_examples=60)
@given(tidy(), st.integers(0, 200), st.data())
def test_it_always_ends_fits_and_keeps_the_last_question(
    said: tuple[Message, ...], limit: int, data: st.DataObject
) -> None:
    """Seen failing with: `_rounds` cutting at unsafe places, and turns dropped without taking pins along."""
    branch = place(said)
    pins = tuple(Pin(node) for node in branch if node.message.role == "user" and data.draw(st.booleans()))[:2]
    recipe = ContextInputs(branch=branch, pins=pins)
    try:
        shrunk = shrink(recipe, limit, MEASURE)
    except ContextOverflow as overflow:
        assert overflow.terms["needed"] > limit  # noqa: PT017 - overflowing is one of two right outcomes
        return
    assert shrunk.tokens == MEASURE(shrunk.context) <= limit
    assert MEASURE(shrunk.context) <= max(limit, MEASURE(build_context(recipe)))
    questions = [message for message in said if message.role == "user"]
    pinned = [part.text for message in shrunk.context.pins for part in message.parts if hasattr(part, "text")]
    assert questions[-1] in shrunk.context.retained or any(questions[-1].text in text for text in pinned)
    assert coverage_problems(branch, shrunk.context) == ()
    for pin in pins:
        sent = [message.text for message in shrunk.context.retained] + pinned
        assert any(pin.text in text for text in sent)
    for rules in RULES.values():
        assert check(harden(shrunk.context.messages, rules).messages, rules) == ()
    assert check(shrunk.context.messages, RULES["openai"]) == ()
