"""Reads a PDF from standard input and prints its text as JSON: `python -m octavo.engine.pdf_text`.

`octavo.engine.documents` runs it as a process of its own, which may be killed at any time.
"""

from __future__ import annotations

import io
import json
import logging
import sys
from contextlib import suppress

MOST_PAGES = 500
MOST_TEXT = 2_000_000
"""Characters: about 500,000 tokens, more than most windows hold."""
MOST_MEMORY = 1 << 30
"""Bytes that reading may take."""
LOCKED = "is protected with a password: save a copy without one, and attach that"
SCANNED = (
    "holds no text, only pictures of pages: have its text recognised first, or attach the pages as pictures"
)
BROKEN = "cannot be read: it is damaged, or no PDF"


def read_pdf(content: bytes) -> dict[str, str | int]:
    """Give the text and the number of pages, or the problem."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(content))
        # Many are locked against changes only, which an empty password opens.
        if reader.is_encrypted and not reader.decrypt(""):
            return {"problem": LOCKED}
        texts, size = list[str](), 0
        for page in reader.pages[:MOST_PAGES]:
            texts.append(page.extract_text().strip())
            size += len(texts[-1])
            if size > MOST_TEXT:
                break
        pages = len(reader.pages)
    except DependencyError:
        return {"problem": LOCKED}
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return {"problem": BROKEN}
    if not any(texts):
        return {"problem": SCANNED if pages else BROKEN}
    text = "\n\n".join(f"[page {number}]\n{text}" for number, text in enumerate(texts, 1) if text)
    left_out = f"\n\n[The first {len(texts)} of {pages} pages.]" if len(texts) < pages else ""
    return {"text": text[:MOST_TEXT] + left_out, "pages": pages, "read": len(texts)}


def main() -> None:
    """Read, and print."""
    logging.disable(logging.CRITICAL)
    with suppress(ImportError, ValueError, OSError):  # not every system has limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    sys.stdout.write(json.dumps(read_pdf(sys.stdin.buffer.read())))


if __name__ == "__main__":
    main()
