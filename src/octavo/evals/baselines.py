"""Simple compressors to compare with: nothing, truncation, head and tail, masked tool output.

They are written to be fair: where a tool's answer belongs to a call, both stay or both go, except in `newest`, which is
what many programs do. All keep the system prompt, and all but `none` keep to the budget if they can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from octavo.core.messages import Message, Text, ToolResult, user
from octavo.evals.measure.needs import newest_within
from octavo.evals.measure.texts import call_text, divide
from octavo.meters.meter import Meter

Messages = tuple[Message, ...]

LEFT_OUT = "[Older messages of this conversation are left out.]"
OPENING = "[How the conversation began, cut off]"
MASKED = "[old output removed]"
WORTH_MASKING = 60
"""Characters of an output that its mask would not save."""
HEAD_SHARE = 0.3
"""Share of the budget that goes to how a conversation began."""
HEAD_MESSAGES = 40
"""Messages the head is taken from."""
UNMASKED_SHARE = 0.4
"""Share of the budget in which the newest outputs stay as they are."""
FIRST_SHARE = 0.3
"""The first message is kept as long as so much of the budget is left for the others."""
TIGHT = 40
"""Tokens below which not even one group is cut to fit."""
LEAST = 8
"""Tokens that each message of a cut group gets at least."""
FRAME = 8
"""Tokens set aside for the frame of a message that is added."""
LONG_LINE = 160
"""Characters of a line that is cut into sentences."""
OVERLONG, CHUNK = 400, 240
"""Characters of a sentence that is cut into pieces, and of a piece."""
SHORTEST = 3
"""Characters below which a line is a bracket or a bullet."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(\[])")
_MARKS = {"user": "U: ", "assistant": "A: ", "system": "S: ", "tool": ""}


@dataclass(frozen=True, slots=True)
class Scale:
    """Counts what a baseline may use."""

    meter: Meter

    def message(self, message: Message) -> int:
        return self.meter.count_message(message)

    def messages(self, messages: Sequence[Message]) -> int:
        return sum(map(self.message, messages))

    def text(self, text: str) -> int:
        return self.meter.count_text(text)

    def clip(self, text: str, tokens: int) -> str:
        """Give the longest beginning of a text within so many tokens."""
        if self.text(text) <= tokens:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.text(text[:middle]) <= tokens else (low, middle - 1)
        return text[:low]


NONE = "none"
"""The baseline that every compressor is compared with."""
Baseline = Callable[[Messages, int, Scale], Messages]


def none(messages: Messages, budget: int, scale: Scale) -> Messages:  # noqa: ARG001
    """Change nothing: what everything is compared with."""
    return messages


def newest(messages: Messages, budget: int, scale: Scale) -> Messages:
    """Keep the newest messages that fit, whatever belongs together."""
    system, body = divide(messages)
    return system + newest_within(body, budget - scale.messages(system), scale.message)


def truncate(messages: Messages, budget: int, scale: Scale) -> Messages:
    """Keep the newest messages that fit, calls with their answers, after a line that says so."""
    system, body = divide(messages)
    notice = user(LEFT_OUT)
    tail = _tail(body, budget - scale.messages((*system, notice)), scale)
    return system + ((notice,) if len(tail) < len(body) else ()) + tail


def head_and_tail(messages: Messages, budget: int, scale: Scale) -> Messages:
    """Keep how it began, cut off, and the newest messages."""
    system, body = divide(messages)
    room = max(0, budget - scale.messages(system))
    tail = _tail(body, int(room * (1 - HEAD_SHARE)), scale)
    older = body[: len(body) - len(tail)]
    room -= scale.messages(tail)
    began = "\n".join(line for message in older[:HEAD_MESSAGES] for line in _lines(message))
    head = scale.clip(began, max(0, room - scale.text(OPENING) - FRAME))
    return system + ((user(f"{OPENING}\n{head}"),) if head else ()) + tail


def mask(messages: Messages, budget: int, scale: Scale) -> Messages:
    """Blank the older outputs of tools, then keep the first message and the newest that fit."""
    system, body = divide(messages)
    room = budget - scale.messages(system)
    masked = _masked(body, int(UNMASKED_SHARE * room), scale)
    first = masked[:1] if masked and masked[0].role == "user" else ()
    left = room - scale.messages(first)
    if left < FIRST_SHARE * budget:
        notice = (user(LEFT_OUT),)
        return system + notice + _tail(masked[len(first) :], room - scale.messages(notice), scale)
    return system + first + _tail(masked[len(first) :], left, scale)


BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {"none": none, "newest": newest, "truncate": truncate, "head+tail": head_and_tail, "mask": mask}
)


def _groups(messages: Messages) -> list[Messages]:
    """Keep an assistant's calls and the answers right after them together."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.role == "tool" and groups and groups[-1][0].calls:
            groups[-1].append(message)
        else:
            groups.append([message])
    return [tuple(group) for group in groups]


def _tail(messages: Messages, budget: int, scale: Scale) -> Messages:
    """Take the newest whole groups that fit; if none does, the newest one with its texts cut."""
    kept: list[Messages] = []
    left = budget
    groups = _groups(messages)
    for group in reversed(groups):
        left -= scale.messages(group)
        if left < 0:
            break
        kept.insert(0, group)
    if kept or not groups or budget <= TIGHT:
        return tuple(message for group in kept for message in group)
    cut = _cut(groups[-1], budget, scale)
    return cut if scale.messages(cut) <= budget else ()


def _cut(group: Messages, budget: int, scale: Scale) -> Messages:
    """Cut the texts of a group to equal shares; a call is not cut."""
    if any(scale.text(call.input) > budget // 2 for message in group for call in message.calls):
        return group
    bare = scale.messages([_reworded(message, lambda _: "") for message in group])
    each = max(LEAST, (budget - bare - len(_MARKS)) // len(group))
    return tuple(_reworded(message, lambda text: scale.clip(text, each)) for message in group)


def _reworded(message: Message, change: Callable[[str], str]) -> Message:
    """Change the texts of a message and of its tools' answers."""
    parts = [
        replace(part, text=change(part.text))
        if isinstance(part, Text)
        else replace(part, content=(Text(text=change(part.text)),))
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))


def _masked(body: Messages, room: int, scale: Scale) -> Messages:
    made: list[Message] = []
    for group in reversed(_groups(body)):
        room -= scale.messages(group)
        made[:0] = group if room >= 0 else [_blanked(message) for message in group]
    return tuple(made)


def _blanked(message: Message) -> Message:
    if message.role != "tool":
        return message
    return _reworded(message, lambda text: MASKED if len(text) > WORTH_MASKING else text)


def _lines(message: Message) -> Iterator[str]:
    """Write a message as marked lines of bearable length."""
    mark = _MARKS[message.role]
    said = "\n".join([message.text, *(result.text for result in message.results)])
    for line in filter(None, map(str.strip, said.splitlines())):
        for sentence in _SENTENCE.split(line) if len(line) > LONG_LINE else [line]:
            yield from (mark + piece for piece in _pieces(sentence))
    for call in message.calls:
        for line in call_text(call).splitlines():
            yield from ("> " + piece for piece in _pieces(line.strip()))


def _pieces(line: str) -> Iterator[str]:
    while len(line) > OVERLONG:
        at = max(line.rfind(", ", CHUNK // 2, CHUNK), line.rfind(" ", CHUNK // 2, CHUNK)) + 1 or CHUNK
        yield line[:at].strip()
        line = line[at:]
    if len(line.strip()) >= SHORTEST:
        yield line.strip()
