"""A conversation of one format, written in another: a request that the other provider's own library accepts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import cache
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Attachment, Message, system
from octavo.core.wire import FORMATS, Format, Wired, detect, read, read_tools, write, write_tools
from octavo.errors import BadInput
from tests.core.wire import strategies as wire
from tests.core.wire.examples import ANTHROPIC, GEMINI, OPENAI, PDF, PNG, RESPONSES, WAV

Judge = Callable[[Wired], object]
EXAMPLES: dict[Format, dict[str, tuple[Json, list[JsonObject]]]] = {
    "openai": {name: (None, messages) for name, messages in OPENAI.items()},
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "responses": RESPONSES,
}
CASES = [(one, other, name) for one, other in permutations(FORMATS, 2) for name in EXAMPLES[one]]


def exhaust(value: object) -> object:
    """Go through everything: pydantic looks at iterables only when they are used."""
    if isinstance(value, dict):
        return {key: exhaust(inner) for key, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [exhaust(inner) for inner in value]
    return value


@cache
def judge(format: Format) -> Judge:
    """Make the judge of a format from the types of the provider's own library."""
    from pydantic import TypeAdapter

    match format:
        case "openai":
            from openai.types.chat import ChatCompletionMessageParam

            chat = TypeAdapter(list[ChatCompletionMessageParam])
            return lambda wired: exhaust(chat.validate_python(wired.messages))
        case "anthropic":
            from anthropic.types import MessageParam, TextBlockParam

            messages = TypeAdapter(list[MessageParam])
            system = TypeAdapter(str | list[TextBlockParam] | None)
            return lambda wired: (
                exhaust(messages.validate_python(wired.messages)),
                exhaust(system.validate_python(wired.system)),
            )
        case "responses":
            from openai.types.responses import ResponseInputItemParam

            items = TypeAdapter(list[ResponseInputItemParam])
            instructions = TypeAdapter(str | None)
            return lambda wired: (
                exhaust(items.validate_python(wired.messages)),
                instructions.validate_python(wired.system),
            )
        case "gemini":
            with warnings.catch_warnings():
                # The library uses typing constructs that newer Pythons warn of.
                warnings.simplefilter("ignore", DeprecationWarning)
                from google.genai.types import Content
            contents, instruction = TypeAdapter(list[Content]), TypeAdapter(Content | None)
            return lambda wired: (
                contents.validate_python(wired.messages),
                instruction.validate_python(wired.system),
            )


@pytest.mark.parametrize(("one", "other", "name"), CASES)
def test_the_other_providers_library_accepts_it(one: Format, other: Format, name: str) -> None:
    system, messages = EXAMPLES[one][name]
    assert judge(other)(write(other, read(one, messages, system))) is not None


LISTS: dict[Format, st.SearchStrategy[list[JsonObject]]] = {
    "openai": wire.openai_lists,
    "anthropic": wire.anthropic_lists,
    "gemini": wire.gemini_lists,
    "responses": wire.responses_lists,
}


@settings(deadline=None, max_examples=wire.EACH)
@given(st.data())
@pytest.mark.parametrize(("one", "other"), list(permutations(FORMATS, 2)))
def test_the_other_providers_library_accepts_anything_read_from_one(
    one: Format, other: Format, data: st.DataObject
) -> None:
    """Seen failing when an image of any type was written as an Anthropic image."""
    messages = data.draw(LISTS[one])
    assert judge(other)(write(other, read(one, messages))) is not None


def test_openai_becomes_anthropic() -> None:
    written = write("anthropic", read("openai", OPENAI["plain chat"] + OPENAI["parallel tool calls"][1:]))
    assert written.system == "You are a helpful assistant."
    assert written.messages == [
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": "Hi, how can I help?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "call_a", "name": "weather", "input": {"city": "Rome"}},
                {
                    "type": "tool_use",
                    "id": "call_b",
                    "name": "weather",
                    "input": {"input": '{"city": "Oslo"'},
                },
                {"type": "tool_use", "id": "call_c", "name": "now", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_a", "content": '{"t": 21}'},
                {"type": "tool_result", "tool_use_id": "call_b", "content": "bad input"},
                {"type": "tool_result", "tool_use_id": "call_c", "content": ""},
            ],
        },
        {"role": "assistant", "content": "21 °C in Rome."},
    ]


