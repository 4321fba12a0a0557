"""Whole sessions: every command through a pipe, and the keyboard where it matters."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from octavo.cli.terminal.arguments import flags_of
from octavo.cli.terminal.commands import BY_NAME, COMMANDS, suggest
from octavo.cli.terminal.history import InputHistory
from octavo.cli.terminal.keyboard import LineEditor
from octavo.cli.terminal.screen import Screen
from octavo.cli.terminal.session import Session
from octavo.engine.engine import Engine
from octavo.engine.turn import GO_ON
from octavo.errors import BadInput
from tests.cli.kit import Done, Run, octavo
from tests.cli.scripted import MODEL, Parrot
from tests.cli.terminal.test_keyboard import BACKSPACE, CTRL_C, CTRL_D, ENTER, LONG, bracketed

TALK = ("at length 1", "at length 2", "at length 3")
ISSUE = (
    "help compress compact summarize context summary undo redo pin branches checkout edit retry find expand model "
    "settings export new conversations quit"
)


def chat(run: Run, *lines: str, parrot: Parrot | None = None, more: tuple[str, ...] = ()) -> Done:
    return run("chat", "--model", MODEL, *more, stdin="".join(f"{line}\n" for line in lines), parrot=parrot)


def said(run: Run, *lines: str) -> str:
    """Talk, then give the lines; give what the terminal showed after the talk."""
    done = chat(run, *TALK, "/rename mark", *lines)
    assert (done.code, done.err) == (0, "")
    return done.out.split("Renamed mark\n")[1]


def refused(run: Run, *lines: str) -> tuple[str, str]:
    """Talk, then give lines some of which are refused; give what was shown after the talk, and the complaints."""
    done = chat(run, *TALK, "/rename mark", *lines)
    assert done.code == 1
    return done.out.split("Renamed mark\n")[1], done.err


def test_every_command_of_the_list_is_there() -> None:
    assert set(ISSUE.split()) <= set(BY_NAME)
    assert len(BY_NAME) == sum(1 + len(command.aliases) for command in COMMANDS)


def test_a_line_is_answered(run: Run) -> None:
    done = chat(run, "hello there")
    assert done.out == "You said 11 characters: hello there\n"


def test_help_lists_every_command_and_explains_one(run: Run) -> None:
    shown = chat(run, "/help").out
    assert all(command.usage in shown for command in COMMANDS)
    assert "Ctrl-C stops an answer" in shown
    assert (
        chat(run, "/help undo").out
        == f"{'/undo [N]':30}  take a compression back\n{'':30}  also /undo-compact\n"
    )


@pytest.mark.parametrize("name", ["compress", "compact", "summarize", "COMPRESS"])
def test_compressing_by_any_name(run: Run, name: str) -> None:
    shown = said(run, f"/{name} the ports")
    assert re.search(r"^Chat history compressed from [\d,]+ to [\d,]+ tokens$", shown, re.MULTILINE)
    assert "4 messages compressed (exact lines only)" in shown


def test_a_dry_run_changes_nothing_and_tells_what_happens(run: Run) -> None:
    """Case 79."""
    shown = said(run, "/compress --dry-run --keep 0", "/summary versions", "/compress --keep 0")
    assert "  covered     6 messages  1,329 tokens compressed now" in shown
    assert "No snapshots yet." in shown
    assert "6 messages compressed" in shown


def test_an_empty_conversation_has_nothing_to_compress(run: Run) -> None:
    """Case 77: no model call."""
    parrot = Parrot()
    assert "the conversation is empty" in chat(run, "/compress", parrot=parrot).err
    assert "Nothing to compress" in chat(run, "hello", "/compress", parrot=parrot).out
    assert len(parrot.requests) == 1


def test_compressing_up_to_a_message(run: Run) -> None:
    assert "2 messages compressed" in said(run, "/compress --up-to 2")


def test_the_context_is_broken_down_and_printed_in_full(run: Run) -> None:
    parrot = Parrot()
    done = chat(
        run,
        *TALK,
        "/compress",
        "/context",
        "/rename mark",
        "/context full",
        "/rename end",
        "hello",
        parrot=parrot,
    )
    assert re.search(r"^parrot  [\d,]+ of [\d,]+ tokens", done.out, re.MULTILINE)
    assert "  snapshot" in done.out
    full = json.loads(done.out.split("Renamed mark\n")[1].split("Renamed end\n")[0])
    sent = parrot.requests[-1].messages
    assert [message["content"] for message in full["messages"]] == [message.text for message in sent[:-1]]


def test_the_summary_is_shown_edited_compared_and_listed(run: Run) -> None:
    shown = said(
        run,
        "/compress",
        "/summary",
        "/summary edit They spoke of ports.",
        "/summary",
        "/summary diff",
        "/summary versions",
    )
    assert "<earlier" in shown
    assert "The summary is version 2 now; /undo brings the other back." in shown
    assert "+They spoke of ports." in shown
    assert re.search(r"^2\*  up to message 4  version 2  edited  active", shown, re.MULTILINE)
    assert "expected edit, regen, versions, diff or receipt" in refused(run, "/summary nonsense")[1]


def test_a_summary_is_written_again_with_a_focus(run: Run) -> None:
    shown = said(run, "/compress", "/summary regen ports", "/summary versions")
    assert "version 2  regenerated  active" in shown


def test_undo_says_which_version_is_in_use_then(run: Run) -> None:
    shown, complaints = refused(
        run,
        "/compress",
        "/summary edit In short.",
        "/context",
        "/undo",
        "/context",
        "/use 2",
        "/undo 1",
        "/use",
    )
    assert re.findall(r"\(\w+, version (\d), ", shown) == ["2", "1"]
    assert "Undone: version 1, which covers 4 messages, is in use; /undo takes it back." in shown
    assert "Chosen: version 2, which covers 4 messages, is in use; /undo takes it back." in shown
    assert "Undone; it was not in use, so nothing changes in what is sent." in shown
    assert complaints == "say which one, as /summary versions numbers them: /use 1\n"


def test_undo_and_redo(run: Run) -> None:
    """Case 98: the context is the same before and after."""
    shown, complaints = refused(
        run,
        "/compress",
        "/context full",
        "/rename a",
        "/undo",
        "/rename b",
        "/redo",
        "/rename c",
        "/context full",
        "/undo 1",
        "/undo",
    )
    before = shown.split("Renamed a")[0].split("exact lines are used instead.\n")[1]
    after = shown.split("Renamed c\n")[1].split("Undone")[0]
    assert before == after
    assert "Undone: 4 messages are sent as they were again; /redo brings the compression back." in shown
    assert "Brought back: version 1, which covers 4 messages, is in use" in shown
    assert complaints == "nothing is compressed on this branch; /compress compresses the older part\n"


def test_the_receipt_names_what_is_lost_and_brings_it_back(run: Run) -> None:
    shown, complaints = refused(run, "/compress", "/receipt", "/restore nothing like it")
    assert "Receipt" in shown
    assert "'nothing like it' is no fact that this snapshot left out" in complaints


def test_the_receipt_says_why_there_is_no_summary(run: Run) -> None:
    shown = said(run, "/settings summariser none", "/compress --keep 0", "/receipt")
    receipt = shown.partition("Receipt")[2]
    assert "No model was asked: the setting summariser is none; exact lines are used instead." in receipt
    assert " by " not in receipt.partition("\n")[0]


def test_what_the_receipt_shows_as_lost_is_what_restore_takes(run: Run) -> None:
    """Also where it shows the beginning of a long sentence only."""
    rule = (
        "Service {n} must only be deployed by team {m}, and never on the day before a holiday"
        + " of any kind" * 20
    )
    talk = [rule.format(n=n, m=7 * n) for n in range(1, 14)]
    shown = chat(run, *talk, "/compress --keep 0", "/receipt").out.partition("Receipt")[2]
    cut = [name for name in re.findall(r"\d  (\S.*?…)", shown) if name.count("…") == 1]
    assert cut, shown
    done = run("chat", "--conversation", "last", stdin=f"/restore {cut[0]}\n/summary\n")
    assert (done.code, done.err) == (0, "")
    assert f"Added back the line with {cut[0]}" in done.out
    assert cut[0].removesuffix("…") in done.out.rpartition("Added back")[2].partition("\n")[2]


def test_rules_are_listed_dropped_and_pinned(run: Run) -> None:
    done = chat(
        run,
        "Never push to main. Now at length 1",
        "Call me Max. Now at length 2",
        *TALK,
        "/rules",
        "/compress --keep 0",
        "/rules",
        "/rules pin 2",
        "/pin",
        "/rules drop 1",
        "/rules",
        "/receipt",
        "/undo",
        "/rules",
        "/rules drop 3",
        "/rules lift 1",
        "/rules drop",
    )
    both = ["1  Never push to main.  message 1", "2  Call me Max.  message 3"]
    listed = [line for line in done.lines if re.search(r"  message \d$", line)]
    assert listed == [*both, "1  Call me Max.  message 3", *both]
    assert "Pinned rule 2: it is always sent word for word." in done.out
    assert "Dropped rule 1: it is not found again; /undo brings it back." in done.out
    assert "rules, preferences, decisions: 1 of 1 kept word for word" in done.out
    assert done.err.splitlines() == [
        "nothing is compressed on this branch; /compress compresses the older part",
        "there is no rule 3; /rules lists 2",
        "rules: expected nothing, drop or pin, got 'lift'",
        "rule: expected a number from 1 on, got ''",
    ]


def test_compressed_messages_are_found_and_expanded(run: Run) -> None:
    """Case 85."""
    shown = said(run, "/compress", "/find service1", "/expand", "/expand 1", "/expand 1-2", "/find nowhere")
    assert "    2 assistant The port of service1 is 8001." in shown
    assert "   1 User      at length 1" in shown
    assert "1 User\nat length 1\n" in shown
    assert shown.count("2 Assistant\nThe port of service1") == 1
    assert "Nothing found." in shown


def test_pins(run: Run) -> None:
    shown, complaints = refused(
        run, "/pin", "/pin 1", "/pin 2 service1 is 8001", "/pin 2 not in it", "/pin", "/unpin 1", "/unpin 1"
    )
    assert "Nothing is pinned" in shown
    assert "Pinned message 1: it is always sent word for word." in shown
    assert "Pinned part of message 2" in shown
    assert "does not contain this text" in complaints
    assert "   2 part of it service1 is 8001" in shown
    assert "Unpinned message 1." in shown
    assert "message 1 is not pinned" in complaints


def test_an_edit_is_a_branch_and_the_old_one_stays(run: Run) -> None:
    shown, complaints = refused(
        run,
        "/edit 5 another question",
        "/branches",
        "/checkout 1",
        "/history 2",
        "/checkout 2",
        "/checkout 9",
        "/edit 2 x",
    )
    assert "You said 16 characters: another question" in shown
    assert "   1  6 messages  The port of service3" in shown
    assert "*  2  6 messages  You said 16 characters" in shown
    assert "Branch 1 with 6 messages:" in shown
    assert "there is no branch 9; /branches lists 2" in complaints
    assert "message 2 is not yours" in complaints


def test_another_answer_is_a_branch(run: Run) -> None:
    shown = said(run, "/retry", "/branches")
    assert shown.count("The port of service3") == 3
    assert "*  2" in shown


def test_the_model_and_settings_belong_to_the_conversation(run: Run) -> None:
    shown, complaints = refused(
        run,
        "/model gpt-4o",
        "/model",
        "/settings soft 0.7",
        "/settings soft",
        "/settings soft unset",
        "/settings",
        "/settings nope",
        "/settings soft 9",
    )
    assert shown.startswith("gpt-4o\ngpt-4o\nsoft 0.7")
    assert "soft not set" in shown
    assert "summariser" in shown
    assert "nope: unknown setting" in complaints
    assert "soft: expected a number above 0 and up to 1" in complaints
    assert run("settings", "get", "soft").code == 1


def test_settings_before_the_first_message_are_kept_for_it(run: Run) -> None:
    chat(run, "/settings soft 0.6", "hello", more=("--policy", "onyx", "--system", "Be a parrot."))
    found = run("settings", "list", "--conversation", "last", "--json").json
    assert (found["soft"], found["policy"], found["system"], found["model"]) == (
        0.6,
        "onyx",
        "Be a parrot.",
        MODEL,
    )


def test_a_setting_can_hold_everywhere(run: Run) -> None:
    chat(run, "/settings soft 0.6 --everywhere")
    assert run("settings", "get", "soft").out == "0.6\n"


def test_exports(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    shown, complaints = refused(
        run,
        f"/export {path} --format openai",
        f"/export {path}",
        f"/export {path} --force",
        "/export --format nope",
    )
    assert f"Written {path}" in shown
    assert f"{path} exists; name another file, or say --force" in complaints
    assert path.read_text().startswith("# mark\n")
    assert "unknown format" in complaints


def test_conversations_are_begun_listed_and_opened(run: Run) -> None:
    """Case 83: what is shown belongs to the conversation that is open."""
    shown, complaints = refused(
        run,
        "/compress",
        "/new Second",
        "/summary",
        "hello",
        "/conversations",
        "/conversations mark",
        "/summary versions",
        "/open nope",
    )
    assert "A new conversation" in shown
    assert "the conversation is empty" in complaints
    assert re.search(r"^[0-9a-f]{8}  Second +2", shown, re.MULTILINE)
    assert re.search(r"^mark  [0-9a-f]{8} · 6 messages$", shown, re.MULTILINE)
    assert "1*  up to message 4" in shown
    assert "there is no conversation 'nope'" in complaints


def test_a_conversation_goes_on_where_it_was(run: Run) -> None:
    chat(run, *TALK, "/rename Ports", "/compress")
    done = run("chat", "--conversation", "Ports", stdin="hello\n")
    assert done.lines[0].startswith("Ports  ")
    assert done.lines[-1] == "You said 5 characters: hello"
    assert run("chat", "--conversation", "nope", stdin="").code == 2
    assert run("chat", "--model", MODEL, "--policy", "nope", stdin="hello\n").err.count("unknown policy") == 1


def test_nothing_is_stored_for_a_session_without_a_message(run: Run) -> None:
    chat(run, "/help", "/quit", "never read")
    assert run("conversations", "--json").json == []


@pytest.mark.parametrize("word", ["/quit", "/exit", "/q"])
def test_leaving(run: Run, word: str) -> None:
    assert chat(run, word, "hello").out == ""


def test_without_a_model_it_is_said_what_to_do(run: Run) -> None:
    done = run("chat", stdin="hello\n")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "such as OPENAI_API_KEY" in done.err
    assert "--model NAME" in done.err


def test_a_model_that_only_its_owner_can_name_is_asked_for(environment: dict[str, str]) -> None:
    own = environment | {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://nobody.invalid"}
    done = octavo("chat", environment=own, stdin="hello\n")
    assert done.code == 2
    assert "--model azure/DEPLOYMENT" in done.err


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("fail now", "No answer: the parrot is asleep"),
        ("/compress", "the conversation is empty"),
        ("/nosuch", "there is no command /nosuch"),
        ("/open nope", "there is no conversation 'nope'"),
    ],
)
def test_what_fails_in_a_pipe_is_told_on_standard_error_and_by_the_exit_code(
    run: Run, typed: str, complaint: str
) -> None:
    done = chat(run, typed, "hello")
    assert done.code == 1
    assert complaint in done.err
    assert done.out == "You said 5 characters: hello\n"


def test_an_answer_that_fails_leaves_the_message_and_can_be_asked_again(run: Run) -> None:
    done = chat(run, "fail now", "/history")
    assert "No answer: the parrot is asleep\nYour message is stored; /retry asks again.\n" in done.err
    assert "   1 User      fail now" in done.out


def test_a_model_that_is_asked_again_is_told_of(run: Run) -> None:
    done = chat(run, "again please")
    assert "the parrot answered 503: not now; trying again in 0 s, 2 of 4\n" in done.out
    assert "You said 12 characters: again please" in done.out


def test_a_full_window_is_compressed_before_the_answer(run: Run) -> None:
    done = chat(run, *(f"at length {n}" for n in range(1, 14)), "/summary versions")
    assert done.code == 0
    assert "\nChat history compressed from" in done.out
    assert not re.search(r"[^\n]Chat history compressed", done.out), "never in the middle of an answer"
    assert re.search(r"^1\*? +up to message \d+ .* auto ", done.out, re.MULTILINE)


def test_a_message_that_begins_with_a_slash_is_written_with_two(run: Run) -> None:
    parrot = Parrot()
    chat(run, "//etc/hosts is broken", "  //x", parrot=parrot)
    assert [request.messages[-1].text for request in parrot.requests] == ["/etc/hosts is broken", "/x"]


def test_an_unknown_command_is_named_and_a_near_one_offered(run: Run) -> None:
    shown = chat(run, "/compres", "/zzz").err
    assert "there is no command /compres: did you mean /compress?" in shown
    assert "there is no command /zzz: /help lists them" in shown


tails = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["", " ", "\t"]), st.sampled_from([*BY_NAME, "zzz", ""]), tails), max_size=6
    )
)
def test_no_slash_command_reaches_a_model(run: Run, typed: list[tuple[str, str, str]]) -> None:
    """Case 108. Seen failing with: a command behind a space sent as a message."""
    lines = [
        f"{space}/{name} {tail}"
        for space, name, tail in typed
        if name not in ("retry", "regenerate", "edit", "quit")
    ]
    parrot = Parrot()
    chat(run, *lines, parrot=parrot)
    assert parrot.requests == []


def test_flags_are_taken_out_of_what_is_typed() -> None:
    known = {"valued": ("--keep",), "bare": ("--dry-run",)}
    assert flags_of("--keep 5 the ports", **known) == ({"--keep": "5"}, "the ports")
    assert flags_of("the ports --dry-run", **known) == ({"--dry-run": ""}, "the ports")
    assert flags_of("keep the --verbose flag", **known) == ({}, "keep the --verbose flag")
    assert flags_of("--keep=0.3", **known) == ({"--keep": "0.3"}, "")
    for wrong in ("--dryrun", "--keep"):
        with pytest.raises(BadInput):
            flags_of(wrong, **known)


def interrupted(environment: dict[str, str], when: str, by: signal.Signals) -> None:
    """Run the program and send it a signal in the middle of an answer, once it has said so much."""
    command = [sys.executable, "-m", "tests.cli.scripted", "chat", "--model", MODEL]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[3],
        bufsize=0,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"slowly\n")
        seen = b""
        while when.encode() not in seen:
            seen += process.stdout.read(8)
        process.send_signal(by)
        process.wait(60)


@pytest.mark.parametrize("signal_name", ["SIGHUP", "SIGINT"])
def test_what_was_said_when_the_terminal_went_away_is_kept(
    environment: dict[str, str], run: Run, signal_name: str
) -> None:
    """As when a connection breaks: the unfinished answer is stored as aborted."""
    interrupted(environment, "word5 ", getattr(signal, signal_name))
    nodes = run("show", "last", "--json").json["nodes"]
    assert [node["status"] for node in nodes] == ["complete", "aborted"]
    assert nodes[1]["message"]["parts"][0]["text"].startswith("word1 word2 word3 word4 word5")


def test_what_was_said_when_the_program_was_killed_is_kept_and_can_be_gone_on_with(
    environment: dict[str, str], run: Run
) -> None:
    """All but what came in the last second."""
    interrupted(environment, "word60 ", signal.SIGKILL)
    done = chat(run, "/continue", "/continue", more=("--conversation", "last"))
    assert "[interrupted]" in done.out
    assert "The last answer was interrupted. /continue goes on with it, /retry asks again." in done.out
    assert f"You said {len(GO_ON)} characters: {GO_ON[:60]}" in done.out
    assert "the last answer is complete" in done.err
    nodes = run("show", "last", "--json").json["nodes"]
    assert [node["status"] for node in nodes] == ["complete", "aborted", "complete"]
    kept = nodes[1]["message"]["parts"][0]["text"].split()
    assert kept == [f"word{number}" for number in range(1, len(kept) + 1)]
    assert len(kept) > 5


# With a keyboard


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a session is played."""

    pipe: PipeInput
    session: Session
    parrot: Parrot
    screen: io.StringIO

    def send(self, *keys: str) -> None:
        self.pipe.send_text("".join(keys))


