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


def test_a_message_that_was_jumped_to_is_marked_until_somebody_goes_on(page: Page, octavo: Octavo) -> None:
    """Planted, one each: the mark kept when one sends, presses Esc, goes to the latest, scrolls away."""
    id = octavo.conversation(*(f"{'ua'[i % 2]}: message number {i}, in a few words" for i in range(MANY)))
    page.goto(f"/c/{id}")
    expect(page.get_by_text(f"message number {MANY - 1},")).to_be_in_viewport()
    log, marked = page.get_by_role("log"), page.locator(".row.target")
    row = page.locator(".row").filter(has_text="message number 2,")

    def jump() -> None:
        page.keyboard.press("Control+k")
        page.get_by_label("Find", exact=False).last.fill("number 2,")
        page.get_by_role("option").filter(has_text="number 2,").click()
        expect(marked.filter(has_text="message number 2,")).to_have_count(1)
        expect(row).to_be_in_viewport()

    def is_bare() -> None:
        """Back at the row, which is not in the document while it is out of sight."""
        log.evaluate("log => log.scrollTop = 0")
        expect(row).to_be_in_viewport()
        expect(marked).to_have_count(0)

    jump()
    page.keyboard.press("Escape")
    is_bare()
    jump()
    log.hover()
    before = log.evaluate("log => log.scrollTop")
    page.mouse.wheel(0, 20)
    page.wait_for_function("before => document.querySelector('[role=log]').scrollTop !== before", arg=before)
    expect(marked).to_have_count(1)
    page.mouse.wheel(0, 2_000)
    expect(row).to_have_count(0)
    is_bare()
    jump()
    page.get_by_role("button", name="Latest").click()
    expect(row).to_have_count(0)
    is_bare()
    jump()
    page.get_by_label("Message", exact=True).fill("And now?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You said: And now?")).to_be_in_viewport()
    is_bare()
    jump()
