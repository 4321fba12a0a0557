"""The first five minutes: the page says what it is by showing it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.conftest import Audit
from tests.web.serving import MODEL, Octavo
from tests.web.upstream import Upstream


def test_a_newcomer_sees_a_compression_with_one_click_and_can_undo_it(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    page.goto("/")
    audit(page)
    page.get_by_role("button", name="Open a sample conversation").click()
    panel = page.get_by_role("region", name="Compressed messages")
    expect(panel).to_contain_text("An allotment society builds a weather station")
    expect(page.get_by_role("button", name="Context:")).to_be_visible()
    audit(page)
    (id,) = [one["id"] for one in octavo.get("conversations")["conversations"]]
    before = octavo.get(f"conversations/{id}/usage")["reading"]["tokens"]
    page.locator(".compression-head").get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Undone", exact=True)).to_be_visible()
    assert octavo.get(f"conversations/{id}/usage")["reading"]["tokens"] != before
    assert not upstream.bodies, "no model was asked for any of it"
    page.get_by_role("button", name="New", exact=True).click()
    page.get_by_role("button", name="Open a sample conversation").click()
    expect(page).to_have_url(f"{octavo.url}/c/{id}")


def test_the_list_of_models_begins_with_the_one_in_use(page: Page, octavo: Octavo) -> None:
    page.goto("/")
    page.get_by_role("button", name=f"Model: {MODEL}").click()
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_contain_text(MODEL)
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert octavo.get("models")["models"][0]["name"] != MODEL, "it would be further down otherwise"


def test_an_example_goes_into_the_input_and_is_not_sent(page: Page, upstream: Upstream) -> None:
    page.goto("/")
    page.get_by_role("button", name="Plan a four-day walk").click()
    field = page.get_by_label("Message", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value("Plan a four-day walk for two with public transport, step by step")
    assert not upstream.bodies
