"""Turns and compressions: work that runs in the server and is followed by events.

A task that this process does not know may run in another one. Of a turn the answer is then looked for in the store,
where it appears under the turn's own id, about once a second as far as it has come.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import Depends, Path
from starlette.responses import Response

from octavo.core.json_values import JsonObject
from octavo.core.messages import Node
from octavo.engine.chat import Chat
from octavo.engine.outcome import Event, MessageStored
from octavo.engine.turn import question_of
from octavo.errors import NotFound, UsageError
from octavo.http.errors import ApiError
from octavo.http.responses import EVENTS
from octavo.server import remote_tasks
from octavo.server.app_state import AppState, TheAppState, TheChat
from octavo.server.events import describe_failure
from octavo.server.responses import reply
from octavo.server.routes import API, router
from octavo.server.routes.messages import store_message
from octavo.server.schemas.base import Id
from octavo.server.schemas.messages import MessageIn
from octavo.server.schemas.tasks import CompressIn, TaskOut, TasksOut, TurnIn
from octavo.server.show import read_tool, show_node
from octavo.server.stream import PING, event_stream, frame, resume_point
from octavo.server.tasks import Kind, Status, Work
from octavo.store.ids import made_at, new_id

routes = router("turns and compressions", "/conversations/{conversation}")

LOOK_SECONDS = 1.0
"""Seconds between two looks at an answer that another process writes."""
INTERRUPTED = ApiError(
    status=502,
    type="interrupted",
    message="the server was stopped while it answered; what was said by then is kept",
    hint="try again, or let the model go on",
)

EVENT: dict[str, Any] = {
    "type": "object",
    "required": ["id", "event", "data"],
    "properties": {
        "id": {"type": "string"},
        "event": {"type": "string"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events, as the guide to the API describes them. The last one is always `done`.",
        "content": {EVENTS: {"itemSchema": EVENT}},
    },
    202: {"description": "The task, without its events.", "model": TaskOut},
}
FOLLOWED: dict[int | str, dict[str, Any]] = {200: STREAMED[200]}

TaskId = Annotated[Id, Path(description="A task.")]
ResumePoint = Annotated[int, Depends(resume_point)]


def show_task(work: Work) -> TaskOut:
    noun = "turns" if work.kind == "turn" else "compressions"
    return TaskOut(
        id=work.id,
        kind=work.kind,
        conversation=work.conversation,
        status=work.status,
        events=work.feed.count,
        url=f"{API}/conversations/{work.conversation}/{noun}/{work.id}/events",
    )


def begin(
    app_state: AppState, kind: Kind, chat: Chat, id: str, events: AsyncIterator[Event], *, stream: bool
) -> Response:
    """Start a task, and respond with its events or with the task."""
    app_state.check_open()
    work = app_state.tasks.start(id, kind, chat.id, events, app_state.announce)
    if kind == "turn" and work.task is not None:
        work.task.add_done_callback(
            lambda _: app_state.feeds.publish(chat.id, "turn_ended", {"turn": id, "status": work.status})
        )
    if not stream:
        return reply(show_task(work), 202)
    ping = app_state.settings.limits.ping_seconds
    return event_stream(work.feed.follow(0, ping), {"x-octavo-task": work.id})


@routes.post("/turns", response_model=None, responses=STREAMED)
async def begin_turn(body: TurnIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Send a message and have the model answer it, or have an answer generated again."""
    app_state.check_open()
    settings = await chat.settings()
    # Opening a provider imports its library, which takes seconds once: not in the event loop.
    await asyncio.to_thread(app_state.engine.models.provider, str(settings.get("model") or ""))
    if body.id and (begun := await _begun(app_state, chat, body.id, stream=body.stream)):
        return begun
    id = body.id or new_id()
    tools = tuple(read_tool(tool) for tool in body.tools)
    start, before = await _start_of(app_state, chat, body)
    answer = chat.answer(start, tools=tools, temperature=body.temperature, id=id)
    app_state.feeds.publish(chat.id, "turn_started", {"turn": id})
    return begin(app_state, "turn", chat, id, _chained(before, answer), stream=body.stream)


async def _begun(app_state: AppState, chat: Chat, id: str, *, stream: bool) -> Response | None:
    """Continue the turn that the same request began before; None if there is none."""
    if work := app_state.tasks.find(id, "turn", chat.id):
        if not stream:
            return reply(show_task(work), 202)
        ping = app_state.settings.limits.ping_seconds
        return event_stream(work.feed.follow(0, ping), {"x-octavo-task": id})
    stored = await app_state.engine.store.tree.details([id])
    if not stored:
        return None
    node = await app_state.engine.store.tree.node(id)
    if stored[0].conversation != chat.id or node.message.role != "assistant":
        raise UsageError("this id belongs to another message: make a new one for each turn")
    if not stream:
        status: Status = "running" if node.status == "streaming" else "done"
        return reply(show_task(Work(id, "turn", chat.id, status=status)), 202)
    return event_stream(_await_answer(app_state, chat, id, 0), {"x-octavo-task": id})


