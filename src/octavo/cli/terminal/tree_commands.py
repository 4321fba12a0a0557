"""Commands about the tree: find, list, pin, branch, edit, ask again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.cli.conversations import hit_lines
from octavo.cli.lines import line
from octavo.cli.terminal import view
from octavo.cli.terminal.arguments import message_at, number_of
from octavo.core.messages import Node
from octavo.engine.turn import is_unfinished
from octavo.errors import NotFound, UsageError

if TYPE_CHECKING:
    from octavo.cli.terminal.session import Session

RECENT = 10
"""Messages /history shows."""
FOUND = 20
"""Hits shown at once."""


async def find(session: Session, text: str) -> None:
    if not text:
        raise UsageError("say what to look for, such as: /find port 8080")
    hits = await session.need_chat().search(text, limit=FOUND)
    branch = {node.id for node in await session.need_chat().branch()}
    if not hits:
        session.show([line("Nothing found.")])
    for hit in hits:
        elsewhere = [] if hit.node in branch else [line(("faint", "      on another branch:"))]
        session.show([*elsewhere, *hit_lines(hit, titled=False)])


async def history(session: Session, text: str) -> None:
    count = number_of(text, "count") if text else RECENT
    nodes = (await session.need_chat().branch())[-count:]
    session.show(view.message_lines(node, session.columns) for node in nodes)


async def pin(session: Session, text: str) -> None:
    chat = session.need_chat()
    number, _, selection = text.partition(" ")
    if not number:
        places = await chat.pins.list()
        listed = view.pin_lines(places, await chat.branch(), session.columns)
        session.show(listed if places else [line("Nothing is pinned; /pin 3 pins message 3.")])
        return
    node = await message_at(session, number)
    await chat.pins.add(node.id, selection.strip())
    what = f"part of message {node.depth}" if selection.strip() else f"message {node.depth}"
    session.show([line(("good", f"Pinned {what}"), ": it is always sent word for word.")])


async def unpin(session: Session, text: str) -> None:
    node = await message_at(session, text)
    if not await session.need_chat().pins.remove(node.id):
        raise UsageError(f"message {node.depth} is not pinned; /pin lists what is")
    session.show([line(("good", f"Unpinned message {node.depth}."))])


async def branches(session: Session, text: str) -> None:
    del text
    chat = session.need_chat()
    session.show(view.branch_lines(await chat.branches(), (await chat.info()).tip, session.columns))


async def checkout(session: Session, text: str) -> None:
    if not text:
        await branches(session, "")
        return
    chat = session.need_chat()
    tips, number = await chat.branches(), number_of(text, "branch")
    if number > len(tips):
        raise NotFound(f"there is no branch {number}; /branches lists {len(tips)}")
    await chat.checkout(tips[number - 1].id)
    session.show([line(("good", f"Branch {number}"), f" with {tips[number - 1].depth:,} messages:")])
    await history(session, "2")


async def edit(session: Session, text: str) -> None:
    number, _, words = text.partition(" ")
    if number.isdecimal():
        node = await message_at(session, number)
    else:
        node, words = await _last_question(session), text
    if node.message.role != "user":
        raise UsageError(f"message {node.depth} is not yours; /retry asks for another answer")
    said = words.strip() or await session.edit(node.message.text)
    if not said:
        session.show([line("Nothing was changed.")])
        return
    made = await session.need_chat().edit(node.id, said)
    await session.follow(session.need_chat().answer(made.id))


async def _last_question(session: Session) -> Node:
    branch = await session.need_chat().branch()
    found = next((node for node in reversed(branch) if node.message.role == "user"), None)
    if found is None:
        raise UsageError("there is no message of yours to edit yet")
    return found


async def retry(session: Session, text: str) -> None:
    del text
    await session.follow(session.need_chat().regenerate())


async def go_on(session: Session, text: str) -> None:
    del text
    chat = session.need_chat()
    if not any(map(is_unfinished, (await chat.branch())[-1:])):
        raise UsageError("the last answer is complete: write a message, or /retry for another answer")
    await session.follow(chat.answer())
