"""The drawing of a tree: every message once, forks in their places, covered ones counted in a line."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from octavo.cli.lines import plain
from octavo.cli.tree import Picture, draw
from octavo.core.messages import assistant, user
from octavo.core.snapshot import draft
from octavo.testing import Tree, talk


def drawn(picture: Picture) -> list[str]:
    return [plain(each) for each in draw(picture)]


def test_a_branch_is_a_column_and_its_tip_is_filled() -> None:
    branch = talk("u: hello", "a: hi\nthere")
    assert drawn(Picture(nodes=branch, tip="m2")) == [
        "○   1 User       hello",
        "●   2 Assistant  hi (+1 lines)",
    ]


def test_forks_are_drawn_below_the_message_they_leave() -> None:
    tree = Tree()
    tree.grow(None, "u: one", "a: two", "u: three", "a: four")
    tree.grow("m2", "u: other", "a: end")
    tree.grow("m3", "a: again")
    assert drawn(Picture(nodes=tuple(tree.nodes.values()), tip="m6")) == [
        "○   1 User       one",
        "○   2 Assistant  two",
        "├─ ·   3 User       three",
        "│  ├─ ·   4 Assistant  four",
        "│  └─ ·   4 Assistant  again",
        "└─ ○   3 User       other",
        "   ●   4 Assistant  end",
    ]


def test_covered_messages_are_counted_in_a_line_and_pins_and_states_are_marked() -> None:
    branch = talk("u: one", "a: two", "u: three", "a: four")
    snapshot = draft(branch, 2, id="s1", summary="")
    picture = Picture(
        nodes=branch, tip="m4", snapshot=snapshot, covered=frozenset({"m1", "m2"}), pinned=frozenset({"m3"})
    )
    assert drawn(picture) == [
        "▸ messages 1 to 2 compressed: 0 → 0 tokens",
        "○   3 User       three [pinned]",
        "●   4 Assistant  four",
    ]


def test_whole_messages_stand_below_their_heads() -> None:
    branch = talk("u: one\ntwo", 'c: look {"at": 1}', "r: found\x1b[2J")
    assert drawn(Picture(nodes=branch, tip="m3", whole=True)) == [
        "○   1 User",
        "      one",
        "      two",
        "○   2 Assistant",
        '      [call look {"at": 1}]',
        "●   3 Tool",
        "      [result] found␛[2J",
    ]


def test_a_long_branch_is_drawn_without_recursion() -> None:
    """Case 34, for the eye."""
    tree = Tree()
    parent = None
    for number in range(5_000):
        parent = tree.add(parent, user(f"{number}")).id
    assert len(drawn(Picture(nodes=tuple(tree.nodes.values()), tip=parent))) == 5_000


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.data())
def test_every_message_is_drawn_or_counted_once(parents: list[int], data: st.DataObject) -> None:
    """Seen failing with: the last covered line of a run left out."""
    tree = Tree()
    for number, wanted in enumerate(parents):
        parent = f"m{wanted % number + 1}" if number and wanted else None
        tree.add(parent, (user if number % 2 else assistant)(f"<{number}>"))
    nodes = tuple(tree.nodes.values())
    covered = data.draw(st.frozensets(st.sampled_from([node.id for node in nodes])))
    shown = drawn(Picture(nodes=nodes, tip=nodes[-1].id, covered=covered))
    seen = [int(found) for each in shown for found in re.findall(r"<(\d+)>", each)]
    assert sorted(seen) == [n for n, node in enumerate(nodes) if node.id not in covered]
    lines = [re.search(r"messages? (\d+)(?: to (\d+))? compressed", each) for each in shown]
    counted = sum(int(found[2] or found[1]) - int(found[1]) + 1 for found in lines if found)
    assert counted == len(covered)
