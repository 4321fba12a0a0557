"""What the model behind the gateway does: it calls a tool that the client offers, so many times, then answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.server.fake import Json, Reply

FILES = 24
"""How many logs lie in a client's folder; see `log`."""


def log(number: int) -> str:
    """The text of one log, of some 300 tokens, with figures of its own."""
    lines = [
        f"Log {number}, line {line}: valve V-{number:02d}{line} reads {(number * 7 + line * 13) % 100} bar"
        for line in range(14)
    ]
    return "\n".join(lines) + "\n"


def tools(body: Json) -> list[str]:
    """The names of the tools that a request offers, in any dialect."""
    offered = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or [tool]]
    return [str((tool.get("function") or tool).get("name") or "") for tool in offered]


Arguments = Callable[[int, str], Json]

# The tools of the clients: our own programs' first, then those that agents bring along.
KNOWN: dict[str, Arguments] = {
    "read_log": lambda number, _: {"number": number},
    "Bash": lambda number, _: {"command": f"cat log{number % FILES}.txt", "description": "Read a log"},
    "bash": lambda number, _: {"command": f"cat log{number % FILES}.txt", "description": "Read a log"},
    "Read": lambda number, work: {"file_path": f"{work}/log{number % FILES}.txt"},
    "read": lambda number, work: {"filePath": f"{work}/log{number % FILES}.txt"},
    "exec_command": lambda number, _: {"cmd": f"cat log{number % FILES}.txt", "login": False},
    "shell": lambda number, _: {"command": ["cat", f"log{number % FILES}.txt"]},
    "mcp__octavo__recall": lambda number, _: {"query": f"log {number % FILES} valve reads"},
}


@dataclass
class Script:
    """A model that calls tools `steps` times, then answers, and begins again with the next question."""

    steps: int
    work: str
    """The folder that a client runs in."""
    thinking: bool = False
    last_call: tuple[str, Json] | None = None
    """A call in place of the answer, for agents that end with one."""
    says: Callable[[int], str] = "Part {} is checked: all valves are within their limits.".format
    """The answer of a turn."""
    made: int = 0

    def __call__(self, body: Json) -> Reply:
        offered = [name for name in tools(body) if name in KNOWN]
        if self.steps and not offered:
            return Reply("A short title")  # agents ask such things beside their work
        self.made += 1
        thought = f"Step {self.made}: I look again." if self.thinking and _thinks(body) else ""
        if self.made % (self.steps + 1):
            name = offered[self.made % len(offered)]
            call = (f"call_{self.made}", name, KNOWN[name](self.made, self.work))
            return Reply(f"Looking, step {self.made}.", [call], thought)
        if self.last_call:
            return Reply("That is all.", [(f"call_{self.made}", *self.last_call)], thought)
        return Reply(self.says(self.made), thinking=thought)


def _thinks(body: Json) -> bool:
    thinking: Any = body.get("thinking") or {}
    return thinking.get("type") in ("enabled", "adaptive")
