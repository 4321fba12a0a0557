"""What a compression kept and lost, and adding it back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core import receipt as module
from octavo.core.extract.changes import ChangedLine, StandingLine
from octavo.core.extract.choose import extract
from octavo.core.extract.render import render
from octavo.core.extract.units import analyse, analyse_all
from octavo.core.messages import Branch, Message, Text, ToolCall, ToolResult
from octavo.core.receipt import (
    KINDS,
    Conflict,
    Fact,
    Receipt,
    StandingTally,
    Tally,
    add_back,
    facts,
    find_lost,
    lost_of,
    occurring,
    receipt,
    verbatim_text,
)
from octavo.core.snapshot import DroppedLine, Extract
from octavo.errors import BadInput, NotFound
from octavo.testing import talk
from tests.core.extract.samples import conversations, quarter

WORK = talk(
    "u: [2024-05-01 10:00] Please fix src/app.py, it must never log passwords.",
    'c: read {"path": "src/app.py"}',
    "r: PORT = 8080\nraise ConfigError when the port is taken",
    "a: I decided to move the port into the settings file conf/ports.toml.",
    "u: I prefer tabs. My colleague Clara Schmidt reviews it.",
)


def test_every_fact_is_verbatim_told_or_lost_and_the_lost_name_their_source() -> None:
    kept = (Extract("m3", "PORT = 8080", "result", 3, origin="read src/app.py"),)
    paper = receipt(
        WORK, extracts=kept, narrative="Clara Schmidt reviews. The port was moved to a settings file."
    )
    assert paper.tally("number").verbatim == ("8080",)
    assert paper.tally("path").verbatim == ("src/app.py",)
    assert paper.tally("path").lost == (Fact("path", "conf/ports.toml", "m4"),)
    assert paper.tally("name").told == ("Clara Schmidt",)
    assert paper.tally("identifier").lost == (Fact("identifier", "ConfigError", "m3"),)
    assert paper.tally("constraint").lost == (
        Fact("constraint", "Please fix src/app.py, it must never log passwords.", "m1"),
    )
    assert paper.tally("preference").lost == (Fact("preference", "I prefer tabs.", "m5"),)
    assert paper.tally("command").lost == (Fact("command", "read path: src/app.py", "m2"),)
    assert paper.tally("date").lost == (Fact("date", "2024-05-01", "m1"),)
    assert paper.tally("question") == Tally(kind="question")


def test_a_sentence_that_the_narrative_retells_is_told() -> None:
    narrative = "The assistant decided to move the port into the settings file."
    paper = receipt(WORK[3:4], narrative=narrative)
    assert paper.tally("decision").told == (WORK[3].message.text,)


def test_what_is_retained_or_pinned_counts_as_verbatim() -> None:
    retained = [
        Message(role="assistant", parts=(ToolCall(id="c", name="grep", input='{"for": "conf/ports.toml"}'),)),
        Message(role="tool", parts=(ToolResult(call_id="c", content=(Text(text="ConfigError: 8080"),)),)),
    ]
    paper = receipt(WORK, sent=verbatim_text(retained, pins=["I prefer tabs."]))
    assert paper.tally("path").verbatim == ("conf/ports.toml",)
    assert paper.tally("identifier").verbatim == ("ConfigError",)
    assert paper.tally("number").verbatim == ("8080",)
    assert paper.tally("preference").verbatim == ("I prefer tabs.",)


def test_an_older_value_without_the_newest_is_a_conflict() -> None:
    branch = talk("u: Deadline: Friday", "a: Fine with me.", "u: Deadline: Monday")
    old, new = Extract("m1", "Deadline: Friday"), Extract("m3", "Deadline: Monday", depth=3)
    found = Conflict(key="deadline", kept="Friday", newest="Monday", source="m3")
    assert receipt(branch, extracts=(old,)).conflicts == (found,)
    assert receipt(branch, extracts=(old, new)).conflicts == ()
    assert receipt(branch, extracts=(new,)).conflicts == ()
    assert receipt(branch, extracts=(old,), narrative="It is due on Monday.").conflicts == ()


def test_costs_are_carried() -> None:
    paper = receipt(WORK, tokens_before=900, tokens_after=90, seconds=1.5, model="small", price=0.002)
    assert (paper.messages, paper.tokens_before, paper.tokens_after) == (5, 900, 90)
    assert (paper.seconds, paper.model, paper.price) == (1.5, "small", 0.002)
    assert receipt(WORK, messages=40).messages == 40


def test_long_lists_are_cut_and_the_counts_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LISTED", 2)
    branch = talk(*[f"u: see value_{n} there" for n in range(5)])
    tally = receipt(branch).tally("identifier")
    assert (tally.lost_count, tally.count) == (5, 5)
    assert [fact.text for fact in tally.lost] == ["value_4", "value_3"]


def test_a_stored_receipt_lists_little_and_counts_all() -> None:
    """Of the fiftieth compression no more is listed than of the first, whatever the facts are like."""
    sentences = [f"u: We decided to use value_{n} for the harbour." for n in range(200)]
    whole = receipt(talk(*sentences))
    paper = whole.trimmed()
    for before, after in zip(whole.tallies, paper.tallies, strict=True):
        assert (before.count, before.lost_count) == (after.count, after.lost_count)
    names = paper.tally("identifier").lost
    assert [fact.text for fact in names][:2] == ["value_199", "value_198"], "the newest that have room"
    assert len(names) <= module.STORED
    decisions = paper.tally("decision").lost
    assert 0 < sum(len(fact.text) for fact in decisions) <= module.STORED_CHARACTERS
    assert len(paper.to_json()) < 3_000 < 15_000 < len(whole.to_json())
    assert not paper.lists_all
    assert whole.lists_all
    assert paper.trimmed() == paper


def test_a_stored_receipt_lists_what_fills_its_room_exactly() -> None:
    for length, listed in ((module.STORED_CHARACTERS, 1), (module.STORED_CHARACTERS + 1, 0)):
        tally = Tally(kind="decision", verbatim=("x" * length,), verbatim_count=1)
        assert len(Receipt(tallies=(tally,)).trimmed().tally("decision").verbatim) == listed


def test_what_a_receipt_does_not_list_is_found_in_the_originals() -> None:
    branch = talk(*[f"u: We decided to use value_{n} for the harbour." for n in range(30)])
    kept = (Extract(branch[3].id, "We decided to use value_3 for the harbour.", depth=4),)
    paper = receipt(branch, extracts=kept).trimmed()
    with pytest.raises(NotFound):
        find_lost(paper.lost, "value_5")
    lost = lost_of(branch, kept, "We spoke of value_4.")
    found = find_lost(lost, "value_5")
    assert (found.kind, found.source) == ("identifier", branch[5].id)
    for told in ("value_3", "value_4"):
        with pytest.raises(NotFound):
            find_lost(lost, told)
    line = "We decided to use value_5 for the harbour."
    after = paper.restored([line], lost_of(branch[5:6], kept, ""))
    for kind in ("identifier", "decision"):
        before, now = paper.tally(kind), after.tally(kind)
        assert (now.lost_count, now.verbatim_count) == (before.lost_count - 1, before.verbatim_count + 1)
    listed = receipt(branch[:6], extracts=kept)
    assert listed.restored([line], [Fact("identifier", "harbour", "x")]) == listed.restored([line]), (
        "all that was lost is listed, so that nothing else can be added back"
    )


def test_a_receipt_survives_json() -> None:
    paper = receipt(WORK, narrative="Clara Schmidt", seconds=0.25, price=None, model="m")
    assert Receipt.from_json(paper.to_json()) == paper
    assert list(json.loads(paper.to_json())["facts"]) == [kind for kind in KINDS if paper.tally(kind).count]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        Receipt().to_json().replace('"facts":{}', '"facts":{"nonsense":{}}'),
        Receipt().to_json().replace('"facts":{}', '"facts":{"path":{"counts":[1]}}'),
        Receipt().to_json().replace('"tokens":[0,0]', '"tokens":[0]'),
        Receipt().to_json().replace('"conflicts":[]', '"conflicts":[["a"]]'),
        Receipt().to_json().replace('"facts":{}', '"facts":[]'),
    ],
)
def test_what_is_no_receipt_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a receipt"):
        Receipt.from_json(text)


def test_adding_back_a_lost_fact_puts_its_line_in_place() -> None:
    kept = (
        Extract("m1", "Please fix it.", depth=1, day="2024-05-01"),
        Extract("m3", "PORT = 8080", "result", 3, at=0, day="2024-05-01", origin="read src/app.py"),
        Extract("m5", "Bye.", depth=5, day="2024-05-01"),
    )
    lost = receipt(WORK, extracts=kept).tally("identifier").lost[0]
    grown = add_back(kept, lost, WORK[2])
    assert render(grown).split("\n")[2:] == [
        "U: Please fix it.",
        "< read src/app.py",
        "PORT = 8080",
        "raise ConfigError when the port is taken",
        "U: Bye.",
    ]
    assert receipt(WORK, extracts=grown).tally("identifier").lost == ()
    assert add_back(grown, lost, WORK[2]) == grown


def test_a_lost_fact_is_found_as_it_is_shown() -> None:
    constraint = "Please fix src/app.py, it must never log passwords."
    paper = Receipt(
        tallies=(
            Tally(kind="constraint", lost=(Fact("constraint", constraint, "m1"),)),
            Tally(
                kind="decision",
                lost=(Fact("decision", "We\n go  north", "m2"), Fact("decision", "We go", "m3")),
            ),
        )
    )
    assert find_lost(paper.lost, constraint).source == "m1"
    assert find_lost(paper.lost, "Please fix src/app.py, it must…").source == "m1"
    assert find_lost(paper.lost, "We go north").source == "m2"
    assert find_lost(paper.lost, "We go").source == "m3"
    with pytest.raises(BadInput, match="2 facts that were left out begin with 'We'"):
        find_lost(paper.lost, "We…")
    for nothing in ("Please fix", "…", "", "never said"):
        with pytest.raises(NotFound, match="is no fact that this snapshot left out"):
            find_lost(paper.lost, nothing)


def test_what_was_added_back_counts_as_kept_from_then_on() -> None:
    paper = receipt(WORK, extracts=(), narrative="")
    before = paper.tally("path")
    after = paper.restored(["move the port into the settings file conf/ports.toml."]).tally("path")
    assert after.verbatim == ("conf/ports.toml", *before.verbatim)
    assert {fact.text for fact in before.lost} - {fact.text for fact in after.lost} == {"conf/ports.toml"}
    assert (after.count, after.lost_count) == (before.count, before.lost_count - 1)
    assert paper.restored([]) == paper


def test_adding_back_needs_no_neighbours_and_finds_days() -> None:
    (alone,) = add_back((), Fact("path", "conf/ports.toml", "m4"), WORK[3])
    assert (alone.source, alone.depth, alone.channel) == ("m4", 4, "assistant")
    (dated,) = add_back((), Fact("date", "2024-05-01", "m1"), WORK[0])
    assert dated.day == "2024-05-01"


def test_adding_back_what_the_message_does_not_have_is_refused() -> None:
    with pytest.raises(NotFound, match="not in message m4"):
        add_back((), Fact("path", "elsewhere.py", "m4"), WORK[3])


def test_known_analyses_give_the_same_receipt() -> None:
    assert receipt(WORK, analyses=analyse_all(WORK)) == receipt(WORK)


@settings(deadline=None)
@given(
    conversations(),
    st.integers(0, 200),
    st.sampled_from(["", "Deadline: Monday. We drink tea with src/app/main.py"]),
)
def test_facts_are_counted_once_and_kept_ones_really_occur(
    branch: Branch, budget: int, narrative: str
) -> None:
    """Seen failing with facts remembered per message instead of per conversation."""
    extracts = extract(branch, budget=budget, measure=quarter)
    paper = receipt(branch, extracts=extracts, narrative=narrative)
    text = render(extracts)
    for tally in paper.tallies:
        counted = [*tally.verbatim, *tally.told, *(fact.text for fact in tally.lost)]
        assert len(set(counted)) == len(counted) == tally.count
        assert all(fact in text for fact in tally.verbatim)
        assert not occurring(tally.lost, text)
    named = {
        found.text
        for node in branch
        for unit in analyse(node.message).units
        for found in unit.identifiers
        if found.whole
    }
    assert {fact.text for fact in facts(branch)} >= {name for name in named if "/" not in name}
    assert Receipt.from_json(paper.to_json()) == paper


@settings(deadline=None)
@given(conversations(), st.integers(0, 100))
def test_every_lost_fact_can_be_added_back(branch: Branch, budget: int) -> None:
    """Seen failing with the speaker's name left out of the line that is searched."""
    extracts = extract(branch, budget=budget, measure=quarter)
    nodes = {node.id: node for node in branch}
    for tally in receipt(branch, extracts=extracts).tallies:
        for lost in tally.lost:
            grown = add_back(extracts, lost, nodes[lost.source])
            assert lost.text in render(grown)


