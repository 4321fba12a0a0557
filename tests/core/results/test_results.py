"""What the core makes of made-up conversations is what is written down, to the last character."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

import pytest

from tests.core.results import contexts, extracts, flaws, limits, summaries
from tests.core.results.records import RECORDS, written

SUBJECTS = (contexts, extracts, flaws, limits, summaries)
FOLDER = Path(__file__).parent / "expected"
SHOWN = 40
"""Lines of a difference that are shown."""


def expected(name: str) -> Path:
    return FOLDER / f"{name}.txt"


@pytest.mark.parametrize("name", RECORDS)
def test_results_stay_as_they_were_written_down(name: str) -> None:
    """Whoever wants them changed renews them: `python -m scripts.renew_results`."""
    before = expected(name).read_text("utf-8").splitlines()
    now = written(name).splitlines()
    changed = list(unified_diff(before, now, "written down", "now", n=0, lineterm=""))
    assert not changed, "\n".join(changed[:SHOWN])


def test_every_text_belongs_to_a_record() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {*RECORDS}
