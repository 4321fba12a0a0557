"""How a conversation stands: everything a page shows of it that somebody else can change, small enough to compare.

Two standings are equal exactly when nothing has to be read again. What is read here is read from the store, so that it
makes no difference who changed it: a tab, a program, another replica, the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from octavo.core.fields import Json, JsonObject
from octavo.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStatus:
    """What may change; the names of its fields are what clients are told."""

    tip: str | None
    messages: int
    context: int
    """Grows with snapshots, their undoing, pins and deletions."""
    title: str
    archived: bool
    deleted: bool
    """Out of sight, and gone for good when nobody brings it back."""
    settings: Mapping[str, Json]
    jobs: tuple[str, ...] = ()
    """Compressions that run."""

    def changes(self, before: ConversationStatus) -> list[Json]:
        """Name what is not as it was."""
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) != getattr(before, name)]

    def told(self) -> JsonObject:
        """Give the part that clients need at once; the rest they read when it changed."""
        return {"tip": self.tip, "jobs": [*self.jobs], "deleted": self.deleted}


async def read_statuses(engine: Engine, ids: Sequence[str]) -> dict[str, ConversationStatus]:
    """Read how conversations stand, without their jobs; those that are gone are left out."""
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
    """Add the compressions that run now; those whose process ended do not."""
    await engine.resume_abandoned(id)
    jobs = await engine.store.jobs.of_conversation(id)
    return replace(status, jobs=tuple(job.id for job in jobs if job.status == "running"))
