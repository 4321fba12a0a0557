"""Chooses extracts of nodes for a token budget: the choice is made in bytes, and fitted to what the measure says.

The rendered extracts never measure more than the budget, whatever the measure is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from octavo.core.extract.cues import TIME
from octavo.core.extract.facts import Retelling
from octavo.core.extract.render import HEAD, order, render, weigh
from octavo.core.extract.scan import words
from octavo.core.extract.selection import Candidates
from octavo.core.extract.shares import SharedChoice
from octavo.core.extract.totals import WHOLE, CountedSources, Eligible, Totals
from octavo.core.extract.units import Analysis, TextUnit, analyse, analyse_all, skeletons, weights
from octavo.core.extract.value import NOTHING_NEW
from octavo.core.messages import Node, user
from octavo.core.snapshot import DroppedLine, Extract, Extracts

SAMPLE = 8_000
"""Bytes that are measured to learn how many a token has here."""
FIRST = 0.85
"""Share of the room that is filled before anything is measured: extracts have more tokens per byte than the sample."""
ROUNDS = 5
"""Times the choice goes on at most."""
FULL = 0.99
"""A choice that uses this much of the budget is not improved on."""

MOST_DENSE = 4
"""Bytes of a token, about: for so many, old units are looked at."""

RESERVED = 1 / 3
MOST_RESERVED = 2 / 3
"""Share of the room for what stands, and of the extracts' room at most; what it does not need, others get."""
APART = 600
"""Bytes from which on what stands has room of its own: in less, its head line would cost more than an eighth."""

Measure = Callable[[str], int]


def extract(
    covered: Sequence[Node],
    *,
    budget: int,
    measure: Measure,
    retained: Sequence[Node] = (),
    pins: Sequence[str] = (),
    known: str = "",
    focus: str = "",
    dropped: Sequence[DroppedLine] = (),
    analyses: Mapping[str, Analysis] | None = None,
    totals: Totals | None = None,
) -> Extracts:
    """Choose what to keep of the covered nodes, word for word, so that `measure(render(...))` is within the budget.

    What the `retained` nodes, the `pins` and the `known` text (a narrative) say is not chosen again. Lines that name
    something of the `focus` come sooner. Lines that a person `dropped` are not chosen. `analyses`, by node id, spare
    analysing messages again, and `totals` of the first covered nodes spare counting again what they say.
    """
    if budget <= 0 or not covered:
        return ()
    known = "\n".join((*pins, known))
    analyses = analyse_all((*covered, *retained), analyses)
    candidates = survey(covered, retained, known, focus, analyses, dropped, totals=totals, budget=budget)
    if not candidates.units:
        return ()
    return _fit(candidates, budget, measure)


def survey(
    covered: Sequence[Node],
    retained: Sequence[Node],
    known: str,
    focus: str,
    analyses: Mapping[str, Analysis],
    dropped: Sequence[DroppedLine] = (),
    *,
    totals: Totals | None = None,
    budget: int | None = None,
) -> Candidates:
    """Number the units of the covered nodes and gather what is known besides.

    Of the old ones those are looked at that may be chosen for a `budget`; without one, all are.
    """
    counted = CountedSources(covered, retained, analyses, totals)
    old, new, sources = counted.old, counted.new, counted.sources
    aside = [analyse(user(known)).units]
    aside += [source.units for source in sources[len(old.starts) + len(new.starts) :]]
    starts = old.starts + new.starts
    agreed = new.agreeing.agreed(sources, dropped)
    standing, dated, passed_over = (
        # The covered sources come first, so a source's place among all is its place among them.
        frozenset([starts[at] + number for at, number in places])
        for places in (agreed.standing, agreed.dated, agreed.replaced | agreed.dropped)
    )
    units, owner = old.units + new.units, old.owner + new.owner
    eligible = WHOLE if budget is None or focus else counted.eligible(MOST_DENSE * budget)
    return Candidates(
        sources=sources,
        work=old.work + new.work,
        units=units,
        owner=owner,
        index=old.index + new.index,
        weight=old.weight + new.weight,
        words=old.words + new.words,
        starts=starts,
        newness=_newness(counted, units, starts, eligible, known),
        known=list(chain.from_iterable(aside)),
        said=frozenset(chain.from_iterable(map(skeletons, aside))),
        focus=words(focus),
        counted=counted,
        standing=standing,
        dated=frozenset(
            [n for n in standing if sources[owner[n]].day and (n in dated or units[n].cues & TIME)]
        ),
        passed_over=passed_over,
        eligible=eligible,
    )


