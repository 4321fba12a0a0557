"""What a turn or a compression can lead to, as typed values that the web page, the terminal and the evaluation share.

Every compression ends in exactly one outcome. The cases of the Gemini seed are told apart by these types: compressed;
no-op with its reason (`Skipped`); inflated, empty, ... (`Rejected` with the flaw); truncated (`ContextShrunk`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from octavo.core.budget import Budget, Reading
from octavo.core.harden import Repair
from octavo.core.messages import Node
from octavo.core.policy import Decision, Urgency
from octavo.core.price_rule import Payback
from octavo.core.recall.passages import Passages
from octavo.core.reply import Reply, Retrying, Usage
from octavo.core.snapshot import Snapshot
from octavo.core.verify import Problem

SkipReason = Literal[
    "nothing", "fits", "busy", "vetoed", "too_small", "auto_off", "no_progress", "backoff", "breaker"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A snapshot was stored and serves from now on."""

    snapshot: Snapshot
    before: int
    """Tokens of the whole context before."""
    after: int
    """The same, measured the same way, after."""
    urgency: Urgency
    problems: tuple[Problem, ...] = ()
    """Problems that are not fatal: it is still above the mark, or its narrative had to be given up."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nothing was done, and why."""

    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A result was made and not accepted; nothing was stored."""

    problems: tuple[Problem, ...]
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """The summariser or the store failed; nothing was stored and nothing is lost."""

    error: str
    retryable: bool = True


@dataclass(frozen=True, slots=True)
class Cancelled:
    """It was stopped; that counts as neither success nor failure."""


Outcome: TypeAlias = Compressed | Skipped | Rejected | Failed | Cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionPlan:
    """What a compression would do now: exact where it is known, the cap where it is not."""

    decision: Decision
    reading: Reading
    budget: Budget
    messages: int
    """Messages on the branch."""
    covered: int
    """Messages the new snapshot would cover, those of the previous one included."""
    retained: int
    """Messages that stay verbatim."""
    covered_tokens: int
    """Tokens of what would be newly covered, as sent now."""
    retained_tokens: int
    after_cap: int
    """The context holds at most this many tokens afterwards."""
    reason: str
    """In words, for people."""
    writer: str = ""
    """The model that will write the summary; empty if none will."""
    unwritten: str = ""
    """Why no model will write one."""
    payback: Payback | None = None
    """What it costs and saves in dollars; None: the prices are unknown, or nothing is compressed."""

    @property
    def money(self) -> str:
        """The same in words; empty if it is not known."""
        needed = self.reading.cautious > self.budget.hard
        return self.payback.in_words(needed=needed) if self.payback else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsage:
    """The meter, as every gauge shows it and every trigger uses it."""

    reading: Reading
    budget: Budget
    model: str
    assumed: bool
    """The model is unknown and its window assumed."""
    percent: float
    """Share of what may be sent, 0 to 100 and above."""
    left: int
    """Tokens until the window is full."""
    next_at: int
    """The mark that starts the next automatic compression."""
    next_in: int
    """Tokens until then; never negative."""
    level: Literal["calm", "soft", "hard"]
    recalled: int = 0
    """Tokens of recalled passages among them."""
    turns: int | None = None
    """About how many turns are left until the next compression, if they are like the last ones; None before the
    first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a provider counted, beside what was expected."""

    tokens: int
    """By the provider's own count."""
    expected: Reading
    """What the meter said before."""
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """Passages of covered messages were found for a question, and are sent directly before it."""

    node: str
    """The question."""
    passages: Passages
    tokens: int
    """Of all recalled passages in the context."""


@dataclass(frozen=True, slots=True)
class MessageStored:
    """A message was stored: before anything else happens to it."""

    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionStarted:
    """A compression really began."""

    urgency: Urgency
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A piece of the summary as it is written; an empty one says that it begins anew."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritten:
    """A summary that was asked for and not written."""

    model: str
    kind: str
    """The last flaw, or the kind of error."""
    reason: str
    """In words, on one line; they may be those of the model that refused."""
    noted: str
    """The same for logs, which hold no word of a conversation: the flaws by name, or the error."""
    seconds: float = 0.0


REASON_LENGTH = 300
"""Characters of a reason that are kept: some services answer with a page."""


def one_line(reason: str) -> str:
    """Give a reason as it is logged and shown: one line of it."""
    line = " ".join(reason.split())
    return line if len(line) <= REASON_LENGTH else line[: REASON_LENGTH - 1] + "…"


@dataclass(frozen=True, slots=True)
class CompressionEnded:
    """How it ended."""

    outcome: Outcome
    unwritten: Unwritten | None = None
    """Why the summariser wrote nothing, if it did not, however the compression ended."""
    spent: Usage = Usage()
    """Tokens that the summariser read and wrote, whatever became of it."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """The context was repaired so that the provider accepts it."""

    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextShrunk:
    """The context was cut to fit without asking a model."""

    notes: tuple[str, ...]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Sending:
    """The request goes out; the meter as it stands."""

    usage: ContextUsage


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A piece of the answer."""

    text: str
    kind: Literal["text", "reasoning"] = "text"


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer is complete and stored."""

    node: Node
    reply: Reply


@dataclass(frozen=True, slots=True)
class AnswerFailed:
    """The provider failed; what it had said by then is stored."""

    error: str
    kind: str
    retryable: bool
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class Preparing:
    """A compression goes on in the background; the answer does not wait for it."""

    urgency: Urgency


@dataclass(frozen=True, slots=True)
class Waiting:
    """The answer waits for the compression in the background: without it the context would not fit well."""


Event: TypeAlias = (
    MessageStored
    | CompressionStarted
    | SummaryText
    | CompressionEnded
    | Recalled
    | Repaired
    | ContextShrunk
    | Sending
    | Retrying
    | AnswerText
    | Answered
    | AnswerFailed
    | Preparing
    | Waiting
)
