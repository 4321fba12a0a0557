"""The timeline: a few screens at a time, and what is being read stays where it is."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.serving import Octavo

MANY = 150
"""Messages: more than two pages of the timeline."""
FEW_ROWS = 60
"""Rows in the document at a time; all of them would be more."""


def test_older_messages_come_when_they_are_scrolled_to(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation(*(f"{'ua'[i % 2]}: message number {i}, in a few words" for i in range(MANY)))
    page.goto(f"/c/{id}")
    expect(page.get_by_text(f"message number {MANY - 1},")).to_be_in_viewport()
    log = page.get_by_role("log")
    first = page.get_by_text("message number 0,")
    # Scrolling up again and again, as a person does, until the beginning is there.
    page.wait_for_function(
        """() => {
          const log = document.querySelector("[role=log]");
          log.scrollTop = 0;
          return log.textContent.includes("message number 0,");
        }"""
    )
    log.evaluate("log => log.scrollTop = 0")
    expect(first).to_be_in_viewport()
    assert page.locator(".row").count() < FEW_ROWS
    page.get_by_role("button", name="Latest").click()
    expect(page.get_by_text(f"message number {MANY - 1},")).to_be_in_viewport()
