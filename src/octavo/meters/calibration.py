"""Predicts bills from earlier bills: by an anchor, or by a fit where there is none.

While a request only adds to one whose bill is known, that bill is exact for the shared beginning and only the
rest is counted. When the beginning changed, as it does with every compression, the fit speaks: a constant for each
system prompt and set of tools, and what messages, tool calls and text cost beyond the local count. The constant stays
whatever is sent, so no bill can be smaller; the rest depends on the messages that are sent. Steps between bills are
fitted rather than totals, since a total repeats the errors of all totals before it. A step that does not fit (a picture
of unknown size, thinking that is kept unseen) is set down to its message, wherever that is sent. Three bad misses in a
row mean that the vocabulary is another than the card says; then text is scaled, too.

Everything is a value: observing gives a new state, and no bill, however wrong, moves a prediction out of bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from octavo.core.budget import Basis
from octavo.core.json_values import (
    Json,
    JsonObject,
    compact,
    parse,
    take_count,
    take_inner,
    take_list,
    take_object,
    take_text,
)
from octavo.errors import BadInput
from octavo.meters.unit import TokenTally

SAMPLES = 64
"""Bills remembered: enough for three numbers and some constants, little enough to follow a change."""
ANCHORS = 64
"""Requests that can be built upon: branches and conversations in use at one time."""
KEYS = 8
"""Combinations of system prompt and tools whose constants are kept: more would make the fit slow to compute."""
ODDITIES = 128
"""Messages remembered because they cost more or less than others of their kind."""
MISSES = 20
"""Predictions whose error is remembered."""
SMALLEST = 500
"""A smaller request says little of what text costs."""
FURTHEST = 3.0
"""A bill this many times above or below the prediction is a mistake, and teaches nothing."""
HIDDEN = 100_000
"""No provider adds more than this to a request unseen."""
HIDDEN_SHARE = 4
"""No provider adds more than this share of the window either: the rest would be too small to use."""

SPREAD_CONSTANT = 20_000.0
SPREAD_MESSAGE = 2.0
SPREAD_CALL = 25.0
SPREAD_EXACT = 0.01
SPREAD_GUESSED = 0.3
"""How far each number may well lie from its published value: the ridge that holds the fit. Text counted in the
model's own vocabulary is right within a percent; in a stand-in it may be off by a third."""
NOISE_STEP = 8.0
NOISE_EXACT = 0.02
NOISE_GUESSED = 0.15
"""How far a bill may lie from the model's own line: some tokens, and a share of the new text."""
OUTLYING = 2.5
"""Beyond so many times the noise, a step loses its weight."""
ROUNDS = 6
"""Times the weights are set anew; they settle after three or four."""
LIMITS_MESSAGE = (-8.0, 32.0)
LIMITS_CALL = (-64.0, 512.0)
LIMITS_SCALE = (0.5, 3.0)

PRIOR_SHARE = 0.03
"""Error bound before any bill, as a share, for text counted in the model's own vocabulary."""
GUESSED_SHARE = 0.15
"""The same for guessed text."""
FLOOR_SHARE = 0.005
"""No bound is smaller: bills differ by that much anyway."""
QUANTILE = 0.95
MISFIT = 0.05
"""Three predictions in a row that miss by more are a sign of another vocabulary than the card says."""
MISFIT_ROW = 3


@dataclass(frozen=True, slots=True)
class Anchor:
    """A request whose bill is known."""

    digest: str
    """Of the model, the tools and all messages sent, in hexadecimal."""
    billed: int
    tally: TokenTally


@dataclass(frozen=True, slots=True)
class Sample:
    """One lesson: how much more was billed than counted."""

    key: str
    """Whose constant it contains; empty for the step from one bill to the next."""
    tally: TokenTally
    surplus: int
    suspect: str = ""
    """The message of the step that is most likely to cost something else than counted, by digest."""

    @property
    def billed(self) -> int:
        """What was billed, less what single messages are known to cost beyond their counts."""
        return self.tally.tokens + self.surplus


