from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "splintr",
    "tiktoken",
    "numpy",
    "openai",
    "anthropic",
    "google.genai",
    "octavo.meters.claude",
    "tomllib",
)


@pytest.mark.parametrize("module", ["octavo.meters", "octavo.meters.meter", "octavo.meters.tokenizers"])
def test_importing_loads_no_vocabulary_and_no_sdk(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
