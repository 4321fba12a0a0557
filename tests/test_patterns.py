"""No text can make a pattern slow: whatever somebody writes, the work grows with its length and no faster.

Every pattern of the package is found, in its modules and in its source, so a new one is tested without being named
here. Each is given hostile texts in two lengths. What counts is how much longer the longer one takes, never how long.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest

import octavo
from octavo.cli.lines import summary_of
from octavo.core import wire
from octavo.core.ask.answer import Expected, judge, judge_bullets
from octavo.core.ask.blocks import blocks
from octavo.core.ask.fences import escape, without_fences
from octavo.core.ask.language import Language, foreign, language_of
from octavo.core.ask.source_check import source_text
from octavo.core.ask.template import template
from octavo.core.context import parse_summary, render_summary
from octavo.core.extract import fact_patterns, standing, units
from octavo.core.extract.choose import extract
from octavo.core.extract.render import HEAD, parse
from octavo.core.extract.standing_words import BY_SCRIPT, SPACED, TURKISH, Forms
from octavo.core.extract.units import analyse
from octavo.core.harden import harden
from octavo.core.messages import Branch, Message, Node, Text, ToolCall, ToolResult, assistant, user
from octavo.core.policy import Voice
from octavo.core.protocol import ANTHROPIC
from octavo.core.receipt import receipt
from octavo.core.reply import Reply
from octavo.core.snapshot import Extract, Snapshot
from octavo.evals.measure.names import names
from octavo.meters import cards
from octavo.meters.estimate import estimate
from octavo.meters.tokenizers import count_text
from octavo.providers import catalogue
from octavo.providers.error_mapping import Fault, classify
from octavo.store import search

ROOT = Path(octavo.__file__).parent
SHORT, LONG = 20_000, 200_000
TIMES = LONG // SHORT
MOST = 4 * TIMES
"""A quadratic pattern takes a hundred times as long for ten times the text; a linear one about ten times."""
CERTAIN = 4
"""Measurements that all have to find a pattern slow."""
MEASURABLE = 0.1
"""Seconds: what reads the long text faster does no harm, and a hundredth of it for the short one foretells that."""
PATIENCE = 3.0
"""Seconds of the processor after which a text is given up: it might take hours."""
TOO_LONG, SHORTEST = 0.1, 200
"""Seconds for the short text from which on a shorter one is tried, and characters that no pattern takes so long for."""
TRIES = 2
SHOWN = 3
"""Failures after which no more are looked for: each takes long."""
NEAR, NEAR_MEASURABLE = 4_000, 0.02
"""The same for texts made of a pattern's own pieces, of which there are many."""

SHAPES: Mapping[str, tuple[str, str]] = {
    "letters": ("", "a"),
    "capitals": ("", "A"),
    "digits": ("", "1"),
    "blanks": ("", " "),
    "line breaks": ("", "\n"),
    "an angle bracket and blanks": ("<", " "),
    "angle brackets": ("", "<"),
    "open tags": ("", "<think>"),
    "dotted": ("", "a."),
    "dotted numbers": ("", "1."),
    "dashed": ("", "abcd-"),
    "slashes": ("", "a/"),
    "signs": ("", "+"),
    "underscores": ("Aa", "_"),
    "humps": ("Aa", "AA"),
    "backticks": ("", "`a``"),
    "quotes": ("", "\"'"),
    "headings": ("", "# a\n"),
    "hashes": ("# a", "#"),
    "stars": ("**", "a*"),
    "addresses": ("", "sqlite:"),
    "mails": ("", "a@a"),
    "brackets": ("", "[("),
    "Chinese": ("", "中文"),
    "accents": ("Aa", "é"),
}
"""What a text begins with, and what then comes again and again."""

ALL, ONCE = "finditer", "search"
WAYS: Mapping[str, str] = {
    "search": ONCE,
    "match": "match",
    "fullmatch": "fullmatch",
    **dict.fromkeys(("finditer", "findall", "sub", "subn", "split"), ALL),
}
"""How patterns are used, and what is tried for it: what looks for all matches looks at the same characters."""

