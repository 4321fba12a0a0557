"""What a run needed later is what its assistant wrote, knew from before, and was not told again."""

from __future__ import annotations

from octavo.core.messages import Message
from octavo.evals.measure.names import grounded, is_present, names, ordinary_words, surroundings
from octavo.evals.measure.needs import cut_at, needs_after, newest_within, recall
from octavo.testing import messages

RUN = messages(
    "s: Work in /srv/app.py only.",
    "u: Fix the crash in parse_header of src/reader.py",
    "a: I look.",
    'c: bash {"command": "grep -n parse_header src/reader.py"}',
    "r: line 421: raise HeaderError(kind)\nmax_depth = 7734 for nested headers",
    "a: The error comes from nested headers.",
    "u: Go on, and look at late_name too.",
    "a: In src/reader.py I change max_depth from 7734, see late_name and /srv/app.py.",
    "u: Is parse_header fine?",
    "a: Yes, parse_header raises HeaderError.",
)


def size(_: Message) -> int:
    return 10


def test_names_are_found_with_their_kinds() -> None:
    found = names(
        "see https://x.org/a, src/a.py: ValueError in do_it() of v1beta2 #12 and 1234, xx.yy; 12, if."
    )
    assert dict(found) == {
        "https://x.org/a": "url",
        "src/a.py": "path",
        "ValueError": "error",
        "x.org": "symbol",
        "a.py": "symbol",
        "do_it": "symbol",
        "xx.yy": "symbol",
        "v1beta2": "id",
        "#12": "id",
        "1234": "number",
    }


def test_a_name_inside_a_longer_one_is_not_there() -> None:
    assert is_present("max_depth", "the max_depth is")
    assert not is_present("max_depth", "the max_depth_limit is")
    assert is_present("max_depth", "my_max_depth and max_depth")
    assert not is_present("max_depth", "my_max_depth")


def test_ordinary_words_belong_to_no_name() -> None:
    assert ordinary_words("raise HeaderError in src/reader.py for nested headers") == {
        "rais",
        "nest",
        "header",
    }


def test_a_bare_list_of_names_grounds_none() -> None:
    origin = surroundings("max_depth = 7734 for nested headers", ["max_depth"])
    assert (
        grounded(["max_depth"], surroundings("names: max_depth, parse_header", ["max_depth"]), origin)
        == set()
    )
    kept = surroundings("nested headers need max_depth", ["max_depth"])
    assert grounded(["max_depth", "gone"], kept, origin) == {"max_depth"}


def test_a_name_that_came_without_words_is_grounded_by_being_there() -> None:
    assert grounded(["do_it"], surroundings("so do_it", ["do_it"]), surroundings("do_it", ["do_it"])) == {
        "do_it"
    }


def test_needs_are_what_the_assistant_wrote_and_was_not_told_again() -> None:
    """Neither the system prompt's path, nor what the user named again, nor what was new is needed."""
    found = needs_after(RUN, 4)
    assert [(need.name, need.turns, round(need.age, 2)) for need in found.needed] == [
        ("7734", 1, 1.0),
        ("max_depth", 1, 1.0),
        ("reader.py", 1, 0.5),
        ("src/reader.py", 1, 0.5),
        ("HeaderError", 2, 1.0),
    ]
    assert found.origin["max_depth"] == {"nest", "header"}


def test_recall_tells_plain_from_grounded_and_deep() -> None:
    needs = needs_after(RUN, 4)
    text = "nested headers have max_depth 7734\nHeaderError"
    found = recall(needs, text, newest="the newest names HeaderError")
    assert found.plain == 3 / 5
    assert {name for name, there in found.grounded.items() if there} == {"7734", "max_depth"}
    assert found.ground == 2 / 5
    assert found.deep == ("7734", "max_depth", "reader.py", "src/reader.py")
    assert found.depth == 2 / 4
    assert found.soon == (1 / 2 + 1 / 2 + 1 / 3) / (4 / 2 + 1 / 3)


def test_without_deep_names_there_is_no_depth() -> None:
    needs = needs_after(RUN, 4)
    everything = " ".join(need.name for need in needs.needed)
    assert recall(needs, "", newest=everything).depth is None


def test_a_cut_lies_before_an_assistants_turn_and_inside_no_exchange() -> None:
    assert [cut_at(RUN, share, size) for share in (0.1, 0.25, 0.5, 0.6, 0.95)] == [2, 4, 6, 6, len(RUN)]


def test_a_run_that_ends_with_the_user_has_no_late_cut() -> None:
    said = messages("u: hi", "a: hello", "u: bye")
    assert cut_at(said, 0.9, size) == len(said)
    assert cut_at((), 0.5, size) == 0


def test_plain_truncation_keeps_the_newest_that_fit() -> None:
    assert newest_within(RUN, 25, size) == RUN[-2:]
    assert newest_within(RUN, 5, size) == ()
    assert newest_within(RUN, 1_000, size) == RUN
