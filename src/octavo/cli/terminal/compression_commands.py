"""Commands about compression: do it, look at it, change it, take it back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from octavo.cli.compress_options import read_keep
from octavo.cli.lines import clean, line, text_lines
from octavo.cli.receipts import receipt_lines
from octavo.cli.terminal import view
from octavo.cli.terminal.arguments import flags_of, message_at, number_of, snapshot_at
from octavo.core.history_json import dumped
from octavo.core.json_values import Json
from octavo.core.policy import Compress
from octavo.errors import BadInput, NotFound, UsageError

if TYPE_CHECKING:
    from octavo.cli.terminal.session import Session

Run = Callable[["Session", str], Awaitable[None]]


async def compress(session: Session, text: str) -> None:
    flags, focus = flags_of(text, valued=("--keep", "--up-to"), bare=("--dry-run",))
    chat, keep = session.need_chat(), read_keep(flags.get("--keep"))
    up_to = (await message_at(session, flags["--up-to"])).id if "--up-to" in flags else None
    plan = await chat.plan(focus=focus, keep=keep, up_to=up_to)
    if "--dry-run" in flags:
        session.show(view.plan_lines(plan))
        return
    if isinstance(plan.decision, Compress) and plan.decision.small and plan.covered:
        session.show([line(("near", "This conversation is small; compressing it may not be worth it."))])
    await session.follow(chat.compressing(focus=focus, keep=keep, up_to=up_to))


async def context(session: Session, text: str) -> None:
    chat = session.need_chat()
    if text not in ("", "full"):
        raise BadInput("context", f"expected nothing, or `full`, got {text!r}")
    if text == "full":
        sent = await chat.context()
        listed: list[Json] = [*sent.messages]
        tools: list[Json] = [*sent.tools]
        body: dict[str, Json] = {"system": sent.system} if sent.system is not None else {}
        whole: dict[str, Json] = {**body, **({"tools": tools} if tools else {}), "messages": listed}
        session.show(text_lines(clean(dumped(whole, indent=2))))
        return
    session.show(view.context_lines(await chat.usage(), await chat.snapshots.serving()))


async def summary(session: Session, text: str) -> None:
    what, _, rest = text.partition(" ")
    parts: Mapping[str, Run] = {
        "": _show_summary,
        "edit": _edit_summary,
        "regen": _regenerate,
        "versions": _versions,
        "diff": _diff,
        "receipt": receipt,
    }
    if what not in parts:
        raise BadInput("summary", f"expected edit, regen, versions, diff or receipt, got {what!r}")
    await parts[what](session, rest.strip())


async def _show_summary(session: Session, text: str) -> None:
    del text
    serving = await snapshot_at(session, "")
    state = await session.engine.state_of(session.need_chat().id)
    session.show(view.summary_lines(serving, view.sent_text(state.context)))


async def _edit_summary(session: Session, text: str) -> None:
    serving = await snapshot_at(session, "")
    words = text or await session.edit(serving.summary)
    if words is None:
        session.show([line("The summary is unchanged.")])
        return
    made = await session.need_chat().snapshots.edit(serving.id, words)
    session.show(
        [line(("good", f"The summary is version {made.version} now"), "; /undo brings the other back.")]
    )


async def _regenerate(session: Session, text: str) -> None:
    serving = await snapshot_at(session, "")
    await session.follow(session.need_chat().snapshots.regenerating(serving.id, focus=text))


async def _versions(session: Session, text: str) -> None:
    del text
    chat = session.need_chat()
    every = await chat.snapshots.list()
    session.show(
        view.version_lines(every, await chat.snapshots.serving()) if every else [line("No snapshots yet.")]
    )


async def _diff(session: Session, text: str) -> None:
    chat, numbers = session.need_chat(), text.split()
    if not numbers:
        every = await chat.snapshots.list()
        numbers = [str(len(every) - 1), str(len(every))] if len(every) > 1 else []
    if len(numbers) != 2:
        raise UsageError("give two numbers of /summary versions to compare, such as: /summary diff 1 2")
    one, other = [await snapshot_at(session, number) for number in numbers]
    made = await chat.snapshots.diff(one.id, other.id)
    session.show(text_lines(clean(made)) if made else [line("The summaries are the same.")])


async def receipt(session: Session, text: str) -> None:
    snapshots, id = session.need_chat().snapshots, (await snapshot_at(session, text)).id
    found, so_far = await snapshots.receipt(id), await snapshots.saved_so_far(id)
    lines = receipt_lines(found) if found else [line("This snapshot has no receipt.")]
    session.show([*lines, line(so_far.in_words)] if so_far and so_far.in_words else lines)


async def restore(session: Session, text: str) -> None:
    if not text:
        raise UsageError("say which fact to put back, as /receipt shows it: /restore 8443")
    await session.need_chat().snapshots.restore((await snapshot_at(session, "")).id, text)
    session.show([line(("good", "Added back"), f" the line with {clean(text)}; /undo takes it out again.")])


async def undo(session: Session, text: str) -> None:
    chat = session.need_chat()
    before = await chat.snapshots.serving()
    gone = await chat.undo((await snapshot_at(session, text)).id)
    if before is None or gone.id != before.id:
        session.show([line(("good", "Undone"), "; it was not in use, so nothing changes in what is sent.")])
        return
    session.show([view.in_use_line("Undone", await chat.snapshots.serving(), covered=gone.messages)])


async def redo(session: Session, text: str) -> None:
    if text:
        raise UsageError("/redo brings back what was undone last; /use N chooses one of /summary versions")
    chat = session.need_chat()
    await chat.redo()
    session.show([view.in_use_line("Brought back", await chat.snapshots.serving())])


async def use(session: Session, text: str) -> None:
    if not text:
        raise UsageError("say which one, as /summary versions numbers them: /use 1")
    chat = session.need_chat()
    await chat.snapshots.use((await snapshot_at(session, text)).id)
    session.show([view.in_use_line("Chosen", await chat.snapshots.serving())])


async def expand(session: Session, text: str) -> None:
    chat = session.need_chat()
    first, dash, last = text.partition("-")
    if dash:
        low, high = number_of(first.strip(), "message"), number_of(last.strip(), "message")
        chosen = [node for node in await chat.branch() if low <= node.depth <= high]
        session.show(each for node in chosen for each in view.whole_message(node))
    elif text:
        session.show(view.whole_message(await message_at(session, text)))
    else:
        covered = await chat.snapshots.expand((await snapshot_at(session, "")).id)
        session.show(view.message_lines(node, session.columns) for node in covered)


async def rules(session: Session, text: str) -> None:
    """List what stands; drop one of its lines, or pin it."""
    chat, (what, _, number) = session.need_chat(), text.partition(" ")
    serving, standing = await snapshot_at(session, ""), await chat.snapshots.standing()
    if not text:
        session.show(view.rule_lines(standing) if standing else [line("No rule, preference or decision.")])
        return
    if what not in ("drop", "pin"):
        raise BadInput("rules", f"expected nothing, drop or pin, got {what!r}")
    at = number_of(number.strip(), "rule")
    if at > len(standing):
        raise NotFound(f"there is no rule {at}; /rules lists {len(standing)}")
    chosen = standing[at - 1]
    if what == "pin":
        await chat.pins.add(chosen.source, chosen.text)
        session.show([line(("good", f"Pinned rule {at}"), ": it is always sent word for word.")])
        return
    await chat.snapshots.drop(serving.id, chosen.source, chosen.text)
    session.show([line(("good", f"Dropped rule {at}"), ": it is not found again; /undo brings it back.")])


async def recalled(session: Session, text: str) -> None:
    """Show what was recalled for the last question, or what would be found for words."""
    chat = session.need_chat()
    if text:
        passages = await chat.snapshots.recall(text)
    else:
        state = await session.engine.state_of(chat.id)
        newest = [id for id in state.context.sent if id in state.loaded.recalled][-1:]
        passages = state.loaded.recalled[newest[0]] if newest else ()
    if not passages:
        session.show([line(("faint", "Nothing was recalled." if not text else "Nothing was found."))])
    session.show(view.passage_lines(passages))
