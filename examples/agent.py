"""An agent that calls a tool until it is done; its history is stored, and never outgrows the window.

python examples/agent.py gpt-4o "How many lines has README.md?"
python examples/agent.py --scripted
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import octavo
from octavo.core.messages import Message, Text, ToolCall, ToolResult
from octavo.core.reply import Reply
from octavo.core.tools import Tool
from octavo.engine.outcome import AnswerFailed, AnswerText, CompressionEnded
from octavo.testing import ScriptedProvider

READ = Tool(
    name="read_file",
    description="Read a text file of the working folder.",
    schema=json.dumps({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
)


def read_file(path: str) -> str:
    here = Path.cwd().resolve()
    wanted = (here / path).resolve()
    if not wanted.is_relative_to(here) or not wanted.is_file():
        return f"error: there is no file {path} in this folder"
    return wanted.read_text(errors="replace")


def run(call: ToolCall) -> Message:
    """Do what was asked; an error is an answer too."""
    try:
        output = read_file(**json.loads(call.input))
    except (TypeError, ValueError) as error:
        output = f"error: {error}"
    return Message(role="tool", parts=(ToolResult(call_id=call.id, content=(Text(text=output),)),))


async def show(events: object) -> None:
    async for event in events:  # type: ignore[attr-defined]
        match event:
            case AnswerText(text):
                print(text, end="", flush=True)
            case AnswerFailed(error):
                sys.exit(f"no answer: {error}")
            case CompressionEnded(outcome):
                print(f"[history: {type(outcome).__name__.lower()}]")


async def main(model: str, question: str, provider: octavo.Provider | None) -> None:
    async with await octavo.Engine.open("agent.db", model=model, provider=provider) as engine:
        chat = await engine.create(question[:60], system="You answer questions about files.")
        await show(chat.turn(question, tools=[READ]))
        while calls := (await chat.branch())[-1].message.calls:
            for call in calls:
                print(f"[{call.name} {call.input}]")
                await chat.add(run(call))
            await show(chat.answer(tools=[READ]))
        usage = await chat.usage(tools=[READ])
        print(f"\n{usage.reading.tokens:,} tokens, {usage.percent:.1f} % of what is available")


def scripted() -> octavo.Provider:
    """A model that reads the README and then answers; for trying this without a key."""
    call = ToolCall(id="call_1", name="read_file", input='{"path": "README.md"}')
    return ScriptedProvider(
        [Reply(message=Message(role="assistant", parts=(call,)), finish="tool_calls"), "I have read it."]
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--scripted"]:
        asyncio.run(main("gpt-4o", "What does the README say?", scripted()))
    elif len(sys.argv) == 3:
        asyncio.run(main(sys.argv[1], sys.argv[2], None))
    else:
        sys.exit(__doc__)
