"""`conversations`, `show`, `search`, `stats` on a stored conversation."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from octavo.cli.lines import plain
from octavo.cli.usage_charts import AnswerUsage, blocks, by_day, day_lines
from octavo.store import Store
from tests.cli.kit import Run
from tests.cli.scripted import MODEL


def test_conversations_are_listed_and_filtered(talked: Run) -> None:
    assert re.fullmatch(
        r"[0-9a-f]{8}  Ports         6  \d{4}-\d\d-\d\d \d\d:\d\d", talked("conversations").lines[1]
    )
    (found,) = talked("conversations", "--json").json
    assert (found["title"], found["messages"], found["archived"]) == ("Ports", 6, False)
    assert talked("conversations", "--title", "nothing like it", "--json").json == []


def test_conversations_are_labelled_and_listed_by_label(talked: Run) -> None:
    assert talked("label", "last").lines == ["no labels"]
    assert talked("label", "last", "work", "ports").lines == ["ports", "work"]
    assert talked("conversations", "--label", "work").lines[1].endswith("  ports, work")
    assert talked("label", "last", "--remove", "ports", "--json").json == ["work"]
    (found,) = talked("conversations", "--label", "work", "--json").json
    assert found["labels"] == ["work"]
    assert talked("conversations", "--label", "ports", "--json").json == []


def test_a_conversation_is_found_by_id_end_title_or_last(talked: Run) -> None:
    (found,) = talked("conversations", "--json").json
    shown = [talked("show", name).out for name in (found["id"], found["id"][-8:], "ports", "last")]
    assert len(set(shown)) == 1
    assert talked("show", "x").code == 2


def test_two_of_one_title_have_to_be_told_apart(talked: Run) -> None:
    talked("chat", "--model", MODEL, stdin="hello\n/rename Ports\n")
    done = talked("show", "Ports")
    assert done.code == 2
    assert "2 conversations are called 'Ports'; give an id: " in done.err


def test_the_tree_is_drawn_with_what_is_compressed(talked: Run) -> None:
    shown = talked("show", "last").lines
    assert re.fullmatch(r"Ports  [0-9a-f]{8} · 6 messages · 1 branch · 1 snapshot · .{16}", shown[0])
    assert re.fullmatch(r"▸ messages 1 to 4 compressed: \d+ → \d+ tokens", shown[1])
    assert shown[2:] == [
        "○   5 User       at length 3",
        "●   6 Assistant  The port of service3 is 8003. So it goes on and on. So it goes…",
    ]
    assert len(talked("show", "last", "--covered").lines) == 7
    assert talked("show", "last", "--full").out.count("So it goes on and on.") == 60


def test_the_tree_as_json_has_nodes_and_snapshots(talked: Run) -> None:
    found = talked("show", "last", "--json").json
    assert [node["depth"] for node in found["nodes"]] == [1, 2, 3, 4, 5, 6]
    assert found["snapshots"][0]["id"] == found["serving"]
    assert found["snapshots"][0]["messagesIncluded"] == 4


def test_covered_messages_are_found(talked: Run) -> None:
    (hit,) = talked("search", "service1", "8001", "--json").json
    assert (hit["depth"], hit["role"], hit["title"]) == (2, "assistant", "Ports")
    assert hit["snippet"][slice(*hit["marks"][0])] == "service1"
    shown = talked("search", "service1", "--conversation", "last").lines
    assert shown[0].endswith("  Ports")
    assert shown[1].startswith("    2 assistant The port of service1 is 8001.")
    assert talked("search", "nowhere").out == "nothing found\n"
    assert talked("search").code == 2


def test_what_was_deleted_is_found_by_no_command(talked: Run, database: Path) -> None:
    """A server deletes with a day to change one's mind; until then it is out of sight here too."""
    (found,) = talked("conversations", "--json").json

    async def delete() -> None:
        async with await Store.open(f"sqlite:///{database}") as store:
            await store.bin.delete(found["id"], undo=86_400)

    asyncio.run(delete())
    assert (
        talked("conversations", "--json").json == talked("conversations", "--archived", "--json").json == []
    )
    assert talked("search", "service1", "--json").json == []
    for name in (found["id"], found["id"][-8:], "Ports", "last"):
        for command in ("show", "export", "stats"):
            done = talked(command, name)
            assert (done.code, done.out) == (2, ""), (command, name)
            assert "there is no conversation" in done.err
    assert talked("search", "service1", "--conversation", found["id"]).code == 2
    assert talked("stats", "--json").json["conversations"] == 0
    assert talked("export", "--all").out == ""
    assert talked("delete", found["id"], "--yes").code == 2


def test_token_use_is_drawn_by_day_and_by_answer(talked: Run) -> None:
    found = talked("stats", "--json").json
    assert (found["conversations"], found["answers"], found["snapshots"]) == (1, 3, 1)
    assert found["saved"] > 0
    assert sum(day["input"] for day in found["days"]) > 0
    everything = talked("stats").lines
    assert re.fullmatch(r"\d{4}-\d\d-\d\d  █{32}  +[\d,]+ in +[\d,]+ out  3 answers", everything[0])
    assert everything[-1].startswith("1 conversation, 3 answers, 1 snapshot; compression keeps ")
    assert re.fullmatch(r"request size  ▁[▁▂▃▄▅▆▇]█  up to [\d,]+ tokens", talked("stats", "last").lines[0])


def test_an_empty_database_has_no_statistics(run: Run) -> None:
    assert "no answers" in run("stats").out
    assert run("stats", "--json").json["days"] == []


def test_days_are_added_up_and_drawn_to_scale() -> None:
    answers = [
        AnswerUsage(day="2026-01-02", input=10, output=2),
        AnswerUsage(day="2026-01-01", input=3, output=3),
    ]
    days = by_day([*answers, AnswerUsage(day="2026-01-02", input=10, output=2)])
    assert [(day.day, day.answers, day.input, day.output) for day in days] == [
        ("2026-01-01", 1, 3, 3),
        ("2026-01-02", 2, 20, 4),
    ]
    assert [plain(each).count("█") for each in day_lines(days)] == [8, 32]
    assert day_lines([]) == []


def test_a_compression_is_a_step_down() -> None:
    assert blocks([1, 4, 8, 2, 4]) == "▂▅█▃▅"
    assert blocks([]) == ""
    assert len(blocks(list(range(1, 1_000)))) <= 60
