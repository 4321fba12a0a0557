"""Real conversations come back as they were."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from octavo.core.json_values import JsonObject
from octavo.core.wire import Format, detect, read, write

DATA = Path(__file__).parents[3] / ".." / "shared" / "data"
FILES = sorted(DATA.glob("*.jsonl.gz"))
COUNTS_ONLY = "claude_counts"
"""Documents with token counts: there are no messages in it."""

CHATS = [path for path in FILES if not path.name.startswith(COUNTS_ONLY)]

pytestmark = pytest.mark.skipif(not FILES, reason="the shared conversations are not on this machine")


def conversations(path: Path) -> list[list[JsonObject]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [record["messages"] for record in map(json.loads, lines) if "messages" in record]


@pytest.mark.parametrize("path", CHATS, ids=lambda path: path.name.partition(".")[0])
def test_every_real_conversation_comes_back_as_it_was(path: Path) -> None:
    found = conversations(path)
    assert found
    for messages in found:
        assert detect(messages) == "openai"
        assert write("openai", read("openai", messages)).messages == messages


@pytest.mark.parametrize("path", CHATS, ids=lambda path: path.name.partition(".")[0])
@pytest.mark.parametrize("format", ["anthropic", "gemini"])
def test_every_real_conversation_is_read_again_from_another_format(path: Path, format: Format) -> None:
    for messages in conversations(path):
        first = write(format, read("openai", messages))
        assert first.messages
        assert write(format, read(format, first.messages, first.system)) == first
