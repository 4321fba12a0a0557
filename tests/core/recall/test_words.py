"""What a text is looked up by: the same word in other forms, letters, numbers and dates is the same word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.recall import words as module
from octavo.core.recall.words import LONGEST, STEM, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "CAFE"),
        ("İSTANBUL", "ıstanbul"),
        ("deployments", "deployment"),
        ("cities", "city"),
        ("Katzen", "Katze"),
        ("Häuser", "hauser"),
        ("книги", "книгу"),
        ("поезда", "поездом"),
        ("المكتبة", "مكتبة"),
        ("والكتاب", "كتاب"),
        ("किताबें", "किताब"),
        ("δρόμος", "ΔΡΌΜΟ"),
        ("1,500", "1500"),
        ("1.500", "1500"),
        ("٣٤٥", "345"),
        ("Montag", "monday"),
        ("понедельник", "lunes"),
        ("janvier", "January"),
        ("7 May 2023", "2023-05-07"),
        ("May 7th, 2023", "7.5.2023"),
        ("7 de mayo de 2023", "2023年5月7日"),
        ("3. März", "March 3"),
        ("2023-05-07", "Sunday"),
        ("Datenbankpasswort", "Passwort"),
        ("Krankenversicherungskarte", "Versicherung"),
        ("src/app/main.py", "main.py"),
        ("getUserName", "user name"),
        ("ERR_TIMEOUT-42", "err_timeout-42"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("我的猫叫小白", "猫"),
        ("고양이가", "고양이의"),
        ("ในวันจันทร์", "วันจันทร์"),
        ("ĂĂĂ ქართული", "ქართული"),
    ],
)
def test_forms_of_one_word_meet(one: str, other: str) -> None:
    assert set(words(one)) & set(words(other))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("see src/app/main.py.", "src/app/main.py"),
        ("call getUserName() now", "getusername"),
        ("the host db-01.example.org", "db-01.example.org"),
        ("issue #4711", "4711"),
    ],
)
def test_paths_names_and_identifiers_are_words_as_a_whole(text: str, whole: str) -> None:
    assert whole in words(text)


@pytest.mark.parametrize("text", ["", " ", "the and of", "...", "— !", "\ud800"])
def test_what_says_nothing_has_no_words(text: str) -> None:
    assert [word for word in words(text) if word.isalnum()] == []


def test_an_impossible_day_is_no_date() -> None:
    assert words("2023-02-31") == ["2023-02-31", "2023", "02", "31", "m02", "d02-31", "2023"]
    assert not [word for word in words("2023-13-40") if word.startswith("m")]


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-07",
        "7.5.2023",
        "7 May 2023",
        "May 7th, 2023",
        "7 de mayo de 2023",
        "2023年5月7日",
        "2023년 5월 7일",
    ],
)
def test_a_day_has_one_form_however_it_is_written(text: str) -> None:
    found = {word for word in words(text) if word[0] in "mdw2" and word[1:3].isdigit()}
    assert {"m05", "d05-07", "2023"} <= found
    assert "w6" in words(text)
    assert not found & {"m07", "d07-05", "d07-07", "d05-05"}


def test_the_first_and_the_last_days_of_a_year_are_dates() -> None:
    assert {"m01", "d01-01"} <= set(words("2024-01-01"))
    assert {"m12", "d12-31"} <= set(words("31.12.2024"))
    assert "d12-31" in words("31 December")


def test_a_month_of_three_letters_is_a_word_unless_a_day_stands_beside_it() -> None:
    assert "m03" not in words("el mar y la playa")
    assert "m03" in words("el 7 mar")


def test_the_day_beside_another_word_is_no_date() -> None:
    assert words("12 files, page 3") == ["12", "fil", "pag", "3"]


@given(st.text())
def test_any_text_has_words_and_always_the_same(text: str) -> None:
    once = words(text)
    module._words_of.clear()
    assert words(text) == once
    assert all(len(word) <= LONGEST * 4 for word in once)


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMORY", 3)
    module._words_of.clear()
    for text in ("one two three four", "five six seven"):
        words(text)
        assert len(module._words_of) <= 3
    words("x" * LONGEST + " " + "x" * (LONGEST + 1))
    assert "x" * LONGEST in module._words_of
    assert "x" * (LONGEST + 1) not in module._words_of


def test_long_words_are_told_apart_by_their_beginning() -> None:
    assert words("internationally")[0] == "internationally"[:STEM]


@pytest.mark.parametrize(
    ("word", "left"),
    [
        ("cat", "cat"),
        ("cats", "cat"),
        ("bus", "bus"),  # too little would be left
        ("boss", "boss"),
        ("1234567s", "1234567s"),
        ("internationally", "intern"),
        ("والبلدان", "بلدان"),  # one particle is taken off
        ("ӿудами", "ӿуд"),  # the last letters of their scripts, in small languages
        ("ۿكتابات", "ۿكتاب"),
    ],
)
def test_as_much_is_cut_off_a_word_as_leaves_enough_of_it(word: str, left: str) -> None:
    assert module.stem(word) == left


@pytest.mark.parametrize(
    ("word", "ends"),
    [
        ("abcdefghij", []),  # shorter compounds are found by their beginning
        ("abcdefghijk", ["efghij", "fghijk", "ghijk", "hijk"]),
        ("abc4efghijk", []),
        ("книжныймагазин", []),
    ],
)
def test_a_long_word_of_latin_letters_is_found_by_what_it_may_end_with(word: str, ends: list[str]) -> None:
    assert module.components(word) == ends


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("あ", ["あ"]),
        ("あい", ["あい"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("猫", ["猫"]),
        ("小猫", ["小猫", "小", "猫"]),  # each of these is a word by itself
        ("가", ["가"]),
        ("고양이", ["고양", "양이"]),
    ],
)
def test_scripts_without_spaces_are_looked_up_by_pairs(text: str, pairs: list[str]) -> None:
    assert words(text) == pairs
