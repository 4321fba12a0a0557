"""Schemas of jobs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from octavo.server.schemas.base import Shape


class JobOut(Shape):
    """A compression, whichever replica runs it or has run it."""

    id: str
    status: Literal["running", "done", "failed", "cancelled"]
    trigger: str = Field(
        description="Why it was started: manual, soft (in the background) or hard (before sending)."
    )
    attempt: int = Field(description="How many workers have run it: 2 after one has died.")
    progress: str
    error: str
    snapshot: str | None
    created: str


class JobList(Shape):
    jobs: list[JobOut] = Field(description="The newest job is first.")
