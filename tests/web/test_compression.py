"""Compressing seen and done: the divider and what it opens to, summarizing by hand, undo, versions, pins, failures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.server.fake import last_text
from tests.web.conftest import Audit, Watch
from tests.web.serving import MODEL, Octavo
from tests.web.test_hostile import HOSTILE
from tests.web.test_meter import certainty
from tests.web.upstream import HOLD, Upstream

TITLE = "Compress conversation history"
SUMMARY = """## Context
The hosts of the **north** rack are being moved, one after the other.

## Key Points
- The user lists every host with its key, in the order in which they are moved.

## Technical Details
Every host has a key that begins with `K-`.

## Decisions and Outcomes
Nothing was decided yet.

## Unresolved Questions
Which host is moved next?
"""
"""In the form that the prompt asks for: anything else is not accepted."""
TURNS = 8
MANY = 25
"""Hosts named in a turn: enough for a summary to be much smaller."""


@pytest.fixture(scope="module")
def server(provider: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Octavo]:
    """A server whose chat model also summarizes, so that the words of a summary are the test's."""
    started = Octavo(tmp_path_factory.mktemp("compression"), provider.url, OCTAVO_SUMMARISER="same")
    try:
        started.start()
        yield started
    finally:
        started.kill()


@pytest.fixture(autouse=True)
def summaries(upstream: Upstream) -> None:
    upstream.say = answer


def answer(body: dict[str, Any]) -> str:
    return SUMMARY if asks_for_summary(body) else f"You said: {last_text(body)}"


def asks_for_summary(body: dict[str, Any]) -> bool:
    return "summar" in last_text(body).lower()


def hosts(turn: int, many: int = MANY) -> str:
    each = [
        f"Host h{n} has the key K-{n * 7919 % 99991:05d}." for n in range(turn * many, turn * many + many)
    ]
    return " ".join(each)


def talk(octavo: Octavo, turns: int = TURNS, many: int = MANY) -> str:
    lines = [
        f"{who}: {said}"
        for n in range(turns)
        for who, said in (("u", hosts(n, many)), ("a", f"Host list {n}."))
    ]
    return octavo.conversation(*lines)


def compress(octavo: Octavo, id: str, **order: Any) -> dict[str, Any]:
    """Compress by the interface, and give the snapshot that serves."""
    octavo.post_stream(f"conversations/{id}/compressions", order)
    listed = octavo.get(f"conversations/{id}/snapshots")
    found: dict[str, Any] = next(one for one in listed["snapshots"] if one["id"] == listed["serving"])
    return found


def pair_of(snapshot: dict[str, Any]) -> str:
    return f"{snapshot['tokens_before']:,} → {snapshot['tokens_after']:,} tokens"


def line_of(snapshot: dict[str, Any]) -> re.Pattern[str]:
    return re.compile(f"^{snapshot['messages']:,} messages compressed, .* {re.escape(pair_of(snapshot))}$")


def choose(page: Page, item: str) -> None:
    """Choose from the menu of the compression."""
    page.get_by_role("button", name="This compression").click()
    page.get_by_role("menuitem", name=item).click()


def undo(page: Page) -> Locator:
    return page.locator(".compression-head").get_by_role("button", name="Undo", exact=True)


def open_compression(page: Page, id: str) -> Locator:
    page.goto(f"/c/{id}")
    page.get_by_role("button", name=re.compile("compressed: show the summary")).click()
    panel = page.get_by_role("region", name="Compressed messages")
    expect(panel.get_by_text("Receipt", exact=True)).to_be_visible()
    return panel


def test_the_receipt_says_why_there_is_no_summary(page: Page, octavo: Octavo, upstream: Upstream) -> None:
    upstream.say = lambda _: "I cannot help with that."
    id = talk(octavo)
    compress(octavo, id)
    panel = open_compression(page, id)
    expect(
        panel.get_by_text("The summary was refused by the model; exact lines are used instead.")
    ).to_have_count(1)
    panel.get_by_text("Receipt", exact=True).click()
    expect(panel.get_by_text("none, exact lines only")).to_be_visible()


