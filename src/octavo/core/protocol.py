"""What providers demand of a list of messages, and whether a list obeys.

`check` is the judge: it knows nothing of how contexts are built or repaired, and everything that is sent must
pass it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from octavo.core.messages import Image, Message, Part, Reasoning, Text, ToolCall, ToolResult
from octavo.core.split import lead


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The demands of one provider's protocol."""

    name: str
    alternate: bool
    """User and assistant take turns; a tool's answer is the user's turn."""
    user_first: bool
    """The first turn is the user's, and not a tool's answer."""
    system_front: bool
    """System messages stand before everything else only."""
    unique_ids: bool
    """A tool call's id is used once."""
    vision: bool = True
    """Whether the model looks at images."""
    followed: bool = False
    """A thought is followed by what it led to."""


OPENAI = Rules(name="openai", alternate=False, user_first=False, system_front=False, unique_ids=False)
COMPATIBLE = replace(OPENAI, alternate=True, user_first=True, system_front=True)
"""Chat templates of open models raise errors where OpenAI is lenient, so other servers get the strictest order."""
ANTHROPIC = Rules(name="anthropic", alternate=True, user_first=True, system_front=True, unique_ids=True)
GEMINI = Rules(name="gemini", alternate=True, user_first=True, system_front=True, unique_ids=False)
RESPONSES = replace(OPENAI, name="responses", followed=True)
RULES: Mapping[str, Rules] = MappingProxyType(
    {rules.name: rules for rules in (OPENAI, ANTHROPIC, GEMINI, RESPONSES)}
)


def says_something(part: Part) -> bool:
    """Tell whether a part counts as content: blank text and bare reasoning do not."""
    if isinstance(part, Text):
        return bool(part.text) and not part.text.isspace()
    return not isinstance(part, Reasoning)


def side(message: Message) -> str:
    """Tell whose turn a message takes."""
    return "user" if message.role == "tool" else message.role


def check(messages: Sequence[Message], rules: Rules) -> tuple[str, ...]:
    """List every way in which messages break the rules; empty when they are valid."""
    return (
        *_empty(messages),
        *pair_problems(messages),
        *(_systems(messages) if rules.system_front else ()),
        *(_first(messages) if rules.user_first else ()),
        *(_turns(messages) if rules.alternate else ()),
        *(_ids(messages) if rules.unique_ids else ()),
        *(() if rules.vision else _images(messages)),
        *(_thoughts(messages) if rules.followed else ()),
    )


def _empty(messages: Sequence[Message]) -> Iterator[str]:
    for i, message in enumerate(messages):
        if not any(says_something(part) for part in message.parts):
            yield f"messages[{i}]: says nothing"


def pair_problems(messages: Sequence[Message]) -> Iterator[str]:
    """Tell where results do not stand right after their calls, one for each, in order, before anything else."""
    due: list[str] = []
    for i, message in enumerate(messages):
        if not due and message.role != "tool" and all(type(part) is Text for part in message.parts):
            continue  # nearly every message, and a long history is looked through before every request
        answered = [result.call_id for result in message.results]
        if any(isinstance(part, ToolResult) for part in message.parts[len(answered) :]):
            yield f"messages[{i}]: a tool result stands after other parts"
        if due[: len(answered)] != answered:
            yield f"messages[{i}]: answers the calls {answered}, due are {due}"
        due = due[len(answered) :]
        says_more = len(message.parts) > len(answered)
        if due and says_more:
            yield f"messages[{i}]: speaks before the calls {due} are answered"
        if says_more:
            due = [call.id for call in message.calls]
        if bool(answered) != (message.role == "tool"):
            yield f"messages[{i}]: a {message.role} message with {len(answered)} tool results"
        if message.calls and message.role != "assistant":
            yield f"messages[{i}]: a {message.role} message calls a tool"
    if due:
        yield f"the calls {due} are never answered"


def _systems(messages: Sequence[Message]) -> Iterator[str]:
    for i in range(lead(messages), len(messages)):
        if messages[i].role == "system":
            yield f"messages[{i}]: a system message in the middle"


def _first(messages: Sequence[Message]) -> Iterator[str]:
    start = lead(messages)
    if start < len(messages) and messages[start].role != "user":
        yield f"messages[{start}]: the first turn is the {messages[start].role}'s"


def _turns(messages: Sequence[Message]) -> Iterator[str]:
    for i in range(lead(messages) + 1, len(messages)):
        if side(messages[i - 1]) == side(messages[i]):
            yield f"messages[{i}]: the {side(messages[i])} speaks twice in a row"


def _ids(messages: Sequence[Message]) -> Iterator[str]:
    seen: set[str] = set()
    for i, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                if part.id in seen:
                    yield f"messages[{i}]: the call id {part.id!r} comes again"
                seen.add(part.id)


def _images(messages: Sequence[Message]) -> Iterator[str]:
    for i, message in enumerate(messages):
        pieces = (
            piece
            for part in message.parts
            for piece in (part.content if isinstance(part, ToolResult) else (part,))
        )
        if any(isinstance(piece, Image) for piece in pieces):
            yield f"messages[{i}]: an image for a model that sees none"


def _thoughts(messages: Sequence[Message]) -> Iterator[str]:
    for i, message in enumerate(messages):
        if message.parts and isinstance(message.parts[-1], Reasoning):
            yield f"messages[{i}]: a thought without what it led to"
