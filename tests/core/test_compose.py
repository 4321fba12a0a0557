"""A snapshot is filled up to its cap and never beyond."""

from __future__ import annotations

import pytest

from octavo.core.compose import compose
from octavo.core.context import speak
from octavo.core.policy import Voice
from octavo.core.snapshot import draft
from octavo.testing import WordMeter, talk

METER = WordMeter()
LINES = [
    f"{'ua'[n % 2]}: The service number {n} listens on port {8000 + n} in /srv/app{n}." for n in range(40)
]


@pytest.mark.parametrize("cap", [0, 20, 30, 60, 120, 400])
def test_what_is_sent_stays_within_the_cap(cap: int) -> None:
    branch = talk(*LINES)
    made = compose(
        draft(branch, 30, id="s", summary="They listed services."),
        branch[:30],
        cap=cap,
        count=METER.message,
        measure=METER.text,
        retained=branch[30:],
    )
    sent = sum(METER.message(message) for message in speak(made, Voice()))
    assert made.tokens_after == sent
    assert sent <= cap or not made.extracts
    assert bool(made.extracts) == (cap >= 60)


def test_a_measure_that_disagrees_with_the_count_is_not_believed() -> None:
    """The whole is measured as it is sent; what does not fit is chosen again with less room, and then left out."""
    branch = talk(*LINES)
    made = compose(
        draft(branch, 30, id="s", summary="x"),
        branch[:30],
        cap=60,
        count=METER.message,
        measure=lambda text: len(text) // 500,
    )
    assert made.extracts == ()
