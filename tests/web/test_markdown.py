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
