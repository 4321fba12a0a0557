"""Cases 25-31, 33, 93-95, 97-98: which snapshot serves a branch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.messages import Attachment, Message, Node, Text, digest, user
from octavo.core.snapshot import (
    Extract,
    Snapshot,
    State,
    carried_of,
    draft,
    export,
    look_ahead,
    says_nothing,
)
from octavo.core.snapshot_rule import pick, retire
from octavo.errors import NotOnBranch
from octavo.testing import Tree, talk


def snap(branch: tuple[Node, ...], cut: int, id: str = "s", **changes: object) -> Snapshot:
    shown = look_ahead(branch, cut)
    return replace(draft(branch, cut, id=id, summary=f"summary {id}", shown=shown), **changes)  # type: ignore[arg-type]


def test_a_summariser_looks_ahead_to_before_the_newest_question() -> None:
    branch = talk("u: 1", "a: 2", "u: 3", "a: 4", "u: 5", "a: 6")
    assert [node.id for node in look_ahead(branch, 2)] == ["m3", "m4"]
    assert [node.id for node in look_ahead(branch, 2, question=True)] == ["m3", "m4", "m5"]
    assert look_ahead(branch, 4) == look_ahead(branch, 6) == ()


def test_the_anchor_is_the_deepest_node_that_anything_can_come_from() -> None:
    branch = talk("u: 1", "a: 2", "u: 3", "a: 4", "u: 5", "a: 6")
    assert draft(branch, 2, id="lines", summary="").anchor == "m2"
    told = draft(branch, 2, id="told", summary="x", shown=branch[2:4])
    assert (told.anchor, told.anchor_depth) == ("m4", 4)
    carried_on = draft(branch, 3, id="next", summary="x", previous=told)
    assert (carried_on.anchor, carried_on.anchor_depth) == ("m4", 4)
    further = draft(branch, 5, id="further", summary="x", previous=told)
    assert (further.anchor, further.anchor_depth) == ("m5", 5)


def test_a_snapshot_is_not_continued_on_a_branch_without_its_anchor() -> None:
    """Case 132."""
    tree = Tree()
    start = tree.grow(None, "u: 1", "a: 2", "u: 3")
    told = snap(tree.branch(tree.grow(start, "a: 4", "u: 5")), 2, "told")
    assert told.anchor == "m4"
    elsewhere = tree.branch(tree.grow(start, "a: other", "u: more"))
    with pytest.raises(NotOnBranch, match="told belongs to another branch"):
        draft(elsewhere, 3, id="s", summary="", previous=told)


def test_a_snapshot_that_has_no_word_of_what_it_covers_says_nothing() -> None:
    """Case 133."""
    branch = talk("u: 1", "a: 2", "u: 3")
    assert says_nothing(draft(branch, 2, id="s", summary=" "))
    assert not says_nothing(draft(branch, 2, id="s", summary="one"))
    line = Extract(source="m1", text="1")
    assert not says_nothing(draft(branch, 2, id="s", summary="", extracts=[line]))


def test_a_draft_knows_what_it_covers() -> None:
    branch = talk("s: rules", "u: 1", "a: 2", "u: 3", "a: 4")
    made = snap(branch, 3)
    assert (made.first, made.cutoff, made.cutoff_depth, made.messages) == ("m2", "m3", 3, 2)
    assert made.digest == digest(node.message for node in branch[:3])


def test_the_next_draft_takes_over_from_the_previous_cutoff() -> None:
    """Cases 93, 94: the branch may begin after the previous cutoff; the digest is that of the whole."""
    branch = talk("s: rules", "u: 1", "a: 2", "u: 3", "a: 4", "u: 5", "a: 6")
    first = snap(branch, 3, "s1")
    second = draft(branch, 5, id="s2", summary="", previous=first)
    partial = draft(branch[3:], 2, id="s2", summary="", previous=first)
    assert second == partial
    assert (second.first, second.cutoff, second.messages, second.previous) == ("m2", "m5", 4, "s1")
    assert second.digest == digest(node.message for node in branch[:5])


@pytest.mark.parametrize("cut", [0, 1, 3])
def test_a_draft_of_nothing_is_refused(cut: int) -> None:
    with pytest.raises(NotOnBranch, match=f"cut {cut} of a branch of 2"):
        draft(talk("s: rules", "u: 1"), cut, id="s", summary="")


def test_files_of_covered_messages_are_listed_once() -> None:
    """Case 62."""
    file = Attachment(name="plan.pdf", media_type="application/pdf", size=12_345)
    tree = Tree()
    tip: str | None = None
    for message in (Message(role="user", parts=(Text(text="see"), file)), user("b"), user("c")):
        tip = tree.add(tip, message).id
    assert tip is not None
    branch = tree.branch(tip)
    first = snap(branch, 1)
    assert first.files == ("plan.pdf (application/pdf, 12,345 bytes)",)
    assert draft(branch, 2, id="t", summary="", previous=first).files == first.files


def test_a_message_whose_turn_goes_on_is_carried() -> None:
    branch = talk("u: 1", "a: 2", "u: do", "c: ls", "r: x", "c: cat", "r: y")
    assert snap(branch, 5).carried == "m3"
    assert carried_of(branch, 2) is None
    assert carried_of(branch, 7) is None
    assert carried_of(talk("a: 1", "a: 2"), 1) is None


def test_a_summary_of_one_branch_is_not_used_on_one_that_left_before_its_anchor() -> None:
    """Cases 25, 27 and 95."""
    tree = Tree()
    start = tree.grow(None, "u: 1", "a: 2", "u: 3", "a: 4")
    tip = tree.grow(start, "u: 5", "a: 6")
    made = snap(tree.branch(tip), 2)
    assert made.anchor == "m4"
    assert pick([made], tree.branch(tip)) == made
    edited_before_cutoff = tree.grow("m1", "a: y", "u: z")
    edited_between = tree.grow("m2", "u: w", "a: v")
    for other in (edited_before_cutoff, edited_between):
        assert pick([made], tree.branch(other)) is None
    edited_last = tree.grow(start, "u: other", "a: x")
    assert pick([made], tree.branch(edited_last)) == made


def test_regenerated_and_sibling_answers_share_the_snapshot() -> None:
    """Case 26."""
    tree = Tree()
    question = tree.grow(None, "u: 1", "a: 2", "u: 3")
    made = snap(tree.branch(tree.grow(question, "a: 4")), 2)
    for answer in ("a: 4b", "a: 4c"):
        assert pick([made], tree.branch(tree.grow(question, answer))) == made


def test_one_made_without_look_ahead_serves_every_fork_below_its_cutoff() -> None:
    """Case 95."""
    tree = Tree()
    tip = tree.grow(None, "u: 1", "a: 2")
    made = snap(tree.branch(tip), 2)
    assert made.anchor == made.cutoff
    for fork in ("u: x", "u: y"):
        assert pick([made], tree.branch(tree.grow(tip, fork))) == made


def test_the_deepest_cutoff_wins_then_the_newest_version() -> None:
    """Cases 28 and 31: neither a clock nor an id decides."""
    branch = talk("u: 1", "a: 2", "u: 3", "a: 4", "u: 5", "a: 6", "u: 7")
    deep = snap(branch, 4, "a", created="2020", version=1)
    shallow = snap(branch, 2, "z", created="2030", version=9)
    assert pick([shallow, deep], branch) == deep
    newer = replace(deep, id="0", version=2)
    assert pick([newer, deep, shallow], branch) == newer
    rewound = branch[:3]
    assert pick([snap(branch[:3], 2, "r"), deep, newer], rewound) == snap(branch[:3], 2, "r")
    assert pick([deep], branch[:2]) is None


def test_equal_snapshots_are_told_apart_the_same_way_everywhere() -> None:
    branch = talk("u: 1", "a: 2", "u: 3")
    one, two = snap(branch, 2, "one"), snap(branch, 2, "two")
    assert pick([one, two], branch) == pick([two, one], branch) == two


@pytest.mark.parametrize("state", ["undone", "retired"])
def test_only_an_active_snapshot_serves(state: State) -> None:
    """Case 98."""
    branch = talk("u: 1", "a: 2", "u: 3")
    made = snap(branch, 2)
    assert pick([made], branch) == made
    assert pick([replace(made, state=state)], branch) is None


def test_deleting_a_message_retires_every_snapshot_that_was_shown_it() -> None:
    """Cases 29 and 97."""
    tree = Tree()
    start = tree.grow(None, "u: 1", "a: 2", "u: 3", "a: 4")
    left, right = tree.grow(start, "u: 5"), tree.grow("m2", "u: 6", "a: 7")
    on_left, on_right, early = (
        snap(tree.branch(left), 2, "left"),
        snap(tree.branch(right), 2, "right"),
        snap(tree.branch("m2"), 2, "early"),
    )
    branches = [tree.branch(left), tree.branch(right)]
    states = {s.id: s.state for s in retire([on_left, on_right, early], tree.nodes["m3"], branches)}
    assert states == {"left": "retired", "right": "active", "early": "active"}
    assert {s.state for s in retire([on_left, on_right, early], tree.nodes["m1"], branches)} == {"retired"}


def test_the_export_has_the_shape_of_the_requirements() -> None:
    """FR-4.2.1."""
    branch = talk("u: 1", "a: 2", "u: 3")
    made = snap(
        branch,
        2,
        kind="regenerated",
        tokens_before=50_000,
        tokens_after=2_000,
        created="2025-11-16T10:30:00Z",
    )
    assert export(made) == {
        "summaryText": "summary s",
        "messageRange": {"firstMessageId": "m1", "lastMessageId": "m2"},
        "compressionTimestamp": "2025-11-16T10:30:00Z",
        "compressionType": "manual",
        "originalTokenCount": 50_000,
        "summaryTokenCount": 2_000,
        "messagesIncluded": 2,
    }
    assert export(replace(made, kind="auto"), "whole text")["summaryText"] == "whole text"
    assert export(replace(made, kind="auto"))["compressionType"] == "auto"
