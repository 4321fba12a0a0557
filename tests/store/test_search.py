"""Search: words, beginnings of words, substrings, other scripts, and any text a person may type."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from octavo.core.messages import Message, Text, ToolResult, assistant, user
from octavo.store import Store
from octavo.store.parts import CHUNK, LARGE
from octavo.store.search import AROUND, MAX_QUERY, MAX_TERMS, parse
from tests.store.scenes import long_talk, talk

pytestmark = pytest.mark.anyio


async def found(store: Store, query: str, conversation: str | None = None) -> list[int]:
    """Search, and give the depths of the hits, the newest first."""
    return [hit.depth for hit in await store.search.find(query, conversation=conversation)]


async def test_words_and_their_beginnings_are_found_newest_first(store: Store) -> None:
    """FR-6.3.2."""
    await talk(
        store, "u: The compression works", "a: Compress it again", "u: nothing here", "a: COMPRESSION!"
    )
    assert await found(store, "compression") == [4, 1]
    assert await found(store, "Compress") == [4, 2, 1]
    assert await found(store, "compress again") == [2]
    assert await found(store, '"the compression"') == [1]
    assert await found(store, "absent") == []


async def test_a_search_stays_in_its_conversation_or_with_its_owner(store: Store) -> None:
    here, _ = await talk(store, "u: apple pie", owner="ann")
    there, _ = await talk(store, "u: apple tart", "a: apple", owner="bob", title="Baking")
    assert await found(store, "apple", here.id) == [1]
    hits = await store.search.find("apple", owner="bob")
    assert [(hit.conversation, hit.depth, hit.role, hit.title) for hit in hits] == [
        (there.id, 2, "assistant", "Baking"),
        (there.id, 1, "user", "Baking"),
    ]
    assert await store.search.find("apple", owner="carol") == ()
    assert len(await store.search.find("apple")) == 3


async def test_hits_come_in_pages(store: Store) -> None:
    _, branch = await long_talk(store, 12)
    first = await store.search.find("message", limit=5)
    second = await store.search.find("message", limit=5, before=first[-1].node)
    assert [hit.node for hit in (*first, *second)] == [node.id for node in reversed(branch[2:])]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们需要压缩对话历史", "压缩"),
        ("会話の履歴を圧縮する", "圧縮"),
        ("대화를 압축합니다", "압축"),
        ("ไม่มีช่องว่าง", "ช่อง"),
        ("the filename is my_report.final.pdf", "report.fin"),
        ("antidisestablishmentarianism", "establish"),
        ("see https://example.org/a/path?q=1", "example"),
        ("see https://example.org/a/path?q=1", "path"),
        ("use <strong>markup</strong> &amp; more", "strong"),
        ("mail to someone@example.org", "someone"),
        ("well-known hyphenated-words", "known"),
        ("snake_case_name", "case"),
        ("50% of it_all", "50%"),
        ("C:\\Windows\\System32", "Windows\\System32"),
        ("it's a dog's life", "dog's"),
        ("Ärger mit Öl", "ärger"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("naïve café", "café"),
        ("emoji 😀 here", "😀"),
        ('say "hello" twice', '"hello"'),
        ("a + b = c", "+"),
        ("tabs\tand\nnewlines", "and newlines"),
    ],
)
async def test_what_was_written_is_found(store: Store, text: str, query: str) -> None:
    await talk(store, f"u: {text}", "a: something else")
    assert await found(store, query) == [1]


async def test_wildcards_and_operators_are_just_characters(store: Store) -> None:
    await talk(store, "u: plain words", "a: 100% sure", "u: under_score", "a: NOT this AND that")
    assert await found(store, "%") == [2]
    assert await found(store, "_") == [3]
    assert await found(store, "NOT") == [4]
    assert await found(store, "plain OR under") == []
    assert await found(store, "words*") == [1]
    assert await found(store, "text:words") == []


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    query=st.text(max_size=30)
    | st.text("\"'*()%_\\:|&!<>-^~+{}[]@#$,;.?/= aANDORNEAR\x00\ud800é漢", max_size=60)
    | st.sampled_from(
        ['"', '""', '"a', "'", "\\", "a AND", "NEAR(", "(", "*", "^a", "{x}", "a:b", "-" * 80, "x" * 9_000]
    )
)
async def test_no_query_raises(store: Store, query: str) -> None:
    """Planted: leaving a quote in a term undoubled for FTS5, or unquoted for PostgreSQL; both failed at once."""
    if not await store.conversations.list():
        await talk(store, "u: some words", "a: (a AND b) OR NEAR(c) \"d\" 'e' 100% x_y")
    for hit in await store.search.find(query):
        for start, stop in hit.marks:
            assert 0 <= start < stop <= len(hit.snippet)


async def test_a_snippet_begins_and_ends_with_whole_words(store: Store) -> None:
    around = " ".join(f"word{i}" for i in range(100))
    unspaced = "図書館の本" * 100
    await talk(store, f"u: {around} needle {around}", f"u: {unspaced}needle{unspaced}")
    (spaced,) = [hit.snippet for hit in await store.search.find("needle")]
    (solid,) = [hit.snippet for hit in await store.search.find("本needle")]
    words = spaced.split(" ")
    assert len(words) > 20
    assert words[0] in around.split()
    assert words[-1] in around.split()
    assert len(solid) > 200


async def test_a_snippet_shows_the_words_and_where_they_are(store: Store) -> None:
    await talk(store, f"u: {'far away ' * 200}the Needle, and a needlework {'long after ' * 200}")
    (hit,) = await store.search.find("needle")
    assert len(hit.snippet) < 500
    assert [hit.snippet[a:b] for a, b in hit.marks] == ["Needle", "needle"]
    assert AROUND - len("away") <= hit.marks[0][0] <= AROUND


async def test_tool_outputs_are_searched_also_the_large_ones(store: Store) -> None:
    made, _ = await talk(store, "u: go")
    output = f"{'filler ' * CHUNK}needle {'filler ' * CHUNK}"
    small = Message(role="tool", parts=(ToolResult(call_id="a", content=(Text(text="a needle"),)),))
    large = Message(role="tool", parts=(ToolResult(call_id="b", content=(Text(text=output),)),))
    await store.messages.append_many(made.id, [small, large, assistant("done")])
    assert await found(store, "needle") == [3, 2]
    assert await found(store, "eedle") == [3, 2]
    assert await found(store, "needle", made.id) == [3, 2]
    (hit, _) = await store.search.find("needle")
    assert [hit.snippet[a:b] for a, b in hit.marks] == ["needle"]


async def test_a_message_with_the_word_many_times_is_one_hit(store: Store) -> None:
    made = await store.conversations.create()
    await store.messages.append(made.id, user("needle " * CHUNK))
    await store.messages.append(made.id, user("a needle"))
    assert await found(store, "needle") == [2, 1]


async def test_nothing_is_found_by_an_empty_query(store: Store) -> None:
    await talk(store, "u: hi")
    for query in ("", "   ", '""', "\x00"):
        assert await store.search.find(query) == ()


@pytest.mark.parametrize(
    ("text", "snippet"),
    [
        # Sixty characters before the word, a word begins: it is shown, and the one before it is not.
        ("one two " + "x" * 59 + " needle", "x" * 59 + " needle"),
        ("one two " + "x" * 60 + " needle", "needle"),
        ("one a " + "x" * 58 + " needle", "x" * 58 + " needle"),
        ("x" * 70 + "needle", "x" * 60 + "needle"),
        # A snippet of 240 characters is the whole text, or ends where a word does.
        ("needle " + "y" * 233, "needle " + "y" * 233),
        ("needle " + "y" * 234, "needle"),
        ("needle " + "y" * 226 + " z zz", "needle " + "y" * 226 + " z zz"),
        ("needle " + "y" * 231 + " z zz", "needle " + "y" * 231 + " z"),
        ("needle " + "y" * 232 + " z zz", "needle " + "y" * 232),
        ("needle" + "y" * 300, "needle" + "y" * 234),
    ],
)
async def test_a_snippet_is_cut_between_words_around_the_first_one_that_is_found(
    memory: Store, text: str, snippet: str
) -> None:
    await talk(memory, f"u: {text}")
    (hit,) = await memory.search.find("needle")
    assert hit.snippet == snippet
    start = snippet.index("needle")
    assert hit.marks == ((start, start + len("needle")),)


def test_a_query_has_so_many_terms_of_so_many_characters() -> None:
    words = [f"w{number}" for number in range(MAX_TERMS + 3)]
    assert parse(" ".join([*words, "w0"])).terms == tuple(words[:MAX_TERMS])
    assert parse("x" * (MAX_QUERY + 5)).terms == ("x" * MAX_QUERY,)
    assert parse('one "two  three" one').terms == ("one", "two  three")
    assert parse("a\x00b \ud800c").terms == ("a", "b", "c")


async def test_pages_of_one_conversation_go_on_where_the_last_one_ended(memory: Store) -> None:
    made, _ = await talk(memory, "u: needle one", "a: needle " + "z " * LARGE, "u: needle three")
    await talk(memory, "u: needle elsewhere")
    seen: list[int] = []
    before: str | None = None
    while found := await memory.search.find("needle", conversation=made.id, before=before, limit=1):
        seen += [hit.depth for hit in found]
        before = found[-1].node
    assert seen == [3, 2, 1]
