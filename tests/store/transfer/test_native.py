"""Octavo's own lines: every field has its kind, and what is not as it should be is named."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from octavo.core.messages import user
from octavo.errors import BadInput, UsageError
from octavo.store import Entry, ForConversation, Store
from octavo.store.transfer import native
from octavo.store.transfer.items import (
    ConversationStart,
    Item,
    MessageItem,
    RecalledItem,
    SettingItem,
    SnapshotItem,
    TipItem,
)
from octavo.store.transfer.native import line_of, read_native
from octavo.store.transfer.source import SourceValue
from tests.store.scenes import fold, long_talk, passage_of

pytestmark = pytest.mark.anyio

Line = dict[str, Any]
OPENING: Line = {"type": "conversation", "octavo": 2, "id": "c"}


def read(*lines: Line) -> list[Item]:
    return [*read_native(SourceValue(number, line) for number, line in enumerate(lines, start=1))]


def read_one(line: Line, **opening: object) -> Item:
    """Read one line of a conversation."""
    found = read({**OPENING, **opening}, line, {"type": "end", line["type"]: 1})
    return found[1]


def problem(*lines: Line) -> str:
    with pytest.raises(BadInput) as raised:
        read(*lines)
    return str(raised.value)


async def exported(store: Store, *ids: str) -> list[Line]:
    file = io.StringIO()
    await store._database.view(lambda c: native.export(c, ids, file))
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_a_message_says_what_is_not_as_usual_and_nothing_else() -> None:
    said: Line = {"type": "message", "id": "m", "message": {"role": "user", "parts": []}}
    found = read_one(said)
    assert isinstance(found, MessageItem)
    assert found.entry == Entry(message=found.entry.message, id="m")
    more = {"counts": {"words": 0}, "input_tokens": 0, "output_tokens": 7, "model": "m", "status": "error"}
    found = read_one({**said, **more, "parent": "p", "created": "2020-02-02"})
    assert isinstance(found, MessageItem)
    assert (found.parent, found.entry.counts, found.entry.input_tokens, found.entry.output_tokens) == (
        "p",
        {"words": 0},
        0,
        7,
    )
    assert (found.entry.model, found.entry.status, found.entry.created) == ("m", "error", "2020-02-02")
    assert read_one({**said, "counts": None}) == read_one(said)
    for wrong, where in (
        ({"status": "lost"}, "line 2.status: unknown status 'lost'; one of complete, "),
        ({"counts": {"words": "two"}}, "line 2.counts.words"),
        ({"input_tokens": -1}, "line 2.input_tokens"),
        ({"output_tokens": "x"}, "line 2.output_tokens"),
    ):
        assert problem(OPENING, {**said, **wrong}).startswith(where)


def test_a_conversation_says_where_it_is_listed_and_what_labels_it_has() -> None:
    end = {"type": "end"}
    (start, _) = read({**OPENING, "archived": True, "labels": ["a", 5, " b "]}, end)
    assert isinstance(start, ConversationStart)
    assert (start.archived, start.labels) == (True, ("a", "b"))
    (start, tip, _) = read({**OPENING, "archived": "yes", "tip": "m"}, end)
    assert isinstance(start, ConversationStart)
    assert (start.archived, start.labels) == (False, ())
    assert isinstance(tip, TipItem)
    assert problem({**OPENING, "labels": ["x" * 41]}) == (
        "line 1.labels: expected 1 to 40 characters, got 41"
    )
    assert problem({**OPENING, "octavo": 3}) == (
        "line 1.octavo: written by a newer Octavo; update this one to read it"
    )


def test_what_comes_before_the_end_is_counted() -> None:
    pin = {"type": "pin", "node": "m", "start": 0, "stop": 0}
    assert len(read(OPENING, pin, pin, {"type": "end", "pin": 2}, OPENING, {"type": "end"})) == 6
    assert problem(OPENING, pin, {"type": "end", "pin": 2}) == (
        "line 3: lines are missing: {'pin': 2} were written, {'pin': 1} are here"
    )
    assert problem(OPENING, pin) == ("line 2: the file ends before the conversation does: it was cut off")


def test_a_setting_may_be_null() -> None:
    for boxed, value in (([None], None), ([False], False), ([[1]], [1]), ([], None)):
        found = read_one({"type": "setting", "key": "k", "value": boxed})
        assert isinstance(found, SettingItem)
        assert (found.key, found.value) == ("k", value)


def test_a_passage_says_where_it_stands_and_whether_something_was_left_out() -> None:
    plain: Line = {"source": "m", "depth": 1, "channel": "user", "text": "t", "part": 0, "start": 0}
    for more, opens, closes in (
        ({"opens": True, "closes": True}, True, True),
        ({"opens": True}, True, False),
        ({"opens": "yes", "closes": 1}, False, False),
    ):
        found = read_one({"type": "recalled", "node": "n", "passages": [{**plain, **more}]})
        assert isinstance(found, RecalledItem)
        assert [(one.opens, one.closes) for one in found.passages] == [(opens, closes)]
    wrong = {"type": "recalled", "node": "n", "passages": [plain, {**plain, "channel": "boss"}]}
    assert problem(OPENING, wrong) == "line 2.passages[1].channel: unknown channel 'boss'"


async def snapshot_line(store: Store) -> Line:
    made, branch = await long_talk(store, 6)
    await store.snapshots.add(made.id, fold(branch, 3))
    return next(line for line in await exported(store, made.id) if line["type"] == "snapshot")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"model": 5}, "line 2.content.model: expected str, got int"),
        ({"summaryText": None}, "line 2.content.summary: expected str, got NoneType"),
        ({"earlier_files": "x"}, "line 2.content.earlier_files: expected int, got str"),
        ({"kind": "wild"}, "line 2.content: unknown kind 'wild' or state 'active'"),
        (
            {"extracts": [{"source": "m", "text": "t"}, {"source": "m", "text": "t", "line": "x"}]},
            "line 2.content.extracts[1].line: expected int, got str",
        ),
        ({"extracts": [{"text": "t"}]}, "line 2: not a snapshot: TypeError"),
        ({"messageRange": {}}, "line 2: not a snapshot: KeyError"),
        ({"extracts": 5}, "line 2: not a snapshot: TypeError"),
    ],
)
async def test_every_field_of_a_snapshot_is_of_its_kind(memory: Store, change: Line, expected: str) -> None:
    line = await snapshot_line(memory)
    assert isinstance(read_one(line), SnapshotItem)
    wrong = {**line, "content": {**line["content"], **change}}
    assert problem(OPENING, wrong).startswith(expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"state": "asleep"}, "line 2.content: unknown kind 'auto' or state 'asleep'"),
        ({"version": "x"}, "line 2.version"),
        ({"cutoff_depth": -1}, "line 2.cutoff_depth"),
        ({"content": "none"}, "line 2.content"),
    ],
)
async def test_where_a_snapshot_stands_is_read_beside_it(memory: Store, change: Line, expected: str) -> None:
    line = await snapshot_line(memory)
    assert problem(OPENING, {**line, **change}).startswith(expected)


async def test_long_conversations_are_written_page_by_page(
    memory: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "PAGE", 2)
    made, branch = await long_talk(memory, 5)
    await memory.messages.set_counts("words", {branch[4].id: 0, branch[1].id: 3})
    lines = [line for line in await exported(memory, made.id) if line["type"] == "message"]
    assert [line["id"] for line in lines] == [node.id for node in branch]
    assert [line.get("counts") for line in lines] == [None, {"words": 3}, None, None, {"words": 0}]


async def test_older_programs_can_read_what_says_nothing_of_recall(memory: Store) -> None:
    made, branch = await long_talk(memory, 3)
    await memory.pins.add(branch[0].id, 0, 2)
    await memory.settings.put(ForConversation(made.id), "auto", False)
    before = await exported(memory, made.id)
    assert (before[0]["octavo"], before[-1]) == (1, {"type": "end", "message": 3, "setting": 1, "pin": 1})
    assert {"type": "pin", "node": branch[0].id, "start": 0, "stop": 2} in before
    await memory.passages.add(made.id, branch[2].id, (passage_of(branch[0]),))
    after = await exported(memory, made.id)
    assert (after[0]["octavo"], after[-1]["recalled"]) == (2, 1)


async def test_an_export_that_begins_again_leaves_nothing_of_what_it_wrote_before(memory: Store) -> None:
    made, _ = await long_talk(memory, 3)
    file = io.StringIO()
    for _ in range(2):
        await memory._database.view(lambda c: native.export(c, [made.id], file))
    assert file.getvalue().count('"type":"conversation"') == 1


class Full(io.StringIO):
    """A file on a disk that is full."""

    name = "full.jsonl"

    def write(self, text: str) -> int:  # noqa: ARG002
        raise OSError(28, "No space left on device")


async def test_a_file_that_cannot_be_written_is_the_callers_matter(memory: Store) -> None:
    made, _ = await long_talk(memory, 1)
    with pytest.raises(UsageError, match=r"cannot write full\.jsonl: No space left on device"):
        await memory._database.view(lambda c: native.export(c, [made.id], Full()))


def test_what_utf_8_has_no_form_for_is_written_as_an_escape() -> None:
    line = line_of({"type": "x", "text": "é \ud800"})
    assert line == '{"type":"x","text":"é \\ud800"}\n'
    assert json.loads(line)["text"] == "é \ud800"
    assert user("é").text in line_of({"text": "é"})
