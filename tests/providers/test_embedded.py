"""A real language model in this process: streams, counts, overflows, is interrupted, and answers the same twice."""

from __future__ import annotations

import asyncio
import http.client
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from octavo.core.messages import system, user
from octavo.core.reply import Delta, Request
from octavo.errors import ProviderError, WindowExceeded
from octavo.protocols import Provider
from octavo.providers.embedded import Embedded, lacking_features, open_embedded
from octavo.providers.model_files import DEFAULT, SMALLEST
from octavo.providers.settings import Local, WaitLimits
from tests.providers.kit import collect
from tests.providers.real import CACHE, real_model

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("embedded")]
WINDOW = 4_096
PATIENT = 120
"""Seconds: the machine may be busy. Nothing here is slow; what hangs is to fail."""


def ask(text: str, *, limit: int | None = 8, options: str = "{}") -> Request:
    return Request(
        model="any",
        messages=(system("You are brief."), user(text)),
        max_output=limit,
        temperature=0.0,
        options=options,
    )


def open_at(path: Path, window: int = WINDOW) -> Embedded:
    return open_embedded(path, Local(cache=CACHE, window=window, threads=1), WaitLimits())


@pytest.fixture(scope="module")
async def model(anyio_backend: str) -> AsyncIterator[Embedded]:
    assert anyio_backend == "asyncio"
    opened = open_at(real_model(SMALLEST))
    yield opened
    await opened.close()


def unfinished(model: Embedded) -> float:
    figures = model.figures()
    return figures["requests_processing"] + figures["requests_deferred"]


async def until_idle(model: Embedded) -> None:
    for _ in range(PATIENT):
        if not unfinished(model):
            return
        await asyncio.sleep(1)
    pytest.fail("the model goes on although nobody listens")


async def test_it_is_a_provider_that_says_what_it_is(model: Embedded) -> None:
    assert isinstance(model, Provider)
    assert model.title == "embedded SmolLM2 135M: small, for trying out"
    assert model.window == WINDOW
    assert not model.rules.vision
    await model.load()
    assert unfinished(model) == 0


async def test_an_answer_streams_and_stops_at_the_limit(model: Embedded) -> None:
    request = ask("Tell me about the sea.")
    answer = await collect(model, request)
    assert len(answer.deltas) > 2
    assert answer.text == answer.reply.message.text
    assert answer.reply.finish == "length"
    assert answer.reply.usage.output == 8
    assert answer.reply.usage.input == model.measure(request)
    assert answer.reply.model == SMALLEST.file.removesuffix(".gguf")


async def test_an_answer_that_comes_to_its_end_says_so(model: Embedded) -> None:
    answer = await collect(model, ask("Tell me about the sea.", limit=200, options='{"stop": [" "]}'))
    assert answer.reply.finish == "stop"
    assert " " not in answer.text


async def test_the_same_question_gets_the_same_answer(model: Embedded) -> None:
    request = ask("Name three fruits.", limit=24)
    one, other = await collect(model, request), await collect(model, request)
    assert one.text == other.text
    assert other.reply.usage.cached > 0
    assert other.reply.usage.input == one.reply.usage.input


async def test_a_text_is_counted_in_the_model_s_own_tokens(model: Embedded) -> None:
    assert model.count("") == 0
    assert model.count("hello world") == 2
    # What looks like the end of a turn is counted as the text it is.
    assert model.count("<|im_end|>") > 1
    longer = Request(model="any", messages=(*ask("hi").messages, user("more words")))
    assert model.measure(longer) > model.measure(ask("hi"))


async def test_a_prompt_that_is_too_long_is_an_overflow_with_its_numbers(model: Embedded) -> None:
    request = ask("hello world " * WINDOW)
    with pytest.raises(WindowExceeded, match=f"{model.measure(request)} tokens") as caught:
        await collect(model, request)
    assert caught.value.window == WINDOW


