"""`conversations`, `show`, `search`, `stats`: looking at what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli.app import app
from octavo.cli.lines import Line, Piece, clean, fit, line, many, screen_columns, table
from octavo.cli.options import AsJson, ConversationId, Db, complete_conversations
from octavo.cli.printing import show as show_lines
from octavo.cli.printing import show_json
from octavo.cli.setup import SEARCHED, find_chat, find_conversation, opened, run, setup_of, short
from octavo.core.json_values import Json, JsonObject

if TYPE_CHECKING:
    from octavo.cli.setup import Setup
    from octavo.cli.usage_charts import AnswerUsage
    from octavo.engine.chat import Chat
    from octavo.engine.engine import Engine
    from octavo.store.values import Conversation, Hit

TITLE = 48
"""Columns of a title in a list."""
MINUTES = 16
"""Characters of a time that people read: date, hours and minutes."""
DAY = 10
"""Characters of a date."""
BATCH = 500
"""Messages asked about at a time."""
NO_LABELS: Mapping[str, tuple[str, ...]] = MappingProxyType({})

Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many to show.")]


Labels = Mapping[str, tuple[str, ...]]
"""By conversation."""


def conversation_json(one: Conversation, labels: tuple[str, ...] = ()) -> JsonObject:
    return {
        "id": one.id,
        "title": one.title,
        "messages": one.messages,
        "tip": one.tip,
        "created": one.created,
        "updated": one.updated,
        "archived": one.archived,
        "labels": [*labels],
    }


def when(time: str) -> str:
    """Write a time for people."""
    return time[:MINUTES].replace("T", " ")


@app.command(
    short_help="List the conversations.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo conversations\n"
    "  octavo conversations --title norway\n"
    "  octavo conversations --label work\n"
    "  octavo conversations --json | jq -r '.[].id'",
)
def conversations(
    context: typer.Context,
    *,
    title: Annotated[
        str,
        typer.Option(
            "--title",
            metavar="TEXT",
            show_default=False,
            help="List only conversations with this text in the title.",
        ),
    ] = "",
    label: Annotated[
        str,
        typer.Option(
            "--label", metavar="LABEL", show_default=False, help="List only conversations with this label."
        ),
    ] = "",
    archived: Annotated[bool, typer.Option("--archived", help="List the archived conversations.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List the conversations, the last changed first."""
    setup = setup_of(context, db)

    async def look() -> tuple[tuple[Conversation, ...], Labels]:
        async with opened(setup) as engine:
            found = await engine.conversations(title=title, label=label, archived=archived, limit=limit)
            return found, await engine.store.labels.of(*(one.id for one in found))

    found, labels = run(look())
    if as_json:
        show_json([conversation_json(one, labels[one.id]) for one in found])
    elif found:
        show_lines(setup, conversation_lines(found, labels))
    else:
        show_lines(setup, [line("no conversations; start one: octavo chat")])


def conversation_lines(found: tuple[Conversation, ...], labels: Labels = NO_LABELS) -> list[Line]:
    rows = [
        (short(one.id), fit(clean(one.title) or "(untitled)", TITLE), f"{one.messages:,}", when(one.updated))
        for one in found
    ]
    head: tuple[str, ...] = ("id", "title", "messages", "changed")
    if not any(labels.values()):
        return table(rows, head=head, right=(2,))
    with_labels = [
        (*row, clean(", ".join(labels.get(one.id, ())))) for row, one in zip(rows, found, strict=True)
    ]
    return table(with_labels, head=(*head, "labels"), right=(2,))


