"""Conversations made here, so that an evaluation needs no download: the same for the same seed, on every machine.

What must be kept is planted among small talk: facts, decisions, constraints, preferences, things that are renamed or
change (the newer value is the answer), needles in the output of tools, the same in several languages, and branches
that must not mix. Each plant comes with the question that a later turn would ask.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from octavo.core.messages import Message, Text, ToolCall, ToolResult, assistant, system, user
from octavo.evals.measure.answers import AskedQuestion
from octavo.evals.measure.score import Case
from octavo.evals.measure.texts import text_of
from octavo.evals.measure.words import content_words
from octavo.evals.phrases import FACTS, LANGUAGES, WORDS, FactPattern, LanguagePhrases

CHATS, RUNS, TREES = 4, 3, 2
"""Made of each sort: enough to tell compressors apart, few enough to run in a minute."""
TURNS = 36
"""Turns of a chat."""
STEPS = 24
"""Tool calls of a run."""
OUTPUT = 36
"""Lines a tool answers."""
NEEDLES = 10
LATER = 6
"""Steps of a run after the cut, which need what was found before."""
REMARKS = 0.3
"""Share of small talk that says nothing at all; the rest has names and numbers."""
TALK = 18
"""Turns in another language."""
RULE = "Answer in two sentences, and never mention the word {word}."


def built_in(seed: int = 0) -> tuple[Case, ...]:
    """Make all built-in cases."""
    return (
        *(chat(Random(f"chat {seed} {n}"), f"chat {n}") for n in range(1, CHATS + 1)),
        *(agent(Random(f"run {seed} {n}"), f"run {n}") for n in range(1, RUNS + 1)),
        *(abroad(Random(f"{name} {seed}"), name, language) for name, language in LANGUAGES.items()),
        *(case for n in range(1, TREES + 1) for case in tree(Random(f"tree {seed} {n}"), f"tree {n}")),
    )


@dataclass(slots=True)
class CaseDraft:
    """A conversation in the making."""

    dice: Random
    messages: list[Message] = field(default_factory=list)
    questions: list[AskedQuestion] = field(default_factory=list)
    remarks: Sequence[str] = ()
    """Of another language; none: English."""

    def small_talk(self, sentences: int) -> str:
        return " ".join(self._remark() for _ in range(sentences))

    def _remark(self) -> str:
        dice = self.dice
        if self.remarks:
            return dice.choice(self.remarks).format(dice.randint(100, 9_999))
        if dice.random() < REMARKS:
            return dice.choice(WORDS["remarks"])
        first, second = dice.sample(WORDS["neighbours"], 2)
        return dice.choice(WORDS["stories"]).format(
            neighbour=first,
            other=second,
            town=dice.choice(WORDS["towns"]),
            thing=dice.choice(WORDS["things"]),
            adjective=dice.choice(WORDS["adjectives"]),
            weekday=dice.choice(WORDS["weekdays"]),
            amount=dice.randint(100, 9_999),
            year=dice.randint(1_700, 2_020),
        )

    def turn(self, said: str = "", answer: str = "") -> None:
        """Add a question and an answer, with small talk around what matters."""
        self.messages.append(user(" ".join(filter(None, [self.small_talk(2), said, self.small_talk(1)]))))
        self.messages.append(
            assistant(" ".join(filter(None, [self.small_talk(4), answer, self.small_talk(3)])))
        )

    def ask(self, kind: str, asked: str, answer: str, *, back: int) -> None:
        """Ask about the message so many places from the end."""
        place = len(self.messages) - back
        self.questions.append(AskedQuestion(text=asked, answer=answer, evidence=(place,), kind=kind))


class WordDeck:
    """Words drawn one by one, so that no two questions hang on the same ones."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self._left: dict[str, list[str]] = {}

    def draw(self, name: str, words: Sequence[str]) -> str:
        left = self._left.setdefault(name, [])
        if not left:
            left += self._dice.sample(list(words), len(words))
        return left.pop()

    def fill(self) -> dict[str, str]:
        """Draw a value for everything a fact may mention."""
        days = [f"{self._dice.randint(1, 28)} {self.draw('month', WORDS['months'])}" for _ in range(2)]
        return {
            "place": self.draw("place", WORDS["places"]),
            "topic": self.draw("topic", WORDS["topics"]),
            "tool": self.draw("tool", WORDS["tools"]),
            "person": self.draw("person", WORDS["people"]),
            "company": self.draw("company", WORDS["companies"]),
            "number": str(self._dice.randint(1_000, 9_999)),
            "code": f"{self._dice.choice('BDFGHJK')}{self._dice.randint(100, 999)}-{self._dice.randint(10, 99)}",
            "old_name": self.draw("name", WORDS["names"]),
            "new_name": self.draw("name", WORDS["names"]),
            "old_day": days[0],
            "new_day": days[1],
        }


