"""The snapshot rule as plain functions: which snapshot serves a branch, and which ones a deletion retires.

The snapshot rule: a snapshot serves every branch that contains its anchor; among those the deepest cutoff wins,
then the newest version that is active. Order is position on the branch, never a clock and never an id, so the
same tree gives the same context on every machine and after every restart.

This is the reference, not what runs. The database decides, in one statement each: `store/walk.py` picks while it walks
up the branch, and `store/deletion.py` retires. Property tests compare both with these functions on random trees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from octavo.core.messages import Branch, Node
from octavo.core.snapshot import Snapshot


def pick(snapshots: Iterable[Snapshot], branch: Branch) -> Snapshot | None:
    """Choose the snapshot that serves a branch, or none."""
    places = {node.id: node.depth for node in branch}
    serving = [
        snapshot
        for snapshot in snapshots
        if snapshot.state == "active"
        and places.get(snapshot.anchor) == snapshot.anchor_depth
        and places.get(snapshot.cutoff) == snapshot.cutoff_depth
    ]
    return max(serving, key=_rank, default=None)


def _rank(snapshot: Snapshot) -> tuple[int, int, int, str]:
    # The id breaks ties between equals only, so that every replica breaks them the same way.
    return (snapshot.cutoff_depth, snapshot.version, snapshot.anchor_depth, snapshot.id)


def retire(snapshots: Iterable[Snapshot], deleted: Node, branches: Iterable[Branch]) -> tuple[Snapshot, ...]:
    """Retire every snapshot that was shown a deleted message: it must not keep what a user deleted."""
    shown = {node.id for branch in branches if deleted in branch for node in branch[deleted.depth - 1 :]}
    return tuple(
        replace(snapshot, state="retired") if snapshot.anchor in shown else snapshot for snapshot in snapshots
    )
