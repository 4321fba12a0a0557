"""Finds what is wrong with a draft before anything is stored or sent.

A problem is a value, not a sentence in a summary: a draft with a fatal problem is never stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from octavo.core.budget import Budget
from octavo.core.context import Context, coverage_problems
from octavo.core.messages import Branch, Message
from octavo.core.policy import Policy
from octavo.core.protocol import Rules, check
from octavo.core.reply import Reply

Flaw = Literal[
    "empty",
    "truncated",
    "timeout",
    "refused",
    "tool_call",
    "scratchpad",
    "loop",
    "language",
    "format",
    "unfounded",
    "standing",
    "too_long",
    "no_room",
    "spent",
    "not_smaller",
    "over_mark",
    "looked_up",
    "protocol",
    "coverage",
]


_IN_WORDS: Mapping[Flaw, str] = {
    "empty": "said nothing of use",
    "truncated": "was cut off before its end",
    "timeout": "was not finished in time",
    "refused": "was refused by the model",
    "tool_call": "was not written: the model called a tool",
    "scratchpad": "was only notes of the model for itself",
    "loop": "repeated itself",
    "language": "was in another language",
    "format": "lacked sections",
    "unfounded": "named things that nobody had said",
    "standing": "contradicted what was agreed",
    "too_long": "was too long",
    "no_room": "had no room in the window of the model",
    "spent": "needed more requests than are allowed",
    "not_smaller": "was no shorter than the messages",
    "over_mark": "left the conversation above the mark",
    "looked_up": "covered what had just been looked up",
    "protocol": "led to a request that the provider would refuse",
    "coverage": "left messages out",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a draft."""

    flaw: Flaw
    detail: str

    @property
    def fatal(self) -> bool:
        """Whether the result must not be used.

        One that shrank, but less than it should, or that keeps too little, is reported and used.
        """
        return self.flaw not in ("over_mark", "looked_up")


_SCRATCH = re.compile(r"<(/?)(scratchpad|analysis|thinking|think)\b[^<>]*>", re.IGNORECASE)
_SUMMARY = re.compile(r"<(/?)(summary)\b[^<>]*>", re.IGNORECASE)
_STATE = re.compile(r"<(/?)(state_snapshot)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z_][^<>]*>")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_REFUSAL = re.compile(
    r"\W*(?:i['’]?m sorry,? (?:but )?i (?:can['’]?t|cannot|am unable)"
    r"|i (?:can['’]?t|cannot|won['’]?t) (?:help|assist|comply|summari[sz]e|provide|continue)"
    r"|i am (?:unable|not able) to)",
    re.IGNORECASE,
)
REFUSAL_LENGTH = 400
"""Refusals are short; a long text that opens with an apology is something else."""


def body(text: str) -> str:
    """Take the summary out of a model's answer: no scratchpad, no wrapping tags, no runs of blank lines.

    Several summary blocks are joined; an answer without tags is taken as it is; a structured state keeps its tags.
    """
    text = _without_scratch(text)
    summaries = [
        text[opening.end() : closing.start()] for opening, closing in _blocks(_SUMMARY, text) if closing
    ]
    states = [text[opening.start() : closing.end()] for opening, closing in _blocks(_STATE, text) if closing]
    blocks = summaries or states or [text]
    return _BLANK_LINES.sub("\n\n", "\n\n".join(block.strip() for block in blocks)).strip()


def _without_scratch(text: str) -> str:
    kept, at = [], 0
    for opening, closing in _blocks(_SCRATCH, text):
        kept.append(text[at : opening.start()])
        at = closing.end() if closing else len(text)
    return "".join((*kept, text[at:]))


def _blocks(tag: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """Pair each opening tag with the first closing tag of its name; the last may have none.

    One pass over the tags, whatever there is: a pattern that looks for the end of each block reads the whole rest of
    the text for every tag that is never closed.
    """
    opening: re.Match[str] | None = None
    for found in tag.finditer(text):
        if opening is None:
            opening = None if found[1] else found
        elif found[1] and found[2].lower() == opening[2].lower():
            yield opening, found
            opening = None
    if opening is not None:
        yield opening, None


def reply_problems(reply: Reply) -> Iterator[Problem]:
    """Find what makes a model's answer unusable as a summary."""
    raw, text = reply.message.text, body(reply.message.text)
    if reply.message.calls or reply.finish == "tool_calls":
        yield Problem("tool_call", "the model called a tool instead of writing a summary")
    elif reply.finish == "refusal" or (len(text) < REFUSAL_LENGTH and _REFUSAL.match(text)):
        yield Problem("refused", f"the model refused: {text[:80]!r}")
    elif not raw.strip():
        yield Problem("empty", "the model answered with nothing")
    elif not text:
        yield Problem("scratchpad", "the model wrote notes for itself and no summary")
    elif not _TAG.sub("", text).strip():
        yield Problem("empty", "the model answered with tags and nothing in them")
    if reply.finish in ("length", "cancelled"):
        yield Problem("truncated", f"the answer was cut off ({reply.finish})")


def size_problems(policy: Policy, budget: Budget, before: int, after: int) -> Iterator[Problem]:
    """Find whether a compression was worth it; both sizes are of whole contexts, measured the same way."""
    if policy.accept is not None and after > before * policy.accept:
        least = f"at most {policy.accept:.0%} of that is accepted"
        yield Problem("not_smaller", f"{before:,} → {after:,} tokens; {least}")
    elif after >= before:
        yield Problem("not_smaller", f"{before:,} → {after:,} tokens: nothing would be gained")
    elif after > budget.trigger:
        yield Problem("over_mark", f"{after:,} tokens, still above the mark of {budget.trigger:,}")


def context_problems(
    branch: Branch, context: Context, sent: Sequence[Message], rules: Rules
) -> Iterator[Problem]:
    """Find what is wrong with the context a draft leads to; `sent` are its messages as the provider gets them."""
    yield from (Problem("protocol", problem) for problem in check(sent, rules))
    yield from (Problem("coverage", problem) for problem in coverage_problems(branch, context))


def in_plain_words(problems: Sequence[Problem]) -> str:
    """Say what was wrong with a summary in one sentence without its full stop, each kind of problem once."""
    words = [*dict.fromkeys(_IN_WORDS[problem.flaw] for problem in problems)]
    *others, last = words or [_IN_WORDS["empty"]]
    return "the summary " + (f"{', '.join(others)} and {last}" if others else last)


def fatal(problems: tuple[Problem, ...]) -> bool:
    return any(problem.fatal for problem in problems)
