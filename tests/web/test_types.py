"""The page's types are those of the interface."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "web_types.py"


def test_the_types_of_the_web_chat_are_current() -> None:
    script = runpy.run_path(str(SCRIPT))
    with script["TARGET"].open(encoding="utf-8") as file:
        assert file.readline() == script["first_line"](script["document"]()), (
            "run: python -m scripts.web_types"
        )
    made = script["SETTINGS_TARGET"].read_text("utf-8")
    assert made == script["settings_module"](), "run: python -m scripts.web_types"
