"""The meter: always in sight, every figure the server's, coloured by the marks."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.web.conftest import Audit
from tests.web.serving import Octavo
from tests.web.upstream import Upstream


def certainty(reading: dict[str, Any]) -> str:
    """A count with a bound is not called exact."""
    bounded = reading["basis"] == "exact" and reading["error_bound"]
    return "counted" if bounded else str(reading["basis"])


def test_the_meter_shows_what_the_server_counts_and_opens_to_the_sections(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = octavo.conversation("u: How many tokens is this?", "a: A handful.")
    usage = octavo.get(f"conversations/{id}/usage")
    page.goto(f"/c/{id}")
    meter = page.get_by_role("button", name="Context:")
    expect(meter).to_contain_text(f"{usage['reading']['tokens']:,} of {usage['budget']['limit']:,} tokens")
    assert usage["turns"] > 100
    expect(meter).to_contain_text("compresses in more than 100 turns")
    meter.click()
    breakdown = page.get_by_role("dialog", name="Context")
    expect(breakdown).not_to_contain_text("exactly")
    bound = usage["reading"]["error_bound"]
    expect(breakdown.get_by_text(f"give or take {bound:,}")).to_have_count(1 if bound else 0)
    for figure in (
        usage["budget"]["reply"],
        usage["budget"]["window"],
        usage["budget"]["hard"],
        usage["left"],
    ):
        expect(breakdown.get_by_role("cell", name=f"{figure:,}", exact=True).first).to_be_visible()
    audit(page)
    page.keyboard.press("Escape")
    expect(breakdown).to_have_count(0)
    expect(meter).to_be_focused()


def test_the_meter_counts_what_is_being_written(page: Page, octavo: Octavo, upstream: Upstream) -> None:
    id = octavo.conversation("u: Hello", "a: Good day")
    page.goto(f"/c/{id}")
    meter = page.get_by_role("button", name="Context:")
    now = octavo.get(f"conversations/{id}/usage")["reading"]["tokens"]
    expect(meter).to_contain_text(f"{now:,} of")
    draft = {"content": "word " * 2_000}
    page.get_by_label("Message", exact=True).fill(draft["content"])
    full = octavo.post(f"conversations/{id}/usage", draft)
    assert full["reading"]["tokens"] > now + 1_500
    expect(meter).to_contain_text(f"{full['reading']['tokens']:,} of")
    page.get_by_label("Message", exact=True).fill("")
    expect(meter).to_contain_text(f"{now:,} of")
    assert not upstream.bodies
    assert len(octavo.get(f"conversations/{id}/messages")["messages"]) == 2


def test_a_full_context_turns_the_meter_red(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation(*["u: " + "word " * 1_200, "a: " + "more " * 1_200] * 3)
    assert octavo.get(f"conversations/{id}/usage")["level"] == "hard"
    page.goto(f"/c/{id}")
    expect(page.locator(".meter.hard")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 780})
    expect(page.locator(".meter.hard")).to_be_in_viewport()
