"""Small models: a few lines on each small chunk."""

from __future__ import annotations

import re

from octavo.core.reply import Request
from octavo.core.summary import SummaryJob
from octavo.testing import ScriptedProvider, talk
from tests.summarise.providers import Answering
from tests.summarise.shared import flaws, history, model, run, words


def facts(request: Request) -> str:
    text = request.messages[1].text
    return (
        "Here are the facts:\n"
        + "\n".join(f"- item {n}00 is in the list" for n in re.findall(r"item (\d+)00 of", text))
        + "\n- The total is 77123."
    )


def test_a_small_model_lists_the_facts_of_small_chunks_without_a_merge() -> None:
    provider = Answering(facts)
    narrative = run(model(provider, mode="bullets"), SummaryJob(covered=history(12), cap=2_000))
    assert narrative.text == "\n".join(f"- item {n}00 is in the list" for n in range(12))
    assert all(len(request.messages[1].text) <= 1_500 for request in provider.requests)
    assert all(request.max_output == 400 for request in provider.requests)
    assert narrative.doubtful == ("The total is 77123.",)


def test_a_small_models_lists_go_below_the_previous_ones_bounded_and_without_repetition() -> None:
    previous = "- The old house is blue and has a garden.\n- item 100 is in the list"
    provider = Answering(facts)
    narrative = run(
        model(provider, mode="bullets"), SummaryJob(covered=history(4), previous=previous, cap=2_000)
    )
    assert narrative.text.split("\n")[:3] == [*previous.split("\n"), "- item 000 is in the list"]
    assert narrative.text.count("item 100") == 1
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


def test_lists_that_are_longer_than_the_conversation_are_not_used() -> None:
    covered = talk("u: Item one is in the list.", "a: Yes.")
    provider = ScriptedProvider(["- It is the item, it is.\n- It is in the list, yes."])
    narrative = run(model(provider, mode="bullets"), SummaryJob(covered=covered))
    assert (narrative.text, flaws(narrative)) == ("", ["not_smaller"])
