"""Hostile words in file names, tools, edits, finds and branches are words, too."""

from __future__ import annotations

from playwright.sync_api import FilePayload, Page, expect

from tests.web.serving import Octavo
from tests.web.test_hostile import HOSTILE, TITLE
from tests.web.test_talk import data_url, png

SCRIPT = "<script>window.pwned = 20</script><img src=x onerror=window.pwned=21>"
NAME = f"\u202egpj.{SCRIPT}\u2066.txt"
WIDE = "y" * 5_000
DRAWING = (
    b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=22"><script>window.pwned=23</script></svg>'
)


def harmless(page: Page) -> None:
    """Nothing ran, nothing was put into the page, nothing is wider than it."""
    assert page.evaluate("window.pwned") is None
    assert page.locator(":is(main, dialog) :is(script, iframe, style, object, embed)").count() == 0
    assert page.locator(":is(main, dialog) img[onerror], :is(main, dialog) [onload]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    log = page.get_by_role("log")
    assert log.evaluate("log => log.scrollWidth <= log.clientWidth")
    links = page.locator("main a").evaluate_all("all => all.map(a => a.href)")
    assert all(link.startswith(("https://", "mailto:")) for link in links), links


def test_hostile_files_and_tools_do_nothing(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation("u: Hello", title=TITLE)
    messages = f"conversations/{id}/messages"
    call = {"type": "tool_call", "id": "c1", "name": SCRIPT + WIDE, "input": f'{{"x": "{WIDE}"}}'}
    octavo.post(messages, {"role": "assistant", "content": [call]})
    pieces = [
        {"type": "text", "text": HOSTILE + WIDE},
        {"type": "image", "source": "javascript:window.pwned=24"},
    ]
    result = {"type": "tool_result", "call_id": "c1", "name": SCRIPT, "content": pieces, "error": True}
    octavo.post(messages, {"role": "tool", "content": [result]})
    parts = [
        {"type": "attachment", "name": NAME + WIDE, "source": data_url(HOSTILE.encode(), "text/html")},
        {"type": "attachment", "name": NAME, "media_type": SCRIPT, "source": "javascript:window.pwned=25"},
        {"type": "image", "source": data_url(DRAWING, "image/svg+xml")},
        {"type": "image", "source": "https://example.invalid/track.png"},
        {"type": "image", "source": data_url(png(4, 4))},
        {"type": "text", "text": HOSTILE},
    ]
    octavo.post(messages, {"content": parts})
    page.goto(f"/c/{id}")
    expect(page.get_by_text("window.pwned = 1</script>").last).to_be_attached()
    for compressed in page.locator("main details").all():
        compressed.locator("summary").click()
    expect(page.locator("main details[open] pre", has_text="</code></pre><script>")).to_have_count(2)
    harmless(page)
    page.set_viewport_size({"width": 390, "height": 780})
    harmless(page)


def test_hostile_words_do_nothing_in_the_input_and_in_dialogs(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation(f"u: {HOSTILE}", f"a: {HOSTILE}{WIDE}", title=TITLE)
    first = octavo.get(f"conversations/{id}/messages")["messages"][0]
    octavo.post(f"conversations/{id}/messages", {"content": SCRIPT + WIDE, "edits": first["id"]})
    page.goto(f"/c/{id}")
    page.get_by_role("button", name="Branches").click()
    expect(page.get_by_role("dialog").get_by_text("window.pwned = 20").first).to_be_visible()
    harmless(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("pwned")
    expect(page.get_by_role("option").first).to_be_visible()
    harmless(page)
    page.keyboard.press("Escape")
    page.get_by_label("Files", exact=True).set_input_files(
        [
            FilePayload(name=NAME, mimeType="text/html", buffer=HOSTILE.encode()),
            FilePayload(name="drawing.svg", mimeType="image/svg+xml", buffer=DRAWING),
        ]
    )
    expect(page.get_by_role("list", name="Attached").get_by_role("listitem")).to_have_count(2)
    page.get_by_label("Message", exact=True).focus()
    page.evaluate("text => navigator.clipboard.writeText(text)", HOSTILE + WIDE)
    page.keyboard.press("Control+v")
    page.get_by_role("list", name="Long pastes").get_by_role("button").first.click()
    expect(page.get_by_role("dialog", name="[LongText#1]").get_by_role("textbox")).to_have_value(
        HOSTILE + WIDE
    )
    harmless(page)
    page.keyboard.press("Escape")
    page.get_by_label("Message", exact=True).press("Enter")
    expect(page.get_by_role("article", name="Answer").last).to_contain_text("You said:")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    harmless(page)
    sent = octavo.get(f"conversations/{id}/messages")["messages"][-2]
    assert [part.get("name", "") for part in sent["parts"]] == [NAME, "drawing.svg", ""]
    assert sent["parts"][1]["media_type"] == "text/plain"
