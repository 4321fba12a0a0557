"""The front of the store: opens and closes a database, and gives each kind of record its section."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from octavo.errors import OctavoError, UsageError
from octavo.store import backup, check, error_mapping, rows
from octavo.store.answers import AnswerStore
from octavo.store.bin import Bin
from octavo.store.conversations import ConversationStore
from octavo.store.costs import CostStore
from octavo.store.database import Database, open_database
from octavo.store.deletion import empty_journal
from octavo.store.files import half_of, refuse_database
from octavo.store.jobs import JobStore
from octavo.store.keys import KeyStore
from octavo.store.labels import LabelStore
from octavo.store.messages import MessageStore
from octavo.store.notes import NoteStore
from octavo.store.passages import PassageStore
from octavo.store.pins import PinStore
from octavo.store.recall import RecallIndex
from octavo.store.search import MessageSearch
from octavo.store.settings import SettingStore
from octavo.store.snapshots import SnapshotStore
from octavo.store.sqlite import Durability
from octavo.store.titles import TitleStore
from octavo.store.transfer import native
from octavo.store.transfer.formats import Format, read_items
from octavo.store.transfer.import_writer import ImportWriter
from octavo.store.transfer.importer import Importer
from octavo.store.transfer.items import Item
from octavo.store.transfer.source import read_values
from octavo.store.tree import TreeReader
from octavo.store.values import Conversation, StoreProblem

log = logging.getLogger(__name__)

TIDY_SECONDS = 2.0
"""Seconds that a program may spend at its end on removing what another one has left behind."""


class Store:
    """Conversations in a database. Open one with `Store.open(url)`, and close it, or use it with `async with`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.conversations = ConversationStore(database)
        self.messages = MessageStore(database)
        self.tree = TreeReader(database)
        self.snapshots = SnapshotStore(database)
        self.jobs = JobStore(database)
        self.answers = AnswerStore(database)
        self.pins = PinStore(database)
        self.settings = SettingStore(database)
        self.notes = NoteStore(database)
        self.keys = KeyStore(database)
        self.bin = Bin(database)
        self.search = MessageSearch(database)
        self.recall = RecallIndex(database)
        self.passages = PassageStore(database)
        self.costs = CostStore(database)
        self.titles = TitleStore(database)
        self.labels = LabelStore(database)
        self._tidying: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str, *, durability: Durability = "process") -> Self:
        """Open `sqlite:///path`, `sqlite://` (memory) or `postgresql://...`; the schema is brought up to date.

        A file that cannot be written, or is opened as `sqlite:///path?mode=ro`, is read; writing raises `ReadOnly`.
        """
        store = cls(await open_database(url, durability=durability))
        if not store.read_only and await store.bin.has_leftovers():
            store._tidying = asyncio.create_task(store._tidy())
        return store

    async def _tidy(self) -> None:
        """Remove what imports and removals that broke off have left behind; the next program goes on with it."""
        try:
            await self.bin.remove_leftovers()
        except OctavoError as error:
            log.warning("what an import left behind is not removed yet: %s", error)

    async def close(self) -> None:
        if self._tidying is not None:
            # A short command gets something done, too; the next program does the rest.
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

    async def check_writable(self) -> None:
        """Write something small: only that shows a full disk, a lock, or a standby server."""
        await self.notes.put("writable", rows.time_text(rows.now()))

    async def check_readable(self) -> None:
        """Read a little."""
        await self.notes.get("writable")

    async def export(self, path: Path, conversations: Sequence[str]) -> None:
        """Write conversations as JSON Lines, all of them as they are at one moment; all of the file or none of it."""
        refuse_database(path)
        partial = half_of(path)
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                await self._database.view(lambda c: native.export(c, conversations, file))
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

        Others can write in the meantime, and nobody sees any of it before all of it is stored.
        """
        importer = Importer(owner=owner, title=title, new_ids=new_ids)
        found = await ImportWriter(self._database).run(importer.pieces(_items(path, format)))
        await empty_journal(self._database)
        return found

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
        except error_mapping.driver_errors() as error:
            raise error_mapping.explain(error, str(path)) from error


def _items(path: Path, format: Format | None) -> Iterator[Item]:
    """Read a file when it is asked for: the first line may be as long as the file."""
    yield from read_items(read_values(path), format)
