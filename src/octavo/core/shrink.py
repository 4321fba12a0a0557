"""The last resort: makes a context fit without asking any model, and always ends.

Stages from mild to severe, each used only as far as needed: recalled passages go, old tool outputs become head-and-
tail previews, then those of the last turn, then the oldest extracts go, then the oldest retained turns, then the
oldest tool rounds of the last turn, and only then is the summary shortened, then what was looked up in the last turn
left out and, at the very end, the summary. Pins, system messages, tools and the last user message are never touched: if
they alone do not fit, the error shows the sum.
Always computed from the originals, so nothing is shortened twice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from octavo.core.context import NOTHING_RECALLED, Context, ContextInputs, build_context
from octavo.core.memory_tools import looked_up, lookups
from octavo.core.messages import Branch, Message, Node, Part, Text, ToolResult, last_turn, opens_turn
from octavo.core.snapshot import silenced
from octavo.core.split import protocol_cuts, tool_cuts
from octavo.core.transcript import shared_files, shorten
from octavo.errors import ContextOverflow

PREVIEWS = (8_000, 2_000, 400)
"""Characters left of a tool output, step by step: a screenful of code, an error with its trace, a hint."""
SUMMARY_FLOOR = 400
"""Characters a summary is never shortened below."""

Measure = Callable[[Context], int]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A recipe whose context fits, and what it cost."""

    recipe: ContextInputs
    context: Context
    tokens: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stage:
    """A row of recipes from mild to severe, made only when looked at."""

    steps: int
    make: Callable[[int], ContextInputs]
    note: Callable[[int], str]


def shrink(recipe: ContextInputs, limit: int, measure: Measure) -> Shrunk:
    """Make a context fit `limit` tokens, or raise `ContextOverflow` with every term of the sum."""
    notes: tuple[str, ...] = ()
    tokens = measure(build_context(recipe))
    if tokens <= limit:
        return _done(recipe, measure, notes)
    for stage_of in (
        _recalled,
        _older_outputs,
        _newest_outputs,
        _extracts,
        _turns,
        _rounds,
        _summary,
        _answers,
        _silence,
    ):
        stage = stage_of(recipe)
        if stage.steps == 0:
            continue
        if measure(build_context(stage.make(stage.steps))) <= limit:
            step = bisect_left(
                range(1, stage.steps + 1),
                x=1,
                key=lambda n: int(measure(build_context(stage.make(n))) <= limit),
            )
            return _done(stage.make(step + 1), measure, (*notes, stage.note(step + 1)))
        recipe, notes = stage.make(stage.steps), (*notes, stage.note(stage.steps))
    raise _overflow(recipe, limit, measure)


def _done(recipe: ContextInputs, measure: Measure, notes: tuple[str, ...]) -> Shrunk:
    context = build_context(recipe)
    return Shrunk(recipe, context, measure(context), notes)


def _last_turn(recipe: ContextInputs) -> int:
    """Find where the last turn begins: -1 if before all nodes, their number if with what is pending."""
    branch = recipe.branch
    if any(opens_turn(message) for message in recipe.pending):
        return len(branch)
    last = last_turn([node.message for node in branch])
    return -1 if last is None else last


def _recalled(recipe: ContextInputs) -> _Stage:
    return _Stage(
        1 if recipe.recalled else 0,
        lambda _: replace(recipe, recalled=NOTHING_RECALLED),
        lambda _: "recalled passages left out",
    )


def _older_outputs(recipe: ContextInputs) -> _Stage:
    return _previews(recipe, range(_last_turn(recipe)), "outputs of older tool calls")


def _newest_outputs(recipe: ContextInputs) -> _Stage:
    start = max(0, _last_turn(recipe))
    return _previews(recipe, range(start, len(recipe.branch)), "outputs of this turn's tool calls")


def _previews(recipe: ContextInputs, places: range, what: str) -> _Stage:
    pinned = {pin.node.id for pin in recipe.pins}
    asked = looked_up([node.message for node in recipe.branch])
    long = [
        i
        for i in places
        if recipe.branch[i].id not in pinned
        and i not in asked
        and _longest_output(recipe.branch[i].message) > PREVIEWS[-1]
    ]

    def make(step: int) -> ContextInputs:
        branch = list(recipe.branch)
        for i in long:
            branch[i] = preview(branch[i], PREVIEWS[step - 1])
        return replace(recipe, branch=tuple(branch))

    return _Stage(
        len(PREVIEWS) if long else 0,
        make,
        lambda step: f"{what} shortened to {PREVIEWS[step - 1]:,} characters",
    )


def _longest_output(message: Message) -> int:
    return max((len(result.text) for result in message.results), default=0)


def preview(node: Node, cap: int) -> Node:
    """Show a node's tool outputs by head and tail, saying where the whole text is."""
    hint = f"whole text: message {node.id}"

    def cut(part: Part) -> Part:
        if not isinstance(part, ToolResult):
            return part
        content = (
            replace(piece, text=shorten(piece.text, cap, hint=hint)) if isinstance(piece, Text) else piece
            for piece in part.content
        )
        return replace(part, content=tuple(content))

    return replace(node, message=replace(node.message, parts=tuple(cut(part) for part in node.message.parts)))


def _extracts(recipe: ContextInputs) -> _Stage:
    snapshot = recipe.snapshot
    if snapshot is None:
        return _Stage(0, lambda _: recipe, str)
    lines = snapshot.extracts
    # What stands goes last; each part is in the order of the conversation.
    standing = sum(line.standing for line in lines)
    others = len(lines) - standing

    def without(step: int) -> ContextInputs:
        kept = lines[max(0, step - others) : standing] + lines[standing + min(step, others) :]
        return replace(recipe, snapshot=replace(snapshot, extracts=kept))

    return _Stage(
        len(lines),
        without,
        lambda step: f"the {step:,} oldest of {len(lines):,} extracts left out",
    )


