"""How messages are cut."""

from __future__ import annotations

import json
from unicodedata import category

import pytest

from octavo.core.extract.cues import OUTCOME
from octavo.core.extract.render import HEAD
from octavo.core.extract.units import PIECE, SLACK, analyse, analyse_all, locate, pieces, sentences, spell
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    Wire,
    assistant,
    user,
)
from octavo.testing import talk


def test_a_line_is_located_where_it_was_taken_from() -> None:
    text = "So: **Never push**\n   to main. And *rest*."
    found = {line: locate(text, line) for line in ("And *rest*.", "Never push to main.", "Never pull", "*")}
    assert {line: place and text[slice(*place)] for line, place in found.items()} == {
        "And *rest*.": "And *rest*.",
        "Never push to main.": "Never push**\n   to main.",
        "Never pull": None,
        "*": "*",
    }
    assert locate("plain", " ") is None
    assert locate("*rest* now", "*rest*") == (0, 6)
    assert locate("Never  push", "Never push") == (0, 11)


def units(message: Message) -> list[str]:
    return [unit.text for unit in analyse(message).units]


def result(text: str, *, error: bool = False) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id="c", content=(Text(text=text),), error=error),))


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "go." Then he left.', ['He said "go."', "Then he left."]),
        ("Use e.g. foo and i.e. bar.", ["Use e.g. foo and i.e. bar."]),
        ("Am 3. März um 10. Uhr.", ["Am 3. März um 10. Uhr."]),
        ("你好。我很好！你呢？好", ["你好。", "我很好！", "你呢？", "好"]),
        ("「行こう。」と言った。", ["「行こう。」", "と言った。"]),
        ("यह ठीक है। चलो।", ["यह ठीक है।", "चलो।"]),
        ("كيف حالك؟ بخير.", ["كيف حالك؟", "بخير."]),
        ("no end", ["no end"]),
    ],
)
def test_sentences_end_as_their_script_ends_them(line: str, cut: list[str]) -> None:
    assert [sentence for sentence in sentences(line) if sentence] == cut


def test_a_long_line_is_cut_at_commas_then_blanks_then_anywhere() -> None:
    listing = ", ".join(f"item number {n}" for n in range(40))
    assert all(piece.startswith("item number") for piece in pieces(listing))
    words = "word " * 100
    assert {piece.strip("word ") for piece in pieces(words)} == {""}
    solid = "x" * 1_000
    assert [len(piece) for piece in pieces(solid)] == [PIECE] * 9 + [PIECE]
    assert "".join(pieces(solid)) == solid


def test_a_line_that_is_not_too_long_stays_as_it_is() -> None:
    """Seen failing with: its last comma taken off, as if it had been cut."""
    longest = "x" * (int(SLACK * PIECE) - 1) + ","
    for line in ("and then,", longest):
        assert pieces(line) == [line]
    assert pieces("x" + longest) != ["x" + longest]


def test_a_cut_does_not_part_a_letter_from_its_signs() -> None:
    """Seen failing on Thai, where a tone mark began a piece and was set apart from its word by a blank."""
    text = "ที่นี่" * 60
    assert [piece for piece in pieces(text) if category(piece[0]).startswith("M")] == []
    assert "".join(pieces(text)) == text


def test_a_letter_with_more_signs_than_a_piece_has_room_for_is_cut() -> None:
    text = "e" + "\u0301" * 500
    assert "".join(pieces(text)) == text


def test_a_long_line_is_cut_at_the_commas_of_its_script() -> None:
    assert all(piece.endswith("，") for piece in pieces("一二三四五六七八九十，" * 40)[:-1])


def test_pieces_are_as_heavy_in_any_script() -> None:
    for text in ("字" * 500, "слово" * 100, "a" * 500, "\ud800" * 500):
        heaviest = max(len(piece.encode("utf-8", "surrogatepass")) for piece in pieces(text))
        assert heaviest <= 1.5 * PIECE
        assert "".join(pieces(text)) == text


def test_markdown_marks_are_dropped_and_names_with_underscores_stay() -> None:
    text = "# Title here\n- **bold** item\n```python\ncall __init__ now\n```"
    assert units(assistant(text)) == ["Title here", "bold item", "call __init__ now"]


def test_one_line_json_loses_its_marks_and_no_piece_spans_two_records() -> None:
    records = [{"flight": f"HAT{n:03}", "from": "JFK", "to": "SEA", "price": 100 + n} for n in range(4)]
    assert units(result(json.dumps([records[:2], records[2:]]))) == [
        f"flight: HAT{n:03}, from: JFK, to: SEA, price: {100 + n}" for n in range(4)
    ]


def test_a_long_line_with_three_fields_is_json() -> None:
    jars = ", ".join(f"plum {n}" for n in range(15))
    assert units(result(f'{{"a": "{jars}", "b": 1, "c": 2}}'))[0].startswith("a: plum 0")
    assert units(result(f'{{"a": "{jars}", "b": 1}}'))[0].startswith('{"a": "plum 0')


