"""Small models: a few lines on each small chunk."""

from __future__ import annotations

import re

from octavo.core.budget import ModelCard
from octavo.core.reply import Request
from octavo.core.summary import SummaryJob
from octavo.summarise.chunked import SMALL_PARTS
from octavo.summarise.model import PARALLEL, model_summariser
from octavo.testing import ScriptedProvider, talk
from tests.summarise.providers import Answering
from tests.summarise.shared import flaws, history, model, run, words


def facts(request: Request) -> str:
    return "\n".join(("Here are the facts:", *true(request), "- The total is 77123."))


def true(request: Request) -> list[str]:
    named = re.findall(r"item (\d+)00 of", request.messages[1].text)
    return [f"- item {n}00 is in the list" for n in named[-2:]]


def test_a_small_model_lists_the_facts_of_small_chunks_without_a_merge() -> None:
    provider = Answering(facts)
    narrative = run(model(provider, mode="bullets"), SummaryJob(covered=history(12), cap=2_000))
    assert len(provider.requests) > 1
    assert narrative.text.split("\n") == [line for request in provider.requests for line in true(request)]
    assert all(len(request.messages[1].text) <= 1_500 for request in provider.requests)
    assert all(request.max_output == 160 for request in provider.requests)
    assert narrative.doubtful == ("The total is 77123.",)


def test_a_small_models_lists_go_below_the_previous_ones_bounded_and_without_repetition() -> None:
    previous = "- The old house is blue and has a garden.\n- item 100 is in the list"
    provider = Answering(facts)
    narrative = run(
        model(provider, mode="bullets"), SummaryJob(covered=history(4), previous=previous, cap=2_000)
    )
    assert narrative.text.split("\n") == [*previous.split("\n"), *true(provider.requests[0])]
    again = run(
        model(provider, mode="bullets"), SummaryJob(covered=history(4), previous=narrative.text, cap=2_000)
    )
    assert again.text == narrative.text
    tight = run(
        model(Answering(facts), mode="bullets"), SummaryJob(covered=history(30), previous=previous, cap=40)
    )
    assert words(tight.text) <= 40
    assert "blue" in tight.text
    assert "item 2900" in tight.text


def test_a_small_model_that_has_nothing_to_say_is_asked_twice_and_given_up() -> None:
    provider = Answering(lambda _: "No facts:")
    narrative = run(model(provider, mode="bullets"), SummaryJob(covered=history(2), cap=500))
    assert (narrative.text, set(flaws(narrative))) == ("", {"empty"})
    assert len(provider.requests) == 2 * len(narrative.problems)
    assert "could not be used" in provider.requests[-1].messages[-1].text


def test_of_a_long_conversation_a_small_model_reads_the_newest_parts() -> None:
    provider = Answering(facts)
    narrative = run(model(provider, mode="bullets"), SummaryJob(covered=history(200), cap=20_000))
    assert len(provider.requests) == SMALL_PARTS
    assert "item 19900 is in the list" in narrative.text
    assert "item 000 is in the list" not in narrative.text
    assert flaws(narrative) == ["spent"]


def test_an_embedded_model_is_asked_one_thing_at_a_time() -> None:
    """It answers one request after the other: whoever chats meanwhile waits for one of ours, not for four."""
    card = ModelCard(name="small", window=4_096, max_output=1_024)
    provider = Answering(facts)
    assert model_summariser(provider, "small", card, measure=words, embedded=True).parallel == 1
    assert model_summariser(provider, "small", card, measure=words, embedded=False).parallel == PARALLEL


def test_lists_that_are_longer_than_the_conversation_are_not_used() -> None:
    covered = talk("u: Ann has one item in the list.", "a: Yes.")
    provider = ScriptedProvider(["- In the list Ann has one item, and it is the one that she has in it."])
    narrative = run(model(provider, mode="bullets"), SummaryJob(covered=covered))
    assert (narrative.text, flaws(narrative)) == ("", ["not_smaller"])