async def test_closing_the_stream_stops_the_model(model: Embedded) -> None:
    await model.load()
    written = model.figures()["tokens_predicted_total"]
    stream = cast(Any, model.stream(ask("Tell me a very long story.", limit=None)))
    for _ in range(3):
        assert isinstance(await anext(stream), Delta)
    assert unfinished(model) == 1
    await stream.aclose()
    await until_idle(model)
    assert model.figures()["tokens_predicted_total"] - written < WINDOW / 2


async def test_cancelling_stops_the_model_while_it_reads(model: Embedded) -> None:
    await model.load()
    request = ask("The quick brown fox. " * 700)
    read_before, to_read = model.figures()["prompt_tokens_total"], model.measure(request)
    task = asyncio.ensure_future(collect(model, request))
    while not unfinished(model):
        await asyncio.sleep(0.1)
        assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_idle(model)
    assert model.figures()["prompt_tokens_total"] - read_before < to_read
    assert (await collect(model, ask("Hi."))).text


async def test_two_at_once_are_both_answered(model: Embedded) -> None:
    answers = await asyncio.gather(*(collect(model, ask(f"Count to {n}.")) for n in (3, 5)))
    assert all(answer.text for answer in answers)


async def test_strangers_on_this_machine_are_turned_away(model: Embedded) -> None:
    await model.load()
    address = urlsplit(model._server.listening_address)
    assert address.hostname == "127.0.0.1"
    connection = http.client.HTTPConnection(address.netloc, timeout=PATIENT)
    connection.request("POST", "/tokenize", b'{"content": "x"}', {"Origin": "http://example.org"})
    answer = connection.getresponse()
    assert answer.status == 401
    connection.close()
    assert model._key.reveal() not in repr(model)


async def test_a_model_that_was_closed_comes_back_when_it_is_asked_again() -> None:
    model = open_at(real_model(SMALLEST), window=512)
    assert model.count("hello world") == 2
    await model.close()
    await model.close()
    assert (await collect(model, ask("Hi."))).text
    await model.close()


async def test_a_file_that_is_no_model_is_said_in_words(tmp_path: Path) -> None:
    real_model(SMALLEST)
    path = tmp_path / "nonsense.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ProviderError, match=r"nonsense\.gguf could not be loaded"):
        await open_at(path).load()


def run_program(path: Path, *lines: str) -> tuple[str, str]:
    """Run a program with a model, so that one that hangs fails instead of the tests hanging."""
    script = (
        "import asyncio, sys",
        "from pathlib import Path",
        "from octavo.providers.embedded import open_embedded",
        "from octavo.providers.settings import Local, WaitLimits",
        "local = Local(cache=Path(), window=512, threads=1)",
        "model = open_embedded(Path(sys.argv[1]), local, WaitLimits())",
        *lines,
    )
    command = [sys.executable, "-W", "error", "-c", "\n".join(script), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT, check=True)
    return done.stdout, done.stderr


def test_a_program_that_forgets_to_close_ends_all_the_same() -> None:
    path = real_model(SMALLEST)
    assert run_program(path, "print(model.count('hello world'))") == ("2\n", "")


def test_a_model_can_be_closed_as_soon_as_it_is_loaded() -> None:
    """The engine itself hangs when it is stopped before its loop has begun, which is what happens here."""
    path = real_model(SMALLEST)
    lines = ("async def main():", "    await model.load()", "    await model.close()", "asyncio.run(main())")
    assert run_program(path, *lines, "asyncio.run(main())", "print('done')") == ("done\n", "")


def test_what_a_processor_lacks_is_known_where_it_can_be() -> None:
    assert lacking_features() <= {"avx2", "fma", "f16c", "bmi2"}


async def test_the_default_model_knows_what_it_was_told() -> None:
    model = open_at(real_model(DEFAULT), window=2_048)
    told = "The advisory lock key of the billing service is 7741. What is the advisory lock key?"
    answer = await collect(model, ask(told, limit=32))
    await model.close()
    assert "7741" in answer.text
