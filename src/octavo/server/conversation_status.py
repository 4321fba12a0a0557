"""The status of a conversation: everything on the page that somebody else can change, small enough to compare.

If two statuses are equal, a client has nothing to read again. The status is read from the store, so it does not matter
who changed the conversation: another tab, a program, another replica or the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from octavo.core.json_values import Json, JsonObject
from octavo.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStatus:
    """What may change. Clients are told the names of the fields that did."""

    tip: str | None
    messages: int
    context: int
    """A number that grows with every snapshot, undo, pin and deletion."""
    title: str
    archived: bool
    deleted: bool
    """In the bin, from which it can be restored for a while."""
    settings: Mapping[str, Json]
    jobs: tuple[str, ...] = ()
    """Ids of the compressions that run."""

    def changes(self, before: ConversationStatus) -> list[Json]:
        """Name the fields that differ from an earlier status."""
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) != getattr(before, name)]

    def as_event(self) -> JsonObject:
        """Give the fields that clients need at once. They read the others when those have changed."""
        return {"tip": self.tip, "jobs": [*self.jobs], "deleted": self.deleted}


async def read_statuses(engine: Engine, ids: Sequence[str]) -> dict[str, ConversationStatus]:
    """Read the statuses of conversations, without their jobs; deleted ones are left out."""
    found = await engine.store.conversations.list(archived=None, deleted=None, limit=len(ids), ids=ids)
    settings = await engine.settings.of_many([one.id for one in found])
    return {
        one.id: ConversationStatus(
            tip=one.tip,
            messages=one.messages,
            context=one.revision,
            title=one.title,
            archived=one.archived,
            deleted=one.deleted,
            settings=values,
        )
        for one, values in zip(found, settings, strict=True)
    }


async def with_jobs(engine: Engine, id: str, status: ConversationStatus) -> ConversationStatus:
    """Add the compressions that run now; those of a dead process are closed first."""
    await engine.resume_abandoned(id)
    jobs = await engine.store.jobs.of_conversation(id)
    return replace(status, jobs=tuple(job.id for job in jobs if job.status == "running"))
