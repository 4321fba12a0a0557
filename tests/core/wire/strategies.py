"""Valid wire messages of the formats, with fields nobody knows, for property tests."""

from __future__ import annotations

import base64
import json
from typing import TypeAlias

from hypothesis import strategies as st

from octavo.core.json_values import Json, JsonObject

Objects: TypeAlias = st.SearchStrategy[JsonObject]
EACH = 40
"""Examples for each pair of formats: a format is read in three pairs, and written in three."""

texts = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", " ", "\n", "[image]", "\ud800", "<|endoftext|>", "data:image/png;base64,AAAA", "日本"]
    ),
)
words = st.text("abcdef_-", min_size=1, max_size=6)
floats = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), floats, texts)
json_values: st.SearchStrategy[Json] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects: Objects = st.dictionaries(texts, json_values, max_size=3)
unknown: Objects = st.dictionaries(words.map("x_{}".format), json_values, max_size=2)
contents = st.binary(max_size=9).map(lambda data: base64.b64encode(data).decode())
links = st.sampled_from(
    ["https://a.example/b.png", "http://a.example/c", "HTTPS://a.example/d.pdf", "gs://bucket/e.jpg", "f", ""]
)
pictures = st.sampled_from(
    ["image/png", "image/jpeg", "image/jpg", "image/heic", "image/png;a=b", "image/a,b"]
)
files = st.sampled_from(
    [
        "application/pdf",
        "text/plain",
        "text/csv;charset=x",
        "application/json",
        "audio/wav",
        "audio/mpeg",
        "image/png",
        "",
    ]
)
ids = st.sampled_from(["call_1", "call_2", "toolu_01", "functions.run:0", ""])
names = st.sampled_from(["search", "run", "read_file"])
media_types = pictures | files