def _question_id(turn: str | None) -> str | None:
    """Derive the id of a question from that of its answer, so that a repeated turn finds it."""
    return f"{(int(turn, 16) - 1) % (1 << 128):032x}" if turn else None


async def _start_of(app_state: AppState, chat: Chat, body: TurnIn) -> tuple[str, list[Event]]:
    """Store the message of the user, if there is one; give the message to answer."""
    if body.regenerates:
        if body.content is not None or body.edits:
            raise UsageError("another answer is to the same question: leave 'content' and 'edits' out")
        await chat.require(body.regenerates)
        return (await question_of(app_state.engine, chat.id, body.regenerates)).id, []
    if body.content is None:
        await chat.require(body.parent)
        at = body.parent or (await chat.info()).tip
        if at is None:
            raise UsageError("the conversation is empty: say something first")
        return at, []
    id = None if body.edits else _question_id(body.id)
    said = MessageIn(content=body.content, parent=body.parent, edits=body.edits, id=id)
    node = await store_message(chat, said)
    return node.id, [MessageStored(node)]


async def _chained(before: list[Event], then: AsyncIterator[Event]) -> AsyncIterator[Event]:
    for event in before:
        yield event
    async for event in then:
        yield event


@routes.post("/compressions", response_model=None, responses=STREAMED)
async def begin_compression(body: CompressIn, chat: TheChat, app_state: TheAppState) -> Response:
    """Compress the older messages now."""
    await chat.require(body.up_to)
    await app_state.engine.state_of(chat.id)
    id = new_id()
    events = chat.compressing(focus=body.focus, keep=body.keep, up_to=body.up_to, id=id)
    return begin(app_state, "compression", chat, id, events, stream=body.stream)


def _tasks(app_state: AppState, chat: Chat, kind: Kind) -> Response:
    return reply(TasksOut(tasks=[show_task(work) for work in app_state.tasks.of(chat.id, kind)]))


def _task(app_state: AppState, chat: Chat, kind: Kind, id: str) -> Work:
    work = app_state.tasks.find(id, kind, chat.id)
    if work is None:
        raise NotFound(f"there is no {kind} {id} here; it may have ended some time ago")
    return work


async def _cancel(app_state: AppState, chat: Chat, kind: Kind, id: str) -> Response:
    """Cancel a task, here or at another replica."""
    here = app_state.tasks.find(id, kind, chat.id) is not None
    if here or not _may_run_elsewhere(app_state, id) or await _ended(app_state, id):
        app_state.tasks.cancel(_task(app_state, chat, kind, id).id, chat.id)
    else:
        await app_state.remote_cancel.request(id, chat.id)
    return Response(status_code=204)


@routes.get("/turns", response_model=TasksOut)
async def list_turns(chat: TheChat, app_state: TheAppState) -> Response:
    """List the turns of this process that run, or ended a short while ago."""
    return _tasks(app_state, chat, "turn")


@routes.get("/turns/{task}", response_model=TaskOut)
async def read_turn(task: TaskId, chat: TheChat, app_state: TheAppState) -> Response:
    """Read the status of a turn."""
    return reply(show_task(_task(app_state, chat, "turn", task)))


@routes.delete("/turns/{task}", status_code=204)
async def cancel_turn(task: TaskId, chat: TheChat, app_state: TheAppState) -> Response:
    """Cancel a turn, whichever replica runs it. The partial answer is stored."""
    return await _cancel(app_state, chat, "turn", task)


@routes.get("/turns/{task}/events", response_model=None, responses=FOLLOWED)
async def follow_turn(task: TaskId, after: ResumePoint, chat: TheChat, app_state: TheAppState) -> Response:
    """Follow the events of a turn, from the beginning or from where a connection was lost."""
    work = app_state.tasks.find(task, "turn", chat.id)
    ping = app_state.settings.limits.ping_seconds
    if work is not None:
        return event_stream(work.feed.follow(after, ping))
    answered = [d for d in await app_state.engine.store.tree.details([task]) if d.conversation == chat.id]
    if not answered and not _may_run_elsewhere(app_state, task):
        raise NotFound(f"there is no turn {task} here; it may have ended without an answer")
    return event_stream(_await_answer(app_state, chat, task, after))


async def _ended(app_state: AppState, id: str) -> bool:
    """Tell whether the answer of a turn is stored and no longer being written."""
    if not await app_state.engine.store.tree.details([id]):
        return False
    return (await app_state.engine.store.tree.node(id)).status != "streaming"


def _may_run_elsewhere(app_state: AppState, id: str) -> bool:
    """Tell whether another replica may still run a turn: there can be one, and the id is recent."""
    age = time.time() - made_at(id) / 1_000
    return app_state.engine.store.shared and age < app_state.settings.limits.answer_seconds


