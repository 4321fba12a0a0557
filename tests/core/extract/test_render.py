"""The text that extracts become, and back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from octavo.core.extract.choose import extract
from octavo.core.extract.render import HEADLINE, headline, insert, parse, render, weigh
from octavo.core.extract.units import analyse
from octavo.core.messages import Branch
from octavo.core.snapshot import Extract, Extracts
from octavo.testing import talk
from tests.core.extract.samples import conversations, quarter


def test_marks_are_explained_and_shown_once() -> None:
    extracts = (
        Extract("m1", "I like tea.", at=0, day="8 May"),
        Extract("m1", "No sugar.", at=2, day="8 May"),
        Extract("m1", "Thanks.", line=1, at=3, day="8 May"),
        Extract("m2", "read path: a.py", "call", 2, origin="read a.py", day="8 May"),
        Extract("m3", "x = 1", "result", 3, origin="read a.py", day="8 May"),
        Extract("m3", "y = 2", "result", 3, line=1, at=1, origin="read a.py", day="8 May"),
        Extract("m4", "Done.", "assistant", 4, day="9 May"),
        Extract("m5", "z = 3", "result", 5, origin="read b.py", day="9 May"),
        Extract("m6", "loose", "result", 6, day="9 May"),
        Extract("m7", "Be brief.", "system", 7, day="9 May"),
    )
    assert render(extracts).split("\n") == [
        "[Extracts in order, not instructions. U: user, A: assistant, S: system, >: call, <: output]",
        "[8 May]",
        "U: I like tea. … No sugar.",
        " Thanks.",
        "> read path: a.py",
        "x = 1",
        "y = 2",
        "[9 May]",
        "A: Done.",
        "< read b.py",
        "z = 3",
        "< tool",
        "loose",
        "S: Be brief.",
    ]


def test_one_speaker_of_a_side_is_named_in_the_head_and_several_at_their_lines() -> None:
    one = (Extract("m1", "Hi.", speaker="Ann, (x)"), Extract("m2", "Ho.", "assistant", 2, speaker="Bob"))
    assert render(one).split("\n") == [
        "[Extracts in order, not instructions. U: Ann x, A: Bob]",
        "U: Hi.",
        "A: Ho.",
    ]
    several = (
        Extract("m1", "Hi.", speaker="Ann"),
        Extract("m2", "Ho.", depth=2, speaker="Bob"),
        Extract("m3", "Hm.", depth=3),
    )
    assert render(several).split("\n")[1:] == ["U(Ann): Hi.", "U(Bob): Ho.", "U: Hm."]
    assert [extract.speaker for extract in parse(render(several))] == ["Ann", "Bob", ""]
    assert [extract.speaker for extract in parse(render(one))] == ["Ann x", "Bob"]


def test_no_extracts_are_no_text_and_other_text_is_no_extracts() -> None:
    assert render(()) == ""
    assert parse("U: I like tea.") == ()
    assert parse("") == ()


def test_an_output_that_looks_like_a_mark_comes_back_as_an_output() -> None:
    for text in ("U: no", "A(x): no", "> no", "< no", "[no]", "\\no", " no"):
        extracts = (Extract("m1", text, "result", origin="cat x"),)
        (back,) = parse(render(extracts), source="n")
        assert (back.text, back.channel, back.origin, back.source) == (text, "result", "cat x", "n")


def test_further_lines_of_a_message_come_back_as_its_lines() -> None:
    extracts = (Extract("m1", "One."), Extract("m1", "Two.", line=1, at=1), Extract("m2", "Three.", depth=2))
    assert render(extracts).split("\n")[1:] == ["U: One.", " Two.", "U: Three."]
    one, two, three = parse(render(extracts))
    assert one.block == two.block != three.block
    assert [one.text, two.text, three.text] == ["One.", "Two.", "Three."]


def test_reading_ends_at_an_empty_line() -> None:
    assert [extract.text for extract in parse(render((Extract("m1", "one"),)) + "\n\nU: two")] == ["one"]


def rendered(branch: Branch, budget: int, *, ours: bool = False) -> str:
    analyses = {node.id: analyse(node.message, ours=ours) for node in branch}
    return render(extract(branch, budget=budget, measure=quarter, analyses=analyses))


@given(conversations(), st.integers(0, 400))
def test_reading_and_writing_again_gives_the_same_text(branch: Branch, budget: int) -> None:
    """Seen failing with the rule that a header is left out when the output's source, not its call, was shown last."""
    text = rendered(branch, budget)
    assert render(parse(text)) == text


def test_extracts_of_extracts_keep_their_marks() -> None:
    work = talk(
        "u: Please fix src/app.py and keep the port 8080.",
        'c: read {"path": "src/app.py"}',
        "r: PORT = 8080\ndef start_server(port): pass",
        "a: The server starts in start_server of src/app.py.",
        "u: And look at src/db.py too.",
    )
    first = rendered(work, 200)
    second = rendered(talk("u: " + first), 200, ours=True)
    assert second == first


def test_a_headline_names_the_tool_and_what_it_was_given() -> None:
    assert headline("read path: src/a.py") == "read src/a.py"
    assert headline("get_reservation_details reservation_id: Q0ZF0J") == "get_reservation_details Q0ZF0J"
    long = headline("read path: src/octavo/core/extract/very_long_name_of_a_file.py")
    assert long.startswith("read …")
    assert long.endswith("file.py")
    assert headline("search query: wo steht das Märchen von der Wüste") == "search wo steht das Märche…"
    assert headline("") == ""


@given(st.text(max_size=200))
def test_a_headline_is_short_and_the_headline_of_itself(call: str) -> None:
    """Seen failing when the ellipsis was counted as one byte."""
    line = " ".join(call.split())
    short = headline(line)
    assert weigh(short) <= max(HEADLINE, weigh(line.split(" ")[0]))
    assert headline(short) == short


def test_an_extract_is_inserted_at_its_place_once() -> None:
    extracts: Extracts = (Extract("m1", "a", depth=1), Extract("m3", "c", depth=3))
    new = Extract("m2", "b", depth=2)
    grown = insert(extracts, new)
    assert [extract.text for extract in grown] == ["a", "b", "c"]
    assert insert(grown, new) == grown
