"""A streaming answer, cut into pieces of Markdown that will not change any more.

Finished pieces are printed once and belong to the scrollback; only what is left over is drawn again. Put together,
the pieces are the text: nothing is lost, nothing comes twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FENCE_LINES = 20
"""Lines of code that are drawn again while more arrive; what is older is printed."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """Finished Markdown."""

    text: str
    joined: bool = False
    """It goes on with the code of the block before: no empty line in between."""


@dataclass(slots=True)
class MarkdownStream:
    """What has arrived and is not finished yet."""

    rest: str = ""
    joined: bool = False

    def feed(self, text: str) -> list[MarkdownBlock]:
        """Take a piece of the answer; give the blocks that are finished now."""
        self.rest += text
        done: list[MarkdownBlock] = []
        while (block := self._cut()) is not None:
            done.append(block)
        return done

    def end(self) -> list[MarkdownBlock]:
        """Give what is left."""
        left, joined = self.rest.rstrip(), self.joined
        self.rest, self.joined = "", False
        return [MarkdownBlock(left, joined)] if left.strip() else []

    def _cut(self) -> MarkdownBlock | None:
        lines = self.rest.split("\n")
        fence, opened, begun, after_blank = "", 0, False, False
        for i, line in enumerate(lines):
            found = _FENCE.match(line)
            if fence:
                if found and found[1].startswith(fence) and not found[2].strip():
                    fence = ""
                elif i - opened > FENCE_LINES and i < len(lines) - 1:
                    return self._cut_code(lines, opened, i, fence)
            elif after_blank and line and not line[0].isspace():
                return self._take(lines, i)
            elif found:
                fence, opened = found[1], i
            begun = begun or bool(line.strip())
            after_blank = begun and not fence and not line.strip()
        return None

    def _take(self, lines: list[str], at: int) -> MarkdownBlock:
        """Cut before a line that begins something new."""
        block = MarkdownBlock("\n".join(lines[:at]).strip("\n"), self.joined)
        self.rest, self.joined = "\n".join(lines[at:]), False
        return block

    def _cut_code(self, lines: list[str], opened: int, at: int, fence: str) -> MarkdownBlock:
        """Cut inside long code; what follows opens with the same fence."""
        block = MarkdownBlock("\n".join([*lines[:at], fence]), self.joined)
        self.rest, self.joined = "\n".join([lines[opened], *lines[at:]]), True
        return block
