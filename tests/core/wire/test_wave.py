"""Wave's sessions: blocks in and out, and the block that stands for what was before it."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    Wire,
    assistant,
    user,
)
from octavo.core.wire.wave import CompressBlock, read_block, read_wave, write_block, write_wave
from octavo.errors import BadInput

TOOL = {
    "type": "tool",
    "id": "c1",
    "name": "read",
    "parameters": '{"path": "a.txt"}',
    "result": "PORT = 8080",
    "stage": "end",
    "success": True,
}
SESSION: list[Any] = [
    {"role": "system", "blocks": [{"type": "text", "content": "Be brief."}]},
    {"role": "assistant", "blocks": [{"type": "compress", "content": "They chose port 8443."}]},
    {
        "role": "user",
        "blocks": [
            {"type": "text", "content": "Look at this."},
            {"type": "image", "imageUrls": ["https://example.org/plan.png"]},
        ],
    },
    {
        "role": "assistant",
        "blocks": [
            {"type": "reasoning", "content": "Let me see."},
            {"type": "text", "content": "I read it."},
            TOOL,
            {"type": "bang", "command": "ls", "output": "a.txt"},
        ],
    },
    {"role": "user", "blocks": [{"type": "text", "content": "And?"}]},
]


def written(found: tuple[Message | CompressBlock, ...]) -> list[Any]:
    """Write what was read, block for block."""
    out: list[Any] = []
    run: list[Message] = []
    for one in found:
        if isinstance(one, CompressBlock):
            out += [*write_wave(run), write_block(one.summary)]
            run = []
        else:
            run.append(one)
    return [*out, *write_wave(run)]


def test_a_session_is_read_and_written_again() -> None:
    found = read_wave(SESSION)
    assert found[1] == CompressBlock("They chose port 8443.")
    roles = [one.role for one in found if isinstance(one, Message)]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert written(found) == SESSION


def test_tools_bring_errors_pictures_and_nothing_at_all() -> None:
    blocks = [
        {
            **TOOL,
            "success": False,
            "images": [{"data": "AAAA"}, {"data": "data:image/gif;base64,BB", "mediaType": "x"}],
        },
        {"type": "tool", "id": "c2", "stage": "running"},
        {"type": "tool", "id": "c3", "name": "noop", "stage": "end"},
    ]
    said, answers = read_wave([{"role": "assistant", "blocks": blocks}])
    assert isinstance(said, Message)
    assert isinstance(answers, Message)
    assert [(call.id, call.name, call.input) for call in said.calls][1:] == [
        ("c2", "tool", "{}"),
        ("c3", "noop", "{}"),
    ]
    assert [result.call_id for result in answers.results] == ["c1", "c3"]
    assert answers.results[0].error
    assert answers.results[0].content[1:] == (
        Image(source="data:image/png;base64,AAAA", media_type="image/png"),
        Image(source="data:image/gif;base64,BB", media_type="x"),
    )
    (again,) = write_wave([said, answers])
    assert read_wave([again]) == (said, answers)


def test_messages_of_other_formats_become_blocks() -> None:
    orphan = ToolResult(call_id="gone", content=(Text(text="lonely"),))
    spoken = Opaque(kind="audio", wire=Wire("openai", "{}"))
    said = [
        user(""),
        Message(role="user", parts=(Attachment(name="a.pdf"), spoken)),
        Message(role="assistant", parts=(ToolCall(id="c", name="run", input="{}"),)),
        Message(
            role="tool",
            parts=(ToolResult(call_id="c", content=(Text(text="a"), Attachment(name="b"))), orphan),
        ),
        assistant("Done."),
    ]
    files, call, rest, done = write_wave(said)
    assert [block["content"] for block in files["blocks"]] == ["[file: a.pdf]", "[audio]"]  # type: ignore[index,call-overload,union-attr]
    assert call["blocks"][0]["result"] == "a\n[file: b]"  # type: ignore[index,call-overload]
    assert rest == {"role": "user", "blocks": [{"type": "text", "content": "[result] lonely"}]}
    assert done["role"] == "assistant"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "compress", "content": "so far"},
        {"role": "user", "content": [{"type": "compress", "content": "so far"}]},
        {"role": "model", "parts": [{"text": "x"}, {"type": "compress", "content": "so far"}]},
        {"role": "assistant", "blocks": [{"type": "compress", "content": "so far", "sessionId": "s"}]},
    ],
)
def test_a_block_is_found_wherever_a_message_has_its_pieces(message: Any) -> None:
    block = read_block(message, "messages[0]")
    assert block == CompressBlock("so far")
    assert block.message == user("[Compressed Message Summary]\nso far")


@pytest.mark.parametrize(
    "message", [{"role": "user", "content": "compress"}, {"type": "text"}, {"content": [3]}]
)
def test_nothing_else_is_a_block(message: Any) -> None:
    assert read_block(message, "messages[0]") is None


@pytest.mark.parametrize(
    ("messages", "where"),
    [
        ([{"role": "user", "blocks": [{"type": "compress"}]}], r"messages\[0\].content"),
        ([{"role": "tool", "blocks": []}], "unknown role 'tool'"),
        ([{"role": "user", "blocks": [{"type": "image", "imageUrls": [3]}]}], r"imageUrls\[0\]"),
        ([{"role": "user", "blocks": ["x"]}], r"blocks\[0\]"),
        ([{"role": "user"}], "blocks"),
        ("x", "expected a list"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(messages: Any, where: str) -> None:
    with pytest.raises(BadInput, match=where):
        read_wave(messages)
