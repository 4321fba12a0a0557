"""What a model is asked: a job and the prompts in, messages out.

The order is always the same: instructions, previous summary, what is to be summarised, the marker, what is recent, a
closing reminder. Everything that people, tools or models wrote stands between fences, in messages of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from octavo.core.ask.blocks import Chunk, Measure, TextBlock, blocks, text_of
from octavo.core.ask.fences import Fences, escape, fences
from octavo.core.ask.language import Language, language_of
from octavo.core.ask.template import HISTORY, Prompts, Template
from octavo.core.messages import Message, system, user
from octavo.core.summary import Style, SummaryJob
from octavo.core.transcript import describe, shorten

FOCUS_CAP = 2_000
"""Characters of a user's wish that reach the prompt: a page. More would be a conversation of its own."""
QUOTE = 160
"""Characters that name the first message that is not to be summarised."""
BULLETS = 3
"""Lines a small model is asked for per chunk: with more it starts to repeat itself."""
WORDS_PER_TOKEN = 0.7
"""For people and models, who count in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A job made ready: what is shown, in which language it is answered, and between which fences it stands."""

    prompts: Prompts
    form: Template
    language: Language
    fences: Fences
    blocks: tuple[TextBlock, ...]
    recent: str
    previous: str
    wish: str
    cap: int
    job: SummaryJob


def prepare(job: SummaryJob, prompts: Prompts, *, room: int, measure: Measure) -> Brief:
    """Make a job ready; `room` is what recent messages may take."""
    shown = blocks(job.covered)
    recent = _newest(blocks(job.recent), room, measure)
    wish = shorten(job.focus.strip(), FOCUS_CAP)
    return Brief(
        prompts=prompts,
        form=prompts.form(job.prompt),
        language=language_of(node.message for node in (*job.covered, *job.recent)),
        fences=fences([job.prompt, wish, job.previous, recent, *(block.text for block in shown)]),
        blocks=shown,
        recent=recent,
        previous=job.previous.strip(),
        wish=escape(wish),
        cap=job.cap,
        job=job,
    )


def _newest(shown: Sequence[TextBlock], room: int, measure: Measure) -> str:
    """Take the newest blocks that fit; a newest one that does not is shown by head and tail."""
    kept: list[str] = []
    for block in reversed(shown):
        cost = measure(block.text)
        if cost > room:
            characters = len(block.text) * room // cost
            kept += [shorten(block.text, characters)] if not kept and characters else []
            break
        kept.append(block.text)
        room -= cost
    return "\n\n".join(reversed(kept))


def whole(brief: Brief, style: Style, problem: str = "") -> tuple[Message, ...]:
    """Ask for the summary of all that is covered."""
    return _ask(brief, "conversation", text_of(brief.blocks), style, problem)


def merge(brief: Brief, notes: Sequence[str], style: Style, problem: str = "") -> tuple[Message, ...]:
    """Ask for one summary out of the notes on all chunks."""
    return _ask(brief, "notes", joined(notes), style, problem)


def joined(notes: Sequence[str]) -> str:
    """Put notes on chunks one after the other."""
    return "\n\n".join(f"Stretch {number}:\n{text}" for number, text in enumerate(notes, start=1))


def _ask(brief: Brief, fence: str, text: str, style: Style, problem: str) -> tuple[Message, ...]:
    marker = brief.fences.cutoff
    scope = brief.prompts.render("scope", marker=marker)
    orders = [_instructions(brief, style, scope), _update(brief)]
    if fence == "notes":
        orders.append(_fenced(brief, "merge", fence))
    closing = brief.prompts.render("reminder", language=str(brief.language), marker=marker)
    return (
        system("\n\n".join(order for order in orders if order)),
        *_data(brief, "previous", brief.previous),
        *_data(brief, fence, text),
        user(marker),
        *_data(brief, "recent", brief.recent),
        user(_with_problem(brief, closing, problem)),
    )


def part(
    brief: Brief, chunk: Chunk, *, number: int, count: int, cap: int, problem: str = ""
) -> tuple[Message, ...]:
    """Ask for notes on one chunk."""
    orders = brief.prompts.render(
        "chunk",
        rules=_rules(brief, brief.prompts.render("scope_all")),
        focus=_focus(brief),
        number=str(number),
        count=str(count),
        **_size(cap),
    )
    return _about(brief, orders, (("conversation", text_of(chunk)),), problem)


