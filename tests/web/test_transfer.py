"""Conversations as files, in the page: brought in, saved, and shared as a page that needs nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.web.conftest import Audit
from tests.web.serving import Octavo
from tests.web.test_hostile import HOSTILE
from tests.web.test_talk import data_url, png


def save(page: Page, title: str, item: str) -> Path:
    page.get_by_role("link", name=title).hover()
    page.get_by_role("button", name=f"Actions for {title}").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name=item).click()
    return Path(waiting.value.path())


def test_a_conversation_is_saved_in_every_form_and_brought_in_again(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation("u: Which **port**?", "a: Port `8123`, and\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    page.goto("/")
    assert "## You" in (text := save(page, "A talk", "Save as Markdown").read_text("utf-8"))
    assert "Port `8123`" in text
    plain = json.loads(save(page, "A talk", "Save as JSON").read_text("utf-8"))
    assert [one["role"] for one in plain["messages"]] == ["user", "assistant"]
    shared = save(page, "A talk", "Save as a web page, to share").read_text("utf-8")
    assert "<code>8123</code>" in shared
    assert ">1</td>" in shared
    assert "<script" not in shared
    native = save(page, "A talk", "Save as an Octavo file").read_bytes()
    octavo.delete(f"conversations/{id}")
    file = {"name": "octavo.jsonl", "mimeType": "application/jsonl", "buffer": native}
    page.get_by_label("Import conversations").and_(page.locator("input")).set_input_files(file)  # type: ignore[arg-type]
    news = page.get_by_role("region", name="Notifications")
    expect(news.get_by_text("1 conversation came in")).to_be_visible()
    expect(news.get_by_text("2 messages: “A talk”")).to_be_visible()
    news.get_by_role("button", name="Open").click()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("Port 8123")
    expect(page).to_have_title("A talk · Octavo")


def test_a_shared_page_holds_words_and_no_scripts(page: Page, octavo: Octavo) -> None:
    octavo.conversation(f"u: {HOSTILE}", f"a: {HOSTILE}", title="A talk")
    page.goto("/")
    shared = save(page, "A talk", "Save as a web page, to share").read_text("utf-8")
    page.set_content(shared)
    assert page.evaluate("window.pwned") is None
    assert page.locator("script, iframe, form").count() == 0


FORMULA = "The share is $p = \\frac{18}{160}$, and\n\n$$ \\sum_{i=1}^{n} w_i $$"


def test_a_shared_page_needs_nothing_else(page: Page, octavo: Octavo, audit: Audit) -> None:
    """Formulas are set by the browser, pictures and files are in it, and nothing on it asks for a program."""
    large = {"type": "image", "source": data_url(png(64, 32, noise=60_000)), "media_type": "image/png"}
    id = octavo.conversation(
        "u: How many?", f"a: {FORMULA}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nSo[^1].\n\n[^1]: Twice."
    )
    messages = f"conversations/{id}/messages"
    octavo.post(messages, {"content": [{"type": "text", "text": "Like this?"}, large]})
    call = {"type": "tool_call", "id": "c1", "name": "weather", "input": '{"place": "Cadiz"}'}
    octavo.post(messages, {"role": "assistant", "content": [call]})
    result = {
        "type": "tool_result",
        "call_id": "c1",
        "name": "weather",
        "content": [{"type": "text", "text": "sunny"}],
    }
    octavo.post(messages, {"role": "tool", "content": [result]})
    page.goto("/")
    shared = save(page, "A talk", "Save as a web page, to share").read_text("utf-8")
    alone = page.context.new_page()
    alone.set_content(shared)
    expect(alone.locator("math")).to_have_count(2)
    expect(alone.locator("math").first.locator("mfrac")).to_be_visible()
    expect(alone.get_by_text("frac{18}", exact=False).locator("visible=true")).to_have_count(0)
    expect(alone.get_by_role("button", name="Copy")).to_have_count(0)
    audit(alone)
    alone.get_by_text("Called weather").click()
    expect(alone.get_by_text("Cadiz")).to_be_visible()
    picture = alone.get_by_role("img", name="Attached")
    alone.wait_for_function("image => image.naturalWidth === 64", arg=picture.element_handle())
    written = save(page, "A talk", "Save as Markdown").read_text("utf-8")
    assert 'Called `weather`:\n\n```\n{"place": "Cadiz"}\n```' in written
    assert "[A picture]" in written


def test_a_link_leads_to_a_message_and_paper_has_all_of_them(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation(*(f"{who}: Number {n} {'word ' * 120}" for n in range(25) for who in "ua"))
    third = octavo.get(f"conversations/{id}/messages?limit=100")["messages"][3]["id"]
    page.goto(f"/c/{id}#{third}")
    expect(page.locator(f"[data-message='{third}']")).to_be_in_viewport()
    article = page.locator(f"[data-message='{third}']")
    article.hover()
    article.get_by_role("button", name="Copy a link to the message").click()
    expect(article.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{octavo.url}/c/{id}#{third}"
    assert page.get_by_role("article").count() < 50
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("article[data-message]")).to_have_count(50)
    expect(page.get_by_role("navigation")).to_be_hidden()
    expect(page.get_by_label("Message", exact=True)).to_be_hidden()


def test_the_page_is_sent_compressed_and_kept_by_the_browser(page: Page) -> None:
    seen: dict[str, dict[str, str]] = {}
    page.on(
        "response",
        lambda told: seen.update({told.url: told.headers}) if "/assets/" in told.url else None,
    )
    page.goto("/")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    assert len(seen) >= 2
    for headers in seen.values():
        assert headers["content-encoding"] == "gzip"
        assert "immutable" in headers["cache-control"]


def test_enter_in_the_finder_leaves_no_line_in_the_input(page: Page, octavo: Octavo) -> None:
    octavo.conversation("u: Where is the harbour?", "a: By the sea.", title="Harbour")
    page.goto("/")
    page.get_by_label("Message", exact=True).fill("A draft")
    page.keyboard.press("Control+k")
    page.keyboard.type("Harbour")
    expect(page.get_by_role("dialog").locator("mark, .found").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Harbour")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Message", exact=True)).to_have_value("A draft")
