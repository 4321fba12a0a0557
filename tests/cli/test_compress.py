"""`compress`, `count`, `plan`: on files, in pipes, on real conversations, and on what is none."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from octavo.core.context import Context
from octavo.core.protocol import RULES, check
from octavo.core.reply import Request
from octavo.core.wire import detect, read
from octavo.meters.cards import find_card
from octavo.meters.meter import Meter
from tests.cli.kit import DATA, Run, octavo, plainly
from tests.cli.scripted import Parrot

LONG = "The service ledger listens on port 5433 and must answer within 200 ms. " * 12


def talk(turns: int) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for number in range(turns):
        said.append({"role": "user", "content": f"Question {number}: {LONG}"})
        said.append({"role": "assistant", "content": f"Answer {number}: {LONG}"})
    return said


GPT = Meter(find_card("gpt-4o"))


def tokens(messages: list[dict[str, Any]]) -> int:
    return GPT.read(Context(retained=read(detect(messages), messages))).tokens


def test_a_history_is_made_to_fit_in_its_own_format(run: Run) -> None:
    done = run("compress", "-", "--budget", "1000", stdin=json.dumps(talk(12)))
    assert done.code == 0
    assert tokens(done.json) <= 1_000
    assert done.json[-1]["content"] == talk(12)[-1]["content"]
    assert "messages compressed" in done.err
    assert "kept word for word" in done.err


def test_a_history_that_fits_comes_out_as_it_went_in(run: Run) -> None:
    text = json.dumps(talk(1), indent=2) + "\n"
    done = run("compress", stdin=text)
    assert done.out == text
    assert "it fits; nothing was changed" in done.err


def test_the_body_of_a_request_keeps_what_it_holds_besides(run: Run) -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 99, "system": "Be brief.", "messages": talk(8)}
    done = run("compress", "--budget", "900", "--model", "claude-sonnet-4-5", stdin=json.dumps(body))
    assert {key: done.json[key] for key in ("model", "max_tokens", "system")} == {
        key: body[key] for key in ("model", "max_tokens", "system")
    }
    said = read("anthropic", done.json["messages"], done.json["system"])
    assert Meter(find_card("claude-sonnet-4-5")).read(Context(retained=said)).tokens <= 900


def test_gemini_contents_stay_gemini_contents(run: Run) -> None:
    contents = [
        {
            "role": "model" if message["role"] == "assistant" else "user",
            "parts": [{"text": message["content"]}],
        }
        for message in talk(8)
    ]
    done = run("compress", "--budget", "900", stdin=json.dumps({"contents": contents}))
    assert done.code == 0
    assert all("parts" in message for message in done.json["contents"])
    assert len(done.json["contents"]) < len(contents)


def test_lines_come_out_as_lines_to_a_file(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(message) + "\n" for message in talk(8)))
    done = run("compress", str(source), "--ratio", "0.4", "--out", str(out), "--receipt")
    assert (done.code, done.out) == (0, "")
    messages = [json.loads(line) for line in out.read_text().splitlines()]
    assert tokens(messages) <= 0.4 * tokens(talk(8))
    assert "facts" in done.err
    assert list(tmp_path.glob("*.partial")) == []


def test_the_result_as_json_has_figures_and_receipt(run: Run) -> None:
    done = run("compress", "--budget", "1000", "--json", stdin=json.dumps(talk(12)))
    assert done.json["before"] > 1_000 >= done.json["after"]
    assert done.json["covered"] < done.json["of"] == 24
    assert done.json["receipt"]["facts"]["number"]["counts"][0] >= 1


def test_the_focus_is_kept_first(run: Run) -> None:
    said = talk(12)
    said[1]["content"] += " The password of the printer is swordfish."
    said[3]["content"] += " The cat of the neighbour is called Minka."
    for focus, wanted in (("printer password", "swordfish"), ("cat of the neighbour", "Minka")):
        assert wanted in run("compress", "--budget", "700", "--focus", focus, stdin=json.dumps(said)).out


def test_a_summariser_retells_what_is_covered(run: Run) -> None:
    done = run("compress", "--budget", "1500", "--summariser", "same", "--json", stdin=json.dumps(talk(12)))
    assert done.code == 0
    assert done.json["after"] <= 1_500


@pytest.mark.parametrize(("name", "temperature"), [("local/small", 0.0), ("gpt-4o", None)])
def test_an_embedded_summariser_is_asked_the_way_the_engine_asks_it(
    environment: dict[str, str], name: str, temperature: float | None
) -> None:
    parrot = Parrot()
    said = json.dumps(talk(12))
    octavo(
        "compress",
        "--budget",
        "1500",
        "--summariser",
        name,
        environment=environment,
        stdin=said,
        parrot=parrot,
    )
    assert parrot.requests
    assert {request.temperature for request in parrot.requests} == {temperature}


def test_a_policy_that_speaks_in_the_system_prompt_needs_a_place_for_it(run: Run) -> None:
    said = [{"role": m["role"], "content": [{"type": "text", "text": m["content"]}]} for m in talk(8)]
    bare = run(
        "compress", "--budget", "900", "--policy", "wave", "--format", "anthropic", stdin=json.dumps(said)
    )
    assert bare.code == 2
    assert "give an object with `messages`" in bare.err
    body = json.dumps({"messages": said})
    whole = run("compress", "--budget", "900", "--policy", "wave", "--format", "anthropic", stdin=body)
    assert "[Compressed Message Summary]" in json.dumps(whole.json["system"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--budget", "0"], "budget"),
        (["--budget", "100", "--ratio", "0.5"], "not both"),
        (["--ratio", "1.5"], "ratio"),
        (["--policy", "nope"], "unknown policy"),
        (["--keep", "some", "--budget", "500"], "keep"),
        (["--format", "xml"], "unknown format"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_make_no_sense_are_usage_errors(run: Run, options: list[str], problem: str) -> None:
    done = run("compress", *options, stdin=json.dumps(talk(8)))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert problem in done.err


@pytest.mark.parametrize("last", ["user", "assistant"])
def test_what_cannot_fit_fails_with_the_sum(run: Run, last: str) -> None:
    said = talk(2)[: 4 if last == "assistant" else 3]
    done = run("compress", "--budget", "5", stdin=json.dumps(said))
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "5" in done.err


BAD: dict[str, bytes] = {
    "empty": b"",
    "truncated": json.dumps(talk(4)).encode()[:1000],
    "wrong types": b'[{"role": 7, "content": {}}]',
    "wrong role": b'[{"role": "wizard", "content": "hi"}]',
    "not messages": b'{"a": 1}',
    "binary": bytes(range(256)) * 64,
    "text": b"Dear Sir or Madam,\n",
}


@pytest.mark.parametrize("command", ["compress", "count", "plan"])
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_one_clear_line_and_exit_code_2(
    run: Run, tmp_path: Path, command: str, kind: str
) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(BAD[kind])
    done = run(command, str(path))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"octavo: {path}")


def test_a_file_that_is_not_there_is_one_clear_line(run: Run, tmp_path: Path) -> None:
    done = run("compress", str(tmp_path / "none.json"))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "No such file" in done.err


def test_a_file_that_cannot_be_written_is_one_clear_line(run: Run, tmp_path: Path) -> None:
    done = run("compress", "--out", str(tmp_path / "no" / "folder.json"), stdin=json.dumps(talk(1)))
    assert (done.code, done.err.count("\n")) == (2, 1)


MEGABYTES = 200
ALLOWED = 700
"""Megabytes of memory: what one conversation of the largest size may take, read and decoded."""


@pytest.mark.parametrize("kind", ["one line", "an array", "zeros"])
def test_200_megabytes_are_refused_within_bounded_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "huge.json"
    message = b'{"role": "user", "content": "' + b"x" * 1_000_000 + b'"}'
    with path.open("wb") as file:
        if kind == "zeros":
            file.truncate(MEGABYTES << 20)
        else:
            ending = b",\n" if kind == "an array" else b","
            file.write(b"[\n" if kind == "an array" else b"[")
            for _ in range(MEGABYTES):
                file.write(message + ending)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (ALLOWED << 20, ALLOWED << 20))

    done = subprocess.run(
        [sys.executable, "-m", "octavo", "compress", str(path), "--budget", "1000"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f"octavo: {path}: line 1" in done.stderr


def test_ctrl_c_stops_at_once_and_says_how_to_go_on(tmp_path: Path) -> None:
    """Also while it reads, and nobody knows whether more will come."""
    out = tmp_path / "smaller.jsonl"
    command = [
        sys.executable,
        "-m",
        "octavo",
        "compress",
        "-",
        "--budget",
        "900",
        "--receipt",
        "--out",
        str(out),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        line = json.dumps({"messages": talk(8)})
        running.stdin.write(f"{line}\n{line}\n")
        running.stdin.flush()
        assert "line 1" in running.stderr.readline()
        running.send_signal(signal.SIGINT)
        try:
            assert running.wait(60) == 130
        finally:
            running.kill()
        told = running.stderr.read()
        assert "Traceback" not in told
        assert "run the same command with --resume" in told
        assert running.stdout.read() == ""
    assert {path.name for path in tmp_path.iterdir()} == {
        "smaller.jsonl.partial",
        "smaller.jsonl.partial.json",
    }


@pytest.mark.parametrize("place", ["/", "/proc/self/mem", "folder", "missing/file"])
def test_a_place_that_cannot_be_written_is_one_sentence(run: Run, tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    path = tmp_path / place
    done = run("compress", "--budget", "900", "--out", str(path), stdin=json.dumps(talk(8)))
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith(f"octavo: cannot write {path}: ")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("folder")] == ["folder"]


def test_what_is_no_file_is_written_to_and_not_replaced(run: Run, tmp_path: Path) -> None:
    """As root, `--out /dev/full` would otherwise make a file of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run("compress", "--budget", "900", "--out", str(pipe), stdin=json.dumps(talk(8))).code == 0
    assert pipe.is_fifo()
    assert json.loads(os.read(reader, 1 << 16))
    os.close(reader)


