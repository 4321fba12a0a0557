"""Ids that are made up for calls without one."""

from __future__ import annotations

from octavo.core.messages import Message, Text, ToolCall
from octavo.core.wire import read
from octavo.core.wire.pairing import CallPairing, renumber

CALL = {"functionCall": {"name": "valve", "args": {}}}
RESPONSE = {"functionResponse": {"name": "valve", "response": {"output": "7"}}}


def test_the_calls_of_an_answer_are_numbered_as_they_are_in_the_conversation() -> None:
    before = [
        {"role": "user", "parts": [{"text": "Begin."}]},
        {"role": "model", "parts": [CALL]},
        {"role": "user", "parts": [RESPONSE]},
    ]
    answer = {"role": "model", "parts": [{"text": "Again."}, CALL, CALL]}
    (alone,) = read("gemini", [answer])
    *history, last = read("gemini", [*before, answer])
    assert alone != last
    assert renumber(alone, history) == last


def test_ids_that_a_provider_gave_stay() -> None:
    given = Message(role="assistant", parts=(ToolCall(id="x7", name="valve", input="{}"),))
    assert renumber(given, []) is given
    mixed = Message(role="assistant", parts=(*given.parts, ToolCall(id="call_9", name="valve", input="{}")))
    assert [call.id for call in renumber(mixed, [given]).calls] == ["x7", "call_2"]
    said = Message(role="assistant", parts=(Text(text="Hm."),))
    assert renumber(said, []) is said


def test_pairing_goes_on_from_a_copy_and_leaves_the_first_as_it_was() -> None:
    first = CallPairing()
    assert first.opened(0, "valve") == "call_1"
    second = first.copy()
    assert second.opened(1, "valve") == "call_2"
    assert (second.answered("valve"), second.answered("valve")) == ("call_2", "call_1")
    assert (first.answered("valve"), first.opened(2, "valve")) == ("call_1", "call_2")
