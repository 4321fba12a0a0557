"""Fences that set data apart from instructions, and the marker between what is summarised and what is not.

Their names end in a digest of all that is fenced, so no text inside can know them; what merely looks like one is
escaped. The same job has the same fences, on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

DIGEST_SIZE = 6
"""Bytes: an attacker who writes a message would have to guess 48 bits that depend on it."""
NAMES = ("cutoff", "previous", "conversation", "recent", "notes", "draft")
_FENCE = re.compile(rf"<(?=\s*(?:/\s*)?(?:{'|'.join(NAMES)})-[0-9a-f]{{{2 * DIGEST_SIZE}}})", re.IGNORECASE)
_WHOLE_FENCE = re.compile(
    rf"<\s*(?:/\s*)?(?:{'|'.join(NAMES)})-[0-9a-f]{{{2 * DIGEST_SIZE}}}[^<>]*>", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fences:
    """The fences of one request."""

    digest: str

    @property
    def cutoff(self) -> str:
        """The marker: what stands before it is summarised."""
        return f"<cutoff-{self.digest}/>"

    def opening(self, name: str) -> str:
        return f"<{name}-{self.digest}>"

    def closing(self, name: str) -> str:
        return f"</{name}-{self.digest}>"

    def around(self, name: str, text: str) -> str:
        return f"{self.opening(name)}\n{escape(text)}\n{self.closing(name)}"


def fences(texts: Iterable[str]) -> Fences:
    """Make fences that none of the texts can contain."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return Fences(digest.hexdigest())


def escape(text: str) -> str:
    """Disarm whatever looks like a fence."""
    return _FENCE.sub("&lt;", text)


def without_fences(text: str) -> str:
    """Take out fences that a model has copied into its answer."""
    return _WHOLE_FENCE.sub("", text)
