"""What is read in messages, chosen of them, told of them and found in them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import product
from typing import Any

from octavo.core.extract.changes import standing_in
from octavo.core.extract.choose import extract, survey
from octavo.core.extract.render import parse, render
from octavo.core.extract.shares import SharedChoice
from octavo.core.extract.totals import advance
from octavo.core.extract.units import analyse, analyse_all, locate
from octavo.core.messages import Branch, Message, Node, user
from octavo.core.recall.choose import choose
from octavo.core.recall.pieces import Piece, cut, stamp_of
from octavo.core.recall.question import ask, question_of
from octavo.core.recall.rank import ByWords, best_places, impacts
from octavo.core.recall.rank import count as count_words
from octavo.core.recall.render import render as render_passages
from octavo.core.receipt import add_back, lost_of, receipt, verbatim_text
from octavo.core.transcript import transcript
from tests.core.extract.samples import quarter, utf8
from tests.core.results.records import Lines, compact, record, titled
from tests.core.results.talks import ASKED, CHATS, LANGUAGES, RAMBLING


def _units(branch: Branch) -> Lines:
    for node in branch:
        read = analyse(node.message)
        head = {"day": read.day, "speaker": read.speaker, "own": read.own, "labels": read.labels}
        yield f"{node.id} {compact({name: value for name, value in head.items() if value})}"
        for unit in read.units:
            names = ",".join(f"{kind}:{text}{'' if whole else '~'}" for text, kind, whole in unit.identifiers)
            told = (
                f"{unit.channel[0]}{unit.line}",
                f"{unit.bare}",
                f"{unit.cues:b}",
                f"{unit.standing:b}",
                f"[{names}]",
                f"({' '.join(unit.words)})",
                unit.call,
                compact(unit.setting) if unit.setting else "",
            )
            yield f"  {unit.text}\n    {' '.join(filter(None, told))}"


@record
def units_of_chats() -> Lines:
    """What a message says: its units, with what they name."""
    for name, branch in CHATS.items():
        yield titled(name)
        yield from _units(branch)


@record
def units_of_languages() -> Lines:
    for language, branch in LANGUAGES.items():
        yield titled(language)
        yield from _units(branch)


def _order(covered: Branch, room: int, reserved: float = 0.0, **more: Any) -> str:
    retained = more.pop("retained", ())
    analyses = analyse_all((*covered, *retained))
    found = survey(covered, retained, more.pop("known", ""), more.pop("focus", ""), analyses, **more)
    choice = SharedChoice(found, reserved=reserved)
    left = choice.grow(room)
    grown = len(choice.chosen)
    choice.end(left)
    ended = len(choice.chosen)
    choice.end(room // 9)
    numbers = choice.chosen
    told = [
        f"{len(found.units)} units, left {left}, spent {choice.spent}, complete {choice.complete}",
        " ".join(map(str, numbers[:grown])),
        " ".join(map(str, numbers[grown:ended])),
        " ".join(map(str, numbers[ended:])),
        f"standing {sorted(found.standing)} dated {sorted(found.dated)} passed over {sorted(found.passed_over)}",
        f"not new {[n for n, value in enumerate(found.newness) if value != 1.0]}",
    ]
    return "\n".join(told)


@record
def order_of_choice() -> Lines:
    """Which units are chosen, one after another; then the ending, then what else fits."""
    for name, branch in {**CHATS, "rambling": RAMBLING}.items():
        for room, reserved in ((150, 0.0), (700, 0.2), (2_500, 0.33)):
            yield titled(name, room, reserved)
            yield _order(branch, room, reserved)
        yield titled(name, "focus")
        yield _order(branch, 900, focus="prices, the port and node-07 in Porto")
        yield titled(name, "newest retained")
        yield _order(branch[:-6], 900, retained=branch[-6:])
        yield titled(name, "known")
        yield _order(branch, 900, known=" ".join(node.message.text for node in branch[2:9:2]))
        yield titled(name, "totals at hand")
        half = len(branch) // 2
        totals = advance(None, branch[:half], (), analyse_all(branch))
        yield _order(branch, 900, totals=totals, budget=200)


@record
def extracts() -> Lines:
    """What is kept at several budgets."""
    for name, branch in CHATS.items():
        whole_size = utf8("\n".join(transcript([node.message]) for node in branch))
        for share in (0.03, 0.1, 0.3, 0.6):
            yield titled(name, share)
            yield render(extract(branch, budget=int(share * whole_size), measure=utf8))
        yield titled(name, "newest retained, one pinned")
        pins = [branch[4].message.text]
        yield render(extract(branch[:-4], budget=300, measure=quarter, retained=branch[-4:], pins=pins))
    for language, branch in LANGUAGES.items():
        yield titled(language)
        yield render(extract(branch, budget=70, measure=utf8))
        yield render(extract(branch, budget=25, measure=utf8))


@record
def extracts_again() -> Lines:
    """Extracts read back from their text, and what is kept of a conversation that opens with some."""
    for name, branch in CHATS.items():
        kept = render(extract(branch[:-3], budget=400, measure=quarter))
        yield titled(name)
        for line in parse(kept, source="old"):
            told = {key: value for key, value in asdict(line).items() if value not in ("", 0, False)}
            yield compact(told)
        opened = Node(id="old", parent=None, depth=1, message=user(kept))
        following = tuple(replace(node, depth=n) for n, node in enumerate(branch[-3:], start=2))
        carried = analyse(opened.message, ours=True)
        again = {opened.id: carried}
        yield "-- again"
        yield render(extract((opened, *following), budget=200, measure=quarter, analyses=again))


@record
def standing() -> Lines:
    """What users settled, and what replaced it."""
    for name, branch in {**CHATS, **LANGUAGES}.items():
        lines = standing_in(branch)
        if lines:
            yield titled(name)
            for line in lines:
                yield compact(line)


def _readable(text: str) -> Lines:
    for key, value in json.loads(text).items():
        if isinstance(value, dict):
            for kind, tally in value.items():
                yield f"{key} {kind}: {compact(tally)}"
        else:
            yield f"{key}: {compact(value)}"


@record
def receipts() -> Lines:
    """What became of what was said."""
    for name, branch in {**CHATS, "rambling": RAMBLING[:60]}.items():
        covered, rest = branch[:-3], branch[-3:]
        for budget in (120, 500):
            kept = extract(covered, budget=budget, measure=quarter, retained=rest)
            told = " ".join(sentence for node in covered[1:12:3] for sentence in (node.message.text,))
            narrative = told.replace("3,200", "2,300").replace("Helen", "Hilde").lower()
            sent = verbatim_text(node.message for node in rest)
            paper = receipt(covered, extracts=kept, sent=sent, narrative=narrative, seconds=1.5, price=0.25)
            yield titled(name, budget)
            yield from _readable(paper.to_json())
            yield f"lists all: {paper.lists_all}"
            lost = lost_of(covered, kept, narrative)
            yield f"lost: {len(lost)}"
            for fact in lost[:3]:
                node = next(node for node in covered if node.id == fact.source)
                more = add_back(kept, fact, node)
                yield f"  {compact(fact)} brings back {[line.text for line in more if line not in kept]}"
            restored = paper.restored([fact.text for fact in lost[:2]])
            yield f"restored: {len(restored.lost)} of {len(paper.lost)} left"
            if kept:
                gone = paper.without(kept[0], lost[:1])
                yield f"without a line: {len(gone.lost)}, {gone.standing.kept_count}"
            yield f"trimmed: {len(paper.trimmed().to_json())}"


@record
def places() -> Lines:
    """Where an extract stands in the text it is from."""
    for name, branch in CHATS.items():
        yield titled(name)
        for node in branch:
            text = node.message.text
            found = [locate(text, unit.text) for unit in analyse(node.message).units]
            yield f"{node.id}: {' '.join(f'{at[0]}-{at[1]}' if at else '-' for at in found)}"


def _recalled(branch: Branch, message: Message, room: int, *, at: int | None = None) -> Lines:
    covered = branch[:at]
    asked = question_of(message, [node.message for node in branch])
    pieces, day = list[Piece](), ""
    for node in covered:
        day = stamp_of(node.message) or day
        pieces += cut(node.id, node.depth, node.message, day=day)
    scores = ByWords(count_words(asked, pieces)).score(asked, pieces)
    yield f"asks {asked.asks}: {compact(asked.weights)}"
    best = sorted(range(len(pieces)), key=lambda n: -scores[n])[:5]
    yield " ".join(f"{pieces[n].source}:{pieces[n].start} {scores[n]:.3f}" for n in best if scores[n])
    ranker = ByWords(count_words(asked, pieces))
    said = [node.message.text for node in covered[3:5]]
    yield render_passages(choose(asked, pieces, ranker, room=room, count=quarter, said=said))


QUESTIONS = {
    "trip": (
        "When does Maren have her birthday, and what is she going to do?",
        "and when was that?",
        "thanks!",
        "What is our address?",
        "Is my mother good at walking in Porto?",
        "Write the mail to the hotel in Lisbon.",
        "What was said about prices, passports, trains, seats and rules?",
    ),
    "work": (
        "What is the port of staging-2?",
        "Which test failed, and why?",
        "Show me rows.py line 88",
        "KeyError customer_ref",
        "retries?",
    ),
    "people": (
        "How many penguins are there?",
        "What happened on 25 January 2026?",
        "Where is Anton on Sunday?",
    ),
    "mixed": ("Which rooms are there?", "How long is node-22 up?", "Who has the key of the laboratory?"),
}


@record
def recall() -> Lines:
    """What comes back when it is asked for."""
    for name, texts in QUESTIONS.items():
        for text, room in product(texts, (90, 400)):
            yield titled(name, room, text)
            yield from _recalled(CHATS[name][:-1], user(text), room)
    for language, (branch, questions) in ASKED.items():
        for asked, _ in questions:
            yield titled(language, asked)
            yield from _recalled(branch, user(asked), 80)


@record
def indexes() -> Lines:
    """How much a word counts in an index, and which places are looked at first."""
    for name, branch in CHATS.items():
        yield titled(name)
        found: dict[str, list[int]] = {}
        for node in branch:
            here = impacts(cut(node.id, node.depth, node.message))
            yield f"{node.id}: {' '.join(f'{word}={impact}' for word, impact in here.items())}"
            for word, impact in here.items():
                found.setdefault(word, []).append(node.depth << 4 | impact)
        for told in QUESTIONS[name]:
            weights = ask(told).weights
            wanted = {word: found[word] for word in weights if word in found}
            for most, ahead in ((4, 12), (9, 3)):
                yield f"{told} {most} {ahead}: {best_places(wanted, weights, most=most, ahead=ahead)}"
