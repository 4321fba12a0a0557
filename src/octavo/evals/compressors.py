"""Everything that can be tested, behind one call: messages and a budget go in, messages come out.

A compressor is named: a policy (`octavo`, `gemini`), a policy with the share of the budget that its newest turns get
(`octavo@0.05`), a baseline (`truncate`), or a function of the user's own (`package.module:function`). Its result is
read like any list of messages; one that cannot be read is a finding, not a failure of the evaluation.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from octavo.core.budget import ModelCard, Price
from octavo.core.messages import Message
from octavo.core.policy import PRESETS
from octavo.core.summary import Narrative, SummaryJob
from octavo.core.wire import detect, read, write
from octavo.engine.compression import cost
from octavo.engine.stateless import CompressionOptions, acompress
from octavo.errors import BadInput, ContextOverflow, UnknownModel
from octavo.evals.baselines import BASELINES, Baseline, Scale
from octavo.evals.compressor import CompressionJob, CompressionResult, Compressor
from octavo.evals.stored_compressor import STORED, StoredCompressor
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from octavo.protocols import Summariser

YARDSTICK = "chars4"
"""The meter that needs no vocabulary: characters divided by 4, the same on every machine."""
KEEP_MARK = "@"
FUNCTION_MARK = ":"


def meter_of(model: str) -> Meter:
    """Give the meter of a model, or the yardstick's."""
    if model == YARDSTICK:
        return Meter(ModelCard(name=YARDSTICK, tokenizer=YARDSTICK, frame="yardstick"))
    card = find_card(model)
    if card.assumed and card.tokenizer == ModelCard(name=model).tokenizer:
        raise UnknownModel(
            f"nothing is known of the model {model!r}; see: octavo models; or count by {YARDSTICK}"
        )
    return Meter(card)


@dataclass(frozen=True, slots=True)
class BaselineCompressor:
    """A baseline."""

    name: str
    baseline: Baseline
    scale: Scale
    remembers: bool = False

    async def compress(self, job: CompressionJob) -> CompressionResult:
        return CompressionResult(messages=self.baseline(job.messages, job.budget, self.scale))


@dataclass(frozen=True, slots=True)
class FixedCompressor:
    """What is sent already: the context of a stored conversation as it stands."""

    name: str
    messages: tuple[Message, ...]
    remembers: bool = True

    async def compress(self, job: CompressionJob) -> CompressionResult:  # noqa: ARG002
        return CompressionResult(messages=self.messages)


@dataclass(slots=True)
class BilledSummariser:
    """A summariser whose bill is added up."""

    summariser: Summariser
    price: Price | None = None
    spent: float = 0.0

    async def summarise(self, job: SummaryJob, tell: Callable[[str], None]) -> Narrative:
        narrative = await self.summariser.summarise(job, tell)
        self.spent += cost(narrative.usage, self.price) or 0.0
        return narrative


@dataclass(slots=True)
class PolicyCompressor:
    """Octavo itself, under a policy."""

    name: str
    policy: str
    meter: Meter
    keep: float | None = None
    narrator: BilledSummariser | None = None
    remembers: bool = False

    async def compress(self, job: CompressionJob) -> CompressionResult:
        options: CompressionOptions = {
            "budget": job.budget,
            "meter": self.meter,
            "policy": self.policy,
            "format": "openai",
        }
        if self.keep is not None:
            options["keep"] = self.keep
        if self.narrator is not None:
            options["summariser"] = self.narrator
        before = self.narrator.spent if self.narrator else 0.0
        try:
            result = await acompress(write("openai", job.messages).messages, **options)
        except ContextOverflow as error:
            return CompressionResult(wrong=(str(error),))
        spent = self.narrator.spent - before if self.narrator else 0.0
        return CompressionResult(messages=read("openai", result.messages), price=spent)


Function = Callable[[list[dict[str, Any]], int], Any]


@dataclass(slots=True)
class UserFunction:
    """A function of the user's own: OpenAI messages and a budget in, OpenAI messages out."""

    name: str
    function: Function
    remembers: bool = False

    async def compress(self, job: CompressionJob) -> CompressionResult:
        plain: Any = write("openai", job.messages).messages
        try:
            # In a thread of its own: such functions often start an event loop themselves.
            answer = await asyncio.to_thread(self.function, plain, job.budget)
            answer = await answer if inspect.isawaitable(answer) else answer
            found = getattr(answer, "messages", answer)
            listed = list(found) if _is_list(found) else found
        except Exception as error:  # noqa: BLE001 - it is somebody else's, and may raise anything
            return CompressionResult(wrong=(f"it raised {type(error).__name__}: {error}",))
        if not isinstance(listed, list):
            return CompressionResult(
                wrong=(f"it gave a value of type {type(found).__name__}, not a list of messages",)
            )
        try:
            return CompressionResult(messages=read(detect(listed), listed))
        except BadInput as error:
            return CompressionResult(wrong=(f"it gave what cannot be read as messages: {error}",))


def _is_list(found: object) -> bool:
    return isinstance(found, Iterable) and not isinstance(found, str | bytes | Mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressorFactory:
    """What compressors are made with."""

    meter: Meter
    summariser: Summariser | None = None
    summariser_name: str = ""
    price: Price | None = None
    folder: Path = field(default_factory=Path)
    """Where the user's own modules are looked for first."""

    def make(self, name: str) -> tuple[Compressor, ...]:
        """Make the compressors of a name; a policy comes with and without the summariser, if there is one."""
        if name in BASELINES:
            return (BaselineCompressor(name, BASELINES[name], Scale(self.meter)),)
        if name == STORED:
            return (StoredCompressor(meter=self.meter),)
        policy, _, keep = name.partition(KEEP_MARK)
        if policy in PRESETS:
            plain = PolicyCompressor(name, policy, self.meter, _keep(keep, name))
            if self.summariser is None:
                return (plain,)
            narrator = BilledSummariser(self.summariser, self.price)
            told = f"{name} + {self.summariser_name}"
            return (plain, PolicyCompressor(told, policy, self.meter, plain.keep, narrator))
        if FUNCTION_MARK in name:
            return (UserFunction(name, _function(name, self.folder)),)
        raise BadInput(
            "compressor",
            f"unknown {name!r}; one of {', '.join([*PRESETS, STORED, *BASELINES])}, a policy with a share such as "
            "octavo@0.05, or package.module:function",
        )


def make_all(workshop: CompressorFactory, names: Sequence[str]) -> tuple[Compressor, ...]:
    """Make the compressors of several names, each once."""
    return tuple(made for name in dict.fromkeys(names) for made in workshop.make(name))


async def release(compressors: Iterable[Compressor]) -> None:
    """Give back what compressors hold."""
    for compressor in compressors:
        if isinstance(compressor, StoredCompressor):
            await compressor.close()


def _keep(text: str, name: str) -> float | None:
    if not text:
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise BadInput(
            "compressor", f"{name!r}: expected a share of the budget from 0 to below 1 after the @"
        )
    return share


def _function(name: str, folder: Path) -> Function:
    module_name, _, attribute = name.partition(FUNCTION_MARK)
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        problem = f"cannot import {module_name!r}: {type(error).__name__}: {error}"
        raise BadInput("compressor", problem) from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise BadInput("compressor", f"{module_name!r} has no function {attribute!r}")
    made: Function = function
    return made
