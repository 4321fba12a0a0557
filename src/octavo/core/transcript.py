"""Messages as labelled text, for summarisers and for people; long tool results are shown by head and tail.

`shorten` never returns a longer text than it was given, whatever the cap.
"""

from __future__ import annotations

from collections.abc import Iterable

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
