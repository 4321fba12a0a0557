"""The documentation, run and followed: examples print what the page says, links lead somewhere, quotes are exact.

A page's ```python blocks run in order in one namespace. What a block prints must be what the ```text block directly
after it shows, if there is one. Blocks marked ```python no-run are not run.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RUN, NOT_RUN, OUTPUT, SHELL = "python", "python no-run", "text", "sh"

_FENCE = re.compile(r" *(?P<ticks>`{3,})(?P<info>[^`]*)")
_CODE_SPAN = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\((?P<inline>[^)\s]+)(?:\s[^)]*)?\)|^\[[^\]]+\]:\s+(?P<defined>\S+)", re.MULTILINE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)
_QUOTE = re.compile(r"^`(?P<module>octavo[\w.]+)` says[^\n]*:\n\n(?P<quote>(?:>[^\n]*\n)+)", re.MULTILINE)
_MAKE = re.compile(r"^make ([a-z]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: what it is marked with, what is in it, and the lines of its fences."""

    info: str
    text: str
    first: int
    last: int


def blocks(page: str) -> Iterator[Block]:
    """Find the fenced blocks of a page."""
    lines = page.splitlines()
    ticks, info, first = "", "", 0
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.fullmatch(line)
        if fence and not ticks:
            ticks, info, first = fence["ticks"], fence["info"].strip(), number
        elif fence and not fence["info"].strip() and len(fence["ticks"]) >= len(ticks):
            body = textwrap.dedent("\n".join(lines[first : number - 1]))
            yield Block(info=info, text=body, first=first, last=number)
            ticks = ""
    assert not ticks, f"the block in line {first} is never closed"


def prose(page: str) -> str:
    """Give a page without its fenced blocks."""
    lines = page.splitlines()
    for block in blocks(page):
        lines[block.first - 1 : block.last] = [""] * (block.last - block.first + 1)
    return "\n".join(lines)


def examples(page: str) -> Iterator[tuple[Block, str | None]]:
    """Pair every block that runs with the output it promises."""
    lines = page.splitlines()
    end = Block(info="", text="", first=len(lines) + 1, last=len(lines) + 1)
    for block, after in pairwise([*blocks(page), end]):
        if block.info == RUN:
            between = "".join(lines[block.last : after.first - 1])
            yield block, after.text if after.info == OUTPUT and not between.strip() else None


def lies(path: Path) -> list[str]:
    """Run a page; tell what each block prints that prints something else than the page says."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    found: list[str] = []
    for block, promised in examples(path.read_text("utf-8")):
        # The empty lines in front make a traceback name the line of the page.
        code = compile("\n" * block.first + block.text, str(path), "exec", dont_inherit=True)
        with redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
        if promised is not None and _trimmed(printed.getvalue()) != _trimmed(promised):
            found.append(f"{path.name}, line {block.first}, prints:\n{printed.getvalue()}")
    return found


def _trimmed(text: str) -> list[str]:
    """Give the lines as editors leave them: no blanks at the end of any, none empty at the end of all."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def slugs(page: str) -> set[str]:
    """Give the anchors that headings become where Markdown is shown."""
    titles = _HEADING.findall(prose(page))
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken_links(path: Path, root: Path = ROOT) -> list[str]:
    """Tell the relative links of a page that lead nowhere, out of the project, or to a heading that is not there."""
    page = _CODE_SPAN.sub("", prose(path.read_text("utf-8")))
    targets = [found["inline"] or found["defined"] for found in _LINK.finditer(page)]
    return [target for target in targets if not _SCHEME.match(target) and not _leads(path, target, root)]


def _leads(path: Path, target: str, root: Path) -> bool:
    name, _, anchor = target.partition("#")
    goal = (path.parent / name).resolve() if name else path
    if not goal.exists() or not goal.is_relative_to(root):
        return False
    return not anchor or (goal.suffix == ".md" and anchor in slugs(goal.read_text("utf-8")))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [p for p in PAGES if any(examples(p.read_text("utf-8")))], ids=named)
def test_examples_print_what_the_page_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lies(path) == []


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_a_block_of_python_is_marked_so_that_it_is_run_or_not_on_purpose() -> None:
    marked = {block.info for path in PAGES for block in blocks(path.read_text("utf-8"))}
    assert {info for info in marked if info.lower().startswith("py")} <= {RUN, NOT_RUN}


def test_modules_are_quoted_word_for_word() -> None:
    quoted: set[str] = set()
    for page in (path.read_text("utf-8") for path in PAGES):
        for found in _QUOTE.finditer(page):
            quote = _plain(found["quote"].replace(">", " "))
            assert quote in _plain(import_module(found["module"]).__doc__ or "")
            quoted.add(found["module"])
    assert {"octavo.core.snapshot_rule", "octavo.core.context"} <= quoted


def _plain(text: str) -> str:
    return " ".join(text.split())


def commands(page: str) -> Iterator[str]:
    """Give the code spans and shell blocks of a page."""
    yield from (span.strip("`") for span in _CODE_SPAN.findall(prose(page)))
    yield from (block.text for block in blocks(page) if block.info == SHELL)


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    shown = [text for path in PAGES for text in commands(path.read_text("utf-8"))]
    named_targets = {name for text in shown for name in _MAKE.findall(text)}
    assert {"run", "test"} <= named_targets <= targets


def test_every_decision_is_in_the_index_once_and_has_its_four_parts() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text("utf-8")
    pages = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    assert [path.name for path in pages] == [found["inline"] for found in _LINK.finditer(index)]
    for number, path in enumerate(pages, start=1):
        text = path.read_text("utf-8")
        assert text.startswith(f"# {number:04} ")
        assert path.name.startswith(f"{number:04}-")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
            "Context",
            "Decision",
            "Consequences",
            "What would make us change it",
        ]


PAGE = """\
# A page

```python
x = 2
print(x, "\\n")
```

```text
2
```

```python no-run
print(undefined)
```

```python
print(x + 1)
```

Words in between: the block below promises nothing.

```text
5
```
"""


def test_an_example_that_prints_something_else_is_found(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    assert lies(path) == []
    path.write_text(PAGE.replace("x = 2", "x = 3"), "utf-8")
    assert lies(path) == ["page.md, line 3, prints:\n3 \n\n"]
    path.write_text(PAGE.replace("x + 1", "undefined"), "utf-8")
    with pytest.raises(NameError):
        lies(path)
    path.write_text(PAGE.removesuffix("```\n"), "utf-8")
    with pytest.raises(AssertionError, match="never closed"):
        lies(path)


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "page.md"
    path.parent.mkdir()
    (tmp_path / "other.md").write_text("# One, two: `three`\n", "utf-8")
    path.write_text(
        "# Here\n[a](../other.md) [b](../other.md#one-two-three) [c](#here 'title') [d](https://x.org/y)\n"
        "`[e](code.md)` [f](gone.md) [g](../other.md#four) [h](#there) [i](../../) [j][k]\n\n[k]: lost.md\n"
        "```\n[l](fenced.md)\n```\n",
        "utf-8",
    )
    assert broken_links(path, tmp_path) == ["gone.md", "../other.md#four", "#there", "../../", "lost.md"]


def test_the_page_of_policies_lists_every_setting() -> None:
    from scripts.refresh_docs import with_table

    page = (ROOT / "docs" / "policies.md").read_text("utf-8")
    assert page == with_table(page), "run: python -m scripts.refresh_docs docs/policies.md"
    assert "| `soft` |" in page