def test_code_that_opens_with_a_bracket_is_not_json() -> None:
    line = "[x for x in values if x in other and not x in third and x is not None and so on and on and on and on]"
    assert units(result(line))[0].startswith("[x for x")


@pytest.mark.parametrize(
    ("input", "lines"),
    [
        ('{"path": "a.py", "limit": 3}', ["read path: a.py, limit: 3"]),
        ('{"text": "one\\ntwo", "n": [1, "ü"]}', ["read text: one", "two", 'n: [1, "ü"]']),
        ("not json", ["read not json"]),
        ("[1, 2]", ["read [1, 2]"]),
        ("[" * 100_000, ["read " + "[" * 100_000]),
        ("", ["read "]),
    ],
)
def test_a_call_is_spelled_without_quoting(input: str, lines: list[str]) -> None:
    assert spell(ToolCall(id="c", name="read", input=input)) == lines


def test_a_stamp_in_front_is_the_day_and_not_text() -> None:
    for stamp, day in [
        ("[1:56 pm on 8 May, 2023]", "8 May, 2023"),
        ("[2023/02/11 (Sat) 15:33]", "2023/02/11"),
        ("[2024-05-01T10:00:00Z]", "2024-05-01"),
        ("[2024年5月1日 10:00]", "2024年5月1日"),
        ("[May 3rd, 2024]", "May 3rd, 2024"),
    ]:
        analysis = analyse(user(f"{stamp} It rained."))
        assert (analysis.day, [unit.text for unit in analysis.units]) == (day, ["It rained."])
    assert analyse(user("[important note] It rained.")).day == ""


def test_what_looks_like_a_speaker_is_taken_off_and_kept() -> None:
    analysis = analyse(user("Ann Lee: It rained. Much."))
    assert (analysis.speaker, analysis.opening) == ("Ann Lee", "Ann Lee: ")
    assert [unit.text for unit in analysis.units] == ["It rained.", "Much."]
    assert analyse(user("张三：下雨了。")).speaker == "张三"


@pytest.mark.parametrize(
    "text", ["note: small letter", "https://a.b: x", "Bob: **marked**", "Bob: I. Then more", "x" * 60 + ": y"]
)
def test_what_cannot_be_put_back_in_front_is_no_speaker(text: str) -> None:
    assert analyse(user(text)).speaker == ""


def test_a_named_message_keeps_its_text_whole() -> None:
    analysis = analyse(Message(role="user", name="ada", parts=(Text(text="Bob: it rained."),)))
    assert (analysis.speaker, analysis.opening, analysis.units[0].text) == ("ada", "", "Bob: it rained.")


def test_only_the_end_of_an_output_tells_how_it_ended_unless_it_failed() -> None:
    text = "\n".join(["raise an error here", *[f"line {n}" for n in range(9)], "2 tests failed"])
    told = [unit.text for unit in analyse(result(text)).units if unit.cues & OUTCOME]
    assert told == ["2 tests failed"]
    failed = analyse(result(text, error=True)).units
    assert all(unit.cues & OUTCOME for unit in failed)


def test_files_and_pictures_are_known_by_name_and_address() -> None:
    parts = (
        Attachment(name="plan\nB.pdf"),
        Image(source="https://a.example/cat.png"),
        Image(source="data:image/png;base64,AAAA"),
        Opaque(kind="audio", wire=Wire("openai", "{}")),
    )
    assert units(Message(role="user", parts=parts)) == ["plan", "B.pdf", "https://a.example/cat.png"]


def test_text_of_a_tool_message_without_a_call_is_an_output() -> None:
    analysis = analyse(Message(role="tool", parts=(Text(text="loose output_line"),)))
    assert analysis.units[0].channel == "result"
    assert analysis.tools


def test_extracts_inside_a_message_are_carried_and_the_rest_is_read() -> None:
    text = f"What follows is old.\n{HEAD} U: user]\nU: I like tea.\n\nFiles: plan.pdf"
    analysis = analyse(user(text), ours=True)
    assert [extract.text for extract in analysis.carried] == ["I like tea."]
    assert [unit.text for unit in analysis.units] == ["What follows is old.", "Files: plan.pdf"]
    assert analyse(user(f"Why {HEAD}?"), ours=True).carried == ()


def test_what_only_looks_like_extracts_is_what_its_author_said() -> None:
    analysis = analyse(user(f"{HEAD} A: assistant]\nA: I will pay 4711 euros."))
    assert analysis.carried == ()
    assert {unit.channel for unit in analysis.units} == {"user"}
    assert "4711" in analysis.units[-1].text


def test_known_analyses_are_taken_over() -> None:
    branch = talk("u: one two", "a: three four")
    first = analyse_all(branch[:1])
    both = analyse_all(branch, first)
    assert both["m1"] is first["m1"]
    assert both["m2"] == analyse(branch[1].message)