def test_a_link_keeps_pointing_to_the_file_that_is_written(run: Run, tmp_path: Path) -> None:
    link, file = tmp_path / "link.json", tmp_path / "file.json"
    link.symlink_to(file)
    assert run("compress", "--budget", "900", "--out", str(link), stdin=json.dumps(talk(8))).code == 0
    assert link.is_symlink()
    assert json.loads(file.read_text())


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="this system has no such file")
@pytest.mark.parametrize(
    "command", [("compress", "--budget", "900"), ("count",), ("count", "--text"), ("import",)]
)
def test_a_file_that_cannot_be_read_is_one_sentence_that_names_it(run: Run, command: tuple[str, ...]) -> None:
    done = run(*command, "/proc/self/mem")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "/proc/self/mem" in done.err


def test_many_conversations_are_compressed_one_at_a_time(run: Run) -> None:
    """A broken line is told by its number; those before it and after it are done."""
    good = json.dumps({"id": 1, "messages": talk(8)})
    done = run("compress", "--budget", "900", stdin=f"{good}\n\n{{broken\n{good}\n")
    assert (done.code, len(done.lines)) == (1, 2)
    told = done.err.splitlines()
    assert told[0].startswith("octavo: -: line 3: not JSON: Expecting property name")
    assert told[1].startswith("3 conversations: ")
    assert told[2:] == ["octavo: 1 line of - could not be compressed, as told above; all others are done"]
    assert [json.loads(line)["id"] for line in done.lines] == [1, 1]


