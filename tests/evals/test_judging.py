"""Probes: made from the original, sorted out, answered from each context, judged blindly, told with intervals."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from hashlib import blake2b

import pytest

from octavo.core.budget import ModelCard, Price
from octavo.core.messages import user
from octavo.core.reply import Reply, Request
from octavo.errors import BadReply, ProviderError
from octavo.evals.judging import (
    FULL,
    PROMPTS,
    Bench,
    Contender,
    Probe,
    estimate,
    fill,
    judge,
    probe_all,
    prompt,
    read_probes,
    shown,
    spent,
    verdicts,
)
from octavo.evals.measure.answers import AskedQuestion
from octavo.evals.measure.score import Case
from octavo.meters.meter import Meter
from octavo.testing import ScriptedProvider, messages

pytestmark = pytest.mark.anyio
CARD = ModelCard(
    name="judge", tokenizer="chars4", frame="yardstick", window=8_000, price=Price(input=1.0, output=2.0)
)
CASE = Case(
    name="talk",
    group="talk",
    set="talks",
    messages=messages(
        "u: The badge is 4711.", "a: Noted.", "u: We decided on oak, for the smell.", "a: Oak it is."
    ),
)
PROBES = {
    "details": {"question": "Which badge?", "answer": "4711"},
    "what was decided": {"question": "Which wood?", "answer": "oak"},
    "what is still open": {"question": "What is two and two?", "answer": "4"},
    "files": {"question": "Which unicorn?", "answer": "pink"},
}
"""The third can be guessed, the fourth has no answer: both must be sorted out."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def between(text: str, start: str, stop: str) -> str:
    return text.partition(start)[2].partition(stop)[0].strip()


def model(request: Request) -> str:
    """Ask, answer from the context and nothing else, judge by whether the expected words are in the answer."""
    asked = request.messages[-1].text
    if "one JSON object in each line" in asked:
        topic = next(topic for topic in PROBES if f"Ask about {topic}" in asked)
        return f"Here you are:\n{json.dumps(PROBES[topic])}\n{{not json}}\n"
    if asked.startswith("Score an answer"):
        right = between(asked, "Expected:", "\n") in between(asked, "Answer:", "data>>>")
        return "Score: 5" if right else "0"
    context, question = between(asked, "<<<context", "context>>>"), asked.rpartition("Question: ")[2]
    if question == "What is two and two?":
        return "4"
    known = {"Which badge?": "4711", "Which wood?": "oak"}.get(question, "")
    return f"It is {known}." if known and known in context else "unknown"


def bench(provider: ScriptedProvider, **options: int) -> Bench:
    return Bench(provider=provider, model="judge", meter=Meter(CARD), **options)  # type: ignore[arg-type]


CONTENDERS = (
    Contender(name=FULL, case="talk", messages=CASE.messages, tokens=40),
    Contender(name="octavo", case="talk", messages=(user("Badge 4711; decided on oak."),), tokens=12),
    Contender(name="truncate", case="talk", messages=CASE.messages[2:], tokens=20),
    Contender(name="blank page", case="talk", messages=(user("..."),), tokens=5),
)


async def test_contexts_are_scored_by_what_can_still_be_answered() -> None:
    provider = ScriptedProvider(model)
    steps: list[str] = []
    found = await probe_all(bench(provider), [CASE], CONTENDERS, lambda words, *_: steps.append(words))
    scores = {one.context: one.score.mean for one in found}
    assert scores == {FULL: 5.0, "octavo": 5.0, "truncate": 2.5, "blank page": 0.0}
    truncated = next(one for one in found if one.context == "truncate")
    assert {kind: value.mean for kind, value in truncated.by_kind.items()} == {"recall": 0.0, "decision": 5.0}
    assert truncated.gap is not None
    assert (truncated.gap.mean, truncated.probes, truncated.tokens) == (2.5, 2, 20)
    assert found[0].gap is None
    assert {"asking about talk", "answering and judging"} <= set(steps)


async def test_every_probe_is_answered_five_times_in_a_drawn_order() -> None:
    provider = ScriptedProvider(model)
    await probe_all(bench(provider), [CASE], CONTENDERS, lambda *_: None)
    asked = [request.messages[-1].text for request in provider.requests]
    sorting = len(PROBES) + 4 * len(PROBES)
    contexts = [between(text, "<<<context", "context>>>") for text in asked[sorting:] if "<<<context" in text]
    assert len(contexts) == len(CONTENDERS) * 2 * 5
    assert contexts != sorted(contexts)
    assert contexts[:5] != [contexts[0]] * 5


async def test_the_judge_is_not_told_what_it_judges() -> None:
    provider = ScriptedProvider(model)
    await probe_all(bench(provider), [CASE], CONTENDERS, lambda *_: None)
    judged = [r.messages[-1].text for r in provider.requests if r.messages[-1].text.startswith("Score an")]
    assert judged
    for text in judged:
        assert not any(one.name in text for one in CONTENDERS)
        assert "<<<context" not in text


async def test_a_judge_of_another_name_is_asked() -> None:
    provider = ScriptedProvider(["4"])
    other = Bench(provider=provider, model="judge", meter=Meter(CARD), judge="severe")
    assert await judge(other, Probe(kind="recall", question="?", answer="x"), "") == 4
    assert provider.requests[0].model == "severe"
    assert "(no answer)" in provider.requests[0].messages[-1].text


