"""From nodes and a token budget to extracts: the choice is made in bytes and fitted to what the measure says.

The rendered extracts never measure more than the budget, whatever the measure is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from octavo.core.extract.changes import superseded
from octavo.core.extract.facts import Retelling
from octavo.core.extract.render import HEAD, order, render, weigh
from octavo.core.extract.scan import words
from octavo.core.extract.select import Choice, Ground
from octavo.core.extract.sources import line_up
from octavo.core.extract.units import Analysis, Unit, analyse, analyse_all
from octavo.core.extract.worth import NOTHING_NEW
from octavo.core.messages import Node, user
from octavo.core.snapshot import Extracts

SAMPLE = 8_000
"""Bytes that are measured to learn how many a token has here."""
ROUNDS = 4
"""Times the choice goes on because a token turned out to have more bytes than the sample had."""
FULL = 0.99
"""A choice that uses this much of the budget is not improved on."""

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
    analyses: Mapping[str, Analysis] | None = None,
) -> Extracts:
    """Choose what to keep of the covered nodes, word for word, so that `measure(render(...))` is within the budget.

    What the `retained` nodes, the `pins` and the `known` text (a narrative) say is not paid for again. `focus` raises
    what it names. `analyses`, by node id, spare analysing messages again.
    """
    if budget <= 0 or not covered:
        return ()
    ground = survey(
        covered, retained, "\n".join((*pins, known)), focus, analyse_all((*covered, *retained), analyses)
    )
    if not ground.units:
        return ()
    return _fit(ground, budget, measure)


def survey(
    covered: Sequence[Node],
    retained: Sequence[Node],
    known: str,
    focus: str,
    analyses: Mapping[str, Analysis],
) -> Ground:
    """Number the units of the covered nodes and gather what is known besides."""
    sources = line_up(covered, retained, analyses)
    aside = list(analyse(user(known)).units)
    units: list[Unit] = []
    owner: list[int] = []
    index: list[int] = []
    for at, source in enumerate(sources):
        if source.covered:
            units += source.units
            owner += [at] * len(source.units)
            index += range(len(source.units))
        else:
            aside += source.units
    old, retelling = superseded(sources), Retelling(known)
    return Ground(
        sources=sources,
        units=units,
        owner=owner,
        index=index,
        weight=[weigh(unit.text) for unit in units],
        newness=[
            NOTHING_NEW if tuple(place) in old or retelling.tells(unit.words) else 1.0
            for unit, *place in zip(units, owner, index, strict=True)
        ],
        known=aside,
        focus=words(focus),
    )


def _fit(ground: Ground, budget: int, measure: Measure) -> Extracts:
    """Choose for a number of bytes, and go on while the measure says that tokens are left."""
    choice = Choice(ground)
    choice.grow(max(0, round(budget * _density(ground.units, measure)) - weigh(HEAD)))
    for _ in range(ROUNDS):
        extracts = _extracts(ground, choice.chosen)
        text = render(extracts)
        size = measure(text)
        if size > budget:
            break
        if not 0 < size < FULL * budget or len(choice.chosen) == len(ground.units):
            return extracts
        choice.grow(round((budget - size) * weigh(text) / size))
    return _trim(ground, choice.chosen, budget, measure)


def _density(units: Sequence[Unit], measure: Measure) -> float:
    """Tell how many bytes a token has, from a sample spread evenly over the units."""
    total = sum(weigh(unit.text) for unit in units)
    step = max(1, total // SAMPLE)
    sample = "\n".join(unit.text for unit in units[::step])
    return weigh(sample) / max(1, measure(sample))


def _extracts(ground: Ground, chosen: Iterable[int]) -> Extracts:
    found = (ground.sources[ground.owner[number]].extract(ground.index[number]) for number in chosen)
    return tuple(sorted(found, key=order))


def _trim(ground: Ground, chosen: Sequence[int], budget: int, measure: Measure) -> Extracts:
    """Give up the last choices until the text fits."""
    fits, most = 0, len(chosen)
    trial = most
    while fits < most:
        if measure(render(_extracts(ground, chosen[:trial]))) <= budget:
            fits = trial
        else:
            most = trial - 1
        trial = (fits + most + 1) // 2
    return _extracts(ground, chosen[:fits])