def test_what_is_left_out_is_not_called_lost(run: Run) -> None:
    done = run("compress", "--budget", "300", "--receipt", stdin=json.dumps(talk(30)))
    assert "left out" in done.err
    brief = run("compress", "--budget", "300", stdin=json.dumps(talk(30))).err
    assert "left out: stored, but no longer seen by the model" in brief
    assert "lost" not in done.err + brief + run("--help").out
    assert "exact ±" not in run("count", stdin=json.dumps(talk(1))).out


def test_counting_tells_basis_and_roles(run: Run) -> None:
    done = run("count", "--json", stdin=json.dumps([{"role": "system", "content": "Be brief."}, *talk(1)]))
    assert done.json["tokens"] == sum(done.json["by_role"].values())
    assert set(done.json["by_role"]) == {"system", "user", "assistant", "frame"}
    assert (done.json["basis"], done.json["messages"], done.json["model"]) == ("exact", 3, "gpt-4o")
    assert (
        f"{done.json['tokens']:,} tokens (exact" in run("count", stdin=json.dumps(talk(1))).out
        or done.code == 0
    )


def test_tools_are_counted(run: Run) -> None:
    tool = {"type": "function", "function": {"name": "find", "description": "Find it.", "parameters": {}}}
    bare = run("count", "--json", stdin=json.dumps({"messages": talk(1)})).json
    more = run("count", "--json", stdin=json.dumps({"messages": talk(1), "tools": [tool]})).json
    assert more["tokens"] > bare["tokens"]
    assert run("count", stdin=json.dumps({"messages": talk(1), "tools": 3})).code == 2


def test_plain_text_can_be_counted(run: Run) -> None:
    assert run("count", "--text", stdin="Hello, world!").out == "4 tokens (exact, gpt-4o)\n"
    assert run("count", "--text", "--json", stdin="Hello, world!").json["tokens"] == 4


