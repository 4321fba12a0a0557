"""Random histories, tidy and broken, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Wire,
)
from octavo.testing import messages

IDS = st.sampled_from(["a", "b", "c", "tool:1", ""])
WORDS = st.sampled_from(["", " ", "hello", "a b c", "yes\n\nno", "</earlier>", "\ud800"])
TEXT = st.builds(Text, text=WORDS)
PICTURE = st.builds(Image, source=st.just("data:image/png;base64,AA=="), width=st.integers(0, 99))
FILE = st.builds(Attachment, name=st.sampled_from(["", "a.txt"]), size=st.integers(0, 9))
STRANGE = st.just(Opaque(kind="new", wire=Wire("openai", "{}")))
CONTENT = st.lists(st.one_of(TEXT, PICTURE, FILE), max_size=2).map(tuple)
PARTS: st.SearchStrategy[Part] = st.one_of(
    TEXT,
    TEXT,
    st.builds(Reasoning, text=WORDS),
    PICTURE,
    FILE,
    STRANGE,
    st.builds(ToolCall, id=IDS, name=st.just("run"), input=st.just("{}")),
    st.builds(ToolResult, call_id=IDS, content=CONTENT, error=st.booleans()),
)
BROKEN: st.SearchStrategy[list[Message]] = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant", "system", "tool"]),
        parts=st.lists(PARTS, max_size=4).map(tuple),
        name=st.sampled_from(["", "", "ann"]),
    ),
    max_size=12,
)
"""Anything at all: parts in any message, ids that clash, results without calls."""


@st.composite
def tidy(draw: st.DrawFn, *, max_turns: int = 8, words: int = 12) -> tuple[Message, ...]:
    """A history as a well-behaved agent leaves it: turns, some with tool rounds, all answered."""
    lines: list[str] = []

    def say(kind: str) -> str:
        return f"{kind}: " + " ".join(["w"] * draw(st.integers(1, words)))

    for _ in range(draw(st.integers(1, max_turns))):
        lines.append(say("u"))
        for _ in range(draw(st.integers(0, 2))):
            calls = draw(st.integers(1, 3))
            lines += [f"c: tool{n} {{}}" for n in range(calls)] + [say("r") for _ in range(calls)]
        lines.append(say("a"))
    return messages(*lines)