def test_openai_becomes_gemini() -> None:
    written = write("gemini", read("openai", OPENAI["plain chat"][:2] + OPENAI["parallel tool calls"][1:]))
    assert written.system == {"parts": [{"text": "You are a helpful assistant."}]}
    assert written.messages[1:] == [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"id": "call_a", "name": "weather", "args": {"city": "Rome"}}},
                {"functionCall": {"id": "call_b", "name": "weather", "args": {"input": '{"city": "Oslo"'}}},
                {"functionCall": {"id": "call_c", "name": "now", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "call_a",
                        "name": "weather",
                        "response": {"output": '{"t": 21}'},
                    }
                },
                {
                    "functionResponse": {
                        "id": "call_b",
                        "name": "weather",
                        "response": {"output": "bad input"},
                    }
                },
                {"functionResponse": {"id": "call_c", "name": "now", "response": {"output": ""}}},
            ],
        },
        {"role": "model", "parts": [{"text": "21 °C in Rome."}]},
    ]


def test_openai_media_go_to_the_others() -> None:
    messages = read("openai", OPENAI["pictures, a file and audio"])
    assert write("anthropic", messages).messages[0]["content"] == [
        {"type": "text", "text": "What is all this?"},
        {"type": "image", "source": {"type": "url", "url": "https://a.example/cat.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
            "title": "a.pdf",
        },
        {"type": "text", "text": "[file: unnamed]"},
        {"type": "text", "text": "[file: unnamed (audio/wav, 24 bytes)]"},
    ]
    assert write("gemini", messages).messages[0]["parts"] == [
        {"text": "What is all this?"},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/cat.png"}},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
        {"text": "[file: unnamed]"},
        {"inlineData": {"mimeType": "audio/wav", "data": WAV}},
    ]


def test_anthropic_becomes_openai() -> None:
    _, messages = ANTHROPIC["thinking and parallel tool calls"]
    assert write("openai", read("anthropic", messages, "Be terse.")).messages == [
        {"role": "system", "content": "Be terse."},
        {"role": "user", "content": "Weather in Rome and Oslo?"},
        {
            "role": "assistant",
            "content": "I'll look.",
            "tool_calls": [
                {
                    "id": "toolu_01",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city":"Rome","deep":[1.0]}'},
                },
                {"id": "toolu_02", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "toolu_01", "content": "21"},
        {"role": "tool", "tool_call_id": "toolu_02", "content": "no city"},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "21 °C."},
    ]


def test_anthropic_media_go_to_openai() -> None:
    _, messages = ANTHROPIC["pictures and documents"]
    assert write("openai", read("anthropic", messages)).messages[0]["content"] == [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://a.example/cat.png"}},
        {"type": "text", "text": "[image]"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
        {"type": "text", "text": "[file: unnamed (application/pdf)] https://a.example/b.pdf"},
        {"type": "text", "text": "[file: c.txt (text/plain, 18 bytes)]\nGrüße, wörtlich"},
        {"type": "text", "text": "[file: unnamed (text/plain, 8 bytes)]\none text"},
        {"type": "text", "text": "[file: unnamed]"},
    ]


def test_a_picture_in_a_result_follows_all_results_as_the_users() -> None:
    def shot(id: str) -> JsonObject:
        picture: JsonObject = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
        }
        content: list[Json] = [{"type": "text", "text": id}, picture]
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]}

    seen: JsonObject = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    written = write(
        "openai", read("anthropic", [shot("a"), shot("b"), {"role": "assistant", "content": "ok"}])
    )
    assert written.messages == [
        *(
            {
                "role": "tool",
                "tool_call_id": id,
                "content": [{"type": "text", "text": id}, {"type": "text", "text": "[image]"}],
            }
            for id in "ab"
        ),
        {"role": "user", "content": [seen, seen]},
        {"role": "assistant", "content": "ok"},
    ]


def test_nothing_follows_results_that_brought_nothing_openai_understands() -> None:
    content: list[Json] = [{"type": "tool_result", "tool_use_id": "a"}, {"type": "holo"}]
    written = write("openai", read("anthropic", [{"role": "user", "content": content}]))
    assert written.messages == [{"role": "tool", "tool_call_id": "a", "content": ""}]


def test_gemini_becomes_openai() -> None:
    system, messages = GEMINI["calls without ids"]
    written = write("openai", read("gemini", messages, system)).messages
    assert [message["role"] for message in written] == ["assistant", "tool", "tool", "tool"]
    assert [(message["tool_call_id"], message["content"]) for message in written[1:]] == [
        ("call_2", "noon"),
        ("call_1", '{"t":21,"unit":"C"}'),
        ("call_3", '{"error":{"code":5}}'),
    ]