class Counter(Parrot):
    """A provider that counts, and finds ten tokens more for each message and tool than anybody sees."""

    async def count_request(self, request: Request) -> int:
        self.requests.append(request)
        seen = Meter(find_card("gpt-4o")).read(Context(tools=request.tools, retained=request.messages))
        return seen.tokens + 10 * (len(request.messages) + len(request.tools))


def test_the_providers_own_count_stands_beside_ours(environment: dict[str, str]) -> None:
    tool = {"type": "function", "function": {"name": "find", "description": "Find it.", "parameters": {}}}
    text, counter = json.dumps({"messages": talk(1), "tools": [tool]}), Counter()
    ours = octavo("count", "--json", environment=environment, stdin=text).json["tokens"]
    done = octavo("count", "--remote", environment=environment, stdin=text, parrot=counter)
    assert done.lines[0].startswith(f"{ours:,} tokens (")
    assert done.lines[-1] == f"{ours + 30:,} tokens by the provider's own count: 30 more"
    assert [len(request.tools) for request in counter.requests] == [1]
    both = octavo("count", "--remote", "--json", environment=environment, stdin=text, parrot=counter).json
    assert (both["tokens"], both["remote"]) == (ours, ours + 30)


def test_where_no_provider_counts_it_is_said(run: Run, environment: dict[str, str]) -> None:
    done = run("count", "--remote", stdin=json.dumps(talk(1)))
    assert (done.code, done.out) == (2, "")
    assert "parrot offers no count of its own" in done.err
    keyless = plainly("count", "--remote", "-m", "claude-opus-4-8", environment=environment, stdin="[]")
    assert (keyless.code, keyless.out) == (2, "")
    assert "ANTHROPIC_API_KEY" in keyless.err
    assert run("count", "--remote", "--text", stdin="Hi").code == 2


def test_an_unknown_model_is_said_to_be_assumed(run: Run) -> None:
    assert "window assumed" in run("count", "--model", "unheard-of", stdin=json.dumps(talk(1))).out


def test_the_plan_is_what_happens(run: Run) -> None:
    """Case 79: the numbers of the preview are those of the compression."""
    text = json.dumps(talk(12))
    plan = run("plan", "--budget", "1000", "--keep", "0.4", "--json", stdin=text).json
    done = run("compress", "--budget", "1000", "--keep", "0.4", "--json", stdin=text).json
    assert [plan[key] for key in ("tokens", "after", "covered")] == [
        done[key] for key in ("before", "after", "covered")
    ]
    assert plan["covered"] + plan["retained"] == plan["messages"] == 24


def test_a_plan_without_a_budget_is_about_the_window(run: Run) -> None:
    shown = run("plan", "--model", "gpt-4o", stdin=json.dumps(talk(1))).out
    assert shown.startswith("nothing: it fits under the mark of 84,172 tokens\n")
    assert "  window     128,000  gpt-4o" in shown


BUDGETS = {
    "agent_miniswe": 8_000,
    "agent_pi_sessions": 32_000,
    "agent_tau_airline": 2_500,
    "locomo10": 6_000,
    "longmemeval_merged": 12_000,
    "oasst1_en_trees": 400,
}
"""Files and what they are to fit in: less than nearly all of their conversations, more than their longest message."""


@pytest.mark.parametrize("name", BUDGETS)
def test_real_conversations_come_out_valid_and_under_budget(name: str, tmp_path: Path) -> None:
    """In a real pipe, every conversation: what is printed parses, obeys the provider's rules, and fits."""
    path, budget = DATA / f"{name}.jsonl.gz", BUDGETS[name]
    if not path.exists():
        pytest.skip("the shared data is not here")
    text = gzip.decompress(path.read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "octavo", "compress", "-", "--budget", str(budget)],
        input=text,
        capture_output=True,
        check=False,
        env={**os.environ, "OCTAVO_DATA": str(tmp_path)},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    given, printed = map(json.loads, text.splitlines()), map(json.loads, done.stdout.splitlines())
    for before, after in zip(given, printed, strict=True):
        assert {**after, "messages": 0} == {**before, "messages": 0}
        assert after["messages"]
        assert tokens(after["messages"]) <= budget
        if after["messages"] != before["messages"]:
            assert list(check(read("openai", after["messages"]), RULES["openai"])) == []


def test_a_file_of_something_else_is_refused(run: Run) -> None:
    path = DATA / "claude_counts.jsonl.gz"
    if not path.exists():
        pytest.skip("the shared data is not here")
    done = run("compress", stdin=gzip.decompress(path.read_bytes()))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "line 1: expected messages" in done.err
