"""How a model's window is divided: overhead, reply, margin, and the marks on what is left for history.

Every number is a whole number of tokens, turned from ratios once, here. A `Budget` whose summary and retained
part alone would reach the soft mark again cannot be built: it would compress for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from octavo.errors import BadInput

MARGIN = 0.05
"""Share of the window left free: no local count is the provider's own."""
REPLY_SHARE = 4
"""At most a quarter of the window is kept for the reply, whatever the model could write."""
REPLY_CAP = 32_000
"""Nobody reads a longer answer; a caller that wants one says so."""
SNAPSHOT_SHARE = 0.2
"""A snapshot may take a fifth of what is available: with a fifth retained, 40 % is used after compressing."""
SNAPSHOT_CAP = 24_000
"""Models read a longer summary worse than a shorter one, and every turn pays for it."""
ASSUMED_WINDOW = 32_000
"""For models nothing is known about: small enough to be true of nearly all, large enough to be useful."""

Basis = Literal["exact", "calibrated", "estimated"]


def fraction(value: object, name: str) -> float:
    """Accept a ratio strictly between 0 and 1; raise `BadInput` for 0, 1, negatives, NaN and text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(name, f"expected a number between 0 and 1, got {value!r}")
    if not 0 < value < 1:
        raise BadInput(name, f"expected a number between 0 and 1 (both excluded), got {value!r}")
    return float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is known of a model."""

    name: str
    provider: str = ""
    window: int = ASSUMED_WINDOW
    max_output: int = 4_096
    tokenizer: str = "o200k"
    frame: str = ""
    """Which rule says what a message costs beyond its text."""
    image_rule: str = ""
    vision: bool = True
    price: Price | None = None
    summariser: str = ""
    """The model that writes summaries for this one by default."""
    soft: float | None = None
    """The soft mark this model prefers; None: the policy's."""
    retained: int | None = None
    """Tokens this model prefers to keep verbatim; None: the policy's."""
    assumed: bool = False
    """True when the card was made up for an unknown name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a meter says of a context."""

    tokens: int
    basis: Basis = "exact"
    error_bound: int = 0
    """How many tokens the truth may lie above `tokens`; triggers add it."""
    breakdown: tuple[tuple[str, int], ...] = ()
    """Tokens by section, in the order of the context; they add up to `tokens`."""

    @property
    def cautious(self) -> int:
        return self.tokens + self.error_bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Tokens that every request carries besides the conversation."""

    system: int = 0
    tools: int = 0
    files: int = 0
    pins: int = 0

    @property
    def total(self) -> int:
        return self.system + self.tools + self.files + self.pins
