"""The full history, which is not what is sent; and what is sent, exactly."""

from __future__ import annotations

import json

import httpx2
from playwright.sync_api import Locator, Page, Route, expect

from tests.web.conftest import Audit
from tests.web.serving import Octavo

MANY = 2_500
"""Messages: more than two pages of a thousand."""
FEW_ROWS = 60
"""Rows in the document at a time; all of them would be more."""
FOUND = "CSS.highlights.get('found')?.size ?? 0"


def imported(octavo: Octavo, texts: list[str]) -> str:
    """Store many messages at once; gives the conversation's id."""
    lines = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(texts)]
    answer = httpx2.post(
        f"{octavo.url}/api/v1/import", params={"title": "Long"}, content=json.dumps(lines), timeout=60
    )
    assert answer.is_success, answer.text
    (made,) = answer.json()["conversations"]
    return str(made["id"])


def compressed(octavo: Octavo) -> str:
    """Store a conversation whose older half is compressed; gives its id."""
    id = octavo.conversation(
        "u: The harbour office is at 14 Quay Street, berth 7. " + "We spoke of boats and tides. " * 60,
        "a: Noted: 14 Quay Street, berth 7. " + "The tide is high at noon. " * 60,
        "u: The invoice INV-2291 is over 480 euros. " + "It was sent in March. " * 60,
        "a: Noted: INV-2291, 480 euros. " + "It is still open. " * 60,
        "u: What shall I do next?",
        "a: Write to the harbour office.",
        title="The harbour",
    )
    octavo.patch(f"conversations/{id}/settings", {"system": "You keep books for sailors."})
    octavo.post_stream(f"conversations/{id}/compressions", {})
    assert octavo.get(f"conversations/{id}/snapshots")["serving"]
    return id


def words(content: str | list[dict[str, str]]) -> str:
    """Give the words of a message, which may come as one text or in parts."""
    return content if isinstance(content, str) else "\n\n".join(part["text"] for part in content)


def history(page: Page) -> Locator:
    page.get_by_role("button", name="View full history").click()
    return page.get_by_role("dialog", name="History")


def test_the_full_history_shows_compressed_messages_and_says_that_they_are_not_sent(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = compressed(octavo)
    sent = octavo.get(f"conversations/{id}/context")["sent"]
    page.goto(f"/c/{id}")
    dialog = history(page)
    expect(dialog.get_by_text("This is not what is sent.")).to_be_visible()
    expect(dialog).to_contain_text("6 messages")
    rows = dialog.get_by_role("region", name="Full history")
    expect(rows.locator(".past.sent")).to_have_count(len(sent))
    rows.evaluate("list => list.scrollTop = 0")
    first = rows.get_by_role("article").first
    expect(first).to_contain_text("14 Quay Street")
    expect(first).to_contain_text("compressed, not sent")
    audit(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="View full history")).to_be_focused()


