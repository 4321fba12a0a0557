"""A receipt for people: what a compression took and gave, and which facts it kept, retold and left out.

Nothing that is left out is deleted: the model no longer sees it, and it stays stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.cli.lines import Line, clean, fit, line, table

if TYPE_CHECKING:
    from octavo.core.receipt import Receipt, StandingTally, Tally

NAMED = 3
"""Facts shown of each kind that were left out: enough to see whether it matters."""
NAME_WIDTH = 32
DOLLARS = 4
"""Decimals of a price: summaries cost fractions of a cent."""


def brief(receipt: Receipt) -> str:
    """Say in a line what became of the facts."""
    kept = sum(tally.verbatim_count for tally in receipt.tallies)
    told = sum(tally.told_count for tally in receipt.tallies)
    lost = sum(tally.lost_count for tally in receipt.tallies)
    if not kept + told + lost:
        return "no facts were covered"
    retold = f", {told:,} retold" if told else ""
    gone = f"{lost:,} left out: stored, but no longer seen by the model" if lost else "none left out"
    return f"facts of the covered messages: {kept:,} kept word for word{retold}, {gone}"


def unwritten_lines(receipt: Receipt) -> list[Line]:
    """Say why no summary was written, if it is known."""
    if not receipt.no_summary:
        return []
    return [line(("near", f"{clean(capitalized(receipt.no_summary))}; exact lines are used instead."))]


def capitalized(text: str) -> str:
    """Begin a sentence with a capital letter."""
    return text[:1].upper() + text[1:]


def receipt_lines(receipt: Receipt) -> list[Line]:
    """Draw the whole receipt."""
    made = [
        line(
            ("strong", "Receipt"),
            f"  {receipt.tokens_before:,} → {receipt.tokens_after:,} tokens in all{_spent(receipt)}",
        ),
        *unwritten_lines(receipt),
        *(
            line(("warn", "! "), clean(f"taken out of the summary, since nobody said it: {text}"))
            for text in receipt.taken_out
        ),
    ]
    rows = [
        (
            f"{tally.kind}s",
            f"{tally.verbatim_count:,}",
            f"{tally.told_count:,}",
            f"{tally.lost_count:,}",
            _lost(tally),
        )
        for tally in receipt.tallies
    ]
    if rows:
        made += table(rows, head=("facts", "kept", "retold", "left out", ""), right=(1, 2, 3))
    made += standing_lines(receipt.standing)
    for conflict in receipt.conflicts:
        said = f"{conflict.key}: an older value was kept ({conflict.kept}), the newest is {conflict.newest}"
        made.append(line(("warn", "! "), clean(said)))
    return made


def standing_lines(standing: StandingTally) -> list[Line]:
    """Say how many of the rules, preferences and decisions are sent word for word."""
    if not standing.count + standing.replaced_count:
        return []
    replaced = f"; {standing.replaced_count:,} replaced by later ones" if standing.replaced_count else ""
    kept = f"{standing.kept_count:,} of {standing.count:,} kept word for word{replaced}"
    return [
        line(f"rules, preferences, decisions: {kept}"),
        *(
            line(("warn", "! "), clean(f"the summary says: {one.told}; what stands: {one.text}"))
            for one in standing.changed
        ),
    ]


def _lost(tally: Tally) -> str:
    named = [fit(" ".join(fact.text.split()), NAME_WIDTH) for fact in tally.lost[:NAMED]]
    more = tally.lost_count - len(named)
    return ", ".join(named) + (f" … and {more:,} more" if named and more else "")


def _spent(receipt: Receipt) -> str:
    seconds = f" in {receipt.seconds:.1f} s" if receipt.seconds else ""
    model = f" by {receipt.model}" if receipt.model else ""
    price = f" for ${receipt.price:.{DOLLARS}f}" if receipt.price is not None else ""
    return f"{seconds}{model}{price}"
