"""Recall seen and steered: the line at the answer, what it opens to, the switch, the meter, and what will be sent."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.web.conftest import Audit, Watch
from tests.web.serving import Octavo
from tests.web.test_compression import compress, hosts, talk
from tests.web.test_settings import setting, settings
from tests.web.upstream import HOLD, Upstream

TURNS = 12
HOST = 7
"""Of the hosts of a turn: the one that is asked for."""


def key_of(host: int) -> str:
    return hosts(host, 1)


def forgotten(octavo: Octavo) -> tuple[str, int]:
    """Make a compressed conversation; give its id, and a host whose key the snapshot does not tell."""
    id = talk(octavo, TURNS)
    made = compress(octavo, id, keep=0.1)
    full = octavo.get(f"conversations/{id}/snapshots/{made['id']}")
    told = " ".join([full["summary"], *(one["text"] for one in full["extracts"])])
    return id, next(n for n in range(HOST, 100, 25) if f"h{n} " not in told)


def ask(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Message").fill(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer").last).to_contain_text(text)
    expect(page.locator(".message.live")).to_have_count(0)


def line(page: Page) -> Locator:
    return page.locator("summary", has_text="recalled")


def last_question(octavo: Octavo, id: str) -> dict[str, Any]:
    messages = octavo.get(f"conversations/{id}/messages")["messages"]
    found: dict[str, Any] = next(one for one in reversed(messages) if one["role"] == "user")
    return found


def words_of(octavo: Octavo, id: str) -> str:
    found = len({one["source"] for one in last_question(octavo, id)["recalled"]})
    return f"{found} earlier message{'s' if found > 1 else ''} recalled"


def test_what_was_recalled_is_a_quiet_line_that_opens_and_leads_to_the_original(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    id, host = forgotten(octavo)
    upstream.say = lambda _: f"Let me see. {HOLD}You said it: {key_of(host)}"
    page.goto(f"/c/{id}")
    expect(page.get_by_role("article", name="Answer").last).to_be_in_viewport()
    # While the answer is written, the turn's own events have to tell it.
    held: list[Route] = []
    page.route("**/messages?*", lambda route: held.append(route))
    page.get_by_role("textbox", name="Message").fill(f"Which key has host h{host}?")
    page.keyboard.press("Enter")
    expect(page.locator(".message.live")).to_contain_text("Let me see.")
    expect(line(page)).to_be_in_viewport()
    page.unroute("**/messages?*")
    for route in held:
        route.continue_()
    upstream.release()
    expect(page.locator(".message.live")).to_have_count(0)
    expect(line(page)).to_have_text(words_of(octavo, id))
    question = page.get_by_role("article", name="You").last.bounding_box()
    answer = page.get_by_role("article", name="Answer").last.bounding_box()
    shown = line(page).bounding_box()
    assert question
    assert answer
    assert shown
    assert question["y"] < shown["y"] < answer["y"]
    passages = page.get_by_role("list", name="Recalled passages")
    expect(passages).to_be_hidden()
    page.reload()
    expect(line(page)).to_have_text(words_of(octavo, id))
    line(page).focus()
    page.keyboard.press("Enter")
    stored = last_question(octavo, id)["recalled"]
    at = next(index for index, one in enumerate(stored) if f"h{host} " in one["text"])
    expect(passages.get_by_role("listitem")).to_have_count(len(stored))
    found = passages.get_by_role("listitem").nth(at)
    expect(found).to_contain_text(key_of(host))
    expect(found).to_contain_text("You")
    day = date.fromisoformat(stored[at]["day"])
    expect(found.locator("time")).to_have_text(f"{day.day} {day:%b %Y}")
    audit(page)
    page.set_viewport_size({"width": 390, "height": 780})
    expect(found).to_contain_text(key_of(host))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    audit(page)
    found.get_by_role("button", name=f"message {stored[at]['depth']}", exact=True).click()
    original = page.locator(f'[data-message="{stored[at]["source"]}"]')
    expect(original).to_be_in_viewport()
    expect(original).to_contain_text(key_of(host))
    page.get_by_role("button", name="Latest").click()
    expect(passages).to_be_in_viewport()


def test_the_line_stays_in_sight_when_it_opens_to_more_than_a_small_screen(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    id, host = forgotten(octavo)
    question = f"Which key has host h{host}?"
    # A short answer: the end of the conversation is in sight, and the timeline keeps it there.
    upstream.say = lambda _: f"You ask: {question}"
    page.set_viewport_size({"width": 390, "height": 620})
    page.goto(f"/c/{id}")
    ask(page, question)
    line(page).click()
    expect(page.get_by_role("list", name="Recalled passages")).to_be_in_viewport()
    # The timeline follows what it measures, a few frames later.
    page.evaluate(
        "async () => { for (let n = 0; n < 10; n++) await new Promise(done => requestAnimationFrame(done)); }"
    )
    expect(line(page)).to_be_in_viewport(ratio=1)


def test_the_switch_turns_recall_off_and_on_in_this_conversation(page: Page, octavo: Octavo) -> None:
    id, host = forgotten(octavo)
    page.goto(f"/c/{id}")
    ask(page, f"Which key has host h{host}?")
    line(page).click()
    switch = page.get_by_role("switch", name="Recall in this conversation")
    expect(switch).to_be_checked()
    switch.press("Space")
    expect(switch).not_to_be_checked()
    expect(page.get_by_text("Off: nothing is recalled")).to_be_visible()
    assert octavo.get(f"conversations/{id}/settings")["own"]["recall"] == "off"
    ask(page, f"And once more, the key of host h{host}?")
    expect(line(page)).to_have_count(1)
    assert last_question(octavo, id)["recalled"] == []
    switch.press("Space")
    expect(switch).to_be_checked()
    assert "recall" not in octavo.get(f"conversations/{id}/settings")["own"]
    ask(page, f"The key of host h{host}, please?")
    expect(line(page)).to_have_count(2)


def test_the_switch_also_turns_on_what_is_off_everywhere(page: Page, octavo: Octavo) -> None:
    id, host = forgotten(octavo)
    page.goto(f"/c/{id}")
    ask(page, f"Which key has host h{host}?")
    octavo.patch("settings", {"recall": "off"})
    page.reload()
    line(page).click()
    switch = page.get_by_role("switch", name="Recall in this conversation")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    assert octavo.get(f"conversations/{id}/settings")["own"]["recall"] == "auto"


def test_the_meter_and_what_will_be_sent_tell_what_was_recalled(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id, host = forgotten(octavo)
    page.goto(f"/c/{id}")
    page.get_by_role("button", name="Context:").click()
    breakdown = page.get_by_role("dialog", name="Context")
    expect(breakdown.get_by_role("row", name="Summary of compressed messages")).to_be_visible()
    expect(breakdown.get_by_role("row", name="of these, recalled from earlier")).to_have_count(0)
    page.keyboard.press("Escape")
    ask(page, f"Which key has host h{host}?")
    tokens = octavo.get(f"conversations/{id}/usage")["recalled"]
    assert tokens > 0
    page.get_by_role("button", name="Context:").click()
    expect(breakdown.get_by_role("row", name="of these, recalled from earlier")).to_contain_text(
        f"{tokens:,}"
    )
    audit(page)
    breakdown.get_by_role("button", name="See what will be sent").click()
    sent = page.get_by_role("dialog", name="History")
    expect(sent).to_contain_text(f"of these, recalled from earlier{tokens:,}")
    rows = sent.get_by_role("region", name="What will be sent")
    rows.evaluate("list => list.scrollTop = list.scrollHeight")
    asked = rows.get_by_role("article", name="user", exact=True).last
    expect(asked).to_contain_text(key_of(host))
    expect(asked).to_contain_text(f"Which key has host h{host}?")
    audit(page)


@pytest.mark.parametrize(("typed", "stored"), [("off", "off"), ("auto", "auto"), ("800", 800)])
def test_how_much_is_recalled_can_be_set(page: Page, octavo: Octavo, typed: str, stored: object) -> None:
    page.goto("/")
    panel = settings(page)
    expect(setting(panel, "recall")).to_contain_text("Inherited: auto")
    field = panel.get_by_label("Bring back what is asked for", exact=True)
    offered = field.evaluate("field => [...field.list.options].map(one => one.value)")
    assert offered == ["auto", "off"]
    field.fill(typed)
    page.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_have_text("Bring back what is asked for is saved.")
    assert octavo.get("settings")["own"] == {"recall": stored}


def test_a_wrong_amount_to_recall_is_refused_beside_the_field(
    page: Page, octavo: Octavo, watch: Watch, audit: Audit
) -> None:
    watch.forgive("422")
    page.goto("/")
    panel = settings(page)
    field = panel.get_by_label("Bring back what is asked for", exact=True)
    for wrong in ("much", "-1", "1.5"):
        field.fill(wrong)
        page.keyboard.press("Enter")
        refused = setting(panel, "recall").get_by_role("alert")
        expect(refused).to_have_text("expected auto, off or a number of tokens, at most 100,000,000")
        expect(field).to_have_attribute("aria-invalid", "true")
    audit(page)
    assert octavo.get("settings")["own"] == {}
