"""What the terminal chat says: pure functions from values to lines.

Each outcome of a compression has its own words, with the numbers and what can be done next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from octavo.cli.conversations import when
from octavo.cli.lines import Line, Piece, Style, bar, clean, fit, line, many, summary_of, table, width
from octavo.cli.receipts import brief, capitalized, unwritten_lines
from octavo.cli.setup import short
from octavo.cli.tree import content
from octavo.core.messages import Branch, Node
from octavo.core.recall.passages import Passages
from octavo.core.receipt import Receipt
from octavo.core.reply import Retrying
from octavo.core.snapshot import Extracts, Snapshot
from octavo.core.transcript import LABELS
from octavo.core.verify import in_plain_words
from octavo.engine.outcome import (
    Answered,
    AnswerFailed,
    Cancelled,
    Compressed,
    CompressionPlan,
    ContextShrunk,
    ContextUsage,
    Failed,
    Outcome,
    Recalled,
    Rejected,
    Repaired,
    Skipped,
)

if TYPE_CHECKING:
    from octavo.core.context import Context
    from octavo.store.values import PinPlace

SMALL_HISTORY = 50_000
"""Tokens below which a compression that gains nothing is no surprise (the Gemini seed's number)."""
GAUGE = 10
"""Columns of the gauge in the status line."""
FAR = 100
"""Turns: further away, how many more would be a guess from little."""
SECTION = 24
"""Columns of a bar in the breakdown."""
USAGE = 30
"""Columns for how a command is written; a longer one has a line of its own."""
SECTIONS = {
    "system": "system prompt",
    "tools": "tools",
    "pins": "pins",
    "summary": "snapshot",
    "retained": "messages, verbatim",
    "pending": "pending",
    "frame": "frame",
}


# The status line


def status(
    usage: ContextUsage | None,
    *,
    model: str,
    columns: int,
    typed: int = 0,
    background: str = "",
    title: str = "",
) -> Line:
    """Draw the line under the input: as much of it as fits, the most important first."""
    if usage is None:
        pieces: list[Piece] = [("", "0 tokens"), ("accent", model or "no model: /model NAME")]
    else:
        pieces = list(_gauge(usage, typed))
        pieces.insert(3, ("accent", f"{model} (window assumed)" if usage.assumed else model))
    if background:
        pieces.insert(1, ("warn", background))
    if title:
        pieces.append(("faint", fit(clean(title), columns // 3)))
    return _fitted(pieces, columns)


def _gauge(usage: ContextUsage, typed: int) -> Iterator[Piece]:
    tokens, budget = usage.reading.tokens, usage.budget
    colour = level(usage)
    share = min(1.0, usage.percent / 100)
    yield (colour, f"{bar(share, GAUGE)} {usage.percent:.0f}%")
    more = f" +{typed:,} typed" if typed else ""
    yield ("", f"{tokens:,} of {budget.limit:,} tokens{more}")
    yield (colour, _distance(usage, typed))
    yield ("faint", usage.reading.certainty)


def _distance(usage: ContextUsage, typed: int) -> str:
    """Say how far it is to the next compression: in turns, where there were any to go by."""
    left = max(0, usage.next_in - typed)
    if not left:
        return "compresses next"
    if usage.turns is None:
        return f"compresses in {left:,} tokens"
    # What is typed is a part of the next turn: the server's figure counts without it.
    turns = usage.turns * left // usage.next_in
    if turns > FAR:
        return f"compresses in more than {FAR} turns"
    return f"compresses in about {many(turns, 'turn')}" if turns else "compresses in less than a turn"


def level(usage: ContextUsage) -> Style:
    """Colour by the marks: green, then yellow from prepare on, strong from soft on, red above hard."""
    match usage.level:
        case "hard":
            return "bad"
        case "soft":
            return "warn"
        case "calm":
            prepare = usage.budget.prepare
            return "near" if prepare is not None and usage.reading.cautious > prepare else "good"
        case other:
            assert_never(other)


def _fitted(pieces: Sequence[Piece], columns: int) -> Line:
    """Join pieces with dots, leaving out those that no longer fit."""
    made: list[Piece] = []
    used = 1
    for style, text in pieces:
        gap = " · " if made else " "
        if used + len(gap) + width(text) > columns:
            continue
        made += [("faint", gap), (style, text)]
        used += len(gap) + width(text)
    return tuple(made)


# Compressing


def outcome_lines(outcome: Outcome) -> list[Line]:
    """Say how a compression ended."""
    match outcome:
        case Compressed():
            return list(_compressed(outcome))
        case Skipped():
            return [line(("near", _skipped(outcome)))]
        case Rejected():
            return list(_rejected(outcome))
        case Failed():
            again = (
                "try /compress again" if outcome.retryable else "choose another: /settings summariser none"
            )
            return [
                line(("bad", f"Compression failed: {clean(outcome.error)}")),
                line(("faint", f"Nothing was changed; {again}.")),
            ]
        case Cancelled():
            return [line(("near", "Compression stopped. Nothing was changed."))]
        case other:
            assert_never(other)


def _compressed(outcome: Compressed) -> Iterator[Line]:
    snapshot = outcome.snapshot
    yield line(("good", f"Chat history compressed from {outcome.before:,} to {outcome.after:,} tokens"))
    author = f"summary by {snapshot.model}" if snapshot.model else "exact lines only"
    yield line(
        (
            "faint",
            f"{snapshot.messages:,} messages compressed ({author}); /summary shows it, /undo brings them back.",
        )
    )
    if snapshot.receipt:
        receipt = Receipt.from_json(snapshot.receipt)
        yield line(("faint", brief(receipt)))
        yield from unwritten_lines(receipt)
    if snapshot.model and outcome.problems:
        yield line(("near", f"At first {in_plain_words(outcome.problems)}."))


_SKIPS = {
    "nothing": "Nothing to compress: the last turn always stays as it is.",
    "fits": "Nothing to compress: everything fits.",
    "busy": "This conversation is being compressed already.",
    "vetoed": "A hook refused the compression.",
    "too_small": "The conversation is too small to be compressed automatically; /compress does it anyway.",
    "auto_off": "Automatic compression is off; /settings auto on turns it on.",
    "no_progress": "The last compression of this turn gained too little to try again; /compress does it anyway.",
    "backoff": "Compression failed a moment ago and waits before it tries again; /compress tries at once.",
    "breaker": "Compression failed several times and was given up; /compress tries at once.",
}


def _skipped(outcome: Skipped) -> str:
    return _SKIPS[outcome.reason]


def _rejected(outcome: Rejected) -> Iterator[Line]:
    """Tell the cases of the Gemini seed apart: a counting error, too little to gain, no gain at all."""
    flaws = {problem.flaw for problem in outcome.problems}
    sizes = f"{outcome.before:,} → {outcome.after:,} tokens"
    if outcome.before <= 0 or outcome.after <= 0:
        yield line(("bad", "Could not compress chat history due to a token counting error"))
        yield line(
            (
                "faint",
                "The history is unchanged. `octavo doctor` shows whether the tokenizer's data is there.",
            )
        )
    elif "not_smaller" in flaws and outcome.before < SMALL_HISTORY:
        yield line(("near", "Compression was not beneficial for this history size"))
        yield line(
            ("faint", f"{sizes}. The history is unchanged; go on, or compress more with /compress --keep 0.")
        )
    elif "not_smaller" in flaws:
        yield line(("bad", "Chat history compression did not reduce size. Continuing with full history."))
        yield line(
            (
                "faint",
                f"{sizes}. Keep less verbatim (/compress --keep 0), or exact lines only (/settings summariser none).",
            )
        )
    else:
        yield line(("bad", "The compressed history was not usable; the history is unchanged."))
        yield line(("faint", f"{capitalized(in_plain_words(outcome.problems))}."))


def plan_lines(plan: CompressionPlan) -> Iterator[Line]:
    """Say what a compression would do."""
    yield line(("strong", "Dry run"), f"  {plan.reason}")
    rows = [
        ("covered", f"{plan.covered:,} messages", f"{plan.covered_tokens:,} tokens compressed now"),
        ("verbatim", f"{plan.retained:,} messages", f"{plan.retained_tokens:,} tokens"),
        ("context", f"{plan.reading.tokens:,} tokens", f"at most {plan.after_cap:,} afterwards"),
    ]
    yield from table([(f"  {a}", b, c) for a, b, c in rows], right=(1,))
    if plan.money:
        yield line(("faint", f"  {plan.money}"))


def changed_lines(event: Repaired | ContextShrunk | Recalled | Retrying) -> Iterator[Line]:
    """Say what was done to a request before it was sent, or that it is sent again."""
    if isinstance(event, Recalled):
        sources = many(len({passage.source for passage in event.passages}), "earlier message")
        yield line(("faint", f"{sources} recalled, {event.tokens:,} tokens; /recall lists what was found"))
        return
    if isinstance(event, Retrying):
        why = clean(" ".join(event.reason.split()))
        again = f"trying again in {event.wait:.0f} s, {event.attempt} of {event.attempts}"
        yield line(("near", f"{'rate limited: ' if event.limited else ''}{why}; {again}"))
        return
    if isinstance(event, Repaired):
        repairs = many(len(event.repairs), "repair")
        yield line(("faint", f"{repairs} so that the provider accepts the request:"))
        yield from (line(("faint", f"  {clean(repair.detail)}")) for repair in event.repairs)
        return
    yield line(
        ("warn", f"The request was cut from {event.before:,} to {event.after:,} tokens so that it fits")
    )
    yield from (line(("faint", clean(note))) for note in event.notes)


# What was recalled


def passage_lines(passages: Passages) -> Iterator[Line]:
    """List passages with who said them, and when."""
    for passage in passages:
        who = f"{passage.channel} ({passage.speaker})" if passage.speaker else passage.channel
        yield line(("accent", short(passage.source)), ("faint", f"  {clean(who)}  {passage.day}".rstrip()))
        yield from (line(f"  {clean(text)}".rstrip()) for text in passage.text.splitlines())


def rule_lines(standing: Extracts) -> Iterator[Line]:
    """Number the sentences that stand, each with the message that says it."""
    width = len(str(len(standing)))
    for number, one in enumerate(standing, start=1):
        text = clean(" ".join(one.text.split()))
        yield line(("accent", f"{number:>{width}}"), f"  {text}  ", ("faint", f"message {one.depth:,}"))


# What is there


def context_lines(usage: ContextUsage, snapshot: Snapshot | None) -> Iterator[Line]:
    """Break the context down."""
    reading, budget = usage.reading, usage.budget
    yield line(
        ("strong", usage.model),
        f"  {reading.tokens:,} of {budget.limit:,} tokens, ",
        (level(usage), f"{usage.percent:.0f}%"),
        f" of what is available to history ({reading.certainty})",
    )
    most = max((tokens for _, tokens in reading.breakdown), default=0)
    columns = max((len(SECTIONS.get(name, name)) for name, _ in reading.breakdown), default=0)
    for name, tokens in reading.breakdown:
        share = bar(tokens / most, SECTION).rstrip("░") if most else ""
        yield line(f"  {SECTIONS.get(name, name):<{columns}}  {tokens:>9,}  ", ("accent", share))
    yield line(
        (
            "faint",
            f"window {budget.window:,} = {budget.reply:,} for the answer + {budget.margin:,} margin + "
            f"{budget.overhead.total:,} overhead + {budget.available:,} for the conversation",
        )
    )
    marks = [("prepare", budget.prepare), ("soft", budget.soft), ("hard", budget.hard)]
    listed = ", ".join(f"{name} {mark:,}" for name, mark in marks if mark is not None)
    yield line(
        ("faint", f"marks: {listed}; next compression above {usage.next_at:,}, in {usage.next_in:,} tokens")
    )
    if snapshot is not None:
        yield snapshot_head(snapshot)


def snapshot_head(snapshot: Snapshot) -> Line:
    counts = f"{snapshot.messages:,} messages compressed, {snapshot.tokens_before:,} → {snapshot.tokens_after:,} tokens"
    author = snapshot.model or "exact lines only"
    return line(("accent", "snapshot "), f"{counts} ({snapshot.kind}, version {snapshot.version}, {author})")


def summary_lines(snapshot: Snapshot, spoken: str) -> Iterator[Line]:
    """Show what stands for the covered messages, as the model reads it."""
    yield snapshot_head(snapshot)
    yield from (line(row) for row in clean(spoken).split("\n"))


def version_lines(snapshots: Sequence[Snapshot], serving: Snapshot | None) -> list[Line]:
    """List the snapshots of a branch, numbered for /use, /undo and /summary diff."""
    rows = [
        (
            f"{number}{'*' if serving and one.id == serving.id else ''}",
            f"up to message {one.cutoff_depth}",
            f"version {one.version}",
            one.kind,
            one.state,
            f"{one.tokens_before:,} → {one.tokens_after:,}",
            when(one.created),
        )
        for number, one in enumerate(snapshots, start=1)
    ]
    return table(rows, head=("", "covers", "", "made", "state", "tokens", "when"))


def in_use_line(done: str, serving: Snapshot | None, covered: int = 0) -> Line:
    """Say what is sent after a snapshot was undone, brought back or chosen; `covered` messages are free again."""
    if serving is None:
        return line(
            ("good", f"{done}: {covered:,} messages are sent as they were again"),
            "; /redo brings the compression back.",
        )
    version = f"version {serving.version}, which covers {serving.messages:,} messages,"
    return line(("good", f"{done}: {version} is in use"), "; /undo takes it back.")


STATES = {"aborted": "interrupted", "streaming": "being written"}
"""How the states of messages are called where their names would not be understood."""


def _state(node: Node) -> str:
    return "" if node.status == "complete" else f" [{STATES.get(node.status, node.status)}]"


def message_lines(node: Node, columns: int) -> Line:
    """Show a message in one line, with its number."""
    note = _state(node)
    head = f"{node.depth:>4} {LABELS[node.message.role]:<9} "
    said = summary_of(content(node.message), columns - len(head) - len(note))
    return line(("faint", head), said, ("near", note))


def whole_message(node: Node) -> Iterator[Line]:
    note = _state(node)
    yield line(("strong", f"{node.depth} {LABELS[node.message.role]}"), ("near", note))
    yield from (line(row) for row in clean(content(node.message)).split("\n"))


def branch_lines(tips: Sequence[Node], here: str | None, columns: int) -> Iterator[Line]:
    """List branches by their tips, numbered for /checkout."""
    for number, tip in enumerate(tips, start=1):
        mark: Piece = ("good", "*") if tip.id == here else ("", " ")
        head = f"{number:>3}  {tip.depth:,} messages  "
        yield line(mark, head, ("faint", summary_of(content(tip.message), columns - len(head) - 2)))


def pin_lines(pins: Sequence[PinPlace], branch: Branch, columns: int) -> Iterator[Line]:
    places = {node.id: node for node in branch}
    for pin in pins:
        node = places.get(pin.node)
        if node is None:
            yield line(("faint", "   - a message of another branch"))
        elif pin.stop:
            chosen = node.message.text[pin.start : pin.stop]
            yield line(("faint", f"{node.depth:>4} part of it "), summary_of(chosen, columns - 18))
        else:
            yield message_lines(node, columns)


def sent_text(context: Context) -> str:
    """Give the words of the snapshot as they stand in a context."""
    return "\n".join(message.text for message in context.summary)


def help_lines(commands: Iterable[tuple[str, str, str]]) -> Iterator[Line]:
    """List the commands: how each is written, its other names, what it does."""
    for usage, others, said in commands:
        short = width(usage) <= USAGE
        yield line(("accent", usage.ljust(USAGE) if short else usage), f"  {said}" if short else "")
        if not short:
            yield line(" " * USAGE, f"  {said}")
        if others:
            yield line(" " * USAGE, ("faint", f"  also {others}"))


def key_lines() -> list[Line]:
    """Say what the keys do."""
    return [
        line(
            (
                "faint",
                "Enter sends. Alt-Enter, Ctrl-J or a \\ at the end starts a new line. Up and down go through",
            )
        ),
        line(
            (
                "faint",
                "what you typed before, also in earlier runs; Ctrl-R searches it. Ctrl-C stops an answer, twice",
            )
        ),
        line(
            (
                "faint",
                "leaves; Ctrl-D leaves. A paste of more than 200 characters shows as [LongText#1] and is sent whole.",
            )
        ),
        line(("faint", "A message that is to begin with / begins with //.")),
    ]


def answer_lines(event: Answered | AnswerFailed) -> Iterator[Line]:
    """Say what there is to say about the end of an answer."""
    if isinstance(event, Answered):
        if names := ", ".join(call.name for call in event.reply.message.calls):
            yield line(("near", f"The model called {clean(names)}; the terminal chat runs no tools."))
        if event.reply.finish == "length":
            yield line(("near", "The answer was cut off at its longest; ask it to go on."))
        return
    yield line(("bad", f"No answer: {clean(' '.join(event.error.split()))}"))
    said = "what was said is kept, and /continue goes on with it; " if event.node else ""
    again = (
        "/retry asks again" if event.retryable else "change something first (/model, /context), then /retry"
    )
    yield line(("faint", f"Your message is stored; {said}{again}."))


def spinner(frame: int, words: str, columns: int) -> Line:
    """Draw something that moves, with words."""
    frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    return line(("accent", frames[frame % len(frames)]), " " + fit(words, columns - 3))