async def _await_answer(app_state: AppState, chat: Chat, id: str, after: int) -> AsyncIterator[bytes]:
    """Yield the answer that another process writes, as far as it is stored, or that the process has ended."""
    limits, store = app_state.settings.limits, app_state.engine.store
    until, told = time.monotonic() + limits.answer_seconds, ""
    while time.monotonic() < until and not app_state.closing:
        gone = id in await store.answers.close(chat.id)
        found = [d for d in await store.tree.details([id]) if d.conversation == chat.id]
        node = await store.tree.node(id) if found else None
        if node is not None and node.status != "streaming":
            for name, data in _ending(node, gone=gone):
                after += 1
                yield frame(after, name, data)
            return
        said = node.message.text if node else ""
        if said.startswith(told) and said != told:
            if after and not told:
                # This process does not know how much of the text the client has seen.
                after += 1
                yield frame(after, "text_restarted", {})
            after += 1
            yield frame(after, "text", {"text": said[len(told) :], "kind": "text"})
            told = said
        else:
            yield PING
        await asyncio.sleep(LOOK_SECONDS)
    lost = {"type": "lost", "message": "the process that made this answer is gone; ask again"}
    yield frame(after + 1, "failed", {**lost, "numbers": {}, "retryable": True, "partial": None})
    yield frame(after + 2, "done", {"status": "failed"})


def _ending(node: Node, *, gone: bool) -> Iterator[tuple[str, JsonObject]]:
    """Yield the last events of an answer that another process wrote; `gone`: that process has ended before it."""
    shown: JsonObject = show_node(node).model_dump()
    if gone:
        yield "failed", {**describe_failure(INTERRUPTED), "retryable": True, "partial": shown}
        yield "done", {"status": "failed"}
        return
    yield "answered", {"message": shown, "reply": None}
    yield "done", {"status": "done" if node.status == "complete" else "cancelled"}


@routes.get("/compressions", response_model=TasksOut)
async def list_compressions(chat: TheChat, app_state: TheAppState) -> Response:
    """List the compressions of this process that run, or ended a short while ago."""
    return _tasks(app_state, chat, "compression")


@routes.get("/compressions/{task}", response_model=TaskOut)
async def read_compression(task: TaskId, chat: TheChat, app_state: TheAppState) -> Response:
    """Read the status of a compression, whichever process runs it."""
    if work := app_state.tasks.find(task, "compression", chat.id):
        return reply(show_task(work))
    if job := await remote_tasks.job_of(app_state, chat, task):
        return reply(show_task(Work(task, "compression", chat.id, status=job.status)))
    raise remote_tasks.unknown(task)


@routes.delete("/compressions/{task}", status_code=204)
async def cancel_compression(task: TaskId, chat: TheChat, app_state: TheAppState) -> Response:
    """Cancel a compression, whichever process runs it. Nothing is stored."""
    if app_state.tasks.find(task, "compression", chat.id) is None and await remote_tasks.job_of(
        app_state, chat, task
    ):
        await app_state.engine.store.jobs.cancel(task)
        return Response(status_code=204)
    return await _cancel(app_state, chat, "compression", task)


@routes.get("/compressions/{task}/events", response_model=None, responses=FOLLOWED)
async def follow_compression(
    task: TaskId, after: ResumePoint, chat: TheChat, app_state: TheAppState
) -> Response:
    """Follow the events of a compression, from the beginning or from where a connection was lost."""
    if work := app_state.tasks.find(task, "compression", chat.id):
        return event_stream(work.feed.follow(after, app_state.settings.limits.ping_seconds))
    if job := await remote_tasks.job_of(app_state, chat, task):
        return event_stream(remote_tasks.follow(app_state, chat, job, after))
    raise remote_tasks.unknown(task)


@routes.get("/events", response_model=None, responses=FOLLOWED)
async def follow_conversation(after: ResumePoint, chat: TheChat, app_state: TheAppState) -> Response:
    """Follow a conversation: its turns, its compressions, and every other change, whoever makes it."""
    app_state.check_open()
    await app_state.feeds.open(chat.id)
    return event_stream(_watch(app_state, chat, after))


async def _state(app_state: AppState, chat: Chat) -> JsonObject:
    """Give the status of a conversation, which may have been deleted meanwhile."""
    serving = None
    with suppress(NotFound):
        serving = await chat.snapshots.serving()
    running = [work.id for work in app_state.tasks.of(chat.id, "turn") if work.status == "running"]
    elsewhere = [job.anchor for job in await app_state.engine.store.answers.being_written(chat.id)]
    return {
        "snapshot": serving.id if serving else None,
        "turns": [*(id for id in elsewhere if id not in running), *running],
        **await app_state.feeds.current_status(chat.id),
    }


async def _watch(app_state: AppState, chat: Chat, after: int) -> AsyncIterator[bytes]:
    limits = app_state.settings.limits

    async def first() -> bytes:
        return frame(after, "state", await _state(app_state, chat))

    until = asyncio.get_running_loop().time() + limits.stream_seconds
    silence = min(limits.ping_seconds, limits.stream_seconds)
    async with aclosing(app_state.feeds.watch(chat.id, after, silence, first)) as pieces:
        async for frames in pieces:
            yield b"".join(frames)
            if asyncio.get_running_loop().time() >= until:
                return
