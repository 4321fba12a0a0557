"""Checks the web chat: its types, and that what a browser loads is small. `python -m scripts.check_web`."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "src" / "octavo" / "server" / "static"
MOST = 150_000
"""Bytes of all scripts and styles, compressed: a second on a slow mobile connection."""


def size() -> int:
    """Give what the page weighs on the wire, its parts that are loaded later included."""
    files = [*STATIC.rglob("*.js"), *STATIC.rglob("*.css")]
    return sum(len(gzip.compress(file.read_bytes(), mtime=0)) for file in files)


def check_types() -> None:
    spec = importlib.util.spec_from_file_location("web_build", ROOT / "web" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    build.install()
    build.run_npm("run", "check")


def main() -> None:
    check_types()
    weight = size()
    if not weight:
        sys.exit("the web chat is not built: make web")
    print(f"web: types are right; the page weighs {weight:,} of {MOST:,} bytes, compressed")
    if weight > MOST:
        sys.exit("the page is too heavy: load what is seldom needed later, or leave it out")


if __name__ == "__main__":
    main()
