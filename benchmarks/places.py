"""Where things lie beside the code in a checkout: yardsticks and recorded conversations that are not ours to ship."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The checkout."""
SHARED = ROOT.parent / "shared"
DATA = SHARED / "data"
"""Recorded conversations."""
QUALITY_YARDSTICK = SHARED / "bench" / "quality_bench.py"
