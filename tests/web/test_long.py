"""A very long conversation: it opens at its end, every part of it can be reached, and few rows are in the document."""

from __future__ import annotations

import json

import httpx2
import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.serving import Octavo

MESSAGES = 5_000
MOST_ROWS = 300
"""Rows in the document at a time, wherever one looks."""
STOPS = 12
"""Places between the end and the beginning at which the rows are counted."""


@pytest.fixture
def long(octavo: Octavo) -> str:
    """A conversation of thousands of messages, from a file as other programs write them."""
    messages = [
        {
            "role": ("user", "assistant")[i % 2],
            "content": f"message {i:05} of a very long talk, " * (1 + i % 7),
        }
        for i in range(MESSAGES)
    ]
    messages[3]["content"] = "here is the needle in the hay"
    answer = httpx2.post(
        f"{octavo.url}/api/v1/import",
        content=json.dumps({"messages": messages}).encode(),
        params={"title": "Very long"},
        timeout=120,
    )
    assert answer.is_success, answer.text
    made: str = answer.json()["conversations"][0]["id"]
    return made


def test_a_conversation_of_thousands_of_messages_opens_and_scrolls_with_few_rows(
    page: Page, long: str
) -> None:
    page.goto(f"/c/{long}")
    expect(page.get_by_text(f"message {MESSAGES - 1:05}").first).to_be_in_viewport()
    rows = page.locator(".row")
    assert 0 < rows.count() < MOST_ROWS
    page.keyboard.press("Control+k")
    page.keyboard.type("needle")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_text("needle in the hay")).to_be_in_viewport()
    # Now all messages above the end are loaded; as few of them are in the document.
    assert 0 < rows.count() < MOST_ROWS
    counts = page.get_by_role("log").evaluate(
        """async (log, stops) => {
          const painted = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
          const counts = [];
          for (let stop = 0; stop <= stops; stop += 1) {
            log.scrollTop = (log.scrollHeight - log.clientHeight) * (stop / stops);
            await painted();
            counts.push(document.querySelectorAll(".row").length);
          }
          return counts;
        }""",
        STOPS,
    )
    assert len(counts) == STOPS + 1
    assert all(0 < count < MOST_ROWS for count in counts), counts
    page.get_by_role("log").evaluate("log => { log.scrollTop = 0 }")
    expect(page.get_by_text("message 00000").first).to_be_in_viewport()
    page.get_by_role("button", name="Latest").click()
    expect(page.get_by_text(f"message {MESSAGES - 1:05}").first).to_be_in_viewport()


def test_all_of_a_conversation_is_printed(page: Page, octavo: Octavo) -> None:
    """Only its end is loaded when it is opened, and a long message is shown shortened."""
    many = 200
    words = "word " * 40_000 + "the very last word"
    lines = [f"{'ua'[n % 2]}: message {n:03} of the talk" for n in range(many)]
    id = octavo.conversation(f"u: {words}", "a: It is long.", *lines)
    page.add_init_script(
        "window.print = () => { dispatchEvent(new Event('beforeprint'));"
        " window.paper = document.querySelector('main').innerText; dispatchEvent(new Event('afterprint')); }"
    )
    page.goto(f"/c/{id}")
    expect(page.get_by_text(f"message {many - 1:03}").first).to_be_visible()
    page.keyboard.press("Control+p")
    page.wait_for_function("() => window.paper")
    paper = page.evaluate("window.paper")
    assert [n for n in range(many) if f"message {n:03} of the talk" not in paper] == []
    assert "the very last word" in paper
    expect(page.locator(".row").first).to_be_attached()
    assert page.locator(".row").count() < MOST_ROWS


def test_printing_waits_for_older_messages_that_are_on_their_way(page: Page, octavo: Octavo) -> None:
    """Seen failing with: whoever asks meanwhile waits for nothing, again and again, and the page hangs."""
    many = 200
    id = octavo.conversation(*(f"{'ua'[n % 2]}: message {n:03} of the talk" for n in range(many)))
    page.add_init_script(
        "window.print = () => { dispatchEvent(new Event('beforeprint'));"
        " window.paper = document.querySelector('main').innerText; dispatchEvent(new Event('afterprint')); }"
    )
    held: list[Route] = []
    released = False

    def hold(route: Route) -> None:
        if released:
            route.continue_()
        else:
            held.append(route)

    page.route("**/messages?*before=*", hold)
    page.goto(f"/c/{id}")
    expect(page.get_by_text(f"message {many - 1:03}").first).to_be_visible()
    page.get_by_role("log").evaluate("log => { log.scrollTop = 0 }")
    expect(page.get_by_text("Loading older messages…")).to_be_visible()
    page.keyboard.press("Control+p")
    released = True
    for route in held:
        route.continue_()
    page.wait_for_function("() => window.paper")
    paper = page.evaluate("window.paper")
    assert [n for n in range(many) if f"message {n:03} of the talk" not in paper] == []
