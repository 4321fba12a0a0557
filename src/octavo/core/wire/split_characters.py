"""Text that was cut in the middle of a character, made whole again.

Servers that count in UTF-16 cut a stream between the two halves of an emoji. What comes out can always be
encoded: halves that belong together are one character, a half that stays alone becomes U+FFFD.
"""

from __future__ import annotations

from dataclasses import dataclass

_FIRST_HALVES = ("\ud800", "\udbff")


def whole_characters(text: str) -> str:
    """Join the halves of characters; give text that can be encoded."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@dataclass(slots=True)
class TextPieces:
    """The pieces of one text, joined as they come."""

    held: str = ""
    """The first half of a character whose second half has not come yet."""

    def join(self, piece: str) -> str:
        """Take a piece; give what of it, and of what was held, can be shown."""
        text = self.held + piece
        cut = bool(text) and _FIRST_HALVES[0] <= text[-1] <= _FIRST_HALVES[1]
        self.held = text[-1] if cut else ""
        return whole_characters(text[:-1] if cut else text)
