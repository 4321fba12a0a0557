"""A history that its caller keeps: what is sent of it is in the caller's own words."""

from __future__ import annotations

import pytest

from octavo.core.messages import Message, Reasoning, Text, ToolCall, assistant, system, user
from octavo.engine.history import in_callers_words, store_history
from octavo.engine.turn import PreparedRequest, prepare
from tests.engine.conftest import MODEL, MakeEngine
from tests.engine.test_state import result

pytestmark = pytest.mark.anyio


async def test_what_is_sent_whole_is_the_callers_own_and_what_was_shortened_stays_short(
    make: MakeEngine,
) -> None:
    """With its thinking and the spaces of its arguments; seen failing with: what is stored of it."""
    engine = await make(window=8_000)
    thought = Reasoning(text="I should read it.")
    call = ToolCall(id="c1", name="read", input='{ "path": "log" }')
    asked = Message(role="assistant", parts=(thought, Text(text="Let me look."), call))
    long = result(" ".join(f"line-{n}" for n in range(1_500)))
    messages = (
        system("Be brief."),
        user("Read the log."),
        asked,
        long,
        assistant("It is read."),
        user("And?"),
    )
    stored = await store_history(engine, "", messages, "openai", MODEL, "")
    (ready,) = [
        step
        async for step in prepare(engine, stored.conversation, stored.tip)
        if isinstance(step, PreparedRequest)
    ]
    front = (system("The time is noon."),)
    worded = in_callers_words(ready, front, messages)
    sent = (*worded.system, *worded.retained)
    assert sent[0] is front[0]
    assert [one is other for one, other in zip(sent[1:], messages, strict=True)] == [
        True,
        True,
        True,
        False,
        True,
        True,
    ]
    assert sent[4].results[0].text.startswith("line-0 ")
    assert len(sent[4].results[0].text) < len(long.results[0].text) // 2
    again = await store_history(engine, "", messages, "openai", MODEL, "")
    assert (again.conversation, again.tip, again.revision) == (stored.conversation, stored.tip, None)
