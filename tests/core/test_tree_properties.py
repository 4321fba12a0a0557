"""The promises of the tree, kept while it grows: forks, tool units, compressions, edits, undo, deletion.

Each run plays a random life of a conversation and checks every tip after every step. A message's text names its
node, and a summary names the nodes it was made from, so that a leak between branches shows by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.budget import ModelCard, Reading
from octavo.core.context import Context, ContextInputs, Pin, build_context, coverage_problems
from octavo.core.harden import harden
from octavo.core.messages import Branch, Message, Node, Text, ToolCall, ToolResult, digest
from octavo.core.policy import OCTAVO, Compress, Policy, Prepare, budget_for, decide, preset, retained_tokens
from octavo.core.protocol import RULES, check, pair_problems
from octavo.core.snapshot import Snapshot, State, draft, look_ahead
from octavo.core.snapshot_rule import pick, retire
from octavo.core.split import split
from octavo.testing import Tree, WordMeter

METER = WordMeter()
CARD = ModelCard(name="tiny", window=600, max_output=60)
NAME = re.compile(r"\bm\d+\b")

OTHER: dict[State, State] = {"active": "undone", "undone": "active"}
"""What undo and redo make of a snapshot; a retired one stays retired."""


@dataclass
class Life:
    """A conversation that things happen to."""

    random: Random
    policy: Policy = OCTAVO
    tree: Tree = field(default_factory=Tree)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    pins: set[str] = field(default_factory=set)
    compressions: int = 0

    def __post_init__(self) -> None:
        self.policy = replace(self.policy, minimum=0)
        self.say(None, "user")

    def say(self, parent: str | None, role: str, *extra: Text | ToolCall | ToolResult) -> str:
        name = f"m{len(self.tree.nodes) + 1}"
        words = Text(text=name + " w" * self.random.randint(1, 12))
        parts = extra if role == "tool" else (words, *extra)
        return self.tree.add(parent, Message(role=role, parts=parts)).id  # type: ignore[arg-type]

    def tip(self) -> str:
        return self.random.choice(self.tree.tips)

    def live(self, step: int) -> None:
        actions = (
            [self.turn] * 6
            + [self.tools] * 2
            + [self.fork, self.compress, self.again, self.toggle, self.delete, self.pin]
        )
        self.random.choice(actions)()
        if step % 5 == 0:
            self.compress()

    def turn(self) -> None:
        self.say(self.say(self.tip(), "user"), "assistant")

    def tools(self) -> None:
        at = self.say(self.tip(), "user")
        for _ in range(self.random.randint(1, 2)):
            ids = [f"call{len(self.tree.nodes)}-{n}" for n in range(self.random.randint(1, 3))]
            at = self.say(at, "assistant", *(ToolCall(id=id, name="run", input="{}") for id in ids))
            for id in ids:
                name = f"m{len(self.tree.nodes) + 1}"
                at = self.say(at, "tool", ToolResult(call_id=id, content=(Text(text=name + " r" * 9),)))
        if self.random.random() < 0.8:
            self.say(at, "assistant")

    def fork(self) -> None:
        """Edit or regenerate: a sibling of some message."""
        node = self.random.choice(list(self.tree.nodes.values()))
        if node.message.role in ("user", "assistant"):
            self.say(node.parent, node.message.role)

    def pin(self) -> None:
        self.pins.add(
            self.random.choice([n.id for n in self.tree.nodes.values() if n.message.role == "user"])
        )

    def toggle(self) -> None:
        if self.snapshots:
            chosen = self.random.choice(list(self.snapshots.values()))
            state = OTHER.get(chosen.state, chosen.state)
            self.snapshots[chosen.id] = replace(chosen, state=state)

    def delete(self) -> None:
        node = self.random.choice(list(self.tree.nodes.values()))
        if self.random.random() < 0.3 and node.message.role == "user":
            branches = [self.tree.branch(tip) for tip in self.tree.tips]
            for snapshot in retire(self.snapshots.values(), node, branches):
                self.snapshots[snapshot.id] = snapshot
            self.tree.nodes[node.id] = replace(
                node, status="deleted", message=replace(node.message, parts=())
            )
            self.pins.discard(node.id)

    def compress(self) -> None:
        """One compression, as the engine does it: pick, split after the cutoff, draft, store."""
        branch = self.tree.branch(self.tip())
        previous = pick(self.snapshots.values(), branch)
        start = previous.cutoff_depth if previous else 0
        said = [node.message for node in branch]
        sizes = [METER.message(message) for message in said]
        keep = self.random.choice([1, 4]) * retained_tokens(self.policy.retain, sum(sizes[start:]))
        chosen = split(said, sizes, keep, start=start, room=self.random.choice([None, 40]))
        if chosen is None:
            return
        self.summarise(branch, chosen.cut, previous)
        self.compressions += 1

    def again(self) -> None:
        """Write a snapshot anew on a branch that holds its anchor, from what it had started from."""
        branch = self.tree.branch(self.tip())
        here = {node.id for node in branch}
        own = [s for s in self.snapshots.values() if s.state != "retired" and s.anchor in here]
        if own:
            old = self.random.choice(own)
            previous = self.snapshots.get(old.previous or "")
            if previous is not None and previous.state == "retired":
                previous = None
            self.summarise(branch, old.cutoff_depth, previous)

    def summarise(self, branch: Branch, cut: int, previous: Snapshot | None) -> None:
        """Store a snapshot whose summary repeats everything its author was shown, the previous summary first."""
        shown = look_ahead(branch, cut, question=self.random.random() < 0.2)
        if self.random.random() < 0.3:
            shown = ()
        new = branch[previous.cutoff_depth if previous else 0 : cut]
        said = [node.id for node in (*new, *shown) if node.status != "deleted"]
        summary = " ".join([previous.summary if previous else "", *said])
        id = f"s{len(self.snapshots):04}"
        made = draft(branch, cut, id=id, summary=summary, previous=previous, shown=shown)
        version = 1 + sum(s.cutoff == made.cutoff for s in self.snapshots.values())
        self.snapshots[made.id] = replace(made, version=version)

    def recipe(self, branch: Branch) -> ContextInputs:
        snapshot = pick(self.snapshots.values(), branch)
        along = [self.tree.nodes[id] for id in (snapshot.sent_along if snapshot else ())]
        carried = tuple(node for node in along if node.status != "deleted")
        on_branch = {node.id: node for node in branch}
        pins = tuple(Pin(on_branch[id]) for id in sorted(self.pins) if id in on_branch)
        return ContextInputs(branch=branch, snapshot=snapshot, carried=carried, pins=pins)


def lives(seed: int, steps: int = 45) -> Iterator[Life]:
    life = Life(Random(seed))
    for step in range(1, steps):
        life.live(step)
        yield life


def every_context(life: Life) -> Iterator[tuple[Branch, ContextInputs, Context]]:
    for tip in life.tree.tips:
        branch = life.tree.branch(tip)
        recipe = life.recipe(branch)
        yield branch, recipe, build_context(recipe)


SEEDS = st.integers(0, 2**32)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_every_message_is_in_exactly_one_place(seed: int) -> None:
    """The coverage invariant (cases 93, 94).

    Seen failing with: the retained part beginning after the anchor instead of the cutoff, and a carried message
    sent twice when it is pinned too.
    """
    life = None
    for life in lives(seed):
        for branch, _, context in every_context(life):
            assert coverage_problems(branch, context) == ()
    assert life is not None
    assert life.compressions > 0


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_nothing_leaks_from_another_branch(seed: int) -> None:
    """Cases 25, 27, 95 and 97: every name in a context is a node of its branch that was not deleted.

    Seen failing with: `pick` asking only for the cutoff to be on the branch (the anchor ignored), `retire` looking at
    covered nodes only, and a draft that does not take over the anchor of the snapshot it started from.
    """
    for life in lives(seed):
        for branch, _, context in every_context(life):
            own = {node.id for node in branch if node.status != "deleted"}
            text = " ".join(m.text + " " + " ".join(r.text for r in m.results) for m in context.messages)
            assert set(NAME.findall(text)) <= own


def brute_force(snapshots: list[Snapshot], branch: Branch) -> Snapshot | None:
    """The snapshot rule, word for word."""
    ids = [node.id for node in branch]
    serving = [s for s in snapshots if s.state == "active" and s.anchor in ids]
    best: Snapshot | None = None
    for snapshot in serving:
        place = (ids.index(snapshot.cutoff), snapshot.version)
        if best is None or place > (ids.index(best.cutoff), best.version):
            best = snapshot
    return best


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_the_snapshot_rule_is_what_it_says(seed: int) -> None:
    """Seen failing with: newest by id instead of deepest cutoff, and undone snapshots served."""
    for life in lives(seed):
        for branch, recipe, _ in every_context(life):
            assert recipe.snapshot == brute_force(list(life.snapshots.values()), branch)
            if recipe.snapshot:
                covered = branch[: recipe.snapshot.cutoff_depth]
                assert recipe.snapshot.digest == digest(node.message for node in covered)
                assert recipe.snapshot.digest == digest(node.message for node in covered)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_every_context_can_be_sent_to_every_provider(seed: int) -> None:
    """Seen failing with every cut taken for safe: compression alone never tears a tool unit."""
    for life in lives(seed):
        for _, _, context in every_context(life):
            assert list(pair_problems(context.messages)) == []
            for rules in RULES.values():
                assert check(harden(context.messages, rules).messages, rules) == ()


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_undo_restores_the_context_byte_for_byte_and_redo_brings_it_back(seed: int) -> None:
    """Case 98. Seen failing when undone snapshots were still served."""
    for life in lives(seed, 30):
        before = {branch[-1].id: repr(context) for branch, _, context in every_context(life)}
        known = set(life.snapshots)
        life.compress()
        after = {branch[-1].id: repr(context) for branch, _, context in every_context(life)}
        for id in set(life.snapshots) - known:
            life.snapshots[id] = replace(life.snapshots[id], state="undone")
            assert before == {branch[-1].id: repr(context) for branch, _, context in every_context(life)}
            life.snapshots[id] = replace(life.snapshots[id], state="active")
            assert after == {branch[-1].id: repr(context) for branch, _, context in every_context(life)}


def grow_and_compress(policy: Policy, seed: int, turns: int) -> Iterator[tuple[bool, bool]]:
    """Play one long branch with a summary of full size; tell, per turn, whether it compressed and would again."""
    random = Random(seed)
    tree, snapshots = Tree(), list[Snapshot]()
    budget = budget_for(policy, CARD)
    tip: str | None = None
    for _ in range(turns):
        for role in ("u", "a"):
            tip = tree.grow(tip, f"{role}: " + " ".join(["w"] * random.randint(1, 25)))
        branch = tree.branch(tip or "")
        if not isinstance(decide(policy, budget, reading(branch, snapshots)), Compress):
            yield False, False
            continue
        previous = pick(snapshots, branch)
        said = [node.message for node in branch]
        start = previous.cutoff_depth if previous else 0
        history = METER.context(build_context(ContextInputs(branch=branch, snapshot=previous)))
        sizes = [METER.message(message) for message in said]
        chosen = split(said, sizes, retained_tokens(policy.retain, history), start=start)
        if chosen:
            full = " ".join(["s"] * (budget.snapshot - 45))
            snapshots.append(
                draft(branch, chosen.cut, id=f"{len(snapshots):03}", summary=full, previous=previous)
            )
        again = decide(policy, budget, reading(branch, snapshots))
        yield True, isinstance(again, Compress | Prepare)


def reading(branch: tuple[Node, ...], snapshots: list[Snapshot]) -> Reading:
    return Reading(
        tokens=METER.context(build_context(ContextInputs(branch=branch, snapshot=pick(snapshots, branch))))
    )


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(["octavo", "onyx", "requirements", "gemini"]))
def test_a_compression_is_not_followed_by_another(seed: int, name: str) -> None:
    """Case 4, and no thrash: even with a summary of the full size allowed, the next turn does not trigger.

    Seen failing with: everything retained, and a trigger at half the soft mark.
    """
    policy = replace(preset(name), minimum=0)
    if name == "requirements":
        policy = replace(policy, retain=OCTAVO.retain)
    happened = list(grow_and_compress(policy, seed, 80))
    assert sum(compressed for compressed, _ in happened) >= 2
    assert not any(again for _, again in happened)
    triggers = [i for i, (compressed, _) in enumerate(happened) if compressed]
    assert all(later - earlier > 1 for earlier, later in pairwise(triggers))
