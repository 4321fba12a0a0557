"""What only the whole conversation tells: speakers, days, tools near, who talks to whom."""

from __future__ import annotations

from octavo.core.extract.render import render
from octavo.core.extract.sources import NEAR, Lengths, Source, between_people, line_up, near_tools
from octavo.core.extract.units import analyse, analyse_all
from octavo.core.messages import Branch, Message, Text, place, user
from octavo.core.snapshot import Extract
from octavo.testing import talk


def sources(branch: Branch, retained: int = 0) -> tuple[Source, ...]:
    cut = len(branch) - retained
    return line_up(branch[:cut], branch[cut:], analyse_all(branch))


def lengths(branch: Branch) -> Lengths:
    found = Lengths()
    for source in sources(branch):
        found.add(source)
    return found


def first_lines(branch: Branch) -> list[tuple[str, str]]:
    return [(source.speaker, source.units[0].text) for source in sources(branch)]


def test_names_in_front_of_most_messages_of_both_sides_are_speakers() -> None:
    branch = talk(
        "u: Ann: I like tea.", "a: Bob: I like milk.", "u: Ann: Good for you.", "a: Bob: Thanks a lot."
    )
    assert first_lines(branch) == [
        ("Ann", "I like tea."),
        ("Bob", "I like milk."),
        ("Ann", "Good for you."),
        ("Bob", "Thanks a lot."),
    ]


def test_a_label_that_only_one_side_writes_stays_text() -> None:
    branch = talk("u: Look at it.", "a: Thought: I look now.", "u: And then?", "a: Thought: I looked.")
    assert first_lines(branch)[1] == ("", "Thought: I look now.")


def test_a_word_before_a_colon_now_and_then_stays_text() -> None:
    branch = talk(
        "u: Note: it rains.", "a: Oh dear me.", "u: It still rains.", "a: Well: so it is.", "u: Good night."
    )
    assert first_lines(branch)[0] == ("", "Note: it rains.")


def test_the_name_field_of_a_message_is_its_speaker() -> None:
    branch = place([Message(role="user", name="ada", parts=(Text(text="It rains."),))])
    assert first_lines(branch) == [("ada", "It rains.")]


def test_a_day_holds_until_the_next_one() -> None:
    branch = talk("u: [2024-05-01 10:00] One here.", "a: Two here.", "u: [2024-05-02 10:00] Three here.")
    assert [source.day for source in sources(branch)] == ["2024-05-01", "2024-05-01", "2024-05-02"]


def test_messages_near_tools_are_work_and_the_others_are_chat() -> None:
    chat = [f"u: message number {n}" for n in range(NEAR + 2)]
    branch = talk(*chat, 'c: ls {"path": "."}', "r: a.py", *chat)
    assert near_tools(sources(branch)) == [False] * 2 + [True] * (2 * NEAR + 2) + [False] * 2


def test_an_output_is_headed_by_the_newest_call_of_its_id() -> None:
    branch = talk('c: read {"path": "a.py"}', "r: one_a", 'c: read {"path": "b.py"}', "r: two_b")
    same_ids = [message for node in branch for message in [node.message]]
    headers = [
        source.extract(0).origin for source in sources(place(same_ids)) if source.units[0].channel == "result"
    ]
    assert headers == ["read a.py", "read b.py"]


def test_long_answers_to_short_questions_are_an_assistants() -> None:
    assert between_people(lengths(talk("u: I like tea very much.", "a: I like milk very much.")))
    assert not between_people(lengths(talk("u: What is tea?", "a: " + "Tea is a drink made of leaves. " * 9)))


def test_what_is_retained_is_not_covered() -> None:
    branch = talk("u: one here", "a: two here", "u: three here")
    assert [source.covered for source in sources(branch, retained=1)] == [True, True, False]


def test_extracts_of_an_earlier_compression_are_sources_of_their_own() -> None:
    old = render(
        (
            Extract("m1", "I like tea. Very much.", day="8 May", speaker="Ann"),
            Extract("m2", "read path: a.py", "call", 2, origin="read a.py", day="8 May"),
            Extract("m3", "PORT = 8080", "result", 3, origin="read a.py", day="8 May"),
        )
    )
    branch = place([user(f"{old}\n\nAnd now?")])
    analyses = {branch[0].id: analyse(branch[0].message, ours=True)}
    said, call, output, rest = line_up(branch, (), analyses)
    assert [unit.text for unit in said.units] == ["I like tea.", "Very much."]
    assert (said.day, said.speaker, said.node) == ("8 May", "Ann", "m1")
    assert call.tools
    assert output.extract(0).origin == "read a.py"
    assert (rest.day, rest.units[0].text, rest.block) == ("8 May", "And now?", 0)
    numbers = [
        source.start + index for source in (said, call, output, rest) for index in range(len(source.units))
    ]
    assert len(set(numbers)) == len(numbers)
    assert call.start > said.start + len(said.units)


def test_a_name_opens_at_least_half_of_what_its_side_says_and_more_than_once() -> None:
    half = ["u: Ann: I like tea.", "a: Bob: I like milk.", "u: Good for you.", "a: Thanks a lot."] * 2
    assert first_lines(talk(*half))[0] == ("Ann", "I like tea.")
    assert first_lines(talk(*half, "u: It rains."))[0] == ("", "Ann: I like tea.")
    assert first_lines(talk(*half[:4]))[0] == ("", "Ann: I like tea.")


def test_an_assistant_writes_more_than_two_and_a_half_times_as_much() -> None:
    for length, people in ((25, True), (26, False)):
        said = ("u: xxxxxxxxxx", f"a: {'y' * length}", "u: zzzzzzzzzz")
        assert between_people(lengths(talk(*said))) is people