LANGUAGES: Mapping[str, Forms] = {
    **SPACED,
    "Turkish": TURKISH,
    **{name: forms for name, _, forms in BY_SCRIPT},
}


def standing_forms() -> list[re.Pattern[str]]:
    """Give the forms of every language, each as a pattern of its own: together they would be tried on every text."""
    return [
        standing._compiled(form.source)
        for name, forms in LANGUAGES.items()
        for form in standing._forms(name, forms)
    ]


MADE_LATER: Mapping[str, Callable[[], list[re.Pattern[str]]]] = {
    "octavo.core.extract.fact_patterns._name_pattern": lambda: [fact_patterns._any_name()],
    "octavo.core.extract.fact_patterns._date": lambda: [fact_patterns._date()],
    "octavo.core.extract.standing._script": lambda: [standing._script()],
    "octavo.core.extract.standing._denied": lambda: [standing._denied()],
    "octavo.core.extract.standing._lifted": lambda: [standing._lifted()],
    "octavo.core.extract.standing._compiled": lambda: standing_forms(),
    "octavo.core.extract.standing._passing": lambda: [standing._passing(name) for name in LANGUAGES],
    "octavo.store.search._hit": lambda: [
        re.compile("|".join(map(search._sought, ("a b", "<<"))), re.IGNORECASE)
    ],
    "octavo.meters.cards._assume": lambda: [
        re.compile(rf"{re.escape(known)}[-.\d]") for known in list(cards.shipped().guesses)[:3]
    ],
    "octavo.providers.catalogue.resolve": lambda: [re.compile(one) for one in catalogue.BARE_NAMES],
}
"""Patterns that functions put together from what they are given, by the function: examples of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern, where it is, and how it is used."""

    where: str
    pattern: re.Pattern[Any]
    ways: frozenset[str]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = [
    name_of(path) for path in sorted(ROOT.rglob("*.py")) if re.search(r"\bre\.\w+\(", path.read_text())
]
"""The modules that make patterns."""


@cache
def sources() -> Mapping[str, ast.Module]:
    return {name_of(path): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}


