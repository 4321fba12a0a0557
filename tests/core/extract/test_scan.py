"""Identifiers, words and cues."""

from __future__ import annotations

import pytest

from octavo.core.extract import cues, scan
from octavo.core.extract.scan import IdentifierKind, atom, identifiers, words


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ("https://example.com/a/b?c=d#e", "url"),
        ("postgresql://db:5432/app", "url"),
        ("www.example.com/x", "url"),
        ("mia.li@example.com", "id"),
        ("2024-05-20", "date"),
        ("20.05.2024", "date"),
        ("2023/02/11", "date"),
        ("17:30", "date"),
        ("src/octavo/core/units.py", "path"),
        ("~/.config/app", "path"),
        ("./run.sh", "path"),
        ("README.md", "path"),
        ("C:\\Users\\ann\\notes.txt", "path"),
        ("Документы/отчёт.txt", "path"),
        ("ValueError", "error"),
        ("django.db.utils.IntegrityError", "error"),
        ("os.path.join", "symbol"),
        ("snake_case", "symbol"),
        ("camelCase", "symbol"),
        ("PascalCase", "symbol"),
        ("MAX_SIZE", "symbol"),
        ("HAT001", "id"),
        ("4f2a-99b1", "id"),
        ("#4711", "id"),
        ("8080", "number"),
        ("3.14", "number"),
        ("1.2.3", "number"),
        ("v2.10.0-rc1", "number"),
        ("$35", "number"),
        ("45%", "number"),
        ("20th", "number"),
    ],
)
def test_each_kind_of_identifier_is_found_whole(piece: str, kind: IdentifierKind) -> None:
    found = {identifier.text: identifier for identifier in atom(piece).identifiers}
    assert piece in found, found
    assert found[piece].kind == kind
    assert found[piece].whole


@pytest.mark.parametrize(
    "piece", ["hello", "Hello!", "e.g.", "U.S.", "well-known", "don", "12", "x1", "Größe", "..."]
)
def test_ordinary_words_are_no_identifiers(piece: str) -> None:
    assert atom(piece).identifiers == ()


def test_the_parts_of_an_identifier_are_found_but_are_not_whole() -> None:
    found = {identifier.text: identifier.whole for identifier in atom("src/user_model.py").identifiers}
    assert found["src/user_model.py"] is True
    assert found["user_model.py"] is False


def test_identifiers_are_found_between_characters_of_scripts_without_spaces() -> None:
    assert identifiers("请修改src/main.py文件，运行PORT_8080。") == ("src/main.py", "main.py", "PORT_8080")


def test_words_outside_identifiers_are_counted_apart() -> None:
    held = atom("user_model:value")
    assert held.words == ("user", "model", "value")
    assert held.bare == ("value",)


@pytest.mark.parametrize(
    ("piece", "word", "bare"),
    [("7", True, False), ("12", True, True), ("x", True, False), ("ox", True, True), ("x-y", True, False)],
)
def test_one_sign_by_itself_says_nothing_about_a_name(piece: str, *, word: bool, bare: bool) -> None:
    held = atom(piece)
    assert (bool(held.words), bool(held.bare)) == (word, bare)


def test_inflected_forms_are_one_word_in_several_languages() -> None:
    assert words("painting paintings") == ("painti",)
    assert words("переезда переезде") == ("переез",)
    assert words("Wohnungen Wohnungs") == ("wohnun",)


def test_words_of_scripts_without_spaces_are_pairs_of_characters() -> None:
    assert words("我喜欢茶") == ("我喜", "喜欢", "欢茶")
    assert words("茶") == ("茶",)


def test_a_name_of_several_words_has_several() -> None:
    assert words("ChecksumMismatch") == words("checksum_mismatch") == ("checks", "mismat")
    assert words("iPhone McDonald") == ("iphone", "mcdona")


def test_korean_has_blanks_and_so_whole_words_that_are_cues() -> None:
    """Seen failing when only parts of words were looked for: the word for "my" is a part of many others."""
    assert atom("제").cues & cues.FIRST_PERSON
    assert not atom("문제가").cues & cues.FIRST_PERSON
    assert atom("우리는").cues & cues.FIRST_PERSON


def test_vowel_signs_do_not_cut_words() -> None:
    assert words("मूँगफली से एलर्जी") == ("मूँगफल"[:6], "एलर्जी")


@pytest.mark.parametrize("text", ["the and of", "und die der", "и в не", "في من على", "के का की"])
def test_function_words_inform_of_nothing(text: str) -> None:
    assert words(text) == ()


@pytest.mark.parametrize(
    ("piece", "cue"),
    [
        ("I", cues.FIRST_PERSON),
        ("meine", cues.FIRST_PERSON),
        ("мой", cues.FIRST_PERSON),
        ("我的", cues.FIRST_PERSON),
        ("मेरी", cues.FIRST_PERSON),
        ("decided", cues.DECISION),
        ("決めました", cues.DECISION),
        ("must", cues.CONSTRAINT),
        ("нельзя", cues.CONSTRAINT),
        ("prefer", cues.PREFERENCE),
        ("喜欢", cues.PREFERENCE),
        ("instead", cues.CHANGE),
        ("yesterday", cues.TIME),
        ("March", cues.MONTH),
        ("März", cues.TIME),
        ("failed:", cues.OUTCOME),
        ("Clara", cues.CAPITAL),
        ("Клара", cues.CAPITAL),
        ("850", cues.FIGURE),
    ],
)
def test_a_word_gives_its_cue(piece: str, cue: int) -> None:
    assert atom(piece).cues & cue


def test_the_memory_of_atoms_is_bounded_and_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "MEMORY", 2)
    scan.forget()
    pieces = ["one_a", "two_b", "tree", "three_c", "one_a", "tree", "x" * (scan.LONGEST_REMEMBERED + 1)]
    first = [atom(piece) for piece in pieces]
    assert len(scan._stems) <= len(scan._atoms) <= 2
    scan.forget()
    assert [atom(piece) for piece in pieces] == first
