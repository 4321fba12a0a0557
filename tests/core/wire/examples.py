"""Requests as clients really send them, by name, for each of the formats."""

from __future__ import annotations

from octavo.core.json_values import Json, JsonObject

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKJcOkw7zDtsOfCjIgMCBvYmoKPDwvTGVuZ3RoIDMgMCBSPj4="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEA"
SIGNATURE = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds"


def _call(id: str, name: str, arguments: str) -> JsonObject:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


OPENAI: dict[str, list[JsonObject]] = {
    "nothing": [],
    "plain chat": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": "Hi, how can I help?"},
    ],
    "developer and names": [
        {"role": "developer", "content": [{"type": "text", "text": "Be terse."}]},
        {"role": "user", "name": "ada", "content": "Hi"},
        {"role": "assistant", "name": "bot", "content": ""},
    ],
    "pictures, a file and audio": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is all this?"},
                {"type": "image_url", "image_url": {"url": "https://a.example/cat.png", "detail": "high"}},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
                },
                {"type": "file", "file": {"file_id": "file-6F2ksmvXxt4VdoqmHRw6kL"}},
                {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
            ],
        }
    ],
    "parallel tool calls": [
        {"role": "user", "content": "Weather in Rome and Oslo?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                _call("call_a", "weather", '{"city": "Rome"}'),
                _call("call_b", "weather", '{"city": "Oslo"'),
                _call("call_c", "now", ""),
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": '{"t": 21}'},
        {"role": "tool", "tool_call_id": "call_b", "content": [{"type": "text", "text": "bad input"}]},
        {"role": "tool", "tool_call_id": "call_c", "name": "now", "content": ""},
        {"role": "assistant", "content": "21 °C in Rome."},
    ],
    "an answer as the library dumps it": [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": "Hello",
            "refusal": None,
            "annotations": [],
            "audio": None,
            "function_call": None,
            "tool_calls": None,
        },
    ],
    "refusals": [
        {"role": "assistant", "content": None, "refusal": "I can't help with that."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Well,"}, {"type": "refusal", "refusal": "no."}],
        },
    ],
    "legacy functions": [
        {"role": "user", "content": "Rome?"},
        {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "{}"}},
        {"role": "function", "name": "weather", "content": "21"},
        {"role": "assistant", "function_call": {"name": "weather", "arguments": '{"a":1}'}},
        {"role": "function", "name": "weather", "content": None},
    ],
    "reasoning of imitators": [
        {"role": "assistant", "reasoning_content": "Let me think.", "content": "42"},
        {"role": "assistant", "reasoning": "Hm.", "reasoning_details": [{"type": "x"}], "content": "43"},
        {"role": "assistant", "reasoning_content": None, "reasoning": "", "content": "44"},
    ],
    "a spoken answer": [{"role": "assistant", "content": None, "audio": {"id": "audio_6725"}}],
    "custom tools and unknown things": [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "custom", "custom": {"name": "run", "input": "ls -l"}},
                {"type": "mcp", "server": "x"},
                _call("call_2", "f", "{}") | {"index": 0},
            ],
        },
        {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "https://a.example/v"}}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "cached", "cache_control": {"type": "ephemeral"}}],
        },
        {"role": "user", "content": []},
        {"role": "user", "content": "x", "x_usage": {"prompt_tokens": 1, "share": 1.0}},
    ],
}

