"""An answer in pieces: what is finished is finished for good, and nothing is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from octavo.cli.terminal.markdown_stream import FENCE_LINES, MarkdownBlock, MarkdownStream


def flowed(*pieces: str) -> list[MarkdownBlock]:
    flow = MarkdownStream()
    return [block for piece in pieces for block in flow.feed(piece)] + flow.end()


def test_a_block_is_finished_when_the_next_one_begins() -> None:
    flow = MarkdownStream()
    assert flow.feed("one\n\n") == []
    assert flow.feed("t") == [MarkdownBlock("one")]
    assert flow.rest == "t"


def test_what_is_indented_belongs_to_what_stands_before() -> None:
    assert flowed("- one\n\n  more of it\n- two\n\nend") == [
        MarkdownBlock("- one\n\n  more of it\n- two"),
        MarkdownBlock("end"),
    ]


def test_code_with_empty_lines_is_one_block() -> None:
    text = "```python\na = 1\n\nb = 2\n```\n\nend"
    assert flowed(text) == [MarkdownBlock("```python\na = 1\n\nb = 2\n```"), MarkdownBlock("end")]


def test_long_code_is_printed_in_parts_that_belong_together() -> None:
    lines = [f"line {n}" for n in range(FENCE_LINES + 10)]
    first, second = flowed("```sh\n" + "\n".join(lines) + "\n```\n")
    assert first.text.split("\n") == ["```sh", *lines[:FENCE_LINES], "```"]
    assert second == MarkdownBlock("\n".join(["```sh", *lines[FENCE_LINES:], "```"]), joined=True)


def test_empty_lines_in_front_are_nothing() -> None:
    assert [block.text.strip() for block in flowed("\n\n\nhello")] == ["hello"]
    assert flowed("", "\n \n") == []


LISTING = "\n".join(f"line {number}" for number in range(FENCE_LINES))
markdown = st.lists(
    st.sampled_from(
        ["one", "two three", "- item", "  more", "```", "```py", "~~~", "", "", "# head", LISTING]
    ),
    max_size=20,
).map("\n".join)


@given(markdown, st.integers(1, 40))
def test_it_does_not_matter_how_a_text_arrives(text: str, size: int) -> None:
    """Seen failing with: code cut at a line that was not complete yet."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert flowed(*pieces) == flowed(text)


@given(markdown)
def test_every_word_comes_out_once_and_in_order(text: str) -> None:
    """Seen failing with: the line before which code was cut printed twice."""
    blocks = flowed(text)
    words: list[str] = []
    for at, block in enumerate(blocks):
        rows = block.text.split("\n")
        following = blocks[at + 1] if at + 1 < len(blocks) else None
        rows = rows[1:] if block.joined else rows
        rows = rows[:-1] if following and following.joined else rows
        words += " ".join(rows).split()
    assert words == text.split()
