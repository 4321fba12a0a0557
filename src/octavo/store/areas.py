"""The store's areas beside conversations and messages: snapshots, jobs, answers, pins, settings and keys.

Like the store's own methods, each is one transaction or one read, begun and ended inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from octavo.core.context import Pin
from octavo.core.fields import Json
from octavo.core.snapshot import Snapshot
from octavo.errors import ReadOnly
from octavo.store import answers, jobs, keys, pins, settings, snapshots
from octavo.store.engines import Database
from octavo.store.values import Added, ApiKey, Busy, Entry, Job, PinPlace, Refused, Scope, Stale


class Snapshots:
    """The snapshots of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, conversation: str, snapshot: Snapshot) -> Snapshot:
        """Store a snapshot as the newest version for its cutoff; it serves from now on."""
        return await self._database.write(lambda c: snapshots.add(c, conversation, snapshot))

    async def edit(self, id: str, summary: str, *, tokens_after: int | None = None) -> Snapshot:
        """Add a version with another summary."""
        return await self._database.write(lambda c: snapshots.edit(c, id, summary, tokens_after))

    async def undo(self, id: str) -> Snapshot:
        """Take a snapshot out of use."""
        return await self._database.write(lambda c: snapshots.undo(c, id))

    async def use(self, id: str, *, tip: str) -> Snapshot:
        """Put a snapshot into use on the branch of a tip, an undone one too; what stood above it there is undone."""
        return await self._database.write(lambda c: snapshots.use(c, id, tip))

    async def undone_last(self, tip: str) -> Snapshot | None:
        """Give the snapshot of a branch that was undone last and would be in use again if it were not."""
        return await self._database.read(lambda c: snapshots.undone_last(c, tip))

    async def get(self, id: str) -> Snapshot:
        return await self._database.read(lambda c: snapshots.get(c, id))

    async def conversation_of(self, id: str) -> str:
        return await self._database.read(lambda c: snapshots.conversation_of(c, id))

    async def newer(self, conversations: Sequence[str], after: str) -> tuple[tuple[str, Snapshot], ...]:
        """Find snapshots of conversations whose ids are larger than `after`, each with its conversation."""
        return await self._database.read(lambda c: snapshots.newer(c, conversations, after))

    async def of_conversation(self, conversation: str) -> tuple[Snapshot, ...]:
        """List all snapshots, by cutoff and version."""
        return await self._database.read(lambda c: snapshots.of_conversation(c, conversation))

    async def of_branch(self, tip: str) -> tuple[Snapshot, ...]:
        """List the snapshots whose anchor lies on a branch, by cutoff and version."""
        return await self._database.read(lambda c: snapshots.of_branch(c, tip))


class Jobs:
    """The compression jobs of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self,
        conversation: str,
        *,
        anchor: str,
        worker: str,
        seen: str | None,
        tip: str | None = None,
        trigger: str = "auto",
        lease: float = jobs.LEASE,
        id: str | None = None,
    ) -> Job | Busy | Stale:
        """Take the compression of an anchor for `lease` seconds.

        `tip` is the node the plan was made for and `seen` the snapshot that served it then: if another one serves
        it now, somebody has compressed meanwhile. A job whose worker let the lease run out is taken over, and keeps its
        id; a new one has the `id` that is given.
        """
        return await self._database.write(
            lambda c: jobs.claim(
                c,
                conversation,
                anchor=anchor,
                tip=tip or anchor,
                seen=seen,
                trigger=trigger,
                worker=worker,
                lease=lease,
                id=id,
            )
        )

    async def renew(self, job: Job, *, lease: float = jobs.LEASE, progress: str | None = None) -> bool:
        """Prolong the lease; false when the job is no longer ours: stop working."""
        return await self._database.write(lambda c: jobs.renew(c, job, lease, progress))

    async def finish(self, job: Job, snapshot: Snapshot) -> Snapshot | Refused:
        """Store the snapshot and close the job, both or neither."""
        return await self._database.write(lambda c: jobs.finish(c, job, snapshot))

    async def fail(self, job: Job, error: str) -> bool:
        """Give a job up; false when it is no longer ours."""
        return await self._database.write(lambda c: jobs.close(c, job, "failed", error))

    async def cancel(self, id: str) -> bool:
        """Stop a job whoever runs it; its worker learns it when it renews."""
        return await self._database.write(lambda c: jobs.cancel(c, id))

    async def get(self, id: str) -> Job:
        return jobs.as_it_stands(await self._database.read(lambda c: jobs.get(c, id)))

    async def of_conversation(self, conversation: str) -> tuple[Job, ...]:
        """List the jobs of a conversation, the newest first."""
        found = await self._database.read(lambda c: jobs.of_conversation(c, conversation))
        return tuple(jobs.as_it_stands(one) for one in found)

    async def abandoned(self) -> tuple[Job, ...]:
        """List the running jobs whose workers died."""
        return await self._database.read(jobs.abandoned)

    async def close_abandoned(self, conversation: str | None = None) -> tuple[Job, ...]:
        """Close the jobs whose workers died, of one conversation or of all; gives those that nobody else has closed."""
        left = [one for one in await self.abandoned() if conversation in (None, one.conversation)]
        return tuple(
            [one for one in left if await self._database.write(lambda c, j=one: jobs.close_left(c, j))]  # type: ignore[misc]
        )


class Answers:
    """The answers of a store that are being written."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(
        self, conversation: str, entry: Entry, *, parent: str, worker: str, lease: float = answers.LEASE
    ) -> Job:
        """Store the beginning of an answer below its question; the tip stays. `Job.anchor` is its node."""
        return await self._database.write(
            lambda c: answers.begin(c, conversation, entry, parent, worker, lease)
        )

    async def go_on(self, job: Job, entry: Entry, *, lease: float = answers.LEASE) -> bool:
        """Store what it has become; false when it is no longer ours."""
        return await self._database.write(lambda c: answers.go_on(c, job, entry, lease))

    async def finish(self, job: Job, entry: Entry, *, select: bool = True) -> Added | None:
        """Store it as it ended, and move the tip to it; None when it is no longer ours."""
        return await self._database.write(lambda c: answers.finish(c, job, entry, select=select))

    async def being_written(self, conversation: str | None = None) -> tuple[Job, ...]:
        """List what is being written, in one conversation or in all; what writers that are gone have left, too."""
        return await self._database.read(lambda c: answers.being_written(c, conversation))

    async def close(self, conversation: str | None = None) -> tuple[str, ...]:
        """Close the answers whose writers are gone: they end where they were. Gives their nodes.

        Where nothing can be written, whoever can write does it.
        """
        closed: list[str] = []
        with suppress(ReadOnly):
            for one in await self.being_written(conversation):
                if answers.is_left(one) and await self._close(one):
                    closed.append(one.anchor)
        return tuple(closed)

    async def _close(self, left: Job) -> bool:
        return await self._database.write(lambda c: answers.close(c, left))


