"""Has the embedded model write a summary in the background for what was compressed to exact lines. Nobody waits for it.

The exact lines stay. The summary is added to them only if it passes every check, fits, and the compression is still in
use. Whatever goes wrong, the exact lines are left as they are.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from octavo.core.receipt import Receipt
from octavo.core.summary import Narrative, SummaryJob
from octavo.engine.chat import Chat
from octavo.engine.state import LONG
from octavo.engine.summary_writing import NARRATIVE_SHARE
from octavo.errors import OctavoError

if TYPE_CHECKING:
    from octavo.core.messages import Branch
    from octavo.core.snapshot import Snapshot
    from octavo.engine.engine import Engine
    from octavo.engine.state import TipState

log = logging.getLogger(__name__)

LARGEST = 0.75
"""Share of the covered messages' tokens that a compression may take with its summary; a larger one would be
pointless."""


def retells(engine: Engine, state: TipState) -> bool:
    """Tell whether the model that answers also retells, unasked: if it is embedded, and no summariser was chosen."""
    # Imported here, as everywhere: it takes long, and much can be done without a model.
    from octavo.engine.models import LOCAL

    chosen = state.settings.get("summariser") or state.meter.card.summariser
    return not chosen and engine.models.address(state.model).startswith(LOCAL)


async def retell(engine: Engine, state: TipState, made: Snapshot) -> None:
    """Have a compression retold, and its summary put on top of its exact lines, if it is good enough."""
    chat = Chat(engine, state.conversation)
    try:
        size = await chat.snapshots.size(made.id, " ")
        most = min(size.room, int(LARGEST * made.tokens_before)) - size.tokens
        writer = await engine.summary_writer(state, asked=state.model)
        if most <= 0 or writer.summariser is None:
            return
        job = SummaryJob(
            covered=await _untold(engine, made),
            previous=made.summary,
            cap=min(most, int(NARRATIVE_SHARE * state.budget.snapshot)),
        )
        narrative = await writer.summariser.summarise(job, lambda _: None)
        if not narrative.text or narrative.text == made.summary:
            log.info("%s is not retold: %s", made.id, ", ".join(one.flaw for one in narrative.problems))
            return
        size = await chat.snapshots.size(made.id, narrative.text)
        size.check()
        await engine.store.snapshots.retell(_retold(made, narrative, size.tokens))
    except OctavoError as error:
        log.info("%s is not retold: %s", made.id, error)


async def _untold(engine: Engine, made: Snapshot) -> Branch:
    """Give the covered messages that the summary so far does not retell; of very many, the last."""
    tree, told = engine.store.tree, 0
    if made.summary and made.previous is not None:
        told = (await engine.store.snapshots.get(made.previous)).cutoff_depth
    first = (await tree.node(made.first)).depth
    above = max(told, first - 1, made.cutoff_depth - LONG)
    return await tree.stretch(made.cutoff, above=above, stop=made.cutoff_depth)


def _retold(made: Snapshot, narrative: Narrative, tokens: int) -> Snapshot:
    paper, taken_out = Receipt.from_json(made.receipt), tuple(dict.fromkeys(narrative.doubtful))
    receipt = replace(
        paper.restored(narrative.text.splitlines()),
        model=narrative.model,
        no_summary="",
        tokens_after=paper.tokens_after + tokens - made.tokens_after,
        taken_out=taken_out,
        taken_out_count=len(taken_out),
        summary_requests=narrative.requests,
        summary_input=narrative.usage.input,
        summary_output=narrative.usage.output,
    )
    return replace(
        made,
        summary=narrative.text,
        model=narrative.model,
        prompt=narrative.prompt,
        tokens_after=tokens,
        receipt=receipt.trimmed().to_json(),
    )
