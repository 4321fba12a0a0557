"""Titles: what is asked for, and what of an answer will do."""

from __future__ import annotations

import pytest

from octavo.core.title import ASKED, LONGEST, SHOWN, title_of_answer, title_request

ABOUT = "How do I bake sourdough bread at home? You need flour, water, salt. 日本で一番高い山は富士山です。 PC山です。"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Baking Sourdough Bread", "Baking Sourdough Bread"),
        ('"Sourdough bread at home."', "Sourdough bread at home"),
        ("**Title:** “Sourdough Starter”\n\nI hope this helps!", "Sourdough Starter"),
        ("Here is a title for the conversation:\n\n# Sourdough bread", "Sourdough bread"),
        ("<think>They ask about bread.\nSo…</think>\n\nBread at home", "Bread at home"),
        ("日本で一番高い山", "日本で一番高い山"),
        ("«Titre : Bread à la maison»", "Bread à la maison"),
        ("a b c d e f g h i j k l m bread", "a b c d e f g h i j k l m bread"),
        ("Bread Stories", "Bread Stories"),
        ("PC山", "PC山"),  # letters of two scripts without a blank between them
    ],
)
def test_a_title_is_taken_out_of_what_a_model_says(said: str, title: str) -> None:
    assert title_of_answer(said, ABOUT) == title


@pytest.mark.parametrize(
    "said",
    [
        "",
        "***",
        "Title:",
        "<think>bread, bread",
        "Welcome to our chat session!",
        "A Story About Nothing With Bread",
        "a b c d e f g h i j k l m n bread",
        "Bread is something that you can bake at home with flour and water and salt and a starter, if you like.",
        "中国的首都",
    ],
)
def test_what_is_no_title_or_about_something_else_is_none(said: str) -> None:
    assert title_of_answer(said, ABOUT) == ""


def test_a_long_title_ends_with_a_whole_word() -> None:
    said = "Bake bread at home: flour, water, salt, starter, bread, home, bake"
    title = title_of_answer(said, ABOUT)
    assert title == "Bake bread at home: flour, water, salt, starter, bread…"
    assert len(title) <= LONGEST
    longest = "Bread " + "x" * (LONGEST - 6)
    assert title_of_answer(longest, ABOUT) == longest
    one_word = title_of_answer("bread" + "x" * 100, ABOUT)
    assert one_word == "bread" + "x" * (LONGEST - 6) + "…"


def test_the_model_is_shown_the_beginning_of_question_and_answer() -> None:
    (asked,) = title_request("q" * 5_000, "a" * 5_000)
    assert asked.text.endswith(ASKED)
    assert asked.text.count("q" * SHOWN) == 1
    assert "q" * (SHOWN + 1) not in asked.text
    assert "a" * SHOWN in asked.text
    assert "a" * (SHOWN + 1) not in asked.text
