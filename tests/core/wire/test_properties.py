"""What holds for every request: nothing is lost, edits win, and bad input is nothing worse than `BadInput`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, permutations
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.json_values import Json, JsonObject
from octavo.core.message_json import dump, load
from octavo.core.messages import Message, Part, Text, ToolResult, Wire
from octavo.core.wire import FORMATS, Format, detect, read, read_tools, write, write_tools
from octavo.errors import BadInput
from tests.core.strategies import BROKEN
from tests.core.wire import strategies as wire

P = TypeVar("P", bound=Part)
Request = tuple[Format, list[JsonObject], Json]

openai: st.SearchStrategy[Request] = st.tuples(st.just("openai"), wire.openai_lists, st.none())
anthropic: st.SearchStrategy[Request] = st.tuples(
    st.just("anthropic"), wire.anthropic_lists, wire.anthropic_systems
)
gemini: st.SearchStrategy[Request] = st.tuples(st.just("gemini"), wire.gemini_lists, wire.gemini_systems)
responses: st.SearchStrategy[Request] = st.tuples(
    st.just("responses"), wire.responses_lists, wire.responses_systems
)
REQUESTS: dict[Format, st.SearchStrategy[Request]] = {
    "openai": openai,
    "anthropic": anthropic,
    "gemini": gemini,
    "responses": responses,
}
requests = openai | anthropic | gemini | responses
formats = st.sampled_from(FORMATS)


def spelled_out(value: object) -> str:
    """JSON text, so that `1`, `1.0` and `true` are not taken for each other."""
    return json.dumps(value, sort_keys=True)


def assert_comes_back(request: Request) -> None:
    format, messages, system = request
    written = write(format, read(format, messages, system))
    assert spelled_out(written.messages) == spelled_out(messages)
    assert spelled_out(written.system) == spelled_out(system)


@settings(deadline=None)
@given(openai)
def test_openai_messages_come_back_as_they_were(request: Request) -> None:
    """Seen failing when the mark of content as a list was not looked at in writing."""
    assert_comes_back(request)


@settings(deadline=None)
@given(anthropic)
def test_anthropic_messages_come_back_as_they_were(request: Request) -> None:
    """Seen failing when results that stood in messages of their own were not marked as apart."""
    assert_comes_back(request)


@settings(deadline=None)
@given(gemini)
def test_gemini_contents_come_back_as_they_were(request: Request) -> None:
    """Seen failing when what was noted of a content was not applied in writing."""
    assert_comes_back(request)


@settings(deadline=None)
@given(responses)
def test_responses_items_come_back_as_they_were(request: Request) -> None:
    """Seen failing when the texts of one message were written as messages of their own."""
    assert_comes_back(request)


@settings(deadline=None)
@given(requests)
def test_the_store_keeps_what_the_wire_said(request: Request) -> None:
    """Seen failing when the stored form left out the wire of a tool result."""
    format, messages, system = request
    stored = [json.loads(json.dumps(dump(message))) for message in read(format, messages, system)]
    written = write(format, [load(value) for value in stored])
    assert spelled_out([written.messages, written.system]) == spelled_out([messages, system])


@settings(deadline=None)
@given(requests, st.data())
def test_a_longer_history_reads_the_same_as_far_as_it_was(request: Request, data: st.DataObject) -> None:
    """Seen failing when ids were made up from the length of the whole list."""
    format, messages, system = request
    cut = data.draw(st.integers(0, len(messages)))
    shorter = read(format, messages[:cut], system)
    if format == "responses":
        # The items of one step are one message, and the cut may fall into a step.
        shorter = shorter[:-1]
    assert read(format, messages, system)[: len(shorter)] == shorter


def _edit(part: Part) -> Part:
    match part:
        case Text():
            return replace(part, text="edited")
        case ToolResult():
            pieces = (
                replace(piece, text="edited") if isinstance(piece, Text) else piece for piece in part.content
            )
            return replace(part, content=tuple(pieces))
        case _:
            return part


def _texts(messages: tuple[Message, ...]) -> list[str]:
    pieces = (
        piece
        for message in messages
        for part in message.parts
        for piece in (part.content if isinstance(part, ToolResult) else (part,))
    )
    return [piece.text for piece in pieces if isinstance(piece, Text)]


@settings(deadline=None)
@given(requests)
def test_an_edited_text_is_written_whatever_was_noted(request: Request) -> None:
    """Seen failing when a function response that was JSON, and no longer is, was left out."""
    format, messages, system = request
    edited = [
        replace(message, parts=tuple(_edit(part) for part in message.parts))
        for message in read(format, messages, system)
    ]
    written = write(format, edited)
    again = read(format, written.messages, written.system)
    assert _texts(again) == ["edited"] * len(_texts(tuple(edited)))


def _wires(parts: tuple[Part, ...]) -> Iterator[Wire | None]:
    for part in parts:
        yield part.wire
        if isinstance(part, ToolResult):
            yield from _wires(part.content)


def _replaced(noted: Json) -> Iterator[Json]:
    """Find every value that was noted as replaced or removed."""
    if isinstance(noted, dict):
        changed, removed, within = (noted.get(key) for key in ("changed", "removed", "within"))
        if isinstance(changed, dict):
            yield from (pair[0] for pair in changed.values() if isinstance(pair, list))
        if isinstance(removed, dict):
            yield from removed.values()
        if isinstance(within, dict):
            yield from (value for inner in within.values() for value in _replaced(inner))


@settings(deadline=None)
@given(requests)
def test_what_the_values_say_is_never_noted_as_replaced(request: Request) -> None:
    """Seen failing when an id that was made up was written: the whole content was noted to take it out again."""
    format, messages, system = request
    for message in read(format, messages, system):
        for noted in (message.wire, *_wires(message.parts)):
            replaced = _replaced(json.loads(noted.fields) if noted else {})
            assert all(not value or isinstance(value, str) for value in replaced)


LONG = "a text long enough to be found again"


@settings(deadline=None)
@given(st.sampled_from(FORMATS), st.booleans(), st.booleans())
def test_no_text_is_kept_twice(format: Format, listed: bool, dressed: bool) -> None:
    """Seen failing when content as a list was noted as a change of the whole content."""
    extra: JsonObject = {"cache_control": {"type": "ephemeral"}} if dressed else {}
    block: JsonObject = (
        {"text": LONG, **extra} if format == "gemini" else {"type": "text", "text": LONG, **extra}
    )
    content: Json = [block] if listed or dressed else LONG
    data: JsonObject = (
        {"role": "user", "parts": [block]} if format == "gemini" else {"role": "user", "content": content}
    )
    (message,) = read(format, [data])
    assert message.text == LONG
    assert not any(LONG in noted.fields for noted in (message.wire, *_wires(message.parts)) if noted)
    if not listed and not dressed:
        assert message.wire is None


@settings(deadline=None)
@given(BROKEN, formats)
def test_any_messages_can_be_written_and_read_again(messages: list[Message], format: Format) -> None:
    """Seen failing when a `tool` message without results kept its role on the way to OpenAI."""
    written = write(format, messages)
    again = read(format, written.messages, written.system)
    rewritten = write(format, again)
    assert spelled_out([rewritten.messages, rewritten.system]) == spelled_out(
        [written.messages, written.system]
    )


def _number(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Give every text words of its own."""
    numbers = count()

    def number(part: P) -> P:
        match part:
            case Text():
                return replace(part, text=f"<words {next(numbers)}>")
            case ToolResult():
                return replace(part, content=tuple(number(piece) for piece in part.content))
            case _:
                return part

    return tuple(
        replace(message, parts=tuple(number(part) for part in message.parts)) for message in messages
    )


