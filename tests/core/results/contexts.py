"""What is sent: split, given up, repaired and written in every format; and what is decided by its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from octavo.core.budget import Budget, Marks, ModelCard, Overhead, Price, Reading
from octavo.core.budget import divide as divide_window
from octavo.core.compose import compose
from octavo.core.context import ContextInputs, Pin, build_context
from octavo.core.extract.choose import extract
from octavo.core.harden import harden
from octavo.core.messages import Branch, Message, Part, ToolResult, assistant, user
from octavo.core.policy import (
    PRESETS,
    DecisionInputs,
    FailureStreak,
    LastCompression,
    blocked,
    budget_for,
    decide,
    failed,
)
from octavo.core.price_rule import Habits, cache_prices, payback
from octavo.core.protocol import RULES
from octavo.core.shrink import shrink
from octavo.core.snapshot import Snapshot
from octavo.core.split import split
from octavo.core.transcript import transcript
from octavo.core.wire import FORMATS, Format, read, write
from octavo.errors import ContextOverflow
from tests.core.extract.samples import quarter
from tests.core.results.records import Lines, compact, measure, record, size, titled
from tests.core.results.talks import CHATS
from tests.core.wire import examples


def _snapshot(branch: Branch, upto: int, **more: Any) -> Snapshot:
    return Snapshot(
        id="s",
        first=branch[1].id,
        cutoff=branch[upto - 1].id,
        cutoff_depth=upto,
        anchor=branch[upto - 1].id,
        anchor_depth=upto,
        messages=upto - 1,
        **more,
    )


def _shown(messages: Iterable[Message]) -> Lines:
    for message in messages:
        text = transcript([message], result_cap=400)
        yield f"{message.role} {measure(message)}: {text if len(text) < 700 else f'{text[:500]} ... {text[-150:]}'}"


@record
def contexts() -> Lines:
    """What is sent with a snapshot, pins and files, under every policy."""
    for (name, branch), policy in product(CHATS.items(), PRESETS.values()):
        upto = len(branch) - 4
        bare = _snapshot(
            branch, upto, summary="They talked & <planned>.", files=("a.pdf", "b.png"), earlier_files=3
        )
        made = compose(
            bare,
            branch[1:upto],
            cap=260,
            count=measure,
            retained=branch[upto:],
            voice=policy.voice,
            pins=["8422"],
        )
        pins = (Pin(branch[3]), Pin(branch[5], branch[5].message.text[:20]))
        inputs = ContextInputs(branch=branch, snapshot=made, pins=pins, voice=policy.voice)
        context = build_context(inputs)
        yield titled(name, policy.name, made.tokens_after)
        if policy.name in ("octavo", "wave"):
            yield from _shown(context.messages)
        yield f"sent {context.sent} pinned {context.pinned} covered to {context.covered_to}"


@record
def splits() -> Lines:
    """Where a conversation is cut."""
    for (name, branch), boundary in product(CHATS.items(), ("turn", "message")):
        said = [node.message for node in branch]
        for end in (len(said), len(said) - 1, len(said) - 3):
            sizes = [measure(message) for message in said[:end]]
            yield titled(name, boundary, end, sum(sizes))
            told = []
            for keep, room, frees in product((None, 0, 40, 200, 900), (None, 60, 300), (0.0, 0.5)):
                where = split(said[:end], sizes, keep, room=room, boundary=boundary, frees=frees, answers=50)  # type: ignore[arg-type]
                told.append(f"{where.cut}{'i' if where.inside else ''}" if where else "-")
            yield " ".join(told)


@record
def shrinking() -> Lines:
    """What is given up, step by step, until a context fits."""
    for name, branch in CHATS.items():
        upto = len(branch) // 2
        kept = extract(branch[1:upto], budget=200, measure=quarter)
        snapshot = _snapshot(branch, upto, summary="What happened before. " * 40, extracts=kept)
        for held in (None, snapshot):
            inputs = ContextInputs(branch=branch, snapshot=held, pending=(user("And now?"),))
            full = size(build_context(inputs).messages)
            for limit in (
                full,
                full - 1,
                *(int(full * share) for share in (0.8, 0.5, 0.3, 0.15, 0.07, 0.02)),
            ):
                yield titled(name, "with a snapshot" if held else "without one", limit, "of", full)
                try:
                    fitted = shrink(inputs, limit, lambda context: size(context.messages))
                except ContextOverflow as overflow:
                    yield f"overflow: {overflow}"
                    continue
                yield f"{fitted.tokens} {fitted.notes} omitted {fitted.recipe.omitted} {fitted.recipe.omitted_files}"


def _bad(branch: Branch, step: int) -> list[Message]:
    """Take messages out and put others in their place, so that calls and answers no longer stand together."""
    said = [node.message for node in branch]
    kept = [message for number, message in enumerate(said) if number % step != 1]
    return [*kept[2:], said[0], *kept[:2], assistant(" "), user(""), said[-1], said[-1]]


@record
def repairs() -> Lines:
    """What is mended before a provider sees it."""
    for (name, branch), rules, step in product(CHATS.items(), RULES.values(), (3, 4)):
        for vision in (True, False):
            done = harden(_bad(branch, step), replace(rules, vision=vision))
            yield titled(name, rules.name, step, "" if vision else "blind")
            for repair in done.repairs:
                yield f"{repair.fix} {repair.index} {repair.detail}"
            yield " ".join(
                f"{message.role[0]}{len(message.parts)}:{measure(message)}" for message in done.messages
            )


def request_lists() -> Iterator[tuple[Format, str, Any, Any]]:
    for name, said in examples.OPENAI.items():
        yield "openai", name, said, None
    others: Mapping[Format, Mapping[str, tuple[Any, Any]]] = {
        "anthropic": examples.ANTHROPIC,
        "gemini": examples.GEMINI,
        "responses": examples.RESPONSES,
    }
    for format, known in others.items():
        for name, (system, listed) in known.items():
            yield format, name, listed, system


@record
def formats() -> Lines:
    """Requests of one provider's format, written in the others'."""
    for format, name, listed, system in request_lists():
        said = read(format, listed, system)
        yield titled(format, name)
        yield from _shown(said)
        for other in FORMATS:
            if other != format:
                there = write(other, said)
                yield f"{other}: {compact(there.system)}"
                for message in there.messages:
                    text = compact(message)
                    yield f"  {text if len(text) < 1_500 else text[:1_400] + ' ...'}"


def _noted(value: Message | Part) -> Lines:
    wire = value.wire
    kind = type(value).__name__
    fields = "nothing" if wire is None else wire.fields
    yield f"{kind}: {fields if len(fields) < 200 else f'{fields[:150]} ... {fields[-30:]}'}"
    if isinstance(value, Message | ToolResult):
        for part in value.parts if isinstance(value, Message) else value.content:
            yield from (f"  {line}" for line in _noted(part))


@record
def noted() -> Lines:
    """What is noted of requests besides what they became: little, or a bare shape is not what is usual."""
    for format, name, listed, system in request_lists():
        yield titled(format, name)
        for message in read(format, listed, system):
            yield from _noted(message)


def _budget(budget: Budget) -> str:
    marks = f"prepare {budget.prepare} soft {budget.soft} hard {budget.hard}"
    return f"{compact(budget.terms)} {marks} limit {budget.limit} middle {budget.middle} settled {budget.settled}"


CARDS = (
    ModelCard(name="tiny", window=4_096, max_output=1_024),
    ModelCard(name="old", window=8_192, max_output=4_096, soft=0.7, retained=900),
    ModelCard(
        name="usual", window=128_000, max_output=16_384, price=Price(input=2.5, output=10, cached=1.25)
    ),
    ModelCard(
        name="long",
        window=1_000_000,
        max_output=64_000,
        price=Price(input=4, output=20, cached=0.4),
        cache_write=1.25,
        price_step=200_000,
    ),
)


@record
def budgets() -> Lines:
    """How windows are divided, and what is decided at which size."""
    situations: tuple[tuple[Overhead, Habits | None], ...] = (
        (Overhead(), None),
        (
            Overhead(system=321, tools=123, files=45, pins=67),
            Habits(requests=40, tokens=52_000, largest=6_000, misses=0.1),
        ),
    )
    for card, policy, (overhead, habits) in product(CARDS, PRESETS.values(), situations):
        budget = budget_for(
            policy, card, overhead=overhead, habits=habits, writer=Price(input=0.4, output=1.6)
        )
        yield titled(card.name, policy.name, overhead.total, "with habits" if habits else "")
        yield _budget(budget)
        marks = [mark for mark in (budget.prepare, budget.soft, budget.hard, budget.middle) if mark]
        for tokens in sorted({mark + by for mark in marks for by in (0, 1)}):
            for situation in (
                DecisionInputs(),
                DecisionInputs(cold=True, growth=10),
                DecisionInputs(undone=True),
                DecisionInputs(turn="t", pace=LastCompression(turn="t", progressed=False)),
            ):
                yield f"  {tokens}: {decide(policy, budget, Reading(tokens=tokens), situation)}"
            left = budget.left(tokens), budget.left(tokens, budget.trigger)
            yield f"  left {left} used {budget.used(tokens):.4f}"
    shapes = (Marks(base="window", soft=None), Marks(prepare=0.1, soft=0.5, hard=0.5))
    for shape, share in product(shapes, (0.2, 777)):
        yield _budget(divide_window(CARDS[1], marks=shape, retained=share, reply=100, margin=0.05))


@record
def failures() -> Lines:
    """When it is tried again after failures."""
    for policy in PRESETS.values():
        trouble = FailureStreak()
        for number in range(6):
            trouble = failed(trouble, model="m", tokens=1_000, now=100.0 * number)
            waits = [
                blocked(policy.tolerance, trouble, model=model, tokens=tokens, now=trouble.at + after)
                for model, tokens, after in product(
                    ("m", "n"), (1_000, 1_200, 1_201), (0, 29.9, 30, 60, 240, 3_600)
                )
            ]
            yield f"{policy.name} {trouble.failures}: {waits}"


@record
def paybacks() -> Lines:
    """What a compression costs and saves."""
    writers = (None, Price(input=0.4, output=1.6), Price(input=0.4, output=20, cached=None))
    for card, writer, misses in product(CARDS[2:], writers, (0.0, 0.4)):
        prices = cache_prices(card, writer)
        assert card.price is not None
        assert prices is not None
        for before, after in ((40_000, 9_000), (900_000, 60_000), (5_000, 6_000)):
            found = payback(
                card.price, prices, Habits(misses=misses), fixed=2_000, before=before, after=after
            )
            yield f"{card.name} {misses} {before} {after}: {found.in_words(needed=False)}"
            yield f"  {found.in_words(needed=True)}"
