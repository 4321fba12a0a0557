"""What was sent, cached, saved and spent is shown by day, and a compression says what it costs and has saved."""

from __future__ import annotations

from datetime import date

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Audit
from tests.web.serving import MODEL, Octavo
from tests.web.test_compression import talk


def open_costs(page: Page) -> None:
    page.get_by_role("button", name="Context:").click()
    page.get_by_role("dialog", name="Context").get_by_role("button", name="See what it cost").click()


@pytest.mark.parametrize("size", [(1_200, 800), (390, 800)])
def test_costs_are_drawn_by_day(page: Page, octavo: Octavo, audit: Audit, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto("/")
    page.get_by_label("Message", exact=True).fill("How is the pump?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    open_costs(page)
    settings = page.get_by_role("dialog", name="Settings")
    expect(settings.get_by_role("tab", name="Costs")).to_have_attribute("aria-selected", "true")
    expect(settings.get_by_role("img", name="Tokens by day")).to_be_visible()
    day = octavo.get("costs?by=day")["lines"][-1]
    assert day["sent"] > 0
    said = date.fromisoformat(day["name"])
    row = settings.get_by_role("row", name=f"{said.day} {said:%b %Y}")
    expect(row.get_by_role("cell", name=f"{day['sent']:,}", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    audit(page)
    page.keyboard.press("Escape")
    expect(settings).to_have_count(0)


def test_without_bills_the_chart_says_so(page: Page, octavo: Octavo, audit: Audit) -> None:
    page.goto(f"/c/{octavo.conversation('u: Hello', 'a: Good day')}")
    open_costs(page)
    expect(page.get_by_text("Nothing was billed yet.")).to_be_visible()
    audit(page)


def test_money_is_said_before_and_after(page: Page, octavo: Octavo) -> None:
    card = {"like": MODEL, "price": [4.0, 20.0, 0.4]}
    octavo.put("models/priced-gpt", card)
    id = talk(octavo)
    octavo.patch(f"conversations/{id}/settings", {"model": "priced-gpt"})
    page.goto(f"/c/{id}")
    page.get_by_role("button", name="Compress conversation history").first.click()
    expect(page.get_by_role("dialog").get_by_text("Costs about $")).to_be_visible()
    page.keyboard.press("Escape")
    ended = octavo.post_stream(f"conversations/{id}/compressions", {})
    assert '"compressed"' in ended, ended
    octavo.post_stream(f"conversations/{id}/turns", {"content": "And now?"})
    (made,) = octavo.get(f"conversations/{id}/snapshots")["snapshots"]
    said = octavo.get(f"conversations/{id}/snapshots/{made['id']}/receipt")["money"]
    assert said.endswith(" so far over 1 turn"), said
    page.reload()
    page.get_by_role("button", name="messages compressed").click()
    page.get_by_text("Receipt", exact=True).click()
    expect(page.get_by_text(f"This compression {said}.")).to_be_visible()
    octavo.delete("models/priced-gpt")