@dataclass(frozen=True, slots=True)
class Fit:
    """What is added to a local count."""

    message: float = 0.0
    call: float = 0.0
    scale: float = 1.0
    constants: tuple[tuple[str, float], ...] = ()

    def constant(self, key: str) -> float | None:
        return next((value for name, value in self.constants if name == key), None)

    @property
    def usual(self) -> float:
        """The constant to expect of a system prompt and tools that were not billed yet; 0 if none was."""
        values = sorted(value for _, value in self.constants)
        return values[len(values) // 2] if values else 0.0

    def apply(self, tally: TokenTally) -> float:
        """Correct a tally, constant aside."""
        return self.scale * tally.tokens + self.message * tally.messages + self.call * tally.calls

    def miss(self, step: Sample) -> float:
        """Tell how much more was billed for a step than this fit says."""
        return step.billed - self.apply(step.tally)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What is known of one model's bills."""

    exact: bool = True
    """Whether the local count is in the model's own vocabulary."""
    hidden: int = HIDDEN
    """The most that is believed to be added to a request unseen."""
    samples: tuple[Sample, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    """Oldest first."""
    least: tuple[tuple[str, int], ...] = ()
    """The smallest bill for each system prompt and set of tools, the one billed last at the end."""
    odd: tuple[Sample, ...] = ()
    """Steps that did not fit, newest last."""
    misfit: bool = False
    """Whether the vocabulary turned out to be another than the model's; then the local count is a stand-in."""
    near: tuple[int, ...] = ()
    """By how many tokens predictions from an anchor missed, newest last."""
    far: tuple[float, ...] = ()
    """By what share of the total predictions without one missed."""
    fit: Fit = Fit()

    @property
    def trusted(self) -> bool:
        """Whether local counts are the model's own."""
        return self.exact and not self.misfit

    @property
    def oddities(self) -> dict[str, int]:
        """By digest of the message, how much more it costs than its kind, as the fit now sees it."""
        return {
            step.suspect: round(self.fit.miss(step))
            for step in self.odd
            if abs(self.fit.miss(step)) > OUTLYING * _noise(step, self.trusted)
        }


class Prediction(NamedTuple):
    """Tokens a provider will bill, and how much more it may be."""

    tokens: int
    bound: int
    basis: Basis
    fixed: int
    """How many of the tokens belong to the system prompt, the tools and what the provider adds unseen."""


class BilledRequest(NamedTuple):
    """A request as the calibration sees it."""

    key: str
    """Digest of the system prompt and the tools."""
    digest: str
    tally: TokenTally
    front: TokenTally = TokenTally()
    """What the system prompt and the tools hold of it."""
    anchor: Anchor | None = None
    """The newest anchor among the beginnings of this request."""
    suspect: str = ""
    """The message since then that is most likely to cost something else than counted, by digest."""
    odd: int = 0
    """What is known of its messages beyond their counts."""
    odd_since: int = 0
    """The same of those after the anchor."""


def predict(state: Calibration, request: BilledRequest) -> Prediction:
    """Say what the provider will bill for a request."""
    request = _sound(request)
    fixed = _fixed(state, request)
    if request.anchor is not None:
        return _from_anchor(state, request, request.anchor, fixed)
    tally, fit = request.tally, state.fit
    known = fit.constant(request.key) is not None
    tokens = _floored(request, _constant(state, request.key) + fit.apply(tally) + request.odd)
    basis: Basis = "calibrated" if fit.constants else "exact"
    if tally.guessed and (not known or not state.far):
        basis = "estimated"
    bound = _far_share(state, known) * tokens + GUESSED_SHARE * tally.guessed
    return Prediction(tokens, _bounded(bound, tokens), basis, min(fixed, tokens))


def _constant(state: Calibration, key: str) -> float:
    known = state.fit.constant(key)
    return min(state.fit.usual if known is None else known, state.hidden)


def _fixed(state: Calibration, request: BilledRequest) -> int:
    """Predict the fixed part of every bill: at least 0, and at most the smallest bill so far."""
    front, constant = state.fit.apply(request.front), _constant(state, request.key)
    least = dict(state.least)
    if request.key in least:
        return max(0, min(round(front + constant), least[request.key]))
    # The visible part of another prompt may cost more than this one's smallest bill; the hidden part does not.
    return max(0, round(front + min(constant, min(least.values(), default=0))))


def _floored(request: BilledRequest, tokens: float) -> int:
    """Take at most half off a count, apart from single messages that are known to cost less."""
    counted = request.tally.tokens + min(0, request.odd)
    return max(round(tokens), math.ceil(LIMITS_SCALE[0] * counted), 0)


def _bounded(bound: float, tokens: int) -> int:
    """No prediction is off by more than itself."""
    return min(math.ceil(bound), tokens)


def _sound(request: BilledRequest) -> BilledRequest:
    """Drop an anchor that holds more than the request: the two were counted in different ways."""
    anchor = request.anchor
    shrunk = anchor is not None and anchor.tally.messages > request.tally.messages
    return request._replace(anchor=None) if shrunk else request


def _from_anchor(state: Calibration, request: BilledRequest, anchor: Anchor, fixed: int) -> Prediction:
    new = request.tally - anchor.tally
    tokens = _floored(request, anchor.billed + round(state.fit.apply(new)) + request.odd_since)
    fixed = min(fixed, tokens)
    if not (new.messages or new.tokens):
        return Prediction(tokens, 0, "exact", fixed)
    share = PRIOR_SHARE if state.trusted else GUESSED_SHARE
    usual = _quantile([abs(miss) for miss in state.near])
    bound = max(share * new.tokens, usual) + GUESSED_SHARE * new.guessed
    return Prediction(tokens, _bounded(bound, tokens), "calibrated", fixed)


def _far_share(state: Calibration, known: bool) -> float:  # noqa: FBT001 - one of two prices
    prior = PRIOR_SHARE if state.trusted else GUESSED_SHARE
    if not known or len(state.far) < MISFIT_ROW:
        return prior
    return max(FLOOR_SHARE, _quantile([abs(miss) for miss in state.far]))


def _quantile(values: Sequence[float]) -> float:
    """Give the value that all but the largest few stay below; 0 for none."""
    return sorted(values)[math.ceil(QUANTILE * len(values)) - 1] if values else 0.0


def observe(state: Calibration, request: BilledRequest, billed: int) -> Calibration:
    """Learn from a bill; a bill that cannot be right teaches nothing."""
    request = _sound(request)
    if not _plausible(state, request, billed):
        return state
    state = _score(state, request, billed)
    lesson = _lesson(request, billed)
    samples = _keep((*state.samples, lesson)) if _teaches(lesson, billed) else state.samples
    fit = _solve(samples, trusted=state.trusted)
    odd = state.odd
    if lesson.suspect and abs(fit.miss(lesson)) > OUTLYING * _noise(lesson, state.trusted):
        odd = (*odd, lesson)[-ODDITIES:]
    anchors = (*state.anchors, Anchor(request.digest, billed, request.tally))[-ANCHORS:]
    return replace(
        state, samples=samples, anchors=anchors, least=_least(state, request.key, billed), odd=odd, fit=fit
    )


def _least(state: Calibration, key: str, billed: int) -> tuple[tuple[str, int], ...]:
    before = dict(state.least)
    smallest = min(billed, before.pop(key, billed))
    return (*before.items(), (key, smallest))[-ANCHORS:]


def _lesson(request: BilledRequest, billed: int) -> Sample:
    if request.anchor is None:
        return Sample(request.key, request.tally, billed - request.tally.tokens - request.odd)
    new = request.tally - request.anchor.tally
    surplus = billed - request.anchor.billed - new.tokens - request.odd_since
    return Sample("", new, surplus, request.suspect)


def _noise(step: Sample, trusted: bool) -> float:  # noqa: FBT001 - one of two prices
    return math.hypot(NOISE_STEP, (NOISE_EXACT if trusted else NOISE_GUESSED) * step.tally.tokens)


def _plausible(state: Calibration, request: BilledRequest, billed: int) -> bool:
    if billed <= 0 or request.tally.tokens < 0:
        return False
    expected = predict(state, request).tokens
    unseen = state.hidden if request.anchor is None and state.fit.constant(request.key) is None else SMALLEST
    return expected / FURTHEST - SMALLEST <= billed <= expected * FURTHEST + unseen


def _teaches(lesson: Sample, billed: int) -> bool:
    if lesson.key:
        return billed >= SMALLEST or lesson.tally.tokens < SMALLEST
    return lesson.tally.messages > 0


def _keep(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    """Drop the oldest, but keep the newest constant of each of the newest keys; older keys are given up."""
    newest = {sample.key: index for index, sample in enumerate(samples) if sample.key}
    recent = dict(sorted(newest.items(), key=lambda item: item[1])[-KEYS:])
    served = [
        (index, sample) for index, sample in enumerate(samples) if not sample.key or sample.key in recent
    ]
    spare = max(0, len(served) - SAMPLES)
    droppable = [index for index, _ in served if index not in recent.values()][:spare]
    return tuple(sample for index, sample in served if index not in droppable)


def _score(state: Calibration, request: BilledRequest, billed: int) -> Calibration:
    """Remember how far the predictions would have missed, with the anchor and without."""
    near, far = state.near, state.far
    if request.anchor is not None:
        near = (*near, billed - predict(state, request).tokens)[-MISSES:]
    if state.fit.constant(request.key) is not None:
        alone = predict(state, request._replace(anchor=None)).tokens
        far = (*far, round((billed - alone) / billed, 5))[-MISSES:]
    row = far[-MISFIT_ROW:]
    misfit = state.misfit or (len(row) == MISFIT_ROW and all(abs(miss) > MISFIT for miss in row))
    return replace(state, near=near, far=far, misfit=misfit)


def _solve(samples: Sequence[Sample], *, trusted: bool) -> Fit:
    """Fit constants, message, call and scale by ridge regression that distrusts outliers."""
    keys = tuple(dict.fromkeys(sample.key for sample in samples if sample.key))
    spread = SPREAD_EXACT if trusted else SPREAD_GUESSED
    ridge = [SPREAD_MESSAGE**-2, SPREAD_CALL**-2, spread**-2, *[SPREAD_CONSTANT**-2] * len(keys)]
    rows = [_row(sample, keys) for sample in samples]
    noises = [_noise(sample, trusted) for sample in samples]
    weights = [1.0] * len(samples)
    found = [0.0] * len(ridge)
    for _ in range(ROUNDS):
        found = _regress(samples, rows, [w / n**2 for w, n in zip(weights, noises, strict=True)], ridge)
        misses = [s.surplus - _dot(row, found) for s, row in zip(samples, rows, strict=True)]
        weights = [1 / (1 + (m / (OUTLYING * n)) ** 2) for m, n in zip(misses, noises, strict=True)]
    return Fit(
        message=_within(found[0], LIMITS_MESSAGE),
        call=_within(found[1], LIMITS_CALL),
        scale=_within(1 + found[2], LIMITS_SCALE),
        constants=tuple((k, _within(v, (-HIDDEN, HIDDEN))) for k, v in zip(keys, found[3:], strict=True)),
    )


def _regress(
    samples: Sequence[Sample], rows: list[list[float]], weights: list[float], ridge: list[float]
) -> list[float]:
    size = len(ridge)
    matrix = [[ridge[i] if i == j else 0.0 for j in range(size)] for i in range(size)]
    target = [0.0] * size
    for sample, row, weight in zip(samples, rows, weights, strict=True):
        filled = [(i, x) for i, x in enumerate(row) if x]
        for i, x in filled:
            target[i] += weight * x * sample.surplus
            for j, y in filled:
                matrix[i][j] += weight * x * y
    return solve(matrix, target)


def _row(sample: Sample, keys: tuple[str, ...]) -> list[float]:
    tally = sample.tally
    return [tally.messages, tally.calls, tally.tokens, *(float(key == sample.key) for key in keys)]


def _dot(row: Sequence[float], column: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(row, column, strict=True))


def _within(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])


def solve(matrix: list[list[float]], target: list[float]) -> list[float]:
    """Solve a small symmetric positive system by elimination; the ridge makes every pivot positive."""
    size = len(target)
    rows = [[*row, value] for row, value in zip(matrix, target, strict=True)]
    for i in range(size):
        pivot = rows[i][i]
        for j in range(i + 1, size):
            factor = rows[j][i] / pivot
            if factor:
                rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (rows[i][size] - _dot(rows[i][i + 1 : size], found[i + 1 :])) / rows[i][i]
    return found


def dump(state: Calibration) -> str:
    """Write a state as JSON text, for a store to keep; the fit follows from the rest, limits from the model."""
    data = asdict(state)
    del data["fit"], data["hidden"]
    return compact(data | {"least": dict(state.least)})


def load(text: str) -> Calibration:
    """Read a state back; raise `BadInput` for anything that `dump` did not write."""
    try:
        data = take_object(parse(text), "calibration")
    except ValueError as problem:
        raise BadInput("calibration", f"not JSON: {problem}") from problem
    least = take_object(data.get("least", {}), "calibration.least")
    state = Calibration(
        exact=data.get("exact") is True,
        samples=tuple(_load_sample(item) for item in _items(data, "samples")),
        anchors=tuple(_load_anchor(item) for item in _items(data, "anchors")),
        least=tuple((key, take_count(least, key, "calibration.least")) for key in least),
        odd=tuple(_load_sample(item) for item in _items(data, "odd")),
        misfit=data.get("misfit") is True,
        near=tuple(round(_number(miss)) for miss in take_list(data, "near", "calibration")),
        far=tuple(_number(miss) for miss in take_list(data, "far", "calibration")),
    )
    # The fit is computed again: samples from elsewhere must not bring a fit of their own.
    return replace(state, fit=_solve(state.samples, trusted=state.trusted))


def _items(data: JsonObject, key: str) -> Iterator[JsonObject]:
    for item in take_list(data, key, "calibration"):
        yield take_object(item, f"calibration.{key}")


def _load_sample(data: JsonObject) -> Sample:
    where = "calibration.samples"
    surplus, suspect = round(_number(data.get("surplus"))), take_text(data, "suspect", where)
    return Sample(take_text(data, "key", where), _load_tally(data, where), surplus, suspect)


def _load_anchor(data: JsonObject) -> Anchor:
    where = "calibration.anchors"
    billed = take_count(data, "billed", where)
    return Anchor(take_text(data, "digest", where), billed, _load_tally(data, where))


def _load_tally(data: JsonObject, where: str) -> TokenTally:
    inner = take_inner(data, "tally", where)
    names = ("tokens", "messages", "calls", "guessed")
    return TokenTally(*(round(_number(inner.get(name))) for name in names))


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput("calibration", f"expected a number, got {value!r}")
    return float(value)
