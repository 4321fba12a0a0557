"""The list of conversations: find, rename, archive, delete and think better of it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.web.conftest import Audit
from tests.web.serving import Octavo


def act(page: Page, title: str, action: str) -> None:
    page.get_by_role("link", name=title).hover()
    page.get_by_role("button", name=f"Actions for {title}").click()
    page.get_by_role("menuitem", name=action).click()


def test_a_conversation_is_found_renamed_and_archived(page: Page, octavo: Octavo, audit: Audit) -> None:
    for title in ("Bread", "Butter", "Breakfast"):
        octavo.conversation("u: Hello", title=title)
    page.goto("/")
    expect(page.get_by_role("link", name="Butter")).to_be_visible()
    page.get_by_label("Find a conversation").fill("brea")
    expect(page.get_by_role("link", name="Butter")).to_have_count(0)
    expect(page.get_by_role("link", name=re.compile("Brea"))).to_have_count(2)
    act(page, "Breakfast", "Rename")
    audit(page)
    page.get_by_label("Title").fill("Bread and eggs")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Bread and eggs")).to_be_visible()
    act(page, "Bread and eggs", "Archive")
    expect(page.get_by_role("link", name="Bread and eggs")).to_have_count(0)
    page.get_by_role("button", name="Archived conversations").click()
    expect(page.get_by_role("link", name="Bread and eggs")).to_be_visible()
    titles = {
        one["title"]: one["archived"] for one in octavo.get("conversations?archived=true")["conversations"]
    }
    assert titles == {"Bread and eggs": True}


def test_a_deleted_conversation_comes_back_with_undo_and_is_gone_without(page: Page, octavo: Octavo) -> None:
    kept, lost = octavo.conversation("u: Hello", title="Kept"), octavo.conversation("u: Hello", title="Lost")
    page.goto(f"/c/{kept}")
    act(page, "Kept", "Delete")
    expect(page.get_by_role("link", name="Kept")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="Kept")).to_be_visible()
    act(page, "Lost", "Delete")
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.get_by_role("button", name="Dismiss").click()
    assert [one["id"] for one in octavo.get("conversations")["conversations"]] == [kept]
    assert lost != kept


def test_on_a_phone_the_list_is_behind_a_button(page: Page, octavo: Octavo, audit: Audit) -> None:
    octavo.conversation("u: Hello", "a: Good day", title="A talk")
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto("/")
    expect(page.get_by_role("link", name="A talk")).not_to_be_visible()
    page.get_by_role("button", name="Conversations", exact=True).click()
    page.get_by_role("link", name="A talk").click()
    expect(page.get_by_text("Good day")).to_be_in_viewport()
    expect(page.get_by_role("link", name="A talk")).not_to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    audit(page)
