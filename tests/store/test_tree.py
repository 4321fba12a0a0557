"""Conversations and messages: appended, forked, edited, read back as they were."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from octavo.core.json_values import compact
from octavo.core.message_json import dump
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Wire,
    assistant,
    system,
    user,
)
from octavo.errors import BadInput, NotFound, NotOnBranch, UsageError
from octavo.store import Entry, ForConversation, Store, insertion, new_id
from octavo.store.connection import Connection, SyncConnection
from octavo.store.parts import HEAD, LARGE
from octavo.store.sqlite import Sqlite
from tests.store.scenes import beside, digests, fold, long_talk, talk, texts

pytestmark = pytest.mark.anyio


async def test_a_new_conversation_is_empty(store: Store) -> None:
    made = await store.conversations.create("Plans", owner="ann")
    assert (made.title, made.owner, made.tip, made.messages, made.archived) == (
        "Plans",
        "ann",
        None,
        0,
        False,
    )
    assert (made.revision, made.deleted) == (0, False)
    assert not await store.titles.is_provisional(made.id), "somebody chose its title"
    assert await store.conversations.get(made.id) == made
    assert [node async for node in store.tree.whole(made.id)] == []


async def test_messages_are_appended_below_the_tip_and_become_it(store: Store) -> None:
    made = await store.conversations.create()
    first = await store.messages.append(made.id, user("hi"), counts={"words": 1})
    second = await store.messages.append(
        made.id, assistant("hello"), model="m", input_tokens=9, output_tokens=1
    )
    assert (first.parent, first.depth, second.parent, second.depth) == (None, 1, first.id, 2)
    assert await store.tree.branch(second.id) == (first, second)
    after = await store.conversations.get(made.id)
    assert (after.tip, after.messages) == (second.id, 2)
    assert (await store.check()) == ()


async def test_counts_are_kept_for_each_tokenizer_and_usage_as_the_provider_reported_it(store: Store) -> None:
    """FR-1.1.4."""
    made, (asked,) = await talk(store, "u: one two")
    answered = await store.messages.append(made.id, assistant("three"), input_tokens=120, output_tokens=30)
    await store.messages.set_counts("words", {asked.id: 2, answered.id: 1})
    await store.messages.set_counts("letters", {asked.id: 7})
    await store.messages.set_counts("words", {asked.id: 3})
    assert [node.counts for node in await store.tree.branch(answered.id, tokenizer="words")] == [
        {"words": 3},
        {"words": 1},
    ]
    assert [node.counts for node in await store.tree.branch(answered.id, tokenizer="letters")] == [
        {"letters": 7},
        {},
    ]
    (known,) = await store.tree.details([answered.id])
    assert (known.conversation, known.input_tokens, known.output_tokens) == (made.id, 120, 30)
    named = await store.messages.append(made.id, assistant("four"), model="gpt-4o")
    models = [one.model for one in await store.tree.details([answered.id, named.id])]
    assert models == ["", "gpt-4o"]
    for wrong in ({asked.id: -1}, {asked.id: 0, answered.id: -2}):
        with pytest.raises(BadInput, match="0 tokens or more"):
            await store.messages.set_counts("words", wrong)
    await store.messages.set_counts("words", {asked.id: 0})
    assert (await store.tree.node(asked.id, tokenizer="words")).counts == {"words": 0}


async def test_an_edit_and_another_answer_are_siblings(store: Store) -> None:
    made, (asked, answered) = await talk(store, "u: color?", "a: blue")
    edited = await beside(store, asked, user("colour?"))
    again = await beside(store, answered, assistant("green"))
    assert (edited.parent, edited.depth) == (None, 1)
    assert (again.parent, again.depth) == (asked.id, 2)
    assert [node.id for node in await store.tree.siblings(asked.id)] == [asked.id, edited.id]
    assert [node.id for node in await store.tree.siblings(again.id)] == [answered.id, again.id]
    assert texts(await store.tree.branch(again.id)) == ["color?", "green"]
    assert (await store.conversations.get(made.id)).tip == again.id
    places = await store.tree.details([again.id, edited.id])
    assert [(one.sibling, one.siblings) for one in places] == [(2, 2), (2, 2)]


async def test_siblings_and_tips_come_in_pages(store: Store) -> None:
    made, (asked,) = await talk(store, "u: how?")
    answers = [
        (await store.messages.append(made.id, assistant(f"so {i}"), parent=asked.id)).id for i in range(7)
    ]
    assert [node.id for node in await store.tree.siblings(answers[3])] == answers
    assert [node.id for node in await store.tree.siblings(answers[3], limit=3)] == answers[:3]
    assert [node.id for node in await store.tree.siblings(asked.id)] == [asked.id]
    for i, id in enumerate(answers):
        after = await store.tree.siblings(id, after=id, limit=2)
        before = await store.tree.siblings(id, before=id, limit=2)
        assert [node.id for node in after] == answers[i + 1 : i + 3]
        assert [node.id for node in before] == answers[max(0, i - 2) : i]
    deeper = await store.messages.append(made.id, user("ah"), parent=answers[2])
    tips = [*answers[:2], *answers[3:], deeper.id]
    assert [node.id for node in await store.tree.tips(made.id)] == tips
    assert [node.id for node in await store.tree.tips(made.id, after=tips[1], limit=3)] == tips[2:5]
    assert await store.tree.tips((await store.conversations.create()).id) == ()
    roots = [(await store.messages.append(made.id, user("again"), parent=None)).id for _ in range(2)]
    assert [node.id for node in await store.tree.siblings(roots[1], before=roots[1], limit=1)] == [roots[0]]
    assert [(d.sibling, d.siblings) for d in await store.tree.details([asked.id, *roots])] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]


@pytest.mark.parametrize("call", ["siblings", "details", "tips", "branch"])
async def test_ten_times_as_many_siblings_are_ten_times_the_work(sqlite_url: str, call: str) -> None:
    """Counted in steps of the database's machine. Found when 10,000 took 16 seconds: each counted all the others."""
    async with await Store.open(sqlite_url) as store:
        steps = count_steps(store)

        async def work(count: int) -> int:
            made, (asked,) = await talk(store, "u: how?")
            answers = [Entry(message=assistant(f"so {i}")) for i in range(count)]
            last = [
                (await store.messages.append_many(made.id, [one], parent=asked.id))[0].id for one in answers
            ]
            await store.tree.nodes([asked.id])
            steps.clear()
            match call:
                case "siblings":
                    assert len(await store.tree.siblings(last[0], limit=count)) == count
                case "details":
                    assert {one.siblings for one in await store.tree.details(last)} == {count}
                case "tips":
                    assert len(await store.tree.tips(made.id, limit=count)) == count
                case "branch":
                    assert len(await store.tree.details([asked.id, last[-1]])) == 2
            return steps.total()

        few, many = await work(60), await work(600)
        assert many < 15 * few


