"""Many conversations through real processes: in order, within bounds, past bad lines, and after a kill."""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

import octavo
from octavo.cli.batch import AHEAD, LineDone, in_order
from octavo.cli.message_files import RawLine, read_opening
from octavo.core.history_json import History
from octavo.engine.batch import compress_line
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from tests.cli.test_compress import talk

WAIT = 120
"""Seconds after which a process is taken to hang."""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "octavo", "compress", *arguments]


def surroundings(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "OCTAVO_DATA": str(tmp_path / "data")}


def chats(tmp_path: Path, number: int) -> Path:
    path = tmp_path / "chats.jsonl"
    rows = [json.dumps({"id": n, "messages": talk(3 + n % 4)}) for n in range(number)]
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def run(tmp_path: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env=surroundings(tmp_path),
        timeout=WAIT,
    )


def test_processes_give_the_same_results_in_the_same_order(tmp_path: Path) -> None:
    """Bad lines among them are told with their numbers, have no result, and make the exit code 1."""
    text = chats(tmp_path, 12).read_text().splitlines()
    text[4], text[7] = '{"messages": 3}', "no JSON"
    stdin = "\n".join(text)
    one = run(tmp_path, "-", "--budget", "700", stdin=stdin)
    three = run(tmp_path, "-", "--budget", "700", "--jobs", "3", stdin=stdin)
    assert (one.returncode, three.returncode) == (1, 1)
    assert three.stdout == one.stdout
    assert [json.loads(row)["id"] for row in three.stdout.splitlines()] == [0, 1, 2, 3, 5, 6, 8, 9, 10, 11]
    assert three.stderr == one.stderr
    assert "line 5: messages: expected an array" in three.stderr
    assert "line 8: not JSON" in three.stderr
    assert "2 lines of - could not be compressed" in three.stderr


def test_results_as_json_have_figures_also_from_processes(tmp_path: Path) -> None:
    path = str(chats(tmp_path, 3))
    done = run(tmp_path, path, "--budget", "700", "--jobs", "2", "--json", "--receipt")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    assert all(row["after"] <= 700 < row["before"] and row["receipt"]["facts"] for row in rows)
    assert "line 3: " in done.stderr


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_was_stopped_goes_on_and_ends_as_if_it_had_not_been(
    tmp_path: Path, how: signal.Signals, jobs: str
) -> None:
    """It is stopped while it waits for more input, with some lines done and noted, and some not; one had failed."""
    source, whole, out = chats(tmp_path, 2 * AHEAD + 4), tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    rows = source.read_text().splitlines(keepends=True)
    rows[1] = '{"id": 1, "messages": \n'
    source.write_text("".join(rows))
    failed = run(tmp_path, str(source), "--budget", "700", "--out", str(whole))
    assert failed.returncode == 1
    options = ("-", "--budget", "700", "--jobs", jobs, "--receipt", "--out", str(out))
    with subprocess.Popen(
        command(*options),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=surroundings(tmp_path),
        start_new_session=True,
    ) as running:
        assert running.stdin is not None
        assert running.stderr is not None
        try:
            for row in rows[:-1]:  # more than are under way: the first are told
                running.stdin.write(row)
                running.stdin.flush()
            assert "line 1: " in running.stderr.readline()
            # As a terminal does it: Ctrl-C reaches every process of the command.
            os.killpg(running.pid, how)
            code = running.wait(WAIT)
        finally:
            running.kill()
        told = running.stderr.read()
    assert not out.exists()
    assert "Traceback" not in told
    if how is signal.SIGINT:
        assert code == 130
        assert "run the same command with --resume" in told
        refused = run(tmp_path, *options, stdin="".join(rows))
        assert refused.returncode == 2
        assert "add --resume to go on there" in refused.stderr
    done = run(tmp_path, *options, "--resume", stdin="".join(rows))
    # The line that failed has no result, now as then, and the exit code says so, whichever run met it.
    assert done.returncode == 1, done.stderr
    assert out.read_bytes() == whole.read_bytes()
    assert len(out.read_text().splitlines()) == len(rows) - 1
    assert not list(tmp_path.glob("*.partial*"))