@cache
def imports(module: str) -> Mapping[str, str]:
    """Give what a module imports by name: where it comes from."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(sources()[module])
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def uses() -> Mapping[str, set[str]]:
    """List how each name of each module is used as a pattern: `module.name`, and the ways."""
    found: dict[str, set[str]] = {}
    for module, tree in sources().items():
        nodes = [*ast.walk(tree)]
        once = {
            id(call.func)
            for call in nodes
            if isinstance(call, ast.Call) and any(keyword.arg == "count" for keyword in call.keywords)
        }
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in WAYS:
                place = imports(module).get(node.value.id, f"{module}.{node.value.id}")
                found.setdefault(place, set()).add(ONCE if id(node) in once else WAYS[node.attr])
    return found


def ways_of(where: str) -> set[str]:
    """Tell how a pattern is used: by its own name, or else by any variable of its module."""
    if used := uses().get(where):
        return used
    module = where.rpartition(".")[0]
    variables = (ways for name, ways in uses().items() if name.rpartition(".")[0] == module)
    return set().union(*variables) or set(WAYS.values())


def held(where: str, value: object) -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """Find the patterns in a value of a module, inside of what it is made of, too."""
    match value:
        case re.Pattern():
            yield where, value, ways_of(where)
        case dict():
            for inner in value.values():
                yield from held(where, inner)
        case list() | tuple() | set() | frozenset():
            for inner in value:
                yield from held(where, inner)
        case type():
            yield from (
                (where, one, ways_of(where)) for one in vars(value).values() if isinstance(one, re.Pattern)
            )
        case _ if isinstance(pattern := getattr(value, "__self__", None), re.Pattern):
            yield where, pattern, {WAYS[getattr(value, "__name__", "")]}


def everything(module: str) -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    for name, value in vars(importlib.import_module(module)).items():
        if not name.startswith("__") and name not in imports(module):
            yield from held(f"{module}.{name}", value)
    for where, way, text in written(module):
        if text is not None:
            yield where, re.compile(text), {WAYS[way]} if way in WAYS else set(WAYS.values())
        else:
            assert where in MADE_LATER, (
                f"add examples of the patterns that {where} puts together to MADE_LATER"
            )
            yield from ((where, example, {ALL, "match"}) for example in MADE_LATER[where]())


def patterns(module: str) -> list[Found]:
    """Find the patterns of a module, each once."""
    found: dict[tuple[Any, int], Found] = {}
    for where, pattern, ways in everything(module):
        key = (pattern.pattern, pattern.flags)
        known = found.get(key, Found(where, pattern, frozenset()))
        found[key] = Found(known.where, pattern, known.ways | ways)
    return list(found.values())


def written(module: str) -> Iterator[tuple[str, str, str | None]]:
    """List the calls of `re` inside functions: where, which, and the pattern if it is a plain string."""
    for function in ast.walk(sources()[module]):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=way), args=[first, *_]) if (
                    way != "escape"
                ):
                    text = first.value if isinstance(first, ast.Constant) else None
                    yield f"{module}.{function.name}", way, text if isinstance(text, str) else None


def test_patterns_are_made_where_they_are_found() -> None:
    for module, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert all(alias.name != "re" or not alias.asname for alias in node.names), module
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in ("re", "regex"), f"{module}: patterns are made with `re.`"


class Stopped(BaseException):
    """Took too long."""


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def spent(work: Callable[[], object], limit: float = PATIENCE, tries: int = 1) -> float:
    """Measure the processor time of some work; endless if it had to be stopped in every try."""
    gc.disable()  # to look for garbage among all that tests have loaded may take longer than the work
    try:
        for _ in range(tries):
            begun = time.process_time()
            with suppress(Stopped), stopped_after(limit):
                work()
                return time.process_time() - begun
    finally:
        gc.enable()
    return float("inf")


def slow(
    run: Callable[[str], object], shape: tuple[str, str], short: int = SHORT, measurable: float = MEASURABLE
) -> str:
    """Say how a text of a shape takes longer than its length explains; empty if it does not.

    A machine that is busy with something else slows down one measurement, or two, but not all.
    """
    said = ""
    for _ in range(CERTAIN):
        said = measured(run, shape, short, measurable)
        if not said:
            return ""
    return said


def measured(run: Callable[[str], object], shape: tuple[str, str], short: int, measurable: float) -> str:
    before = spent(lambda: run(grown(shape, short)))
    if before < measurable / TIMES**2:
        return ""
    if before > TOO_LONG and short > SHORTEST:
        return measured(run, shape, short // TIMES, measurable / TIMES)
    most = max(measurable, MOST * min(before, TOO_LONG))
    after = spent(lambda: run(grown(shape, short * TIMES)), most, TRIES)
    return f"{shape}: {before:.4f} s for {short:,}, ten times as long: {after} s" if after > most else ""


def grown(shape: tuple[str, str], length: int) -> str:
    start, unit = shape
    return start + unit * ((length - len(start)) // len(unit)) + "\x00"


def runs(found: Found) -> Iterator[Callable[[str], object]]:
    """Give what is done with a pattern, for a text."""
    pattern = found.pattern
    for way in sorted(found.ways):
        call = getattr(pattern, way)

        def run(text: str, call: Callable[[Any], Any] = call, way: str = way) -> None:
            found = call(text.encode() if isinstance(pattern.pattern, bytes) else text)
            if way == ALL:
                for _ in found:
                    pass

        yield run


PARSER: Any = importlib.import_module("re._parser")
CHARACTERS = " a1A.-_/\n<>@:,'\"`[(){}=#*+~$é中。…"
CATEGORIES: Mapping[str, str] = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
MANY = 30
"""Repetitions from which on a piece counts as repeated without end."""
FEW, SOME = 6, 12
"""Spellings kept of a pattern, and of what it repeats."""

Shapes = dict[tuple[str, str], None]


def near_misses(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """Make shapes of a pattern's own pieces: what it repeats after what comes before, and its beginnings repeated."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    pumps: Shapes = {}
    whole = spell(PARSER.parse(text, pattern.flags & ~re.UNICODE), pumps)
    begun = {("", start + unit): None for start, unit in pumps if start}
    cut = {("", one[:-1]): None for one in whole if one[:-1]}
    return [*(pumps | begun | cut)]


