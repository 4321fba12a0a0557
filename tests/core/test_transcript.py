"""Case 37 and 68: text for summarisers and people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.messages import Attachment, Image, Message, Opaque, Reasoning, Text, ToolResult, Wire
from octavo.core.transcript import (
    FILES_LISTED,
    LONGEST_NAME,
    describe,
    describe_file,
    list_files,
    newest_files,
    shared_files,
    shorten,
    transcript,
)
from octavo.testing import messages


def test_every_speaker_and_tool_is_labelled() -> None:
    said = messages("s: be brief", "u: list", "a: let me look", 'c: ls {"d": "."}', "r: a.txt", "a: one file")
    assert transcript(said) == (
        'System: be brief\n\nUser: list\n\nAssistant: let me look\n[call ls {"d": "."}]\n\n'
        "Tool: [result] a.txt\n\nAssistant: one file"
    )


def test_names_failures_and_media_are_shown_and_reasoning_is_not() -> None:
    failure = ToolResult(
        call_id="1", name="ls", content=(Text(text="no such dir"), Image(source="x")), error=True
    )
    said = (
        Message(
            role="user",
            name="Ann",
            parts=(Image(source="x", width=8, height=6), Attachment(name="a.pdf", size=1_000)),
        ),
        Message(role="assistant", parts=(Reasoning(text="secret"),)),
        Message(role="tool", parts=(failure, Opaque(kind="audio", wire=Wire("openai", "{}")))),
    )
    assert transcript(said) == (
        "User (Ann): [image 8×6]\n[file: a.pdf (1,000 bytes)]\n\nTool: [error ls] no such dir\n[image]\n[audio]"
    )


def test_a_file_without_a_name_is_still_named() -> None:
    assert describe_file(Attachment(name="")) == "unnamed"
    assert describe_file(Attachment(name="", media_type="text/csv")) == "unnamed (text/csv)"


def test_every_file_and_picture_of_a_message_has_a_name() -> None:
    shot = Image(source="data:image/png;base64,AAAABBBB", media_type="image/png", width=8, height=6)
    said = Message(
        role="user",
        parts=(
            Text(text="Look:"),
            Image(source="https://example.org/plans/harbour.png?size=2#top", media_type="image/png"),
            Image(source="file-4711"),
            Image(source=""),
            shot,
            Attachment(name="berths\n of ships.pdf", size=12),
        ),
    )
    assert shared_files(said) == (
        "harbour.png (image/png)",
        "file-4711 (image)",
        "unnamed image",
        "unnamed image (image/png, 8×6, 6 bytes)",
        "berths of ships.pdf (12 bytes)",
    )
    result = ToolResult(call_id="1", content=(Text(text="shot"), shot, Attachment(name="x" * 500)))
    assert shared_files(Message(role="tool", parts=(result,))) == (
        "unnamed image (image/png, 8×6, 6 bytes)",
        "x" * LONGEST_NAME,
    )


def test_many_files_are_listed_by_the_newest_and_pictures_without_a_name_by_their_number() -> None:
    assert list_files(()) == ""
    assert list_files(["a.pdf", "unnamed image (1 bytes)"]) == "- a.pdf\n- 1 unnamed image"
    many = [f"{n}.txt" for n in range(FILES_LISTED + 7)] + [f"unnamed image ({n} bytes)" for n in range(3)]
    lines = list_files(many).split("\n")
    assert lines[:2] == ["- 7 earlier ones", "- 7.txt"]
    assert lines[-1] == "- 3 unnamed images"
    assert len(lines) == FILES_LISTED + 2


def test_long_results_are_bounded_and_can_be_shown_whole() -> None:
    result = ToolResult(call_id="1", content=(Text(text="x" * 10_000),))
    message = Message(role="tool", parts=(result,))
    assert len(transcript([message])) < 2_100
    assert "8,000 of 10,000 characters left out" in transcript([message])
    assert "x" * 10_000 in transcript([message], result_cap=None)
    assert describe(result, cap=None).endswith("x" * 10_000)


def test_head_and_tail_of_a_megabyte_on_one_line_remain() -> None:
    """Case 68."""
    text = "A" + "x" * 1_000_000 + "Z"
    cut = shorten(text, 100, hint="whole text: message m7")
    assert cut.startswith("A")
    assert cut.endswith("Z")
    assert "1,000,002 characters left out; whole text: message m7" in cut
    assert len(cut) < 220


@pytest.mark.parametrize("cap", [-5, 0, 1, 2])
def test_a_cap_is_never_negative(cap: int) -> None:
    cut = shorten("ab" * 500, cap)
    assert len(cut) < 100
    assert shorten("", cap) == ""


@given(st.text(max_size=400), st.integers(-10, 500))
def test_shortening_never_grows_a_text(text: str, cap: int) -> None:
    """Seen failing without the final comparison of lengths."""
    cut = shorten(text, cap)
    assert len(cut) <= len(text)
    assert cut == text or len(text) > cap


def test_only_as_many_files_are_remembered_as_are_ever_listed() -> None:
    many = [name for n in range(60) for name in (f"{n}.pdf", f"unnamed image ({n} bytes)")]
    kept, earlier, pictures = newest_files(many)
    assert (kept[0], kept[-1], len(kept), earlier, pictures) == ("10.pdf", many[-1], 100, 10, 10)
    assert list_files(kept, earlier=earlier, pictures=pictures) == list_files(many)
    assert newest_files(many[:4]) == (tuple(many[:4]), 0, 0)
