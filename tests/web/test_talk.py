"""Writing: other versions and branches, keys, tools and pictures, files, and long pastes."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from typing import Any

from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.engine.pdfs import pdf
from tests.web.conftest import Audit, Watch
from tests.web.serving import Octavo
from tests.web.upstream import HOLD, Upstream

LONG = "The first of many lines.\n" + "And a line like any other, with [LongText#1] in it.\n" * 20
OTHER = "Another text that is long. " * 20


def field(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def ask(page: Page, text: str) -> None:
    field(page).fill(text)
    page.keyboard.press("Enter")


def paste(page: Page, text: str) -> None:
    """Paste as a person does: through the clipboard, at the cursor."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def stored(octavo: Octavo, page: Page) -> list[dict[str, Any]]:
    """Give the messages of the open conversation; an answer is on the screen before it is stored."""
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    found: list[dict[str, Any]] = octavo.get(f"conversations/{page.url.rpartition('/')[2]}/messages")[
        "messages"
    ]
    return found


def png(width: int, height: int, noise: int = 0) -> bytes:
    """Make a picture; `noise` bytes more make it large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + b"\x20\x70\x60" * width for _ in range(height))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + (chunk(b"teXt", b"x" * noise) if noise else b"")
        + chunk(b"IEND", b"")
    )


def data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


# Versions and branches


def test_an_edited_question_is_a_branch_and_the_old_one_stays(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    page.goto("/")
    ask(page, "What is one and one?")
    expect(page.get_by_text("You said: What is one and one?")).to_be_visible()
    question = page.get_by_role("article", name="You")
    question.hover()
    question.get_by_role("button", name="Edit the message").click()
    editor = page.get_by_role("textbox", name="Edit the message")
    expect(editor).to_be_focused()
    expect(editor).to_have_value("What is one and one?")
    audit(page)
    editor.fill("What is two and two?")
    page.keyboard.press("Escape")
    expect(editor).to_have_count(0)
    page.get_by_role("button", name="Go on editing").click()
    expect(editor).to_have_value("What is two and two?")
    editor.press("Enter")
    expect(page.get_by_text("You said: What is two and two?")).to_be_visible()
    expect(page.get_by_text("You said: What is one and one?")).to_have_count(0)
    versions = question.get_by_role("group", name="Versions")
    expect(versions).to_contain_text("2/2")
    versions.get_by_role("button", name="Previous version").click()
    expect(page.get_by_text("You said: What is one and one?")).to_be_visible()
    expect(versions).to_contain_text("1/2")
    expect(versions.get_by_role("button", name="Previous version")).to_be_disabled()
    assert stored(octavo, page)[0]["text"] == "What is one and one?"
    audit(page)


def test_the_message_whose_version_is_switched_stays_in_sight(page: Page, octavo: Octavo) -> None:
    lines = [f"{'ua'[i % 2]}: line {i} of the talk" for i in range(40)]
    id = octavo.conversation(*lines)
    second = octavo.get(f"conversations/{id}/messages")["messages"][2]
    octavo.post(f"conversations/{id}/messages", {"content": "Another line 2", "edits": second["id"]})
    page.goto(f"/c/{id}")
    changed = page.get_by_role("article", name="You").filter(has_text="Another line 2")
    changed.get_by_role("button", name="Previous version").click()
    expect(page.get_by_text("line 2 of the talk")).to_be_in_viewport()
    expect(page.get_by_text("line 3 of the talk")).to_be_in_viewport()
    first = page.get_by_role("article", name="You").filter(has_text="line 2 of the talk")
    first.get_by_role("button", name="Next version").click()
    expect(changed).to_be_in_viewport()


def test_an_answer_made_again_is_a_sibling(page: Page, octavo: Octavo, upstream: Upstream) -> None:
    said = iter(["The first.", "The second.", "The third."])
    upstream.say = lambda _: next(said)
    page.goto("/")
    ask(page, "Answer me.")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("The first.")
    for number, words in ((2, "The second."), (3, "The third.")):
        answer.hover()
        answer.get_by_role("button", name="Answer again").click()
        expect(answer).to_contain_text(words)
        expect(answer.get_by_role("group", name="Versions")).to_contain_text(f"{number}/{number}")
    expect(page.get_by_role("article", name="You")).to_have_count(1)
    answer.get_by_role("button", name="Previous version").click()
    expect(answer).to_contain_text("The second.")
    expect(answer.get_by_role("group", name="Versions")).to_contain_text("2/3")
    expect(answer.get_by_role("button", name="Previous version")).to_be_focused()
    assert [one["text"] for one in stored(octavo, page)] == ["Answer me.", "The second."]


def test_an_answer_that_failed_when_made_again_is_tried_again_as_a_sibling(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    page.goto("/")
    ask(page, "Are you there?")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("You said:")
    upstream.fail = [(400, {"error": {"message": "not today", "type": "invalid_request_error"}})]
    answer.hover()
    answer.get_by_role("button", name="Answer again").click()
    expect(page.get_by_role("alert")).to_contain_text("not today")
    upstream.say = lambda _: "Here I am."
    page.get_by_role("button", name="Try again").click()
    expect(answer).to_contain_text("Here I am.")
    expect(answer.get_by_role("group", name="Versions")).to_contain_text("2/2")
    assert [one["role"] for one in stored(octavo, page)] == ["user", "assistant"]


def test_the_tree_shows_all_branches_and_leads_to_each(page: Page, octavo: Octavo, audit: Audit) -> None:
    id = octavo.conversation("u: Where to?", "a: To the sea.", "u: How far?", "a: An hour.")
    first, _, third, _ = octavo.get(f"conversations/{id}/messages")["messages"]
    changed = octavo.post(f"conversations/{id}/messages", {"content": "How deep?", "edits": third["id"]})
    octavo.post(
        f"conversations/{id}/messages",
        {"content": "A mile.", "role": "assistant", "parent": changed["id"]},
    )
    octavo.post(f"conversations/{id}/messages", {"content": "When to?", "edits": first["id"]})
    page.goto(f"/c/{id}")
    page.get_by_role("button", name="Branches").click()
    dialog = page.get_by_role("dialog", name="Branches")
    marked = dialog.locator("[aria-current=true]")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("When to?")
    audit(page)
    dialog.get_by_role("button", name="How deep?").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("A mile.")).to_be_visible()
    assert [one["text"] for one in stored(octavo, page)][2:] == ["How deep?", "A mile."]
    page.get_by_role("button", name="Branches").click()
    expect(marked).to_have_count(2)
    expect(marked.last).to_contain_text("A mile.")
    page.set_viewport_size({"width": 390, "height": 780})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Branches")).to_be_focused()


# Keys


def test_keys_start_lines_edit_the_last_question_and_stop(
    page: Page, octavo: Octavo, upstream: Upstream
) -> None:
    page.goto("/")
    field(page).fill("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You said: One")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(field(page)).to_have_value("")
    page.keyboard.press("ArrowUp")
    editor = page.get_by_role("textbox", name="Edit the message")
    expect(editor).to_have_value("One\ntwo")
    page.keyboard.press("Escape")
    expect(editor).to_have_count(0)
    expect(field(page)).to_be_focused()
    upstream.say = lambda _: f"Only half{HOLD} of it."
    page.keyboard.press("ArrowUp")
    editor.fill("Three")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Only half")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped before it was finished.")).to_be_visible()
    assert [one["text"] for one in stored(octavo, page)] == ["Three", "Only half"]


def test_find_leads_to_conversations_and_to_messages_on_any_branch(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    lines = [f"{'ua'[i % 2]}: talk number {i} of many" for i in range(150)]
    lines[5] += ", with a zebra"
    far = octavo.conversation("u: the walrus 🌊 and the carpenter", *lines, title="Beaches")
    old = octavo.get(f"conversations/{far}/messages?limit=1000")["messages"][1]
    octavo.post(f"conversations/{far}/messages", {"content": "talk of another kind", "edits": old["id"]})
    octavo.conversation("u: Hello", title="Breakfast")
    page.goto("/")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Control+k")
    find = page.get_by_label("Find conversations and messages")
    expect(find).to_be_focused()
    page.keyboard.type("breakf")
    expect(page.get_by_role("option", name="Breakfast")).to_be_visible()
    expect(page.get_by_role("option")).to_have_count(1)
    audit(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Breakfast")
    page.keyboard.press("Control+k")
    page.keyboard.type("carpenter")
    hit = page.get_by_role("option")
    expect(hit.locator("mark")).to_have_text("carpenter")
    audit(page)
    page.keyboard.press("Enter")
    expect(page.get_by_text("the walrus")).to_be_in_viewport()
    # This one is neither on the branch that is shown, nor among the messages that are loaded.
    page.keyboard.press("Control+k")
    page.keyboard.type("zebra")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_text("talk number 5 of many, with a zebra")).to_be_in_viewport()
    # Enter before anything was found for the whole word: what was typed counts, not what is still listed.
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option")).to_have_count(2)
    page.keyboard.type("carpenter")
    page.keyboard.press("Enter")
    expect(page.get_by_text("the walrus")).to_be_in_viewport()


def test_the_shortcuts_are_listed(page: Page, octavo: Octavo, audit: Audit) -> None:
    page.goto(f"/c/{octavo.conversation('u: Hello')}")
    page.get_by_role("log").focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_contain_text("edit your last message")
    audit(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_very_long_message_is_copied_and_edited_whole(page: Page, octavo: Octavo) -> None:
    text = "one of very many words " * 4_000 + "and the last"
    id = octavo.conversation(f"u: {text}")
    page.goto(f"/c/{id}")
    mine = page.get_by_role("article", name="You")
    expect(mine.get_by_role("button", name="Show all of it")).to_be_attached()
    mine.hover()
    mine.get_by_role("button", name="Copy the message").click()
    expect(mine.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == text
    mine.get_by_role("button", name="Edit the message").click()
    expect(page.get_by_role("textbox", name="Edit the message")).to_have_value(text)


# Tools, pictures, files


def test_calls_and_results_of_tools_are_compressed_and_pictures_are_shown(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    id = octavo.conversation("u: What is the weather?")
    messages = f"conversations/{id}/messages"
    call = {"type": "tool_call", "id": "c1", "name": "weather", "input": '{"place": "Cadiz"}'}
    octavo.post(messages, {"role": "assistant", "content": [call]})
    pieces = [{"type": "text", "text": "sunny, 31 degrees"}, {"type": "image", "source": data_url(png(8, 8))}]
    result = {"type": "tool_result", "call_id": "c1", "name": "weather", "content": pieces}
    octavo.post(messages, {"role": "tool", "content": [result]})
    large = {"type": "image", "source": data_url(png(64, 32, noise=60_000)), "media_type": "image/png"}
    octavo.post(messages, {"content": [{"type": "text", "text": "Like this?"}, large]})
    page.goto(f"/c/{id}")
    called = page.get_by_role("group").filter(has_text="Called")
    answered = page.get_by_role("group").filter(has_text="Result")
    expect(called.get_by_text("Cadiz")).not_to_be_visible()
    called.locator("summary").click()
    expect(called.get_by_text("Cadiz")).to_be_visible()
    expect(answered.get_by_text("sunny")).not_to_be_visible()
    answered.locator("summary").click()
    expect(answered.get_by_text("sunny")).to_be_visible()
    expect(answered.get_by_role("img", name="Attached")).to_be_visible()
    picture = page.get_by_role("article", name="You").last.get_by_role("img", name="Attached")
    expect(picture).to_be_visible()
    page.wait_for_function("image => image.naturalWidth === 64", arg=picture.element_handle())
    audit(page)


def test_pictures_and_text_files_are_attached_by_button_drop_and_paste(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit
) -> None:
    made = octavo.post("conversations", {"title": "With eyes", "settings": {"model": "gpt-4o"}})
    page.goto(f"/c/{made['id']}")
    page.get_by_label("Files", exact=True).set_input_files(
        [FilePayload(name="sea.png", mimeType="image/png", buffer=png(9, 5))]
    )
    give = """([how, name, type, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name, { type }));
      const to = document.getElementById("composer");
      const made = { bubbles: true, cancelable: true };
      to.dispatchEvent(how === "paste" ? new ClipboardEvent(how, { ...made, clipboardData: transfer })
        : new DragEvent(how, { ...made, dataTransfer: transfer }));
    }"""
    attached = page.get_by_role("list", name="Attached")
    page.evaluate(give, ["dragover", "notes.py", "", "print('ä')\n"])
    expect(page.get_by_text("Drop images, PDFs or text files")).to_be_visible()
    page.evaluate(give, ["drop", "notes.py", "", "print('ä')\n"])
    expect(page.get_by_text("Drop images, PDFs or text files")).to_have_count(0)
    page.evaluate(give, ["paste", "todo.md", "text/markdown", "- nothing"])
    expect(attached.get_by_role("listitem")).to_have_count(3)
    audit(page)
    page.get_by_label("Files", exact=True).set_input_files(
        [FilePayload(name="film.mp4", mimeType="video/mp4", buffer=b"\x00\xff\xfe")]
    )
    expect(page.get_by_role("alert")).to_contain_text("Only pictures, PDFs and text files")
    attached.get_by_role("button", name="Remove todo.md").click()
    expect(attached.get_by_role("listitem")).to_have_count(2)
    page.reload()
    expect(attached.get_by_role("listitem")).to_have_count(2)
    ask(page, "What is this?")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("You said:")
    expect(attached).to_have_count(0)
    image, file, words = stored(octavo, page)[0]["parts"]
    assert (image["type"], image["width"], image["height"]) == ("image", 9, 5)
    assert image["source"] == data_url(png(9, 5))
    assert (file["name"], file["size"], file["media_type"]) == ("notes.py", 12, "text/plain")
    assert base64.b64decode(file["source"].partition(",")[2]).decode() == "print('ä')\n"
    assert words["text"] == "What is this?"
    sent = str(upstream.bodies[-1]["messages"][-1]["content"])
    assert "print('ä')" in sent
    assert image["source"] in sent
    mine = page.get_by_role("article", name="You")
    expect(mine.get_by_role("img", name="Attached")).to_be_visible()
    mine.get_by_text("notes.py").click()
    expect(mine.get_by_text("print('ä')")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    mine.hover()
    mine.get_by_role("button", name="Edit the message").click()
    page.get_by_role("textbox", name="Edit the message").fill("And what is that?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Versions")).to_contain_text("2/2")
    assert [part.get("text") for part in stored(octavo, page)[0]["parts"]] == [
        None,
        None,
        "And what is that?",
    ]


# Long pastes


def test_a_long_paste_is_a_chip_that_opens_and_is_sent_in_full(
    page: Page, octavo: Octavo, audit: Audit
) -> None:
    page.goto("/")
    field(page).fill("Read this: ")
    page.keyboard.press("End")
    paste(page, "x" * 200)
    expect(field(page)).to_have_value("Read this: " + "x" * 200)
    field(page).fill("Read this: ")
    page.keyboard.press("End")
    paste(page, LONG)
    expect(field(page)).to_have_value("Read this: [LongText#1]")
    page.keyboard.type(" and ")
    paste(page, OTHER)
    expect(field(page)).to_have_value("Read this: [LongText#1] and [LongText#2]")
    chips = page.get_by_role("list", name="Long pastes")
    expect(chips.get_by_role("listitem")).to_have_count(2)
    audit(page)
    # The mark in the text opens it, too.
    field(page).click(position={"x": 150, "y": 22})
    expect(page.get_by_role("dialog", name="[LongText#1]").get_by_role("textbox")).to_have_value(LONG)
    page.keyboard.press("Escape")
    chips.get_by_role("button", name=re.compile("LongText#2.*Another text")).click()
    dialog = page.get_by_role("dialog", name="[LongText#2]")
    expect(dialog.get_by_role("textbox")).to_have_value(OTHER)
    audit(page)
    dialog.get_by_role("textbox").fill("Shorter now.")
    dialog.get_by_role("button", name="Keep").click()
    page.reload()
    expect(field(page)).to_have_value("Read this: [LongText#1] and [LongText#2]")
    expect(chips.get_by_role("listitem")).to_have_count(2)
    field(page).press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("You said:")
    assert stored(octavo, page)[0]["text"] == f"Read this: {LONG} and Shorter now."
    expect(chips).to_have_count(0)


def test_a_long_paste_goes_as_a_whole_and_comes_back_with_undo(page: Page, octavo: Octavo) -> None:
    page.goto("/")
    field(page).focus()
    page.keyboard.type("a")
    paste(page, LONG)
    page.keyboard.type("b")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Backspace")
    expect(field(page)).to_have_value("ab")
    page.keyboard.press("Control+z")
    expect(field(page)).to_have_value("a[LongText#1]b")
    # The arrow key goes over it in one step.
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.type("!")
    expect(field(page)).to_have_value("a[LongText#1]!b")
    # What touches it takes all of it: a selection that ends inside.
    field(page).evaluate("field => field.setSelectionRange(0, 5)")
    page.keyboard.type("c")
    expect(field(page)).to_have_value("c!b")
    paste(page, OTHER)
    page.get_by_role("button", name="Remove [LongText#2]").click()
    expect(field(page)).to_have_value("c!b")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You said: c!b")).to_be_visible()
    assert stored(octavo, page)[0]["text"] == "c!b"


def test_recall_and_editing_keep_long_pastes(page: Page, octavo: Octavo) -> None:
    page.goto("/")
    field(page).focus()
    paste(page, LONG)
    page.keyboard.type(" What does it say?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("You said:")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    field(page).fill("half a thought")
    page.keyboard.press("Alt+ArrowUp")
    expect(field(page)).to_have_value("[LongText#1] What does it say?")
    expect(page.get_by_role("list", name="Long pastes")).to_be_visible()
    page.keyboard.press("Alt+ArrowDown")
    expect(field(page)).to_have_value("half a thought")
    field(page).fill("")
    page.keyboard.press("ArrowUp")
    editor = page.get_by_role("textbox", name="Edit the message")
    expect(editor).to_have_value("[LongText#1] What does it say?")
    page.keyboard.press("End")
    page.keyboard.type(" Briefly.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Versions")).to_contain_text("2/2")
    assert stored(octavo, page)[0]["text"] == f"{LONG} What does it say? Briefly."


def test_what_was_said_without_a_connection_is_sent_after_a_reload(
    page: Page, octavo: Octavo, watch: Watch
) -> None:
    watch.forgive("ERR_")
    id = octavo.conversation("u: Hello", "a: Good day")
    page.goto(f"/c/{id}")
    expect(page.get_by_text("Good day")).to_be_visible()
    page.route("**/turns", lambda route: route.abort("internetdisconnected"))
    field(page).fill("Are you still there?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Are you still there?")).to_be_visible()
    assert len(octavo.get(f"conversations/{id}/messages")["messages"]) == 2
    page.unroute("**/turns")
    page.reload()
    expect(page.get_by_role("article", name="Answer").last).to_contain_text("You said: Are you still there?")
    page.reload()
    expect(page.get_by_role("article", name="Answer").last).to_contain_text("You said: Are you still there?")
    texts = [one["text"] for one in octavo.get(f"conversations/{id}/messages")["messages"]]
    assert texts.count("Are you still there?") == 1


def test_what_could_not_be_sent_is_in_the_input_again(page: Page, octavo: Octavo, watch: Watch) -> None:
    watch.forgive("409")
    id = octavo.conversation("u: Hello", "a: Good day")
    page.goto(f"/c/{id}")
    page.route("**/turns", lambda route: route.fulfill(status=409, json={"error": _REFUSED}))
    field(page).focus()
    paste(page, LONG)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("no model was chosen")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    expect(field(page)).to_have_value("[LongText#1]")
    page.unroute("**/turns")
    field(page).press("Enter")
    expect(page.get_by_role("article", name="Answer").last).to_contain_text("You said:")
    assert stored(octavo, page)[-2]["text"] == LONG


_REFUSED = {
    "type": "usage",
    "message": "no model was chosen",
    "numbers": {},
    "hint": "choose one",
    "request_id": "r",
}


def test_a_pdf_goes_as_its_text_and_a_scanned_one_says_so(
    page: Page, octavo: Octavo, upstream: Upstream, watch: Watch
) -> None:
    watch.forgive("409")
    made = octavo.post("conversations", {"title": "On paper", "settings": {"model": "gpt-4o"}})
    page.goto(f"/c/{made['id']}")
    chooser = page.get_by_label("Files", exact=True)
    chooser.set_input_files([FilePayload(name="scan.pdf", mimeType="application/pdf", buffer=pdf("", ""))])
    expect(page.get_by_role("alert")).to_contain_text("scan.pdf holds no text, only pictures of pages")
    chooser.set_input_files(
        [FilePayload(name="report.pdf", mimeType="application/pdf", buffer=pdf("The port is 8123."))]
    )
    expect(page.get_by_role("button", name="Remove report.pdf")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    page.get_by_role("textbox", name="Message").fill("Which port?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("You said:")
    sent = json.dumps(upstream.bodies[-1]["messages"])
    assert "report.pdf" in sent
    assert "The port is 8123." in sent


def test_a_pdf_that_is_being_read_shows_how_far_it_is_and_can_be_left(page: Page, audit: Audit) -> None:
    held: list[Route] = []
    page.route("**/documents?**", lambda route: held.append(route))
    page.goto("/")
    chooser = page.get_by_label("Files", exact=True)
    file = FilePayload(name="report.pdf", mimeType="application/pdf", buffer=pdf("The port is 8123."))
    attached = page.get_by_role("list", name="Attached")
    chooser.set_input_files([file])
    expect(attached.get_by_role("progressbar", name="Reading report.pdf")).to_be_visible()
    field(page).fill("Which port?")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    audit(page)
    attached.get_by_role("button", name="Remove report.pdf").click()
    expect(attached).to_have_count(0)
    expect(page.get_by_role("button", name="Send")).to_be_enabled()
    chooser.set_input_files([file])
    expect(attached.get_by_role("progressbar")).to_be_visible()
    held[-1].continue_()
    expect(attached.get_by_role("progressbar")).to_have_count(0)
    expect(attached.get_by_text("report.pdf")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_enabled()