SETTLED = talk(
    "u: Call me Samantha.",
    "a: Fine.",
    "u: Never push to the release branch without a tag.",
    "a: Fine.",
    "u: Call me Max now.",
    "a: Fine.",
    "u: The deadline for the report is 9 May.",
)


def test_a_receipt_says_how_much_of_what_stands_is_kept_and_what_a_narrative_changed() -> None:
    kept = (Extract("m3", "Never push to the release branch without a tag.", depth=3, standing=True),)
    paper = receipt(SETTLED, extracts=kept, narrative="The deadline for the report is 12 June.")
    assert paper.standing == StandingTally(
        kept=(StandingLine("Never push to the release branch without a tag.", "m3"),),
        lost=(
            StandingLine("The deadline for the report is 9 May.", "m7"),
            StandingLine("Call me Max now.", "m5"),
        ),
        changed=(
            ChangedLine(
                "The deadline for the report is 12 June.", "The deadline for the report is 9 May.", "m7"
            ),
        ),
        kept_count=1,
        lost_count=2,
        replaced_count=1,
    )
    assert paper.standing.count == 3
    assert Receipt.from_json(paper.to_json()) == paper
    back = paper.restored(["Call me Max now."]).standing
    assert (back.kept_count, back.lost_count) == (2, 1)


