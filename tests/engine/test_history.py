"""A history that its caller keeps: what is sent of it is in the caller's own words."""

from __future__ import annotations

import pytest

from octavo.core.json_values import compact
from octavo.core.messages import Message, Part, Reasoning, Text, ToolCall, Wire, assistant, system, user
from octavo.engine.engine import Engine
from octavo.engine.history import (
    canonical,
    digests_of,
    find_branch,
    first_turn,
    in_callers_words,
    make_id,
    store_history,
    stored_form,
    title_of,
    with_thoughts,
    without_reasoning,
)
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


RULES, ASKED, SAID = system("Be brief."), user("What is the port?"), assistant("8123.")


async def test_the_same_words_get_the_same_ids_everywhere() -> None:
    """Two processes that are told the same at the same time store it once."""
    places = list[tuple[str, str]]()
    for _ in range(2):
        async with await Engine.open(model=MODEL) as engine:
            stored = await store_history(engine, "ann", (ASKED, SAID), "openai", MODEL, "")
            places.append((stored.conversation, stored.tip))
            for further in ((ASKED,), (ASKED, SAID, user("Sure?"))):
                found = await find_branch(engine.store, "bob", further, digests_of(further))
                places.append((found.conversation, ""))
    (here, bobs, longer), there = places[:3], places[3:]
    assert [here, bobs, longer] == there
    assert bobs[0] == longer[0] != here[0], "a conversation is named by its owner and how it begins"
    assert make_id(b"message", b"of two") == "f2dde61291676a79602ec47147348c14"
    assert make_id(b"message o", b"f two") != make_id(b"message", b"of two")


async def test_what_shares_no_question_is_another_conversation(make: MakeEngine) -> None:
    engine = await make()

    async def place(*messages: Message) -> tuple[str, int | None]:
        stored = await store_history(engine, "", messages, "openai", MODEL, "")
        return stored.conversation, stored.revision

    first, revision = await place(RULES, ASKED, SAID, user("Sure?"))
    assert revision is None
    other, _ = await place(RULES, user("What is the host?"))
    assert other != first
    again, revision = await place(RULES, ASKED, assistant("9000."), user("Sure?"))
    assert again == first
    assert revision == (await engine.store.conversations.get(first)).revision
    assert len(await (await engine.chat(first)).branches()) == 2


async def test_a_message_that_was_deleted_and_is_sent_again_is_stored_again(make: MakeEngine) -> None:
    """Its id is taken, so it gets another one."""
    engine, messages = await make(), (ASKED, SAID, user("Sure?"))
    stored = await store_history(engine, "", messages, "openai", MODEL, "")
    chat = await engine.chat(stored.conversation)
    await chat.delete_message(stored.tip)
    again = await store_history(engine, "", messages, "openai", MODEL, "")
    assert again.conversation == stored.conversation
    assert again.tip != stored.tip
    assert [node.message for node in await chat.branch(again.tip)] == [*messages]


async def never(*_: object, **__: object) -> None:
    raise AssertionError("it is known already")


async def test_what_a_history_has_grown_by_is_known_without_reading_it_again(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, further = await make(), (ASKED, SAID, user("Sure?"))
    stored = await store_history(engine, "", further[:2], "openai", MODEL, "")
    await engine.state_of(stored.conversation)
    monkeypatch.setattr("octavo.engine.state_cache.load_state", never)
    stored = await store_history(engine, "", further, "openai", MODEL, "")
    state = await engine.state_of(stored.conversation)
    assert (state.tip, state.context.messages) == (stored.tip, further)


@pytest.mark.parametrize(("prompt", "kept"), [("Be kind.", "Be kind."), (" ", None)])
async def test_a_conversation_begins_with_the_prompt_and_the_model_of_its_first_request(
    make: MakeEngine, prompt: str, kept: str | None
) -> None:
    engine = await make()
    stored = await store_history(engine, "", (ASKED,), "openai", "gpt-4o-mini", prompt)
    held = await engine.settings.of(stored.conversation)
    assert (held["model"], held.get("system")) == ("gpt-4o-mini", kept)


def test_a_history_is_called_by_the_beginning_of_its_first_question() -> None:
    assert title_of((RULES, user("What  is\nthe port?"), user("And now?"))) == "What is the port?"
    assert title_of((RULES,)) == ""
    assert title_of((user("word " * 50),)) == ("word " * 16)
    assert [first_turn(said) for said in ((ASKED,), (RULES, SAID, ASKED, ASKED), (RULES, SAID))] == [1, 3, 1]


THOUGHT = Reasoning(text="I should look.")
CALL = ToolCall(id="c1", name="read", input='{"path":"log"}')


def said(*parts: Part) -> Message:
    return Message(role="assistant", parts=parts)


def test_what_clients_leave_out_or_write_otherwise_makes_no_other_message() -> None:
    """And what is in its one form already is given as it is."""
    for plain in (ASKED, said(Text(text="Let me look."), CALL), said(CALL)):
        assert canonical(plain) is plain
        assert without_reasoning(plain) is plain
    spaced = ToolCall(id="c1", name="read", input='{ "path": "log" }')
    broken = ToolCall(id="c1", name="read", input='{"path": ')
    assert canonical(said(THOUGHT, Text(text=""), Text(text="So."), spaced)) == said(Text(text="So."), CALL)
    assert without_reasoning(said(THOUGHT, spaced)) == said(spaced)
    assert canonical(said(broken)) == said(broken)


def thought(text: str) -> Reasoning:
    item = {"type": "reasoning", "id": f"rs_{text}", "summary": [{"type": "summary_text", "text": text}]}
    return Reasoning(text=text, wire=Wire("responses", compact({"whole": item})))


@pytest.mark.parametrize(
    "parts",
    [
        (thought("First."), Text(text="Let me look."), CALL),
        (Text(text="Let me look."), thought("So?"), CALL, thought("Is that all?")),
        (thought("First."), thought("Twice."), Text(text="So."), thought("And again."), CALL),
    ],
)
def test_thoughts_are_stored_beside_a_message_and_put_back_where_they_stood(parts: tuple[Part, ...]) -> None:
    stored = stored_form(said(*parts), "responses")
    assert not any(isinstance(part, Reasoning) for part in stored.parts)
    assert with_thoughts(stored).parts == parts
    assert stored_form(said(CALL), "responses") == said(CALL)


def test_thoughts_that_cannot_be_read_are_left_where_they_are() -> None:
    thoughts = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I should look."}]}
    for noted in ({}, {"thoughts": [thoughts]}, {"places": [0]}, {"thoughts": [3], "places": [0]}):
        kept = said(CALL)
        message = Message(role="assistant", parts=kept.parts, wire=Wire("responses", compact(noted)))
        assert with_thoughts(message) is message
    assert with_thoughts(SAID) is SAID
    message = Message(
        role="assistant",
        parts=(Text(text="So."), CALL),
        wire=Wire("responses", compact({"thoughts": [thoughts], "places": ["first"]})),
    )
    assert isinstance(with_thoughts(message).parts[0], Reasoning)
