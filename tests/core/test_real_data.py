"""Real conversations: every one reads, splits, builds and hardens; branches of real trees never mix."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from octavo.core.context import ContextInputs, build_context, coverage_problems
from octavo.core.harden import harden
from octavo.core.messages import Message, Node, place
from octavo.core.protocol import RULES, check
from octavo.core.snapshot import Snapshot, draft
from octavo.core.snapshot_rule import pick
from octavo.core.split import split
from octavo.core.wire import read, write
from octavo.testing import WordMeter

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
FILES = ["locomo10", "longmemeval_merged", "agent_miniswe", "agent_tau_airline", "agent_pi_sessions"]
METER = WordMeter()

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared conversations are not on this machine")


def records(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize("name", FILES)
def test_every_conversation_reads_splits_builds_and_hardens(name: str) -> None:
    for record in records(name):
        said = read("openai", record["messages"])
        branch = place(said)
        sizes = [METER.message(message) for message in said]
        snapshots: list[Snapshot] = []
        for step in range(1, 4):
            end = len(branch) * step // 3
            part = branch[:end]
            previous = pick(snapshots, part)
            chosen = split(
                said[:end],
                sizes[:end],
                sum(sizes[:end]) // 5,
                start=previous.cutoff_depth if previous else 0,
                room=sum(sizes[:end]) // 3,
            )
            if chosen:
                made = draft(part, chosen.cut, id=f"s{step}", summary="so far", previous=previous)
                snapshots.append(made)
            assert_valid(part, snapshots)
        assert_valid(branch, snapshots)


def assert_valid(branch: tuple[Node, ...], snapshots: list[Any]) -> None:
    snapshot = pick(snapshots, branch)
    carried = tuple(node for node in branch if snapshot and node.id in snapshot.sent_along)
    context = build_context(ContextInputs(branch=branch, snapshot=snapshot, carried=carried))
    assert coverage_problems(branch, context) == ()
    for rules in RULES.values():
        hardened = harden(context.messages, rules)
        assert check(hardened.messages, rules) == ()
        write(rules.name, hardened.messages)  # type: ignore[arg-type]


def trees() -> Iterator[dict[str, Node]]:
    for record in records("oasst1_en_trees"):
        nodes: dict[str, Node] = {}
        for message in record["messages"]:
            parent = nodes.get(message["parent_id"])
            said = read("openai", [{"role": message["role"], "content": message["content"]}])
            nodes[message["id"]] = Node(
                id=message["id"],
                parent=parent.id if parent else None,
                depth=parent.depth + 1 if parent else 1,
                message=said[0],
            )
        yield nodes


def walk(nodes: dict[str, Node], tip: str) -> tuple[Node, ...]:
    path: list[Node] = []
    at: str | None = tip
    while at is not None:
        path.append(nodes[at])
        at = nodes[at].parent
    return tuple(reversed(path))


def words(messages: tuple[Message, ...]) -> set[str]:
    return {word for message in messages for word in message.text.split()}


def test_no_word_leaks_between_the_branches_of_real_trees() -> None:
    """All 881 leaves, each compressed once on its own branch with a summary of its covered words."""
    leaves = 0
    for nodes in trees():
        tips = [id for id in nodes if id not in {node.parent for node in nodes.values()}]
        snapshots = []
        for tip in tips:
            branch = walk(nodes, tip)
            said = [node.message for node in branch]
            chosen = split(said, [METER.message(message) for message in said], 0)
            if chosen:
                summary = " ".join(sorted(words(tuple(said[: chosen.cut]))))
                snapshots.append(draft(branch, chosen.cut, id=tip, summary=summary))
        for tip in tips:
            branch = walk(nodes, tip)
            snapshot = pick(snapshots, branch)
            context = build_context(ContextInputs(branch=branch, snapshot=snapshot))
            empty = replace(snapshot, summary=".") if snapshot else None
            wrapper = words(build_context(ContextInputs(branch=branch, snapshot=empty)).summary)
            own = words(tuple(node.message for node in branch)) | wrapper - {"."}
            assert words(context.messages) <= own
            leaves += 1
    assert leaves == 881
