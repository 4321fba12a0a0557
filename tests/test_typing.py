"""What a type checker tells people who use the library: nothing where all is well, and every typo."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[1] / ".mypy_cache"
RIGHT = """
import anthropic
import openai
from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam

import octavo


def beside_a_client_of_your_own() -> None:
    chat = octavo.open("harbour.db", model="gpt-4o", summariser="none", system="Be brief.")
    node = chat.add("The gate code is 4711.")
    name: str = node.id
    tool = {"name": "berth", "input_schema": {"type": "object", "properties": {"ship": {"type": "integer"}}}}
    sent = chat.context(tools=[tool])
    client = openai.OpenAI()
    reply = client.chat.completions.create(model="gpt-4o", messages=sent.messages, tools=sent.tools)
    chat.add(reply)
    claude = anthropic.Anthropic()
    claude.messages.create(
        model="claude-sonnet-4-5", max_tokens=9, messages=sent.messages, system=sent.system, tools=sent.tools
    )
    result = octavo.compress(sent.messages, budget=8_000)
    client.chat.completions.create(model="gpt-4o", messages=result.messages)
    claude.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=result.messages)
    print(name, chat.usage().reading.tokens, chat.branch()[-1].message.text)


def histories_of_the_libraries() -> None:
    ours: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hi"}]
    theirs: list[MessageParam] = [{"role": "user", "content": "hi"}]
    octavo.compress(ours, budget=100)
    octavo.compress(theirs, ratio=0.5, focus="ports")


def asking() -> None:
    with octavo.open() as chat:
        for event in chat.turn("Where is ship 7?", temperature=0.5):
            print(type(event))
        copy: octavo.SyncChat = chat.fork(title="copy")
        copy.set(soft=0.7)
        print(copy.compress(keep=0), copy.search("ship", limit=3))


async def with_a_loop() -> None:
    async with await octavo.Engine.open("harbour.db", model="gpt-4o") as engine:
        chat = await engine.create("work")
        print((await chat.context()).messages)
"""
WRONG = """
import octavo


def typos() -> None:
    chat = octavo.open("harbour.db", model="gpt-4o")
    chat.contxt()  # wrong
    chat.add("Hello", rol="user")  # wrong
    chat.context(tool=[])  # wrong
    number: int = chat.add("Hello")  # wrong
    for event in chat.turn("Hello"):
        event.nothing_like_it()  # wrong
    chat.fork().contxt()  # wrong
    chat.compress(keep="all")  # wrong
    octavo.open("harbour.db", modle="gpt-4o")  # wrong
    octavo.compress([], bugdet=5)  # wrong
    octavo.compress([], budget="5")  # wrong
    octavo.compress("hi")  # wrong
    print(number, chat.usage().reading.tokns)  # wrong


async def with_a_loop() -> None:
    engine = await octavo.Engine.open("harbour.db", modle="gpt-4o")  # wrong
    (await engine.create()).contxt()  # wrong
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run mypy in strict mode, as somebody does who has installed the package."""
    folder = tmp_path_factory.mktemp("program")
    for name, program in (("right.py", RIGHT), ("wrong.py", WRONG)):
        (folder / name).write_text(program)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            # What `make check` has found out about the libraries need not be found out again.
            *("--cache-dir", str(CACHE)),
            *("right.py", "wrong.py"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stderr == ""
    return done.stdout


def test_a_program_that_is_right_is_told_nothing(told: str) -> None:
    assert [line for line in told.splitlines() if not line.startswith("wrong.py")] == []


def test_every_typo_is_found_where_it_is(told: str) -> None:
    found = {int(number) for number in re.findall(r"^wrong\.py:(\d+): error", told, re.MULTILINE)}
    marked = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# wrong")}
    assert found == marked, told
