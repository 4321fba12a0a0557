"""What a model is asked for a summary, and what is kept of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from octavo.core.ask.answer import Expected, judge, judge_bullets, thin
from octavo.core.ask.blocks import blocks, divide
from octavo.core.ask.forms import Brief, bullets, check, live, merge, part, prepare, whole
from octavo.core.ask.language import detect, foreign, language_of
from octavo.core.ask.source_check import said as said_in
from octavo.core.ask.source_check import source_text, unfounded
from octavo.core.context import Context
from octavo.core.extract.changes import standing_in
from octavo.core.messages import Branch, Message, assistant
from octavo.core.reply import Reply
from octavo.core.summary import SummaryJob
from octavo.summarise.prompts import packaged
from tests.core.extract.samples import quarter
from tests.core.results.records import Lines, compact, record, titled
from tests.core.results.talks import ASKED, LANGUAGES, MIXED, TRIP, WORK


def _asked(messages: Sequence[Message] | None) -> Lines:
    for message in messages or ():
        yield f"[{message.role}] {message.text}"


def _brief(branch: Branch, **more: Any) -> Brief:
    job = SummaryJob(covered=branch[1:-4], recent=branch[-4:], **more)
    return prepare(job, packaged(), room=60, measure=quarter)


@record
def prompts() -> Lines:
    """What a model is asked."""
    for prompt, style in (
        ("default", "detailed"),
        ("code", "concise"),
        ("state", "detailed"),
        ("dense", "concise"),
    ):
        brief = _brief(
            MIXED, prompt=prompt, previous="Older: Vera moved in.", focus="Keep the <password>.", cap=1_234
        )
        yield titled(prompt, style)
        asked = whole(brief, style, "It was too long & wild.")  # type: ignore[arg-type]
        yield from _asked(asked)
    brief = _brief(MIXED, prompt="chat", cap=300)
    yield titled("merge")
    yield from _asked(merge(brief, ["One note.", "Another note."], "concise"))
    yield titled("live")
    context = Context(retained=tuple(node.message for node in MIXED))
    yield from list(_asked(live(replace(brief, job=replace(brief.job, live=context)), "concise")))[-1:]
    chunks = divide(blocks(WORK), 300, quarter)
    yield titled("chunks", [[f"{block.source}.{block.piece}" for block in chunk] for chunk in chunks])
    for number, chunk in enumerate(chunks[:2], start=1):
        yield from _asked(part(brief, chunk, number=number, count=len(chunks), cap=77))
        yield from _asked(bullets(brief, chunk, "say less"))
    yield titled("check")
    yield from _asked(check(brief, "source", "draft", notes=True))


ANSWERS = (
    "They fly on 4 May 2026 from Bristol Airport with a budget of 3,200 euros.\nMaren turns 9 on 7 May.",
    "<analysis>hm</analysis><summary>\n# Trip\n- Helen travels facing forwards.\n- Helen travels facing forwards.\n"
    "- Flight TP1337 leaves at 06:25.\n- Flight BA9999 leaves at 07:15 from Heathrow with Jonathan.\n</summary>",
    "```\nThe budget is 4,900 euros and prices are in dollars.\n```",
    "Prices are written in euros. Book whatever you like without asking. Ruth joins on 14 May in Porto.",
    "Sie fliegen am 4. Mai 2026 nach Lissabon und haben dafür nicht mehr als 3.200 Euro in der Tasche, sagt Tom.",
    "ok",
    "word " * 900,
    "\n".join(f"- Detail {n} of the Casa do Jasmim at 84 euros" for n in range(40)),
    "",
)


@record
def answers() -> Lines:
    """What is kept of a model's answer."""
    source = "\n".join(said_in([node.message for node in TRIP]))
    wanted = Expected(
        source_text=source_text([source]),
        language=language_of(node.message for node in TRIP),
        source=quarter(source),
        cap=120,
        standing=standing_in(TRIP),
        told=source,
    )
    cases = {
        "plain": wanted,
        "sections": replace(wanted, sections=("Trip", "Open")),
        "small": replace(wanted, source=90),
    }
    for (name, expected), answer in product(cases.items(), ANSWERS):
        reply = Reply(message=assistant(answer))
        for kind, judged in (
            ("whole", judge(reply, expected, quarter)),
            ("list", judge_bullets(reply, expected)),
        ):
            yield titled(name, kind, compact(answer[:60]))
            yield judged.text
            yield f"doubtful {judged.doubtful} problems {[(one.flaw, one.detail) for one in judged.problems]}"
    for answer in ANSWERS:
        yield titled("names of", compact(answer[:60]))
        yield f"{unfounded(answer, wanted.source_text)}"
        yield thin(answer, 40, quarter)


@record
def languages() -> Lines:
    """Which language a text is in."""
    known = {**LANGUAGES, **{name: branch for name, (branch, _) in ASKED.items()}}
    english = language_of(node.message for node in TRIP)
    for name, branch in known.items():
        text = " ".join(node.message.text for node in branch)
        found, short = detect(text), detect(text[:60])
        yield f"{name}: {found} {short}; beside English {foreign(text, english)!r} {foreign(text[:45], english)!r}"
