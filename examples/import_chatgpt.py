"""Read a ChatGPT export, search it, compress its longest conversation, and see what that lost.

python examples/import_chatgpt.py conversations.json "what was the port"
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import octavo
from octavo.engine.outcome import Compressed


async def main(path: Path, words: str) -> None:
    async with await octavo.Engine.open("chatgpt.db", model="gpt-4o", summariser="none") as engine:
        made = await engine.store.import_file(path, format="chatgpt", new_ids=True)
        print(f"{len(made)} conversations, {sum(one.messages for one in made)} messages")
        for hit in await engine.store.search.find(words, limit=5):
            print(f"  found: {hit.snippet}")
        chat = await engine.chat(max(made, key=lambda one: one.messages).id)
        plan = await chat.plan()
        print(f"compressing would cover {plan.covered} of {plan.messages} messages")
        outcome = await chat.compress(keep=0)
        match outcome:
            case Compressed(snapshot=snapshot, before=before, after=after):
                print(f"{before:,} -> {after:,} tokens")
                receipt = await chat.snapshots.receipt(snapshot.id)
                for tally in receipt.tallies if receipt else ():
                    print(
                        f"  {tally.kind}: {tally.verbatim_count} kept word for word, {tally.lost_count} lost"
                    )
            case other:
                print(f"not compressed: {other}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