@pytest.mark.parametrize("call", ["on_branch", "stretch", "pins", "snapshots"])
async def test_what_stands_close_to_the_tip_is_found_in_as_many_steps_however_long_the_branch_is(
    sqlite_url: str, call: str
) -> None:
    async with await Store.open(sqlite_url) as store:
        steps = count_steps(store)

        async def work(length: int) -> int:
            made, branch = await long_talk(store, length)
            near, tip = branch[-5], branch[-1].id
            await store.pins.add(near.id)
            await store.snapshots.add(made.id, fold(branch, length - 6, near))
            for _ in range(2):
                # The first time, statements are prepared.
                steps.clear()
                match call:
                    case "on_branch":
                        assert await store.tree.on_branch(tip, [near.id]) == {near.id}
                    case "stretch":
                        above = near.depth - 1
                        assert await store.tree.stretch(tip, above=above, stop=near.depth) == (near,)
                    case "pins":
                        assert len(await store.pins.of_branch(tip)) == 1
                    case "snapshots":
                        assert len(await store.snapshots.of_branch(tip)) == 1
            return steps.total()

        few, many = await work(40), await work(400)
        assert many < 2 * few


def count_steps(store: Store) -> Counter[str]:
    """Count what SQLite does for readers from now on, in steps of ten instructions."""
    steps = Counter[str]()
    driver = store._database._driver
    assert isinstance(driver, Sqlite)

    def tick() -> int:
        steps["ten"] += 1
        return 0

    @event.listens_for(driver._reader, "checkout")
    def watch(connection: Any, *_: object) -> None:
        connection.set_progress_handler(tick, 10)

    return steps


