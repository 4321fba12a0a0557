"""Values of a file: each with its line, however little of the file is read at a time; what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.core.json_values import Json
from octavo.errors import BadInput
from octavo.store.transfer import source
from octavo.store.transfer.source import read_values

ARRAY = '  \n[12,\n\n {"a": "],[\\"\\n",\n "b": [true,\n null]} ,345\n,"x\\\\" , -6.5e1]\n \n'
READ: list[tuple[int, Json]] = [
    (2, 12),
    (4, {"a": '],["\n', "b": [True, None]}),
    (6, 345),
    (7, "x\\"),
    (7, -65.0),
]


def read(folder: Path, text: str | bytes) -> list[tuple[int, Json]]:
    path = folder / "file.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(one.line, one.value) for one in read_values(path)]


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1 << 20])
def test_an_array_is_read_the_same_however_little_is_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(source, "PIECE", piece)
    assert read(tmp_path, ARRAY) == READ
    assert read(tmp_path, "[]") == read(tmp_path, " [ ] ") == []


def test_lines_are_numbered_the_blank_ones_too_and_an_object_may_take_many(tmp_path: Path) -> None:
    assert read(tmp_path, '1\n\n \n{"a": 2}\n3') == [(1, 1), (4, {"a": 2}), (5, 3)]
    assert read(tmp_path, '\ufeff\n{\n "a": 1\n}\n') == [(2, {"a": 1})]


@pytest.mark.parametrize("piece", [1, 1 << 20])
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[\n{"a": 1}', "line 2: the file ends inside its array: it was cut off"),
        ('[\n{"a": 1}\n\n{"b": 2}]', "line 4: expected a comma or the end of the array, found '{'"),
        ("[1]\n\nx", "line 3: something follows the array; give one array, or one value in each line"),
        ("[1,\n2,\n NaN]", "line 3: NaN is not JSON"),
        ("[1,\n2,\n]", "line 3: not JSON: Expecting value"),
        ("1\n2\nInfinity", "line 3: Infinity is not JSON"),
        ('1\n{\n"a": 1,\n"b" 2}', "line 4: not JSON: Expecting ':' delimiter"),
        ('1\n{"a": 1\n}', "line 2: not JSON: Expecting ',' delimiter"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, text: str, problem: str
) -> None:
    monkeypatch.setattr(source, "PIECE", piece)
    with pytest.raises(BadInput) as raised:
        read(tmp_path, text)
    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b'"\xe9"', 1),
        (b'\n["\xe9"]', 1),
        (b'"' + b"x" * 40_000 + b'\xe9"', 1),
        (b"1\n" * 20_000 + b'"\xe9"', None),
        (b"[1,\n" + b"1,\n" * 3 + b'"' + b"x" * 40_000 + b'\xe9"]', 5),
    ],
)
def test_what_is_no_text_is_named_where_it_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, line: int | None
) -> None:
    monkeypatch.setattr(source, "PIECE", 10)
    with pytest.raises(BadInput, match=r"not UTF-8 text .byte 0xe9.; is this a JSON file") as raised:
        read(tmp_path, text)
    assert raised.value.where.startswith("line ")
    if line is not None:
        assert raised.value.where == f"line {line}"
