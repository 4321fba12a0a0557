"""Schemas of the context: usage, budget, plan, and what is sent."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from octavo.server.schemas.base import Id, Shape
from octavo.server.schemas.messages import Content
from octavo.server.schemas.recall import PassageOut
from octavo.server.schemas.settings import SettingsIn
from octavo.server.schemas.tasks import ToolIn


class SectionOut(Shape):
    section: str
    tokens: int


class ReadingOut(Shape):
    tokens: int
    basis: Literal["exact", "calibrated", "estimated"] = Field(
        description="exact: by the model's tokenizer; calibrated: corrected by bills; estimated: without a tokenizer."
    )
    error_bound: int = Field(
        description="How many more tokens it may be. The provider adds some, which its bills show."
    )
    breakdown: list[SectionOut] = Field(description="Tokens by section. They add up to `tokens`.")


class BudgetOut(Shape):
    window: int
    reply: int
    margin: int
    system: int
    tools: int
    files: int
    pins: int
    limit: int
    available: int
    snapshot: int
    retained: int
    prepare: int | None
    soft: int | None
    hard: int


class UsageOut(Shape):
    reading: ReadingOut
    budget: BudgetOut
    model: str
    assumed: bool = Field(description="Whether the model is unknown, so that its window is assumed.")
    percent: float = Field(description="Share of what may be sent, `budget.limit`.")
    left: int
    next_at: int
    next_in: int
    turns: int | None = Field(
        description="About how many turns until the next compression, if they go on like the last ones; null before "
        "the first."
    )
    level: Literal["calm", "soft", "hard"] = Field(
        description="soft: above the soft mark, or 80 % of what may be sent; hard: above the hard mark, or 95 %."
    )
    recalled: int = Field(description="Tokens of passages that were recalled from compressed messages.")


class DraftIn(Shape):
    content: Content | None = Field(default=None, description="A message that is being written.")
    settings: SettingsIn = Field(
        default=SettingsIn(), description="Settings of this conversation that are thought about."
    )


class RecallOut(Shape):
    passages: list[PassageOut]


class CountOut(Shape):
    tokens: int = Field(description="The provider's own count.")
    expected: ReadingOut = Field(description="What our meter counted before.")
    model: str


class PlanOut(Shape):
    reading: ReadingOut
    budget: BudgetOut
    messages: int
    covered: int
    retained: int
    covered_tokens: int
    retained_tokens: int
    after_cap: int
    reason: str
    money: str = Field(
        description="What it costs once, saves with each turn, and when it has paid, in words; "
        "empty if the prices are unknown."
    )
    costs: float | None = Field(description="US dollars that it costs once; null if the prices are unknown.")
    saves: float | None = Field(description="US dollars that it saves with each turn.")
    pays_after: int | None = Field(description="Turns after which it has paid; null if it never does.")
    small: bool = Field(
        description="Whether the conversation is smaller than the minimum, so that a warning is due."
    )
    writer: str = Field(description="The model that will write the summary; empty if none will.")
    unwritten: str = Field(description="Why no model will write a summary; empty if one will.")


class RepairOut(Shape):
    fix: str
    index: int
    detail: str


class ContextOut(Shape):
    """What is sent, in the wire format of the model's provider."""

    format: Literal["openai", "anthropic", "gemini", "responses"]
    messages: list[dict[str, Any]]
    system: Any
    tools: list[dict[str, Any]]
    usage: UsageOut
    repairs: list[RepairOut]
    notes: list[str] = Field(description="What had to be shortened or left out besides compressing.")
    fits: bool
    snapshot: str | None
    sent: list[str] = Field(description="Messages that are sent verbatim.")
    pinned: list[str]
    recalled: list[PassageOut] = Field(
        description="What was recalled for the message that waits for an answer."
    )


class ContextIn(Shape):
    tip: Id | None = None
    tools: list[ToolIn] = Field(default_factory=list, max_length=500)
