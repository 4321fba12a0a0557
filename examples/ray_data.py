"""A file with a conversation in each line, compressed by Ray Data with the function that `octavo compress` uses.

    python examples/ray_data.py chats.jsonl smaller 2000

Rows keep their order. A line that cannot be compressed has no text, and says why in `error`.
"""

from __future__ import annotations

import sys
from typing import Any

import ray

import octavo


def compressed(row: dict[str, Any], budget: int) -> dict[str, Any]:
    made = octavo.compress_line(row["text"], budget=budget)
    return {"text": made.text, "before": made.before, "after": made.after, "error": made.error}


def main(source: str, target: str, budget: str = "2000") -> None:
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    rows = ray.data.read_text(source).map(compressed, fn_kwargs={"budget": int(budget)}).materialize()
    rows.write_json(target)
    failed = rows.filter(lambda row: bool(row["error"])).count()
    print(
        f"{rows.count()} conversations: {rows.sum('before')} -> {rows.sum('after')} tokens, {failed} failed"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
