"""Makes pictures of every page and dialog: `python -m scripts.screenshots [FOLDER]`, by default into `screenshots/`.

The real server, a provider that says what it is told, and a compressed conversation; each picture in a light, a
dark and a narrow look. Nothing waits for a clock: a picture is taken when what it shows is there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from re import compile as pattern
from typing import Any, Literal

from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from scripts.get_browser import get_browser
from tests.server.fake import last_text
from tests.web.conftest import ARGUMENTS, PATIENCE
from tests.web.serving import Octavo
from tests.web.upstream import HOLD, Upstream, running

SHARP = 1.5
"""Pixels of a picture for one of the page: sharp on most screens, and still small."""
KEPT = 200
"""Tokens that stay word for word in the compressed conversation."""
LINES = 160
"""Of a log that somebody pasted: what makes a conversation long."""


TITLE = "Moving the bookshop to PostgreSQL"
OTHERS = (
    "Reading list for the autumn",
    "Why does the label printer skip?",
    "Letter to the landlord",
    "Opening hours over the holidays",
)


def talk() -> list[tuple[str, str]]:
    """Read what is said in the pictures: each piece begins with a line that names who says it, or what it is."""
    text = Path(__file__).with_suffix(".md").read_text("utf-8")
    pieces = (piece.partition("\n") for piece in text.split("=== ")[1:])
    return [(name, words.strip()) for name, _, words in pieces]


def log() -> str:
    """Write what three tills noted on a busy Saturday."""
    return "\n".join(
        f"{10 + n // 60}:{n % 60:02} till-{n % 3 + 1} sale {1_904_200 + n} {3 + n * 7 % 40},{n * 35 % 100:02} "
        + ("locked, tried again" if n % 9 == 4 else "ok")
        for n in range(LINES)
    )


TALK = talk()
SAID = dict(TALK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the page is looked at."""

    name: str
    scheme: Literal["light", "dark"]
    width: int
    height: int


