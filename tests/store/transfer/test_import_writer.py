"""How rows are stored: in groups that take a moment each, and told apart from what is there already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from octavo.errors import BadInput, UsageError
from octavo.store import Store
from octavo.store.schema import conversation
from octavo.store.transfer import import_writer
from octavo.store.transfer.import_writer import ImportWriter, _measured, _some
from tests.store.scenes import fold, import_text, long_talk, passage_of
from tests.store.test_importing import let_time_pass, pieces_of, watched, write_file

pytestmark = pytest.mark.anyio


def test_a_group_has_so_many_rows_and_so_much_text_at_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_writer, "GROUP", 3)
    monkeypatch.setattr(import_writer, "GROUP_TEXT", 10)
    sizes = [1, 1, 1, 1, 9, 1, 5, 5, 1, 99, 0, 7, 2]
    rows = [{"text": "x" * size} for size in sizes] + [{"tokens": 5}] * 4
    found = [[len(row.get("text", "-")) for row in group] for group in _measured(rows)]
    assert found == [[1, 1, 1], [1, 9], [1, 5], [5, 1], [99], [0, 7, 2], [1, 1, 1], [1]]
    assert [*_measured([])] == []


def test_ids_are_named_so_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_writer, "MANY", 2)
    assert [*_some("abcde")] == ["ab", "cd", "e"]
    assert [*_some("")] == []


@pytest.mark.parametrize("hold", [0.0, 60.0])
async def test_each_transaction_goes_on_where_the_last_one_ended(
    memory: Store, monkeypatch: pytest.MonkeyPatch, hold: float
) -> None:
    """However many conversations a statement names, and however many rows it stores."""
    monkeypatch.setattr(import_writer, "HOLD", hold)
    monkeypatch.setattr(import_writer, "GROUP", 2)
    monkeypatch.setattr(import_writer, "MANY", 2)
    lines = [
        json.dumps({"messages": [{"role": "user", "content": f"{i}.{k}"} for k in range(5)]}) + "\n"
        for i in range(5)
    ]
    read = await import_text(memory, lines)
    said = [[node.message.text for node in await memory.tree.branch(one.tip or "")] for one in read]
    assert said == [[f"{i}.{k}" for k in range(5)] for i in range(5)]
    assert await memory.check() == ()


async def test_an_import_that_goes_on_quickly_does_not_tell_again_and_again_that_it_is_alive(
    memory: Store, tmp_path: Path
) -> None:
    path, due = write_file(tmp_path / "long.jsonl", 1_200), list[int]()

    async def look() -> None:
        due.append(await memory._database.read(lambda c: c.scalar(sa.select(conversation.c.due))))
        await let_time_pass(memory)

    (read,) = await ImportWriter(memory._database).run(watched(pieces_of(path), look))
    assert read.messages == 1_200
    assert len(due) == 3
    assert due[0] > due[1] == due[2] == 1


async def test_what_is_stored_already_is_told_by_what_it_is(memory: Store, tmp_path: Path) -> None:
    made, branch = await long_talk(memory, 6)
    stored = await memory.snapshots.add(made.id, fold(branch, 3))
    await memory.pins.add(branch[0].id)
    await memory.passages.add(made.id, branch[5].id, (passage_of(branch[0]),))
    path = tmp_path / "one.jsonl"
    await memory.export(path, [made.id])
    lines = path.read_text("utf-8").splitlines()
    kinds = [json.loads(line)["type"] for line in lines]
    other, _ = await long_talk(memory, 1)
    taken = [line.replace(made.id, other.id) for line in lines]
    with pytest.raises(UsageError, match=f"conversation {other.id} is already here"):
        await import_text(memory, "\n".join(taken))
    await memory.bin.delete(other.id)
    with pytest.raises(UsageError, match="messages of this file are already in the store"):
        await import_text(memory, "\n".join(taken))
    await memory.bin.delete(made.id)
    for kind, problem in (
        ("snapshot", "its id, or its version for this cutoff, is already in the store"),
        ("pin", "this is pinned already"),
        ("recalled", "what was recalled for this message was said already"),
    ):
        at = kinds.index(kind)
        end = {**json.loads(lines[-1]), kind: 2}
        twice = [*lines[: at + 1], lines[at], *lines[at + 1 : -1], json.dumps(end)]
        with pytest.raises(BadInput) as raised:
            await import_text(memory, "\n".join(twice))
        assert str(raised.value) == f"line {at + 2}: {problem}"
    (read,) = await memory.import_file(path)
    assert [one.id for one in await memory.snapshots.of_conversation(read.id)] == [stored.id]
