"""Settings: three levels that inherit, refused with the reason, kept by the server; cards, keys, theme."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.web.conftest import Audit, Watch
from tests.web.serving import MODEL, Octavo
from tests.web.upstream import Upstream

LIVE = "data-theme"


def settings(page: Page, tab: str = "Everything") -> Locator:
    """Open the settings at a tab; gives the panel."""
    page.get_by_role("button", name="Settings", exact=True).click()
    dialog = page.get_by_role("dialog", name="Settings")
    dialog.get_by_role("tab", name=tab, exact=True).click()
    return dialog.get_by_role("tabpanel")


def show_advanced(panel: Locator) -> None:
    """Unfold what hardly anybody needs."""
    for fold in panel.locator(".setting-advanced:not([open]) > summary").all()[::-1]:
        fold.click()


def setting(panel: Locator, name: str) -> Locator:
    return panel.locator(f'[data-setting="{name}"]')


def test_a_setting_is_inherited_until_it_is_set_and_again_when_it_is_reset(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    inherited = octavo.get("settings")["inherited"]
    page.goto("/")
    panel = settings(page)
    soft = setting(panel, "soft")
    expect(soft).to_contain_text(f"Inherited: {inherited['soft']}")
    expect(setting(panel, "auto")).to_contain_text("Inherited: on")
    panel.get_by_label("Compress from", exact=True).fill("0.72")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_have_text("Compress from is saved.")
    panel.get_by_label("Compress automatically", exact=True).select_option("Off")
    expect(setting(panel, "auto")).to_contain_text("Set here, instead of on")
    audit(page)
    assert octavo.get("settings")["own"] == {"soft": 0.72, "auto": False}
    page.reload()
    panel = settings(page)
    expect(panel.get_by_label("Compress from", exact=True)).to_have_value("0.72")
    expect(panel.get_by_label("Compress automatically", exact=True)).to_have_value("false")
    panel.get_by_role("button", name="Reset Compress from").click()
    expect(panel.get_by_label("Compress from", exact=True)).to_have_value("")
    expect(soft).to_contain_text(f"Inherited: {inherited['soft']}")
    assert octavo.get("settings")["own"] == {"auto": False}


def test_what_a_value_would_lead_to_is_said_before_it_is_saved(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    said = "Thirty words or so make a turn of an even size, so that turns can be counted. " * 13
    id = octavo.conversation(*(f"{who}: {said}" for _ in range(6) for who in "ua"))
    page.goto(f"/c/{id}")
    page.get_by_role("button", name="Settings of this conversation").click()
    panel = page.get_by_role("dialog", name="Settings").get_by_role("tabpanel")
    expect(panel.get_by_label("Never more than", exact=True)).to_be_hidden()
    field = panel.get_by_label("Compress from", exact=True)
    effect = setting(panel, "soft").get_by_role("status")
    field.fill("0.9")
    expect(effect).to_contain_text("This conversation would compress in about")
    field.fill("0.45")
    expect(effect).to_have_text("This conversation would compress with the next turn.")
    audit(page)
    assert octavo.get(f"conversations/{id}/settings")["own"] == {}
    field.fill("")
    expect(effect).to_have_count(0)


def test_a_refused_value_says_why_beside_the_field_and_changes_nothing(
    page: Page, octavo: Octavo, watch: Watch, audit: Audit
) -> None:
    watch.forgive("409", "422")
    page.goto("/")
    panel = settings(page)
    panel.get_by_label("Compress from", exact=True).fill("0.99")
    page.keyboard.press("Enter")
    refused = setting(panel, "soft").get_by_role("alert")
    expect(refused).to_contain_text("0.99 lies above hard 0.95")
    expect(panel.get_by_label("Compress from", exact=True)).to_have_attribute("aria-invalid", "true")
    audit(page)
    panel.get_by_label("Kept word for word", exact=True).fill("5000000")
    page.keyboard.press("Enter")
    expect(setting(panel, "retained").get_by_role("alert")).to_contain_text("A compression would leave")
    show_advanced(panel)
    panel.get_by_label("Never more than", exact=True).fill("much")
    page.keyboard.press("Enter")
    expect(setting(panel, "hard").get_by_role("alert")).to_contain_text("valid number")
    assert octavo.get("settings")["own"] == {}
    panel.get_by_label("Compress from", exact=True).fill("")
    page.keyboard.press("Enter")
    expect(refused).to_have_count(0)


def test_a_conversation_inherits_from_its_model_and_the_model_from_everything(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = octavo.conversation("u: Hello", "a: Good day")
    page.goto(f"/c/{id}")
    panel = settings(page)
    panel.get_by_label("Always keep", exact=True).fill("Keep every number.")
    page.keyboard.press("Tab")
    show_advanced(panel)
    panel.get_by_label("Way of compressing", exact=True).select_option("onyx")
    expect(setting(panel, "instructions")).to_contain_text("Set here")
    expect(setting(panel, "policy")).to_contain_text("Set here, instead of octavo")
    dialog = page.get_by_role("dialog", name="Settings")
    dialog.get_by_role("tab", name="Per model").click()
    expect(panel.get_by_label("Settings of the model")).to_have_value(MODEL)
    expect(setting(panel, "policy")).to_contain_text("Inherited: onyx")
    panel.get_by_label("Compress from", exact=True).fill("0.6")
    page.keyboard.press("Enter")
    expect(setting(panel, "soft")).to_contain_text("Set here")
    audit(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    before = octavo.get(f"conversations/{id}/usage")["budget"]["soft"]
    page.get_by_role("button", name="Settings of this conversation").click()
    expect(setting(panel, "soft")).to_contain_text("Inherited: 0.6")
    expect(setting(panel, "instructions")).to_contain_text("Inherited: Keep every number.")
    panel.get_by_label("System prompt", exact=True).fill("You are brief.")
    page.keyboard.press("Tab")
    panel.get_by_label("Compress from", exact=True).fill("0.5")
    page.keyboard.press("Enter")
    expect(setting(panel, "soft")).to_contain_text("Set here, instead of 0.6")
    expect(setting(panel, "system")).to_contain_text("Set here")
    panel.get_by_label("Form of the summary", exact=True).select_option("A text of my own")
    panel.get_by_role("textbox", name="Text of the prompt").fill("Write a haiku about it.")
    # Closing saves what is being typed.
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Settings of this conversation")).to_be_focused()
    page.reload()
    page.get_by_role("button", name="Settings of this conversation").click()
    expect(panel.get_by_role("textbox", name="Text of the prompt")).to_have_value("Write a haiku about it.")
    expect(panel.get_by_label("System prompt", exact=True)).to_have_value("You are brief.")
    own = octavo.get(f"conversations/{id}/settings")["own"]
    assert own == {"soft": 0.5, "system": "You are brief.", "prompt": "Write a haiku about it."}
    assert octavo.get(f"conversations/{id}/usage")["budget"]["soft"] < before


@pytest.fixture
def no_cards(octavo: Octavo) -> Iterator[None]:
    """Leave no card behind: the server is everybody's."""
    yield
    for card in octavo.get("models")["models"]:
        if card["own"]:
            octavo.delete(f"models/{card['name']}")


