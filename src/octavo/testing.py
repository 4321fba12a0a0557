"""Fakes that obey the real interfaces, for tests of Octavo and of what is built on it.

`talk("u: hi", "a: hello")` is a branch in one line; `Tree` grows forks; `WordMeter` counts a word as a token;
`ScriptedProvider` answers what it was told to, or fails as it was told to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from octavo.core.context import Context
from octavo.core.messages import Branch, Message, Node, Part, Role, Text, ToolCall, ToolResult, assistant
from octavo.core.protocol import OPENAI, Rules
from octavo.core.reply import Chunk, Delta, Reply, Request, Usage
from octavo.core.transcript import describe
from octavo.errors import BadInput

_ROLES: dict[str, Role] = {"u": "user", "a": "assistant", "s": "system"}


def messages(*lines: str) -> tuple[Message, ...]:
    """Write messages as lines.

    `u:` user, `a:` assistant, `s:` system, `c: NAME {json}` a tool call (part of the assistant message before it, if
    there is one), `r: text` the result of the oldest call that has none.
    """
    out: list[Message] = []
    waiting: list[str] = []
    calls = 0
    for line in lines:
        kind, _, text = line.partition(": ")
        if kind in _ROLES:
            out.append(Message(role=_ROLES[kind], parts=(Text(text=text),)))
        elif kind == "c":
            calls += 1
            name, _, arguments = text.partition(" ")
            waiting.append(f"call_{calls}")
            call = ToolCall(id=waiting[-1], name=name, input=arguments or "{}")
            before = out.pop().parts if out and out[-1].role == "assistant" else ()
            out.append(Message(role="assistant", parts=(*before, call)))
        elif kind == "r" and waiting:
            result = ToolResult(call_id=waiting.pop(0), content=(Text(text=text),))
            out.append(Message(role="tool", parts=(result,)))
        else:
            raise BadInput(
                "talk", f"cannot read {line!r}; write 'u: ...', 'a: ...', 's: ...', 'c: name {{}}', 'r: ...'"
            )
    return tuple(out)


def talk(*lines: str) -> Branch:
    """Build a branch from lines; ids are `m1`, `m2`, ..."""
    tree = Tree()
    return tree.branch(tree.grow(None, *lines))


@dataclass(slots=True)
class Tree:
    """A conversation in memory."""

    nodes: dict[str, Node] = field(default_factory=dict)

    def add(self, parent: str | None, message: Message) -> Node:
        """Add one message below a node, or as a root."""
        depth = self.nodes[parent].depth + 1 if parent else 1
        node = Node(id=f"m{len(self.nodes) + 1}", parent=parent, depth=depth, message=message)
        self.nodes[node.id] = node
        return node

    def grow(self, parent: str | None, *lines: str) -> str:
        """Add lines below a node, as in `messages`; give the id of the new tip."""
        for message in messages(*lines):
            parent = self.add(parent, message).id
        if parent is None:
            raise BadInput("grow", "nothing to grow from nothing")
        return parent

    def branch(self, tip: str) -> Branch:
        """Walk from a tip to its root; oldest first."""
        return tuple(self._up(tip))[::-1]

    def _up(self, tip: str) -> Iterator[Node]:
        at: str | None = tip
        while at is not None:
            yield self.nodes[at]
            at = self.nodes[at].parent

    @property
    def tips(self) -> tuple[str, ...]:
        """The nodes nothing follows."""
        parents = {node.parent for node in self.nodes.values()}
        return tuple(id for id in self.nodes if id not in parents)


@dataclass(frozen=True, slots=True)
class WordMeter:
    """One word, one token; a message costs its words and nothing else."""

    def text(self, text: str) -> int:
        return len(text.split())

    def part(self, part: Part) -> int:
        return self.text(describe(part))

    def message(self, message: Message) -> int:
        return sum(self.part(part) for part in message.parts)

    def context(self, context: Context) -> int:
        tools = sum(self.text(tool.name) + self.text(tool.description) for tool in context.tools)
        return tools + sum(self.message(message) for message in context.messages)


Step: TypeAlias = Reply | str | BaseException
"""One answer of a scripted provider."""


@dataclass(slots=True)
class ScriptedProvider:
    """Streams prepared replies in order, or what a function makes of the request; exceptions are raised."""

    script: list[Step] | Callable[[Request], Step]
    rules: Rules = OPENAI
    name: str = "scripted"
    requests: list[Request] = field(default_factory=list)
    """What it was asked."""

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer with the next reply of the script, word by word, then whole."""
        self.requests.append(request)
        step = self._next(request)
        if isinstance(step, BaseException):
            raise step
        reply = step if isinstance(step, Reply) else self._reply(request, step)
        for delta in _words(reply.message.text):
            yield Delta(delta)
        yield reply

    async def close(self) -> None:
        """Nothing is held."""

    def _next(self, request: Request) -> Step:
        if callable(self.script):
            return self.script(request)
        if not self.script:
            raise BadInput("script", f"no reply left for request {len(self.requests)}")
        return self.script.pop(0)

    def _reply(self, request: Request, text: str) -> Reply:
        meter = WordMeter()
        asked = sum(meter.message(message) for message in request.messages)
        return Reply(
            message=assistant(text), usage=Usage(input=asked, output=meter.text(text)), model=request.model
        )


def _words(text: str) -> Iterable[str]:
    start = 0
    while start < len(text):
        end = text.find(" ", start) + 1 or len(text)
        yield text[start:end]
        start = end