def spell(parsed: Any, pumps: Shapes) -> list[str]:
    """Give some texts that a parsed pattern matches, and note what it repeats, with what stands before."""
    texts = [""]
    for op, argument in parsed:
        if str(op) in REPEATS:
            least, most, inner = argument
            pieces = spell(inner, pumps)
            if int(most) > MANY:
                units = [
                    *pieces[:SOME],
                    *(f"{one}{two}" for one in pieces[:FEW] for two in pieces[:FEW] if one != two),
                ]
                pumps.update({(start, unit): None for start in texts[:2] for unit in units if unit})
            pieces = [piece * max(1, least) for piece in pieces[:2]] + [""] * (least == 0)
        else:
            pieces = spell_one(str(op), argument, texts, pumps)
        texts = [*dict.fromkeys(text + piece for piece in pieces for text in texts)][
            : SOME if len(pieces) > FEW else FEW
        ]
    return texts


def spell_one(op: str, argument: Any, before: list[str], pumps: Shapes) -> list[str]:
    match op:
        case "LITERAL":
            return [chr(argument)]
        case "IN":
            return [one for one in CHARACTERS if belongs(one, argument)] or [some_of(argument)]
        case "BRANCH":
            return [text for one in argument[1] for text in spell(one, pumps)[:2]]
        case "SUBPATTERN":
            return spell(argument[3], pumps)
        case "ATOMIC_GROUP":
            return spell(argument, pumps)
        case "ASSERT" if argument[0] > 0:
            ahead: Shapes = {}
            spell(argument[1], ahead)
            pumps.update({(text + start, unit): None for text in before[:2] for start, unit in ahead})
            return [""]
        case "ANY" | "NOT_LITERAL":
            return ["a", " "]
        case _:
            return [""]


def belongs(character: str, items: Any) -> bool:
    """Tell whether a character is in a parsed set."""
    inside = negated = False
    for op, argument in items:
        match str(op):
            case "NEGATE":
                negated = True
            case "LITERAL":
                inside |= ord(character) == argument
            case "RANGE":
                inside |= argument[0] <= ord(character) <= argument[1]
            case _:
                *_, outside, kind = str(argument).split("_")
                inside |= bool(re.match(CATEGORIES[kind], character)) != (outside == "NOT")
    return inside != negated


def some_of(items: Any) -> str:
    op, argument = items[-1]
    return chr(argument[0] if str(op) == "RANGE" else argument)


@pytest.mark.parametrize("module", MODULES)
def test_patterns_take_hostile_texts_in_linear_time(module: str) -> None:
    made = patterns(module)
    assert made
    bad = (
        f"{found.where} {found.pattern.pattern!r}: {said}"
        for found in made
        for run in runs(found)
        for said in chain(
            (slow(run, shape) for shape in SHAPES.values()),
            (slow(run, shape, NEAR, NEAR_MEASURABLE) for shape in near_misses(found.pattern)),
        )
        if said
    )
    assert not [*islice(bad, SHOWN)]


ENGLISH = Language("English", "latin")
MORE_SHAPES: Mapping[str, tuple[str, str]] = {
    **SHAPES,
    "words": ("", "word "),
    "names": ("", "value_1 "),
    "lines": ("", "a b c\n"),
    "paragraphs": ("", "a\n\n"),
    "code": ("", "```\n"),
    "settings": ("", "a: 1\n"),
    "records": ("", '{"a": 1},'),
    "places": ("", "a/b.py:1: "),
}
READ, READ_MEASURABLE = 4_000, 0.05
"""Longer texts would say the same, and take longer: functions do more with a character than a pattern does."""


def said_and_answered(text: str) -> Branch:
    units.forget()  # else it would be measured how fast an analysis is remembered
    call = ToolCall(id="c", name="read", input=json.dumps({"path": text}))
    said = (
        user(text),
        Message(role="assistant", parts=(Text(text=text), call)),
        Message(role="tool", parts=(ToolResult(call_id="c", content=(Text(text=text),)),)),
    )
    return tuple(
        Node(id=f"m{at}", parent=f"m{at - 1}" if at > 1 else None, depth=at, message=message)
        for at, message in enumerate(said, start=1)
    )