def begun(tmp_path: Path, text: str) -> tuple[Path, Path]:
    """Leave a run behind that was killed after its second line."""
    out = tmp_path / "out.jsonl"
    done = run(tmp_path, "-", "--budget", "700", "--out", str(out), stdin=text)
    assert done.returncode == 0, done.stderr
    script = (
        "import os, sys\nfrom octavo.cli import resumable\nresumable.PAUSE = 0.0\n"
        "from octavo.cli import compress\nadd = compress._Batch.add\n"
        "def stop(self, given, done):\n"
        "    add(self, given, done)\n"
        "    if given.number == 2:\n"
        "        os.kill(os.getpid(), 9)\n"
        "compress._Batch.add = stop\n"
        "from octavo.cli.main import main\nmain(sys.argv[1:])"
    )
    other = tmp_path / "other.jsonl"
    killed = subprocess.run(
        [sys.executable, "-c", script, "compress", "-", "--budget", "700", "--out", str(other)],
        input=text,
        text=True,
        check=False,
        env=surroundings(tmp_path),
        capture_output=True,
        timeout=WAIT,
    )
    assert killed.returncode == -signal.SIGKILL
    return out, other


def test_after_a_kill_it_goes_on_at_the_right_line(tmp_path: Path) -> None:
    """What was written after the last note is cut off: half a line, for example."""
    _, other = begun(tmp_path, chats(tmp_path, 5).read_text())
    noted = json.loads((tmp_path / "other.jsonl.partial.json").read_text())
    assert noted["line"] == 2
    with (tmp_path / "other.jsonl.partial").open("a") as file:
        file.write('{"half a li')
    text = chats(tmp_path, 5).read_text()
    changed = run(
        tmp_path, "-", "--budget", "700", "--out", str(other), "--resume", stdin=text.replace("Question", "Q")
    )
    assert (changed.returncode, "is not the input that was begun with" in changed.stderr) == (2, True)
    options = run(tmp_path, "-", "--budget", "800", "--out", str(other), "--resume", stdin=text)
    assert (options.returncode, "was begun with another budget" in options.stderr) == (2, True)
    done = run(tmp_path, "-", "--budget", "700", "--out", str(other), "--resume", stdin=text)
    assert done.returncode == 0, done.stderr
    assert "going on after line 2" in done.stderr
    assert other.read_bytes() == (tmp_path / "out.jsonl").read_bytes()


def test_what_cannot_be_done_is_said_before_the_first_line(tmp_path: Path) -> None:
    text = chats(tmp_path, 2).read_text()
    for options, problem in (
        (("--budget", "0", "--jobs", "2"), "budget"),
        (("--budget", "700", "--resume"), "name it with --out"),
        (("--jobs", "2", "--summariser", "same", "--db", str(tmp_path / "x.db")), "leave --jobs out"),
    ):
        done = run(tmp_path, "-", *options, stdin=text)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert problem in done.stderr


def test_lines_under_way_are_bounded_in_number() -> None:
    """Seen failing with: everything submitted before the first result is taken."""
    read, futures = [0], list[Future[LineDone]]()

    def lines() -> Iterator[RawLine]:
        for number in range(1, 1_000):
            read[0] += 1
            yield RawLine(number, b"[]")

    def submit(given: RawLine) -> Future[LineDone]:
        future: Future[LineDone] = Future()
        futures.append(future)
        if len(futures) == 2 * AHEAD:
            futures[0].set_result(LineDone(given.number))
        return future

    next(in_order(lines(), submit, 2))
    assert read == [2 * AHEAD]


def test_a_line_that_is_too_large_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octavo.cli.message_files.LARGEST", 100)
    found = read_opening(io.BytesIO(b"[]\n[" + b" " * 500 + b"]\n[]\n"))
    assert not isinstance(found, History)
    assert [(line.number, line.problem is None) for line in found] == [(1, True), (2, False), (3, True)]


def test_the_function_for_a_line_is_plain_and_goes_to_other_processes() -> None:
    """What it is given goes along, the meter too."""
    function, meter = pickle.loads(pickle.dumps((compress_line, Meter(find_card("gpt-4o")))))
    made = function(json.dumps({"id": 7, "messages": talk(8)}), budget=900, meter=meter)
    assert json.loads(made.text)["id"] == 7
    assert made.after <= 900 < made.before
    assert (made.error, "\n" in made.text) == ("", False)
    assert function("[{", budget=900).error.startswith("not JSON")
    assert octavo.compress_line is compress_line