def _turns(recipe: ContextInputs) -> _Stage:
    """Leave out whole turns from the old end of the retained part, up to the last one."""
    first = len(recipe.branch) - len(_tail(recipe))
    last = _last_turn(recipe)
    starts = [i for i in range(first + 1, last) if opens_turn(recipe.branch[i].message)]
    starts += [last] if last > first else []
    return _without(recipe, first, starts, "older messages left out")


def _rounds(recipe: ContextInputs) -> _Stage:
    """Leave out the oldest tool rounds of the last turn; its user message stays."""
    last = _last_turn(recipe)
    messages = [node.message for node in recipe.branch]
    first = max(last + 1, len(messages) - len(_tail(recipe)))
    safe = tool_cuts(messages) & protocol_cuts(messages)
    cuts = sorted(cut for cut in safe if first < cut < len(messages))
    found = {i for lookup in lookups(messages) for i in lookup}
    return _without(recipe, first, cuts, "messages of earlier tool rounds left out", frozenset(found))


def _answers(recipe: ContextInputs) -> _Stage:
    """Leave out the oldest answers that were looked up in the last turn, except the one that came just now."""
    nodes = recipe.carried + recipe.branch
    places = [one for one in lookups([node.message for node in nodes]) if one.stop < len(nodes)]
    cutoff = recipe.snapshot.cutoff_depth if recipe.snapshot else 0

    def make(step: int) -> ContextInputs:
        gone = {nodes[i].id: nodes[i] for lookup in places[:step] for i in lookup}
        return replace(
            recipe,
            carried=tuple(node for node in recipe.carried if node.id not in gone),
            branch=tuple(node for node in recipe.branch if node.id not in gone),
            omitted=recipe.omitted + tuple(id for id, node in gone.items() if node.depth > cutoff),
        )

    return _Stage(len(places), make, lambda step: f"{step:,} answers looked up in this turn left out")


def _tail(recipe: ContextInputs) -> Branch:
    """The nodes after the cutoff, whatever their state."""
    cutoff = recipe.snapshot.cutoff_depth if recipe.snapshot else 0
    return tuple(node for node in recipe.branch[len(recipe.leading) :] if node.depth > cutoff)


def _without(
    recipe: ContextInputs, first: int, cuts: list[int], what: str, along: frozenset[int] = frozenset()
) -> _Stage:
    """Leave out nodes from `first` on, up to one of the cuts, but for those `along`."""
    branch = recipe.branch

    def make(step: int) -> ContextInputs:
        left = range(first, cuts[step - 1])
        gone = tuple(branch[i] for i in left if i not in along)
        spared = tuple(branch[i] for i in left if i in along)
        kept = branch[:first] + spared + branch[cuts[step - 1] :]
        files = (name for node in gone for name in shared_files(node.message))
        return replace(
            recipe,
            branch=kept,
            omitted=recipe.omitted + tuple(node.id for node in gone),
            omitted_files=tuple(dict.fromkeys([*recipe.omitted_files, *files])),
        )

    return _Stage(
        len(cuts),
        make,
        lambda step: f"{len(set(range(first, cuts[step - 1])) - along):,} {what}",
    )


def _summary(recipe: ContextInputs) -> _Stage:
    snapshot = recipe.snapshot
    length = len(snapshot.summary) if snapshot else 0
    halvings = 0
    while length / 2 ** (halvings + 1) >= SUMMARY_FLOOR:
        halvings += 1
    if snapshot is None or halvings == 0:
        return _Stage(0, lambda _: recipe, str)

    def make(step: int) -> ContextInputs:
        cut = shorten(snapshot.summary, ceil(length / 2**step))
        return replace(recipe, snapshot=replace(snapshot, summary=cut))

    return _Stage(
        halvings, make, lambda step: f"the summary shortened to {ceil(length / 2**step):,} characters"
    )


def _silence(recipe: ContextInputs) -> _Stage:
    """Drop what is left of the summary, and the line that says what is missing: here every token counts."""
    snapshot = recipe.snapshot
    empty = silenced(snapshot) if snapshot else None
    quiet = replace(recipe, announce=False, snapshot=empty)
    left = build_context(quiet)
    worth_it = quiet != recipe and bool(left.retained or left.pending)
    return _Stage(int(worth_it), lambda _: quiet, lambda _: "nothing said of what is left out")


_PARTS = {
    "last_turn": "the newest turn",
    "system": "the system prompt",
    "tools": "the list of tools",
    "pins": "what is pinned",
    "summary": "the summary",
}


def _overflow(recipe: ContextInputs, limit: int, measure: Measure) -> ContextOverflow:
    context = build_context(recipe)
    bare = measure(Context())
    terms = {
        "limit": limit,
        "needed": measure(context),
        "system": measure(Context(system=context.system)) - bare,
        "tools": measure(Context(tools=context.tools)) - bare,
        "pins": measure(Context(pins=context.pins)) - bare,
        "summary": measure(Context(summary=context.summary)) - bare,
        "last_turn": measure(Context(retained=context.retained, pending=context.pending)) - bare,
    }
    largest = max(_PARTS, key=lambda part: terms[part])
    return ContextOverflow(
        f"What must be sent does not fit, even with everything else left out: of {terms['needed']:,} tokens "
        f"{limit:,} may be sent, and {_PARTS[largest]} takes {terms[largest]:,}. "
        "Shorten it, or use a model with a larger window",
        terms,
    )
