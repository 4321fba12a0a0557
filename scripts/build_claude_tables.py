"""Build the Claude tables of `octavo.meters.claude` from the data of the package `ctok` (MIT, Sander Land).

    python -m scripts.build_claude_tables [--source DIRECTORY]

Without `--source` the pinned wheel is fetched with pip into a temporary directory. What is written holds the
pieces, the byte prefixes and one class letter per character, none of the evidence records. The script refuses
data that would break an assumption of the counter: no piece crosses white space or a word boundary.
"""

from __future__ import annotations

import argparse
import importlib
import json
import lzma
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CTOK = "ctok==1.3.0"
TARGET = Path(__file__).parents[1] / "src" / "octavo" / "meters" / "data"
FAMILIES = {"claude-3": "v3", "claude-4.7": "v4.7"}
MARKERS = ("bow", "eow", "shift", "caps")
"""Written as U+E000 ... U+E003: the counter removes private-use characters from its input, so no text has them."""
BASIC_PLANE = 0x10000
SINCE_14 = {"\u0cf3": ("Mc", 0), "\u0ece": ("Mn", 122)} | dict.fromkeys(
    "\u2ffc\u2ffd\u2ffe\u2fff\u31ef", ("So", 0)
)
"""Category and combining class of what Unicode 15.0 and 15.1 added to the basic plane after 14.0."""
SEPARATOR = "\ue00f"


def fetch(folder: Path) -> Path:
    """Unpack the pinned wheel; its metadata asks for a newer Python than its code needs."""
    ask = ["download", "--quiet", "--no-deps", "--ignore-requires-python", "--dest", str(folder), CTOK]
    subprocess.run([sys.executable, "-m", "pip", *ask], check=True)
    wheel = next(folder.glob("ctok-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def measured_unicode() -> SimpleNamespace:
    """Answer as `unicodedata` does in Unicode 15.1, which the pieces were measured with, on any Python from 3.11 on."""
    return SimpleNamespace(
        category=lambda c: SINCE_14.get(c, (unicodedata.category(c), 0))[0],
        combining=lambda c: SINCE_14.get(c, ("", unicodedata.combining(c)))[1],
        normalize=unicodedata.normalize,
    )


def class_of(c: str, rules: Any) -> str:
    """Give a character's class letter; `octavo.meters.claude` says what each letter means."""
    kind = rules.classify(c)
    if kind == "wordy":
        if rules._stray_mark(c):
            return "m"
        return "c" if rules._marks_like_punct(c) else "w"
    if kind == "digit":
        return "d" if c.isascii() else "a"
    if kind in ("punct", "space"):
        return str(kind[0])
    return hard_class_of(c, rules)


def hard_class_of(c: str, rules: Any) -> str:
    if rules._is_selector(c):
        return "v"
    if rules._marks_like_punct(c):
        return "q"
    if rules._digit_border(c):
        return "n" if rules.unicodedata.category(c) == "Nd" else "o"
    return "h"


def classes(rules: Any) -> list[tuple[int, str]]:
    """List where each run of one class starts."""
    starts: list[tuple[int, str]] = []
    for code in range(BASIC_PLANE):
        letter = class_of(chr(code), rules)
        if not starts or starts[-1][1] != letter:
            starts.append((code, letter))
    return starts


def pieces(vocabulary: Iterable[str], glyphs: dict[int, str]) -> list[str]:
    """Write the pieces with our markers, in an order that compresses well, and check what the counter assumes."""
    written = sorted(piece.translate(glyphs) for piece in vocabulary)
    bow, eow, shift, caps = (chr(0xE000 + i) for i in range(4))
    for piece in written:
        body = piece.lstrip(shift + caps)
        assert eow not in piece[:-1], f"{piece!r} goes past a word's end"
        assert bow not in body[1:], f"{piece!r} goes past a word's start"
        assert not {shift, caps} & set(body), f"{piece!r} has a case marker inside"
        spaces = set(piece) & set(" \t\n\u3000")
        assert not spaces or len(set(piece)) == 1, f"{piece!r} mixes white space with something else"
    return written


def endings(written: Iterable[str]) -> dict[str, list[int]]:
    """List how long the pieces are that end with two given characters: the tiling looks at no other length."""
    found: dict[str, set[int]] = {}
    for piece in written:
        if len(piece) > 1:
            found.setdefault(piece[-2:], set()).add(len(piece))
    return {ending: sorted(lengths) for ending, lengths in sorted(found.items())}


def prefixes(group: Iterable[str]) -> list[str]:
    """Check that byte prefixes begin with a lead byte, so that only the longest one matters."""
    found = sorted(group)
    assert all(int(each[:2], 16) >= 0xC0 for each in found)
    return found


def write(name: str, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    data = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    (TARGET / name).write_bytes(data)
    print(f"{name}: {len(data):,} bytes")


def build(source: Path) -> None:
    if unicodedata.unidata_version > "15.1.0":
        sys.exit(
            f"this Python knows Unicode {unicodedata.unidata_version}; build with Python 3.11, 3.12 or 3.13"
        )
    sys.path.insert(0, str(source))
    main: Any = importlib.import_module("ctok.main")
    names: Any = importlib.import_module("ctok.constants")
    rules: Any = importlib.import_module("ctok.normalize")
    glyphs = {ord(getattr(names, f"{m.upper()}_G")): chr(0xE000 + i) for i, m in enumerate(MARKERS)}
    TARGET.mkdir(exist_ok=True)
    for name, family in FAMILIES.items():
        model, document = main._model(family), main._vocabulary(family)
        written = pieces(model.vocab, glyphs)
        table = {
            "pieces": SEPARATOR.join(written),
            "endings": endings(written),
            "prefixes": prefixes(document["tokens"]["bytes_fallback"]),
            "fold_quotes": model.fold_quotes,
            "caps_from": model.allcaps_min,
        }
        write(f"{name}.json.xz", table)
    rules.unicodedata = measured_unicode()
    rules.classify.cache_clear()
    write("claude-classes.json.xz", classes(rules))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, help="a directory that holds the package `ctok`")
    source = parser.parse_args().source
    with tempfile.TemporaryDirectory() as folder:
        build(source or fetch(Path(folder)))


if __name__ == "__main__":
    main()
