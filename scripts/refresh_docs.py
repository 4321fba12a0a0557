"""Writes into a page what is made by running: `python -m scripts.refresh_docs docs/PAGE.md`.

What the examples print goes into the blocks below them, and the table of settings between its two marks.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from pathlib import Path

from octavo.engine.settings import SETTINGS, Setting
from tests.test_docs import blocks, examples

TABLE, END = "<!-- settings -->\n", "<!-- /settings -->\n"


def settings_table() -> str:
    """Give the table of settings in Markdown."""
    rows = [f"| `{one.name}` | {_values(one)} | {one.meaning} |" for one in SETTINGS.values()]
    return "\n".join(["| setting | value | means |", "|---|---|---|", *rows]) + "\n"


def _values(one: Setting) -> str:
    match one.kind:
        case "switch":
            return "`true`, `false`"
        case "mark":
            return "above 0, up to 1"
        case "number":
            return "a number"
        case "tokens":
            return "tokens"
        case "amount":
            return "tokens, or a share below 1"
        case "auto_tokens":
            return f"{', '.join(f'`{name}`' for name in one.choices)}, or tokens"
        case "model":
            return "a model"
        case _:
            named = ", ".join(f"`{name}`" for name in one.choices)
            return f"{named}, or text" if named and one.kind == "prompt" else named or "text"


def with_table(page: str) -> str:
    """Put the table of settings between its marks, if the page has them."""
    before, mark, rest = page.partition(TABLE)
    if not mark:
        return page
    return before + mark + settings_table() + END + rest.partition(END)[2]


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
    path.write_text(with_table("\n".join(lines) + "\n"), "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(Path(name))
