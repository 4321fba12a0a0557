"""A snapshot is filled up to its cap and never beyond."""

from __future__ import annotations

import pytest

from octavo.core.compose import compose
from octavo.core.context import render_summary
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
        retained=branch[30:],
    )
    sent = sum(METER.message(message) for message in render_summary(made, Voice()))
    assert made.tokens_after == sent
    assert sent <= cap or not made.extracts
    assert bool(made.extracts) == (cap >= 30)


def test_the_cap_is_used_to_the_last_lines() -> None:
    """The extracts are measured inside the whole, so nothing is held back for what joining might cost."""
    branch = talk(*LINES)
    for cap in (100, 150, 200, 250):
        made = compose(draft(branch, 30, id="s", summary=""), branch[:30], cap=cap, count=METER.message)
        assert cap - 14 <= made.tokens_after <= cap


def test_a_carried_question_is_not_repeated_by_the_extracts() -> None:
    branch = talk(
        "u: Deploy build_77 to host_9.", 'c: run {"n": "1"}', "r: host_3 is up", 'c: run {"n": "2"}', "r: ok"
    )
    carried = draft(branch, 3, id="s", summary="")
    assert carried.carried == "m1"
    made = compose(carried, branch[:3], cap=60, count=METER.message)
    assert made.extracts
    assert all("build_77" not in extract.text for extract in made.extracts)