@app.command(
    short_help="Give a conversation labels, or take some off.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo label last work urgent\n"
    "  octavo label 'Trip to Norway' --remove urgent\n"
    "  octavo conversations --label work",
)
def label(
    context: typer.Context,
    conversation: ConversationId,
    labels: Annotated[
        list[str] | None, typer.Argument(metavar="[LABEL]...", show_default=False, help="Labels to add.")
    ] = None,
    *,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="LABEL", show_default=False, help="A label to take off."),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Label a conversation, and print the labels that it has then."""
    setup = setup_of(context, db)

    async def change() -> tuple[str, ...]:
        async with opened(setup) as engine:
            id = (await find_chat(engine, conversation)).id
            held = engine.store.labels
            before = (await held.of(id))[id]
            if labels or remove:
                await held.put(id, [one for one in (*before, *(labels or ())) if one not in (remove or ())])
            return (await held.of(id))[id]

    found = run(change())
    if as_json:
        show_json([*found])
    else:
        show_lines(setup, [line(clean(one)) for one in found] or [line("no labels")])


@app.command(
    short_help="Draw a conversation as a tree.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo show last\n"
    "  octavo show 3f9a2c1b --covered\n"
    "  octavo show 'Trip to Norway' --full | less -R",
)
def show(
    context: typer.Context,
    conversation: ConversationId,
    *,
    covered_too: Annotated[
        bool, typer.Option("--covered", help="Show the messages that a snapshot covers, too.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Show whole messages instead of one line each.")
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Draw a conversation as a tree, with one line for the messages that a snapshot covers.

    The filled dot is the tip, circles are its branch, small dots are other branches. Messages are numbered by their
    place on the branch, as in the terminal chat.
    """
    setup = setup_of(context, db)

    async def look() -> None:
        async with opened(setup) as engine:
            chat = await find_chat(engine, conversation)
            if as_json:
                show_json(await _tree_json(engine, chat))
            else:
                show_lines(setup, await _tree_lines(engine, chat, covered_too=covered_too, full=full))

    run(look())


async def _tree_lines(engine: Engine, chat: Chat, *, covered_too: bool, full: bool) -> list[Line]:
    from octavo.cli.tree import Picture, draw

    info = await chat.info()
    nodes = [node async for node in engine.store.tree.whole(chat.id, previews=not full)]
    serving = await chat.snapshots.serving()
    covered = await chat.snapshots.expand(serving.id) if serving and not covered_too else ()
    picture = Picture(
        nodes=nodes,
        tip=info.tip,
        snapshot=serving,
        covered=frozenset(node.id for node in covered),
        pinned=frozenset(pin.node for pin in await chat.pins.list()),
        columns=screen_columns(),
        whole=full,
    )
    parents = {node.parent for node in nodes}
    tips = sum(node.id not in parents for node in nodes)
    snapshots = len(await chat.snapshots.list())
    counts = [many(len(nodes), "message"), many(tips, "branch", "branches"), many(snapshots, "snapshot")]
    head = "  " + " · ".join([short(info.id), *counts, when(info.updated)])
    return [line(("strong", clean(info.title) or "(untitled)"), ("faint", head)), *draw(picture)]


async def _tree_json(engine: Engine, chat: Chat) -> JsonObject:
    from octavo.core.message_json import dump
    from octavo.core.snapshot import export

    nodes: list[Json] = [
        {
            "id": node.id,
            "parent": node.parent,
            "depth": node.depth,
            "status": node.status,
            "message": dump(node.message),
        }
        async for node in engine.store.tree.whole(chat.id, previews=False)
    ]
    snapshots: list[Json] = [
        {"id": one.id, "version": one.version, "state": one.state, **export(one)}
        for one in await chat.snapshots.list()
    ]
    serving = await chat.snapshots.serving()
    return {
        **conversation_json(await chat.info()),
        "nodes": nodes,
        "snapshots": snapshots,
        "serving": serving.id if serving else None,
        "pins": [pin.node for pin in await chat.pins.list()],
    }