def test_sounds_and_films_that_openai_cannot_hear_or_see_are_said_in_words() -> None:
    def blob(media_type: str) -> JsonObject:
        return {"inlineData": {"mimeType": media_type, "data": WAV}}

    parts: list[Json] = [blob("audio/mpeg"), blob("audio/flac"), blob("video/mp4"), blob("application/zip")]
    written = write("openai", read("gemini", [{"role": "user", "parts": parts}])).messages
    assert written[0]["content"] == [
        {"type": "input_audio", "input_audio": {"data": WAV, "format": "mp3"}},
        {"type": "text", "text": "[file: unnamed (audio/flac, 24 bytes)]"},
        {"type": "text", "text": "[file: unnamed (video/mp4, 24 bytes)]"},
        {"type": "file", "file": {"filename": "file", "file_data": f"data:application/zip;base64,{WAV}"}},
    ]


def test_a_picture_attached_as_a_file_is_shown_as_a_picture() -> None:
    url = f"data:image/png;base64,{PNG}"
    picture = Attachment(name="a.png", media_type="image/png", source=url)
    written = write("openai", [Message(role="user", parts=(picture,))]).messages
    assert written == [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]


def test_gemini_becomes_anthropic() -> None:
    system, messages = GEMINI["thoughts and parallel calls"]
    assert write("anthropic", read("gemini", messages, system)).messages == [
        {"role": "user", "content": "Weather in Rome and Oslo?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "8f2a", "name": "weather", "input": {"city": "Rome"}},
                {"type": "tool_use", "id": "8f2b", "name": "weather", "input": {"city": "Oslo"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "8f2a", "content": "21"},
                {"type": "tool_result", "tool_use_id": "8f2b", "content": "no such city", "is_error": True},
            ],
        },
        {"role": "assistant", "content": "21 °C."},
    ]


@pytest.mark.parametrize(("one", "other"), list(permutations(FORMATS, 2)))
def test_only_the_format_that_wrote_an_unknown_part_gets_it_back(one: Format, other: Format) -> None:
    unknown: JsonObject = {"holo": {}} if one == "gemini" else {"type": "holo"}
    key = "parts" if one == "gemini" else "content"
    messages = read(one, [{"role": "user", key: [unknown]}])
    assert "holo" in str(write(one, messages))
    assert "holo" not in str(write(other, messages))


@pytest.mark.parametrize(
    ("messages", "format"),
    [
        ([], "openai"),
        (None, "openai"),
        ([{"role": "user", "content": "hi"}], "openai"),
        ([{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "openai"),
        ([{"role": "user", "content": [{"type": "image_url"}, 1, {"type": ["text"]}]}], "openai"),
        ([1, {"role": "user", "content": [{"type": "image", "image": "x"}]}], "openai"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}], "responses"),
        ([{"role": "user", "content": "hi"}, {"type": "item_reference", "id": "msg_1"}], "responses"),
        ([{"role": "user", "parts": []}], "gemini"),
        ([{"role": "model"}], "gemini"),
        (
            [{"role": "user", "content": "hi"}, {"role": "user", "content": [{"type": "tool_result"}]}],
            "anthropic",
        ),
        ([{"role": "user", "content": [{"type": "image", "source": {}}]}], "anthropic"),
        ([{"role": "assistant", "content": [{"type": "thinking"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "document"}]}], "anthropic"),
    ],
)
def test_the_format_of_a_list_is_guessed(messages: object, format: Format) -> None:
    assert detect(messages) == format


@pytest.mark.parametrize("format", FORMATS)
def test_requests_are_recognised_by_what_only_their_format_has(format: Format) -> None:
    telling = {
        "openai": OPENAI["parallel tool calls"],
        "anthropic": ANTHROPIC["thinking and parallel tool calls"][1],
        "gemini": GEMINI["thoughts and parallel calls"][1],
        "responses": RESPONSES["thoughts and parallel calls"][1],
    }
    assert detect(telling[format]) == format


def test_a_format_nobody_knows_is_refused_with_the_known_ones() -> None:
    for act in (read, write, read_tools, write_tools):
        with pytest.raises(
            BadInput, match="unknown format 'morse'; one of openai, anthropic, gemini, responses"
        ):
            act("morse", [])  # type: ignore[arg-type]


@pytest.mark.parametrize("format", FORMATS)
def test_a_system_message_alone_is_all_there_is(format: Format) -> None:
    written = write(format, [system("Be brief.")])
    assert read(format, written.messages, written.system) == (system("Be brief."),)