def test_a_stored_receipt_lists_few_of_many_rules_and_counts_all() -> None:
    rules = talk(*(f"u: Never touch the files of project {n}." for n in range(100)))
    trimmed = receipt(rules).trimmed().standing
    assert trimmed.lost_count == 100
    assert len(trimmed.lost) == module.STORED
    assert trimmed.lost[0].text == "Never touch the files of project 99."


def test_a_receipt_from_before_there_were_rules_is_read() -> None:
    data = json.loads(Receipt().to_json())
    del data["standing"]
    assert Receipt.from_json(json.dumps(data)).standing == StandingTally()
    for later in ("summary", "taken_out", "no_summary"):
        del data[later]
    assert Receipt.from_json(json.dumps(data)) == Receipt()


def test_a_line_that_is_dropped_takes_its_facts_along() -> None:
    covered = talk("u: The report is due on 9 May at noon.", "a: Fine.", "u: Call me Max.", "a: Fine.")
    extracts = tuple(
        Extract(
            source=node.id, text=node.message.text, depth=node.depth, standing=node.message.role == "user"
        )
        for node in covered
    )
    before = receipt(covered, extracts=extracts)
    lost = lost_of(covered[:1], extracts[1:], "")
    after = before.without(extracts[0], lost)
    assert (before.standing.kept_count, after.standing.kept_count) == (2, 1)
    assert [line.text for line in after.standing.kept] == ["Call me Max."]
    assert after.without(extracts[2], ()).standing == StandingTally()
    assert [tally.count for tally in after.tallies] == [tally.count for tally in before.tallies]
    assert "9 May" in before.tally("date").verbatim
    assert "9 May" not in after.tally("date").verbatim
    assert "9 May" in [fact.text for fact in after.tally("date").lost]
    again = receipt(covered, extracts=extracts[1:], dropped=[DroppedLine(extracts[0].text, 4)])
    assert (again.standing.kept_count, again.standing.count) == (1, 1)


