"""The probes of `eval`: opens the models that ask, answer and judge, agrees on the price, and adds what they found."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from octavo.cli.compress_options import addressed
from octavo.cli.lines import Line, clean, is_terminal, line, many
from octavo.cli.printing import tell
from octavo.cli.progress import ProgressLine, ProgressLog
from octavo.cli.setup import Setup
from octavo.errors import UsageError

if TYPE_CHECKING:
    from asyncio import Task

    from octavo.evals.compressor import Compressor
    from octavo.evals.findings import Findings
    from octavo.evals.judging import Bench, Estimate
    from octavo.evals.measure.score import Case
    from octavo.evals.session import EvaluationOptions
    from octavo.meters.meter import Meter


@asynccontextmanager
async def open_bench(setup: Setup, wanted: EvaluationOptions) -> AsyncIterator[Bench | None]:
    """Open the models that ask, answer and judge, if they are wanted: what is missing is said before all else."""
    from octavo.evals.compressors import meter_of
    from octavo.evals.judging import WORDS, Bench
    from octavo.providers.catalogue import open_provider, resolve
    from octavo.providers.settings import read_settings

    if not wanted.probe:
        yield None
        return
    address, model, judge = wanted.probe, wanted.probe, wanted.judge
    if setup.provider is None:
        address = await addressed(setup, model)
        owner, model = resolve(address).provider, resolve(address).model
        if judge not in ("", WORDS):
            other = resolve(await addressed(setup, judge))
            if other.provider != owner:
                raise UsageError(f"--judge {judge}: the one who judges must be another model of {owner}")
            judge = other.model
    provider = setup.provider or open_provider(address, read_settings(setup.environment))
    try:
        yield Bench(
            provider=provider,
            model=model,
            meter=meter_of(wanted.probe),
            judge=judge,
            repeats=wanted.repeats,
            per_kind=wanted.probes,
        )
    finally:
        await provider.close()


async def add_probes(
    setup: Setup,
    wanted: EvaluationOptions,
    bench: Bench,
    found: Findings,
    cases: Sequence[Case],
    compressors: Sequence[Compressor],
    meter: Meter,
    shown: ProgressLine,
    *,
    yes: bool,
) -> Findings:
    """Add the verdicts of the probes; when they fail or are stopped, those on what was judged by then."""
    import asyncio

    from octavo.evals.judging import estimate, probe_all, spent, verdicts
    from octavo.evals.session import contenders

    probed = cases[: wanted.probe_cases]
    ready = await contenders(probed, compressors, wanted.budgets[0], meter)
    shown.clear()
    tell(setup, [_price_line(estimate(bench, ready))])
    _agree(yes=yes)
    step = shown.step if is_terminal(sys.stderr) else ProgressLog().step
    with _stoppable() as task:
        try:
            await probe_all(bench, probed, ready, step)
        except asyncio.CancelledError:
            if task.uncancel():
                raise
            bench.stopped = "Ctrl-C"
    shown.clear()
    paid = spent(bench)
    price = "" if paid is None else f", ${paid:.4f}"
    used = f"{bench.made:,} made, {bench.usable:,} of them usable"
    tell(setup, [line(f"probes: {used}; {len(bench.usage):,} calls{price}")])
    stopped = ""
    if bench.stopped:
        tell(setup, [line(("bad", f"the probes stopped early: {clean(bench.stopped)}"))])
        stopped = f"after {many(len(bench.judged), 'judged answer')}: {bench.stopped}"
    return found.with_probes(verdicts(bench, ready), stopped)


@contextmanager
def _stoppable() -> Iterator[Task[object]]:
    """Have Ctrl-C cancel the task that waits here, so that it can keep what it has."""
    import asyncio

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    before = signal.getsignal(signal.SIGINT)
    with suppress(NotImplementedError, ValueError):  # not on every platform, nor in every thread
        loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield task
    finally:
        with suppress(NotImplementedError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, before)


def _price_line(expected: Estimate) -> Line:
    price = "price not known" if expected.dollars is None else f"at most ${expected.dollars:.2f}"
    return line(
        ("strong", f"probes: at most {expected.calls:,} calls, "),
        f"{expected.input:,} tokens in, {expected.output:,} out; {price}",
    )


def _agree(*, yes: bool) -> None:
    """Let a person decide before money is spent; where nobody can, --yes decides."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("nobody is there to agree to the price: give --yes")
    if not typer.confirm("go on?", err=True):
        raise typer.Abort
