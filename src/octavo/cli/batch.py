"""Compresses many conversations, one in each line, in several processes; results come in the order of the lines.

A bounded number of lines is under way at a time, so memory does not grow with the file. A line that cannot be
compressed is reported and stops no other. The processes end with this one, however it ends.
"""

from __future__ import annotations

import json
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from octavo.cli.lines import Line, line
from octavo.cli.message_files import LARGEST, RawLine
from octavo.cli.receipts import brief, receipt_lines, unwritten_lines
from octavo.core.history_json import dumped
from octavo.core.json_values import Json, JsonObject
from octavo.errors import OctavoError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from octavo.engine.batch import CompressedLine
    from octavo.engine.stateless import CompressionOptions

AHEAD = 8
"""Lines under way for each process: enough that none waits while a long one in front is not done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTask:
    """What is asked for every line."""

    options: CompressionOptions
    whole: bool
    """Whether receipts are shown."""
    as_json: bool

    def run(self, given: RawLine) -> LineDone:
        """Compress a line."""
        from octavo.engine.batch import compress_line

        _stand_alone()
        return self._done(given, compress_line(given.raw, **self.options))

    async def arun(self, given: RawLine) -> LineDone:
        """Compress a line with a summariser, which is waited for."""
        from octavo.engine.batch import acompress_line

        _stand_alone()
        return self._done(given, await acompress_line(given.raw, **self.options))

    def _done(self, given: RawLine, made: CompressedLine) -> LineDone:
        text = made.text
        if text and self.as_json:
            text = dumped(result_json(made, self.options.get("format")))
        told = tuple(told_lines(made, f"line {given.number}: ")) if self.whole and not made.error else ()
        return LineDone(given.number, text, made.before, made.after, made.error, told)


class LineDone(NamedTuple):
    """A line that is done."""

    number: int
    text: str = ""
    before: int = 0
    after: int = 0
    error: str = ""
    told: tuple[Line, ...] = ()


def _stand_alone() -> None:
    """Forget the snapshots of earlier lines: a result must not depend on which lines this process did before."""
    from octavo.engine import stateless

    stateless._written.clear()


def told_lines(made: CompressedLine, place: str, model: str = "", *, whole: bool = True) -> Iterator[Line]:
    """Say what became of a conversation, with the whole receipt or in two lines."""
    from octavo.core.receipt import Receipt

    if not made.receipt and not made.notes:
        yield line(f"{place}{made.before:,} tokens: it fits; nothing was changed")
        return
    count = f"{made.covered:,} of {made.messages:,} messages compressed"
    counted = f" ({model})" if model else ""
    yield line(f"{place}{made.before:,} → {made.after:,} tokens{counted}; {count}")
    for note in made.notes:
        yield line(("warn", f"{place}{note}"))
    receipt = Receipt.from_json(made.receipt) if made.receipt else None
    if receipt is not None and whole:
        yield from receipt_lines(receipt)
    elif receipt is not None:
        yield from unwritten_lines(receipt)
        yield line(("faint", brief(receipt)))


def result_json(made: CompressedLine, format: str | None) -> JsonObject:
    """Write a result with its figures as one object."""
    from octavo.engine.batch import read_line

    history = read_line(made.text)
    return {
        "messages": cast("list[Json]", history.messages),
        "system": history.system,
        "format": format or history.format,
        "before": made.before,
        "after": made.after,
        "covered": made.covered,
        "of": made.messages,
        "notes": list(made.notes),
        "summary": made.summary,
        "receipt": json.loads(made.receipt) if made.receipt else None,
    }


Submit = Callable[[RawLine], "Future[LineDone]"]


@contextmanager
def processes(jobs: int, task: LineTask) -> Iterator[Submit]:
    """Start processes, and give a way to hand them lines; they are ended at once if anything goes wrong."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Processes are not forked: the copy of a process with threads may wait for ever for a lock that one of them held.
    pool = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_start, initargs=(task,)
    )
    try:
        yield lambda given: pool.submit(_run, given)
        pool.shutdown()
    except BrokenProcessPool as error:
        raise OctavoError(
            "a process ended before its line was done: it was killed, or memory ran out; try fewer --jobs"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.kill()


_task: LineTask


def _start(task: LineTask) -> None:
    """Prepare a process: Ctrl-C is for the process that started it, and when that one ends, this one does, too."""
    import threading

    global _task
    _task = task
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _run(given: RawLine) -> LineDone:
    return _task.run(given)


def in_order(lines: Iterable[RawLine], submit: Submit, jobs: int) -> Iterator[tuple[RawLine, LineDone]]:
    """Keep the processes busy, and give results in the order of the lines, each as soon as it can be."""
    waiting: deque[tuple[RawLine, Future[LineDone]]] = deque()
    held = 0
    for given in lines:
        waiting.append((given, submit(given) if given.problem is None else _refused(given)))
        held += len(given.raw)
        while waiting and (len(waiting) >= AHEAD * jobs or held > LARGEST or waiting[0][1].done()):
            done, future = waiting.popleft()
            held -= len(done.raw)
            yield done, future.result()
    for done, future in waiting:
        yield done, future.result()


def _refused(given: RawLine) -> Future[LineDone]:
    from concurrent.futures import Future

    future: Future[LineDone] = Future()
    future.set_result(refusal(given))
    return future


def refusal(given: RawLine) -> LineDone:
    """Say why a line was not even read."""
    assert given.problem is not None
    return LineDone(given.number, error=given.problem.problem)