def snapshot_of(text: str) -> Snapshot:
    return Snapshot(
        id="s",
        first="m1",
        cutoff="m1",
        cutoff_depth=1,
        anchor="m1",
        anchor_depth=1,
        summary=text,
        extracts=(Extract("m1", text),),
        messages=1,
    )


def expected(text: str) -> Expected:
    return Expected(source_text=source_text([text]), language=ENGLISH, source=len(text), cap=len(text))


def answer(text: str) -> Reply:
    return Reply(message=assistant(text), finish="stop")


def letters(text: str) -> int:
    return len(text)


def openai_message(text: str) -> list[dict[str, object]]:
    call = {"id": text, "type": "function", "function": {"name": text, "arguments": text}}
    return [{"role": "user", "content": text}, {"role": "assistant", "content": None, "tool_calls": [call]}]


HIT: Any = SimpleNamespace(conversation_id="c", title="", id="m1", depth=1, role="user")
"""The row of a message that was found."""


READERS: Mapping[str, Callable[[str], object]] = {
    "analyse": lambda text: [analyse(node.message) for node in said_and_answered(text)],
    "facts and receipt": lambda text: receipt(said_and_answered(text), sent=text, narrative=text),
    "extract": lambda text: extract(said_and_answered(text), budget=2_000, measure=letters),
    "language of a conversation": lambda text: language_of([user(text), assistant(text)]),
    "language of an answer": lambda text: foreign(text, ENGLISH),
    "harden": lambda text: harden([node.message for node in said_and_answered(text)], ANTHROPIC),
    "snapshot spoken and heard": lambda text: parse_summary(render_summary(snapshot_of(text), Voice())[0]),
    "message like a snapshot": lambda text: parse_summary(
        user(f'<earlier messages="1">\n{text}\n</earlier>')
    ),
    "extracts parsed": lambda text: parse(f"{HEAD} U: user]\nU: {text}"),
    "answer judged": lambda text: judge(answer(text), expected(text), letters),
    "list judged": lambda text: judge_bullets(answer(text), expected(text)),
    "fences": lambda text: without_fences(escape(text)),
    "prompt of one's own": lambda text: template("own", f"<!-- version: 1 -->\n{text}"),
    "blocks for a summariser": lambda text: blocks(said_and_answered(text)),
    "OpenAI": lambda text: wire.write("openai", wire.read("openai", openai_message(text))),
    "Anthropic": lambda text: wire.read("anthropic", [{"role": "user", "content": text}], text),
    "Gemini": lambda text: wire.read("gemini", [{"role": "user", "parts": [{"text": text}]}]),
    "tokens of OpenAI": lambda text: count_text("o200k", text),
    "tokens of Claude": lambda text: count_text("claude-5", text),
    "tokens estimated": estimate,
    "name of a model": lambda text: cards.shipped().find(f"m{text}"),
    "error of a provider": lambda text: classify(Fault(provider="p", status=400, body={"message": text})),
    "line of a terminal": lambda text: summary_of(text, 80),
    "words sought": lambda text: search._hit(HIT, "a needle", search.parse(text)),
    "text found": lambda text: search._hit(HIT, text, search.parse('needle a "a b" <')),
}
"""What reads texts that others wrote."""


@pytest.mark.parametrize("reader", READERS)
def test_what_reads_foreign_text_takes_it_in_linear_time(reader: str) -> None:
    read = READERS[reader]
    read("Once, to load what it needs.")
    bad = (said for shape in MORE_SHAPES.values() if (said := slow(read, shape, READ, READ_MEASURABLE)))
    assert not [*islice(bad, SHOWN)]


def test_a_word_of_capitals_does_not_keep_the_reader_for_ever() -> None:
    """Each further letter doubled the time: forty took hours."""
    word = "Aa" + "A" * 60 + "_"
    with stopped_after(PATIENCE):
        assert [unit.text for unit in analyse(user(f"See {word} there.")).units] == [f"See {word} there."]
        assert word.rstrip("_") not in names(word)
