"""Prompts with slots."""

from __future__ import annotations

import pytest

from octavo.core.ask.template import FORMS, template
from octavo.errors import BadInput
from octavo.summarise.prompts import packaged


def test_slots_are_filled_and_the_version_line_is_not_part_of_the_text() -> None:
    greeting = template("greeting", "<!-- version: 3 -->\nGood {time}, {name}.\n")
    assert greeting.slots == {"time", "name"}
    assert greeting.label == "greeting@3"
    assert greeting.render({"time": "evening", "name": "Ann"}) == "Good evening, Ann."


def test_what_is_filled_in_is_never_looked_at() -> None:
    text = template("t", "<!-- version: 1 -->\n{first} and {second}")
    assert (
        text.render({"first": "{second} {{x}} {history}", "second": "2"}) == "{second} {{x}} {history} and 2"
    )


def test_doubled_braces_stand_for_themselves_and_other_braces_are_left_alone() -> None:
    text = template("t", '<!-- version: 1 -->\n{{name}} {name} {"a": {}} {Name} { name }')
    assert text.render({"name": "x"}) == '{name} x {"a": {}} {Name} { name }'


def test_an_unknown_slot_is_an_error_that_names_it() -> None:
    with pytest.raises(BadInput, match=r"prompt 't'.*unknown slot \{nmae\}; known are \{name\}"):
        template("t", "Hello {nmae}").render({"name": "x"})


def test_a_paragraph_of_which_nothing_is_left_goes() -> None:
    text = template("t", "<!-- version: 1 -->\nOne.\n\n{focus}\n\nTwo.")
    assert text.render({"focus": ""}) == "One.\n\nTwo."
    assert text.render({"focus": "a\n\n\nb"}) == "One.\n\na\n\n\nb\n\nTwo."


def test_a_text_without_a_version_line_is_known_by_its_digest() -> None:
    one, two = template("t", "abc"), template("t", "abd")
    assert one.version != two.version
    assert one.version == template("t", "abc").version


@pytest.mark.parametrize("name", FORMS)
def test_the_packaged_forms_say_all_that_every_prompt_has_to_say(name: str) -> None:
    form = packaged().form(name)
    assert form.version == "1"
    assert {"rules", "length", "focus"} <= form.slots


def test_the_sections_are_those_of_appendix_b() -> None:
    assert packaged().form("default").sections == (
        "Context",
        "Key Points",
        "Technical Details",
        "Decisions and Outcomes",
        "Unresolved Questions",
    )
    assert packaged().form("chat").sections == (
        "People",
        "Facts",
        "Preferences",
        "Commitments",
        "Open Questions",
    )
    assert packaged().form("dense").sections == ()


def test_a_text_of_several_words_is_a_prompt_itself() -> None:
    form = packaged().form("# Notes\nSummarise {conversation_history} as a list.")
    assert form.name == "custom"
    assert form.sections == ()
    rendered = form.render(
        {"rules": "RULES", "length": "LENGTH", "focus": "", "conversation_history": "[below]"}
    )
    assert rendered == "# Notes\nSummarise [below] as a list.\n\nRULES\n\nLENGTH"


def test_a_custom_prompt_that_cannot_be_used_is_refused_when_it_is_read() -> None:
    with pytest.raises(BadInput, match=r"unknown slot \{secret\}"):
        packaged().form("x {secret}")


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(BadInput, match="unknown prompt 'defualt'; one of default, code, state, dense, chat"):
        packaged().form("defualt")
    with pytest.raises(BadInput, match="unknown prompt 'rules'"):
        packaged().form("rules")
