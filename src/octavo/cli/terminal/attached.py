"""What goes with a message: files named with `@`, and what a command printed.

Text goes as an attachment with its name, as in the web chat; nothing is read that was not named.
"""

from __future__ import annotations

import asyncio
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from octavo.core.messages import Attachment, Message, Part, Text
from octavo.engine.documents import is_pdf, read_document
from octavo.errors import UsageError

MENTION = re.compile(r"(?<!\S)@(?:\"([^\"]+)\"|(\S+))")
LARGEST = 15 * 1024 * 1024
"""Bytes of a file, as in the web chat."""
OFFERED = 50
"""Files offered for completion."""
SHOWN = 20
"""Lines of a command's output that are shown; all of it goes with the message."""


def read_attachment(path: Path) -> Attachment:
    """Read a text file, or the text of a PDF; refuse what is too large or no text, with the reason."""
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path} is larger than {LARGEST:,} bytes; attach a part of it")
        content = path.read_bytes()
        if is_pdf(content):
            # A thread of its own: the terminal's event loop may be running already.
            with ThreadPoolExecutor(1) as aside:
                found = aside.submit(asyncio.run, read_document(path.name, content)).result()
            return as_attachment(path.name, found.text.encode())
        content.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text file: only text and PDFs can be attached here") from None
    return as_attachment(path.name, content)


def as_attachment(name: str, content: bytes) -> Attachment:
    source = f"data:text/plain;base64,{b64encode(content).decode()}"
    return Attachment(name=name, media_type="text/plain", size=len(content), source=source)


def mentioned(text: str) -> list[Path]:
    """Find the files that a text names with `@`; a word that names no file is a word."""
    names = [quoted or plain for quoted, plain in MENTION.findall(text)]
    return [path for name in dict.fromkeys(names) if (path := Path(name).expanduser()).is_file()]


def message_of(text: str, attached: Iterable[Attachment]) -> Message:
    """Put a message together: what is attached first, as in the web chat."""
    parts: list[Part] = [*attached]
    if text.strip():
        parts.append(Text(text=text))
    return Message(role="user", parts=tuple(parts))


def offer_files(word: str) -> Iterator[tuple[str, str]]:
    """Offer the files and folders that a word begins to name, with their sizes."""
    folder, _, begun = word.rpartition("/")
    place = Path(folder or ("/" if word.startswith("/") else ".")).expanduser()
    try:
        named = [entry for entry in os.scandir(place) if entry.name.startswith(begun)]
    except OSError:
        return
    found = sorted(named, key=lambda entry: entry.name)
    for entry in found[:OFFERED]:
        name = f"{folder}/{entry.name}" if folder or word.startswith("/") else entry.name
        yield (f"{name}/", "folder") if entry.is_dir() else (name, f"{entry.stat().st_size:,} bytes")


async def run_command(command: str) -> tuple[str, int]:
    """Run a command of the person at the keyboard; give what it printed, and how it ended."""
    process = await asyncio.create_subprocess_shell(
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        printed, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return printed.decode("utf-8", "replace"), process.returncode or 0
