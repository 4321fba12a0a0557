"""What is known of a client: how it is installed and started, what it speaks, and what is expected of its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from clients.install import Registry
from tests.server.fake import Json

LONG = 200
"""Requests that a long run has at least."""


@dataclass(frozen=True, kw_only=True)
class Client:
    """One client.

    In `commands`, `env`, `files` and `stdin`, these words are replaced: `{url}` the gateway's address, `{model}`,
    `{bin}` where the client's programs are, `{work}` the folder it runs in, and `{home}`.
    """

    name: str
    registry: Registry
    packages: tuple[str, ...]
    """What is installed; the version shown is that of the first."""
    dialect: str
    """What the client speaks."""
    upstream: str = ""
    """What the provider of the model speaks, if it is another dialect: the gateway translates."""
    model: str
    window: int
    program: str = ""
    """For a library: the program in `programs/` that uses it."""
    commands: tuple[tuple[str, ...], ...] = ()
    """For an agent: what is run, one after the other."""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Files below `{home}`, with their text."""
    mcp: str = ""
    """What the client is called by `octavo mcp install`, if it gets our tools: then its model asks for them too."""
    stdin: str = ""
    steps: int = 7
    """How often the model calls a tool before it answers."""
    thinking: bool = False
    last_call: tuple[str, Json] | None = None
    """A call that the model makes in place of an answer."""
    says: Callable[[int], str] | None = None
    """What the model answers, if not the usual."""
    least: int = LONG
    """Requests there must have been."""
    compressions: int = 2
    """Compressions there must have been."""
    trees: int | None = 1
    """Conversations there must be; None: the client asks other things beside its work."""
    reserve_counts: bool = True
    """Whether the provider adds the room for the answer to the messages."""
    off: str = ""
    """Why it is not run unless it is named."""
    seconds: int = 900
    """When a run is given up."""

    @property
    def spoken(self) -> str:
        """What is spoken before the gateway, and behind it."""
        return f"{self.dialect} → {self.upstream}" if self.upstream else self.dialect

    def starts(self) -> tuple[tuple[str, ...], ...]:
        """The commands of a run."""
        if not self.program:
            return self.commands
        runner = "node" if self.program.endswith(".mjs") else "{bin}/python"
        return ((runner, f"{{work}}/{self.program}"),)
