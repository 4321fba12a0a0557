"""Messages as labelled text, for summarisers and for people; long tool results are shown by head and tail.

`shorten` never returns a longer text than it was given, whatever the cap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

RESULT_CAP = 2_000
"""Characters of one tool result that a summariser is shown: enough for an error and its surroundings."""
NAMELESS = "unnamed image"
LONGEST_NAME = 120
"""Characters of a file's name, type and size."""
FILES_LISTED = 50
"""Files that are named at a time: enough to ask for one, and no more than a thousand tokens or so."""
LABELS = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}


def transcript(messages: Iterable[Message], *, result_cap: int | None = RESULT_CAP) -> str:
    """Render messages as labelled paragraphs; `result_cap=None` shows tool results whole."""
    blocks = (_render(message, result_cap) for message in messages)
    return "\n\n".join(block for block in blocks if block)


def _render(message: Message, cap: int | None) -> str:
    lines = [line for part in message.parts if (line := describe(part, cap=cap))]
    if not lines:
        return ""
    label = f"{LABELS[message.role]} ({message.name})" if message.name else LABELS[message.role]
    return f"{label}: " + "\n".join(lines)


def describe(part: Part, *, cap: int | None = None) -> str:
    """Render one part as text; reasoning is not part of what was said."""
    match part:
        case Text():
            return part.text
        case Reasoning():
            return ""
        case Image():
            pixels = f" {part.width}×{part.height}" if part.width and part.height else ""
            return f"[image{pixels}]"
        case Attachment():
            return f"[file: {describe_file(part)}]"
        case ToolCall():
            return f"[call {part.name} {part.input}]"
        case ToolResult():
            return _describe_result(part, cap)
        case Opaque():
            return f"[{part.kind}]"


def describe_file(file: Attachment) -> str:
    """Name a file, its type and its size in one line."""
    details = [file.media_type, f"{file.size:,} bytes" if file.size else ""]
    known = ", ".join(detail for detail in details if detail)
    return f"{file.name or 'unnamed'} ({known})" if known else file.name or "unnamed"


def shared_files(message: Message) -> tuple[str, ...]:
    """Name every file and picture that came with a message, those in the answers of tools included, a line each."""
    pieces = (
        piece
        for part in message.parts
        for piece in (part.content if isinstance(part, ToolResult) else (part,))
    )
    named = (
        describe_file(piece) if isinstance(piece, Attachment) else _describe_image(piece)
        for piece in pieces
        if isinstance(piece, Attachment | Image)
    )
    return tuple(" ".join(name.split())[:LONGEST_NAME] for name in named)


def newest_files(names: Sequence[str]) -> tuple[tuple[str, ...], int, int]:
    """Keep as many names as are ever listed; gives them, and the numbers of other files and of nameless pictures."""
    named = [name for name in names if not name.startswith(NAMELESS)]
    nameless = [name for name in names if name.startswith(NAMELESS)]
    kept = {*named[-FILES_LISTED:], *nameless[-FILES_LISTED:]}
    return (
        tuple(name for name in names if name in kept),
        max(0, len(named) - FILES_LISTED),
        max(0, len(nameless) - FILES_LISTED),
    )


def list_files(names: Iterable[str], *, earlier: int = 0, pictures: int = 0) -> str:
    """Write names, a line each: only the newest of very many, and pictures without a name by their number.

    `earlier` files and nameless `pictures` are known by their number alone.
    """
    every = tuple(names)
    named = [name for name in every if not name.startswith(NAMELESS)]
    lines = [f"- {name}" for name in named[-FILES_LISTED:]]
    if unlisted := earlier + max(0, len(named) - FILES_LISTED):
        lines.insert(0, f"- {unlisted:,} earlier ones")
    if nameless := pictures + len(every) - len(named):
        lines.append(f"- {nameless:,} {NAMELESS}{'' if nameless == 1 else 's'}")
    return "\n".join(lines)


def _describe_image(image: Image) -> str:
    """Name a picture by the end of its address, or by what is known of it where it has none."""
    pixels = f"{image.width}×{image.height}" if image.width and image.height else ""
    if not image.source.startswith("data:"):
        path = re.split(r"[?#]", image.source, maxsplit=1)[0].rstrip("/")
        details = ", ".join(detail for detail in (image.media_type or "image", pixels) if detail)
        if name := path.rpartition("/")[2]:
            return f"{name} ({details})"
    size = f"{(len(image.source) - image.source.find(',') - 1) * 3 // 4:,} bytes" if image.source else ""
    known = ", ".join(detail for detail in (image.media_type, pixels, size) if detail)
    return f"{NAMELESS} ({known})" if known else NAMELESS


def _describe_result(result: ToolResult, cap: int | None) -> str:
    body = "\n".join(line for piece in result.content if (line := describe(piece)))
    label = " ".join(word for word in ("error" if result.error else "result", result.name) if word)
    return f"[{label}] {body if cap is None else shorten(body, cap)}"


def shorten(text: str, cap: int, *, hint: str = "") -> str:
    """Cut a text to its head and tail, saying how much is missing; at most `cap` characters of the text remain.

    `hint` tells where the whole text is. If the cut text would not be shorter, the text comes back as it was.
    """
    cap = max(0, cap)
    if len(text) <= cap:
        return text
    head, tail = (cap + 1) // 2, cap // 2
    left_out = len(text) - head - tail
    note = f"[… {left_out:,} of {len(text):,} characters left out{'; ' + hint if hint else ''} …]"
    cut = "\n".join(piece for piece in (text[:head], note, text[len(text) - tail :]) if piece)
    return cut if len(cut) < len(text) else text