@settings(deadline=None, max_examples=wire.EACH)
@given(st.data())
@pytest.mark.parametrize(("format", "other"), list(permutations(FORMATS, 2)))
def test_another_format_loses_no_words_and_no_calls_and_no_results(
    format: Format, other: Format, data: st.DataObject
) -> None:
    """Seen failing when what came with a tool's results did not follow them as a user message."""
    _, messages, system = data.draw(REQUESTS[format])
    said = _number(read(format, messages, system))
    written = write(other, said)
    whole = spelled_out([written.messages, written.system])
    assert [whole.count(text) for text in _texts(said)] == [1] * len(_texts(said))
    again = read(other, written.messages, written.system)
    assert [call.name for message in again for call in message.calls] == [
        call.name for message in said for call in message.calls
    ]
    ids = [result.call_id for message in said for result in message.results]
    kept = [result.call_id for message in again for result in message.results]
    assert len(kept) == len(ids)
    assert all(one == other for one, other in zip(ids, kept, strict=True) if one)


FIELDS = """
role content type text refusal image_url url file file_data tool_calls id function name arguments tool_call_id source
media_type data title thinking input tool_use_id is_error parts functionCall function_call args functionResponse
response inlineData mimeType fileData file_uri thought description parameters input_schema functionDeclarations
call_id output summary approval_request_id
"""
KINDS = """
user assistant system tool function model developer text refusal image_url file input_audio image document tool_use
tool_result thinking base64 url custom content message reasoning function_call function_call_output input_text
output_text shell_call_output mcp_approval_response
"""
KEYS = st.sampled_from(FIELDS.split())
WORDS = st.sampled_from(KINDS.split())
ANYTHING: st.SearchStrategy[Json] = st.recursive(
    wire.leaves | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | wire.texts, inner, max_size=5),
    max_leaves=20,
)