def check(brief: Brief, text: str, draft: str, *, notes: bool) -> tuple[Message, ...]:
    """Ask whether a draft is true to the text it was made from."""
    orders = brief.prompts.render(
        "verify",
        rules=_rules(brief, brief.prompts.render("scope_all")),
        focus=_focus(brief),
        open=brief.fences.opening("draft"),
        close=brief.fences.closing("draft"),
        **_size(brief.cap),
    )
    source = "notes" if notes else "conversation"
    return _about(brief, orders, (("previous", brief.previous), (source, text), ("draft", draft)), "")


def _about(brief: Brief, orders: str, data: Sequence[tuple[str, str]], problem: str) -> tuple[Message, ...]:
    closing = brief.prompts.render("reminder_all", language=str(brief.language))
    shown = [message for name, text in data for message in _data(brief, name, text)]
    return (system(orders), *shown, user(_with_problem(brief, closing, problem)))


def bullets(brief: Brief, chunk: Chunk, problem: str = "") -> tuple[Message, ...]:
    """Ask a small model for a few lines on a small chunk, in words that it can follow."""
    slots = {"language": str(brief.language), "bullets": str(BULLETS)}
    orders = brief.prompts.render("bullets", **slots)
    again = brief.prompts.render("bullets_again", problem=escape(problem), **slots)
    return (system(orders), user(escape(text_of(chunk))), *((user(again),) if problem else ()))


def live(brief: Brief, style: Style) -> tuple[Message, ...] | None:
    """Append the instruction to what the chat model was sent last; None if what is recent cannot be named."""
    context = brief.job.live
    if context is None:
        return None
    quote = _quote(brief.job.recent[0].message) if brief.job.recent else ""
    if brief.job.recent and not quote:
        return None
    scope = brief.prompts.render("scope_live", quote=quote) if quote else brief.prompts.render("scope_all")
    order = brief.prompts.render(
        "live", prompt=_instructions(brief, style, scope), update=_live_update(brief)
    )
    return (*context.messages, user(order))


def _quote(message: Message) -> str:
    words = " ".join(" ".join(describe(part) for part in message.parts).split())
    return json.dumps(words[:QUOTE], ensure_ascii=False) if words else ""


def _live_update(brief: Brief) -> str:
    if not brief.previous:
        return ""
    if brief.job.live and brief.job.live.summary:
        return brief.prompts.render("live_update", place="at the top of this conversation.")
    known = brief.prompts.render("live_update", place="that stands below.")
    return f"{known}\n\n{brief.fences.around('previous', brief.previous)}"


def _instructions(brief: Brief, style: Style, scope: str) -> str:
    length = brief.prompts.render("detailed" if style == "detailed" else "terse", **_size(brief.cap))
    return brief.form.render(
        {
            "rules": _rules(brief, scope),
            "length": length,
            "focus": _focus(brief),
            "language": str(brief.language),
            "history": HISTORY,
            "conversation_history": HISTORY,
        }
    )


def _rules(brief: Brief, scope: str) -> str:
    return brief.prompts.render("rules", scope=scope, language=str(brief.language))


def _focus(brief: Brief) -> str:
    return brief.prompts.render("focus", wish=brief.wish) if brief.wish else ""


def _size(cap: int) -> dict[str, str]:
    return {"cap": f"{cap:,}", "words": f"{int(cap * WORDS_PER_TOKEN):,}"}


def _update(brief: Brief) -> str:
    return _fenced(brief, "update", "previous") if brief.previous else ""


def _fenced(brief: Brief, prompt: str, fence: str) -> str:
    return brief.prompts.render(prompt, open=brief.fences.opening(fence), close=brief.fences.closing(fence))


def _data(brief: Brief, name: str, text: str) -> tuple[Message, ...]:
    return (user(brief.fences.around(name, text)),) if text else ()


def _with_problem(brief: Brief, closing: str, problem: str) -> str:
    if not problem:
        return closing
    return f"{brief.prompts.render('again', problem=escape(problem))}\n\n{closing}"
