"""The snapshots of one conversation: list them, edit them, make them again, choose between versions, read receipts."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octavo.core.context import build_context, render_summary
from octavo.core.messages import Branch
from octavo.core.recall.passages import Passages
from octavo.core.snapshot import DroppedLine, Extracts, Snapshot, says_nothing
from octavo.engine.compression import CompressionRequest
from octavo.engine.outcome import Cancelled, CompressionEnded, Event, Outcome
from octavo.engine.recall import find_passages
from octavo.engine.state import LONG
from octavo.errors import BadInput, NotFound, NotOnBranch
from octavo.store.ids import new_id

if TYPE_CHECKING:
    from octavo.core.receipt import Fact, Receipt
    from octavo.engine.chat import Chat
    from octavo.engine.costs import SavedSoFar
    from octavo.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySize:
    """What a snapshot costs with a summary that somebody is writing."""

    tokens: int
    """Of the whole snapshot, its exact lines included."""
    room: int
    """The most tokens it may have; if it had more, the next turn would have to replace it."""

    def check(self) -> None:
        """Refuse what does not fit."""
        if self.tokens > self.room:
            raise BadInput(
                "summary",
                f"with it the snapshot has {self.tokens:,} tokens, and {self.room:,} fit beside what follows it",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOverview:
    """The snapshots of a conversation, seen from its tip."""

    everywhere: tuple[Snapshot, ...] = ()
    here: tuple[Snapshot, ...] = ()
    """Those that belong to the branch of the tip."""
    serving: Snapshot | None = None
    left_behind: Snapshot | None = None
    """A compression of another branch that covers messages of this one, and would not be true here. None if no such
    compression covers more than the one in use here."""


class ChatSnapshots:
    """The snapshots of a conversation, as `chat.snapshots`."""

    def __init__(self, chat: Chat, engine: Engine) -> None:
        self._chat, self._engine = chat, engine

    async def list(self) -> tuple[Snapshot, ...]:
        """List the snapshots that belong to the branch of the tip, the serving one among them."""
        at = await self._chat._tip()
        return await self._engine.store.snapshots.of_branch(at) if at else ()

    async def serving(self) -> Snapshot | None:
        """Give the snapshot that serves the tip."""
        at = await self._chat._tip()
        return (await self._engine.store.snapshots.context(at)).snapshot if at else None

    async def overview(self) -> SnapshotOverview:
        """Give the snapshots of all branches, and what they are to the branch of the tip."""
        at, store = await self._chat._tip(), self._engine.store
        if at is None:
            return SnapshotOverview()
        everywhere = await store.snapshots.of_conversation(self._chat.id)
        here = await store.snapshots.of_branch(at) if everywhere else ()
        serving = (await store.snapshots.context(at)).snapshot if here else None
        deepest = serving.cutoff_depth if serving else 0
        known = {one.id for one in here}
        others = [
            one
            for one in everywhere
            if one.state == "active" and one.id not in known and one.cutoff_depth > deepest
        ]
        begun_here = await store.tree.on_branch(at, {one.first for one in others}) if others else ()
        shared = [one for one in others if one.first in begun_here]
        left = max(shared, key=lambda one: (one.cutoff_depth, one.version), default=None)
        return SnapshotOverview(everywhere=everywhere, here=here, serving=serving, left_behind=left)

    async def get(self, id: str) -> Snapshot:
        snapshot = await self._engine.store.snapshots.get(id)
        if await self._engine.store.snapshots.conversation_of(id) != self._chat.id:
            raise NotFound(f"there is no snapshot {id} in this conversation")
        return snapshot

    async def get_here(self, id: str) -> Snapshot:
        """Give a snapshot that is true on the branch of the tip.

        Another one may hold what was never said on this branch.
        """
        snapshot, at = await self.get(id), await self._chat._tip()
        if at is None or not await self._engine.store.tree.on_branch(at, [snapshot.anchor]):
            raise NotOnBranch(f"snapshot {id} belongs to another branch: switch to that branch first")
        return snapshot

    async def edit(self, id: str, text: str) -> Snapshot:
        """Make a new version of a snapshot with another summary; one that does not fit is refused with the numbers."""
        if not text.strip():
            raise BadInput("summary", "an empty summary would lose everything it stands for; undo it instead")
        size = await self.size(id, text)
        size.check()
        return await self._engine.store.snapshots.edit(id, text, tokens_after=size.tokens)

    async def size(self, id: str, text: str) -> SummarySize:
        """Count what a snapshot would cost with another summary, and how much there is room for."""
        return await self._size(replace(await self.get_here(id), summary=text))

    async def _size(self, changed: Snapshot) -> SummarySize:
        state = await self._chat._state()
        tokens = sum(map(state.meter.count_message, render_summary(changed, state.policy.voice)))
        serving, budget = state.recipe.snapshot, state.budget
        if serving is not None and serving.cutoff_depth > changed.cutoff_depth:
            return SummarySize(tokens=tokens, room=budget.available)
        # The context is above the soft mark already: the next turn can still be sent up to the hard one.
        mark = budget.trigger if state.reading.cautious <= budget.trigger else budget.hard
        whole = state.measure(build_context(state.served_by(changed)))
        return SummarySize(tokens=tokens, room=max(0, tokens + mark - whole))

    async def regenerate(self, id: str, *, focus: str = "") -> Outcome:
        """Make a new version of a snapshot, from the originals, with another focus."""
        outcome: Outcome = Cancelled()
        async for event in self.regenerating(id, focus=focus):
            if isinstance(event, CompressionEnded):
                outcome = event.outcome
        return outcome

    async def regenerating(self, id: str, *, focus: str = "", job: str | None = None) -> AsyncIterator[Event]:
        """Make a new version of a snapshot, from the originals, with another focus; yields what happens.

        The job is stored under the id `job`, if one is given.
        """
        old = await self.get_here(id)
        state = await self._chat._state(without=old)
        request = CompressionRequest(urgency="manual", kind="regenerated", focus=focus, replaces=old, id=job)
        async for event in self._engine.run_compression(state, request):
            yield event

    async def diff(self, one: str, other: str) -> str:
        """Compare the summaries of two versions, line by line."""
        a, b = await self.get(one), await self.get(other)
        lines = difflib.unified_diff(
            a.summary.splitlines(),
            b.summary.splitlines(),
            fromfile=f"version {a.version}",
            tofile=f"version {b.version}",
            lineterm="",
        )
        return "\n".join(lines)

    async def use(self, id: str) -> Snapshot:
        """Put a version of a snapshot into use on this branch; versions that would be chosen before it are undone."""
        chosen, at = await self.get(id), await self._chat._tip()
        assert at is not None  # where there is a snapshot, there are messages
        return await self._engine.store.snapshots.use(chosen.id, tip=at)

    async def expand(self, id: str) -> Branch:
        """Give the original messages that a snapshot covers."""
        snapshot = await self.get(id)
        whole = await self._engine.store.tree.branch(snapshot.cutoff)
        start = next((i for i, node in enumerate(whole) if node.id == snapshot.first), 0)
        return whole[start:]

    async def receipt(self, id: str) -> Receipt | None:
        """Give what a compression cost, kept and lost."""
        # Imported here, because the code that reads messages for facts takes a fifth of the engine's import time.
        from octavo.core.receipt import Receipt

        text = (await self.get(id)).receipt
        return Receipt.from_json(text) if text else None

    async def saved_so_far(self, id: str) -> SavedSoFar | None:
        """Give what a compression cost, and what it has saved since; None if it has no receipt."""
        from octavo.engine.costs import saved_so_far

        return await saved_so_far(self._engine, self._chat.id, await self.get(id))

    async def restore(self, id: str, item: str) -> Snapshot:
        """Add the line of a lost fact back: a new version of the snapshot that contains it."""
        from octavo.core.receipt import add_back, lost_of

        snapshot, paper = await self.get_here(id), await self.receipt(id)
        if paper is None:
            raise NotFound("this snapshot has no receipt: it was edited by hand")
        lost = await self._left_out(snapshot, paper, item)
        node = await self._engine.store.tree.node(lost.source)
        extracts = add_back(snapshot.extracts, lost, node)
        added = [extract.text for extract in extracts if extract not in snapshot.extracts]
        beside = await asyncio.to_thread(lost_of, (node,), snapshot.extracts, snapshot.summary)
        receipt = paper.restored(added, beside).trimmed().to_json()
        dropped = tuple(line for line in snapshot.dropped if line.text not in added)
        made = replace(
            snapshot, id=new_id(), kind="edited", extracts=extracts, dropped=dropped, receipt=receipt
        )
        size = await self._size(made)
        size.check()
        return await self._engine.store.snapshots.add(self._chat.id, replace(made, tokens_after=size.tokens))

    async def standing(self) -> Extracts:
        """List what stands in the compression in use: rules, preferences, decisions, each with its source."""
        serving = await self.serving()
        return tuple(line for line in serving.extracts if line.standing) if serving else ()

    async def drop(self, id: str, source: str, text: str) -> Snapshot:
        """Take an exact line out: makes a new version without it, and later compressions leave it out too."""
        from octavo.core.receipt import lost_of

        snapshot, paper = await self.get_here(id), await self.receipt(id)
        found = [line for line in snapshot.extracts if (line.source, line.text) == (source, text)]
        left = tuple(line for line in snapshot.extracts if line not in found)
        if not found:
            raise NotFound(f"snapshot {id} has no exact line {text!r} of message {source}")
        made = replace(
            snapshot,
            id=new_id(),
            kind="edited",
            extracts=left,
            dropped=(*snapshot.dropped, DroppedLine(text, snapshot.cutoff_depth)),
            created="",
        )
        if says_nothing(made):
            raise BadInput("text", "this snapshot says nothing else; undo it instead")
        if paper is not None:
            node = await self._engine.store.tree.node(source)
            before, after = [
                await asyncio.to_thread(lost_of, (node,), lines, snapshot.summary)
                for lines in (snapshot.extracts, left)
            ]
            lost = [fact for fact in after if fact not in before]
            made = replace(made, receipt=paper.without(found[0], lost).trimmed().to_json())
        size = await self._size(made)
        return await self._engine.store.snapshots.add(self._chat.id, replace(made, tokens_after=size.tokens))

    async def _left_out(self, snapshot: Snapshot, paper: Receipt, item: str) -> Fact:
        """Find a fact that a snapshot left out: in its receipt, or in the originals where that does not list it."""
        from octavo.core.receipt import find_lost, lost_of

        try:
            return find_lost(paper.lost, item)
        except NotFound:
            if paper.lists_all:
                raise
        tree, stop = self._engine.store.tree, snapshot.cutoff_depth
        above = (await tree.node(snapshot.first)).depth - 1
        found: dict[tuple[str, str], Fact] = {}
        async for covered in tree.pages(snapshot.cutoff, above=above, stop=stop, size=LONG):
            lost = await asyncio.to_thread(lost_of, covered, snapshot.extracts, snapshot.summary)
            found |= {(fact.kind, fact.text): fact for fact in lost}
        return find_lost([*found.values()], item)

    async def recall(self, words: str) -> Passages:
        """Find what a question would bring back from the covered messages of this branch; nothing is stored."""
        return await find_passages(self._engine, await self._chat._state(), words)
