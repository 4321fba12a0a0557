"""Schemas of snapshots and receipts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from octavo.server.schemas.base import Id, Shape


class ExtractOut(Shape):
    message: str
    text: str
    channel: str
    depth: int
    standing: bool = Field(
        description="Whether it is a rule, a preference, a responsibility, a deadline or a decision that still holds."
    )


class FactCounts(Shape):
    """What became of the facts of the covered messages."""

    count: int
    verbatim: int
    told: int
    lost: int
    taken_out: int = Field(
        description="Lines that were taken out of the summary because they name what the originals do not."
    )


class SnapshotOut(Shape):
    id: str
    first: str
    cutoff: str
    cutoff_depth: int
    anchor: str
    anchor_depth: int
    kind: Literal["auto", "manual", "edited", "regenerated"]
    version: int
    state: Literal["active", "undone", "retired"]
    messages: int
    tokens_before: int
    tokens_after: int
    model: str
    prompt: str
    instructions: str
    previous: str | None
    created: str
    facts: FactCounts | None = Field(description="From the receipt; null if there is none.")


class SnapshotMoved(SnapshotOut):
    in_use: SnapshotOut | None = Field(
        description="The snapshot in use on this branch; null if the originals are sent."
    )


class SnapshotFull(SnapshotOut):
    summary: str
    extracts: list[ExtractOut]
    files: list[str]
    text: str = Field(description="The text that the model sees.")
    receipt: bool = Field(
        description="Whether there is a receipt. A summary that was edited by hand has none."
    )


class SnapshotList(Shape):
    snapshots: list[SnapshotOut]
    serving: str | None = Field(description="The snapshot that serves the tip.")
    left_behind: SnapshotOut | None = Field(
        description="A snapshot of another branch that covers messages of this branch, but is not valid here."
    )


class SummaryIn(Shape):
    summary: Annotated[str, StringConstraints(min_length=1, max_length=1_000_000)]


class SummarySizeOut(Shape):
    tokens: int = Field(description="Tokens of the whole snapshot with this summary, extracts included.")
    room: int = Field(description="The most tokens that a snapshot may have.")


class DiffOut(Shape):
    diff: str


class RestoreIn(Shape):
    item: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] = Field(
        description="The text of an item that the receipt lists as lost."
    )


class DropIn(Shape):
    message: Id = Field(description="The message that the line comes from.")
    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] = Field(
        description="The line, as the snapshot lists it among its extracts."
    )


class FactOut(Shape):
    text: str
    message: str


class TallyOut(Shape):
    kind: str
    verbatim: list[str]
    told: list[str]
    lost: list[FactOut]
    verbatim_count: int
    told_count: int
    lost_count: int


class ConflictOut(Shape):
    key: str
    kept: str
    newest: str
    message: str


class ChangedOut(Shape):
    told: str = Field(description="What the summary says.")
    text: str = Field(description="What was said.")
    message: str


class StandingOut(Shape):
    kept: list[FactOut] = Field(description="Sentences that stand and are sent word for word, newest first.")
    lost: list[FactOut] = Field(description="Sentences that stand and had no room.")
    changed: list[ChangedOut] = Field(description="Lines of the summary that contradict what stands.")
    count: int = Field(description="How many stand.")
    kept_count: int
    lost_count: int
    replaced_count: int = Field(description="How many sentences stood until a later one replaced them.")


class ReceiptOut(Shape):
    messages: int
    tokens_before: int
    tokens_after: int
    seconds: float
    model: str = Field(description="The model that wrote the summary; empty if there is none.")
    price: float | None = Field(
        description="What was spent on the summary in US dollars; null if no model was asked, or it has no price."
    )
    no_summary: str = Field(
        description="Why there is no summary; empty if there is one, and in receipts of old versions."
    )
    saved: float | None = Field(
        description="US dollars that requests have cost less since; null if no price is known."
    )
    turns: int = Field(description="Requests that it made shorter so far.")
    money: str = Field(description="What it cost and has saved so far, in words; empty if no price is known.")
    taken_out: list[str] = Field(
        description="Lines that were taken out of the summary because they name what the originals do not."
    )
    taken_out_count: int
    summary_requests: int = Field(description="How often a model was asked for the summary.")
    summary_input: int = Field(description="Tokens that it read, whatever came of it.")
    summary_output: int = Field(description="Tokens that it wrote.")
    facts: list[TallyOut]
    conflicts: list[ConflictOut]
    standing: StandingOut
