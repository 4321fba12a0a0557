"""Predicted against billed: recorded requests with what the provider charged for each.

Every run is replayed request by request, the calibration knowing the bills before it and nothing else. A compression
is simulated by leaving out the middle of a conversation; what its request would have been billed follows from the
recorded bills, since leaving messages out takes away exactly what they had added.
"""

from __future__ import annotations

import gzip
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.figures import Absent, Cell, Item, Table, Tell
from benchmarks.places import DATA
from octavo.core.budget import ModelCard
from octavo.core.messages import Message, user
from octavo.core.wire import read
from octavo.meters.calibration import Calibration, observe
from octavo.meters.meter import Meter, Running

LEARNING = 3
"""Requests of a run that are not judged: the hidden prompt and the tools are learned from them."""
COMPRESS_EVERY = 3
"""Requests between simulated compressions."""
KEPT = 1 / 3
"""Share of the requests since the last real compression whose messages a simulated one retains."""

GEMINI = ModelCard(name="gemini-3-pro-preview", tokenizer="gemma", frame="gemini", image_rule="gemini-3")
CLAUDE = ModelCard(
    name="claude-opus-4-5", tokenizer="claude-3", frame="anthropic-4.5", image_rule="anthropic"
)
CORPORA = (("agent_miniswe", "Gemini 3 Pro", GEMINI), ("agent_pi_sessions", "Claude 4.5", CLAUDE))


@dataclass(frozen=True, slots=True)
class Bill:
    """A recorded request: the messages sent, as indices into the run, and the tokens charged."""

    epoch: int
    """How many real compressions came before it."""
    messages: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded conversation; summaries of real compressions stand at the end of `messages`."""

    id: str
    messages: tuple[Message, ...]
    bills: tuple[Bill, ...]


@dataclass(slots=True)
class Errors:
    """Relative errors, and how often the truth was within the stated bound."""

    ahead: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    within: int = 0

    def add(self, into: list[float], predicted: int, bound: int, billed: int) -> None:
        into.append(abs(predicted - billed) / billed)
        self.within += billed <= predicted + bound


def runs(corpus: str) -> Iterator[Run]:
    """Read the recorded conversations of a corpus."""
    with gzip.open(DATA / f"{corpus}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _run(json.loads(line))


def _run(data: dict[str, Any]) -> Run:
    plain = [{k: v for k, v in m.items() if not k.startswith("x_") and k != "mid"} for m in data["messages"]]
    real = data.get("llm_compactions") or []
    messages = read("openai", plain) + tuple(user(each["summary"]) for each in real)
    bills = []
    for index, message in enumerate(data["messages"]):
        if usage := message.get("x_usage"):
            epoch = sum(each["at_message"] <= index for each in real)
            sent: tuple[int, ...] = tuple(range(index))
            if epoch:
                sent = (len(plain) + epoch - 1, *range(real[epoch - 1]["first_kept_message"], index))
            bills.append(Bill(epoch, sent, usage["prompt_tokens"]))
    return Run(data["id"], messages, tuple(bills))


def replay(run: Run, card: ModelCard, errors: Errors) -> None:
    """Predict every request of a run from the bills before it."""
    calibration = Calibration()
    counts = [Meter(card).count_message(message) for message in run.messages]
    for number, bill in enumerate(run.bills):
        meter = Meter(card, calibration)
        request = _request(meter, run, counts, bill.messages)
        if number >= LEARNING:
            prediction = meter.predict(request)
            errors.add(errors.ahead, prediction.tokens, prediction.bound, bill.tokens)
            if number % COMPRESS_EVERY == 0:
                _compress(meter, run, counts, number, errors)
        calibration = observe(meter.calibration, request.request, bill.tokens)


def _compress(meter: Meter, run: Run, counts: list[int], number: int, errors: Errors) -> None:
    bill = run.bills[number]
    before = [each for each in run.bills[:number] if each.epoch == bill.epoch]
    if len(before) <= LEARNING:
        return
    head, cut = before[0], before[round(len(before) * (1 - KEPT)) - 1]
    billed = head.tokens + bill.tokens - cut.tokens
    if not head.tokens < cut.tokens < bill.tokens:
        return
    kept = head.messages + bill.messages[len(cut.messages) :]
    prediction = meter.predict(_request(meter, run, counts, kept))
    errors.add(errors.after, prediction.tokens, prediction.bound, billed)


def _request(meter: Meter, run: Run, counts: list[int], sent: tuple[int, ...]) -> Running:
    running = meter.start()
    for index in sent:
        running = meter.extend(running, run.messages[index], counts[index])
    return running


def plain(run: Run, card: ModelCard, errors: Errors) -> None:
    """Predict without learning anything, as counters do that are not calibrated."""
    meter = Meter(card)
    counts = [meter.count_message(message) for message in run.messages]
    for number, bill in enumerate(run.bills[LEARNING:], start=LEARNING):
        errors.add(errors.ahead, sum(counts[index] for index in bill.messages), 0, bill.tokens)
        if number % COMPRESS_EVERY == 0:
            _compress(meter, run, counts, number, errors)


Way = Callable[[Run, ModelCard, Errors], None]
CHARACTERS = ModelCard(name="characters", tokenizer="chars4", frame="yardstick")
O200K = ModelCard(name="o200k", tokenizer="o200k", frame="openai")


def ways(card: ModelCard) -> tuple[tuple[str, Way, ModelCard], ...]:
    """List what is compared: two usual counters, our count alone, and calibrated counts."""
    stand_in = replace(card, name="o200k", tokenizer="grok")
    return (
        ("characters / 4", plain, CHARACTERS),
        ("o200k", plain, O200K),
        ("own vocabulary and frame", plain, card),
        ("o200k, calibrated", replay, stand_in),
        ("own, calibrated", replay, card),
    )


def replay_all(corpus: str, way: Way, card: ModelCard) -> Errors:
    """Replay a corpus one way."""
    errors = Errors()
    for run in runs(corpus):
        way(run, card, errors)
    return errors


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def row(name: str, label: str, errors: Errors) -> tuple[Cell, ...]:
    """Put what was found, in percent of the bill."""
    within = errors.within / (len(errors.ahead) + len(errors.after))
    ahead, after = (
        (len(values), 100 * statistics.median(values), 100 * quantile(values, 0.95))
        for values in (errors.ahead, errors.after)
    )
    return (name, label, *ahead, *after, 100 * within)


def measure(*, quick: bool, tell: Tell) -> Iterator[Item]:
    if not DATA.exists():
        raise Absent("the recorded bills are not here")
    rows: list[tuple[Cell, ...]] = []
    for corpus, name, card in CORPORA[-1:] if quick else CORPORA:
        for label, way, counter in ways(card)[-1:] if quick else ways(card):
            tell(f"{name}, {label}")
            rows.append(row(name, label, replay_all(corpus, way, counter)))
    yield Table(
        name="bills",
        title="What was predicted against what the provider billed, error in percent of the bill",
        columns=(
            "bills",
            "counter",
            "requests",
            "median",
            "95 %",
            "after compressing",
            "median",
            "95 %",
            "within the bound, %",
        ),
        rows=tuple(rows),
        reading="Recorded requests, each predicted from the bills before it; `within the bound` is how often the truth "
        "was at most what the meter said with its own error bound added.",
    )