Play = Callable[[Stage], Awaitable[None]]


def played(
    database: Path, play: Play, history: Path | None = None
) -> tuple[str, list[tuple[str, str, str]], Parrot]:
    """Run a session whose keys come from `play`; give the screen, what is stored, and the model."""
    out, parrot = io.StringIO(), Parrot()

    async def session(pipe: PipeInput) -> list[tuple[str, str, str]]:
        parrot.waiting = asyncio.Event()
        sessions: list[Session] = []
        engine = await Engine.open(
            database, model=MODEL, provider=parrot, listen=lambda id, event: sessions[0].overhear(id, event)
        )
        async with engine:
            keyboard = LineEditor(
                history=InputHistory(history),
                suggest=lambda text: suggest(sessions[0], text),
                status=lambda: sessions[0].status(),
            )
            sessions.append(Session(engine, Screen(out, {}), keyboard))
            work = asyncio.create_task(sessions[0].run())
            await play(Stage(pipe, sessions[0], parrot, out))
            await asyncio.wait_for(work, 30)
            stored = await engine.conversations()
            nodes = [node async for node in engine.store.tree.whole(stored[0].id)] if stored else []
            return [(node.message.role, node.status, node.message.text) for node in nodes]

    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        nodes = asyncio.run(session(pipe))
    return out.getvalue(), nodes, parrot


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that is about to happen."""
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen")


def test_a_paste_is_stored_as_it_was_pasted(database: Path) -> None:
    """Case 91."""

    async def play(stage: Stage) -> None:
        stage.send("see " + bracketed(LONG) + ENTER + CTRL_D)

    _, nodes, parrot = played(database, play)
    assert nodes[0] == ("user", "complete", f"see {LONG}")
    assert parrot.requests[0].messages[-1].text == f"see {LONG}"


def test_the_meter_counts_what_is_typed_with_its_pastes(database: Path) -> None:
    async def play(stage: Stage) -> None:
        stage.send(bracketed("word " * 300))
        await until(lambda: stage.session.keyboard.pending != "")
        assert stage.session._count_typed() > 290
        stage.send(BACKSPACE)
        await until(lambda: stage.session.keyboard.pending == "")
        assert stage.session._count_typed() == 0
        stage.send("/find " + "word " * 20)
        await until(lambda: stage.session.keyboard.pending != "")
        assert stage.session._count_typed() == 0
        stage.send(CTRL_C + CTRL_D)

    assert played(database, play)[1] == []


def test_ctrl_c_stops_an_answer_and_what_was_said_stays(database: Path) -> None:
    async def play(stage: Stage) -> None:
        stage.send("slowly now" + ENTER)
        await until(lambda: bool(stage.parrot.requests))
        stage.send("typed meanwhile" + CTRL_C + ENTER + CTRL_D)

    screen, nodes, _ = played(database, play)
    assert nodes[:2] == [("user", "complete", "slowly now"), ("assistant", "aborted", "word1 word2 word3")]
    assert "Stopped. What was said is kept; /retry asks again, /continue goes on with it.\n" in screen
    assert nodes[2] == ("user", "complete", "typed meanwhile")


def test_ctrl_c_twice_leaves(database: Path) -> None:
    async def play(stage: Stage) -> None:
        stage.send(CTRL_C)
        await until(lambda: stage.session._warned)
        stage.send(CTRL_C)

    screen, nodes, _ = played(database, play)
    assert screen == "Ctrl-C again leaves.\n"
    assert nodes == []


def test_ctrl_c_after_stopping_an_answer_leaves(database: Path) -> None:
    async def play(stage: Stage) -> None:
        stage.send("slowly now" + ENTER)
        await until(lambda: bool(stage.parrot.requests))
        stage.send(CTRL_C)
        await until(lambda: stage.session._warned)
        stage.send(CTRL_C)

    assert played(database, play)[1][1][1] == "aborted"


def test_an_edit_opens_the_old_text(database: Path) -> None:
    async def play(stage: Stage) -> None:
        stage.send("hello" + ENTER + "/edit" + ENTER + " again" + ENTER + CTRL_D)

    assert [text for role, _, text in played(database, play)[1] if role == "user"] == ["hello", "hello again"]


def test_a_compression_in_the_background_is_told_when_it_is_done(database: Path) -> None:
    """The prepare mark lies at 1,864 tokens and the soft one at 2,294; each turn has about 445."""

    async def play(stage: Stage) -> None:
        for number in range(1, 6):
            stage.send(f"at length {number}", ENTER)
        stage.send("half a sen")
        await until(lambda: "Chat history compressed from" in stage.screen.getvalue())
        stage.send("tence", ENTER, "/summary versions", ENTER, CTRL_D)

    screen, nodes, _ = played(database, play)
    assert screen.index("The port of service5") < screen.index("Chat history compressed from")
    assert re.search(r"1\*  up to message \d+  version 1  auto  active", screen)
    assert ("user", "complete", "half a sentence") in nodes


def test_input_is_remembered_across_runs_and_commands_are_offered(database: Path, tmp_path: Path) -> None:
    async def first(stage: Stage) -> None:
        stage.send("hello there" + ENTER + CTRL_D)

    async def second(stage: Stage) -> None:
        stage.send("\x1b[A" + ENTER + CTRL_D)
        await until(lambda: bool(stage.session.known))
        assert suggest(stage.session, "/comp") == (
            4,
            [(n, c.says) for n, c in BY_NAME.items() if n.startswith("comp")],
        )
        assert suggest(stage.session, "/open hel") == (3, [("hello there", "2 messages")])
        assert ("gpt-4o-mini", "128,000 tokens") in list(suggest(stage.session, "/model gpt-4o-m")[1])
        assert suggest(stage.session, "hello /comp") == (0, ())

    played(database, first, tmp_path / "history.jsonl")
    _, _, parrot = played(database, second, tmp_path / "history.jsonl")
    assert parrot.requests[0].messages[-1].text == "hello there"


def test_what_was_recalled_is_told_in_a_line_and_listed(run: Run) -> None:
    lines = said(
        run,
        "/recall",
        "/compress",
        "/recall",
        "Which port has service1?",
        "/recall",
        "/recall the ports of service2",
        "/recall thanks",
        "/settings recall off",
        "And the port of service2?",
    ).splitlines()
    assert lines.count("Nothing was recalled.") == 2
    told = [line for line in lines if "earlier message" in line]
    assert len(told) == 1
    assert re.fullmatch(
        r"\d earlier messages? recalled, [\d,]+ tokens; /recall lists what was found", told[0]
    )
    heads = [at for at, line in enumerate(lines) if re.fullmatch(r"[0-9a-f]{8}  assistant  \S+", line)]
    listed = [lines[at + 1] for at in heads]
    assert any(line.startswith("  The port of service1 is 8001.") for line in listed)
    assert any(line.startswith("  The port of service2 is 8002.") for line in listed)
    assert lines.count("Nothing was found.") == 1
    assert lines.index(told[0]) < heads[0]