ANTHROPIC: dict[str, tuple[Json, list[JsonObject]]] = {
    "nothing": (None, []),
    "plain chat": (
        "You are a helpful assistant.",
        [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi, how can I help?"}],
    ),
    "system in cached blocks": (
        [
            {"type": "text", "text": "Be terse."},
            {"type": "text", "text": "A long text.", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        ],
        [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    ),
    "one block of system": ([{"type": "text", "text": "Be terse."}], [{"role": "user", "content": "Hi"}]),
    "thinking and parallel tool calls": (
        None,
        [
            {"role": "user", "content": "Weather in Rome and Oslo?"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Two calls.", "signature": SIGNATURE},
                    {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"},
                    {"type": "text", "text": "I'll look."},
                    {
                        "type": "tool_use",
                        "id": "toolu_01",
                        "name": "weather",
                        "input": {"city": "Rome", "deep": [1.0]},
                    },
                    {"type": "tool_use", "id": "toolu_02", "name": "weather", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_01", "content": "21"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_02",
                        "is_error": True,
                        "content": [{"type": "text", "text": "no city"}],
                        "cache_control": {"type": "ephemeral"},
                    },
                    {"type": "text", "text": "Go on."},
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "21 °C.", "citations": None}]},
        ],
    ),
    "results apart": (
        None,
        [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_01"}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_02", "content": "", "is_error": False}
                ],
            },
        ],
    ),
    "a picture in a result": (
        None,
        [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "shot", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [
                            {"type": "text", "text": "the screen"},
                            {
                                "type": "image",
                                "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                            },
                        ],
                    }
                ],
            },
        ],
    ),
    "pictures and documents": (
        None,
        [
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    {"type": "image", "source": {"type": "url", "url": "https://a.example/cat.png"}},
                    {"type": "image", "source": {"type": "file", "file_id": "file_011CNha8iCJcU1wXNR6q4V8w"}},
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                        "title": "a.pdf",
                        "citations": {"enabled": True},
                        "cache_control": {"type": "ephemeral"},
                    },
                    {"type": "document", "source": {"type": "url", "url": "https://a.example/b.pdf"}},
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "Grüße, wörtlich"},
                        "title": "c.txt",
                        "context": "a letter",
                    },
                    {"type": "document", "source": {"type": "content", "content": "one text"}, "title": None},
                    {
                        "type": "document",
                        "source": {"type": "content", "content": [{"type": "text", "text": "a chunk"}]},
                    },
                    {"type": "document", "source": {"type": "file", "file_id": "file_02"}},
                    {"type": "image", "source": {"type": "bucket", "key": "a"}},
                ],
            }
        ],
    ),
    "the provider's own tools": (
        None,
        [
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_1",
                        "name": "web_search",
                        "input": {"query": "x"},
                    },
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                    {
                        "type": "text",
                        "text": "Found.",
                        "citations": [{"type": "char_location", "cited_text": "y"}],
                    },
                ],
            },
            {"role": "system", "content": "From now on, in French."},
            {"role": "user", "content": []},
            {"role": "user", "content": "Hi", "id": "msg_1"},
        ],
    ),
}

GEMINI: dict[str, tuple[Json, list[JsonObject]]] = {
    "nothing": (None, []),
    "plain chat": (
        {"parts": [{"text": "You are a helpful assistant."}]},
        [
            {"role": "user", "parts": [{"text": "Hello!"}]},
            {"role": "model", "parts": [{"text": "Hi, how can I help?"}]},
        ],
    ),
    "without roles": ("Be terse.", [{"parts": [{"text": "Hi"}]}, {"role": "model"}]),
    "system as a list": ([{"text": "Be terse."}, {"text": "Really."}], [{"role": "user", "parts": []}]),
    "system with a role": ({"role": "system", "parts": [{"text": "a"}, {"text": "b"}]}, []),
    "thoughts and parallel calls": (
        None,
        [
            {"role": "user", "parts": [{"text": "Weather in Rome and Oslo?"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "**Planning**\nTwo calls.", "thought": True},
                    {
                        "functionCall": {"id": "8f2a", "name": "weather", "args": {"city": "Rome"}},
                        "thoughtSignature": "CsYBAb4",
                    },
                    {"functionCall": {"id": "8f2b", "name": "weather", "args": {"city": "Oslo"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "8f2a", "name": "weather", "response": {"output": "21"}}},
                    {
                        "functionResponse": {
                            "id": "8f2b",
                            "name": "weather",
                            "response": {"error": "no such city"},
                        }
                    },
                ],
            },
            {"role": "model", "parts": [{"text": "21 °C.", "thoughtSignature": "Cs"}]},
        ],
    ),
    "calls without ids": (
        None,
        [
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "weather", "args": {"city": "Rome"}}},
                    {"functionCall": {"name": "now"}},
                    {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}},
                ],
            },
            {
                "role": "function",
                "parts": [
                    {"functionResponse": {"name": "now", "response": {"result": "noon"}}},
                    {"functionResponse": {"name": "weather", "response": {"t": 21, "unit": "C"}}},
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "weather", "response": {"error": {"code": 5}}}}],
            },
        ],
    ),
    "media": (
        None,
        [
            {
                "role": "user",
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": PNG}},
                    {"inlineData": {"mimeType": "application/pdf", "data": PDF, "displayName": "a.pdf"}},
                    {"fileData": {"mimeType": "image/jpeg", "fileUri": "gs://bucket/a.jpg"}},
                    {
                        "fileData": {"fileUri": "https://youtu.be/9hE5-98ZeCg"},
                        "videoMetadata": {"startOffset": "1s"},
                    },
                ],
            }
        ],
    ),
    "snake case, as the library dumps it": (
        None,
        [
            {
                "role": "user",
                "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}, "text": None}],
            },
            {
                "role": "user",
                "parts": [{"file_data": {"mime_type": "image/png", "file_uri": "https://a.example/b"}}],
            },
            {
                "role": "model",
                "parts": [
                    {
                        "function_call": {"id": None, "name": "f", "args": {"a_b": 1}},
                        "thought_signature": "Cs",
                    }
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "function_response": {
                            "name": "f",
                            "response": {"output": "a picture"},
                            "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}, {"x": 1}],
                        }
                    }
                ],
            },
        ],
    ),
    "the provider's own tools": (
        None,
        [
            {
                "role": "model",
                "parts": [
                    {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
                    {"thoughtSignature": "Cs"},
                    {},
                ],
            }
        ],
    ),
}