class Pins:
    """The pins of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, node: str, start: int = 0, stop: int = 0) -> None:
        """Pin a message, or the selection `start:stop` of its text."""
        await self._database.write(lambda c: pins.add(c, PinPlace(node=node, start=start, stop=stop)))

    async def remove(self, node: str, start: int = 0, stop: int = 0) -> bool:
        """Unpin; false when it was not pinned."""
        return await self._database.write(
            lambda c: pins.remove(c, PinPlace(node=node, start=start, stop=stop))
        )

    async def of_conversation(self, conversation: str) -> tuple[PinPlace, ...]:
        return await self._database.read(lambda c: pins.of_conversation(c, conversation))

    async def of_branch(self, tip: str, *, tokenizer: str | None = None) -> tuple[Pin, ...]:
        """Give the pins that lie on a branch, in order of position."""
        return await self._database.read(lambda c: pins.of_branch(c, tip, tokenizer))


class Settings:
    """The settings of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, scope: Scope, key: str, value: Json) -> None:
        await self._database.write(lambda c: settings.put(c, scope, key, value))

    async def remove(self, scope: Scope, key: str) -> bool:
        """Remove a setting, so that the next level holds; false when it was not set."""
        return await self._database.write(lambda c: settings.remove(c, scope, key))

    async def of_scope(self, scope: Scope) -> dict[str, Json]:
        """Give what is set at one level."""
        return (await self.of_scopes(scope))[0]

    async def of_scopes(self, *scopes: Scope) -> tuple[dict[str, Json], ...]:
        """Give what is set at each of several levels."""
        return await self._database.read(lambda c: settings.of_scopes(c, scopes))

    async def with_note(self, key: str, *scopes: Scope) -> tuple[Json, tuple[dict[str, Json], ...]]:
        """Give a note of the program's own, and what is set at each of several levels."""
        return await self._database.read(lambda c: settings.with_note(c, scopes, key))

    async def resolve(self, *, model: str | None = None, conversation: str | None = None) -> dict[str, Json]:
        """Give what holds: conversation before model before everywhere."""
        return await self._database.read(lambda c: settings.resolve(c, model, conversation))


class Keys:
    """The API keys of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, name: str, *, owner: str = "", scopes: Iterable[str] = keys.USUAL
    ) -> tuple[ApiKey, str]:
        """Make a key; its secret is returned here and never again."""
        wanted = tuple(scopes)
        return await self._database.write(lambda c: keys.create(c, name, owner, wanted))

    async def find(self, secret: str) -> ApiKey | None:
        """Find the key of a secret; None when there is none or it was revoked."""
        found = await self._database.read(lambda c: keys.find(c, secret))
        if found is not None and keys.is_due(found):
            # Only a note for people: where nothing can be written, a key is good all the same.
            with suppress(ReadOnly):
                await self._database.write(lambda c: keys.note_use(c, found.id))
        return found

    async def revoke(self, id: str) -> ApiKey:
        return await self._database.write(lambda c: keys.revoke(c, id))

    async def every(self, *, owner: str | None = None) -> tuple[ApiKey, ...]:
        return await self._database.read(lambda c: keys.every(c, owner))
