"""Markdown as `rich` shows it, with headings where the text begins; imported when the first answer arrives."""

from __future__ import annotations

from rich.markdown import Heading, Markdown


class LeftHeading(Heading):
    """A heading at the left edge: in a log, a centred line belongs to nothing."""

    LEVEL_ALIGN = {}  # noqa: RUF012 - declared so where it comes from


class LeftMarkdown(Markdown):
    """Markdown for a log."""

    elements = {**Markdown.elements, "heading_open": LeftHeading}  # noqa: RUF012 - declared so where it comes from
