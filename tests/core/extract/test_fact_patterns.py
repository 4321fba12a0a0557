"""Names, dates in words, long numbers, settings."""

from __future__ import annotations

import pytest

from octavo.core.extract.fact_patterns import LONGEST_KEY, LONGEST_SETTING, LONGEST_VALUE, names, setting
from octavo.core.extract.units import analyse
from octavo.core.messages import user


def found(text: str, kind: str) -> list[str]:
    return [
        identifier.text
        for unit in analyse(user(text)).units
        for identifier in unit.identifiers
        if identifier.kind == kind
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("I met Maria Lopez and Tom in Berlin.", ["Maria Lopez", "Tom", "Berlin"]),
        ("Then Clara called on Monday.", ["Clara"]),
        ("We saw Oliver's dog and Anne-Marie O'Brien.", ["Oliver", "Anne-Marie O'Brien"]),
        ("Please DO NOT TOUCH the Makefile.", ["Makefile"]),
        ("Then Tom wrote KEEP OUT for Ann.", ["Tom", "Ann"]),
        ("Then Tom joined NASA.", ["Tom", "NASA"]),
        ("Then Tom joined NASA Ames.", ["Tom", "NASA Ames"]),
        ("Вчера мы видели Анну Петрову.", ["Анну Петрову"]),
        ("我昨天看了《三体》和「雪国」。", ["三体", "雪国"]),
        ("Nothing here.", []),
    ],
)
def test_names_are_found_inside_sentences(text: str, named: list[str]) -> None:
    assert [name for unit in analyse(user(text)).units for name in names(unit.text, unit.cues)] == named


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("It was on 8 May, 2023 in the evening.", ["8 May, 2023"]),
        ("Fly on May 20th, please.", ["May 20th"]),
        ("They come back on 14 May.", ["14 May"]),
        ("On 7 Oct. they came back.", ["7 Oct."]),
        ("Since March 2021 we wait.", ["March 2021"]),
        ("Sie zog am 12. März 2024 um.", ["12. März 2024"]),
        ("Она приехала 5 мая 2023.", ["5 мая 2023"]),
        ("Nos vemos el 3 de mayo de 2024.", ["3 de mayo de 2024"]),
        ("会议在2024年5月20日。", ["2024年5月20日"]),
        ("في 12 مارس 2024.", ["12 مارس 2024"]),
        ("5 मई 2023 को।", ["5 मई 2023"]),
    ],
)
def test_dates_in_words_are_found_and_their_parts_are_no_numbers(text: str, dates: list[str]) -> None:
    assert found(text, "date") == dates
    assert found(text, "number") == []


def test_a_number_with_separators_is_one_number() -> None:
    assert found("It cost $1,234.50 and 12,000 more.", "number") == ["$1,234.50", "12,000"]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Deadline: Friday", ("deadline", "Friday")),
        ("PORT=8080", ("port", "8080")),
        ("max size = 12 MB,", ("max size", "12 MB")),
        ("预算：850欧元", ("预算", "850欧元")),
        ("theme = loadTheme(name)", None),
        ("Note: this is a whole sentence about it.", None),
        ("Plan: first this then that then more", None),
        ("Plan: first this then that", ("plan", "first this then that")),
        ("Plan: first this, then that one", None),
        ("no value here", None),
        ("Deadline:", None),
        (": empty key", None),
    ],
)
def test_a_line_that_gives_a_value_is_a_setting(line: str, value: tuple[str, str] | None) -> None:
    assert setting(line) == value


def test_a_setting_may_be_as_long_as_its_longest_key_and_value_with_some_blanks() -> None:
    key, value = "k" * LONGEST_KEY, "v" * LONGEST_VALUE
    assert setting(f"{key}: {value}") == (key, value)
    assert setting(f"{key}k: {value}") is None
    assert setting(f"{key}: {value}v") is None
    blanks = " " * (LONGEST_SETTING - LONGEST_KEY - LONGEST_VALUE - 1)
    assert setting(f"{key}:{blanks}{value}") == (key, value)
    assert setting(f"{key}:{blanks} {value}") is None
