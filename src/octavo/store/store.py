"""The front of the store: every conversation, message and snapshot goes through here.

Each method is one transaction or one read, begun and ended inside it: a caller can do anything between two calls,
such as waiting for a model, without holding a lock. What a method returns is committed.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from octavo.core.fields import Json
from octavo.core.messages import Branch, Message, Node, Status
from octavo.errors import BadInput, NotFound, OctavoError, UsageError
from octavo.store import (
    backup,
    bin,
    check,
    copying,
    faults,
    reading,
    remove,
    rows,
    search,
    settings,
    snapshots,
    tree,
)
from octavo.store.areas import Answers, Jobs, Keys, Pins, Settings, Snapshots
from octavo.store.direct import Connection
from octavo.store.engines import Database, open_database
from octavo.store.files import half_of, refuse_database
from octavo.store.recall import Recall
from octavo.store.sqlite import Durability
from octavo.store.transfer import own
from octavo.store.transfer.formats import Format, read_items
from octavo.store.transfer.importing import Import
from octavo.store.transfer.items import Item
from octavo.store.transfer.planting import Planting
from octavo.store.transfer.source import read_values
from octavo.store.values import (
    TIP,
    Added,
    Conversation,
    Details,
    Entry,
    File,
    ForConversation,
    Hit,
    LargeText,
    StoredContext,
    StoreProblem,
)

log = logging.getLogger(__name__)

TIDY_SECONDS = 2.0
"""How much longer a program may take to end because of what another one has left behind."""


class Store:
    """Conversations in a database. Open one with `Store.open(url)`, and close it, or use it with `async with`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.snapshots = Snapshots(database)
        self.jobs = Jobs(database)
        self.answers = Answers(database)
        self.pins = Pins(database)
        self.settings = Settings(database)
        self.keys = Keys(database)
        self.recall = Recall(database)
        self._tidying: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str, *, durability: Durability = "process") -> Self:
        """Open `sqlite:///path`, `sqlite://` (memory) or `postgresql://...`; the schema is brought up to date.

        A file that cannot be written, or is opened as `sqlite:///path?mode=ro`, is read; writing raises `ReadOnly`.
        """
        store = cls(await open_database(url, durability=durability))
        if not store.read_only and len(await store._database.read(bin.left)):
            store._tidying = asyncio.create_task(store._tidy())
        return store

    async def _tidy(self) -> None:
        """Remove what imports and removals that broke off have left behind; whoever is next goes on with it."""
        try:
            await remove.leftovers(self._database)
        except OctavoError as error:
            log.warning("what an import left behind is not removed yet: %s", error)

    async def close(self) -> None:
        if self._tidying is not None:
            # A short command gets something done too; whoever is next does the rest.
            await asyncio.wait([self._tidying], timeout=TIDY_SECONDS)
            self._tidying.cancel()
            await asyncio.gather(self._tidying, return_exceptions=True)
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def place(self) -> str:
        """Where the database is, for people; never with a password."""
        return self._database.place

    @property
    def shared(self) -> bool:
        """Whether other machines may work on the same database."""
        return self._database.dialect == "postgresql"

    @property
    def read_only(self) -> bool:
        """Whether the file cannot be written, or was opened to be read only."""
        return self._database.read_only

    # Conversations

    async def create(self, title: str = "", *, owner: str = "", id: str | None = None) -> Conversation:
        """Make an empty conversation."""
        return await self._database.write(lambda c: tree.create(c, title, owner, id))

    async def conversation(self, id: str) -> Conversation:
        return rows.conversation(await self._database.read(lambda c: reading.conversation_row(c, id)))

    async def conversations(
        self,
        *,
        owner: str | None = None,
        archived: bool | None = False,
        deleted: bool | None = False,
        title: str = "",
        limit: int = 100,
        offset: int = 0,
        ids: Sequence[str] | None = None,
    ) -> tuple[Conversation, ...]:
        """List conversations, the last changed first; `title` is a part of the title, None means any.

        Deleted ones are those that can still be brought back.
        """
        return await self._database.read(
            lambda c: reading.conversations(
                c,
                owner=owner,
                archived=archived,
                deleted=deleted,
                title=title,
                limit=limit,
                offset=offset,
                ids=ids,
            )
        )

    async def rename(self, id: str, title: str) -> Conversation:
        return await self._database.write(lambda c: tree.change(c, id, title=title))

    async def archive(self, id: str, *, archived: bool = True) -> Conversation:
        when = rows.now() if archived else None
        return await self._database.write(lambda c: tree.change(c, id, archived=when))

    async def delete_conversation(self, id: str, *, undo: float = 0) -> None:
        """Remove a conversation with everything that belongs to it, for good.

        With `undo` it is out of sight at once, and can be brought back for so many seconds before it is due.
        """
        if undo > 0:
            await self._database.write(lambda c: bin.put(c, id, undo))
            return
        if not await remove.conversation_away(self._database, id):
            raise NotFound(f"there is no conversation {id}")

    async def undelete(self, id: str) -> Conversation:
        """Bring back a conversation that can be, as it was when it was deleted."""
        return await self._database.write(lambda c: bin.take_back(c, id))

    async def remove_due(self) -> tuple[str, ...]:
        """Remove the deleted conversations whose time is over, and what broke off, for good; gives what is gone."""
        return await remove.due(self._database)

    async def fork(self, tip: str, *, title: str | None = None) -> Conversation:
        """Copy the branch of a tip into a new conversation, with its snapshots, pins and settings."""
        return await self._database.write(lambda c: copying.fork(c, tip, title))

    async def copy(self, id: str, *, title: str | None = None) -> Conversation:
        """Copy a whole conversation."""
        return await self._database.write(lambda c: copying.copy(c, id, title))

    async def move_tip(self, conversation: str, to: str | None, *, expected: str | None) -> bool:
        """Move the tip if it is still `expected`; false when somebody else moved it."""
        return await self._database.write(lambda c: tree.move_tip(c, conversation, to, expected))

    # Messages

    async def append(
        self,
        conversation: str,
        message: Message,
        *,
        parent: str | None = TIP,
        id: str | None = None,
        status: Status = "complete",
        counts: Mapping[str, int] | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        model: str = "",
        select: bool = True,
    ) -> Node:
        """Add a message below the tip, or below another parent (None: a new root); it becomes the tip.

        With an `id` of your own (`octavo.store.new_id()`) the same append can be repeated: it is stored once.
        """
        entry = Entry(
            message=message,
            id=id,
            status=status,
            counts=counts or {},
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            model=model,
        )
        (node,) = await self.append_many(conversation, [entry], parent=parent, select=select)
        return node

    async def append_many(
        self,
        conversation: str,
        messages: Iterable[Message | Entry],
        *,
        parent: str | None = TIP,
        select: bool = True,
    ) -> Branch:
        """Add messages one below the other: all of them or none."""
        entries = [one if isinstance(one, Entry) else Entry(message=one) for one in messages]
        return (await self.add(conversation, entries, parent=parent, select=select)).nodes

    async def add(
        self, conversation: str, entries: Iterable[Entry], *, parent: str | None = TIP, select: bool = True
    ) -> Added:
        """Add messages one below the other; tells also at which revision of the conversation that was."""
        entries = [_checked(entry) for entry in entries]
        return await self._database.write(
            lambda c: tree.append(c, conversation, entries, parent, select=select)
        )

    async def record(
        self,
        conversation: str,
        messages: Iterable[Message | Entry],
        *,
        title: str = "",
        owner: str = "",
        values: Mapping[str, Json] | None = None,
    ) -> Branch:
        """Add messages from the root of a conversation that is made with them, if it is not there: all or nothing.

        `values` are settings for it.
        """
        entries = [_checked(one if isinstance(one, Entry) else Entry(message=one)) for one in messages]

        async def work(connection: Connection) -> Branch:
            made = await tree.create(connection, title, owner, conversation)
            for key, value in (values or {}).items():
                await settings.put(connection, ForConversation(made.id), key, value)
            return (await tree.append(connection, made.id, entries, None, select=True)).nodes

        return await self._database.write(work)

    async def edit(self, node: str, message: Message | Entry, *, select: bool = True) -> Node:
        """Add another version of a message beside it; the old one and all below it stay."""
        entry = _checked(message if isinstance(message, Entry) else Entry(message=message))
        return await self._database.write(lambda c: tree.append_sibling(c, node, entry, select=select))

    async def regenerate(self, node: str, answer: Message | Entry, *, select: bool = True) -> Node:
        """Add another answer beside one."""
        entry = _checked(answer if isinstance(answer, Entry) else Entry(message=answer))
        if entry.message.role != "assistant":
            raise UsageError(
                f"only an assistant's answer is generated again, not a {entry.message.role} message"
            )
        return await self._database.write(lambda c: tree.append_sibling(c, node, entry, select=select))

    async def finish(self, node: str, entry: Entry) -> Node:
        """Give a message that was appended as `streaming` its content; once, and then it stays."""
        return await self._database.write(lambda c: tree.finish(c, node, _checked(entry)))

    async def delete_message(self, node: str, *, subtree: bool = False) -> None:
        """Empty a message for good, or remove it with everything below; snapshots that were shown it are retired."""
        await self._database.write(lambda c: remove.message_away(c, node, subtree=subtree))
        await remove.purge(self._database)

    async def set_counts(self, tokenizer: str, counts: Mapping[str, int]) -> None:
        """Note the tokens of messages, by id, in a tokenizer."""
        if wrong := [id for id, tokens in counts.items() if tokens < 0]:
            raise BadInput(f"counts[{wrong[0]}]", "expected 0 tokens or more")
        await self._database.write(lambda c: tree.set_counts(c, tokenizer, counts))

    async def set_usage(self, node: str, *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Note what a provider reported for a message."""
        await self._database.write(lambda c: tree.set_usage(c, node, input_tokens, output_tokens))

    # Reading

    async def node(self, id: str, *, tokenizer: str | None = None) -> Node:
        return (await self.nodes([id], tokenizer=tokenizer))[0]

    async def nodes(
        self, ids: Sequence[str], *, tokenizer: str | None = None, previews: bool = False
    ) -> tuple[Node, ...]:
        """Give nodes in the order asked for."""
        return await self._database.read(lambda c: reading.nodes(c, ids, tokenizer, previews=previews))

    async def branch(self, tip: str, *, tokenizer: str | None = None, previews: bool = False) -> Branch:
        """Give the whole path from the root to a tip."""
        return await self._database.read(lambda c: reading.branch(c, tip, tokenizer, previews=previews))

    async def context(self, tip: str, *, tokenizer: str | None = None) -> StoredContext:
        """Give what the context of a tip is built from; it costs what it returns."""

        async def work(connection: Connection) -> StoredContext:
            found = await reading.context(connection, tip, tokenizer)
            return replace(found, originals_wanted=await snapshots.originals_wanted(connection, tip))

        return await self._database.read(work)

    async def page(
        self, tip: str, *, limit: int = 100, tokenizer: str | None = None, previews: bool = True
    ) -> Branch:
        """Give the newest messages of a branch; go on with the parent of the first as tip."""
        return await self._database.read(
            lambda c: reading.newest(c, tip, limit, tokenizer, previews=previews)
        )

    async def tree(self, conversation: str, *, previews: bool = True) -> AsyncIterator[Node]:
        """Go through a whole conversation, parents before children."""
        await self.conversation(conversation)
        after: int | None = 0
        while after is not None:
            at = after
            nodes, after = await self._database.read(
                lambda c, n=at: reading.part_of_tree(c, conversation, n, None, previews=previews)  # type: ignore[misc]
            )
            for node in nodes:
                yield node

    async def siblings(
        self,
        node: str,
        *,
        after: str | None = None,
        before: str | None = None,
        limit: int = 100,
        previews: bool = True,
    ) -> tuple[Node, ...]:
        """Give siblings of a node, itself included, in the order they were made: the next ones, or the last before."""
        ids = await self._database.read(
            lambda c: reading.siblings(c, node, after=after, before=before, limit=limit)
        )
        return await self.nodes(ids, previews=previews)

    async def tips(
        self, conversation: str, *, after: str | None = None, limit: int = 100, previews: bool = True
    ) -> tuple[Node, ...]:
        """Give the tips of branches, in the order they were made; go on `after` the last."""
        ids = await self._database.read(lambda c: reading.tips(c, conversation, after=after, limit=limit))
        return await self.nodes(ids, previews=previews)

    async def newest_below(self, node: str) -> str:
        """Follow the newest children down to a tip: where switching to a sibling leads."""
        return await self._database.read(lambda c: reading.newest_below(c, node))

    async def on_branch(self, tip: str, nodes: Iterable[str]) -> frozenset[str]:
        """Give those of the nodes that lie on the branch of a tip."""
        wanted = list(nodes)
        return await self._database.read(lambda c: reading.on_branch(c, tip, wanted))

    async def missing(self, conversation: str, nodes: Sequence[str]) -> tuple[str, ...]:
        """Give those of the nodes that are not in a conversation."""
        return await self._database.read(lambda c: reading.missing(c, conversation, nodes))

    async def details(self, nodes: Sequence[str]) -> tuple[Details, ...]:
        """Tell what else is known about nodes: conversation, usage, model, time, place among siblings."""
        return await self._database.read(lambda c: reading.details(c, nodes))

    async def find_prefix(
        self, digests: Sequence[bytes], *, owner: str = "", conversation: str | None = None
    ) -> Node | None:
        """Find the node whose branch is the longest of these prefixes; `digests[i]` is of `i + 1` messages."""
        return await self._database.read(lambda c: reading.find_prefix(c, digests, owner, conversation))

    async def large_texts(self, node: str) -> tuple[LargeText, ...]:
        """List the texts of a message that are kept apart."""
        return await self._database.read(lambda c: reading.large_texts(c, node))

    async def large_text(self, id: str) -> str:
        """Give a large text, whole."""
        return await self._database.read(lambda c: reading.read_large_text(c, id))

    async def files(self, conversation: str) -> tuple[File, ...]:
        """List the attachments of a conversation."""
        return await self._database.read(lambda c: reading.files(c, conversation))

    async def search(
        self,
        text: str,
        *,
        conversation: str | None = None,
        owner: str | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> tuple[Hit, ...]:
        """Search messages, the newest first; `before` is the node of the last hit of the previous page."""
        within = search.Within(conversation=conversation, owner=owner, before=before, limit=limit)
        return await self._database.read(lambda c: search.search(c, text, within))

    # Notes, files, upkeep

    async def note(self, key: str) -> Json:
        """Give a note the program keeps for itself, such as the state of a meter; None when there is none."""
        return await self._database.read(lambda c: settings.get_note(c, key))

    async def set_note(self, key: str, value: Json) -> None:
        await self._database.write(lambda c: settings.put_note(c, key, value))

    async def check_writable(self) -> None:
        """Write a little, for real: a full disk, a lock and a standby show nowhere else."""
        await self.set_note("writable", rows.time_text(rows.now()))

    async def check_readable(self) -> None:
        """Read a little."""
        await self.note("writable")

    async def notes_named(self, *keys: str) -> dict[str, Json]:
        """Give several notes at once; None for those there are not."""
        return await self._database.read(lambda c: settings.notes_named(c, keys))

    async def notes(self, start: str) -> dict[str, Json]:
        """Give the notes whose keys begin in the same way, by what follows that beginning."""
        return await self._database.read(lambda c: settings.notes(c, start))

    async def remove_note(self, key: str) -> bool:
        """Forget a note; false when there was none."""
        return await self._database.write(lambda c: settings.remove_note(c, key))

    async def export(self, path: Path, conversations: Sequence[str]) -> None:
        """Write conversations as JSON Lines, all of them as they are at one moment; all of the file or none of it."""
        refuse_database(path)
        partial = half_of(path)
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                await self._database.view(lambda c: own.export(c, conversations, file))
            partial.replace(path)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
        finally:
            partial.unlink(missing_ok=True)

    async def import_file(
        self,
        path: Path,
        *,
        format: Format | None = None,
        owner: str | None = None,
        title: str | None = None,
        new_ids: bool = False,
    ) -> tuple[Conversation, ...]:
        """Read conversations from a file: all of them or none. Without a format, the file tells it.

        Others can write meanwhile, and nobody sees anything of it before all of it is there.
        """
        planting = Planting(owner=owner, title=title, new_ids=new_ids)
        found = await Import(self._database).run(planting.pieces(_items(path, format)))
        await remove.empty_journal(self._database)
        return found

    async def import_text(
        self,
        text: Iterable[str],
        *,
        format: Format | None = None,
        owner: str | None = None,
        title: str | None = None,
        new_ids: bool = False,
    ) -> tuple[Conversation, ...]:
        """Read conversations from text, or from an iterable of its pieces; it is read to its end first."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "import"
            with path.open("w", encoding="utf-8", errors="surrogatepass") as file:
                file.writelines([text] if isinstance(text, str) else text)
            return await self.import_file(path, format=format, owner=owner, title=title, new_ids=new_ids)

    async def check(self) -> tuple[StoreProblem, ...]:
        """Prove that everything stored adds up; empty when it does."""
        return await check.check(self._database)

    async def backup(self, path: Path, *, overwrite: bool = False) -> None:
        """Copy an SQLite database while it is in use."""
        source = self._database.path
        if source is None:
            raise UsageError("only an SQLite file is copied this way; for PostgreSQL use pg_dump")
        try:
            await asyncio.to_thread(
                backup.copy_file, source, path, overwrite=overwrite, read_only=self.read_only
            )
        except faults.driver_errors() as error:
            raise faults.explain(error, str(path)) from error


def _items(path: Path, format: Format | None) -> Iterator[Item]:
    """Read a file when it is asked for: the first line may be as long as the file."""
    yield from read_items(read_values(path), format)


def _checked(entry: Entry) -> Entry:
    if not isinstance(entry.message, Message):
        raise BadInput("message", f"expected a Message, got {type(entry.message).__name__}")
    numbers = [*entry.counts.values(), entry.input_tokens or 0, entry.output_tokens or 0]
    if any(number < 0 for number in numbers):
        raise BadInput("counts", "expected 0 tokens or more")
    return entry
