"""The model inside the server, asked through the gateway by a client that knows nothing of it: no key is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from octavo.providers.embedded import open_embedded
from octavo.providers.model_files import SMALLEST
from octavo.providers.settings import Local, WaitLimits
from tests.gateway.conftest import said, setup, user
from tests.providers.real import real_model
from tests.server.conftest import MakeEngine
from tests.server.fake import Provider

pytestmark = pytest.mark.anyio
MODEL = "local/smollm2-135m"
WINDOW = 1_024
QUESTION = "The code of door {} is D{:03d}. " + "It is on the left of the stairs. " * 20


async def test_a_conversation_with_the_embedded_model_outgrows_its_window_and_goes_on(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    local = Local(cache=tmp_path, window=WINDOW, threads=1)
    embedded = open_embedded(real_model(SMALLEST), local, WaitLimits())
    engine = await make_engine(provider=embedded, model=MODEL)
    await engine.models.learn_window(MODEL, WINDOW)
    async with setup(engine, Provider()) as house:
        history: list[Any] = []
        compressed = False
        while not compressed:
            assert len(history) < 40
            history.append(user(QUESTION.format(len(history), len(history))))
            answer, headers = await house.ask(*history, model=MODEL, max_tokens=8, temperature=0)
            assert 0 < answer.usage.prompt_tokens <= WINDOW - 8
            history.append(said(answer.choices[0].message.content))
            compressed = headers["x-octavo-compressed"] == "true"
        assert len(await house.stored(headers)) == len(history)
        secret = embedded._key.reveal()
        assert all(secret not in value for value in headers.values())
        with pytest.raises(openai.BadRequestError) as refused:
            await house.ask(user("Hi"), model=MODEL, temperature="hot")
        assert secret not in str(refused.value)
        streamed = await house.openai.chat.completions.create(
            model=MODEL, messages=[user("Say hello.")], max_tokens=8, stream=True
        )
        words = [chunk.choices[0].delta.content or "" async for chunk in streamed if chunk.choices]
        assert "".join(words).strip()
        assert house.provider.bodies == []


async def test_an_anthropic_client_is_answered_by_the_embedded_model(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    local = Local(cache=tmp_path, window=WINDOW, threads=1)
    embedded = open_embedded(real_model(SMALLEST), local, WaitLimits())
    engine = await make_engine(provider=embedded, model=MODEL)
    await engine.models.learn_window(MODEL, WINDOW)
    async with setup(engine, Provider()) as house:
        history: list[Any] = []
        compressed = False
        while not compressed:
            assert len(history) < 40
            history.append(user(QUESTION.format(len(history), len(history))))
            answer, headers = await house.ask_claude(*history, model=MODEL, max_tokens=8, system="Be brief.")
            assert answer.usage.output_tokens
            history.append(said(answer.content[0].text))
            compressed = headers["x-octavo-compressed"] == "true"
        assert len(await house.stored(headers)) == len(history)
        async with house.anthropic.messages.stream(
            model=MODEL, max_tokens=8, messages=[user("Say hello.")]
        ) as run:
            assert (await run.get_final_message()).content
        counted = await house.anthropic.messages.count_tokens(model=MODEL, messages=[user("Say hello.")])
        assert 0 < counted.input_tokens < WINDOW
        with pytest.raises(anthropic.BadRequestError, match="temperature") as refused:
            await house.ask_claude(user("Hi"), model=MODEL, extra_body={"temperature": "hot"})
        assert refused.value.body["type"] == "error"  # type: ignore[index]
        assert house.provider.bodies == []


async def test_a_model_that_is_not_installed_says_how_to_get_it(
    make_engine: MakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTAVO_CACHE", str(tmp_path))
    async with setup(await make_engine(provider=None), Provider()) as house:
        with pytest.raises(openai.APIStatusError, match="octavo local install") as refused:
            await house.ask(user("Hi"), model=MODEL)
        assert refused.value.status_code < 500