@app.command(
    short_help="Search all messages.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo search port 8080\n"
    "  octavo search '\"connection refused\"' --conversation last\n"
    "  octavo search invoice --json | jq -r '.[].conversation' | sort -u",
)
def search(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WORDS", show_default=False, help="The words to find; all of them must occur."
        ),
    ],
    *,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation",
            "-c",
            metavar="CONVERSATION",
            show_default=False,
            help="Search only this conversation.",
            autocompletion=complete_conversations,
        ),
    ] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Search all messages, covered ones included, the newest first.

    Words are matched by their beginnings; words in double quotes are a phrase.
    """
    setup = setup_of(context, db)

    async def look() -> tuple[Hit, ...]:
        async with opened(setup) as engine:
            inside = (await find_conversation(engine, conversation)).id if conversation else None
            return await engine.store.search.find(" ".join(words), conversation=inside, limit=limit)

    found = run(look())
    if as_json:
        show_json([_hit_json(hit) for hit in found])
    elif found:
        show_lines(setup, [each for hit in found for each in hit_lines(hit, titled=True)])
    else:
        show_lines(setup, [line("nothing found")])


def _hit_json(hit: Hit) -> JsonObject:
    return {
        "conversation": hit.conversation,
        "title": hit.title,
        "node": hit.node,
        "depth": hit.depth,
        "role": hit.role,
        "snippet": hit.snippet,
        "marks": [list(mark) for mark in hit.marks],
    }


def hit_lines(hit: Hit, *, titled: bool) -> Iterator[Line]:
    """Show where something was found, the words in colour."""
    if titled:
        yield line(("accent", short(hit.conversation)), f"  {clean(hit.title) or '(untitled)'}")
    pieces: list[Piece] = [("faint", f"{hit.depth:>5} {hit.role:<9} ")]
    at = 0
    for start, stop in hit.marks:
        pieces += [("", _flat(hit.snippet[at:start])), ("warn", _flat(hit.snippet[start:stop]))]
        at = stop
    yield line(*pieces, _flat(hit.snippet[at:]))


def _flat(text: str) -> str:
    return clean(text).replace("\n", " ")


@app.command(
    short_help="Draw token use over time.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo stats                   by day, all conversations\n"
    "  octavo stats last              one conversation, answer by answer\n"
    "  octavo stats --days 7 --json",
)
def stats(
    context: typer.Context,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="CONVERSATION",
            show_default=False,
            help="Show only this conversation.",
            autocompletion=complete_conversations,
        ),
    ] = None,
    *,
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, help="How many days to show.")] = 30,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Draw token use over time, as the providers reported it, and what compression saved.

    For one conversation the size of each request is drawn: a compression is a step down.
    """
    setup = setup_of(context, db)
    run(_stats(setup, conversation, days, as_json=as_json))


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What conversations have used, and what compression keeps out of their requests."""

    conversations: int
    answers: tuple[AnswerUsage, ...]
    snapshots: int
    saved: int


async def _stats(setup: Setup, wanted: str | None, days: int, *, as_json: bool) -> None:
    async with opened(setup) as engine:
        if wanted:
            chosen: tuple[Conversation, ...] = (await find_conversation(engine, wanted),)
        else:
            chosen = await engine.conversations(limit=SEARCHED, archived=None)
        use = await _use(engine, chosen)
    if as_json:
        show_json(_use_json(use, days))
    else:
        show_lines(setup, _use_lines(use, days, single=bool(wanted)))


async def _use(engine: Engine, chosen: tuple[Conversation, ...]) -> Use:
    answers: list[AnswerUsage] = []
    snapshots = saved = 0
    for one in chosen:
        answers += await _answers(engine, one.id)
        snapshots += len(await engine.store.snapshots.of_conversation(one.id))
        serving = (await engine.store.snapshots.context(one.tip)).snapshot if one.tip else None
        saved += max(0, serving.tokens_before - serving.tokens_after) if serving else 0
    return Use(conversations=len(chosen), answers=tuple(answers), snapshots=snapshots, saved=saved)


def _use_json(use: Use, days: int) -> JsonObject:
    from octavo.cli.usage_charts import by_day

    return {
        "conversations": use.conversations,
        "answers": len(use.answers),
        "snapshots": use.snapshots,
        "saved": use.saved,
        "days": [
            {"day": day.day, "answers": day.answers, "input": day.input, "output": day.output}
            for day in by_day(use.answers)[-days:]
        ],
    }


def _use_lines(use: Use, days: int, *, single: bool) -> Iterator[Line]:
    from octavo.cli.usage_charts import blocks, by_day, day_lines

    if not use.answers:
        yield line("no answers with reported token use yet; talk first: octavo chat")
        return
    if single:
        sizes = [answer.input for answer in use.answers]
        yield line("request size  ", ("accent", blocks(sizes)), f"  up to {max(sizes):,} tokens")
    yield from day_lines(by_day(use.answers)[-days:])
    counts = [
        many(use.conversations, "conversation"),
        many(len(use.answers), "answer"),
        many(use.snapshots, "snapshot"),
    ]
    kept = f"compression keeps {many(use.saved, 'token')} out of the next requests"
    yield line(("faint", f"{', '.join(counts)}; {kept}"))


async def _answers(engine: Engine, conversation: str) -> list[AnswerUsage]:
    """Gather what was reported for the answers of a conversation, in the order they were given."""
    from octavo.cli.usage_charts import AnswerUsage

    ids = [
        node.id async for node in engine.store.tree.whole(conversation) if node.message.role == "assistant"
    ]
    found: list[AnswerUsage] = []
    for at in range(0, len(ids), BATCH):
        for details in await engine.store.tree.details(ids[at : at + BATCH]):
            if details.input_tokens or details.output_tokens:
                found.append(
                    AnswerUsage(
                        day=details.created[:DAY],
                        input=details.input_tokens or 0,
                        output=details.output_tokens or 0,
                    )
                )
    return found
