"""Commands about the session: models, settings, files, other conversations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.cli.conversations import conversation_lines
from octavo.cli.lines import clean, line
from octavo.cli.printing import written
from octavo.cli.settings import setting_lines, value_text
from octavo.cli.setup import find_conversation, short
from octavo.cli.terminal.arguments import flags_of
from octavo.cli.transfer import export_format, export_text
from octavo.engine.settings import find_setting
from octavo.errors import UsageError
from octavo.store.values import Everywhere

if TYPE_CHECKING:
    from octavo.cli.terminal.session import Session

LISTED = 20
"""Conversations shown at once."""
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


async def model(session: Session, text: str) -> None:
    if text:
        await session.configure({"model": text})
    session.show([line(("accent", session.model or "no model is chosen: /model NAME"))])


async def settings(session: Session, text: str) -> None:
    flags, words = flags_of(text, bare=("--everywhere",))
    name, _, value = words.partition(" ")
    if not name:
        session.show(setting_lines(await session.settings()))
        return
    setting = find_setting(name)
    if value.strip():
        chosen = None if value.strip() in ("-", "unset") else setting.parse(value.strip())
        if "--everywhere" in flags:
            await session.engine.settings.change(Everywhere(), {name: chosen})
        else:
            await session.configure({name: chosen})
    held = (await session.settings()).get(name)
    said = clean(value_text(held)) if held not in (None, "") else "not set"
    session.show([line(("accent", name), f" {said}", ("faint", f"  {setting.meaning}"))])


async def export(session: Session, text: str) -> None:
    flags, words = flags_of(text, valued=("--format",), bare=("--force",))
    info = await session.need_chat().info()
    format = export_format(flags.get("--format", "markdown"))
    ending = {"markdown": "md", "octavo": "jsonl"}.get(format, "json")
    name = _NOT_IN_NAMES.sub("-", info.title).strip("-.").lower() or short(info.id)
    text = "".join(await export_text(session.engine, [info.id], format))
    path = _write_new(words or f"{name}.{ending}", text, replace="--force" in flags)
    session.show([line(("good", "Written"), f" {path}")])


def _write_new(name: str, text: str, *, replace: bool) -> Path:
    path = Path(name).expanduser()
    if path.exists() and not replace:
        raise UsageError(f"{path} exists; name another file, or say --force")
    with written(path) as write:
        write(text)
    return path


async def new(session: Session, text: str) -> None:
    await session.leave_chat(text)
    session.show([line(("good", "A new conversation"), "; it is stored with your first message.")])


async def conversations(session: Session, text: str) -> None:
    if text:
        found = await find_conversation(session.engine, text)
        await session.open_chat(found.id)
        return
    known = await session.engine.conversations(limit=LISTED)
    session.show(conversation_lines(known) if known else [line("No conversations yet.")])


async def rename(session: Session, text: str) -> None:
    if not text:
        raise UsageError("say the new title, such as: /rename Trip to Norway")
    await session.need_chat().rename(text)
    session.show([line(("good", "Renamed"), f" {clean(text)}")])
