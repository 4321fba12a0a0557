"""Passages stand directly before the text of a message, and everything else of it stays."""

from __future__ import annotations

from octavo.core.messages import Image, Message, Text
from octavo.core.recall.passages import Passage
from octavo.core.recall.render import with_passages

PICTURE = Image(source="https://example.org/berth.png")


def test_passages_stand_before_the_first_text_and_nothing_is_lost() -> None:
    passage = Passage(source="n1", depth=1, text="The Aurelia lies at berth 47.", channel="user")
    asked = Message(role="user", parts=(PICTURE, Text(text="Where is it?"), PICTURE, Text(text="And why?")))
    sent = with_passages(asked, (passage,))
    assert [type(part) for part in sent.parts] == [Image, Text, Image, Text]
    first = sent.parts[1]
    assert isinstance(first, Text)
    assert "berth 47" in first.text
    assert first.text.endswith("\n\nWhere is it?")
    assert sent.parts[2:] == asked.parts[2:]
    alone = with_passages(Message(role="user", parts=(PICTURE,)), (passage,))
    assert [type(part) for part in alone.parts] == [Text, Image]
    assert with_passages(asked, ()) is asked