async def test_siblings_between_two_others_are_found(memory: Store) -> None:
    made, (asked,) = await talk(memory, "u: how?")
    answers = [
        (await memory.messages.append(made.id, assistant(f"so {i}"), parent=asked.id)).id for i in range(6)
    ]
    found = await memory.tree.siblings(answers[0], after=answers[0], before=answers[5], limit=3)
    assert [node.id for node in found] == answers[1:4]


async def test_a_long_text_is_shown_by_its_beginning_to_those_who_look_and_read_whole_otherwise(
    memory: Store,
) -> None:
    made, (node,) = await talk(memory, "u: " + "long " * LARGE)
    tree = memory.tree
    looks = [*await tree.siblings(node.id), *await tree.tips(made.id), *await tree.page(node.id)]
    looks += [shown async for shown in tree.whole(made.id)]
    assert {len(shown.message.text) for shown in looks} == {len(looks[0].message.text)}
    assert len(looks[0].message.text) < HEAD + 100
    reads = [await tree.node(node.id), *await tree.branch(node.id)]
    reads += [*await tree.stretch(node.id, above=0, stop=1)]
    assert reads == [node] * 3


async def test_siblings_of_a_root_stay_within_their_conversation(store: Store) -> None:
    _, (one,) = await talk(store, "u: here")
    await talk(store, "u: elsewhere")
    assert [node.id for node in await store.tree.siblings(one.id)] == [one.id]


async def test_a_message_can_be_appended_anywhere_without_moving_the_tip(store: Store) -> None:
    made, branch = await long_talk(store, 6)
    side = await store.messages.append(made.id, user("aside"), parent=branch[2].id, select=False)
    assert side.depth == 4
    assert (await store.conversations.get(made.id)).tip == branch[-1].id
    assert await store.tree.newest_below(branch[2].id) == side.id
    assert await store.tree.newest_below(branch[4].id) == branch[5].id


async def test_the_tip_moves_only_from_where_it_was_seen(store: Store) -> None:
    made, branch = await long_talk(store, 4)
    assert await store.conversations.move_tip(made.id, branch[1].id, expected=branch[3].id)
    assert not await store.conversations.move_tip(made.id, branch[2].id, expected=branch[3].id)
    assert (await store.conversations.get(made.id)).tip == branch[1].id
    assert await store.conversations.move_tip(made.id, None, expected=branch[1].id.upper())
    assert not await store.conversations.move_tip(made.id, branch[0].id, expected=branch[1].id)
    assert await store.conversations.move_tip(made.id, branch[0].id, expected=None)
    assert await store.conversations.move_tip(made.id, None, expected=branch[0].id)
    assert (await store.messages.append(made.id, user("new root"))).parent is None


async def test_two_movers_of_a_tip_cannot_both_win(store: Store) -> None:
    made, branch = await long_talk(store, 4)
    won = await asyncio.gather(
        *(store.conversations.move_tip(made.id, node.id, expected=branch[-1].id) for node in branch[:3])
    )
    assert sorted(won) == [False, False, True]


async def test_appends_of_one_process_queue_up(store: Store) -> None:
    made = await store.conversations.create()
    nodes = await asyncio.gather(*(store.messages.append(made.id, user(f"m{i}")) for i in range(40)))
    assert sorted(node.depth for node in nodes) == list(range(1, 41))
    tip = (await store.conversations.get(made.id)).tip
    assert tip is not None
    assert {node.id for node in await store.tree.branch(tip)} == {node.id for node in nodes}


async def test_pages_go_upward_from_a_tip(store: Store) -> None:
    _, branch = await long_talk(store, 25)
    seen: list[str] = []
    tip: str | None = branch[-1].id
    while tip:
        page = await store.tree.page(tip, limit=10)
        assert len(page) == min(10, page[-1].depth)
        seen = [node.id for node in page] + seen
        tip = page[0].parent
    assert seen == [node.id for node in branch]


