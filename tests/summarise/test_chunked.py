"""Cases 43, 56: conversations that do not fit the window of the summariser, and runs that are cancelled."""

from __future__ import annotations

import asyncio
import re

import pytest

from octavo.core.reply import Request, Usage
from octavo.core.summary import SummaryJob
from octavo.errors import BadInput, ProviderError
from octavo.testing import ScriptedProvider, talk
from tests.summarise.providers import Answering, Hanging
from tests.summarise.shared import JOB, RECENT, flaws, history, model, run, words


def note(request: Request) -> str:
    text = "\n".join(message.text for message in request.messages[1:])
    if "Stretch 1:" in text:
        return (
            "## Context\nThe user has a long list.\n## Key Points\n"
            + "\n".join(re.findall(r"- item \d+", text))
            + "\n## Decisions\n(none)"
        )
    return "\n".join(
        f"- item {n}00 of the list is noted for the house" for n in re.findall(r"item (\d+)00 of", text)
    )


def test_more_than_the_window_holds_is_divided_and_merged() -> None:
    """Case 43: the newest facts, the previous summary and the recent messages are in the merge."""
    provider = Answering(note)
    job = SummaryJob(
        covered=history(60), recent=RECENT, previous="Everything is about the old house.", cap=500
    )
    told: list[str] = []
    narrative = run(model(provider, window=2_600, max_output=700), job, told)
    *parts, last = provider.requests
    assert len(parts) > 1
    asked = [message.text for message in last.messages]
    assert any("about the old house" in text for text in asked)
    assert any("tests of the importer" in text for text in asked)
    assert re.findall(r"item (\d+)00 of", "\n".join(asked)) == [str(n) for n in range(60)]
    assert narrative.text.count("- item") == 60
    assert narrative.usage == Usage(input=10 * len(provider.requests), output=len(provider.requests))
    assert all(_size(request) <= 2_600 - (request.max_output or 0) for request in provider.requests)
    # The notes are on the way to the summary, not a part of it: it begins anew.
    assert told[-2:] == ["", narrative.text]
    assert len(told) == len(parts) + 2


def _size(request: Request) -> int:
    return sum(words(message.text) for message in request.messages)


def test_no_more_calls_run_at_a_time_than_allowed() -> None:
    job = SummaryJob(covered=history(60), cap=500)
    for limit in (1, 2, 3):
        provider = Answering(note)
        run(model(provider, window=2_600, max_output=700, parallel=limit), job)
        assert len(provider.requests) > limit + 1
        assert provider.most == limit
    with pytest.raises(BadInput, match="1 call at a time or more"):
        model(provider, parallel=0)


def test_notes_that_do_not_fit_are_condensed_again() -> None:
    provider = Answering(note)
    narrative = run(model(provider, window=1_900, max_output=500), SummaryJob(covered=history(200), cap=400))
    rounds = [request for request in provider.requests if "part 1 of" in request.messages[0].text]
    assert len(rounds) > 1
    assert narrative.text.startswith("## Context")
    assert all(_size(request) <= 1_900 - (request.max_output or 0) for request in provider.requests)


def test_a_model_that_does_not_shorten_comes_to_an_end() -> None:
    """Case 43: notes are thinned out when three rounds did not make them fit."""

    def wordy(request: Request) -> str:
        text = "\n".join(message.text for message in request.messages[1:])
        if "Stretch 1:" in text:
            return note(request)
        lines = re.findall(r"(?:User|Assistant): (.*)|- (.*)", text)
        return "\n".join(f"- {a or b}"[:90] for a, b in lines)

    provider = Answering(wordy)
    run(model(provider, window=1_900, max_output=500), SummaryJob(covered=history(120), cap=600))
    rounds = [request for request in provider.requests if "part 1 of" in request.messages[0].text]
    assert len(rounds) <= 4
    assert all(_size(request) <= 1_900 - (request.max_output or 0) for request in provider.requests)


def test_a_previous_summary_that_takes_too_much_room_is_condensed_too() -> None:
    previous = "\n".join(f"- item {n}00 of the older list is noted for the house" for n in range(900, 990))
    provider = Answering(note)
    run(
        model(provider, window=2_000, max_output=500),
        SummaryJob(covered=history(20), previous=previous, cap=400),
    )
    first, last = provider.requests[0], provider.requests[-1]
    assert "item 90000 of the older list" in first.messages[1].text
    merged = "\n".join(message.text for message in last.messages)
    assert "<previous-" not in merged
    assert "item 90000 of" in merged


