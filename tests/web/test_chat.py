"""Talking: streamed answers, stopping, failing, coming back after a reload or a restart, and drafts."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.web.conftest import Audit, Watch
from tests.web.serving import Octavo
from tests.web.upstream import HOLD, Upstream


def ask(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def test_a_question_is_answered_word_by_word_and_stays(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    upstream.say = lambda _: f"Use **this**:\n\n```python\nprint(1)\n```\n{HOLD}\nThat is all."
    page.goto("/")
    audit(page)
    ask(page, "How do I print?\nBriefly.")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    answer = page.get_by_role("article", name="Answer")
    expect(answer.get_by_text("print(1)")).to_be_visible()
    expect(answer.get_by_text("That is all.")).to_have_count(0)
    upstream.release()
    expect(answer.get_by_text("That is all.")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(answer.locator("strong")).to_have_text("this")
    expect(page.get_by_role("heading", level=1)).to_have_text("How do I print?")
    answer.get_by_role("button", name="Copy", exact=True).click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "print(1)"
    audit(page)
    id = page.url.rpartition("/")[2]
    stored = octavo.get(f"conversations/{id}/messages")["messages"]
    assert [one["text"] for one in stored] == [
        "How do I print?\nBriefly.",
        upstream.say({}).replace(HOLD, ""),
    ]


def test_a_reload_in_the_middle_of_an_answer_loses_nothing(page: Page, upstream: Upstream) -> None:
    upstream.say = lambda _: f"The first half, {HOLD}and the second."
    page.goto("/")
    ask(page, "Tell me both halves.")
    expect(page.get_by_text("The first half,")).to_be_visible()
    page.reload()
    expect(page.get_by_text("The first half,")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    upstream.release()
    expect(page.get_by_text("The first half, and the second.")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(page.get_by_role("article", name="Answer")).to_have_count(1)


def test_a_stopped_answer_keeps_what_was_said(page: Page, octavo: Octavo, upstream: Upstream) -> None:
    upstream.say = lambda _: f"So far so good{HOLD}, and more."
    page.goto("/")
    ask(page, "Go on.")
    expect(page.get_by_text("So far so good")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped before it was finished.")).to_be_visible()
    expect(page.get_by_text("So far so good")).to_be_visible()
    id = page.url.rpartition("/")[2]
    assert octavo.get(f"conversations/{id}/messages")["messages"][-1]["text"] == "So far so good"


def test_a_failure_says_why_and_can_be_tried_again(page: Page, upstream: Upstream) -> None:
    said = {"error": {"message": "the account is empty", "type": "insufficient_quota", "code": "401"}}
    upstream.fail = [(401, said)]
    page.goto("/")
    ask(page, "Hello?")
    expect(page.get_by_role("alert").get_by_text("OpenAI answered 401: the account is empty")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("You said: Hello?")).to_be_visible()
    expect(page.get_by_role("article", name="You")).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_provider_that_is_asked_again_is_told_of(page: Page, upstream: Upstream, audit: Audit) -> None:
    upstream.fail = [(503, {"error": {"message": "come back later"}})]
    upstream.say = lambda _: f"{HOLD}Here I am."
    page.goto("/")
    ask(page, "Are you there?")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("Trying again (2 of 4)")
    expect(answer).to_contain_text("answered 503: come back later")
    expect(answer.get_by_text(re.compile(r"trying again (in \d+ s|now) · stop"))).to_be_visible()
    audit(page)
    upstream.release()
    expect(answer).to_contain_text("Here I am.")
    expect(answer).not_to_contain_text("come back later")


def test_who_is_rate_limited_sees_the_seconds_and_can_stop(page: Page, upstream: Upstream) -> None:
    upstream.fail = [(429, {"error": {"message": "too many requests"}})]
    upstream.headers = {"retry-after": "25"}
    page.goto("/")
    ask(page, "Are you there?")
    answer = page.get_by_role("article", name="Answer")
    expect(
        answer.get_by_text(re.compile(r"^Rate limited by OpenAI, trying again in \d+ s · stop$"))
    ).to_be_visible()
    answer.get_by_role("button", name="stop").click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("You said: Are you there?")).to_be_visible()


def test_a_server_that_went_away_is_found_again(
    page: Page, octavo: Octavo, upstream: Upstream, watch: Watch
) -> None:
    watch.forgive_lost_connections()
    watch.forgive("404")
    upstream.say = lambda _: f"Half of it{HOLD}, whole."
    page.goto("/")
    ask(page, "Will you be back?")
    expect(page.get_by_text("Half of it")).to_be_visible()
    octavo.kill()
    expect(page.get_by_text("Reconnecting…")).to_be_visible()
    octavo.start()
    expect(page.get_by_text("Reconnecting…")).to_have_count(0)
    expect(page.get_by_role("article", name="You")).to_have_text("Will you be back?")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    upstream.say = lambda _: "I am back."
    ask(page, "And now?")
    expect(page.get_by_text("I am back.")).to_be_visible()


def test_an_answer_that_was_interrupted_is_there_again_and_can_be_gone_on_with(
    page: Page, octavo: Octavo, upstream: Upstream, watch: Watch, audit: Audit
) -> None:
    """The server is killed in the middle of it; what was on the screen is stored, all but the last second."""
    watch.forgive_lost_connections()
    watch.forgive("404")
    upstream.say = lambda _: f"Half of it{HOLD}, whole."
    page.goto("/")
    ask(page, "Will it be kept?")
    expect(page.get_by_text("Half of it")).to_be_visible()
    tree = f"conversations/{page.url.rpartition('/')[2]}/tree"
    while len(octavo.get(tree)["nodes"]) < 2:
        page.wait_for_timeout(100)
    octavo.kill()
    octavo.start()
    page.reload()
    answer = page.get_by_role("article", name="Answer").first
    expect(answer).to_contain_text("Half of it")
    expect(page.get_by_text("Stopped before it was finished.")).to_be_visible()
    page.reload()
    expect(answer).to_contain_text("Half of it")
    expect(answer.get_by_role("button", name="Try again")).to_be_visible()
    audit(page)
    upstream.say = lambda _: ", and the rest."
    answer.get_by_role("button", name="Continue").click()
    expect(page.get_by_text(", and the rest.")).to_be_visible()
    expect(page.get_by_role("article", name="You")).to_have_count(1)
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)
    assert "broke off" in upstream.bodies[-1]["messages"][-1]["content"]


def test_a_draft_survives_a_reload_and_stays_with_its_conversation(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation("u: Hello", "a: Good day", title="The other one")
    page.goto("/")
    page.get_by_label("Message", exact=True).fill("Not finished yet")
    page.get_by_role("link", name="The other one").click()
    expect(page.get_by_text("Good day")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")
    page.goto("/")
    expect(page.get_by_label("Message", exact=True)).to_have_value("Not finished yet")
    page.goto(f"/c/{id}")
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


def test_two_tabs_show_the_same_answer(page: Page, octavo: Octavo, upstream: Upstream) -> None:
    id = octavo.conversation("u: Hello", "a: Good day")
    upstream.say = lambda _: f"To both{HOLD} of you."
    page.goto(f"/c/{id}")
    other = page.context.new_page()
    other.goto(f"/c/{id}")
    expect(other.get_by_text("Good day")).to_be_visible()
    expect(page.get_by_text("Good day")).to_be_visible()
    ask(page, "Who reads this?")
    expect(other.get_by_text("To both")).to_be_visible()
    expect(other.get_by_text("Who reads this?")).to_be_visible()
    upstream.release()
    for tab in (page, other):
        expect(tab.get_by_text("To both of you.")).to_be_visible()
        expect(tab.get_by_role("article", name="Answer")).to_have_count(2)


def test_what_is_said_without_a_connection_is_sent_once_when_it_is_back(
    page: Page, octavo: Octavo, watch: Watch
) -> None:
    watch.forgive_lost_connections()
    id = octavo.conversation("u: Hello", "a: Good day")
    page.goto(f"/c/{id}")
    expect(page.get_by_text("Good day")).to_be_visible()
    octavo.kill()
    expect(page.get_by_text("Reconnecting…")).to_be_visible()
    ask(page, "Are you there?")
    expect(page.locator(".message.waiting")).to_contain_text("Are you there?")
    octavo.start()
    expect(page.get_by_text("You said: Are you there?")).to_be_visible()
    said = [one["text"] for one in octavo.get(f"conversations/{id}/messages")["messages"]]
    assert said == ["Hello", "Good day", "Are you there?", "You said: Are you there?"]


def test_a_question_without_an_answer_can_be_asked_again_at_any_time(page: Page, octavo: Octavo) -> None:
    """After a restart, or in another tab, nobody knows why it was not answered."""
    page.goto(f"/c/{octavo.conversation('u: Is anybody there?')}")
    expect(page.get_by_text("Not answered.")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("You said: Is anybody there?")).to_be_visible()
    expect(page.get_by_text("Not answered.")).to_have_count(0)


def test_an_answer_that_was_cut_off_says_so_and_goes_on(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    upstream.say, upstream.finish = (lambda _: "A very long"), "length"
    page.goto("/")
    ask(page, "Tell me a story.")
    expect(page.get_by_text("Cut off at its longest length.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Cut off at its longest length.")).to_be_visible()
    upstream.say, upstream.finish = (lambda _: " story."), "stop"
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("story.", exact=True).last).to_be_visible()
    id = page.url.rpartition("/")[2]
    assert [one["status"] for one in octavo.get(f"conversations/{id}/messages")["messages"]] == [
        "complete",
        "aborted",
        "complete",
    ]


def test_what_the_model_did_not_see_is_told_at_the_answer_also_later(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    """A question that fills the window alone leaves no room for what was said before."""
    id = octavo.conversation(*(f"{who}: Number {n} {'word ' * 400}" for n in range(12) for who in "ua"))
    page.goto(f"/c/{id}")
    ask(page, "And " + "now " * 5_200)
    told = page.get_by_role("article", name="Answer").last.get_by_text(
        "Not seen by the model, for lack of room:"
    )
    expect(told).to_contain_text(re.compile(r"the \d+ oldest of \d+ exact lines$"))
    page.reload()
    expect(told).to_contain_text("exact lines")
    audit(page)
