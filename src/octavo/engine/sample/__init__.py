"""A conversation that comes with Octavo: long, and compressed once, so that everything can be tried without a model.

Its words are in `conversation.md` and `summary.md`; `scripts/make_sample.py` has the engine make the file of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from octavo.store.values import Conversation, ForConversation

if TYPE_CHECKING:
    from octavo.engine.engine import Engine

CONVERSATION = Path(__file__).parent / "conversation.jsonl"
TITLE = "Sample: a weather station for the allotments"
COUNTED_BY = "gpt-4-0613"
"""The model whose tokens are counted where none can be used: the conversation nearly fills its window."""


async def open_sample(engine: Engine, *, owner: str = "", usual: str = "") -> Conversation:
    """Give the sample of an owner: the one that is there, or a new copy.

    `usual` answers in it where no model is set for all conversations.
    """
    listed = await engine.store.conversations.list(owner=owner, archived=None, titled=TITLE, limit=1)
    if listed:
        return listed[0]
    made = await engine.store.import_file(CONVERSATION, owner=owner, new_ids=True)
    if not (await engine.settings.of()).get("model"):
        await engine.settings.change(ForConversation(made[0].id), {"model": usual or COUNTED_BY})
    return made[0]