async def test_the_whole_tree_comes_parents_first(store: Store) -> None:
    made, branch = await long_talk(store, 30)
    for node in branch[::5]:
        await store.messages.append(made.id, user(f"fork at {node.depth}"), parent=node.id)
    nodes = [node async for node in store.tree.whole(made.id)]
    assert len(nodes) == 36
    seen: set[str | None] = {None}
    for node in nodes:
        assert node.parent in seen
        seen.add(node.id)


async def test_conversations_are_listed_by_owner_title_and_archive(store: Store) -> None:
    first, _ = await talk(store, "u: a", title="Blue 100%", owner="ann")
    second, _ = await talk(store, "u: b", title="green", owner="ann")
    other, _ = await talk(store, "u: c", title="red", owner="bob")
    assert [one.id for one in await store.conversations.list()] == [other.id, second.id, first.id]
    assert [one.id for one in await store.conversations.list(owner="ann", limit=1, offset=1)] == [first.id]
    assert [one.id for one in await store.conversations.list(title="e 100%")] == [first.id]
    assert await store.conversations.list(title="_%") == ()
    await store.conversations.archive(second.id)
    assert (await store.conversations.rename(first.id, "Navy")).title == "Navy"
    assert [one.title for one in await store.conversations.list(owner="ann")] == ["Navy"]
    assert [one.id for one in await store.conversations.list(archived=True)] == [second.id]
    assert len(await store.conversations.list(archived=None)) == 3
    assert not (await store.conversations.archive(second.id, archived=False)).archived


async def test_the_longest_known_prefix_is_found_by_content_and_owner(store: Store) -> None:
    said = [user("hi"), assistant("hello"), user("how?"), assistant("so")]
    made = await store.conversations.create(owner="ann")
    branch = await store.messages.append_many(made.id, said)
    asked = [*said[:3], assistant("otherwise"), user("new")]
    assert await store.tree.find_prefix(digests(asked), owner="ann") == branch[2]
    assert await store.tree.find_prefix(digests(said), owner="ann") == branch[3]
    assert await store.tree.find_prefix(digests(asked), owner="bob") is None
    assert await store.tree.find_prefix(digests([user("unknown")]), owner="ann") is None
    assert await store.tree.find_prefix([], owner="ann") is None


async def test_a_long_prefix_is_found_wherever_it_ends_and_an_unknown_one_takes_few_reads(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"{'ua'[number % 2]}: message {number}" for number in range(60)]
    _, branch = await talk(store, *lines, owner="ann")
    said = [node.message for node in branch]
    for shared in (1, 15, 16, 17, 40, 60):
        asked = [*said[:shared], *(user(f"other {number}") for number in range(120))]
        assert await store.tree.find_prefix(digests(asked), owner="ann") == branch[shared - 1]
    reads = 0

    async def counted(self: Connection, *given: Any) -> Any:
        nonlocal reads
        reads += 1
        return await scalar(self, *given)

    scalar: Any = SyncConnection.scalar
    monkeypatch.setattr(SyncConnection, "scalar", counted)
    unknown = digests([user(f"new {number}") for number in range(240)])
    for length in (33, 240):
        reads = 0
        assert await store.tree.find_prefix(unknown[:length], owner="ann") is None
        assert reads <= 2
    reads = 0
    assert await store.tree.find_prefix([*digests(said[:2]), *unknown[:18]], owner="ann") == branch[1]
    assert reads <= 2
    again = await store.conversations.create(owner="ann")
    (copy,) = await store.messages.append_many(again.id, said[:1])
    assert await store.tree.find_prefix(digests(said), owner="ann", conversation=again.id) == copy
    assert await store.tree.find_prefix(digests(said), owner="bob", conversation=again.id) is None


async def test_a_prefix_is_found_far_above_the_end(store: Store) -> None:
    _, branch = await long_talk(store, 10)
    said = [node.message for node in branch[:4]] + [user(f"new {i}") for i in range(60)]
    assert await store.tree.find_prefix(digests(said)) == branch[3]