def chat(dice: Random, name: str) -> Case:
    """Make a chat with an assistant in which things are told, decided, renamed and changed."""
    draft, deck = CaseDraft(dice), WordDeck(dice)
    draft.messages.append(system(RULE.format(word=deck.draw("place", WORDS["places"]))))
    said = _scattered(dice, TURNS, [(fact, deck.fill()) for fact in FACTS])
    for turn in range(TURNS):
        line, fact, values = said.get(turn, ("", None, {}))
        by_assistant = fact is not None and fact.kind == "decision" and line.startswith("Agreed")
        draft.turn("" if by_assistant else line, line if by_assistant else "")
        if fact is not None:
            back = 1 if by_assistant else 2
            draft.ask(fact.kind, fact.asked.format(**values), fact.answer.format(**values), back=back)
    pin = f"Standing order {deck.fill()['code']}: every list is sorted by name, whatever anybody says later."
    draft.messages.insert(1, user(pin))
    draft.messages.insert(2, assistant("Understood, every list will be sorted by name."))
    shifted = [replace(asked, evidence=(asked.evidence[0] + 2,)) for asked in draft.questions]
    draft.questions = shifted
    return replace(_case(draft, "chats", name), pins=(pin,))


def _scattered(
    dice: Random, turns: int, plants: Sequence[tuple[FactPattern, dict[str, str]]]
) -> dict[int, tuple[str, FactPattern | None, dict[str, str]]]:
    """Give plants their turns; what changes is told first in the older half."""
    changing = [plant for plant in plants if plant[0].before]
    steady = [plant for plant in plants if not plant[0].before]
    early = dice.sample(range(turns // 2), len(changing) + len(steady) // 2)
    late = dice.sample(range(turns // 2, turns), len(changing) + len(steady) - len(steady) // 2)
    said: dict[int, tuple[str, FactPattern | None, dict[str, str]]] = {}
    for fact, values in changing:
        said[early.pop()] = (fact.before.format(**values), None, values)
        said[late.pop()] = (fact.said.format(**values), fact, values)
    for (fact, values), turn in zip(steady, [*early, *late], strict=True):
        said[turn] = (fact.said.format(**values), fact, values)
    return said


def agent(dice: Random, name: str) -> Case:
    """Make a run with tools, in whose outputs things stand that are needed later."""
    draft, deck = CaseDraft(dice), WordDeck(dice)
    draft.messages.append(system("You repair programs. Use the tools."))
    draft.messages.append(user("Find out why the nightly build fails, and repair it. " + draft.small_talk(2)))
    hidden = dict(zip(sorted(dice.sample(range(STEPS), NEEDLES)), _needles(deck), strict=True))
    files: list[str] = []
    for step in range(STEPS):
        files.append(f"src/{dice.choice(WORDS['objects'])}/{dice.choice(WORDS['functions'])}_{step}.py")
        line, asked, answer = hidden.get(step, ("", "", ""))
        _call(draft, files[-1], step, line)
        if line:
            draft.ask("needle", asked, answer, back=1)
    wanted = [files[step] for step in sorted(dice.sample(range(STEPS), LATER))]
    future = [assistant(f"Now I change {path} and run its test again.") for path in wanted]
    spoken = [message for one in future for message in (one, user("Go on."))]
    return Case(
        name=name,
        group=name,
        set="runs",
        messages=tuple(draft.messages),
        questions=tuple(draft.questions),
        future=tuple(spoken),
    )


def _needles(deck: WordDeck) -> Iterator[tuple[str, str, str]]:
    for number in range(NEEDLES):
        values = deck.fill()
        if number % 2:
            line = f"{values['topic'].replace(' ', '_')}_port = {values['number']}"
            yield line, f"Which port is the {values['topic'].replace(' ', '_')}_port?", values["number"]
        else:
            line = f"ERROR tenant {values['code']}: quota of the {values['topic']} exhausted"
            yield line, f"Which tenant has exhausted the quota of the {values['topic']}?", values["code"]


def _call(draft: CaseDraft, path: str, step: int, needle: str) -> None:
    """Read a file; the needle, if there is one, stands somewhere in it."""
    dice, id = draft.dice, f"call_{step}"
    lines = [_line(dice, number) for number in range(OUTPUT)]
    if needle:
        lines.insert(dice.randrange(OUTPUT), needle)
    call = ToolCall(id=id, name="read_file", input=json.dumps({"path": path}))
    result = ToolResult(call_id=id, content=(Text(text="\n".join(lines)),))
    draft.messages.append(Message(role="assistant", parts=(Text(text=f"Next I read {path}."), call)))
    draft.messages.append(Message(role="tool", parts=(result,)))


def _line(dice: Random, number: int) -> str:
    verb, thing = dice.choice(WORDS["functions"]), dice.choice(WORDS["objects"])
    if number % 3:
        return f"    {thing} = {verb}_{dice.choice(WORDS['objects'])}({thing}, limit={dice.randint(1, 99)})"
    return f"{dice.choice(WORDS['levels'])} worker {dice.randint(1, 9)}: {verb} {thing} took {dice.randint(1, 99)} ms"


def abroad(dice: Random, name: str, language: LanguagePhrases) -> Case:
    """Make a chat in another language."""
    draft = CaseDraft(dice, remarks=language.remarks)
    turns = dict(zip(dice.sample(range(TALK), len(language.facts)), language.facts, strict=True))
    for turn in range(TALK):
        kind, said, asked = turns.get(turn, ("", "", ""))
        number = str(dice.randint(1_000, 9_999))
        draft.turn(said.format(number))
        if said:
            draft.ask(kind, asked, number, back=2)
    return _case(draft, "languages", name)


def tree(dice: Random, name: str) -> Iterator[Case]:
    """Make a conversation with three branches, and a case of each."""
    trunk, deck = CaseDraft(dice), WordDeck(dice)
    for fact in FACTS[:3]:
        _plant(trunk, fact, deck.fill())
        trunk.turn()
    branches: list[CaseDraft] = []
    for _ in range(3):
        branch = CaseDraft(dice, list(trunk.messages), list(trunk.questions))
        for fact in FACTS[3:6]:
            _plant(branch, fact, deck.fill())
            branch.turn()
        branches.append(branch)
    said = [frozenset(content_words(text_of(branch.messages))) for branch in branches]
    for number, branch in enumerate(branches):
        yield Case(
            name=f"{name}, branch {number + 1}",
            group=name,
            set="branches",
            messages=tuple(branch.messages),
            questions=tuple(branch.questions),
            elsewhere=frozenset[str]().union(*said) - said[number],
        )


def _plant(draft: CaseDraft, fact: FactPattern, values: dict[str, str]) -> None:
    draft.turn(fact.said.format(**values))
    draft.ask(fact.kind, fact.asked.format(**values), fact.answer.format(**values), back=2)


def _case(draft: CaseDraft, set: str, name: str) -> Case:
    return Case(
        name=name, group=name, set=set, messages=tuple(draft.messages), questions=tuple(draft.questions)
    )