def test_a_huge_message_is_divided_too() -> None:
    provider = Answering(note)
    covered = talk(
        "u: " + " ".join(f"item {n}00 of the list is in the house;" for n in range(400)), "a: Fine."
    )
    run(model(provider, window=2_600, max_output=700), SummaryJob(covered=covered, cap=500))
    seen = re.findall(r"(\d+)00 ", "\n".join(m.text for r in provider.requests for m in r.messages[1:2]))
    assert set(seen) >= {str(n) for n in range(400)}


def test_a_last_chunk_as_short_as_notes_is_not_asked_about_but_taken_as_it_is() -> None:
    provider = Answering(note)
    run(model(provider, window=2_600, max_output=700), SummaryJob(covered=history(36), cap=500))
    assert [re.findall(r"part \d of \d", request.messages[0].text) for request in provider.requests] == [
        ["part 1 of 3"],
        ["part 2 of 3"],
        [],
    ]
    assert "User: Please note item 3500 of the long list" in provider.requests[-1].messages[1].text


def test_a_chunk_that_fails_twice_is_named_and_the_others_go_on() -> None:
    def moody(request: Request) -> str:
        return "" if "part 2 of" in request.messages[0].text else note(request)

    narrative = run(
        model(Answering(moody), window=2_600, max_output=700), SummaryJob(covered=history(60), cap=500)
    )
    assert narrative.text.startswith("## Context")
    assert flaws(narrative) == ["empty"]
    assert re.fullmatch(r"part 2 of \d+: the model answered with nothing", narrative.problems[0].detail)


def test_if_every_chunk_fails_there_is_no_narrative() -> None:
    narrative = run(
        model(Answering(lambda _: ""), window=2_600, max_output=700), SummaryJob(covered=history(60), cap=500)
    )
    assert narrative.text == ""
    assert narrative.problems[-1].detail == "no part of the conversation could be summarised"


def test_a_bad_merge_is_tried_again_without_reading_everything_again() -> None:
    merges: list[Request] = []

    def answer(request: Request) -> str:
        if "Stretch 1:" in "\n".join(message.text for message in request.messages):
            merges.append(request)
            return "" if len(merges) == 1 else note(request)
        return note(request)

    provider = Answering(answer)
    told: list[str] = []
    narrative = run(
        model(provider, window=2_600, max_output=700, second_look=True),
        SummaryJob(covered=history(60), cap=500),
        told,
    )
    assert [told.count(""), told[-2], told[-1][:10]] == [1, "", "## Context"]
    assert narrative.text.startswith("## Context")
    assert len([r for r in provider.requests if "part 1 of" in r.messages[0].text]) == 1
    assert "You check the draft" in provider.requests[-1].messages[0].text


def test_the_error_of_one_chunk_ends_the_run_and_is_raised_as_it_is() -> None:
    def failing(request: Request) -> str:
        if "part 2 of" in request.messages[0].text:
            raise ProviderError("the service is down")
        return note(request)

    provider = Answering(failing)
    with pytest.raises(ProviderError, match="the service is down"):
        run(model(provider, window=2_600, max_output=700), SummaryJob(covered=history(60), cap=500))
    assert provider.running == 0


def test_a_window_without_room_is_a_problem_with_its_sums_and_no_crash() -> None:
    narrative = run(model(ScriptedProvider([]), window=500, max_output=100), SummaryJob(covered=history(60)))
    assert (narrative.text, flaws(narrative)) == ("", ["no_room"])
    assert "window 500, answer 100, instructions" in narrative.problems[0].detail


@pytest.mark.parametrize("mode", ["whole", "bullets"])
def test_cancelling_stops_every_call(mode: str) -> None:
    """Case 56."""

    async def cancelled() -> int:
        provider = Hanging(wanted=3)
        summariser = model(provider, window=2_600, max_output=700, mode=mode, parallel=3)
        task = asyncio.create_task(
            summariser.summarise(SummaryJob(covered=history(60), cap=500), lambda _: None)
        )
        await provider.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return provider.open

    assert asyncio.run(cancelled()) == 0


def test_cancelling_a_single_call_closes_its_stream() -> None:
    async def cancelled() -> int:
        provider = Hanging()
        task = asyncio.create_task(model(provider).summarise(JOB, lambda _: None))
        await provider.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return provider.open

    assert asyncio.run(cancelled()) == 0