def data_urls(types: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("data:{};base64,{}".format, types, contents)


def objects(
    required: dict[str, st.SearchStrategy[Json]], optional: dict[str, st.SearchStrategy[Json]]
) -> Objects:
    """Objects with some fields always, some at times, and at times some that nobody knows."""
    known = st.fixed_dictionaries(required, optional=optional)
    return st.one_of(known, st.builds(lambda extra, data: {**extra, **data}, unknown, known))


def just(value: Json) -> st.SearchStrategy[Json]:
    return st.just(value)


def lists(pieces: Objects, max_size: int = 3) -> st.SearchStrategy[Json]:
    return st.lists(pieces, max_size=max_size).map(list)


cache_control: dict[str, st.SearchStrategy[Json]] = {"cache_control": just({"type": "ephemeral"})}

one_text: st.SearchStrategy[Json] = texts.map(lambda text: [{"type": "text", "text": text}])
"""A list where a string would do."""

# OpenAI

openai_pieces: Objects = st.one_of(
    objects({"type": just("text"), "text": texts}, cache_control),
    objects({"type": just("refusal"), "refusal": texts}, {}),
    objects(
        {
            "type": just("image_url"),
            "image_url": objects({"url": links | data_urls(media_types)}, {"detail": just("high")}),
        },
        {},
    ),
    objects(
        {
            "type": just("input_audio"),
            "input_audio": objects(
                {"data": contents, "format": st.sampled_from(["wav", "mp3", "mpeg", "MP3"])}, {}
            ),
        },
        {},
    ),
    objects(
        {
            "type": just("file"),
            "file": objects(
                {},
                {
                    "filename": texts | st.none(),
                    "file_data": contents | data_urls(media_types) | st.none(),
                    "file_id": st.just("file-1") | st.none(),
                },
            ),
        },
        {},
    ),
    objects({"type": words.map("x_{}".format)}, {"text": json_values}),
)
openai_contents: st.SearchStrategy[Json] = st.one_of(texts, one_text, lists(openai_pieces))
openai_calls: Objects = st.one_of(
    objects(
        {
            "id": ids,
            "function": objects({"name": names, "arguments": texts | json_objects.map(json.dumps)}, {}),
        },
        {"type": just("function"), "index": just(0)},
    ),
    objects({"id": ids, "type": just("custom"), "custom": objects({"name": names, "input": texts}, {})}, {}),
    objects({"type": words.map("x_{}".format)}, {"id": ids}),
)
openai_messages: Objects = st.one_of(
    objects(
        {"role": st.sampled_from(["system", "developer", "user"]), "content": openai_contents},
        {"name": texts | st.none()},
    ),
    objects(
        {"role": just("assistant")},
        {
            "content": openai_contents | st.none(),
            "name": texts,
            "refusal": texts | st.none(),
            "reasoning_content": texts | st.none(),
            "reasoning": texts | st.none(),
            "audio": objects({"id": ids}, {}) | st.none(),
            "annotations": st.just([]),
            "tool_calls": lists(openai_calls) | st.none(),
            "function_call": objects({"name": names, "arguments": texts}, {}) | st.none(),
        },
    ),
    objects(
        {"role": just("tool"), "tool_call_id": ids, "content": openai_contents | st.none()},
        {"name": names | st.none()},
    ),
    objects({"role": just("function"), "name": names, "content": openai_contents | st.none()}, {}),
    objects({"role": just("user"), "content": lists(openai_pieces, 5)}, {}),
)
openai_lists = st.lists(openai_messages, max_size=6)

# Anthropic

anthropic_sources: Objects = st.one_of(
    objects({"type": just("base64"), "media_type": media_types, "data": contents}, {}),
    objects({"type": just("url"), "url": links | data_urls(media_types)}, {}),
    objects({"type": just("file"), "file_id": words}, {}),
    objects({"type": words.map("x_{}".format)}, {}),
)
anthropic_documents: Objects = st.one_of(
    anthropic_sources,
    objects({"type": just("text"), "data": texts}, {"media_type": just("text/plain")}),
    objects({"type": just("content"), "content": texts | lists(json_objects)}, {}),
)
anthropic_pieces: Objects = st.one_of(
    objects(
        {"type": just("text"), "text": texts}, {**cache_control, "citations": lists(json_objects) | st.none()}
    ),
    objects({"type": just("image"), "source": anthropic_sources}, cache_control),
    objects(
        {"type": just("document"), "source": anthropic_documents},
        {"title": texts | st.none(), "context": texts | st.none(), "citations": just({"enabled": True})},
    ),
    objects({"type": words.map("x_{}".format)}, {"text": json_values}),
)
anthropic_results: Objects = objects(
    {"type": just("tool_result"), "tool_use_id": ids},
    {"content": texts | one_text | lists(anthropic_pieces), "is_error": st.booleans(), **cache_control},
)
anthropic_blocks: Objects = st.one_of(
    anthropic_pieces,
    anthropic_results,
    objects({"type": just("tool_use"), "id": ids, "name": names, "input": json_objects}, cache_control),
    objects({"type": just("thinking"), "thinking": texts}, {"signature": texts}),
    objects({"type": just("redacted_thinking"), "data": texts}, {}),
)
anthropic_messages: Objects = objects(
    {
        "role": st.sampled_from(["user", "assistant", "system"]),
        "content": texts | one_text | lists(anthropic_blocks),
    },
    {},
) | objects(
    {
        "role": just("user"),
        "content": lists(anthropic_results) | lists(anthropic_results | anthropic_pieces, 5),
    },
    {},
)
anthropic_lists = st.lists(anthropic_messages, max_size=6)
anthropic_systems: st.SearchStrategy[Json] = st.one_of(
    st.none(), texts, lists(objects({"type": just("text"), "text": texts}, cache_control))
)

# Gemini


def spelled(camel: str, snake: str, inner: Objects, extra: dict[str, st.SearchStrategy[Json]]) -> Objects:
    return st.sampled_from([camel, snake]).flatmap(lambda key: objects({key: inner}, extra))


def optional_type(types: st.SearchStrategy[str]) -> dict[str, st.SearchStrategy[Json]]:
    return {"mimeType": types | st.none(), "mime_type": types | st.none(), "displayName": texts | st.none()}


signatures: dict[str, st.SearchStrategy[Json]] = {
    "thoughtSignature": texts,
    "thought_signature": texts,
    "thought": st.booleans() | st.none(),
    "videoMetadata": json_objects,
}
gemini_blobs: Objects = st.sampled_from(["mimeType", "mime_type"]).flatmap(
    lambda key: objects({key: media_types, "data": contents}, {"displayName": texts})
)
gemini_links: Objects = st.sampled_from(["fileUri", "file_uri"]).flatmap(
    lambda key: objects({key: links | data_urls(media_types)}, optional_type(media_types))
)
gemini_media: Objects = st.one_of(
    spelled("inlineData", "inline_data", gemini_blobs, signatures),
    spelled("fileData", "file_data", gemini_links, signatures),
    objects({}, {"executableCode": json_objects, "toolCall": json_objects, "inlineData": st.none()}),
)
gemini_calls: Objects = spelled(
    "functionCall",
    "function_call",
    objects(
        {"name": names},
        {"id": ids | st.none(), "args": json_objects | st.none(), "willContinue": just(False)},
    ),
    signatures,
)
gemini_responses: Objects = st.one_of(
    json_objects,
    st.fixed_dictionaries({}, optional=dict.fromkeys(("output", "result", "error"), texts | json_values)),
)
gemini_results: Objects = spelled(
    "functionResponse",
    "function_response",
    objects(
        {"name": names, "response": gemini_responses},
        {"id": ids | st.none(), "parts": lists(gemini_media) | st.none(), "scheduling": just("SILENT")},
    ),
    signatures,
)
gemini_texts: Objects = objects({"text": texts}, signatures | {"inline_data": st.none()})
gemini_parts: Objects = st.one_of(gemini_texts, gemini_media, gemini_calls, gemini_results)
gemini_messages: Objects = st.one_of(
    objects(
        {},
        {
            "role": st.sampled_from(["user", "model", "function", None]),
            "parts": lists(gemini_parts) | st.none(),
        },
    ),
    objects({"role": just("model"), "parts": lists(gemini_calls)}, {}),
    objects({"role": just("user"), "parts": lists(gemini_results)}, {}),
    objects({"role": just("user"), "parts": lists(gemini_media, 5)}, {}),
)
gemini_lists = st.lists(gemini_messages, max_size=6)
gemini_systems: st.SearchStrategy[Json] = st.one_of(
    st.none(),
    texts,
    lists(gemini_texts),
    objects({"parts": lists(gemini_texts)}, {"role": st.sampled_from(["system", "user"])}),
)

# Responses

responses_pieces: Objects = st.one_of(
    objects({"type": st.sampled_from(["input_text", "text"]), "text": texts}, {}),
    objects(
        {"type": just("output_text"), "text": texts}, {"annotations": st.just([]), "logprobs": st.just([])}
    ),
    objects({"type": just("refusal"), "refusal": texts}, {}),
    objects(
        {"type": just("input_image")},
        {
            "image_url": links | data_urls(media_types) | st.none(),
            "file_id": st.just("file-1") | st.none(),
            "detail": just("high"),
        },
    ),
    objects(
        {"type": just("input_file")},
        {
            "filename": texts | st.none(),
            "file_data": contents | data_urls(media_types) | st.none(),
            "file_url": links | data_urls(media_types) | st.none(),
            "file_id": st.just("file-1") | st.none(),
        },
    ),
    objects({"type": words.map("x_{}".format)}, {"text": json_values}),
)
responses_contents: st.SearchStrategy[Json] = st.one_of(texts, lists(responses_pieces))
item_fields: dict[str, st.SearchStrategy[Json]] = {
    "id": st.sampled_from(["item_1", "item_2", None]),
    "status": st.sampled_from(["completed", "incomplete", None]),
}
stated: dict[str, st.SearchStrategy[Json]] = {
    "type": just("message"),
    "phase": just("commentary"),
    **item_fields,
}
shell_outputs: st.SearchStrategy[Json] = lists(
    objects(
        {
            "stdout": texts,
            "stderr": st.sampled_from(["", "bad"]),
            "outcome": st.sampled_from([{"type": "exit", "exit_code": 0}, {"type": "timeout"}]),
        },
        {},
    ),
    2,
)
responses_calls: Objects = st.one_of(
    objects(
        {
            "type": just("function_call"),
            "call_id": ids,
            "name": names,
            "arguments": texts | json_objects.map(json.dumps),
        },
        {**item_fields, "namespace": words},
    ),
    objects({"type": just("custom_tool_call"), "call_id": ids, "name": names, "input": texts}, item_fields),
    objects(
        {"type": st.sampled_from(["shell_call", "local_shell_call"]), "call_id": ids, "action": json_objects},
        item_fields,
    ),
    objects({"type": just("apply_patch_call"), "call_id": ids, "operation": json_objects}, item_fields),
    objects({"type": just("computer_call"), "call_id": ids, "actions": lists(json_objects)}, item_fields),
    objects(
        {"type": just("tool_search_call"), "call_id": ids | st.none(), "arguments": json_values}, item_fields
    ),
    objects({"type": just("mcp_approval_request"), "id": ids, "name": names, "arguments": texts}, {}),
)
responses_outputs: Objects = st.one_of(
    objects(
        {
            "type": st.sampled_from(["function_call_output", "custom_tool_call_output"]),
            "call_id": ids,
            "output": responses_contents,
        },
        item_fields,
    ),
    objects({"type": just("function_call_output"), "call_id": st.none(), "output": texts}, item_fields),
    objects({"type": just("shell_call_output"), "call_id": ids, "output": shell_outputs}, item_fields),
    objects(
        {"type": st.sampled_from(["local_shell_call_output"]), "output": texts},
        {"id": st.sampled_from(["item_1", "call_1"]), "call_id": ids},
    ),
    objects(
        {"type": just("apply_patch_call_output"), "call_id": ids, "status": just("failed")},
        {"output": texts | st.none(), "caller": json_objects},
    ),
    objects(
        {
            "type": just("computer_call_output"),
            "call_id": ids,
            "output": objects({"type": just("computer_screenshot")}, {"image_url": links, "file_id": words}),
        },
        item_fields,
    ),
    objects({"type": just("tool_search_output"), "call_id": ids, "tools": lists(json_objects)}, item_fields),
    objects(
        {"type": just("mcp_approval_response"), "approval_request_id": ids, "approve": st.booleans()},
        {"reason": texts | st.none()},
    ),
)
responses_thoughts: Objects = objects(
    {"type": just("reasoning"), "summary": lists(objects({"type": just("summary_text"), "text": texts}, {}))},
    {**item_fields, "encrypted_content": texts | st.none(), "content": lists(objects({"text": texts}, {}))},
)
responses_items: Objects = st.one_of(
    objects(
        {"role": st.sampled_from(["user", "system", "developer"]), "content": responses_contents}, stated
    ),
    objects({"role": just("assistant"), "content": responses_contents}, stated),
    responses_thoughts,
    responses_calls,
    responses_outputs,
    objects(
        {"type": st.sampled_from(["web_search_call", "compaction", "item_reference", "x_new"])}, item_fields
    ),
)
responses_lists = st.lists(responses_items, max_size=8)
responses_systems: st.SearchStrategy[Json] = st.none() | texts

# Tools

schemas: Objects = objects(
    {"type": st.sampled_from(["object", "OBJECT"])},
    {
        "properties": st.dictionaries(
            words | st.just("type"),
            objects({"type": st.sampled_from(["string", "STRING", "INTEGER"])}, {"enum": just(["STRING"])}),
            max_size=2,
        ),
        "required": lists(words.map(lambda name: {"a": name}), 1),
    },
)
heads: dict[str, st.SearchStrategy[Json]] = {"description": texts | st.none()}
openai_tools: Objects = st.one_of(
    objects(
        {
            "type": just("function"),
            "function": objects(
                {"name": names}, {**heads, "parameters": schemas | st.none(), "strict": just(True)}
            ),
        },
        cache_control,
    ),
    objects({"type": just("custom")}, {"custom": json_objects}),
)
responses_tools: Objects = st.one_of(
    objects(
        {"type": just("function"), "name": names},
        {**heads, "parameters": schemas | st.none(), "strict": st.sampled_from([True, False, None])},
    ),
    objects({"type": st.sampled_from(["custom", "web_search"])}, {"name": names, "format": json_objects}),
)
anthropic_tools: Objects = st.one_of(
    objects(
        {"name": names, "input_schema": schemas},
        {**heads, **cache_control, "type": st.sampled_from([None, "custom"])},
    ),
    objects({"type": st.sampled_from(["web_search_20250305", "bash_20250124"])}, {"name": names}),
)
gemini_declarations: Objects = objects(
    {"name": names},
    {
        **heads,
        "parameters": schemas | st.none(),
        "parametersJsonSchema": schemas,
        "parameters_json_schema": schemas | st.none(),
        "response": schemas,
    },
)
gemini_tools: Objects = objects(
    {},
    {
        "functionDeclarations": lists(gemini_declarations) | st.none(),
        "function_declarations": lists(gemini_declarations) | st.none(),
        "googleSearch": just({}),
    },
)