@pytest.mark.usefixtures("no_cards")
def test_a_card_of_ones_own_is_added_changed_and_removed(
    page: Page, octavo: Octavo, watch: Watch, audit: Audit
) -> None:
    watch.forgive("422")
    page.goto("/")
    panel = settings(page, "Model cards")
    expect(panel.get_by_role("listitem").filter(has_text="gpt-4o-mini").first).to_be_visible()
    audit(page)
    panel.get_by_role("button", name="Add a card").click()
    panel.get_by_label("Name", exact=True).fill("my/model one")
    panel.get_by_label("Like", exact=True).fill("gpt-4o")
    panel.get_by_label("Window", exact=True).fill("9000")
    panel.get_by_label("Longest answer", exact=True).fill("20000")
    panel.get_by_role("button", name="Save the card").click()
    expect(panel.get_by_role("alert")).to_contain_text("20,000 is more than the window 9,000")
    expect(panel.get_by_label("Longest answer", exact=True)).to_have_attribute("aria-invalid", "true")
    audit(page)
    panel.get_by_label("Longest answer", exact=True).fill("1000")
    panel.get_by_label("Price", exact=True).fill("2.5, 10")
    panel.get_by_label("Compress from", exact=True).fill("0.6")
    panel.get_by_label("Kept word for word", exact=True).fill("500")
    panel.get_by_role("button", name="Save the card").click()
    entry = panel.get_by_role("listitem").filter(has_text="my/model one")
    expect(entry).to_contain_text("9,000 tokens, answers up to 1,000")
    expect(entry).to_contain_text("$2.5 in, $10 out")
    expect(entry).to_contain_text("compresses at 60 % · keeps 500 word for word")
    audit(page)
    expect(entry).to_contain_text("yours")
    panel.get_by_role("button", name="Edit my/model one").click()
    expect(panel.get_by_label("Like", exact=True)).to_have_value("gpt-4o")
    panel.get_by_label("Window", exact=True).fill("12000")
    panel.get_by_role("button", name="Save the card").click()
    expect(entry).to_contain_text("12,000 tokens, answers up to 1,000")
    given = octavo.get("models/my/model%20one")["given"]
    marks = {"soft": 0.6, "retained": 500}
    assert given == {"like": "gpt-4o", "window": 12_000, "max_output": 1_000, "price": [2.5, 10.0], **marks}
    panel.get_by_role("button", name="Remove my/model one").click()
    expect(entry).to_have_count(0)


