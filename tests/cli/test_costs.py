"""`octavo costs`: what was sent, cached and spent, by day, model or conversation."""

from __future__ import annotations

import asyncio

from octavo.core.messages import assistant, user
from octavo.store.store import Store
from octavo.store.values import CACHED, Entry
from tests.cli.kit import plainly


async def _fill(url: str) -> str:
    async with await Store.open(url) as store:
        made = await store.conversations.create("Mine")
        for day, model, sent, cached in (
            ("2026-11-01", "gpt-4o", 100_000, 40_000),
            ("2026-11-02", "gpt-4o", 200_000, 150_000),
            ("2026-11-02", "nobody-knows-it", 50, 0),
        ):
            answer = Entry(
                message=assistant("Yes."),
                counts={CACHED: cached},
                input_tokens=sent,
                output_tokens=10,
                model=model,
                created=f"{day}T12:00:00+00:00",
            )
            await store.messages.append_many(made.id, [Entry(message=user("Well?")), answer])
        return made.id


def test_costs_add_up_by_day_model_and_conversation(environment: dict[str, str]) -> None:
    assert "nothing was billed yet" in plainly("costs", environment=environment).out
    id = asyncio.run(_fill(f"sqlite:///{environment['OCTAVO_DB']}"))
    days = plainly("costs", environment=environment).out.splitlines()
    assert days[1].split()[:4] == ["2026-11-01", "1", "100,000", "40,000"]
    assert days[2].split()[:4] == ["2026-11-02", "2", "200,050", "150,000"]
    assert days[-1].split()[:4] == ["total", "3", "300,050", "190,000"]
    models = {
        line["model"]: line
        for line in plainly("costs", "--by", "model", "--json", environment=environment).json
    }
    assert models["gpt-4o"]["dollars"] > 0
    assert models["nobody-knows-it"]["dollars"] is None, "what has no price is not invented"
    (one,) = plainly("costs", "last", "--by", "conversation", "--json", environment=environment).json
    assert (one["conversation"], one["sent"], one["cached"]) == (id, 300_050, 190_000)


def test_an_unknown_group_says_which_there_are(environment: dict[str, str]) -> None:
    done = plainly("costs", "--by", "week", environment=environment)
    assert done.code != 0
    assert "day, model, conversation" in done.err