async def test_a_deleted_message_is_no_longer_recognised(store: Store) -> None:
    made, branch = await long_talk(store, 4)
    await store.messages.delete(branch[1].id)
    below = await store.messages.append(made.id, user("later"))
    said = digests([*(node.message for node in branch), user("later")])
    assert await store.tree.find_prefix(said) == branch[0]
    assert below.depth == 5
    assert (await store.check()) == ()


async def test_an_append_repeated_with_its_id_is_stored_once(store: Store) -> None:
    made = await store.conversations.create()
    id = new_id()
    first = await store.messages.append(made.id, user("once"), id=id)
    assert await store.messages.append(made.id, user("once"), id=id) == first
    assert (await store.conversations.get(made.id)).messages == 1
    with pytest.raises(UsageError, match="taken by another message"):
        await store.messages.append(made.id, user("twice"), id=id)
    other = await store.conversations.create()
    with pytest.raises(UsageError, match="taken by another message"):
        await store.messages.append(other.id, user("once"), id=id)


async def test_a_conversation_can_be_made_with_an_id_of_ones_own(store: Store) -> None:
    id = new_id()
    made = await store.conversations.create("mine", owner="ann", id=id)
    assert made.id == id
    assert await store.conversations.create("again", owner="ann", id=id) == made
    with pytest.raises(UsageError, match="taken"):
        await store.conversations.create("theirs", owner="bob", id=id)


async def test_two_that_make_the_same_conversation_at_the_same_time_both_get_it(store: Store) -> None:
    id = new_id()
    made = await asyncio.gather(*(store.conversations.create("Plans", id=id) for _ in range(6)))
    assert {one.id for one in made} == {id}
    assert len(await store.conversations.list()) == 1


async def test_a_message_being_written_is_finished_once(store: Store) -> None:
    made, (asked,) = await talk(store, "u: question")
    begun = await store.answers.begin(made.id, Entry(message=assistant("")), parent=asked.id, worker="writer")
    with pytest.raises(UsageError, match="still being written"):
        await store.messages.append(made.id, user("impatient"), parent=begun.anchor)
    answer = Entry(message=assistant("answer"), counts={"words": 1}, output_tokens=3)
    finished = await store.answers.finish(begun, answer)
    assert finished
    (done,) = finished.nodes
    assert (done.id, done.depth, done.status) == (begun.anchor, 2, "complete")
    assert await store.tree.node(begun.anchor, tokenizer="words") == done
    assert await store.answers.finish(begun, Entry(message=assistant("another"))) is None
    await store.messages.append(made.id, user("next"))
    assert (await store.check()) == ()


async def test_ids_may_be_written_with_dashes(store: Store) -> None:
    _, (one,) = await talk(store, "u: hi")
    dashed = f"{one.id[:8]}-{one.id[8:12]}-{one.id[12:16]}-{one.id[16:20]}-{one.id[20:]}".upper()
    assert await store.tree.node(dashed) == one
    spaced = " ".join(one.id[at : at + 2] for at in range(0, 32, 2))
    for wrong in (spaced, "g" * 32):
        with pytest.raises(NotFound, match="an id is 32 hexadecimal digits"):
            await store.tree.branch(wrong)


@pytest.mark.parametrize(
    "id", ["0" * 32, "g" * 32, "0f " * 16, "", "m1", "x" * 10_000, "' OR 1=1 --", "\x00", "\ud800"]
)
async def test_an_unknown_id_is_not_found_whatever_it_looks_like(store: Store, id: str) -> None:
    made, (one,) = await talk(store, "u: hi")
    for call in (
        store.tree.node(id),
        store.tree.branch(id),
        store.snapshots.context(id),
        store.tree.page(id),
        store.tree.siblings(id),
        store.tree.newest_below(id),
        store.conversations.get(id),
        store.messages.append(id, user("x")),
        store.messages.append(made.id, user("x"), parent=id),
        store.conversations.move_tip(made.id, id, expected=one.id),
        store.messages.delete(id),
        store.bin.delete(id),
        store.conversations.fork(id),
        store.snapshots.get(id),
        store.jobs.get(id),
        store.pins.add(id),
        store.conversations.rename(id, "x"),
    ):
        with pytest.raises(NotFound):
            await call
    assert await store.tree.node(one.id) == one


