"""Conversations in and out: our own lines are an identity, other formats become trees, broken files leave nothing."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from octavo.core.recall.render import render
from octavo.errors import BadInput, NotFound, UsageError
from octavo.store import Entry, ForConversation, Format, Store, new_id
from octavo.store.parts import LARGE
from octavo.store.transfer.source import PIECE, read_values
from tests.store.scenes import fold, import_text, long_talk, passage_of, talk, texts

pytestmark = pytest.mark.anyio

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"


async def rich_conversation(store: Store) -> str:
    """Make a conversation with everything in it."""
    made, branch = await long_talk(store, 30)
    await store.messages.set_counts("words", {node.id: 2 for node in branch})
    await store.messages.append_many(
        made.id,
        [
            Entry(
                message=Message(
                    role="user", parts=(Text(text="x " * LARGE), Attachment(name="a.txt", size=3))
                )
            ),
            Entry(message=assistant("\x00 and \ud800 too"), status="aborted", model="m", input_tokens=5),
            Entry(message=user("long ago"), created="2020-02-02T02:02:02+00:00"),
        ],
    )
    side = await store.messages.append_many(made.id, [user("aside"), assistant("yes")], parent=branch[3].id)
    first = await store.snapshots.add(made.id, fold(branch, 8, branch[10]))
    await store.snapshots.edit(first.id, "edited")
    await store.snapshots.undo(first.id)
    await store.snapshots.add(made.id, fold(await store.tree.branch(side[-1].id), 5))
    await store.messages.delete(branch[20].id)
    await store.snapshots.add(made.id, fold(branch, 15))
    await store.pins.add(branch[1].id)
    await store.pins.add(branch[2].id, 1, 3)
    await store.passages.add(made.id, branch[24].id, (passage_of(branch[1], 3), passage_of(branch[4])))
    await store.passages.add(made.id, branch[22].id, (passage_of(branch[7], 0, 4),))
    await store.settings.put(ForConversation(made.id), "auto", None)
    await store.conversations.rename(made.id, "Everything “in” it")
    await store.labels.put(made.id, ["work"])
    await store.conversations.archive(made.id)
    return made.id


async def test_writing_and_reading_is_an_identity(store: Store, tmp_path: Path) -> None:
    id = await rich_conversation(store)
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    await store.export(before, [id])
    tip = (await store.conversations.get(id)).tip
    assert tip
    context = await store.snapshots.context(tip)
    with pytest.raises(UsageError, match="already here"):
        await store.import_file(before)
    await store.bin.delete(id)
    (read,) = await store.import_file(before)
    assert (read.id, read.title, read.archived) == (id, "Everything “in” it", True)
    await store.export(after, [id])
    assert after.read_bytes() == before.read_bytes()
    assert await store.snapshots.context(tip) == context
    assert await store.check() == ()


async def test_a_conversation_moves_between_the_two_databases(
    sqlite_url: str, postgres_url: str, tmp_path: Path
) -> None:
    path, back = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    async with await Store.open(sqlite_url) as here, await Store.open(postgres_url) as there:
        id = await rich_conversation(here)
        await here.export(path, [id])
        await there.import_file(path)
        await there.export(back, [id])
        assert await there.check() == ()
    assert back.read_bytes() == path.read_bytes()


async def test_with_new_ids_a_file_can_be_read_again_and_again(store: Store, tmp_path: Path) -> None:
    id = await rich_conversation(store)
    path = tmp_path / "it.jsonl"
    await store.export(path, [id])
    copies = [(await store.import_file(path, new_ids=True, owner="bob", title="Copy"))[0] for _ in range(2)]
    assert len({id, *(copy.id for copy in copies)}) == 3
    assert {(copy.owner, copy.title) for copy in copies} == {("bob", "Copy")}
    originals = [node async for node in store.tree.whole(id)]
    again = [node async for node in store.tree.whole(copies[1].id)]
    assert [node.message for node in again] == [node.message for node in originals]
    times = [(await store.tree.details([nodes[0].id]))[0].created for nodes in (originals, again)]
    assert times[0] == times[1]
    recalled = await store.passages.of_conversation(id)
    copied = await store.passages.of_conversation(copies[1].id)
    assert [*map(render, copied.values())] == [*map(render, recalled.values())] != []
    assert not {one.source for found in copied.values() for one in found} & {node.id for node in originals}
    assert await store.check() == ()


async def test_several_conversations_in_one_file(store: Store, tmp_path: Path) -> None:
    ids = [(await long_talk(store, 5))[0].id for _ in range(3)]
    path = tmp_path / "all.jsonl"
    await store.export(path, ids)
    for id in ids:
        await store.bin.delete(id)
    assert [read.id for read in await store.import_file(path)] == ids


async def test_a_file_that_was_cut_off_leaves_nothing(store: Store, tmp_path: Path) -> None:
    """Cut at 40 places: a line in the middle, or between two lines."""
    made, branch = await long_talk(store, 12)
    await store.snapshots.add(made.id, fold(branch, 6))
    path = tmp_path / "it.jsonl"
    await store.export(path, [made.id])
    await store.bin.delete(made.id)
    whole = path.read_text()
    dice = random.Random(1)
    ends = {whole.rindex("\n", 0, -1) + 1, *(dice.randrange(1, len(whole) - 2) for _ in range(40))}
    for end in sorted(ends):
        with pytest.raises(BadInput):
            await import_text(store, whole[:end])
        assert await store.conversations.list() == ()
    assert len(await import_text(store, whole)) == 1


@pytest.mark.parametrize(
    ("line", "change", "where"),
    [
        (3, {"parent": "nobody"}, "line 3"),
        (3, {"message": {"role": "user"}}, "line 3.message.parts"),
        (3, {"status": "lost"}, "line 3.status"),
        (3, {"counts": {"words": -1}}, "line 3.counts.words"),
        (3, {"created": "yesterday"}, "line 3.created"),
        (3, {"type": "poem"}, "line 3.type"),
        (14, {"cutoff_depth": 7}, "line 14"),
        (14, {"anchor_id": "nobody"}, "line 14"),
        (14, {"digest": "00" * 16}, "line 14"),
        (14, {"digest": "zz"}, "line 14"),
        (14, {"state": "asleep"}, "line 14.content"),
        (14, {"content": {"summaryText": 5}}, "line 14"),
        (15, {"message": 99}, "line 15"),
        (1, {"octavo": 99}, "line 1.octavo"),
        (1, {"tip": "nobody"}, "line 1"),
        (1, {"type": "message"}, "line 1"),
    ],
)
async def test_a_wrong_line_is_named_and_nothing_is_stored(
    store: Store, tmp_path: Path, line: int, change: dict[str, Any], where: str
) -> None:
    made, branch = await long_talk(store, 12)
    await store.snapshots.add(made.id, fold(branch, 6))
    path = tmp_path / "it.jsonl"
    await store.export(path, [made.id])
    await store.bin.delete(made.id)
    lines = path.read_text().splitlines(keepends=True)
    wrong = json.loads(lines[line - 1]) | change
    lines[line - 1] = json.dumps(wrong) + "\n"
    with pytest.raises(BadInput) as raised:
        await import_text(store, lines)
    assert raised.value.where.startswith(where)
    assert await store.conversations.list() == ()
    assert await store.check() == ()


BROKEN = {
    "empty": b"",
    "blank": b"\n  \n",
    "binary": b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe",
    "latin-1": '{"role": "user", "content": "é"}'.encode("latin-1"),
    "not json": b"hello",
    "half an object": b'{"role": "user", "content": "x"',
    "half an array": b'[{"role": "user", "content": "x"}, ',
    "array without comma": b'[{"role": "user", "content": "x"} {"role": "user", "content": "y"}]',
    "text after array": b'[{"role": "user", "content": "x"}] x',
    "empty array": b"[]",
    "number": b"42",
    "null": b"null",
    "not a number": b'{"role": "user", "content": NaN}',
    "deep": b'{"mapping": ' + b"[" * 100_000,
    "deep array": b"[" * 100_000,
    "huge number": b'{"role": "user", "content": ' + b"9" * 5_000 + b"}",
    "unknown shape": b'{"hello": "world"}',
    "second line broken": b'{"role": "user", "content": "x"}\n{"role"\n',
    "wrong role": b'{"id": 1, "parent_id": null, "role": "king", "content": "x"}',
    "no id": b'{"id": null, "parent_id": null, "role": "user", "content": "x"}',
    "unknown parent": b'{"id": 1, "parent_id": 7, "role": "user", "content": "x"}',
    "own parent": b'{"id": 1, "parent_id": 1, "role": "user", "content": "x"}',
    "loop": b'{"id": 1, "parent_id": 2, "role": "user", "content": "x"}\n'
    b'{"id": 2, "parent_id": 1, "role": "user", "content": "y"}',
    "id twice": b'{"id": 1, "parent_id": null, "role": "user", "content": "x"}\n'
    b'{"id": 1, "parent_id": null, "role": "user", "content": "y"}',
    "chatgpt without author": b'[{"mapping": {"a": {"message": {"content": {}}}}}]',
    "chatgpt loop": b'[{"mapping": {"a": {"parent": "b"}, "b": {"parent": "a"}}}]',
    "claude without sender": b'[{"chat_messages": [{"uuid": "1"}]}]',
    "claude unknown parent": b'[{"chat_messages": [{"uuid": "1", "sender": "human", "parent_message_uuid": "9"}]}]',
    "oasst with text as replies": b'{"message_tree_id": "t", "prompt": '
    b'{"message_id": "a", "role": "prompter", "text": "x", "replies": "y"}}',
}


@pytest.mark.parametrize("name", BROKEN)
async def test_broken_files_are_bad_input_and_leave_nothing(store: Store, tmp_path: Path, name: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(BROKEN[name])
    with pytest.raises(BadInput):
        await store.import_file(path)
    assert await store.conversations.list() == ()
    await talk(store, "u: still works")


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b'{"role": "user", "content": "x"}\n\n{"role": "user"\n', "line 3"),
        (b'{"id": 1, "parent_id": null, "role": "user", "content": "x"}\n{"id": 2, "parent_id": 3, "role": "user", '
         b'"content": "y"}\n', "line 2"),
        (b'[\n {"role": "user", "content": "x"},\n {"role": "king", "content": "y"}\n]', "line 2: messages[1].role"),
        (b'[\n {"role": "user", "content": "x"},\n {"role": }\n]', "line 3"),
        (b'{\n "messages": [\n  {"role": "user", "content": "x"},\n  {"role": }\n ]\n}', "line 4"),
        (b'{"messages": [{"role": "user", "content": "x"}]}\n{"messages": 5}\n', "line 2.messages"),
    ],
)  # fmt: skip
async def test_the_line_that_is_wrong_is_named(store: Store, tmp_path: Path, data: bytes, where: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(data)
    with pytest.raises(BadInput) as raised:
        await store.import_file(path)
    assert raised.value.where == where


async def test_a_file_that_is_not_there_is_a_usage_error(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        await store.import_file(tmp_path / "nowhere.json")
    with pytest.raises(UsageError, match="cannot read"):
        await store.import_file(tmp_path)
    with pytest.raises(BadInput, match="unknown format"):
        await import_text(store, "{}", format="word")  # type: ignore[arg-type]


async def read_one(store: Store, value: object, format: Format | None = None) -> list[Message]:
    (read,) = await import_text(store, json.dumps(value, indent=1), format=format)
    assert read.tip
    assert await store.check() == ()
    return [node.message for node in await store.tree.branch(read.tip)]


async def test_openai_lists_are_read(store: Store) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": '{"a":1}'}}
    said = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]
    for value in (said, {"title": "T", "messages": said}):
        read = await read_one(store, value)
        assert [message.role for message in read] == ["system", "user", "assistant", "tool"]
        assert read[2].calls == (ToolCall(id="c", name="run", input='{"a":1}', wire=read[2].calls[0].wire),)
        assert read[3].results[0].text == "done"
    assert [one.title for one in await store.conversations.list()] == ["T", ""]


async def test_one_conversation_a_line_is_read_too(store: Store) -> None:
    lines = [json.dumps({"messages": [{"role": "user", "content": f"hi {i}"}]}) + "\n" for i in range(5)]
    read = await import_text(store, lines)
    assert [texts([await store.tree.node(one.tip or "")]) for one in read] == [[f"hi {i}"] for i in range(5)]


async def test_anthropic_lists_are_read(store: Store) -> None:
    said = {
        "system": "be kind",
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "run", "input": {"a": 1}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "done"}]},
        ],
    }
    read = await read_one(store, said)
    assert [message.role for message in read][:3] == ["system", "user", "assistant"]
    assert read[2].calls[0].name == "run"
    assert read[3].results[0].text == "done"


WAVE: list[Any] = [
    {"role": "user", "blocks": [{"type": "text", "content": "Which port?"}]},
    {"role": "assistant", "blocks": [{"type": "text", "content": "8443."}]},
    {"role": "assistant", "blocks": [{"type": "compress", "content": "They chose port 8443."}]},
    {"role": "user", "blocks": [{"type": "text", "content": "Go on."}]},
]
OPENAI_WITH_BLOCK: list[Any] = [
    {"role": "user", "content": "Which port?"},
    {"role": "assistant", "content": "8443."},
    {"role": "assistant", "content": [{"type": "compress", "content": "They chose port 8443."}]},
    {"role": "user", "content": "Go on."},
]


@pytest.mark.parametrize(
    "value", [WAVE, {"messages": WAVE}, OPENAI_WITH_BLOCK], ids=["wave", "body", "openai"]
)
async def test_a_compress_block_becomes_the_snapshot_of_what_stands_before_it(
    store: Store, value: object
) -> None:
    read = await read_one(store, value)
    assert [message.text for message in read] == ["Which port?", "8443.", "Go on."]
    (listed,) = await store.conversations.list()
    assert listed.tip
    found = await store.snapshots.context(listed.tip)
    assert found.snapshot is not None
    assert (found.snapshot.summary, found.snapshot.messages) == ("They chose port 8443.", 2)
    assert [node.message.text for node in found.retained] == ["Go on."]
    await store.snapshots.undo(found.snapshot.id)
    assert len((await store.snapshots.context(listed.tip)).retained) == 3


async def test_a_block_whose_originals_were_not_kept_stands_for_its_own_words(store: Store) -> None:
    blocks = [
        {"role": "system", "content": "Be brief."},
        {"type": "compress", "content": "First part."},
        {"role": "user", "content": "More."},
        {"type": "compress", "content": "Both parts."},
        {"type": "compress", "content": "All of it."},
        {"role": "user", "content": "Go on."},
    ]
    read = await read_one(store, blocks)
    label = "[Compressed Message Summary]\n"
    assert [message.text for message in read] == [
        "Be brief.",
        f"{label}First part.",
        "More.",
        f"{label}All of it.",
        "Go on.",
    ]
    (listed,) = await store.conversations.list()
    assert listed.tip
    found = await store.snapshots.context(listed.tip)
    assert found.snapshot is not None
    assert found.snapshot.summary == "All of it."
    assert [node.message.text for node in found.leading + found.retained] == ["Be brief.", "Go on."]
    assert [one.summary for one in await store.snapshots.of_branch(listed.tip)] == [
        "First part.",
        "Both parts.",
        "All of it.",
    ]


async def test_a_wrong_message_beside_a_block_is_named_by_its_own_number(store: Store) -> None:
    wrong = [{"type": "compress", "content": "So far."}, {"role": "nobody", "content": "x"}]
    with pytest.raises(BadInput, match=r"messages\[1\].role"):
        await import_text(store, json.dumps(wrong))
    assert await store.conversations.list() == ()


async def test_plain_lines_are_a_tree_in_any_order(store: Store) -> None:
    lines: list[dict[str, Any]] = [{"id": 0, "parent_id": None, "role": "human", "content": "root"}]
    lines += [{"id": i, "parent_id": (i - 1) // 2, "role": "bot", "content": f"m{i}"} for i in range(1, 200)]
    random.Random(3).shuffle(lines)
    (read,) = await import_text(store, (json.dumps(line) + "\n" for line in lines), format="plain")
    nodes = {node.message.text: node async for node in store.tree.whole(read.id)}
    assert len(nodes) == 200
    for i in range(1, 200):
        above = "root" if i < 3 else f"m{(i - 1) // 2}"
        assert nodes[f"m{i}"].parent == nodes[above].id
    assert nodes["root"].message == user("root")
    assert await store.check() == ()


def chatgpt_node(id: str, parent: str | None, role: str, content: object, **more: object) -> dict[str, Any]:
    message = {"id": id, "author": {"role": role}, "content": content, "create_time": 1_700_000_000.5, **more}
    return {"id": id, "parent": parent, "children": [], "message": message}


def text_content(*parts: object) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}


async def test_a_chatgpt_export_is_read_as_the_tree_it_is(store: Store) -> None:
    image = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "file-service://f",
        "width": 3,
        "height": 4,
    }
    pictured = {"content_type": "multimodal_text", "parts": [image, "what is it?"]}
    about = {"attachments": [{"name": "a.pdf", "mime_type": "application/pdf", "size": 9, "id": "file-1"}]}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "hmm"}]}
    mapping: dict[str, Any] = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["sys"]},
        "sys": chatgpt_node("sys", "root", "system", text_content("")),
        "q": chatgpt_node("q", "sys", "user", pictured, metadata=about),
        "a1": chatgpt_node("a1", "q", "assistant", text_content("a cat"), metadata={"model_slug": "gpt-4o"}),
        "t": chatgpt_node("t", "q", "assistant", thoughts),
        "code": chatgpt_node(
            "code", "t", "assistant", {"content_type": "code", "text": "1+1"}, recipient="python"
        ),
        "out": chatgpt_node("out", "code", "tool", {"content_type": "execution_output", "text": "2"}),
        "a2": chatgpt_node("a2", "out", "assistant", text_content("a dog"), recipient="all"),
        "odd": chatgpt_node("odd", "a2", "assistant", {"content_type": "hologram", "beam": [1]}),
    }
    export = [
        {"title": "Pets", "create_time": 1_600_000_000, "mapping": mapping, "current_node": "odd"},
        {"title": "Empty", "mapping": {"x": {"message": None, "parent": None}}, "current_node": "x"},
    ]
    pets, empty = await import_text(store, json.dumps(export))
    assert (pets.title, pets.created[:4], pets.messages) == ("Pets", "2020", 7)
    assert (empty.messages, empty.tip) == (0, None)
    assert pets.tip
    said = [node.message for node in await store.tree.branch(pets.tip)]
    assert said[0] == Message(
        role="user",
        parts=(
            Image(source="file-service://f", width=3, height=4),
            Text(text="what is it?"),
            Attachment(name="a.pdf", media_type="application/pdf", size=9, source="file-1"),
        ),
    )
    assert said[1].parts == (Reasoning(text="hmm"),)
    assert said[2].parts == (ToolCall(id="code", name="python", input='{"code":"1+1"}'),)
    assert said[3].parts == (ToolResult(call_id="code", content=(Text(text="2"),)),)
    assert said[4] == assistant("a dog")
    (strange,) = said[5].parts
    assert isinstance(strange, Opaque)
    assert json.loads(strange.wire.fields) == {"content_type": "hologram", "beam": [1]}
    branches = {
        node.message.text for node in await store.tree.siblings((await store.search.find("cat"))[0].node)
    }
    assert branches == {"a cat", ""}
    assert (await store.tree.details([(await store.search.find("cat"))[0].node]))[0].created.startswith(
        "2023"
    )
    assert await store.check() == ()


async def test_a_claude_export_is_read(store: Store) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "name": "search", "input": {"q": "x"}},
        {"type": "tool_result", "name": "search", "content": [{"type": "text", "text": "found"}]},
        {"type": "text", "text": "Here."},
    ]
    file = {"file_name": "n.txt", "file_type": "txt", "file_size": 5, "extracted_content": "héllo"}
    messages: list[dict[str, Any]] = [
        {"uuid": "1", "sender": "human", "text": "go", "content": [], "attachments": [file]},
        {"uuid": "2", "sender": "assistant", "text": "…", "content": blocks},
        {"uuid": "3", "sender": "human", "text": "thanks"},
    ]  # fmt: skip
    export = [
        {"uuid": "c", "name": "Search", "created_at": "2024-01-02T03:04:05Z", "chat_messages": messages}
    ]
    (read,) = await import_text(store, json.dumps(export))
    assert (read.title, read.created[:10]) == ("Search", "2024-01-02")
    assert read.tip
    said = [node.message for node in await store.tree.branch(read.tip)]
    assert [message.role for message in said] == ["user", "assistant", "tool", "assistant", "user"]
    assert said[0].attachments[0].source == "data:text/plain;charset=utf-8,h%C3%A9llo"
    assert said[1].calls == (ToolCall(id="2:0", name="search", input='{"q":"x"}'),)
    assert said[2].results == (ToolResult(call_id="2:0", name="search", content=(Text(text="found"),)),)
    assert said[4] == user("thanks")


async def test_a_claude_export_with_parents_is_a_tree(store: Store) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    messages = [
        {"uuid": "1", "sender": "human", "text": "go", "parent_message_uuid": root},
        {"uuid": "2", "sender": "assistant", "text": "one", "parent_message_uuid": "1"},
        {"uuid": "3", "sender": "assistant", "text": "two", "parent_message_uuid": "1"},
    ]
    (read,) = await import_text(store, json.dumps([{"name": "", "chat_messages": messages}]))
    assert read.tip
    assert texts(await store.tree.siblings(read.tip)) == ["one", "two"]


OASST = {
    "message_id": "a", "role": "prompter", "text": "why?", "replies": [
        {"message_id": "b", "role": "assistant", "text": "so", "replies": [
            {"message_id": "d", "role": "prompter", "text": "ah"}]},
        {"message_id": "c", "role": "assistant", "text": "because", "replies": []},
    ],
}  # fmt: skip


async def test_openassistant_trees_are_read_nested_and_flat(store: Store) -> None:
    nested = {"message_tree_id": "a", "tree_state": "ready_for_export", "prompt": OASST}
    flat = [
        {"message_id": "b", "parent_id": "a", "message_tree_id": "a", "role": "assistant", "text": "so"},
        {"message_id": "z", "message_tree_id": "z", "role": "prompter", "text": "other tree"},
        {"message_id": "a", "message_tree_id": "a", "role": "prompter", "text": "why?"},
        {"message_id": "c", "parent_id": "a", "message_tree_id": "a", "role": "assistant", "text": "because"},
        {"message_id": "d", "parent_id": "b", "message_tree_id": "a", "role": "prompter", "text": "ah"},
    ]
    (one,) = await import_text(store, json.dumps(nested))
    two, other = await import_text(store, (json.dumps(line) + "\n" for line in flat))
    for read in (one, two):
        nodes = {node.message.text: node async for node in store.tree.whole(read.id)}
        assert sorted(nodes) == ["ah", "because", "so", "why?"]
        assert nodes["ah"].parent == nodes["so"].id
        assert nodes["because"].parent == nodes["so"].parent == nodes["why?"].id
    assert other.messages == 1


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")
async def test_real_openassistant_trees_are_read(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "trees.jsonl"
    path.write_bytes(gzip.decompress((DATA / "oasst1_en_trees.jsonl.gz").read_bytes()))
    read = await store.import_file(path)
    assert (len(read), sum(one.messages for one in read)) == (152, 1_855)
    assert await store.check() == ()


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")
async def test_real_agent_runs_are_read_and_written_again(store: Store, tmp_path: Path) -> None:
    path, out = tmp_path / "runs.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(gzip.decompress((DATA / "agent_tau_airline.jsonl.gz").read_bytes()))
    read = await store.import_file(path)
    assert len(read) == 20
    assert await store.check() == ()
    await store.export(out, [one.id for one in read])
    again = await store.import_file(out, new_ids=True)
    assert [one.messages for one in again] == [one.messages for one in read]


def test_an_array_larger_than_what_is_read_at_once_comes_element_by_element(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    values = [{"i": i, "text": "x" * (i * 50_000)} for i in range(30)]
    path.write_text(json.dumps(values, indent=2))
    assert path.stat().st_size > 10 * PIECE
    read = list(read_values(path))
    assert [one.value for one in read] == values
    assert [one.line for one in read[:3]] == [2, 6, 10]


async def test_a_broken_conversation_at_the_end_of_a_long_file_leaves_nothing(store: Store) -> None:
    chain = (
        {"id": i, "parent_id": i - 1 if i else None, "role": "user", "content": "x"} for i in range(3_000)
    )
    lines = [json.dumps(line) + "\n" for line in chain]
    lines.append('{"id": "last", "parent_id": "nobody", "role": "user", "content": "x"}\n')
    with pytest.raises(BadInput, match="line 3001: the parent 'nobody'"):
        await import_text(store, lines)
    assert await store.conversations.list() == ()
    assert await store.search.find("x") == ()


async def test_an_export_that_fails_leaves_no_file_and_the_old_one_alone(
    store: Store, tmp_path: Path
) -> None:
    made, _ = await talk(store, "u: hi")
    path = tmp_path / "x.jsonl"
    with pytest.raises(NotFound):
        await store.export(path, [made.id, new_id()])
    assert not path.exists()
    await store.export(path, [made.id])
    before = path.read_bytes()
    with pytest.raises(NotFound):
        await store.export(path, [new_id()])
    assert path.read_bytes() == before
    with pytest.raises(UsageError, match="cannot write"):
        await store.export(tmp_path / "no" / "x.jsonl", [made.id])


PASSAGE = {"source": "a", "depth": 1, "channel": "user", "text": "one", "part": 0, "start": 0}


@pytest.mark.parametrize(
    ("change", "where", "problem"),
    [
        ({"source": "z"}, "line 4", "which is not above its message"),
        ({"source": "b"}, "line 4", "which is not above its message"),
        ({"depth": 7}, "line 4", "a passage's depth is 7, its source's 1"),
        ({"channel": "boss"}, "channel", "unknown channel 'boss'"),
        ({"text": 3}, "text", "expected"),
        ({"start": -1}, "start", ""),
    ],
)
async def test_wrong_passages_are_named_and_nothing_is_stored(
    store: Store, change: dict[str, object], where: str, problem: str
) -> None:
    ids = {"a": new_id(), "b": new_id(), "z": new_id()}
    passage = {**PASSAGE, **change}
    passage["source"] = ids[str(passage["source"])]
    lines: list[dict[str, object]] = [
        {"type": "conversation", "octavo": 2, "id": new_id()},
        {
            "type": "message",
            "id": ids["a"],
            "message": {"role": "user", "parts": [{"type": "text", "text": "one"}]},
        },
        {
            "type": "message",
            "id": ids["b"],
            "parent": ids["a"],
            "message": {"role": "user", "parts": [{"type": "text", "text": "two"}]},
        },
        {"type": "recalled", "node": ids["b"], "passages": [passage]},
        {"type": "end", "message": 2, "recalled": 1},
    ]
    with pytest.raises(BadInput) as wrong:
        await import_text(store, "".join(json.dumps(line) + "\n" for line in lines))
    assert where in str(wrong.value)
    assert problem in str(wrong.value)
    assert await store.conversations.list() == ()
