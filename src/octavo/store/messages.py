"""Messages: added below their parents, never rewritten, deleted for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from octavo.core.json_values import Json
from octavo.core.messages import Branch, Message, Node, Status
from octavo.errors import BadInput, UsageError
from octavo.store import deletion, rows
from octavo.store.connection import Connection
from octavo.store.conversations import ConversationStore
from octavo.store.database import Database
from octavo.store.insertion import find_end, insert
from octavo.store.locks import lock
from octavo.store.parts import admit
from octavo.store.schema import conversation, message, message_token, plain_id
from octavo.store.section import Section, writes
from octavo.store.settings import SettingStore
from octavo.store.tree import TreeReader, present
from octavo.store.values import TIP, Added, Entry, ForConversation
from octavo.store.visibility import show_deleted

# Made once: to put these together each time costs as much as to run them.
_GROWN = (
    sa.update(conversation)
    .where(conversation.c.id == sa.bindparam("grown"))
    .values(updated=sa.bindparam("now"), messages=conversation.c.messages + sa.bindparam("added"))
)
_MOVED = _GROWN.values(tip_id=sa.bindparam("tip"))


class MessageStore(Section):
    """The messages of a store, and how they are written; `TreeReader` reads them."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._database = database

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
        return (await self.add(conversation, messages, parent=parent, select=select)).nodes

    async def add(
        self,
        conversation: str,
        messages: Iterable[Message | Entry],
        *,
        parent: str | None = TIP,
        select: bool = True,
    ) -> Added:
        """Add messages one below the other; tells also at which revision of the conversation that was."""
        entries = _entries(messages)

        async def work(connection: Connection) -> Added:
            owner = await lock(connection, conversation)
            return await add(connection, owner, entries, parent, select=select)

        return await self._database.write(work)

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
        return await self._record(conversation, _entries(messages), title, owner, values or {})

    @writes
    async def _record(
        self,
        connection: Connection,
        id: str,
        entries: Sequence[Entry],
        title: str,
        owner: str,
        values: Mapping[str, Json],
    ) -> Branch:
        made = await ConversationStore.within(connection).create(title, owner=owner, id=id)
        for key, value in values.items():
            await SettingStore.within(connection).put(ForConversation(made.id), key, value)
        return (await add(connection, await lock(connection, made.id), entries, None, select=True)).nodes

    async def delete(self, node: str, *, subtree: bool = False) -> None:
        """Empty a message for good, or remove it with everything below; snapshots that were shown it are retired."""
        await self._database.write(lambda c: deletion.delete_message(c, node, subtree=subtree))
        await deletion.purge_words(self._database)

    @writes
    async def set_counts(self, connection: Connection, tokenizer: str, counts: Mapping[str, int]) -> None:
        """Note the tokens of messages, by id, in a tokenizer; what was deleted meanwhile is left alone."""
        if wrong := [id for id, tokens in counts.items() if tokens < 0]:
            raise BadInput(f"counts[{wrong[0]}]", "expected 0 tokens or more")
        wanted = {plain_id(id): tokens for id, tokens in counts.items()}
        # In one order, so that two callers with the same messages do not wait for each other in a circle.
        known = message.c.id.in_(list(wanted)) & (message.c.status != "deleted")
        found = await connection.scalars(
            sa.select(message.c.id).where(known).order_by(message.c.id).with_for_update(read=True)
        )
        new = [{"message_id": id, "tokenizer": tokenizer, "tokens": wanted[id]} for id in found]
        if not new:
            return
        row = (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(message_token)
        key = ["message_id", "tokenizer"]
        stored = row.on_conflict_do_update(index_elements=key, set_={"tokens": row.excluded.tokens})
        await connection.execute(stored, new)


async def add(
    connection: Connection, owner: rows.Row, entries: Sequence[Entry], parent: str | None, *, select: bool
) -> Added:
    """Add messages one below the other to a conversation that is locked."""
    if parent == TIP:
        parent = owner.tip_id
    if repeated := await _repeated(connection, owner.id, entries):
        return Added(nodes=repeated, revision=owner.revision)
    nodes = await insert(connection, await find_end(connection, owner.id, parent), entries)
    if owner.hidden and any(node.message.role == "user" for node in nodes):
        # A user who writes into a deleted conversation brings it back; an answer that was on its way does not.
        await show_deleted(connection, owner.id)
    grown = {"grown": owner.id, "now": rows.now(), "added": len(nodes)}
    if select and nodes:
        await connection.execute(_MOVED, {**grown, "tip": nodes[-1].id})
    else:
        await connection.execute(_GROWN, grown)
    return Added(nodes=nodes, revision=owner.revision)


def _entries(messages: Iterable[Message | Entry]) -> list[Entry]:
    return [_checked(one if isinstance(one, Entry) else Entry(message=one)) for one in messages]


def _checked(entry: Entry) -> Entry:
    if not isinstance(entry.message, Message):
        raise BadInput("message", f"expected a Message, got {type(entry.message).__name__}")
    numbers = (*entry.counts.values(), entry.input_tokens, entry.output_tokens)
    if any(number is not None and number < 0 for number in numbers):
        raise BadInput("counts", "expected 0 tokens or more")
    return entry


async def _repeated(
    connection: Connection, conversation_id: str, entries: Sequence[Entry]
) -> tuple[Node, ...] | None:
    """Recognise an append that was stored before, by the ids the caller gave."""
    given = [plain_id(entry.id) for entry in entries if entry.id]
    stored = {node.id: node for node in await present(connection, given)} if given else {}
    if not stored:
        return None
    places = {found.conversation for found in await TreeReader.within(connection).details(list(stored))}
    nodes = [stored[id] for id in given if id in stored]
    if [node.message for node in nodes] != [admit(entry.message) for entry in entries] or places != {
        conversation_id
    }:
        raise UsageError(f"the id {nodes[0].id} is taken by another message; leave ids out, or make new ones")
    return tuple(nodes)