def test_a_receipt_of_copies_points_at_the_copies() -> None:
    facts = Tally(kind="path", lost=(Fact("path", "a/b", "m1"), Fact("path", "c/d", "m2")), lost_count=2)
    standing = StandingTally(
        kept=(StandingLine("Never.", "m1"),),
        lost=(StandingLine("Always.", "m2"),),
        changed=(ChangedLine("Sometimes.", "Never.", "m1"),),
    )
    conflict = Conflict(key="port", kept="1", newest="2", source="m1")
    moved = Receipt(tallies=(facts,), conflicts=(conflict,), standing=standing).redirected({"m1": "n1"})
    assert [fact.source for fact in moved.lost] == ["n1", ""], "what was not copied is not pointed at"
    assert moved.conflicts[0].source == "n1"
    assert [line.source for line in (*moved.standing.kept, *moved.standing.lost)] == ["n1", ""]
    assert moved.standing.changed == (ChangedLine("Sometimes.", "Never.", "n1"),)


def test_what_was_taken_out_of_a_summary_is_counted_and_listed_as_far_as_there_is_room() -> None:
    lines = tuple(f"Line {n}: {'word ' * 9}" for n in range(100))
    paper = Receipt(taken_out=lines, taken_out_count=100).trimmed()
    assert paper.taken_out_count == 100
    assert 0 < len(paper.taken_out) <= module.STORED
    assert Receipt.from_json(paper.to_json()) == paper
    old = json.loads(paper.to_json())
    del old["taken_out"]
    assert Receipt.from_json(json.dumps(old)).taken_out == ()
