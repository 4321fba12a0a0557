"""Checks the web chat: its types, and that what a browser loads is small. `python -m scripts.check_web`."""

from __future__ import annotations

import gzip
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "src" / "octavo" / "server" / "static"
FIRST = 150_000
"""Bytes that the first view loads, compressed: a second on a slow mobile connection."""
ALL = 400_000
"""Bytes of everything, compressed: what is loaded later, when somebody wants it, has a bound as well."""
FONTS = 300_000
"""Fonts of formulas, which are compressed already: a browser fetches the two or three that a formula needs."""
LOADED = re.compile(r"(?:from|import)\s*\"(\./[\w.-]+\.js)\"")
"""A part that a script loads at once, as the build writes it; what it loads on demand is `import(...)`."""


def first_view() -> set[Path]:
    """Give the files that the first view loads: what the page names, and what those scripts need at once."""
    found: set[Path] = set()
    waiting = [
        STATIC / name.lstrip("/") for name in re.findall(r'(?:src|href)="([^"]+\.(?:js|css))"', _page())
    ]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            text = file.read_text("utf-8") if file.suffix == ".js" else ""
            waiting += [file.parent / name for name in LOADED.findall(text)]
    return found


def _page() -> str:
    page = STATIC / "index.html"
    return page.read_text("utf-8") if page.exists() else ""


def size(files: Iterable[Path]) -> int:
    """Give what files weigh on the wire."""
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
    first, everything = size(first_view()), size([*STATIC.rglob("*.js"), *STATIC.rglob("*.css")])
    if not first:
        sys.exit("the web chat is not built: make web")
    fonts = sum(file.stat().st_size for file in STATIC.rglob("*.woff2"))
    print(
        f"web: types are right; the first view weighs {first:,} of {FIRST:,} bytes, compressed, "
        f"everything {everything:,} of {ALL:,}, "
        f"fonts {fonts:,} of {FONTS:,}"
    )
    if first > FIRST or everything > ALL or fonts > FONTS:
        sys.exit("the page is too heavy: load what is seldom needed later, or leave it out")


if __name__ == "__main__":
    main()
