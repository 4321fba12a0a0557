"""The shipped fakes."""

from __future__ import annotations

import asyncio

import pytest

from octavo.core.context import Context
from octavo.core.messages import assistant, user
from octavo.core.reply import Chunk, Delta, Reply, Request
from octavo.errors import BadInput, RateLimited
from octavo.protocols import Provider
from octavo.testing import ScriptedProvider, Tree, WordMeter, messages, talk


def test_talk_builds_a_branch_in_one_line() -> None:
    branch = talk("u: hi", "a: let me look", "c: ls {}", "c: cat", "r: a", "r: b")
    assert [node.message.role for node in branch] == ["user", "assistant", "tool", "tool"]
    assert [call.id for call in branch[1].message.calls] == ["call_1", "call_2"]
    assert branch[3].message.results[0].call_id == "call_2"
    assert branch[3].parent == "m3"


@pytest.mark.parametrize("line", ["hello", "x: y", "r: nothing was asked"])
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(BadInput, match="cannot read"):
        messages(line)


def test_trees_fork() -> None:
    tree = Tree()
    fork = tree.grow(None, "u: 1", "a: 2")
    left, right = tree.grow(fork, "u: 3"), tree.grow(fork, "u: 4")
    assert tree.tips == (left, right)
    assert [node.message.text for node in tree.branch(right)] == ["1", "2", "4"]
    with pytest.raises(BadInput):
        tree.grow(None)


def test_a_word_is_a_token() -> None:
    assert WordMeter().context(Context(retained=(user("one two"), assistant("three")))) == 3


def test_the_scripted_provider_streams_replies_and_raises_errors() -> None:
    async def collect(provider: Provider, request: Request) -> list[Chunk]:
        return [chunk async for chunk in provider.stream(request)]

    asked = Request(model="m", messages=(user("hi there"),))
    provider = ScriptedProvider(["two words", RateLimited("slow down"), Reply(message=assistant(""))])
    chunks = asyncio.run(collect(provider, asked))
    assert chunks[:2] == [Delta("two "), Delta("words")]
    reply = chunks[2]
    assert isinstance(reply, Reply)
    assert (reply.message, reply.usage.input, reply.usage.output) == (assistant("two words"), 2, 2)
    with pytest.raises(RateLimited):
        asyncio.run(collect(provider, asked))
    assert asyncio.run(collect(provider, asked)) == [Reply(message=assistant(""))]
    with pytest.raises(BadInput, match="no reply left for request 4"):
        asyncio.run(collect(provider, asked))
    assert provider.requests == [asked] * 4
    echo = ScriptedProvider(lambda request: request.messages[-1].text)
    assert asyncio.run(collect(echo, asked))[0] == Delta("hi ")
    asyncio.run(provider.close())
