"""What a file says becomes rows, some at a time; what does not fit together is named with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from octavo.core.messages import digest, user
from octavo.core.recall.passages import Passage
from octavo.core.snapshot import Snapshot
from octavo.errors import BadInput
from octavo.store import new_id
from octavo.store.parts import LARGE
from octavo.store.transfer import importer
from octavo.store.transfer.importer import Importer, ImportPiece
from octavo.store.transfer.items import (
    ConversationEnd,
    ConversationStart,
    Item,
    MessageItem,
    PinItem,
    RecalledItem,
    SnapshotItem,
    TipItem,
)
from octavo.store.values import Entry, PinPlace

IDS = {key: f"{number:032x}" for number, key in enumerate("abcdxyz", start=1)}
"""Ids of messages, in order, and the same in every process."""


def start(**more: object) -> ConversationStart:
    return ConversationStart(line=1, tree="t", **more)  # type: ignore[arg-type]


def said(key: str, parent: str | None, line: int = 2, text: str = "") -> MessageItem:
    entry = Entry(message=user(text or key))
    above = None if parent is None else IDS[parent]
    return MessageItem(line=line, tree="t", key=IDS[key], parent=above, entry=entry)


def pieces(*items: Item) -> list[ImportPiece]:
    return [*Importer(owner=None, title=None, new_ids=False).pieces(items)]


def problem(*items: Item) -> str:
    with pytest.raises(BadInput) as raised:
        pieces(*items)
    return str(raised.value)


CHAIN = (said("a", None), said("b", "a"), said("c", "b"), said("d", "c"))
BESIDE = said("x", "a")


def snapshot(**more: object) -> Snapshot:
    """Make a snapshot of the first two messages that was shown the third."""
    made = Snapshot(
        id=new_id(),
        first=IDS["a"],
        cutoff=IDS["b"],
        cutoff_depth=2,
        anchor=IDS["c"],
        anchor_depth=3,
        summary="a and b",
        messages=2,
        digest=digest([user("a"), user("b")]),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def of_snapshot(**more: object) -> SnapshotItem:
    return SnapshotItem(line=9, tree="t", snapshot=snapshot(**more))


def test_rows_are_laid_out_as_many_as_a_piece_has_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "PIECE", 3)
    pinned = PinItem(line=8, tree="t", pin=PinPlace(node=IDS["a"]))
    recalled = RecalledItem(line=8, tree="t", node=IDS["b"], passages=(passage(),))
    found = pieces(start(), *CHAIN, of_snapshot(), pinned, recalled, ConversationEnd(line=9, tree="t"))
    assert [
        (
            len(one.conversations),
            len(one.messages.messages),
            len(one.snapshots) + len(one.pins) + len(one.recalled),
            len(one.closed),
        )
        for one in found
    ] == [(1, 2, 0, 0), (0, 2, 1, 0), (0, 0, 2, 1)]


def test_long_texts_fill_a_piece_wherever_they_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "PIECE_TEXT", LARGE + 11)
    long = said("c", "b", text="x" * (LARGE + 1))
    found = pieces(start(), said("a", None, text="y" * 9), said("b", "a", text="z"), long, said("d", "c"))
    assert [len(one.messages.messages) for one in found] == [3, 1]
    assert found[0].text == LARGE + 11


def test_messages_may_come_before_their_parents() -> None:
    items = (said("d", "c"), said("c", "b"), said("x", "a"), said("b", "a"), said("a", None))
    (found,) = pieces(start(), *items)
    rows = {row["id"]: row for row in found.messages.messages}
    places = [(row["depth"], row["text"], rows[row["parent_id"]]["text"] if row["parent_id"] else None)
              for row in rows.values()]  # fmt: skip
    assert sorted(places) == [(1, "a", None), (2, "b", "a"), (2, "x", "a"), (3, "c", "b"), (4, "d", "c")]


def test_a_conversation_was_changed_when_it_was_made_if_nothing_else_is_said() -> None:
    day, later = "2020-02-02T02:02:02+00:00", "2021-02-02T02:02:02+00:00"
    for opening, times in (
        (start(created=day), (1_580_608_922_000, 1_580_608_922_000, None)),
        (start(created=day, updated=later), (1_580_608_922_000, 1_612_231_322_000, None)),
        (start(created=day, archived=True), (1_580_608_922_000,) * 3),
    ):
        (row,) = pieces(opening)[0].conversations
        assert (row["created"], row["updated"], row["archived"]) == times


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], "there is no conversation in this file"),
        ([start(), start()], "line 1: the conversation 't' begins twice"),
        ([said("a", None)], "line 2: it comes before the conversation it belongs to"),
        ([start(), said("a", None), said("a", None, 5)], f"line 5: a second message has the id {IDS['a']!r}"),
        (
            [start(), said("a", "y", 7), said("b", "x", 6), said("c", "x", 3), said("d", "z", 8)],
            f"line 6: the parent {IDS['x']!r} of this message is not in the file, or below it",
        ),
        (
            [start(), *CHAIN, TipItem(line=7, tree="t", key="nobody")],
            "line 1: the tip 'nobody' is not in the file",
        ),
        (
            [start(), *CHAIN, PinItem(line=7, tree="t", pin=PinPlace(node="nobody"))],
            "line 7: a pin names the message 'nobody', which is not in the file",
        ),
        (
            [start(), *CHAIN, RecalledItem(line=7, tree="t", node="nobody", passages=())],
            "line 7: passages belong to the message 'nobody', which is not in the file",
        ),
    ],
)
def test_what_does_not_fit_together_is_named(items: Sequence[Item], expected: str) -> None:
    assert problem(*items) == expected


@pytest.mark.parametrize("late", [PinItem(line=7, tree="t", pin=PinPlace(node=IDS["a"])), of_snapshot()])
def test_what_belongs_to_messages_comes_after_all_of_them(late: Item) -> None:
    assert "of this message is not in the file" in problem(start(), *CHAIN, said("z", "y", 5), late)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"first": "m2", "anchor": "m1"},
            "a snapshot names the message 'm1', which is not in the file",
        ),
        ({"anchor_depth": 4}, "a snapshot's depths are not those of its cutoff and anchor"),
        ({"cutoff_depth": 1}, "a snapshot's depths are not those of its cutoff and anchor"),
        (
            {"cutoff": IDS["x"], "digest": digest([user("a"), user("x")])},
            "a snapshot's cutoff and anchor lie on different branches",
        ),
        ({"carried": IDS["x"]}, "a snapshot's cutoff and anchor lie on different branches"),
        ({"digest": b"0" * 16}, "a snapshot does not belong to the messages it covers here"),
        ({}, None),
        ({"digest": b"0" * 16, "state": "retired"}, None),
        ({"cutoff": IDS["c"], "cutoff_depth": 3, "digest": digest(map(user, "abc"))}, None),
    ],
)
def test_a_snapshot_belongs_to_the_messages_that_it_covers(
    change: dict[str, object], expected: str | None
) -> None:
    items = (start(), *CHAIN, BESIDE, of_snapshot(**change))
    if expected is None:
        assert len(pieces(*items)[0].snapshots) == 1
    else:
        assert problem(*items) == f"line 9: {expected}"


def test_where_a_message_was_deleted_the_digest_of_a_snapshot_cannot_be_compared() -> None:
    gone = replace(CHAIN[0], entry=replace(CHAIN[0].entry, status="deleted"))
    (found,) = pieces(start(), gone, *CHAIN[1:], of_snapshot(digest=b"0" * 16))
    assert len(found.snapshots) == 1
    assert [row["digest"] for row in found.messages.messages] == [None] * 4


def passage(**more: object) -> Passage:
    made = Passage(source=IDS["a"], depth=1, channel="user", text="a", start=0, day="", opens=True)
    return replace(made, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"source": IDS["x"], "depth": 2}, f"comes from {IDS['x']!r}, which is not above its message"),
        ({"source": IDS["d"], "depth": 4}, f"comes from {IDS['d']!r}, which is not above its message"),
        ({"source": IDS["c"], "depth": 3}, f"comes from {IDS['c']!r}, which is not above its message"),
        ({"depth": 2}, "'s depth is 2, its source's 1"),
    ],
)
def test_a_passage_comes_from_above_its_message(change: dict[str, object], expected: str) -> None:
    recalled = RecalledItem(line=9, tree="t", node=IDS["c"], passages=(passage(), passage(**change)))
    assert problem(start(), *CHAIN, BESIDE, recalled).endswith(expected)
    (found,) = pieces(start(), *CHAIN, replace(recalled, passages=(passage(),)))
    assert [row["place"] for row in found.recalled[0][1]] == [0]