def _newness(
    counted: CountedSources, units: Sequence[TextUnit], starts: Sequence[int], eligible: Eligible, known: str
) -> list[float]:
    """Tell old from new: a unit whose value a later message changed, or that the known text retells, says little."""
    newness = [1.0] * len(units)
    if known.strip():
        retelling = Retelling(known)
        for number in chain(eligible.old, range(eligible.start, len(units))):
            if retelling.tells(units[number].words):
                newness[number] = NOTHING_NEW
    for at, number in counted.new.given.superseded():
        # The covered sources come first, so a source's place among all is its place among them.
        if at < len(starts):
            newness[starts[at] + number] = NOTHING_NEW
    return newness


def _fit(candidates: Candidates, budget: int, measure: Measure) -> Extracts:
    """Choose for most of the room, and go on while the measure says that tokens are left."""
    density = _density(candidates.units, candidates.counted.talked + candidates.counted.worked, measure)
    room = round(budget * density)
    if room < APART:
        candidates = replace(candidates, standing=frozenset())
    choice = SharedChoice(candidates, reserved=_reserved(candidates, room))
    choice.grow(round(FIRST * budget * density) - weigh(HEAD))
    made: dict[int, Extract] = {}
    for _ in range(ROUNDS):
        extracts = _extracts(candidates, choice.chosen, made)
        text = render(extracts)
        size = measure(text)
        if size > budget and not choice.ended:
            break
        if FULL * budget <= size <= budget or (size <= budget and choice.complete):
            return extracts
        density = weigh(text) / size if size > 0 else density
        choice.end(round(budget * density) - weigh(text or HEAD))
    return _trim(candidates, choice.chosen, budget, measure)


def _reserved(candidates: Candidates, room: int) -> float:
    """Give the share of the room that is reserved for what stands: a third of all that is not fixed.

    That is the room of the extracts and what is retained: who keeps more of the newest turns gives no rule up for it.
    """
    retained = sum([sum(weights(source.units)) for source in candidates.sources[len(candidates.starts) :]])
    return min(MOST_RESERVED, RESERVED * (room + retained) / max(1, room))


def _density(units: Sequence[TextUnit], size: int, measure: Measure) -> float:
    """Tell how many bytes a token has, from a sample spread evenly over the units, which have `size` bytes."""
    step = max(1, size // SAMPLE)
    sample = "\n".join(unit.text for unit in units[::step])
    return weigh(sample) / max(1, measure(sample))


def _extracts(candidates: Candidates, chosen: Iterable[int], made: dict[int, Extract]) -> Extracts:
    """Give units as extracts, in order; those that were made before are taken again."""
    standing, ordered = candidates.standing, sorted(chosen)
    for number in ordered:
        if number not in made:
            made[number] = _extract(candidates, number)
    # Units are numbered in the order of the conversation.
    apart = [made[number] for number in ordered if number in standing]
    return (*apart, *[made[number] for number in ordered if number not in standing])


def _extract(candidates: Candidates, number: int) -> Extract:
    source, index = candidates.sources[candidates.owner[number]], candidates.index[number]
    if number not in candidates.standing:
        return source.extract(index, standing=False)
    return source.extract(index, standing=True, day=source.day if number in candidates.dated else "")


def _trim(candidates: Candidates, chosen: Sequence[int], budget: int, measure: Measure) -> Extracts:
    """Give up the last choices until the text fits."""
    placed = [(_extract(candidates, number), rank) for rank, number in enumerate(chosen)]
    placed.sort(key=lambda choice: order(choice[0]))
    fits, most, trial = 0, len(chosen), len(chosen)
    while fits < most:
        size = measure(render(_first(placed, trial)))
        if size <= budget:
            fits = trial
        else:
            most = trial - 1
        # The first guess goes by size, which is nearly right; then halves.
        guess = trial * budget // size if size > budget and not fits else (fits + most + 1) // 2
        trial = min(max(guess, fits + 1), most)
    return _first(placed, fits)


def _first(placed: Iterable[tuple[Extract, int]], size: int) -> Extracts:
    """Give the extracts that were chosen first, in the order of the conversation."""
    return tuple(extract for extract, rank in placed if rank < size)
