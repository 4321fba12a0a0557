"""The walk through the code: what one act enters stays little."""

from __future__ import annotations

import pytest

from scripts.walk import WALKS, walk

MOST = {"library": 25, "search": 4, "import": 10}
"""Modules that the thread that asks may enter, by what is asked for."""


@pytest.mark.parametrize("name", MOST)
def test_a_walk_enters_few_modules(name: str) -> None:
    steps = walk(name)
    assert len(steps.asking) <= MOST[name], sorted(steps.asking)


@pytest.mark.parametrize("name", sorted(set(WALKS) - set(MOST)))
def test_every_walk_can_be_taken(name: str) -> None:
    assert "core/messages.py" in walk(name).entered
