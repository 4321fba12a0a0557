"""Plots as inline SVG: lines and bars whose colours come from the page, so one drawing serves light and dark.

Every mark says its numbers when pointed at; nothing needs a script.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 14, 42
"""Room around the plot for the labels of the axes."""
TICKS = 4
"""Lines across the plot."""
POINTS = 400
"""Points drawn of a long line: more than the pixels it crosses would not be seen."""
LABELS = 12
"""Labels below the plot; with more, some are left out."""
SLANTED = 6
"""From so many labels on they are slanted, so that they do not touch."""
COLOURS = 8
"""Colours there are; further compressors begin again, dashed."""


@dataclass(frozen=True, slots=True)
class PlotLine:
    """A compressor's line: a number for each label, None where there is none."""

    name: str
    number: int
    """Which colour it has in all plots."""
    points: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What the plot shows."""

    title: str
    labels: Sequence[str]
    across: str
    up: str
    top: float = 1.0
    percent: bool = True
    mark: float | None = None
    """A level drawn across, such as a budget."""

    def value(self, number: float) -> str:
        return f"{100 * number:.0f} %" if self.percent else f"{number:,.0f}"

    def y(self, number: float) -> float:
        share = number / self.top if self.top else 0.0
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), 1)

    def x(self, place: float) -> float:
        """Give the middle of a label's place."""
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (place + 0.5) / max(1, len(self.labels)), 1)


def line_plot(axes: Axes, lines: Sequence[PlotLine]) -> str:
    """Draw a line for each compressor."""
    return _svg(axes, [piece for line in lines for piece in _line(axes, line)])


def bar_plot(axes: Axes, lines: Sequence[PlotLine]) -> str:
    """Draw a group of bars for each label."""
    return _svg(axes, [piece for at, line in enumerate(lines) for piece in _bars(axes, line, at, len(lines))])


def _svg(axes: Axes, marks: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(axes.title)}">',
            *_grid(axes),
            *_labels(axes),
            *marks,
            "</svg>",
        ]
    )


def _grid(axes: Axes) -> Iterator[str]:
    for tick in range(TICKS + 1):
        number = axes.top * tick / TICKS
        y = axes.y(number)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text class="tick" x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{axes.value(number)}</text>'
    yield f'<text class="tick" x="{LEFT}" y="{TOP - 4}">{escape(axes.up)}</text>'
    if axes.mark is not None:
        y = axes.y(axes.mark)
        yield f'<line class="level" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'


def _labels(axes: Axes) -> Iterator[str]:
    each = max(1, -(-len(axes.labels) // LABELS))
    y = HEIGHT - BOTTOM + 14
    for place, label in enumerate(axes.labels):
        if place % each == 0:
            x = axes.x(place)
            turned = len(axes.labels) >= SLANTED and not label.isdecimal()
            turn = (
                f' text-anchor="end" transform="rotate(-25 {x} {y})"' if turned else ' text-anchor="middle"'
            )
            yield f'<text class="tick" x="{x}" y="{y}"{turn}>{escape(label)}</text>'
    yield (
        f'<text class="tick" x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{escape(axes.across)}</text>'
    )


def _line(axes: Axes, line: PlotLine) -> Iterator[str]:
    each = max(1, -(-len(line.points) // POINTS))
    spots = [
        (axes.x(place), axes.y(number), place, number)
        for place, number in enumerate(line.points)
        if number is not None and place % each == 0
    ]
    drawn = " ".join(f"{x},{y}" for x, y, _, _ in spots)
    yield f'<polyline class="{_style(line)}" points="{drawn}"><title>{escape(line.name)}</title></polyline>'
    if len(spots) <= LABELS:
        for x, y, place, number in spots:
            words = escape(f"{line.name}, {axes.labels[place]}: {axes.value(number)}")
            yield f'<circle class="{_style(line)}" cx="{x}" cy="{y}" r="4"><title>{words}</title></circle>'


def _bars(axes: Axes, line: PlotLine, at: int, of: int) -> Iterator[str]:
    room = (WIDTH - LEFT - RIGHT) / max(1, len(axes.labels))
    wide = max(2.0, room * 0.8 / of - 2)
    for place, number in enumerate(line.points):
        if number is None:
            continue
        x = round(axes.x(place) - room * 0.4 + at * (wide + 2), 1)
        y, bottom = axes.y(number), axes.y(0)
        words = escape(f"{line.name}, {axes.labels[place]}: {axes.value(number)}")
        yield (
            f'<rect class="{_style(line)}" x="{x}" y="{y}" width="{wide:.1f}" height="{bottom - y:.1f}" rx="2">'
            f"<title>{words}</title></rect>"
        )


def _style(line: PlotLine) -> str:
    return f"c{line.number % COLOURS}" + (" again" if line.number >= COLOURS else "")


def lines_of(
    shares: Mapping[str, Mapping[str, float | None]], labels: Sequence[str], colour: Mapping[str, int]
) -> list[PlotLine]:
    """Make lines of the shares of each compressor."""
    return [
        PlotLine(name, colour[name], [found.get(label) for label in labels]) for name, found in shares.items()
    ]


def round_up(most: float) -> float:
    """Give the end of an axis whose ticks are round numbers."""
    unit = TICKS * 10 ** max(0, len(str(int(most))) - 2)
    return float(max(1, math.ceil(most / unit)) * unit)
