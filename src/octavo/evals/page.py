"""Findings as one HTML file that needs nothing else: no script, no network, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from octavo.evals.baselines import NONE
from octavo.evals.findings import Findings, Shares, Story, by_age, by_kind, by_question, by_round
from octavo.evals.measure.score import METRICS
from octavo.evals.plots import COLOURS, Axes, PlotLine, bar_plot, line_plot, lines_of, round_up
from octavo.evals.report import ReportTable, budget_name, tables, title_of
from octavo.evals.run import COSTS, LASTS, Row

_LIGHT = ("#2a78d6", "#1baf7a", "#c98500", "#008300", "#6a5ad0", "#e34948", "#d55181", "#c2571f")
_DARK = ("#3987e5", "#199e70", "#c98500", "#39a339", "#9085e9", "#e66767", "#d55181", "#d95926")
_STYLE = """
:root { color-scheme: light dark; --ground: #fcfcfb; --card: #ffffff; --ink: #1b1b1a; --faint: #62615c;
  --rule: #e4e3de; LIGHT }
@media (prefers-color-scheme: dark) { :root { --ground: #151514; --card: #1d1d1c; --ink: #f2f1ee; --faint: #a9a8a1;
  --rule: #383735; DARK } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 14px/1.5 system-ui, sans-serif }
main { max-width: 1240px; margin: 0 auto; padding: 2rem 1rem 4rem }
h1 { font-size: 1.6rem; margin: 0 0 .25rem } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem }
p, figcaption, .key { color: var(--faint); margin: .25rem 0 }
.scroll { overflow-x: auto; width: fit-content; max-width: 100%; background: var(--card);
  border: 1px solid var(--rule); border-radius: 8px }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .35rem .55rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }
th:first-child, td:first-child { text-align: left } tr:last-child td { border-bottom: 0 }
th { color: var(--faint); font-weight: 600 } td.best { font-weight: 700 }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); gap: 1rem }
figure { margin: 0; padding: .8rem; background: var(--card); border: 1px solid var(--rule); border-radius: 8px }
figure h3 { margin: 0 0 .25rem; font-size: 1rem } svg { width: 100%; height: auto; display: block }
.grid { stroke: var(--rule); stroke-width: 1 } .level { stroke: var(--faint); stroke-dasharray: 4 4 }
.tick { fill: var(--faint); font-size: 12px } polyline { fill: none; stroke-width: 2 } .again { stroke-dasharray: 6 4 }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1rem; position: sticky; top: 0; background: var(--ground);
  padding: .5rem 0; z-index: 1 }