async def test_ids_of_another_conversation_are_refused(store: Store) -> None:
    here, _ = await talk(store, "u: here")
    _, (there,) = await talk(store, "u: there")
    with pytest.raises(NotOnBranch, match="another conversation"):
        await store.messages.append(here.id, user("x"), parent=there.id)
    with pytest.raises(NotOnBranch, match="another conversation"):
        await store.conversations.move_tip(
            here.id, there.id, expected=(await store.conversations.get(here.id)).tip
        )
    assert (await store.check()) == ()


RICH = Message(
    role="assistant",
    name="Ada",
    parts=(
        Reasoning(text="hmm"),
        Text(text="Let me look.\n"),
        Image(source="https://example.org/a.png", width=3, height=4),
        Attachment(name="notes.txt", media_type="text/plain", size=12, source="file-1"),
        ToolCall(id="c1", name="run", input='{"a": 1}', wire=Wire("openai", '{"index":0}')),
        ToolResult(call_id="c1", content=(Text(text="done"), Text(text="")), error=True),
        Opaque(kind="new", wire=Wire("openai", "{}")),
        Text(text="Ready."),
    ),
    wire=Wire("openai", '{"refusal":null}'),
)


async def test_a_message_with_every_kind_of_part_comes_back_as_it_was(store: Store) -> None:
    made, _ = await talk(store, "u: go")
    node = await store.messages.append(made.id, RICH)
    assert (await store.tree.node(node.id)).message == RICH
    (file,) = await store.tree.files(made.id)
    assert (file.node, file.depth, file.attachment.name, file.attachment.size) == (
        node.id,
        2,
        "notes.txt",
        12,
    )
    assert (await store.check()) == ()


async def test_files_are_listed_in_the_order_they_came_in_also_those_that_a_tool_gave(memory: Store) -> None:
    made, _ = await talk(memory, "u: go")
    given = (Attachment(name="c.txt", size=3), Text(text="see"), Attachment(name="d.txt"))
    result = ToolResult(call_id="c1", content=given)
    call = ToolCall(id="c1", name="run", input="{}")
    said = [
        Message(role="user", parts=(Attachment(name="a.txt"), Text(text="and"), Attachment(name="b.txt"))),
        Message(role="assistant", parts=(call,)),
        Message(role="tool", parts=(result,)),
    ]
    nodes = await memory.messages.append_many(made.id, said)
    found = [(file.attachment.name, file.depth, file.node) for file in await memory.tree.files(made.id)]
    first, last = nodes[0].id, nodes[2].id
    assert found == [
        ("a.txt", 2, first),
        ("b.txt", 2, first),
        ("c.txt", 4, last),
        ("d.txt", 4, last),
    ]