async def test_questions_that_come_with_a_conversation_are_its_probes_and_words_can_judge() -> None:
    asked = (
        AskedQuestion(text="Which badge?", answer="4711", evidence=(0,), kind="fact"),
        AskedQuestion(text="Which wood?", answer="oak", evidence=(2,), kind="decision"),
    )
    provider = ScriptedProvider(model)
    table = Bench(provider=provider, model="judge", meter=Meter(CARD), judge="words")
    found = await probe_all(table, [replace(CASE, questions=asked)], CONTENDERS, lambda *_: None)
    assert {one.context: one.score.mean for one in found}["truncate"] == 2.5
    assert set(found[0].by_kind) == {"recall", "decision"}
    assert all("<<<context" in request.messages[-1].text for request in provider.requests)


async def test_an_answer_that_does_not_come_is_left_out_and_a_provider_that_fails_ends_it() -> None:
    def sometimes(request: Request) -> str:
        asked = request.messages[-1].text
        if not asked.startswith("Score") and len(provider.requests) % 7 == 0:
            raise BadReply("it said nothing")
        return model(request)

    provider = ScriptedProvider(sometimes)
    table = bench(provider)
    assert {one.context for one in await probe_all(table, [CASE], CONTENDERS, lambda *_: None)}
    assert table.stopped == ""

    def never(request: Request) -> str:
        raise ProviderError(f"gone, {request.model}")

    table = bench(ScriptedProvider(never))
    assert await probe_all(table, [CASE], CONTENDERS, lambda *_: None) == ()
    assert table.stopped == "gone, judge"
    assert len(table.usage) == 0


async def test_what_was_judged_is_there_when_probing_is_interrupted() -> None:
    provider = ScriptedProvider(model)
    table, me = bench(provider), asyncio.current_task()
    assert me is not None

    def tell(words: str, done: int, total: int) -> None:
        if words == "answering and judging" and done == total // 2:
            me.cancel()

    with pytest.raises(asyncio.CancelledError):
        await probe_all(table, [CASE], CONTENDERS, tell)
    me.uncancel()
    assert table.judged
    assert verdicts(table, CONTENDERS)


async def test_a_judgement_that_cannot_be_read_counts_neither_way() -> None:
    probe = Probe(kind="recall", question="?", answer="x")
    assert await judge(bench(ScriptedProvider(["well..."])), probe, "x") is None
    assert await judge(bench(ScriptedProvider(["10 out of 10, so 5"])), probe, "x") == 5
    provider = ScriptedProvider(lambda r: "hm" if r.messages[-1].text.startswith("Score") else model(r))
    assert await probe_all(bench(provider), [CASE], CONTENDERS, lambda *_: None) == ()


async def test_what_it_costs_is_known_before_and_bounds_what_it_cost() -> None:
    provider = ScriptedProvider(model)
    table = bench(provider)
    expected = estimate(table, CONTENDERS)
    assert provider.requests == []
    await probe_all(table, [CASE], CONTENDERS, lambda *_: None)
    paid = spent(table)
    assert expected.dollars is not None
    assert paid is not None
    assert 0 < paid < expected.dollars
    assert len(provider.requests) <= expected.calls
    assert (table.made, table.usable) == (4, 2)
    free = Bench(
        provider=provider, model="x", meter=Meter(ModelCard(name="x", tokenizer="chars4", frame="yardstick"))
    )
    assert (estimate(free, CONTENDERS).dollars, spent(free)) == (None, None)


async def test_a_model_that_says_nothing_is_an_error() -> None:
    class Mute(ScriptedProvider):
        async def stream(self, request: Request):  # type: ignore[no-untyped-def]
            for _ in ():
                yield Reply(message=user(str(request)))

    with pytest.raises(BadReply, match="did not answer"):
        await bench(Mute([])).ask("hello?", cap=1, temperature=0.0)


def test_probes_that_cannot_be_used_are_passed_over() -> None:
    text = "\n".join(
        [
            '{"question": "a?", "answer": "1"}',
            '{"question": "a?", "answer": "again"}',
            '{"question": "b?", "answer": ""}',
            '{"question": 4, "answer": "4"}',
            '{"question": "d?", "answer": "4"} {"question": "e?", "answer": "5"}',
            "{oops}",
        ]
    )
    found = read_probes(text, "recall")
    assert [(probe.question, probe.answer) for probe in found] == [("a?", "1"), ("d?", "4"), ("e?", "5")]
    assert {probe.kind for probe in found} == {"recall"}


def test_a_conversation_too_long_is_shown_without_its_beginning() -> None:
    said = messages("u: first " + "words " * 500, "a: the last word")
    text = shown(said, Meter(CARD), 200)
    assert Meter(CARD).count_text(text) <= 200
    assert text.rstrip().endswith("the last word")
    assert shown(said, Meter(CARD), 10_000).count("words") == 500


def test_what_is_filled_into_a_prompt_is_not_looked_at_again() -> None:
    assert "{question}" in fill("answer", context="{question} {x}", question="Why?")
    assert fill("answer", context="c", question="Why?").endswith("Question: Why?")


def test_the_prompts_are_these() -> None:
    """A change of a prompt changes what scores mean: it should be made on purpose."""
    found = {path.stem: _digest(prompt(path.stem)) for path in sorted(PROMPTS.glob("*.md"))}
    assert found == {"answer": "2d0b2a81", "judge": "43263834", "probes": "c470d44d"}


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=4).hexdigest()
