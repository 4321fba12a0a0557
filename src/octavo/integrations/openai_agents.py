"""OpenAI Agents SDK: a filter for what a request sends, and a session that keeps the history in our tree.

The filter changes the input of one request; what the session stores stays whole. The session gives back every item as
it was added. Taking an item back steps up in the tree and deletes nothing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from agents import FunctionTool, ModelResponse, RunContextWrapper, RunHooks, TResponseInputItem
from agents.run import CallModelData, ModelInputData

from octavo.core.json_values import Json, JsonObject
from octavo.core.messages import Message, pair_tools
from octavo.core.protocol import RESPONSES
from octavo.core.wire import write
from octavo.core.wire.notes import note, notes
from octavo.core.wire.responses import FORMAT, read_steps
from octavo.engine.engine import Engine
from octavo.engine.history import make_id, store_history, stored_form, with_thoughts
from octavo.errors import BadInput, NotFound
from octavo.integrations.shared_engine import shared_engine
from octavo.integrations.tools import count_tools
from octavo.integrations.view import (
    ANY_MODEL,
    ContextView,
    HistoryItem,
    MadeView,
    ViewItem,
    ViewOptions,
    ViewRequest,
    log,
)
from octavo.store.values import Entry

if TYPE_CHECKING:
    from agents.memory import SessionSettings

EXACT = "items"
"""The note of a stored message with its items, where they are not what the message alone would be written as."""
SESSION = "session:"
"""How the key of a note begins that tells where a session stands."""

_asked: ContextVar[MadeView[TResponseInputItem] | None] = ContextVar("octavo_asked", default=None)
"""What the request of this run is that has no answer yet: the SDK gives a filter and its hooks nothing in common."""


def octavo_filter(store: str | Path | None = None, **options: Unpack[ViewOptions]) -> OctavoFilter:
    """Make a filter for `RunConfig(call_model_input_filter=...)`.

    `store` is a file or the URL of a database; without one, snapshots live as long as the process.
    """
    return OctavoFilter(ContextView.open("octavo_filter", store, options))


class OctavoFilter:
    """A filter, and the `hooks` of a run by which it learns what the provider billed."""

    def __init__(self, view: ContextView) -> None:
        self._view = view
        self.hooks = BillHooks(view)

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Give a view of the input that fits."""
        _asked.set(None)
        given = data.model_data
        try:
            history = read_items(given.input)
        except BadInput as error:
            log.warning("the input of a request is sent as it is: %s", error)
            return given
        if pair_tools([item.message for item in history]).orphans:
            return given  # the provider keeps what comes before: only it knows the whole conversation
        agent = data.agent
        made = await self._view.aview(
            ViewRequest(
                history=history,
                model=_model(agent.model),
                system=given.instructions or "",
                tools=count_tools(await _tools(data), _definition),
                reply=agent.model_settings.max_tokens,
                format="responses",
                rules=RESPONSES,
            )
        )
        _asked.set(made)
        return ModelInputData(input=_written(made), instructions=given.instructions)


class BillHooks(RunHooks[Any]):
    """Learns from the bills of the requests that a filter made."""

    def __init__(self, view: ContextView) -> None:
        self._view = view

    async def on_llm_end(
        self,
        context: RunContextWrapper[Any],  # noqa: ARG002
        agent: Any,  # noqa: ARG002
        response: ModelResponse,
    ) -> None:
        """Learn from the bill of an answer."""
        if (made := _asked.get()) is not None:
            await self._view.alearn(made, response.usage.input_tokens)


async def _tools(data: CallModelData[Any]) -> Sequence[object]:
    if not data.agent.mcp_servers:
        return data.agent.tools
    return await data.agent.get_all_tools(RunContextWrapper(data.context))


def _definition(tool: object) -> dict[str, Any]:
    if not isinstance(tool, FunctionTool):
        raise TypeError("a tool that the provider runs itself")
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.params_json_schema,
    }


def _model(model: object) -> str:
    name = model if isinstance(model, str) else getattr(model, "model", "")
    return name if isinstance(name, str) else ""


def read_items(items: Sequence[TResponseInputItem]) -> list[HistoryItem[TResponseInputItem]]:
    """Read the items of an input: those of one step of the assistant are one message."""
    history: list[HistoryItem[TResponseInputItem]] = []
    at = 0
    for message, number in read_steps(_plain(items)):
        history.append(HistoryItem(message, tuple(items[at : at + number])))
        at += number
    return history


def _plain(items: Iterable[object]) -> list[JsonObject]:
    """Copy items as plain JSON."""
    return cast("list[JsonObject]", json.loads(json.dumps(list(items), default=_dump)))