LOOKS = (
    Look(name="light", scheme="light", width=1200, height=780),
    Look(name="dark", scheme="dark", width=1200, height=780),
    Look(name="narrow", scheme="light", width=390, height=780),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What the pictures are of."""

    page: Page
    octavo: Octavo
    upstream: Upstream
    id: str

    def open(self) -> None:
        """Go to the conversation, and wait until it is all there."""
        self.page.goto(f"/c/{self.id}")
        expect(self.page.get_by_role("button", name="Context:")).to_be_visible()
        expect(self.page.get_by_text("start the switch at eight")).to_be_visible()

    def press(self, name: str, *, exact: bool = True) -> None:
        self.page.get_by_role("button", name=name, exact=exact).first.click()

    def see(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()

    def list(self) -> None:
        """Bring the list at the side into sight, where it is behind a button."""
        button = self.page.get_by_role("button", name="Conversations", exact=True)
        if button.is_visible():
            button.click()


Scene = Callable[[Place], None]


def home(place: Place) -> None:
    place.page.goto("/")
    place.see("Talk as long as you like")


def no_model(place: Place) -> None:
    def none_ready(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        told["providers"] = [{**one, "ready": False} for one in told["providers"]]
        route.fulfill(response=answer, json=told)

    place.page.route("**/api/v1/models", none_ready)
    home(place)
    place.see("No model can answer yet")


def conversation(place: Place) -> None:
    place.open()


def side(place: Place) -> None:
    place.open()
    place.list()


def deleted(place: Place) -> None:
    id = place.octavo.conversation("u: Hello", title="Shopping list")
    place.octavo.delete(f"conversations/{id}?undo=600")
    place.page.goto(f"/c/{id}")
    place.see("This conversation was deleted")


def answering(place: Place) -> None:
    """An answer that is being written; it is stopped by the next scene's page going away."""
    place.upstream.say = lambda _: "First a look at the **tills**: each has a line that says where" + HOLD
    place.page.goto("/")
    place.page.get_by_label("Message", exact=True).fill("How do I point a till at the new database?")
    place.page.keyboard.press("Enter")
    place.see("each has a line that says where")


def meter(place: Place) -> None:
    place.open()
    place.press("Context:", exact=False)
    place.see("See what will be sent")


def compression(place: Place) -> None:
    place.open()
    place.page.get_by_role("button", name=pattern("compressed: show the summary")).click()
    panel = place.page.get_by_role("region", name="Compressed messages")
    expect(panel.get_by_text("Receipt", exact=True)).to_be_visible()


def compression_menu(button: str, sign: str) -> Scene:
    def scene(place: Place) -> None:
        compression(place)
        place.press("This compression")
        place.page.get_by_role("menuitem", name=button).click()
        expect(place.page.get_by_text(sign).first).to_be_visible()

    return scene


def failure(place: Place) -> None:
    trouble = {"error": {"message": "the account is empty", "type": "insufficient_quota", "code": "401"}}
    place.upstream.fail = [(401, trouble)]
    place.page.goto("/")
    place.page.get_by_label("Message", exact=True).fill("Is the second till there?")
    place.page.keyboard.press("Enter")
    expect(place.page.get_by_role("button", name="Try again")).to_be_visible()


def compress(place: Place) -> None:
    place.open()
    place.press("Compress conversation history")
    expect(place.page.get_by_role("dialog").get_by_role("cell").first).not_to_have_text("…")


def model_picker(place: Place) -> None:
    home(place)
    place.press("Model:", exact=False)
    expect(place.page.get_by_role("listbox")).to_be_visible()


def shortcuts(place: Place) -> None:
    home(place)
    place.list()
    place.press("Keyboard shortcuts")
    expect(place.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def find(place: Place) -> None:
    place.open()
    place.page.keyboard.press("Control+k")
    place.page.keyboard.type("Marta")
    expect(place.page.get_by_role("dialog").locator("mark").first).to_be_visible()


def branches(place: Place) -> None:
    place.open()
    place.press("Branches")
    expect(place.page.get_by_role("dialog", name="Branches")).to_contain_text("Answer")


def settings(tab: str, sign: str) -> Scene:
    def scene(place: Place) -> None:
        place.open()
        place.press("Settings of this conversation")
        place.page.get_by_role("tab", name=tab, exact=True).click()
        place.see(sign)

    return scene


def card(place: Place) -> None:
    settings("Model cards", "Add a card")(place)
    place.press("Add a card")
    place.see("A card of your own")


def key_made(place: Place) -> None:
    settings("API keys", "Make a key")(place)
    panel = place.page.get_by_role("tabpanel")
    panel.get_by_label("Name").fill("label printer")
    place.press("Make a key")
    place.see("is shown here and never again")


def history(place: Place) -> None:
    place.open()
    place.press("View full history")
    place.see("This is not what is sent.")
    place.page.get_by_label("Find in the history").fill("Marta")
    expect(place.page.get_by_role("list", name="Hits")).to_be_visible()
    place.page.keyboard.press("Enter")
    expect(place.page.locator(".past.at")).to_be_visible()


def sent(place: Place) -> None:
    place.open()
    place.press("View full history")
    place.page.get_by_role("tab", name="What will be sent").click()
    expect(place.page.locator(".piece").first).to_be_visible()


def key_wanted(place: Place) -> None:
    trouble = {
        "type": "unauthorized",
        "message": "A key is needed",
        "numbers": {},
        "hint": "",
        "request_id": "1",
    }
    place.page.route("**/api/v1/**", lambda route: route.fulfill(status=401, json={"error": trouble}))
    place.page.goto("/")
    expect(place.page.get_by_role("dialog", name="A key is needed")).to_be_visible()


SCENES: dict[str, Scene] = {
    "home": home,
    "no-model": no_model,
    "conversation": conversation,
    "side": side,
    "deleted": deleted,
    "answering": answering,
    "meter": meter,
    "failure": failure,
    "compression": compression,
    "summary": compression_menu("Edit the summary", "Save as a new version"),
    "regenerate": compression_menu("Write it again…", "Written anew from"),
    "compress": compress,
    "model-picker": model_picker,
    "shortcuts": shortcuts,
    "find": find,
    "branches": branches,
    "settings": settings("This conversation", "Kept free for the reply"),
    "settings-model": settings("Per model", "Kept free for the reply"),
    "settings-everything": settings("Everything", "Kept free for the reply"),
    "cards": settings("Model cards", "Add a card"),
    "card": card,
    "keys": key_made,
    "appearance": settings("Appearance", "As the system says"),
    "history": history,
    "sent": sent,
    "key-wanted": key_wanted,
}


def answer(body: dict[str, Any]) -> str:
    """Summarise when that is asked for, else give the next answer."""
    return SAID["summary" if "summar" in last_text(body).lower() else "answer"]


def seed(octavo: Octavo) -> str:
    """Store the conversations, compress one, and have its last question answered; gives its id."""
    for title in OTHERS:
        octavo.conversation("u: Hello", title=title)
    id: str = octavo.post("conversations", {"title": TITLE})["id"]
    for role, text in TALK:
        if role in ("user", "assistant"):
            content = text.replace("{log}", log())
            octavo.post(f"conversations/{id}/messages", {"role": role, "content": content})
    octavo.patch(
        f"conversations/{id}/settings", {"system": "You help a bookseller. Be brief and exact.", "soft": 0.75}
    )
    octavo.post_stream(f"conversations/{id}/compressions", {"keep": KEPT})
    assert octavo.get(f"conversations/{id}/snapshots")["serving"], "the conversation could not be compressed"
    octavo.post_stream(f"conversations/{id}/turns", {"content": SAID["question"]})
    return id


def take(browser: Browser, octavo: Octavo, upstream: Upstream, id: str, folder: Path) -> None:
    """Take every picture in every look, each with a page of its own."""
    kept = {one["id"] for one in octavo.get("conversations")["conversations"]}
    for look in LOOKS:
        for name, scene in SCENES.items():
            upstream.reset()
            upstream.say = answer
            context = browser.new_context(
                base_url=octavo.url,
                viewport={"width": look.width, "height": look.height},
                device_scale_factor=SHARP,
                color_scheme=look.scheme,
                locale="en-GB",
                reduced_motion="reduce",
            )
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            scene(Place(page=page, octavo=octavo, upstream=upstream, id=id))
            page.screenshot(path=folder / f"{name}-{look.name}.png", animations="disabled", caret="hide")
            context.close()
            _forget_others(octavo, kept)
            print(f"{name}-{look.name}.png", flush=True)


def _forget_others(octavo: Octavo, kept: set[str]) -> None:
    """Delete what a scene has begun: the next one is to find the list as it was."""
    for one in octavo.get("conversations")["conversations"]:
        if one["id"] not in kept:
            octavo.delete(f"conversations/{one['id']}")


def main() -> None:
    asked = argparse.ArgumentParser(description="Make pictures of every page and dialog.")
    asked.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"), help="where they go")
    folder: Path = asked.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    found = get_browser()
    if found is None:
        sys.exit("no browser: install chromium")
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as place,
        running(Upstream()) as upstream,
        sync_playwright() as playwright,
    ):
        upstream.say = answer
        octavo = Octavo(Path(place), upstream.url, OCTAVO_SUMMARISER="same")
        try:
            octavo.start()
            browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
            take(browser, octavo, upstream, seed(octavo), folder)
            browser.close()
        finally:
            octavo.kill()


if __name__ == "__main__":
    main()
