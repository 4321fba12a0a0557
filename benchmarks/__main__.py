"""Prints the performance figures: `python -m benchmarks [NAME ...]`, all of them by default."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
ORDER = ("core", "tokens", "store", "extracts", "reading", "engine", "gateway", "peers")


def main() -> None:
    there = [name for name in ORDER if (HERE / f"{name}.py").exists()]
    wanted = sys.argv[1:] or there
    if unknown := [name for name in wanted if name not in there]:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(there)}")
    for name in wanted:
        print(f"\n## {name}\n")
        import_module(f"benchmarks.{name}").main([])


if __name__ == "__main__":
    main()
