"""`eval`: what compressors keep, lose and cost, measured side by side.

Without arguments it runs on conversations that Octavo makes itself, asks no model and needs no network. If something
costs money, the command says how much before it starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli.app import app
from octavo.cli.compress_options import format_of, naming, summarising
from octavo.cli.lines import line
from octavo.cli.message_files import open_input, read_histories
from octavo.cli.options import AsJson, Db, complete_conversations, grouped
from octavo.cli.printing import put, show_json, tell, written
from octavo.cli.probes import add_probes, open_bench
from octavo.cli.progress import ProgressLine, progress
from octavo.cli.setup import Setup, find_chat, opened, run_busy, setup_of
from octavo.errors import BadInput, UsageError

if TYPE_CHECKING:
    from octavo.evals.compressor import Compressor
    from octavo.evals.compressors import FixedCompressor
    from octavo.evals.findings import Findings
    from octavo.evals.measure.score import Case
    from octavo.evals.session import EvaluationOptions
    from octavo.meters.meter import Meter

USUAL = ("octavo", "octavo@0.05", "none", "truncate", "head+tail", "mask")
"""What is compared when nothing is named."""
BUDGETS = ("0.1", "0.25")
HISTORIES = (".json", ".jsonl")
"""Files of a folder that are read."""
YARDSTICK = "chars4"
PROBING = ("judge", "repeats", "probes", "probe_cases", "yes")
"""Options about probes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What is measured, and on which conversations."""

    compressor: Annotated[
        list[str] | None,
        typer.Option(
            "--compressor",
            "-c",
            metavar="NAME",
            show_default=False,
            help="A policy (octavo, onyx, wave, requirements, gemini), a policy with the share of its newest turns "
            "(octavo@0.05), `stored` (the engine on a store, with pins and branches), a baseline (none, newest, "
            "truncate, head+tail, mask), or your own function "
            "(package.module:function, which is given OpenAI messages and a budget). The first is compared with the "
            "others.",
        ),
    ] = None
    budget: Annotated[
        list[str] | None,
        typer.Option(
            "--budget",
            "-b",
            metavar="SIZE",
            show_default=False,
            help="A share of the conversation (0.1, 10%) or tokens (4000); 0.1 and 0.25 when not given.",
        ),
    ] = None
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            metavar="N",
            min=0,
            help="How many times to compress while the conversation grows; 0 compresses once, at the end.",
        ),
    ] = 0
    originals: Annotated[
        bool,
        typer.Option(
            "--originals",
            help="Start each round from the originals, as a store does, not from the last result.",
        ),
    ] = False
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            show_default=False,
            help="Read the public sets in this folder (JSON Lines).",
        ),
    ] = None
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation",
            metavar="ID",
            show_default=False,
            help="Measure a stored conversation, and the context that is sent for it now.",
            autocompletion=complete_conversations,
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="SET", show_default=False, help="Measure only the sets of this name."),
    ] = None
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="The model whose tokens are counted; chars4 means characters / 4.",
        ),
    ] = YARDSTICK
    summariser: Annotated[
        str,
        typer.Option(
            "--summariser", metavar="MODEL", help="Also measure policies with this model's summaries."
        ),
    ] = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """Who asks, answers and judges."""

    probe: Annotated[
        str | None,
        typer.Option(
            "--probe",
            metavar="MODEL",
            show_default=False,
            help="Also have this model ask questions, answer them and judge the answers.",
        ),
    ] = None
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="MODEL",
            show_default=False,
            help="Another model of the same provider that judges; with `words`, the expected words must occur.",
        ),
    ] = ""
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", min=5, help="How many answers each probe gets.")
    ] = 5
    probes: Annotated[
        int,
        typer.Option(
            "--probes",
            metavar="N",
            min=1,
            help="How many probes of each of the four kinds to ask about a conversation.",
        ),
    ] = 4
    probe_cases: Annotated[
        int, typer.Option("--probe-cases", metavar="N", min=1, help="How many conversations to probe.")
    ] = 3
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before spending money.")] = False


@app.command(
    name="eval",
    short_help="Measure what compressing keeps and loses.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo eval                                      on conversations made for it\n"
    "  octavo eval chat.json runs/ --html report.html   on your own, with plots\n"
    "  octavo eval chat.json -c octavo -c mine.pack:shorten -b 4000\n"
    "  octavo eval --conversation last                  what a stored conversation has lost\n"
    "  octavo eval --rounds 9 --budget 0.1              compressed again and again\n"
    "  octavo eval --data sets/ --only locomo10         public sets\n"
    "  octavo eval chat.json --probe gpt-4o-mini        a model asks, answers and judges",
)
@grouped
def evaluate(
    context: typer.Context,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE", show_default=False, help="Files of messages, or folders with such files."
        ),
    ] = None,
    *,
    measure: MeasureOptions,
    probing: ProbeOptions,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Another seed makes other conversations.")
    ] = 0,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", show_default=False, help="Write a report with plots to this file."
        ),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Measure what compressing keeps and loses, and print a table.

    Takes any compressor and any conversation. Without sources it makes its own: chats, runs with tools, several
    languages and branches, with things planted that must be kept. No model is asked unless one is named.

    Conversations with questions (public sets, and those made here) are measured by the answers that survive. Any other
    is cut where an assistant goes on, and what it wrote next tells what it needed. Facts, decisions, pinned text, the
    protocol and the budget are checked on all.
    """
    from octavo.evals.session import EvaluationOptions

    setup = setup_of(context, db)
    _refuse_useless(context)
    wanted = EvaluationOptions(
        compressors=tuple(measure.compressor or USUAL),
        budgets=tuple(map(read_size, measure.budget or BUDGETS)),
        rounds=measure.rounds,
        originals=measure.originals,
        model=measure.model,
        only=tuple(measure.only or ()),
        seed=seed,
        stories=html is not None,
        probe=probing.probe or "",
        judge=probing.judge,
        repeats=probing.repeats,
        probes=probing.probes,
        probe_cases=probing.probe_cases,
    )
    found = run_busy(_evaluate(setup, wanted, sources or [], measure, yes=probing.yes))
    if html is not None:
        from octavo.evals.page import page

        with written(html) as write:
            write(page(found))
        tell(setup, [line(f"report: {html}")])
    _print(found, as_json=as_json)
    if found.stopped:
        raise typer.Exit(1)