ANY = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=40),
    st.text("\x00\x1a01d8;a\ud800\udc00é", max_size=20),
    st.sampled_from(["\x1a0;", "x\x1ad800;y", "\x1a1a;0;", "\x1a", '{"large":0}', "\n", ""]),
)
HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
PART = st.one_of(
    st.builds(Text, text=ANY),
    st.builds(Reasoning, text=ANY),
    st.builds(ToolCall, id=ANY, name=ANY, input=ANY, wire=st.none() | st.builds(Wire, ANY, ANY)),
    st.builds(ToolResult, call_id=ANY, content=st.tuples(st.builds(Text, text=ANY))),
    st.builds(Attachment, name=ANY, media_type=ANY, source=ANY),
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(parts=st.lists(st.lists(PART, max_size=4), min_size=1, max_size=8))
async def test_any_text_at_all_comes_back_as_it_was(store: Store, parts: list[list[Text]]) -> None:
    """NUL, lone surrogates, control characters, on both databases.

    Planted: leaving `\\x1a` itself unescaped in `schema.storable`; a text that looks like an escape then failed.
    """
    made = await store.conversations.create()
    said = [Message(role="user", parts=tuple(one)) for one in parts]
    nodes = await store.messages.append_many(made.id, said)
    stored = await store.tree.branch(nodes[-1].id)
    assert stored == nodes
    for node, message in zip(stored, said, strict=True):
        # Only a character that came in two halves is not as it was: it is joined.
        if not HALVES.search(compact(dump(message))):
            assert node.message == message


async def test_a_character_in_two_halves_is_joined(store: Store) -> None:
    made = await store.conversations.create()
    node = await store.messages.append(made.id, user("so \ud83d\ude00 good \ud83d"))
    assert node.message.text == "so \U0001f600 good \ud83d"
    assert (await store.tree.node(node.id)) == node


async def test_a_message_of_20_megabytes_is_stored_whole_and_listed_cheaply(store: Store) -> None:
    made = await store.conversations.create()
    words = "naïve words and more " * 1_000_000
    node = await store.messages.append(made.id, user(words))
    assert (await store.tree.node(node.id)).message.text == words
    (shown,) = await store.tree.page(node.id)
    assert len(shown.message.text) < HEAD + 100
    assert shown.message.text.startswith(words[:HEAD])


async def test_a_large_tool_output_is_kept_apart_and_comes_back_whole(store: Store) -> None:
    """Case 68: the full text is retrievable, also when it is one line of a megabyte."""
    made, _ = await talk(store, "u: run it")
    output = "x" * 1_200_000 + "\x00 needle \ud800"
    result = ToolResult(call_id="c", content=(Text(text="short"), Text(text=output)))
    call = Message(role="assistant", parts=(ToolCall(id="c", name="run", input="{}"),))
    nodes = await store.messages.append_many(
        made.id, [call, Message(role="tool", parts=(result,)), assistant("ok")]
    )
    assert (await store.tree.branch(nodes[-1].id))[1:] == nodes
    shown = (await store.tree.branch(nodes[-1].id, previews=True))[2].message.results[0]
    assert shown.content[0] == Text(text="short")
    assert "more characters are stored" in shown.text
    assert (await store.snapshots.context(nodes[-1].id)).retained[1:] == nodes
    assert (await store.check()) == ()


async def test_many_middling_texts_in_one_message_fit_too(store: Store) -> None:
    made = await store.conversations.create()
    parts = tuple(Text(text=f"{i} " * (LARGE // 4)) for i in range(12))
    node = await store.messages.append(made.id, Message(role="user", parts=parts))
    assert (await store.tree.node(node.id)).message.parts == parts


async def test_a_branch_20000_deep_is_no_problem(store: Store) -> None:
    """Case 34, twice over."""
    made = await store.conversations.create()
    nodes = await store.messages.append_many(made.id, [user(f"m{i}") for i in range(20_000)])
    assert nodes[-1].depth == 20_000
    assert await store.tree.on_branch(nodes[-1].id, [nodes[0].id, nodes[12_345].id]) == {
        nodes[0].id,
        nodes[12_345].id,
    }
    branch = await store.tree.branch(nodes[-1].id)
    assert len(branch) == 20_000
    assert branch[17_777] == nodes[17_777]
    await store.messages.delete(nodes[10].id, subtree=True)
    assert (await store.conversations.get(made.id)).messages == 10


@pytest.mark.parametrize("rows", [1, 2, 3])
async def test_messages_are_stored_with_all_that_belongs_to_them_however_few_rows_go_at_once(
    memory: Store, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(insertion, "BATCH", rows)
    made = await memory.conversations.create()
    said = [
        Message(role="user", parts=(Text(text="x" * (LARGE + n)), Attachment(name=f"{n}"))) for n in range(5)
    ]
    entries = [Entry(message=one, counts={"words": n}) for n, one in enumerate(said)]
    nodes = await memory.messages.append_many(made.id, entries)
    found = await memory.tree.branch(nodes[-1].id, tokenizer="words")
    assert [(node.message, node.counts) for node in found] == [(one.message, one.counts) for one in entries]
    assert [file.attachment.name for file in await memory.tree.files(made.id)] == [f"{n}" for n in range(5)]
    assert await memory.check() == ()


async def test_appending_nothing_changes_nothing(memory: Store) -> None:
    made, branch = await long_talk(memory, 2)
    assert await memory.messages.append_many(made.id, []) == ()
    after = await memory.conversations.get(made.id)
    assert (after.tip, after.messages) == (branch[-1].id, 2)


async def test_a_conversation_is_recorded_with_its_settings_and_goes_on_being_recorded(memory: Store) -> None:
    id, said = new_id(), [user("hi"), assistant("hello")]
    first = await memory.messages.record(id, said, title="Mine", owner="ann", values={"auto": False})
    assert [node.message for node in first] == said
    assert await memory.settings.of_scope(ForConversation(id)) == {"auto": False}
    again = await memory.messages.record(id, said, title="Other", owner="ann")
    found = await memory.conversations.get(id)
    assert (found.title, found.owner, found.messages, found.tip) == ("Mine", "ann", 4, again[-1].id)
    assert again[0].parent is None
    assert await memory.settings.of_scope(ForConversation(id)) == {"auto": False}


async def test_wrong_values_are_bad_input_and_the_next_call_works(store: Store) -> None:
    made = await store.conversations.create()
    for call in (
        store.messages.append(made.id, "just a string"),  # type: ignore[arg-type]
        store.messages.append(made.id, user("x"), input_tokens=-1),
        store.messages.append(made.id, user("x"), counts={"words": -3}),
        store.messages.append(made.id, user("x"), output_tokens=2**80),
    ):
        with pytest.raises(BadInput):
            await call
    none = await store.messages.append(made.id, user("fine"), input_tokens=0, output_tokens=0)
    (known,) = await store.tree.details([none.id])
    assert (none.depth, known.input_tokens, known.output_tokens) == (1, 0, 0)


async def test_system_messages_are_messages_too(store: Store) -> None:
    made = await store.conversations.create()
    nodes = await store.messages.append_many(made.id, [system("be kind"), user("hi")])
    assert await store.tree.branch(nodes[-1].id) == nodes


async def test_a_stretch_of_a_branch_is_read_by_depth_whatever_lies_beside_it(store: Store) -> None:
    made = await store.conversations.create()
    branch = await store.messages.append_many(made.id, [user(f"m{n}") for n in range(50)])
    beside = await store.messages.append_many(
        made.id, [user(f"b{n}") for n in range(50)], parent=branch[19].id
    )
    here = (*branch[:20], *beside)
    for above, stop in ((0, 70), (0, 1), (5, 25), (69, 70), (30, 30), (70, 75)):
        assert await store.tree.stretch(here[-1].id, above=above, stop=stop) == here[above:stop]
    pages = [page async for page in store.tree.pages(here[-1].id, above=3, stop=61, size=20)]
    assert [len(page) for page in pages] == [20, 20, 18]
    assert sum(pages, ()) == here[3:61]
    with pytest.raises(NotFound):
        _ = [page async for page in store.tree.pages(new_id(), above=0, stop=10)]


async def test_the_size_of_a_branch_leaves_out_what_is_never_sent_and_tells_what_was_not_counted(
    store: Store,
) -> None:
    made = await store.conversations.create()
    entries = [
        Entry(
            message=user(f"m{n}"),
            counts={"words": n} if n != 7 else {},
            status="error" if n == 8 else "complete",
        )
        for n in range(10)
    ]
    branch = await store.messages.append_many(made.id, entries)
    assert await store.tree.size(branch[-1].id, above=4, tokenizer="words") == (4 + 5 + 6 + 9, 1)
    assert await store.tree.size(branch[-1].id, above=8, tokenizer="words") == (9, 0)


async def test_system_messages_at_the_beginning_lead(store: Store) -> None:
    made = await store.conversations.create()
    said = [*(system(f"s{n}") for n in range(11)), user("hi"), system("late")]
    branch = await store.messages.append_many(made.id, said)
    assert await store.tree.leading(branch[-1].id) == branch[:11]
    assert await store.tree.leading(branch[4].id) == branch[:5]
