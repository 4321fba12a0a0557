"""Writes what the examples of a page print into the blocks below: `python -m scripts.refresh_docs docs/PAGE.md`."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from pathlib import Path

from tests.test_docs import blocks, examples


def refresh(path: Path) -> None:
    page = path.read_text("utf-8")
    lines = page.splitlines()
    after = {block.first: block for block in blocks(page)}
    namespace: dict[str, object] = {"__name__": "__main__"}
    changes: list[tuple[int, int, list[str]]] = []
    for block, promised in examples(page):
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile("\n" * block.first + block.text, str(path), "exec", dont_inherit=True), namespace)
        if promised is not None:
            shown = after[min(first for first in after if first > block.last)]
            changes.append((shown.first, shown.last - 1, printed.getvalue().rstrip().splitlines()))
    for first, last, new in reversed(changes):
        lines[first:last] = new
    path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(Path(name))
