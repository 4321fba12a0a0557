"""The sample conversation: it is what its words say, and everything can be tried on it without a model."""

from __future__ import annotations

import pytest

from octavo.engine.engine import Engine
from octavo.engine.sample import COUNTED_BY, TITLE, open_sample
from octavo.providers.settings import LOCAL_WINDOW
from scripts.make_sample import AUTHOR, pieces

pytestmark = pytest.mark.anyio


async def test_the_sample_says_what_its_words_say() -> None:
    """The file is made of them by a script: whoever changes the words has to run it."""
    async with await Engine.open() as engine:
        sample = await open_sample(engine)
        chat = await engine.chat(sample.id)
        said = [(who, words) for who, _, words in pieces() if who in ("user", "assistant")]
        assert [(node.message.role, node.message.text) for node in await chat.branch()] == said


async def test_the_sample_is_told_from_a_conversation_about_it() -> None:
    async with await Engine.open() as engine:
        await engine.create(f"What I think of {TITLE}")
        sample = await open_sample(engine)
        assert sample.title == TITLE
        await engine.create(TITLE.upper())
        assert (await open_sample(engine)).id == sample.id


async def test_everything_can_be_tried_on_the_sample_without_a_model() -> None:
    async with await Engine.open() as engine:
        chat = await engine.chat((await open_sample(engine)).id)
        serving = await chat.snapshots.serving()
        assert serving is not None
        assert serving.model == AUTHOR
        assert serving.tokens_after * 3 < serving.tokens_before
        receipt = await chat.snapshots.receipt(serving.id)
        assert receipt is not None
        assert receipt.lost
        await chat.snapshots.restore(serving.id, receipt.lost[0].text)
        assert [one.version for one in await chat.snapshots.list()] == [1, 2]
        assert await chat.pins.list()
        assert len(await chat.branches()) == 2, "an answer has a second version"
        assert "0x77" in "".join(one.text for one in await chat.snapshots.recall("the spare sensor"))
        compressed = await chat.usage()
        assert compressed.level == "calm"
        await chat.undo()
        await chat.undo()
        assert (await chat.usage()).level != "calm", "taking it back shows why it was made"


@pytest.mark.parametrize("window", [LOCAL_WINDOW, 8_192, 128_000])
async def test_the_sample_is_calm_in_every_window_a_newcomer_can_have(window: int) -> None:
    """The smallest is that of a model in this process, which may need a tenth more tokens for the same words."""
    async with await Engine.open(model=COUNTED_BY) as engine:
        await engine.models.set_window(COUNTED_BY, window)
        chat = await engine.chat((await open_sample(engine)).id)
        usage = await chat.usage()
        assert usage.level == "calm"
        assert usage.budget.soft is not None
        assert usage.reading.tokens * 1.1 < usage.budget.soft
        if window == LOCAL_WINDOW:
            await chat.undo()
            assert (await chat.usage()).level == "hard", "without the compression it does not fit"


async def test_the_sample_is_there_once_for_an_owner_and_its_model_is_one_that_answers() -> None:
    async with await Engine.open() as engine:
        ann = await open_sample(engine, owner="ann", usual="claude-sonnet-4-5")
        again = await open_sample(engine, owner="ann")
        bob = await open_sample(engine, owner="bob")
        assert again.id == ann.id != bob.id
        models = [(await engine.settings.of(one.id))["model"] for one in (ann, bob)]
        assert models == ["claude-sonnet-4-5", COUNTED_BY]
    async with await Engine.open(model="gpt-4o") as engine:
        assert (await engine.settings.of((await open_sample(engine)).id))["model"] == "gpt-4o"