def _dump(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(exclude_unset=True) if callable(dump) else str(value)


def _written(view: MadeView[TResponseInputItem]) -> list[TResponseInputItem]:
    return [item for one in view.items for item in _write(one)]


def _write(item: ViewItem[TResponseInputItem]) -> Iterable[TResponseInputItem]:
    if item.kept:
        return item.objects
    written = write("responses", [item.message])
    made = written.messages or [{"role": "system", "content": written.system}]
    if item.message.role == "tool" and len(made) == len(item.objects):
        # The kind of an output is told by its call, which is not at hand here: only what it says is changed.
        pairs = zip(item.objects, made, strict=True)
        made = [{**cast("JsonObject", old), "output": new.get("output")} for old, new in pairs]
    return cast("list[TResponseInputItem]", made)


class OctavoSession:
    """A session of the SDK whose history is a branch of our tree, in the database that the filter uses, too."""

    def __init__(
        self,
        session_id: str,
        store: str | Path | None = None,
        *,
        owner: str = "",
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._engine = shared_engine(store)
        self._owner = owner
        self._note = SESSION + make_id(owner.encode(), session_id.encode())
        self._known: tuple[str | None, list[JsonObject]] = (None, [])
        """The items at the node where the session was seen last: what is stored there never changes."""

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Give the items of the session, or the newest ones."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = await self._engine.arun(self._items)
        return items if limit is None else items[max(0, len(items) - limit) :] if limit > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items below those of the session."""
        if items:
            await self._engine.arun(lambda engine: self._add(engine, items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item back; it stays in the tree, on a branch of its own."""
        return await self._engine.arun(self._pop)

    async def clear_session(self) -> None:
        """Begin anew; what was said stays stored."""
        await self._engine.arun(lambda engine: self._move(engine, None))

    async def _items(self, engine: Engine) -> list[TResponseInputItem]:
        noted = await engine.store.notes.get(self._note)
        tip = noted.get("tip") if isinstance(noted, dict) else None
        if not isinstance(tip, str):
            return []
        if self._known[0] != tip:
            branch = await _branch(engine, tip)
            self._known = (tip, [item for message in branch for item in _items_of(message)])
        return cast("list[TResponseInputItem]", copy.deepcopy(self._known[1]))

    async def _move(self, engine: Engine, tip: str | None) -> None:
        await engine.store.notes.put(self._note, {"tip": tip, "session": self.session_id})

    async def _add(self, engine: Engine, items: Sequence[TResponseInputItem]) -> None:
        before = await self._items(engine)
        await self._store(engine, [*before, *items])

    async def _pop(self, engine: Engine) -> TResponseInputItem | None:
        items = await self._items(engine)
        if not items:
            return None
        last = items.pop()
        if items:
            await self._store(engine, items)
        else:
            await self._move(engine, None)
        return last

    async def _store(self, engine: Engine, items: Sequence[TResponseInputItem]) -> None:
        """Stand at the end of these items; what is stored already is found by its content."""
        steps = read_steps(_plain(items))
        exact: list[list[JsonObject]] = []
        at = 0
        for _, number in steps:
            exact.append(_plain(items[at : at + number]))
            at += number
        messages = [message for message, _ in steps]
        assert self._engine.storing is not None
        async with self._engine.storing:
            stored = await store_history(engine, self._owner, messages, "responses", ANY_MODEL, "")
            tip = await self._made_exact(engine, stored.conversation, stored.tip, messages, exact)
            await self._move(engine, tip)
            self._known = (tip, [item for items in exact for item in items])

    async def _made_exact(
        self,
        engine: Engine,
        conversation: str,
        tip: str,
        messages: Sequence[Message],
        exact: Sequence[list[JsonObject]],
    ) -> str:
        """Store the messages again from where their items are not those of the stored ones, such as other ids."""
        branch = await engine.store.tree.branch(tip)
        pairs = zip(branch, exact, strict=True)
        same = next((i for i, (node, items) in enumerate(pairs) if _items_of(node.message) != items), None)
        if same is None:
            return tip
        entries = [
            Entry(message=_with_items(m, i)) for m, i in zip(messages[same:], exact[same:], strict=True)
        ]
        parent = branch[same - 1].id if same else None
        return (await engine.store.messages.append_many(conversation, entries, parent=parent))[-1].id


async def _branch(engine: Engine, tip: str) -> tuple[Message, ...]:
    try:
        branch = await engine.store.tree.branch(tip)
    except NotFound:
        return ()  # somebody deleted the conversation
    return tuple(node.message for node in branch if node.status != "deleted")


def _items_of(message: Message) -> list[JsonObject]:
    """Give the items of a stored message, exactly as they were."""
    noted = notes(message.wire, FORMAT).get(EXACT)
    if isinstance(noted, list):
        return cast("list[JsonObject]", noted)
    whole = with_thoughts(message)
    return write("responses", [whole]).messages


def _with_items(message: Message, items: Sequence[JsonObject]) -> Message:
    """Give a message as it is stored, with its items in a note if they would be written otherwise."""
    said = stored_form(message, "responses")
    if _items_of(said) == items:
        return said
    kept: Json = [*items]
    return replace(said, wire=note(FORMAT, {}, {}, **{EXACT: kept}))


__all__ = ["OctavoSession", "octavo_filter"]