def test_the_secret_of_a_key_is_shown_once_and_the_key_can_be_revoked(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    page.goto("/")
    panel = settings(page, "API keys")
    panel.get_by_label("Name", exact=True).fill("<b>build</b> server")
    panel.get_by_label("admin").check()
    panel.get_by_role("button", name="Make a key").click()
    shown = panel.locator(".secret code")
    expect(shown).to_contain_text("octavo_")
    secret = shown.text_content()
    panel.get_by_role("button", name="Copy the key").click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    entry = panel.get_by_role("listitem").filter(has_text="<b>build</b> server").first
    expect(entry).to_contain_text("read, write, admin")
    expect(entry).to_contain_text("never used")
    audit(page)
    dialog = page.get_by_role("dialog", name="Settings")
    dialog.get_by_role("tab", name="Appearance").click()
    dialog.get_by_role("tab", name="API keys").click()
    expect(entry).to_be_visible()
    expect(panel.locator(".secret")).to_have_count(0)
    entry.get_by_role("button", name="Revoke").click()
    expect(entry).not_to_contain_text("revoked")
    entry.get_by_role("button", name="Revoke for good").click()
    expect(entry).to_contain_text("revoked")
    (key,) = (one for one in octavo.get("keys")["keys"] if one["name"] == "<b>build</b> server")
    assert key["revoked"] is True


def test_the_theme_is_chosen_in_two_places_that_agree_and_stays(page: Page, audit: Audit) -> None:
    page.goto("/")
    root = page.locator("html")
    page.get_by_role("button", name="System theme").click()
    expect(root).to_have_attribute(LIVE, "light")
    panel = settings(page, "Appearance")
    expect(panel.get_by_role("radio", name="Light")).to_be_checked()
    panel.get_by_role("radio", name="Dark").check()
    expect(root).to_have_attribute(LIVE, "dark")
    audit(page)
    page.reload()
    expect(root).to_have_attribute(LIVE, "dark")
    page.get_by_role("button", name="Dark theme").click()
    expect(page.get_by_role("button", name="System theme")).to_be_visible()
    assert root.get_attribute(LIVE) is None


def test_arrow_keys_go_through_the_tabs_and_a_phone_shows_them_in_a_row(page: Page, audit: Audit) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto("/")
    page.get_by_role("button", name="Conversations", exact=True).click()
    settings(page)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Model cards")).to_be_focused()
    expect(page.get_by_role("button", name="Add a card")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("Compress from", exact=True)).to_be_visible()
    assert page.evaluate("document.querySelector('dialog').scrollWidth <= innerWidth")
    audit(page)


def test_without_any_provider_the_page_says_what_to_do(page: Page, octavo: Octavo, audit: Audit) -> None:
    def none_ready(route: Route) -> None:
        """Answer as a server without keys does; what it says of each provider stays."""
        answer = route.fetch()
        told = answer.json()
        for provider in told["providers"]:
            provider["ready"] = False
        route.fulfill(response=answer, json=told)

    page.route("**/api/v1/models", none_ready)
    page.goto("/")
    note = page.get_by_role("region", name="No model yet")
    expect(note.get_by_role("heading")).to_have_text("No model can answer yet")
    local = next(one for one in octavo.get("models")["providers"] if one["provider"] == "local")
    expect(note).to_contain_text(local["remedy"])
    expect(note.get_by_text("octavo local install", exact=True)).to_be_visible()
    expect(note.get_by_text("ANTHROPIC_API_KEY").first).to_be_visible()
    audit(page)
    page.unroute("**/api/v1/models")
    note.get_by_role("button", name="Look again").click()
    expect(note).to_have_count(0)
    expect(page.get_by_role("button", name="Plan a four-day walk")).to_be_visible()


def test_where_no_model_was_chosen_the_first_that_can_be_used_answers(
    browser: Browser, upstream: Upstream, tmp_path: Path
) -> None:
    """As in the terminal: whoever has a key can begin, and sees which model it is."""
    upstream.say = lambda _: "With pleasure."
    octavo = Octavo(tmp_path, upstream.url, model="")
    octavo.start()
    context = browser.new_context(base_url=octavo.url)
    try:
        usual = octavo.get("models")["usual"]
        begun = octavo.post("conversations", {"title": "Begun elsewhere"})["id"]
        page = context.new_page()
        for path in ("/", f"/c/{begun}"):
            page.goto(path)
            page.get_by_role("textbox", name="Message").fill("Will you answer?")
            page.keyboard.press("Enter")
            expect(page.get_by_text("With pleasure.")).to_be_visible()
            expect(page.get_by_role("button", name=f"Model: {usual}")).to_be_visible()
        page.get_by_role("button", name="New").click()
        expect(page.get_by_role("button", name=f"Model: {usual}")).to_be_visible()
    finally:
        context.close()
        octavo.kill()


def test_the_embedded_model_is_called_what_it_is(page: Page, audit: Audit) -> None:
    def installed(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        for provider in told["providers"]:
            if provider["provider"] == "local":
                provider |= {"ready": True, "models": [provider["example"]]}
        route.fulfill(response=answer, json=told)

    page.route("**/api/v1/models", installed)
    page.goto("/")
    page.get_by_role("button", name="Model:").click()
    group = page.get_by_role("group", name="Embedded model")
    expect(group).to_contain_text("a very small model inside Octavo")
    expect(group.get_by_role("option")).to_have_count(1)
    audit(page)


def test_a_server_that_wants_a_key_asks_for_it_and_goes_on(
    page: Page, octavo: Octavo, watch: Watch, audit: Audit, upstream: Upstream
) -> None:
    watch.forgive("401")
    upstream.say = lambda _: "With pleasure."
    key = octavo.post("keys", {"name": "mine"})["secret"]
    refused = {
        "type": "unauthorized",
        "message": "a key is needed",
        "numbers": {},
        "hint": "",
        "request_id": "1",
    }

    def guard(route: Route) -> None:
        """Let through what carries the key, as a server does that others can reach."""
        if route.request.headers.get("authorization") == f"Bearer {key}":
            route.continue_()
        else:
            route.fulfill(status=401, json={"error": refused})

    page.route("**/api/v1/**", guard)
    page.goto("/")
    dialog = page.get_by_role("dialog", name="A key is needed")
    expect(dialog).to_contain_text("octavo keys create NAME")
    audit(page)
    dialog.get_by_label("Key").fill("octavo_wrong")
    dialog.get_by_role("button", name="Use this key").click()
    expect(dialog.get_by_role("alert")).to_have_text("a key is needed")
    dialog.get_by_label("Key").fill(key)
    dialog.get_by_role("button", name="Use this key").click()
    expect(dialog).to_have_count(0)
    page.get_by_label("Message", exact=True).fill("May I?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("With pleasure.")).to_be_visible()


def test_above_the_soft_mark_the_meter_is_orange_and_says_so(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = octavo.conversation("u: " + "word " * 800, "a: " + "more " * 800)
    # By small steps: what the bills of other tests have taught moves the marks a little.
    while (usage := octavo.get(f"conversations/{id}/usage"))["level"] == "calm":
        octavo.post(f"conversations/{id}/messages", {"role": "user", "content": "word " * 150})
    assert usage["level"] == "soft"
    page.goto(f"/c/{id}")
    meter = page.locator(".meter.soft")
    expect(meter).to_contain_text("nearly full")
    expect(meter).to_contain_text(f"{usage['reading']['tokens']:,} of ")
    percent, soft = (
        page.evaluate("q => getComputedStyle(document.querySelector(q)).color", query)
        for query in (".meter-percent", ".meter-text")
    )
    assert percent != soft
    audit(page)


def test_a_part_of_the_page_that_is_gone_is_said_to_be_and_the_page_goes_on(page: Page, watch: Watch) -> None:
    watch.forgive("404", "Failed to load", "preload")
    page.route("**/assets/SettingsDialog-*.js", lambda route: route.fulfill(status=404))
    page.goto("/")
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This part of the page could not be loaded")
    page.unroute("**/assets/SettingsDialog-*.js")
    page.get_by_role("button", name="Reload").click()
    settings(page)
    expect(page.get_by_label("Compress from", exact=True)).to_be_visible()