def test_a_hit_is_marked_and_jumped_to_however_far_away_it_is(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    texts = [f"Remark {i}." for i in range(MANY)]
    texts[3] = "The <i>pelican</i> sleeps."
    texts[MANY - 200] = "A pelican again, and a Pelican."
    id = imported(octavo, texts)
    page.goto(f"/c/{id}")
    dialog = history(page)
    expect(dialog.get_by_text(f"Remark {MANY - 1}.")).to_be_in_viewport()
    expect(dialog).to_contain_text(f"{MANY:,} messages")
    assert dialog.locator(".rows-row").count() < FEW_ROWS
    dialog.get_by_label("Find in the history").fill("pelican")
    hits = dialog.get_by_role("list", name="Hits")
    expect(hits.get_by_role("listitem")).to_have_count(2)
    expect(hits.locator("mark").first).to_have_text("pelican", ignore_case=True)
    page.keyboard.press("Enter")
    near = dialog.locator(".past", has_text="A pelican again")
    expect(near).to_be_in_viewport()
    expect(near).to_have_attribute("aria-current", "true")
    page.wait_for_function(f"{FOUND} >= 2")
    dialog.get_by_role("button", name="Next hit").click()
    far = dialog.locator(".past", has_text="The <i>pelican</i> sleeps.")
    expect(far).to_be_in_viewport()
    expect(dialog).to_contain_text("2 of 2")
    assert dialog.locator(".rows-row").count() < FEW_ROWS
    audit(page)
    hits.get_by_role("button").first.click()
    expect(near).to_be_in_viewport()


def test_the_end_of_the_history_stays_in_sight_when_what_is_known_of_its_messages_comes_late(
    page: Page, octavo: Octavo
) -> None:
    """Whether a message is sent is known after it is shown; its row grows by that."""
    id = imported(octavo, [f"Remark {i}." for i in range(200)])
    page.set_viewport_size({"width": 390, "height": 700})
    held: list[Route] = []
    page.route("**/context*", lambda route: held.append(route))
    page.goto(f"/c/{id}")
    dialog = history(page)
    last = dialog.get_by_text("Remark 199.")
    expect(last).to_be_in_viewport()
    expect(dialog.locator(".past .tag")).to_have_count(0)
    page.evaluate("new Promise(done => setTimeout(done, 500))")
    for route in held:
        route.continue_()
    expect(dialog.locator(".past .tag").first).to_be_attached()
    expect(last).to_be_in_viewport()


def test_a_hit_on_another_branch_is_said_to_be_there(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation("u: Hello", "a: Good day", title="Two ways")
    (_, answer) = octavo.get(f"conversations/{id}/messages")["messages"]
    octavo.post(
        f"conversations/{id}/messages",
        {"role": "assistant", "content": "Good evening", "edits": answer["id"]},
    )
    octavo.patch(f"conversations/{id}", {"tip": answer["id"]})
    page.goto(f"/c/{id}")
    dialog = history(page)
    dialog.get_by_label("Find in the history").fill("evening")
    dialog.get_by_role("list", name="Hits").get_by_role("button").click()
    expect(dialog.get_by_text("on another branch")).to_be_visible()


def test_what_will_be_sent_is_exactly_the_context_and_can_be_copied(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = compressed(octavo)
    context = octavo.get(f"conversations/{id}/context")
    assert context["snapshot"]
    page.goto(f"/c/{id}")
    page.get_by_role("button", name="Context:").click()
    page.get_by_role("button", name="See what will be sent").click()
    dialog = page.get_by_role("dialog", name="History")
    expect(dialog.get_by_role("tab", name="What will be sent")).to_have_attribute("aria-selected", "true")
    expect(dialog).to_contain_text(f"{context['usage']['reading']['tokens']:,} tokens")
    sections = {one["section"]: one["tokens"] for one in context["usage"]["reading"]["breakdown"]}
    assert {"system", "summary", "retained"} <= set(sections)
    for tokens in sections.values():
        expect(dialog.locator(".sent-sections")).to_contain_text(f"{tokens:,}")
    rows = dialog.get_by_role("region", name="What will be sent")
    expect(rows.locator("pre").first).to_have_text("You keep books for sailors.")
    shown = rows.locator("pre").all_text_contents()
    assert shown == [words(message["content"]) for message in context["messages"]]
    audit(page)
    dialog.get_by_role("button", name="Copy as JSON").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied == {"messages": context["messages"]}


def test_the_history_fits_a_phone(page: Page, octavo: Octavo, audit: Audit) -> None:
    id = compressed(octavo)
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(f"/c/{id}")
    dialog = history(page)
    expect(dialog.get_by_text("Write to the harbour office.")).to_be_in_viewport()
    assert page.evaluate("document.querySelector('dialog').scrollWidth <= innerWidth")
    audit(page)
    dialog.get_by_role("tab", name="What will be sent").click()
    expect(dialog.get_by_text("You keep books for sailors.")).to_be_in_viewport()
    audit(page)
