"""Write down anew what the core makes of made-up conversations: `python -m scripts.renew_results [NAME ...]`.

The tests in `tests/core/results` compare with it. Read the difference before you commit it: that is
what your change does.
"""

from __future__ import annotations

import sys

from tests.core.results.records import RECORDS, written
from tests.core.results.test_results import expected


def main() -> None:
    if unknown := set(sys.argv[1:]) - set(RECORDS):
        raise SystemExit(
            f"No record is called {', '.join(sorted(unknown))}. There are: {', '.join(RECORDS)}."
        )
    for name in sys.argv[1:] or RECORDS:
        file = expected(name)
        text = written(name)
        known = file.read_text("utf-8") if file.exists() else ""
        if text != known:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
            print(f"{name}: {len(text):,} characters")


if __name__ == "__main__":
    main()
