"""What the pictures of the page are of: each scene goes to a place, and is there when what it shows is there.

Nothing waits for a clock. What a scene stores is deleted after its picture: the next one finds the list as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from re import compile as pattern
from typing import Any

from playwright.sync_api import FilePayload, Page, Route, expect

from tests.engine.pdfs import pdf
from tests.server.fake import last_text
from tests.web.serving import Octavo
from tests.web.upstream import HOLD, Upstream

KEPT = 200
"""Tokens that stay word for word in the compressed conversation."""
LINES = 160
"""Of a log that somebody pasted: what makes a conversation long."""
TITLE = "Moving the bookshop to PostgreSQL"


def talk() -> list[tuple[str, str]]:
    """Read what is said in the pictures: each piece begins with a line that names who says it, or what it is."""
    text = Path(__file__).with_name("screenshots.md").read_text("utf-8")
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


def answer(body: dict[str, Any]) -> str:
    """Summarise when that is asked for, else give the next answer."""
    return SAID["summary" if "summar" in last_text(body).lower() else "answer"]


def told(octavo: Octavo, title: str = TITLE) -> str:
    """Store the conversation of the pictures up to its last question; gives its id."""
    id: str = octavo.post("conversations", {"title": title})["id"]
    for role, text in TALK:
        if role in ("user", "assistant"):
            content = text.replace("{log}", log())
            octavo.post(f"conversations/{id}/messages", {"role": role, "content": content})
    return id


CHATGPT = """[{"title": "Bread without yeast", "create_time": 1700000000, "current_node": "c", "mapping": {
"a": {"id": "a", "parent": null, "children": ["b"], "message": null},
"b": {"id": "b", "parent": "a", "children": ["c"], "message": {"author": {"role": "user"},
  "content": {"content_type": "text", "parts": ["Can bread rise without yeast?"]}}},
"c": {"id": "c", "parent": "b", "children": [], "message": {"author": {"role": "assistant"},
  "content": {"content_type": "text", "parts": ["With soda and something sour, yes."]}}}}}]"""
"""A conversation as ChatGPT exports it."""


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


def sample(place: Place) -> None:
    home(place)
    place.page.get_by_role("button", name="Open a sample conversation").click()
    expect(place.page.get_by_role("region", name="Compressed messages")).to_contain_text("weather station")


def sample_lines(place: Place) -> None:
    """The lower part of an open compression: exact lines, pins, the receipt, the whole conversation as a bar."""
    sample(place)
    place.page.get_by_text("Receipt", exact=True).click()
    place.page.get_by_role("group", name="The whole conversation").scroll_into_view_if_needed()


def sample_closed(place: Place) -> None:
    sample(place)
    place.page.get_by_role("button", name=pattern("^[0-9,]+ messages compressed")).click()
    expect(place.page.get_by_role("region", name="Compressed messages")).to_have_count(0)


def receipt(place: Place) -> None:
    compression(place)
    place.page.get_by_text("Receipt", exact=True).click()
    place.press("Numbers")
    place.page.get_by_text("Left out: stored").scroll_into_view_if_needed()


def versions(place: Place) -> None:
    id = told(place.octavo)
    place.octavo.post_stream(f"conversations/{id}/compressions", {"keep": KEPT})
    place.upstream.say = lambda _: (
        SAID["summary"].replace("seven evenings", "eight evenings").replace("2.3", "2.4")
    )
    first = place.octavo.get(f"conversations/{id}/snapshots")["serving"]
    place.octavo.post_stream(f"conversations/{id}/snapshots/{first}/regenerate", {"focus": "the backups"})
    place.page.goto(f"/c/{id}")
    place.page.get_by_role("button", name=pattern("compressed: show the summary")).click()
    panel = place.page.get_by_role("region", name="Compressed messages")
    expect(panel.get_by_role("group", name="Versions of the summary")).to_contain_text("2/2")
    panel.get_by_role("button", name="Previous version").click()
    place.press("differences from the one in use")
    expect(panel.get_by_role("group", name="Differences").locator("ins").first).to_be_visible()


def running(place: Place) -> None:
    place.upstream.say = lambda _: SAID["summary"].replace("## Technical", f"{HOLD}## Technical")
    place.page.goto(f"/c/{told(place.octavo)}")
    place.press("Compress conversation history")
    place.press("Compress")
    expect(place.page.get_by_role("region", name="Compressing")).to_contain_text("Debian's own package")


def not_compressed(place: Place) -> None:
    empty = {"error": {"message": "the account is empty", "type": "insufficient_quota", "code": "401"}}
    place.upstream.fail = [(401, empty)]
    place.page.goto(f"/c/{told(place.octavo)}")
    place.press("Compress conversation history")
    place.press("Compress")
    place.see("Nothing was changed")


def undone(place: Place) -> None:
    id = told(place.octavo)
    place.octavo.post_stream(f"conversations/{id}/compressions", {"keep": KEPT})
    place.page.goto(f"/c/{id}")
    place.page.locator(".compression-head").get_by_role("button", name="Undo", exact=True).click()
    place.see("was undone")


def left_behind(place: Place) -> None:
    id = told(place.octavo)
    place.octavo.post_stream(f"conversations/{id}/compressions", {"keep": KEPT})
    messages = place.octavo.get(f"conversations/{id}/messages?limit=100")["messages"]
    place.octavo.post(f"conversations/{id}/messages", {"content": "Elsewhere.", "parent": messages[5]["id"]})
    place.page.goto(f"/c/{id}")
    place.see("belongs to another branch")


def waiting(place: Place) -> None:
    """The provider is busy: the page counts down to the next try."""
    place.upstream.fail = [(429, {"error": {"message": "too many requests", "type": "requests"}})] * 3
    place.page.goto("/")
    place.page.get_by_label("Message", exact=True).fill("Is the second till there?")
    place.page.keyboard.press("Enter")
    place.see("trying again")


def offline(place: Place) -> None:
    place.open()
    place.page.context.set_offline(True)
    place.page.get_by_label("Message", exact=True).fill("Are you still there?")
    place.page.keyboard.press("Enter")
    expect(place.page.locator(".message.waiting")).to_be_visible()
    expect(place.page.locator(".reconnecting")).to_be_visible()


def not_answered(place: Place) -> None:
    place.page.goto(f"/c/{place.octavo.conversation('u: Is anybody there?', title='A question')}")
    place.see("Not answered")


def cut_off(place: Place) -> None:
    place.upstream.say, place.upstream.finish = (
        (lambda _: "The tills are in three rooms: the first"),
        "length",
    )
    place.page.goto("/")
    place.page.get_by_label("Message", exact=True).fill("Where are the tills?")
    place.page.keyboard.press("Enter")
    place.see("Cut off at its longest length")


def attached(place: Place) -> None:
    place.open()
    files = (
        ("notes.md", "text/markdown", b"# Till 3\n" + b"Its drawer sticks. " * 90),
        ("plan.pdf", "application/pdf", pdf("The port is 8123.")),
    )
    place.page.get_by_label("Files", exact=True).set_input_files(
        [FilePayload(name=name, mimeType=kind, buffer=content) for name, kind, content in files]
    )
    expect(place.page.get_by_role("list", name="Attached").get_by_text("plan.pdf")).to_be_visible()
    place.page.get_by_label("Message", exact=True).fill("What do these say about the third till?")
    expect(place.page.get_by_text(", with what you write")).to_be_attached()


def markdown(place: Place) -> None:
    id = place.octavo.conversation("u: Show me what you can write", title="Everything a page can show")
    place.octavo.post(f"conversations/{id}/messages", {"role": "assistant", "content": SAID["markdown"]})
    place.page.goto(f"/c/{id}")
    expect(place.page.locator(".formula math").first).to_be_attached()
    place.page.get_by_role("article", name="Answer").scroll_into_view_if_needed()
    place.page.get_by_role("log").evaluate("log => { log.scrollTop = 0 }")


def tools(place: Place) -> None:
    id = place.octavo.conversation("u: What is the weather in Cadiz?", title="Weather")
    call = {"type": "tool_call", "id": "c1", "name": "weather", "input": '{"place": "Cadiz", "days": 3}'}
    place.octavo.post(f"conversations/{id}/messages", {"role": "assistant", "content": [call]})
    result = {
        "type": "tool_result",
        "call_id": "c1",
        "name": "weather",
        "content": [{"type": "text", "text": "sunny, 31 degrees"}],
    }
    place.octavo.post(f"conversations/{id}/messages", {"role": "tool", "content": [result]})
    place.octavo.post(f"conversations/{id}/messages", {"role": "assistant", "content": "Sunny, 31 degrees."})
    place.page.goto(f"/c/{id}")
    place.see("Sunny, 31 degrees.")
    place.page.get_by_role("group").filter(has_text="Called").locator("summary").click()


def edited(place: Place) -> None:
    place.open()
    mine = place.page.get_by_role("article", name="You").last
    mine.hover()
    mine.get_by_role("button", name="Edit the message").click()
    expect(place.page.get_by_role("textbox", name="Edit the message")).to_be_visible()


def recalled(place: Place) -> None:
    place.open()
    place.page.get_by_text(pattern("earlier messages? recalled")).click()
    expect(place.page.get_by_role("list", name="Recalled passages")).to_be_visible()


def labels(place: Place) -> None:
    for title, own in (("Stock list", ["shop", "autumn"]), ("Flea market", ["autumn"])):
        place.octavo.patch(
            f"conversations/{place.octavo.conversation('u: Hello', title=title)}", {"labels": own}
        )
    home(place)
    place.list()
    place.page.get_by_role("link", name="Stock list").hover()
    place.press("Actions for Stock list")
    place.page.get_by_role("menuitem", name="Labels").click()
    expect(place.page.get_by_role("checkbox", name="shop")).to_be_visible()


def labelled(place: Place) -> None:
    for title, own in (("Stock list", ["shop", "autumn"]), ("Flea market", ["autumn"])):
        place.octavo.patch(
            f"conversations/{place.octavo.conversation('u: Hello', title=title)}", {"labels": own}
        )
    home(place)
    place.list()
    place.page.get_by_role("group", name="Labels").get_by_role("button", name="autumn").click()
    expect(place.page.get_by_role("link", name="Letter to the landlord")).to_have_count(0)


def menu(place: Place) -> None:
    home(place)
    place.list()
    place.page.get_by_role("link", name=TITLE).hover()
    place.press(f"Actions for {TITLE}")
    expect(place.page.get_by_role("menuitem", name="Delete")).to_be_visible()


def imported(place: Place) -> None:
    home(place)
    place.list()
    file = FilePayload(name="conversations.json", mimeType="application/json", buffer=CHATGPT.encode())
    place.page.locator(".sidebar input[type=file]").set_input_files([file])
    place.see("came in")


def nothing_found(place: Place) -> None:
    home(place)
    place.list()
    place.page.get_by_label("Find a conversation").fill("zebra")
    place.see("No title has these words.")


def nothing_archived(place: Place) -> None:
    home(place)
    place.list()
    place.press("Archived conversations")
    place.see("Nothing is archived.")


def long_paste(place: Place) -> None:
    place.open()
    place.page.get_by_label("Message", exact=True).focus()
    place.page.evaluate("text => navigator.clipboard.writeText(text)", log())
    place.page.keyboard.press("Control+v")
    place.page.keyboard.type(" Which till was locked out most?")
    place.page.get_by_role("button", name=pattern("LongText#1")).first.click()
    expect(place.page.get_by_role("dialog")).to_be_visible()


def shared(place: Place) -> None:
    """The file that is handed on, opened as whoever gets it does."""
    id = place.octavo.conversation("u: Show me what you can write", title="Everything a page can show")
    place.octavo.post(f"conversations/{id}/messages", {"role": "assistant", "content": SAID["markdown"]})
    home(place)
    place.list()
    place.page.get_by_role("link", name="Everything a page can show").hover()
    place.press("Actions for Everything a page can show")
    with place.page.expect_download() as waiting:
        place.page.get_by_role("menuitem", name="Save as a web page, to share").click()
    place.page.set_content(Path(waiting.value.path()).read_text("utf-8"))


def paper(place: Place) -> None:
    compression(place)
    place.page.emulate_media(media="print")
    place.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(place.page.locator("article[data-message]").first).to_be_visible()


def costs(place: Place) -> None:
    place.open()
    place.press("Context:", exact=False)
    place.press("See what it cost")
    expect(place.page.get_by_role("img", name="Tokens by day")).to_be_visible()


def missing_models(place: Place) -> None:
    model_picker(place)
    place.page.get_by_text("Not available now").click()


def unfolded(place: Place) -> None:
    settings("This conversation", "Kept free for the reply")(place)
    folded = place.page.get_by_role("tabpanel").locator("details:not([open]) > summary")
    while folded.count():
        folded.first.click()


def missing(place: Place) -> None:
    place.page.goto(f"/c/{'0' * 32}")
    place.see("This conversation is not here")


SCENES: dict[str, Scene] = {
    "sample": sample,
    "sample-closed": sample_closed,
    "sample-lines": sample_lines,
    "receipt": receipt,
    "versions": versions,
    "running": running,
    "not-compressed": not_compressed,
    "undone": undone,
    "left-behind": left_behind,
    "waiting": waiting,
    "offline": offline,
    "not-answered": not_answered,
    "cut-off": cut_off,
    "attached": attached,
    "long-paste": long_paste,
    "markdown": markdown,
    "tools": tools,
    "edited": edited,
    "recalled": recalled,
    "menu": menu,
    "labels": labels,
    "labelled": labelled,
    "imported": imported,
    "nothing-found": nothing_found,
    "nothing-archived": nothing_archived,
    "missing": missing,
    "missing-models": missing_models,
    "settings-unfolded": unfolded,
    "costs": costs,
    "shared": shared,
    "paper": paper,
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
