"""Recorded bills of two providers, replayed: the limits the project sets itself."""

from __future__ import annotations

import statistics

import pytest

from benchmarks.bills import CORPORA, Errors, quantile, replay, replay_all
from benchmarks.places import DATA
from octavo.core.budget import ModelCard

MEDIAN, NEARLY_ALL = 0.01, 0.03


@pytest.mark.skipif(not DATA.exists(), reason="the recorded conversations are not here")
@pytest.mark.parametrize(("corpus", "name", "card"), CORPORA)
def test_predictions_after_three_requests_are_as_good_as_promised(
    corpus: str, name: str, card: ModelCard
) -> None:
    errors: Errors = replay_all(corpus, replay, card)
    assert len(errors.ahead) > 800, name
    assert statistics.median(errors.ahead) < MEDIAN
    assert quantile(errors.ahead, 0.95) < NEARLY_ALL
    assert len(errors.after) > 200
    assert statistics.median(errors.after) < MEDIAN
    assert quantile(errors.after, 0.95) < NEARLY_ALL
    assert errors.within > 0.9 * (len(errors.ahead) + len(errors.after))