def test_what_was_taken_out_of_a_summary_is_shown_in_amber(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    invented = "- The manager Gottfried Wexelbach signed contract QX-77120 in Lisbon."
    lines = SUMMARY.replace("## Technical", f"{invented}\n\n## Technical")
    upstream.say = lambda body: lines if asks_for_summary(body) else "Yes."
    id = talk(octavo)
    compress(octavo, id)
    panel = open_compression(page, id)
    verdict = page.locator(".compression-verdict .taken-out")
    expect(verdict).to_have_text("1 line taken out: not in the originals")
    taken = panel.get_by_role("list", name="Taken out of the summary")
    expect(taken).to_contain_text("Gottfried Wexelbach signed contract QX-77120")
    expect(panel.locator(".summary-view")).not_to_contain_text("Gottfried")
    audit(page)


@pytest.mark.parametrize("width", [1280, 1024, 390])
def test_the_link_to_a_source_covers_no_word_of_its_line(page: Page, octavo: Octavo, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    id = talk(octavo)
    compress(octavo, id)
    open_compression(page, id)
    lines = page.locator(".summary-line")
    assert lines.count() > 2
    for line in lines.all():
        text, link = line.locator(".prose").bounding_box(), line.locator(".summary-source").bounding_box()
        assert text is not None
        assert link is not None
        assert text["x"] + text["width"] <= link["x"] + 0.5


def test_a_compression_opens_to_its_summary_its_lines_and_its_receipt(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = talk(octavo)
    made = compress(octavo, id)
    full = octavo.get(f"conversations/{id}/snapshots/{made['id']}")
    receipt = octavo.get(f"conversations/{id}/snapshots/{made['id']}/receipt")
    page.goto(f"/c/{id}")
    line = page.get_by_role("button", name=line_of(made))
    expect(line).to_have_attribute("aria-expanded", "false")
    line.click()
    panel = page.get_by_role("region", name="Compressed messages")
    expect(panel.get_by_role("heading", name="Key Points")).to_be_visible()
    expect(panel.locator("strong", has_text="north")).to_be_visible()
    facts = made["facts"]
    expect(
        page.get_by_text(f"{facts['verbatim']:,} of {facts['count']:,} facts kept word for word")
    ).to_be_visible()
    panel.get_by_text("Receipt", exact=True).click()
    expect(panel.get_by_text(re.compile(r"Kept [\d,]+ of [\d,]+ names, numbers and paths\."))).to_be_visible()
    expect(panel.get_by_text(receipt["model"])).to_be_visible()
    for tally in receipt["facts"]:
        if tally["kind"] == "identifier":
            row = panel.get_by_role("row", name=re.compile("Identifiers"))
            expect(row).to_contain_text(f"{tally['verbatim_count']:,}")
            expect(row).to_contain_text(f"{tally['lost_count']:,}")
    audit(page)
    extract = full["extracts"][0]
    panel.get_by_role("button", name=f"message {extract['depth']}", exact=True).first.click()
    source = page.locator(f"[data-message='{extract['message']}']")
    expect(source).to_be_in_viewport()
    expect(page.locator(".row.target").filter(has=source)).to_have_count(1)
    expect(page.locator(".row[data-covered]").first).to_be_attached()
    page.get_by_role("button", name=re.compile("compressed: show the summary")).click()
    expect(line).to_be_in_viewport()
    choose(page, "Hide the originals")
    expect(page.locator(".row[data-covered]")).to_have_count(0)
    expect(page.get_by_role("article").first).to_contain_text("Host h175 ")
    choose(page, "Show the originals")
    expect(page.locator(".row[data-covered]").first).to_be_attached()
    line.click()
    expect(panel).to_have_count(0)


def figure(dialog: Locator, name: str) -> Locator:
    return dialog.get_by_role("row", name=re.compile(f"^{name}")).get_by_role("cell")


def test_history_is_summarized_by_hand_from_the_plan_to_the_undo(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    upstream.say = lambda _: SUMMARY.replace("## Technical", f"{HOLD}## Technical")
    id = talk(octavo)
    plan = octavo.get(f"conversations/{id}/plan")
    page.goto(f"/c/{id}")
    page.get_by_role("button", name=TITLE, exact=True).click()
    dialog = page.get_by_role("dialog", name=TITLE)
    expect(figure(dialog, "Messages in all")).to_have_text(f"{plan['messages']:,}")
    expect(figure(dialog, "To be compressed")).to_have_text(f"{plan['covered']:,}")
    sure = certainty(plan["reading"]).replace("calibrated", "counted")
    expect(figure(dialog, "Tokens now")).to_have_text(f"{sure} {plan['reading']['tokens']:,}")
    expect(figure(dialog, "Tokens after")).to_have_text(f"at most {plan['after_cap']:,}")
    expect(dialog.get_by_text(f"The summary will be written by {MODEL}.")).to_be_visible()
    audit(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name=TITLE, exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    less = octavo.get(f"conversations/{id}/plan?keep=0.5")
    assert less["covered"] < plan["covered"]
    dialog.get_by_label("Keep word for word").select_option("A share of the history")
    dialog.get_by_label("Percent").fill("50")
    expect(figure(dialog, "To be compressed")).to_have_text(f"{less['covered']:,}")
    dialog.get_by_label("Percent").fill("none")
    expect(dialog.get_by_role("alert")).to_contain_text("from 1 to 99")
    expect(dialog.get_by_role("button", name="Compress", exact=True)).to_be_disabled()
    more = octavo.get(f"conversations/{id}/plan?keep=0")
    assert more["covered"] > plan["covered"]
    dialog.get_by_label("Keep word for word").select_option("Nothing")
    expect(figure(dialog, "To be compressed")).to_have_text(f"{more['covered']:,}")
    dialog.get_by_label("Focus").fill("the keys of the hosts")
    dialog.get_by_role("button", name="Compress", exact=True).click()
    expect(dialog).to_have_count(0)
    running = page.get_by_role("region", name="Compressing")
    expect(running.get_by_text("The hosts of the north rack")).to_be_in_viewport()
    expect(running.get_by_role("status")).to_have_text(
        f"Compressing {more['covered']:,} messages… {more['covered_tokens']:,} tokens"
    )
    audit(page)
    upstream.release()
    expect(page.get_by_role("region", name="Compressed messages")).to_be_visible()
    made = octavo.get(f"conversations/{id}/snapshots")["snapshots"][-1]
    assert made["instructions"] == "the keys of the hosts"
    expect(running).to_have_count(0)
    expect(page.get_by_role("button", name=line_of(made))).to_be_in_viewport()
    audit(page)
    undo(page).click()
    expect(page.get_by_text(f"The compression of {made['messages']} messages was undone")).to_be_visible()
    assert octavo.get(f"conversations/{id}/snapshots")["serving"] is None


@pytest.mark.parametrize("typed", ["/compress the keys", "/compact the keys", "/summarize the keys"])
def test_a_command_opens_the_dialog_and_is_not_sent(
    page: Page, octavo: Octavo, upstream: Upstream, typed: str
) -> None:
    id = talk(octavo, 2, 3)
    page.goto(f"/c/{id}")
    page.get_by_label("Message", exact=True).fill(typed)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=TITLE)
    expect(dialog.get_by_label("Focus")).to_have_value("the keys")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")
    assert upstream.bodies == []
    assert len(octavo.get(f"conversations/{id}/messages")["messages"]) == 4


def test_the_menu_of_a_conversation_summarizes_it_too(page: Page, octavo: Octavo) -> None:
    id = talk(octavo, 2, 3)
    page.goto("/")
    page.get_by_label("Message", exact=True).fill("/compress")
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is nothing to compress yet")).to_be_visible()
    page.get_by_role("link", name="A talk").hover()
    page.get_by_role("button", name="Actions for A talk").click()
    page.get_by_role("menuitem", name=TITLE).click()
    expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()
    expect(page).to_have_url(re.compile(id))


def begin(page: Page, id: str) -> None:
    page.goto(f"/c/{id}")
    page.get_by_role("button", name=TITLE, exact=True).click()
    page.get_by_role("button", name="Compress", exact=True).click()


def test_a_summary_that_is_cancelled_or_left_alone(page: Page, octavo: Octavo, upstream: Upstream) -> None:
    upstream.say = lambda _: f"## Context\nHalf of it{HOLD}"
    id = talk(octavo)
    begin(page, id)
    running = page.get_by_role("region", name="Compressing")
    expect(running.get_by_text("Half of it")).to_be_visible()
    running.get_by_role("button", name="Cancel").click()
    toast = page.get_by_role("region", name="Notifications")
    expect(toast.get_by_text("Nothing was changed")).to_be_visible()
    expect(running).to_have_count(0)
    assert octavo.get(f"conversations/{id}/snapshots")["snapshots"] == []
    begin(page, id)
    expect(running.get_by_text("Half of it")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Compressing: show how far it is").click()
    expect(running.get_by_text("Half of it")).to_be_in_viewport()
    page.get_by_role("button", name="New", exact=True).click()
    upstream.say = answer
    upstream.release()
    expect(toast.get_by_text("14 messages compressed")).to_be_visible()
    made = octavo.get(f"conversations/{id}/snapshots")["snapshots"][-1]
    expect(toast.get_by_text(pair_of(made))).to_be_visible()
    toast.get_by_role("button", name="View").click()
    expect(page.get_by_role("region", name="Compressed messages")).to_be_visible()


def test_a_failure_tells_why_and_can_be_tried_again_or_left(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    said = {"error": {"message": "the account is empty", "type": "insufficient_quota", "code": "401"}}
    upstream.fail = [(401, said), (401, said)]
    id = talk(octavo)
    begin(page, id)
    failed = page.get_by_role("alert", name="The summary could not be made")
    expect(failed).to_contain_text("the account is empty")
    expect(failed).to_contain_text("Nothing was changed")
    audit(page)
    failed.get_by_role("button", name="Go on without").click()
    expect(failed).to_have_count(0)
    page.get_by_role("button", name=TITLE, exact=True).click()
    page.get_by_role("button", name="Compress", exact=True).click()
    failed.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name=re.compile("^14 messages compressed"))).to_be_visible()


def test_too_little_history_no_gain_and_uncounted_tokens_are_told_apart(
    page: Page, octavo: Octavo, audit: Audit, watch: Watch
) -> None:
    watch.forgive("404")
    dialog = page.get_by_role("dialog", name=TITLE)
    page.goto(f"/c/{octavo.conversation()}")
    page.get_by_role("button", name=TITLE, exact=True).click()
    expect(dialog.get_by_text("Nothing was said here yet.")).to_be_visible()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    one = octavo.conversation("u: Hello", "a: Good day")
    page.goto(f"/c/{one}")
    page.get_by_role("button", name=TITLE, exact=True).click()
    expect(dialog.get_by_text("There is too little history to compress.")).to_be_visible()
    expect(dialog.get_by_role("button", name="Compress", exact=True)).to_be_disabled()
    audit(page)
    few = talk(octavo, 4, 2)
    begin(page, few)
    small = page.get_by_role("alert", name="Not worth it for so little history")
    expect(small.get_by_text(re.compile(r"[\d,]+ tokens before, [\d,]+ after"))).to_be_visible()
    many = talk(octavo, 8, 36)
    page.goto(f"/c/{many}")
    page.get_by_role("button", name=TITLE, exact=True).click()
    dialog.get_by_label("Keep word for word").select_option("A share of the history")
    dialog.get_by_label("Percent").fill("85")
    page.get_by_role("button", name="Compress", exact=True).click()
    expect(page.get_by_role("alert", name="The summary did not make it smaller")).to_be_visible()
    octavo.put("models/uncounted", {"like": MODEL, "tokenizer": "grok"})
    octavo.patch(f"conversations/{few}/settings", {"model": "uncounted"})
    plan = octavo.get(f"conversations/{few}/plan")
    assert plan["reading"]["basis"] == "estimated"
    page.goto(f"/c/{few}")
    page.get_by_role("button", name=TITLE, exact=True).click()
    expect(dialog.get_by_text(f"give or take {plan['reading']['error_bound']:,}")).to_be_visible()


def test_tokens_that_cannot_be_counted_at_all_say_so(page: Page, octavo: Octavo, watch: Watch) -> None:
    watch.forgive("409")
    id = talk(octavo, 2, 3)
    octavo.put("models/tiny", {"like": MODEL})
    octavo.patch(f"conversations/{id}/settings", {"model": "tiny"})
    octavo.put("models/tiny", {"like": MODEL, "window": 300, "max_output": 200})
    page.goto(f"/c/{id}")
    page.get_by_role("button", name=TITLE, exact=True).click()
    dialog = page.get_by_role("dialog", name=TITLE)
    expect(dialog.get_by_role("alert")).to_contain_text("The tokens could not be counted")
    octavo.put("models/tiny", {"like": MODEL})
    dialog.get_by_role("button", name="Try again").click()
    expect(figure(dialog, "Messages in all")).to_have_text("4")


def test_an_automatic_compression_is_told_unless_settings_say_no(page: Page, octavo: Octavo) -> None:
    news = page.get_by_role("region", name="Notifications")
    for wanted in (True, False):
        id = talk(octavo, 10, 60)
        octavo.patch(f"conversations/{id}/settings", {"notifications": wanted})
        assert octavo.get(f"conversations/{id}/usage")["level"] == "hard"
        page.goto(f"/c/{id}")
        page.get_by_label("Message", exact=True).fill("What now?")
        page.keyboard.press("Enter")
        expect(page.get_by_text("You said: What now?")).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("compressed: show the summary"))).to_be_visible()
        if not wanted:
            expect(news.get_by_text("compressed")).to_have_count(0)
            return
        expect(news.get_by_text(re.compile(r"\d+ messages compressed"))).to_be_visible()
        made = octavo.get(f"conversations/{id}/snapshots")["snapshots"][-1]
        expect(news.get_by_text(pair_of(made))).to_be_visible()
        news.get_by_role("button", name="View").click()
        expect(page.get_by_role("region", name="Compressed messages")).to_be_visible()


def test_whoever_is_at_the_end_stays_there_when_a_compression_comes_in_above(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    """Planted bug: the divider pushed the end of the answer, and what can be done with it, behind the input."""
    upstream.say = lambda _: "That is all."
    pallets = " ".join(f"Pallet {n} stands in aisle {n % 40}." for n in range(900))
    id = octavo.conversation("u: Hello.", "a: Good day.", f"u: Keep this list. {pallets}", "a: I have it.")
    page.goto(f"/c/{id}")
    page.get_by_label("Message", exact=True).fill("What now?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("That is all.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("compressed: show the summary"))).to_be_in_viewport()
    page.wait_for_function(
        "() => { const log = document.querySelector('[role=log]');"
        " return log.scrollHeight - log.clientHeight - log.scrollTop < 2 }"
    )


def test_a_compression_prepared_in_the_background_is_seen_in_the_meter(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    upstream.say = lambda body: SUMMARY + HOLD if asks_for_summary(body) else "An answer."
    id = talk(octavo, 12, 38)
    usage = octavo.get(f"conversations/{id}/usage")
    assert usage["budget"]["prepare"] < usage["reading"]["tokens"] < usage["budget"]["hard"]
    page.goto(f"/c/{id}")
    page.get_by_label("Message", exact=True).fill("Go on.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("An answer.")).to_be_visible()
    meter = page.get_by_role("button", name="Context:")
    expect(meter).to_contain_text("preparing a compression…")
    page.reload()
    expect(meter).to_contain_text("preparing a compression…")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    upstream.release()
    expect(page.get_by_role("button", name=re.compile("compressed: show the summary"))).to_be_visible()
    expect(meter).not_to_contain_text("preparing")


def test_an_answer_that_waits_for_a_compression_says_so(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    """Planted: the event left aside; the page said that it waits for the model."""
    upstream.say = lambda body: SUMMARY + HOLD if asks_for_summary(body) else "An answer."
    page.goto(f"/c/{talk(octavo, 12, 38)}")
    field = page.get_by_label("Message", exact=True)
    field.fill("Go on.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Context:")).to_contain_text("preparing a compression…")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    field.fill(hosts(20, 60))
    page.keyboard.press("Enter")
    expect(page.get_by_text("Waiting for the compression…")).to_be_visible()
    upstream.release()
    expect(page.get_by_text("An answer.")).to_have_count(2)
    expect(page.get_by_role("button", name=re.compile("compressed: show the summary"))).to_be_visible()


def test_a_compression_that_could_not_be_prepared_is_told_and_nothing_is_lost(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    id = talk(octavo, 12, 38)
    page.goto(f"/c/{id}")
    expect(page.get_by_role("button", name="Context:")).to_be_visible()

    def once(_: dict[str, Any]) -> str:
        said = {"error": {"message": "the account is empty", "type": "insufficient_quota", "code": "401"}}
        upstream.fail = [(401, said)]
        return "An answer."

    upstream.say = once
    page.get_by_label("Message", exact=True).fill("Go on.")
    page.keyboard.press("Enter")
    news = page.get_by_role("region", name="Notifications")
    expect(news.get_by_text("A compression could not be prepared")).to_be_visible()
    expect(news.get_by_text("the account is empty")).to_be_visible()
    expect(page.get_by_text("An answer.")).to_be_visible()
    assert octavo.get(f"conversations/{id}/snapshots")["snapshots"] == []


def test_a_summary_is_undone_redone_edited_regenerated_and_compared(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    id = talk(octavo)
    made = compress(octavo, id)
    panel = open_compression(page, id)
    undo(page).click()
    undone = page.get_by_text("The compression of 14 messages was undone")
    expect(undone).to_be_visible()
    expect(page.get_by_role("log")).to_be_focused()
    page.locator(".compression.undone").get_by_role("button", name="Redo").click()
    expect(undone).to_have_count(0)
    choose(page, "Edit the summary")
    expect(panel.get_by_role("textbox")).to_have_value(re.compile("north"))
    expect(panel.get_by_role("textbox")).to_be_focused()
    audit(page)
    panel.get_by_role("textbox").fill("## Context\nThe hosts of the *east* rack.")
    panel.get_by_role("button", name="Save as a new version").click()
    expect(panel.locator("em", has_text="east")).to_be_visible()
    versions = panel.get_by_role("group", name="Versions of the summary")
    expect(versions).to_contain_text("2/2")
    expect(panel.get_by_text(re.compile("edited by hand, .*, in use"))).to_be_visible()
    panel.get_by_text("Receipt", exact=True).click()
    expect(panel.get_by_text("written by hand")).to_be_visible()
    choose(page, "Write it again…")
    again = page.get_by_role("dialog", name="Write the summary again")
    again.get_by_label("Focus").fill("the west rack")
    audit(page)
    upstream.say = lambda _: SUMMARY.replace("north", "west")
    again.get_by_role("button", name="Write it again").click()
    expect(versions).to_contain_text("3/3")
    assert "the west rack" in str(upstream.bodies[-1])
    versions.get_by_role("button", name="Previous version").click()
    versions.get_by_role("button", name="Previous version").click()
    expect(panel.get_by_text(re.compile("^asked for"))).to_be_visible()
    panel.get_by_role("button", name="differences from the one in use").click()
    differences = panel.get_by_role("group", name="Differences")
    expect(differences.locator("del", has_text="west")).to_be_visible()
    expect(differences.locator("ins", has_text="north")).to_be_visible()
    expect(differences.locator("ins", has_text="Nothing was decided")).to_have_count(0)
    expect(differences).not_to_contain_text("#")
    audit(page)
    undo(page).click()
    expect(panel.get_by_text(re.compile("edited by hand, .*, in use"))).to_be_visible()
    states = {s["version"]: s["state"] for s in octavo.get(f"conversations/{id}/snapshots")["snapshots"]}
    assert states == {1: "active", 2: "active", 3: "undone"}
    assert made["version"] == 1
    versions.get_by_role("button", name="Previous version").click()
    panel.get_by_role("button", name="Use this version").click()
    expect(page.get_by_text("Version 1 of 14 messages is in use").last).to_be_visible()
    expect(panel.get_by_text(re.compile("asked for, .*, in use"))).to_be_visible()


def test_the_editor_of_a_summary_counts_and_asks_before_it_throws_away(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = talk(octavo)
    compress(octavo, id)
    panel = open_compression(page, id)
    choose(page, "Edit the summary")
    size = page.locator("#summary-size")
    expect(size).to_have_text(re.compile(r"[\d,]+ of at most [\d,]+ tokens"))
    text = panel.get_by_role("textbox")
    text.fill("word " * 15_000)
    save = panel.get_by_role("button", name="Save as a new version")
    expect(size).to_have_text(re.compile(r"at most [\d,]+ fit"))
    expect(save).to_be_disabled()
    text.fill("Shorter.")
    expect(save).to_be_enabled()
    page.keyboard.press("Escape")
    expect(panel.get_by_text("Throw your changes away?")).to_be_visible()
    audit(page)
    text.fill("Shorter still.")
    expect(panel.get_by_text("Throw your changes away?")).to_have_count(0)
    page.keyboard.press("Escape")
    panel.get_by_role("button", name="Throw away").click()
    expect(text).to_have_count(0)
    assert len(octavo.get(f"conversations/{id}/snapshots")["snapshots"]) == 1


def test_a_line_of_the_summary_leads_to_what_was_said(page: Page, octavo: Octavo) -> None:
    page.goto("/")
    page.get_by_role("button", name="Open a sample conversation").click()
    panel = page.get_by_role("region", name="Compressed messages")
    line = panel.locator(".summary-line", has_text="No camera and no motion sensor, ever")
    line.hover()
    line.get_by_role("button", name="source").click()
    expect(line).to_contain_text("so no camera, no motion sensor, ever. Two members were quite clear")
    line.get_by_role("button", name="message 11").click()
    (id,) = [one["id"] for one in octavo.get("conversations")["conversations"]]
    source = octavo.get(f"conversations/{id}/messages?limit=100")["messages"][10]
    expect(page.locator(f"[data-message='{source['id']}']")).to_be_in_viewport()
    page.get_by_role("button", name=re.compile("compressed: show the summary")).click()
    bar = panel.get_by_role("group", name="The whole conversation")
    bar.get_by_role("button", name="Message 5, pinned").click()
    rule = octavo.get(f"conversations/{id}/messages?limit=100")["messages"][4]
    expect(page.locator(f"[data-message='{rule['id']}']")).to_be_in_viewport()


def test_a_branch_that_leaves_a_compression_says_so_and_offers_one(page: Page, octavo: Octavo) -> None:
    id = talk(octavo, many=40)
    made = compress(octavo, id)
    messages = octavo.get(f"conversations/{id}/messages?limit=100")["messages"]
    octavo.post(f"conversations/{id}/messages", {"content": "Elsewhere.", "parent": messages[9]["id"]})
    page.goto(f"/c/{id}")
    notice = page.get_by_text(f"The compression of {made['messages']} messages belongs to another branch")
    expect(notice).to_be_visible()
    page.get_by_role("button", name="Compress here").click()
    expect(page.get_by_role("dialog", name=TITLE)).to_be_visible()


def test_a_lost_fact_is_added_back(page: Page, octavo: Octavo, audit: Audit) -> None:
    id = talk(octavo, 8, 60)
    made = compress(octavo, id)
    receipt = octavo.get(f"conversations/{id}/snapshots/{made['id']}/receipt")
    tally = next(one for one in receipt["facts"] if one["kind"] == "identifier")
    fact = tally["lost"][0]["text"]
    panel = open_compression(page, id)
    chip = panel.get_by_role("list", name="No longer seen").get_by_role("listitem").first
    expect(chip).to_contain_text(fact)
    panel.get_by_text("Receipt", exact=True).click()
    expect(panel.get_by_role("columnheader", name="left out")).to_be_visible()
    panel.get_by_role("button", name="Identifiers").click()
    expect(panel.get_by_text("Left out: stored, but no longer seen by the model")).to_be_visible()
    chips = panel.get_by_role("list", name="No longer seen")
    lost = sum(one["lost_count"] for one in receipt["facts"])
    chips.get_by_role("button", name=f"{lost - chips.locator('.lost-chip').count():,} more").click()
    shown = sum(len(one["lost"]) for one in receipt["facts"])
    expect(chips.get_by_text(f"and {lost - shown:,} that are not listed")).to_be_visible()
    unlisted = tally["lost_count"] - len(tally["lost"])
    assert unlisted > 0
    expect(panel.get_by_text(f"… and {unlisted:,} more", exact=True)).to_be_visible()
    audit(page)
    chip.get_by_role("button", name="Add back").click()
    expect(panel.get_by_text(re.compile("edited by hand, .*, in use"))).to_be_visible()
    expect(panel.get_by_label("Exact lines").get_by_text(fact)).to_be_visible()
    served = octavo.get(f"conversations/{id}/snapshots")["serving"]
    assert fact in octavo.get(f"conversations/{id}/snapshots/{served}")["text"]


def test_what_stands_is_listed_first_and_a_line_of_it_is_pinned_or_dropped(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    rules = ["Never push to main.", "Call me Max.", "The report is due on 9 May at noon."]
    filler = "We talked at length about the weather and many other things. " * 8
    said = [line for rule in rules for line in (f"u: {rule} {filler}", f"a: Fine. {filler}")]
    id = octavo.conversation(*said, "u: And now?", "a: Nothing.")
    compress(octavo, id)
    panel = open_compression(page, id)
    standing = panel.get_by_label("Standing: rules, preferences, decisions")
    expect(standing.locator(".extract-text")).to_have_text(rules)
    lists = panel.locator(".extracts")
    expect(lists.first).to_have_attribute("aria-label", "Standing: rules, preferences, decisions")
    expect(lists.last).to_have_attribute("aria-label", "Exact lines")
    name = standing.get_by_role("listitem").filter(has_text="Max")
    name.get_by_role("button", name="pin", exact=True).click()
    expect(name.get_by_role("button", name="pinned")).to_be_disabled()
    (pin,) = octavo.get(f"conversations/{id}/pins")["pins"]
    assert pin["text"] == "Call me Max."
    audit(page)
    drop = standing.get_by_role("listitem").first.get_by_role("button", name="drop")
    drop.click()
    expect(standing.locator(".extract-text")).to_have_text(rules[1:])
    page.locator(".toast", has_text="Dropped").get_by_role("button", name="Undo").click()
    expect(standing.locator(".extract-text")).to_have_text(rules)
    drop.click()
    expect(panel.get_by_role("group", name="Versions of the summary")).to_contain_text("3/3")
    expect(standing.locator(".extract-text")).to_have_text(rules[1:])
    panel.get_by_text("Receipt", exact=True).click()
    expect(panel.get_by_text("rules, preferences and decisions that stand, 2 of 2 are kept")).to_be_visible()
    served = octavo.get(f"conversations/{id}/snapshots")["serving"]
    assert rules[0] not in octavo.get(f"conversations/{id}/snapshots/{served}")["text"]


def test_a_message_or_a_part_of_it_is_pinned_and_unpinned(page: Page, octavo: Octavo, audit: Audit) -> None:
    id = octavo.conversation(
        "u: Never restart on Fridays.", "a: Noted: **never** restart on Fridays, and say why."
    )
    page.goto(f"/c/{id}")
    mine, answer = page.get_by_role("article", name="You"), page.get_by_role("article", name="Answer")
    mine.hover()
    mine.get_by_role("button", name="Pin the message", exact=True).click()
    expect(mine.get_by_text("pinned", exact=True)).to_be_visible()
    answer.get_by_text("never").evaluate(
        "word => getSelection().setBaseAndExtent(word.firstChild, 0, word.nextSibling, ' restart on Fridays'.length)"
    )
    page.get_by_role("button", name="Pin the selection").click()
    expect(answer.get_by_text("part pinned")).to_be_visible()
    audit(page)
    text = octavo.get(f"conversations/{id}/messages")["messages"][1]["text"]
    whole, part = octavo.get(f"conversations/{id}/pins")["pins"]
    assert (whole["start"], whole["stop"]) == (0, 0)
    assert text[part["start"] : part["stop"]] == "never** restart on Fridays"
    page.reload()
    answer.get_by_role("button", name="Unpin the selection").click()
    expect(answer.get_by_text("part pinned")).to_have_count(0)
    mine.get_by_role("button", name="Unpin the message").click()
    expect(mine.get_by_role("button", name="Pin the message", exact=True)).to_be_attached()
    assert octavo.get(f"conversations/{id}/pins")["pins"] == []


def test_a_summary_that_is_written_again_begins_anew_on_screen(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    """Planted: the pieces of both added to each other."""
    said = iter(["Roses are red, and this is a poem.", f"## Context\nHalf of it{HOLD}"])
    upstream.say = lambda _: next(said)
    begin(page, talk(octavo))
    sofar = page.get_by_role("region", name="Compressing").get_by_role("group", name="The summary so far")
    expect(sofar).to_contain_text("Half of it")
    expect(sofar).not_to_contain_text("Roses")


def test_a_compression_that_another_tab_gives_up_is_not_prepared_for_ever(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    """Planted: `changed` heard, and what it says about compressions that run left aside."""
    upstream.say = lambda _: f"## Context\nHalf of it{HOLD}"
    id = talk(octavo)
    begin(page, id)
    running = page.get_by_role("region", name="Compressing")
    expect(running.get_by_text("Half of it")).to_be_visible()
    other = page.context.new_page()
    other.goto(f"/c/{id}")
    meter = other.get_by_role("button", name="Context:")
    expect(meter).to_contain_text("preparing a compression…")
    running.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled", exact=True)).to_be_visible()
    expect(meter).to_contain_text("compresses in")


def test_who_wants_no_news_of_compressions_sees_them_all_the_same(page: Page, octavo: Octavo) -> None:
    """Planted: the server keeps the event to itself; the page shows news that nobody wants."""
    id = talk(octavo, 10, 60)
    octavo.patch(f"conversations/{id}/settings", {"notifications": False})
    page.goto(f"/c/{id}")
    meter = page.get_by_role("button", name="Context:")
    expect(meter).to_contain_text(f"{octavo.get(f'conversations/{id}/usage')['reading']['tokens']:,} of")
    octavo.post(f"conversations/{id}/context", {})
    expect(page.get_by_role("button", name=re.compile("compressed: show the summary"))).to_be_visible()
    expect(meter).to_contain_text(f"{octavo.get(f'conversations/{id}/usage')['reading']['tokens']:,} of")
    expect(page.get_by_role("region", name="Notifications").get_by_text("compressed")).to_have_count(0)


def test_hostile_summaries_and_lines_do_nothing(page: Page, octavo: Octavo) -> None:
    id = octavo.conversation(*(f"{who}: {HOSTILE} K-{n:05d}" for n in range(6) for who in "ua"))
    made = compress(octavo, id)
    octavo.put(f"conversations/{id}/snapshots/{made['id']}/summary", {"summary": HOSTILE + "x" * 5_000})
    panel = open_compression(page, id)
    expect(panel.get_by_text("window.pwned = 1</script>").first).to_be_attached()
    panel.get_by_role("button", name="what it changed").click()
    differences = panel.get_by_role("group", name="Differences")
    expect(differences.get_by_text("window.pwned = 1</script>").first).to_be_attached()
    choose(page, "Edit the summary")
    expect(page.get_by_role("textbox", name=re.compile("The summary"))).to_have_value(re.compile("pwned = 1"))
    assert page.evaluate("window.pwned") is None
    assert page.locator("main :is(script, iframe, svg svg, style, form form, img)").count() == 0
    links = page.locator(".compression-panel a").evaluate_all("all => all.map(a => a.href)")
    assert all(link.startswith(("https://", "mailto:")) for link in links), links
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.get_by_role("log").evaluate("log => log.scrollWidth <= log.clientWidth")


def test_on_a_phone_the_compression_and_its_dialogs_fit(page: Page, octavo: Octavo, audit: Audit) -> None:
    id = talk(octavo)
    compress(octavo, id)
    page.set_viewport_size({"width": 390, "height": 780})
    panel = open_compression(page, id)
    expect(panel.get_by_role("heading", name="Key Points")).to_be_visible()
    assert page.get_by_role("log").evaluate("log => log.scrollWidth <= log.clientWidth")
    audit(page)
    page.get_by_role("button", name=TITLE, exact=True).click()
    dialog = page.get_by_role("dialog", name=TITLE)
    expect(figure(dialog, "Messages in all")).to_have_text("16")
    assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth")