.key i { display: inline-block; width: 1.1em; height: .7em; border-radius: 2px; margin-right: .4em }
details { margin: .5rem 0 } summary { cursor: pointer; color: var(--faint) }
dt { font-weight: 600 } dd { margin: 0 0 .4rem }
"""

Slice = Callable[[Sequence[Row]], Shares]


def page(findings: Findings, title: str = "What compression kept") -> str:
    """Write the report."""
    body = "\n".join(_body(findings, title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _style() -> str:
    light = " ".join(f"--c{n}: {colour};" for n, colour in enumerate(_LIGHT))
    dark = " ".join(f"--c{n}: {colour};" for n, colour in enumerate(_DARK))
    marks = "\n".join(
        f"polyline.c{n} {{ stroke: var(--c{n}) }} circle.c{n}, rect.c{n} {{ fill: var(--c{n}) }} "
        f"i.c{n} {{ background: var(--c{n}) }}"
        for n in range(COLOURS)
    )
    return _STYLE.replace("LIGHT", light).replace("DARK", dark) + marks + "\n"


def _body(findings: Findings, title: str) -> Iterator[str]:
    cases = len({row.case for row in findings.rows})
    yield f"<h1>{escape(title)}</h1>"
    yield f"<p>{cases:,} cases, {len(findings.compressors)} compressors; tokens as counted by {escape(findings.meter)}."
    yield f"{_told(findings)} Shares in percent, with 95 % intervals in brackets.</p>"
    yield _key(findings.compressors)
    for table in tables(findings):
        yield f"<h2>{escape(table.title)}</h2>"
        yield _table(table)
        yield from (f"<p><b>{escape(name)}</b>: {escape(words)}</p>" for name, words in table.notes)
    for budget in findings.budgets:
        yield f"<h2>What is kept, budget {escape(budget_name(budget))}</h2>"
        yield '<div class="plots">'
        yield from _plots(findings, budget)
        yield "</div>"
    if findings.stories:
        yield "<h2>One conversation as it grows</h2>"
        yield '<div class="plots">'
        yield from _grown(findings)
        yield "</div>"
    yield from _meanings()


def _told(findings: Findings) -> str:
    if not findings.rounds:
        return ""
    start = "the originals" if findings.originals else "its own last result"
    return f" Compressed about {findings.rounds} times on the way, each time from {start}."


def _key(names: Sequence[str]) -> str:
    items = "".join(
        f'<span><i class="c{n % COLOURS}"></i>{escape(name)}</span>' for n, name in enumerate(names)
    )
    return f'<div class="key">{items}</div>'


def _table(table: ReportTable) -> str:
    head = "".join(f"<th>{escape(word)}</th>" for word in table.head)
    rows = "".join(
        f"<tr>{''.join(_cell(text, best=number in table.best and n == 1) for n, text in enumerate(row))}</tr>"
        for number, row in enumerate(table.rows)
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _cell(text: str, *, best: bool) -> str:
    return f"<td{' class=best' if best else ''}>{escape(text)}</td>"


def _plots(findings: Findings, budget: float) -> Iterator[str]:
    rows = {
        name: [row for row in findings.rows if (row.compressor, row.budget) == (name, budget)]
        for name in findings.compressors
        if name != NONE or len(findings.compressors) == 1
    }
    colour = {name: number for number, name in enumerate(findings.compressors)}
    slices: tuple[tuple[str, str, Slice, bool], ...] = (
        ("Facts kept, by age", "place in the conversation, oldest first", by_age, False),
        ("Facts kept, by kind", "", by_kind, True),
        ("Questions answered, by kind", "", by_question, True),
        ("Facts of the first round left, by round", "round", by_round, False),
    )
    for title, across, slice, bars in slices:
        found = {name: slice(chosen) for name, chosen in rows.items()}
        if any(found.values()):
            yield _figure(title, across, found, colour, bars=bars)


def _figure(
    title: str, across: str, found: Mapping[str, Shares], colour: Mapping[str, int], *, bars: bool
) -> str:
    labels = list(dict.fromkeys(label for shares in found.values() for label in shares))
    axes = Axes(title=title, labels=labels, across=across, up="kept")
    drawn = (bar_plot if bars else line_plot)(axes, lines_of(found, labels, colour))
    return f"<figure><h3>{escape(title)}</h3>{drawn}{_numbers(labels, found)}</figure>"


def _numbers(labels: Sequence[str], found: Mapping[str, Shares]) -> str:
    """Give the same as a table, for those who cannot see the drawing."""
    rows = tuple((name, *(_percent(shares.get(label)) for label in labels)) for name, shares in found.items())
    drawn = _table(ReportTable(title="", head=("compressor", *labels), rows=rows))
    return f"<details><summary>numbers</summary>{drawn}</details>"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _grown(findings: Findings) -> Iterator[str]:
    stories = [story for story in findings.stories if story.compressor != NONE] or findings.stories
    colour = {name: number for number, name in enumerate(findings.compressors)}
    longest = max(len(story.tokens) for story in stories)
    labels = [str(n + 1) for n in range(longest)]
    most = max(max(story.tokens, default=1) for story in stories)
    axes = Axes(
        title=f"Tokens of the context, {stories[0].case}",
        labels=labels,
        across="message",
        up="tokens",
        top=round_up(most),
        percent=False,
        mark=stories[0].budget,
    )
    lines = [PlotLine(story.compressor, colour.get(story.compressor, 0), story.tokens) for story in stories]
    yield (
        f"<figure><h3>{escape(axes.title)}</h3>{line_plot(axes, lines)}"
        f"<figcaption>dashed: the budget of {stories[0].budget:,} tokens</figcaption></figure>"
    )
    found = {story.compressor: _left(story) for story in stories}
    if any(found.values()):
        yield _figure("Facts of the first round left, by round", "round", found, colour, bars=False)


def _left(story: Story) -> Shares:
    return by_round((), [story])


def _meanings() -> Iterator[str]:
    means = {**{title_of(name): metric.means for name, metric in METRICS.items()}, **LASTS, **COSTS}
    yield "<h2>What the columns mean</h2><dl>"
    yield from (f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in means.items())
    yield "</dl>"
