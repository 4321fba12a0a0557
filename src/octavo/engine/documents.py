"""The text of a PDF, so that any model can be asked about it.

A process with limits of its own reads the file, because a file of a few kilobytes can be made to take hours and
gigabytes. The model is sent the text, and the text is what is counted.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass

from octavo.engine.pdf_text import BROKEN
from octavo.errors import UsageError

LARGEST = 15 * 1024 * 1024
"""Bytes of a file, as of any attachment."""
SECONDS = 60
"""How long reading may take; a book of 500 pages takes about 20."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that was read."""

    name: str
    text: str
    pages: int
    read: int
    """Pages that were read: the first ones."""


def is_pdf(content: bytes) -> bool:
    """Tell a PDF by how it begins."""
    return b"%PDF-" in content[:1024]


async def read_document(name: str, content: bytes) -> Document:
    """Read the text of a PDF; `UsageError` says in plain words why there is none."""
    if len(content) > LARGEST:
        raise UsageError(f"{name} is larger than {LARGEST:,} bytes; attach a part of it")
    if not is_pdf(content):
        raise UsageError(f"{name} {BROKEN}")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "octavo.engine.pdf_text",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(SECONDS):
            printed, _ = await process.communicate(content)
    except TimeoutError:
        raise UsageError(f"{name} takes longer than {SECONDS} seconds to read; attach a part of it") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = json.loads(printed) if process.returncode == 0 and printed else {}
    if "text" not in found:
        raise UsageError(f"{name} {found.get('problem', 'cannot be read: it is damaged, or too complex')}")
    return Document(name=name, text=found["text"], pages=found["pages"], read=found["read"])
