"""Write short awkward texts with the counts the package `ctok` gives them, for tests/meters/test_claude.py.

    python -m scripts.build_claude_golden [--source DIRECTORY]

The texts are drawn from a fixed seed out of everything the counter treats in its own way: borders of words, case,
contractions, digits of other scripts, marks without a letter, signs, spaces, and what is removed or folded.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.build_claude_tables import fetch

TARGET = Path(__file__).parents[1] / "tests" / "meters" / "claude_golden.json"
VERSIONS = {"claude-3": "3.0", "claude-4.7": "4.7", "claude-4.8": "4.8"}
COUNT = 600
LONGEST = 14
"""Pieces in a text: long enough for three neighbours to matter, short enough to see why one fails."""
PIECES = [
    *("a", "b", "s", "t", "ll", "A", "BC", "HELLO", "Word", "camelCase", "x's", "90's", "it's", "we'LL"),
    *(
        "'",
        "'",
        "\u2019",
        '"',
        "\u201c",
        ".",
        ",",
        "!",
        "(",
        "):",
        "->",
        "==",
        "\u2014",
        "\u00ab",
        "\u2192",
        "\u20ac",
    ),
    *(
        " ",
        " ",
        " ",
        "  ",
        "    ",
        "\n",
        "\n\n",
        "\t",
        "\u3000",
        "\u00a0",
        "\u2009",
        "\x00",
        "\x07",
        "\ue000",
        "\ud800",
    ),
    *(
        "1",
        "23",
        "4567",
        "\u0661",
        "\u0968",
        "\u00b2",
        "\u00bd",
        "\u2460",
        "\u2163",
        "\u2177",
        "\U0001d7ce",
        "\u0be7",
    ),
    *(
        "\u00e9",
        "\u00df",
        "\u1e9e",
        "\u0130",
        "\u0131",
        "\u03f4",
        "\u03a3",
        "\u03c2",
        "\u01c5",
        "\u2133",
        "\u0416\u0416\u0416\u0416",
    ),
    *(
        "\u0391\u0392\u0393\u0394",
        "\u24d0",
        "\u24b7",
        "\u4e2d",
        "\u6587",
        "\uff1f",
        "\u3002",
        "\uff0c",
        "\u3005",
        "\ud55c\uae00",
    ),
    *(
        "\u30f2",
        "\u30fc",
        "\u3093",
        "\U0001f642",
        "\ufe0f",
        "\u200d",
        "\u0301",
        "\u094d",
        "\u0915",
        "\u0937",
        "\u0ba4\u0bcd",
    ),
    *(
        "\u0e4d",
        "\u0e32",
        "\u0e33",
        "\u16d2",
        "\u0710",
        "\u0730",
        "\u0711",
        "\u00ad",
        "\u0378",
        "\ufb01",
        "\ufdd0",
        "\u3012",
    ),
]


def texts() -> list[str]:
    rng = random.Random(20)
    return ["".join(rng.choices(PIECES, k=rng.randint(1, LONGEST))) for _ in range(COUNT)]


def build(source: Path) -> None:
    sys.path.insert(0, str(source))
    ctok: Any = importlib.import_module("ctok.main")
    frames = {name: ctok._model(ctok._family(v)).message_overhead for name, v in VERSIONS.items()}
    rows = [
        [text, *(ctok.token_count(text, v) - frames[name] for name, v in VERSIONS.items())]
        for text in texts()
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    TARGET.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(rows)} texts")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, help="a directory that holds the package `ctok`")
    source = parser.parse_args().source
    with tempfile.TemporaryDirectory() as folder:
        build(source or fetch(Path(folder)))


if __name__ == "__main__":
    main()
