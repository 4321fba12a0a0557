"""Hostile words in messages and titles are words: nothing runs, nothing is fetched, nothing breaks out."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.serving import Octavo
from tests.web.upstream import Upstream

HOSTILE = """<script>window.pwned = 1</script><img src=x onerror="window.pwned = 2">
<iframe src="javascript:window.pwned = 3"></iframe><svg onload="window.pwned = 4"><style>body{display:none}</style>

[a link](javascript:window.pwned=5) [another](  JaVaScRiPt:window.pwned=6) [data](data:text/html,<script>1</script>)
![an image](https://example.invalid/track.png) <a href="javascript:window.pwned=7">raw</a> <form action="/api/v1/keys">

```html"><img src=x onerror=window.pwned=8>
</code></pre><script>window.pwned = 9</script>
```

| <b onmouseover=window.pwned=10>cell</b> | `</td><script>window.pwned=11</script>` |
|---|---|
| \u202egnirts desrever\u202c | &lt;script&gt;window.pwned=12&lt;/script&gt; |
"""
TITLE = "</title><script>window.pwned = 13</script>\u202eeltit"


def test_hostile_messages_and_titles_do_nothing(page: Page, octavo: Octavo, upstream: Upstream) -> None:
    wide = "x" * 20_000
    id = octavo.conversation(f"u: {HOSTILE}", f"a: {HOSTILE}", f"a: {wide}", f"s: {HOSTILE}", title=TITLE)
    upstream.say = lambda _: HOSTILE
    page.goto(f"/c/{id}")
    page.get_by_label("Message", exact=True).fill(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_text("window.pwned = 1</script>").last).to_be_attached()
    page.get_by_role("log").evaluate("log => log.scrollTop = 0")
    expect(page.get_by_text("window.pwned = 1</script>").first).to_be_attached()
    assert page.evaluate("window.pwned") is None
    assert page.locator("main :is(script, iframe, svg svg, style, form form, img)").count() == 0
    links = page.locator("main a").evaluate_all("all => all.map(a => a.href)")
    assert all(link.startswith(("https://", "mailto:")) for link in links), links
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    log = page.get_by_role("log")
    assert log.evaluate("log => log.scrollWidth <= log.clientWidth")
    expect(page.get_by_role("heading", level=1)).to_contain_text("</title><script>")