RESPONSES: dict[str, tuple[Json, list[JsonObject]]] = {
    "nothing": (None, []),
    "plain chat": (
        "You are a helpful assistant.",
        [
            {"role": "user", "content": "Hello!"},
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Hi, how can I help?", "annotations": []}],
            },
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Not at all."}]},
        ],
    ),
    "developer and pictures": (
        None,
        [
            {"role": "developer", "content": "Be terse."},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is all this?"},
                    {"type": "input_image", "image_url": "https://a.example/cat.png", "detail": "high"},
                    {"type": "input_image", "file_id": "file-1", "detail": "auto"},
                    {
                        "type": "input_file",
                        "filename": "a.pdf",
                        "file_data": f"data:application/pdf;base64,{PDF}",
                    },
                    {"type": "input_file", "file_url": "https://a.example/b.pdf"},
                ],
            },
        ],
    ),
    "thoughts and parallel calls": (
        None,
        [
            {"role": "user", "content": "Weather in Rome and Oslo?"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABo"},
            {
                "id": "msg_2",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "phase": "commentary",
                "content": [{"type": "output_text", "text": "I look.", "annotations": [], "logprobs": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_a",
                "name": "weather",
                "arguments": '{"city": "Rome"}',
                "status": "completed",
            },
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_b", "name": "run", "input": "oslo"},
            {"type": "function_call_output", "call_id": "call_a", "output": '{"t": 21}'},
            {
                "type": "custom_tool_call_output",
                "call_id": "call_b",
                "output": [{"type": "input_text", "text": "4 degrees"}],
            },
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
            {"role": "assistant", "content": "21 and 4 degrees."},
        ],
    ),
    "shell, patch, computer, approval": (
        None,
        [
            {"role": "user", "content": "Tidy up."},
            {"type": "shell_call", "call_id": "call_1", "action": {"commands": ["ls"], "timeout_ms": None}},
            {
                "type": "shell_call_output",
                "call_id": "call_1",
                "output": [{"stdout": "a b", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
            },
            {
                "type": "apply_patch_call",
                "call_id": "call_2",
                "operation": {"type": "delete_file", "path": "a"},
                "status": "completed",
            },
            {"type": "apply_patch_call_output", "call_id": "call_2", "status": "completed"},
            {
                "type": "computer_call",
                "id": "cu_1",
                "call_id": "call_3",
                "pending_safety_checks": [],
                "status": "completed",
                "action": {"type": "wait"},
            },
            {
                "type": "computer_call_output",
                "call_id": "call_3",
                "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"},
            },
            {
                "type": "mcp_approval_request",
                "id": "mcpr_1",
                "server_label": "files",
                "name": "remove",
                "arguments": "{}",
            },
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        ],
    ),
    "a compaction and a reference": (
        None,
        [
            {"type": "compaction", "encrypted_content": "gAAAAABp"},
            {"type": "item_reference", "id": "msg_9"},
            {"role": "user", "content": "Go on."},
        ],
    ),
}