def _spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Go through every place in a value: what holds it, and its key there."""
    keys = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    for key in keys:
        yield value, key
        yield from _spots(value[key])


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[list[Any]]) -> list[Json]:
    """Something valid with something else put somewhere into it, or something taken out."""
    value: list[Json] = json.loads(json.dumps(draw(whole)))
    if spots := list(_spots(value)):
        holder, key = draw(st.sampled_from(spots))
        if isinstance(holder, dict) and draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = draw(ANYTHING)
    return value


def refused(reading: Callable[[], object]) -> str | None:
    """Say which place was refused as bad input; None if all was well."""
    try:
        reading()
    except BadInput as bad:
        return bad.where
    return None


@settings(deadline=None)
@given(st.data())
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_accepted_comes_back_and_what_is_not_is_bad_input(
    format: Format, data: st.DataObject
) -> None:
    """Seen failing when a role that is not there was a `KeyError`."""
    good = REQUESTS[format].map(lambda request: [*request[1:]])
    bad = st.tuples(st.lists(ANYTHING) | ANYTHING, st.none() | ANYTHING)
    messages, system = data.draw(st.one_of(damaged(good), bad))
    assert detect(messages) in FORMATS
    if (where := refused(lambda: read(format, messages, system))) is None:
        assert_comes_back((format, messages, system))  # type: ignore[arg-type]
    else:
        assert where.startswith(("messages", "system"))


TOOLS: dict[Format, st.SearchStrategy[list[JsonObject]]] = {
    "openai": st.lists(wire.openai_tools, max_size=3),
    "anthropic": st.lists(wire.anthropic_tools, max_size=3),
    "gemini": st.lists(wire.gemini_tools, max_size=3),
    "responses": st.lists(wire.responses_tools, max_size=3),
}


@settings(deadline=None)
@given(st.data())
@pytest.mark.parametrize("format", FORMATS)
def test_tool_definitions_come_back_as_they_were(format: Format, data: st.DataObject) -> None:
    """Seen failing when declarations of a second group were written into the first."""
    definitions = data.draw(TOOLS[format])
    assert spelled_out(write_tools(format, read_tools(format, definitions))) == spelled_out(definitions)


@settings(deadline=None, max_examples=wire.EACH)
@given(st.data())
@pytest.mark.parametrize(("format", "other"), list(permutations(FORMATS, 2)))
def test_another_format_gets_every_tool_that_has_a_schema(
    format: Format, other: Format, data: st.DataObject
) -> None:
    """Seen failing when descriptions were left out."""
    tools = read_tools(format, data.draw(TOOLS[format]))
    again = read_tools(other, write_tools(other, tools))
    known = [(tool.name, tool.description) for tool in tools if tool.schema]
    assert [(tool.name, tool.description) for tool in again] == known


@settings(deadline=None)
@given(st.data())
@pytest.mark.parametrize("format", FORMATS)
def test_tools_that_are_accepted_come_back_and_others_are_bad_input(
    format: Format, data: st.DataObject
) -> None:
    """Seen failing when a tool without a name was a `KeyError`."""
    anything: st.SearchStrategy[Json] = st.lists(ANYTHING) | ANYTHING
    definitions = data.draw(anything if data.draw(st.integers(0, 3)) == 0 else damaged(TOOLS[format]))
    if (where := refused(lambda: read_tools(format, definitions))) is None:
        assert spelled_out(write_tools(format, read_tools(format, definitions))) == spelled_out(definitions)
    else:
        assert where.startswith("tools")