def _refuse_useless(context: typer.Context) -> None:
    """Refuse options that would change nothing: a person who gives one expects an effect."""

    def given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    useless = [(name, "is about probes: give --probe too") for name in PROBING if not given("probe")]
    if not given("rounds"):
        useless.append(("originals", "says how rounds go on: give --rounds too"))
    if given("sources") or given("data") or given("conversation"):
        useless.append(("seed", "is about conversations that are made here: leave out the others"))
    if given("conversation"):
        useless.append(("only", "chooses among sets, and a stored conversation is one by itself"))
    for name, why in useless:
        if given(name):
            raise UsageError(f"--{name.replace('_', '-')} {why}")


def _print(found: Findings, *, as_json: bool) -> None:
    from octavo.evals.report import markdown, to_json

    if as_json:
        show_json(to_json(found))
    else:
        put(markdown(found))


def read_size(text: str) -> float:
    """Read a budget: `0.1` or `10%` of a conversation, `4000` tokens."""
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        number = 0.0
    size = number / 100 if text.strip().endswith("%") else number
    if not size > 0 or size == float("inf") or (text.strip().endswith("%") and size > 1):
        raise BadInput("budget", f"expected a share such as 0.1 or 10%, or tokens such as 4000, got {text!r}")
    return size


async def _evaluate(
    setup: Setup,
    wanted: EvaluationOptions,
    sources: Sequence[str],
    measure: MeasureOptions,
    *,
    yes: bool,
) -> Findings:
    from octavo.evals.compressors import CompressorFactory, PolicyCompressor, make_all, meter_of, release
    from octavo.evals.session import choose, measured
    from octavo.meters.cards import find_card

    data, conversation, summariser = measure.data, measure.conversation, measure.summariser
    if conversation and (sources or data):
        raise UsageError("a stored conversation is measured by itself: leave out the files and --data")
    meter = meter_of(wanted.model)
    fixed: tuple[FixedCompressor, ...] = ()
    async with open_bench(setup, wanted) as bench, summarising(setup, summariser, wanted.model) as narrator:
        workshop = CompressorFactory(
            meter=meter,
            summariser=narrator,
            summariser_name=summariser,
            price=find_card(summariser).price if narrator else None,
        )
        named = make_all(workshop, wanted.compressors)
        if narrator and not any(isinstance(one, PolicyCompressor) for one in named):
            raise UsageError("--summariser is for policies: name one with -c")
        with progress() as shown:
            if conversation:
                cases, fixed = await _stored(setup, conversation)
            else:
                cases = tuple(_cases(sources, data, meter, shown, wanted.seed))
            compressors: tuple[Compressor, ...] = (*fixed, *named)
            chosen = choose(cases, wanted.only)
            try:
                found = await measured(wanted, chosen, compressors, meter, shown.step)
                if bench:
                    return await add_probes(
                        setup, wanted, bench, found, chosen, compressors, meter, shown, yes=yes
                    )
            finally:
                await release(compressors)
    return found


def _cases(
    sources: Sequence[str], data: Path | None, meter: Meter, shown: ProgressLine, seed: int
) -> Iterator[Case]:
    from octavo.evals.cases import built_in
    from octavo.evals.sources import read_sets

    if data is not None:
        shown.step(f"reading {data}")
        yield from read_sets(data, meter.count_message)
    for name in sources:
        yield from _own(name, meter)
    if data is None and not sources:
        yield from built_in(seed)


def _own(name: str, meter: Meter) -> Iterator[Case]:
    """Read the conversations of a file, or of all files of a folder."""
    from octavo.core.wire import read
    from octavo.evals.sources import cut_cases

    folder = Path(name)
    inside = [str(path) for path in sorted(folder.rglob("*")) if path.suffix in HISTORIES]
    if folder.is_dir() and not inside:
        raise UsageError(f"{name} has no files that end in {' or '.join(HISTORIES)}")
    for file in inside if folder.is_dir() else [name]:
        with open_input(file) as opened_file, naming(file):
            for history in read_histories(opened_file):
                messages = read(format_of(history, None), history.messages, history.system)
                label = f"{Path(file).name} {history.where}".strip()
                yield from cut_cases(
                    messages, folder.stem if folder.is_dir() else "files", label, meter.count_message
                )


async def _stored(setup: Setup, wanted: str) -> tuple[tuple[Case, ...], tuple[FixedCompressor, ...]]:
    """Give a stored conversation as a case, and the context that is sent for it now as a result to measure."""
    from octavo.evals.compressors import FixedCompressor
    from octavo.evals.measure.score import Case

    async with opened(setup) as engine:
        chat = await find_chat(engine, wanted)
        info, branch, state = await chat.info(), await chat.branch(), await engine.state_of(chat.id)
    name = info.title or wanted
    said = tuple(node.message for node in branch)
    if not said:
        raise UsageError(f"the conversation {name!r} is empty")
    pins = tuple(pin.text for pin in state.recipe.pins)
    case = Case(name=name, group=name, set="stored", messages=(*state.recipe.system, *said), pins=pins)
    return (case,), (FixedCompressor("as it is sent now", state.context.messages),)
