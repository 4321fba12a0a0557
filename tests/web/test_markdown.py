"""Markdown becomes the elements that it means, and HTML in it the text that it is."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.conftest import Audit
from tests.web.serving import Octavo

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of one pixel."""
TEXT = f"""# A title with `code`

First **bold**, *slanted*, ~~gone~~ and a
new line; &lt;b&gt; &amp; &#169; stay signs, <b>tags</b> too, \\*stars\\* as well.

3. three
4. four
   - inner, [a link](https://example.org/?a=1&amp;b=2 "t"), https://auto.example
   - ![a picture](https://example.org/x.png)

- [x] done
- [ ] not done

> quoted

---

| left | right |
|------|------:|
| `x`  | 2     |

![dot](data:image/png;base64,{DOT})

```python
def f(x):  # why
    return "s" + 12
```

```diff
+ more
- less
```

<div onclick="x()">a block &lt;</div>
"""


def test_every_kind_of_markdown_is_shown_as_what_it_is(page: Page, octavo: Octavo, audit: Audit) -> None:
    id = octavo.conversation("u: Show me everything", f"a: {TEXT}")
    page.goto(f"/c/{id}")
    prose = page.get_by_role("article", name="Answer").locator(".prose")
    expect(prose.locator("h1")).to_have_text("A title with code")
    paragraph = prose.locator("p").first
    expect(paragraph).to_contain_text("First bold, slanted, gone and a")
    expect(paragraph).to_contain_text("<b> & © stay signs, <b>tags</b> too, *stars* as well.")
    for tag in ("strong", "em", "del", "br"):
        expect(paragraph.locator(tag)).to_have_count(1)
    expect(paragraph.locator("b")).to_have_count(0)
    expect(prose.locator("ol")).to_have_attribute("start", "3")
    links = prose.locator("a").evaluate_all("all => all.map(one => [one.textContent, one.href])")
    assert links == [
        ["a link", "https://example.org/?a=1&b=2"],
        ["https://auto.example", "https://auto.example/"],
        ["[a picture]", "https://example.org/x.png"],
    ]
    expect(prose.get_by_text("☑ done")).to_be_visible()
    expect(prose.get_by_text("☐ not done")).to_be_visible()
    expect(prose.locator("blockquote")).to_have_text("quoted")
    expect(prose.locator("hr")).to_have_count(1)
    expect(prose.locator("td.at-right")).to_have_text("2")
    expect(prose.get_by_role("img", name="dot")).to_have_count(1)
    code = prose.locator("pre code").first
    expect(code).to_have_text('def f(x):  # why\n    return "s" + 12')
    expect(code.locator(".hl-comment")).to_have_text("# why")
    expect(code.locator(".hl-word")).to_have_text(["def", "return"])
    expect(prose.locator(".hl-added")).to_have_text("+ more")
    expect(prose.get_by_text('<div onclick="x()">a block &lt;</div>')).to_be_visible()
    audit(page)


MATHS = r"""The root is $x_1 = \frac{-b}{2a}$, or \(e^{i\pi}\); it costs $5, or 10$, between $3 and $4.

$$\sum_{n=1}^{N} n = \frac{N(N+1)}{2}$$

\[ a^2 + b^2 = c^2 \]

Broken: $$\frac{1$$

A claim.[^1] Another.[^two]

[^1]: It was *measured*.
[^two]: It was not.
"""


def test_formulas_are_set_and_money_is_none(page: Page, octavo: Octavo, audit: Audit) -> None:
    id = octavo.conversation("u: Maths, please", f"a: {MATHS}")
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto("/")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    assert not [url for url in fetched if "math" in url], "loaded only when used"
    page.goto(f"/c/{id}")
    prose = page.get_by_role("article", name="Answer").locator(".prose")
    expect(prose.locator(".katex")).to_have_count(4)
    expect(prose.locator(".katex-display")).to_have_count(2)
    expect(prose.locator("p").first).to_contain_text("it costs $5, or 10$, between $3 and $4.")
    expect(prose.locator("code")).to_have_text(r"$$\frac{1$$")
    assert [url for url in fetched if "woff2" in url], "with fonts of our own"
    audit(page)


def test_footnotes_are_reached_from_their_signs(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation("u: Sources, please", f"a: {MATHS}")
    page.goto(f"/c/{id}")
    prose = page.get_by_role("article", name="Answer").locator(".prose")
    expect(prose.locator(".footnote")).to_have_count(2)
    expect(prose.locator(".footnote").first).to_have_text("1 It was measured.")
    prose.get_by_role("button", name="Footnote two").click()
    expect(prose.locator(".footnote").last).to_be_focused()


def test_hostile_formulas_do_nothing(page: Page, octavo: Octavo) -> None:
    hostile = (
        r"$\href{javascript:window.bad=1}{x^2}$",
        r"$\includegraphics{https://evil.example/x_1.png}$",
        r"$\htmlClass{a}{x^2}$",
    )
    id = octavo.conversation("u: Maths", f"a: {' '.join(hostile)} and $y^2$")
    page.goto(f"/c/{id}")
    prose = page.get_by_role("article", name="Answer").locator(".prose")
    expect(prose.locator(".katex").last).to_be_visible()
    assert prose.locator("a, img, .a").count() == 0
