"""The list of conversations: find, rename, archive, delete and think better of it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Audit
from tests.web.serving import Octavo
from tests.web.upstream import Upstream


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


@pytest.mark.usefixtures("octavo")
def test_the_model_gives_a_title_and_a_person_another(page: Page, upstream: Upstream) -> None:
    upstream.title = '"Sourdough bread at home."'
    page.goto("/")
    page.get_by_role("textbox", name="Message").fill(
        "How do I bake sourdough bread at home, without a mixer?"
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Sourdough bread at home", exact=True)).to_be_visible()
    expect(page).to_have_title("Sourdough bread at home · Octavo")
    act(page, "Sourdough bread at home", "Rename")
    page.get_by_label("Title").fill("Bread")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Bread · Octavo")
    page.get_by_role("textbox", name="Message").fill("And with rye?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You said: And with rye?")).to_be_visible()
    expect(page.get_by_role("link", name="Bread", exact=True)).to_be_visible()
    assert upstream.asked_for_titles == 1


def test_a_deleted_conversation_comes_back_with_undo(page: Page, octavo: Octavo) -> None:
    kept = octavo.conversation("u: Hello", title="Kept")
    page.goto(f"/c/{kept}")
    act(page, "Kept", "Delete")
    expect(page.get_by_role("link", name="Kept")).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("link", name="Kept")).to_be_visible()
    assert [one["id"] for one in octavo.get("conversations")["conversations"]] == [kept]


def test_the_undo_of_an_archiving_does_not_bring_a_deleted_conversation_back(
    page: Page, octavo: Octavo
) -> None:
    """Planted: what is said to be out of the archive is put into the list, though it is deleted."""
    kept = octavo.conversation("u: Hello", title="Twice gone")
    page.goto("/")
    act(page, "Twice gone", "Archive")
    page.get_by_role("button", name="Archived conversations").click()
    act(page, "Twice gone", "Delete")
    news = page.get_by_role("region", name="Notifications")
    expect(news.get_by_role("button", name="Undo", exact=True)).to_have_count(2)
    news.get_by_role("button", name="Undo", exact=True).first.click()
    expect(news.get_by_text("Still deleted")).to_be_visible()
    page.get_by_role("button", name="Archived conversations").click()
    expect(page.get_by_text("What you talk about is listed here.")).to_be_visible()
    assert octavo.get("conversations")["conversations"] == []
    news.get_by_role("button", name="Bring back").click()
    expect(page.get_by_role("link", name="Twice gone")).to_be_visible()
    assert [one["id"] for one in octavo.get("conversations")["conversations"]] == [kept]


def test_news_do_not_keep_anybody_from_sending(page: Page, octavo: Octavo) -> None:
    """Planted: the news where the input is; the button to send lay below them."""
    for width in (1280, 390):
        octavo.conversation("u: Hello", title="In the way")
        page.set_viewport_size({"width": width, "height": 780})
        page.goto("/")
        if width < 400:
            page.get_by_role("button", name="Conversations", exact=True).click()
        act(page, "In the way", "Archive")
        expect(page.get_by_role("region", name="Notifications").get_by_text("Archived")).to_be_visible()
        if width < 400:
            page.get_by_role("button", name="Close the list").click(position={"x": 380, "y": 300})
        page.get_by_label("Message", exact=True).fill("Hello again")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_text("You said: Hello again")).to_be_visible()


def test_neither_a_deletion_nor_its_undo_is_lost_with_the_page_or_the_server(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    """Planted: the page hides it and deletes it when the offer to undo has gone, which a crash prevents."""
    kept, _ = (octavo.conversation("u: Hello", title=title) for title in ("Kept", "Lost"))
    page.goto("/")
    for title in ("Kept", "Lost"):
        act(page, title, "Delete")
        expect(page.get_by_role("region", name="Notifications").get_by_text(title)).to_be_visible()
    other = page.context.new_page()
    page.close()
    octavo.kill()
    octavo.start()
    other.goto("/")
    expect(other.get_by_text("What you talk about is listed here.")).to_be_visible()
    other.get_by_role("button", name="Archived conversations").click()
    deleted = other.get_by_role("region", name="Deleted, kept for a day")
    expect(deleted.get_by_role("link")).to_have_count(2)
    audit(other)
    act(other, "Kept", "Bring back")
    expect(deleted.get_by_role("link")).to_have_count(1)
    act(other, "Lost", "Delete for good")
    expect(other.get_by_text("Nothing is archived.")).to_be_visible()
    other.get_by_role("button", name="Archived conversations").click()
    expect(other.get_by_role("link", name="Kept")).to_be_visible()
    assert [one["id"] for one in octavo.get("conversations")["conversations"]] == [kept]
    assert octavo.get("conversations?deleted=true")["conversations"] == []


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


def test_conversations_are_labelled_filtered_and_labels_renamed(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    for title in ("Bread", "Butter"):
        octavo.conversation("u: Hello", title=title)
    page.goto("/")
    act(page, "Bread", "Labels")
    page.get_by_label("New label").fill("kitchen")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", name="kitchen")).to_be_checked()
    audit(page)
    page.keyboard.press("Escape")
    bar = page.get_by_role("group", name="Labels")
    bar.get_by_role("button", name="kitchen").press("Enter")
    expect(page.get_by_role("link", name="Butter")).to_have_count(0)
    act(page, "Bread", "Labels")
    page.get_by_role("button", name="Rename kitchen").click()
    page.get_by_label("Name of the label").fill("baking")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", name="baking")).to_be_checked()
    page.keyboard.press("Escape")
    expect(bar.get_by_role("button", name="baking")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("link", name="Bread")).to_contain_text("baking")
    bar.get_by_role("button", name="baking").click()
    expect(page.get_by_role("link", name="Butter")).to_be_visible()
    audit(page)
    labels = {one["title"]: one["labels"] for one in octavo.get("conversations")["conversations"]}
    assert labels == {"Bread": ["baking"], "Butter": []}
    act(page, "Bread", "Labels")
    page.get_by_role("checkbox", name="baking").uncheck()
    expect(bar).to_have_count(0)


def test_the_list_goes_on_where_it_is_scrolled_to(page: Page, octavo: Octavo) -> None:
    many = 70
    for n in range(many):
        octavo.conversation(title=f"Talk {n:02}")
    page.goto("/")
    links = page.get_by_role("navigation").get_by_role("link", name="Talk")
    expect(links.first).to_have_text(f"Talk {many - 1}")
    assert links.count() < many
    page.locator(".conversations").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(links).to_have_count(many)
    expect(page.get_by_role("link", name="Talk 00")).to_be_attached()
