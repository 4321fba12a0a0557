"""How the room is filled up to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from octavo.core.extract.choose import survey
from octavo.core.extract.greedy import ENDING, LEAST, STALE, GreedyQueue, Ranking
from octavo.core.extract.selection import Selection
from octavo.core.extract.shares import CHAT_SHARE, RoomShare, SharedChoice, _parts
from octavo.core.extract.units import analyse_all
from octavo.core.extract.value import EFFORT
from octavo.core.messages import Branch, place, user
from octavo.testing import talk
from tests.core.extract.samples import conversations

MANY = talk(
    *[
        f"u: My plant number {n} likes the {word} best."
        for n, word in enumerate(["sun", "rain", "shade", "moon"] * 9)
    ]
)


gains = st.one_of(st.just(0.0), st.floats(1e-300, 1e3), st.sampled_from((0.5, 0.49, 1.0, 1.01)))


class Fixed:
    """Pays a fixed sum for each unit."""

    def __init__(self, selection: Selection, worths: Sequence[float]) -> None:
        self.selection, self.worths = selection, worths

    def value(self, number: int) -> float:
        return self.worths[number]

    def gain(self, number: int) -> float:
        return self.worths[number] / (self.selection.weight[number] + EFFORT)

    def take(self, number: int) -> Sequence[int]:
        self.selection.put(number)
        return ()

    def take_back(self) -> None:
        self.selection.take_back()


def page_of(covered: Branch) -> Selection:
    return Selection(survey(covered, (), "", "", analyse_all(covered)))


def queue_of(lengths: Sequence[int], worths: Sequence[float]) -> GreedyQueue:
    selection = page_of(
        place([user(f"{number:03} " + "x" * length) for number, length in enumerate(lengths)])
    )
    return GreedyQueue(selection, range(len(lengths)), Fixed(selection, worths))


def test_the_best_per_byte_gives_way_to_what_fills_the_room_better() -> None:
    """Greedy takes the first, and the gap it leaves holds nothing."""
    lengths, worths = (40, 60, 60), (10.0, 14.0, 14.0)
    room = sum(length + len("\nU: 000 ") for length in lengths[1:]) + len("U: user, ")
    greedy, planned = queue_of(lengths, worths), queue_of(lengths, worths)
    greedy.crumble(room)
    planned.end(room)
    assert greedy.selection.chosen == [0, 1]
    assert planned.selection.chosen == [1, 2]


def test_a_unit_is_taken_once_however_much_it_gains() -> None:
    queue = queue_of((10, 20, 30), (3.0, 2.0, 1.0))
    queue.fill(1_000)
    assert sorted(queue.selection.chosen) == [0, 1, 2]
    assert queue.empty


@pytest.mark.parametrize("take", [GreedyQueue.fill, GreedyQueue.crumble, GreedyQueue.end])
def test_what_fits_exactly_is_taken_and_a_crumb_of_room_is_left(
    take: Callable[[GreedyQueue, int], int],
) -> None:
    """Seen failing with: a byte more demanded, and a unit of twelve bytes taken."""
    for short, chosen in ((0, [0]), (1, [])):
        queue = queue_of((30, 90), (9.0, 0.1))
        assert take(queue, queue.selection.cost(0) - short) == (0 if chosen else queue.selection.cost(0) - 1)
        assert queue.selection.chosen == chosen
    for more, chosen in ((0, [0]), (1, [0, 1])):
        queue = queue_of((30, 4), (9.0, 0.1))
        take(queue, queue.selection.cost(0))
        assert queue.selection.cost(1) == LEAST
        take(queue, LEAST + more)
        assert queue.selection.chosen == chosen


def test_talk_is_given_twice_the_room_of_work_per_byte() -> None:
    """Seen failing with: a share that does not grow with what was said."""
    for turns in (20, 40):
        chat = [f"u: I would rather travel in month {n}, by train." for n in range(turns)]
        work = [
            "u: Read it.",
            "c: cat {}",
            "r: " + "\n".join(f"key_{n} = {n}" for n in range(20)),
            "a: I have.",
        ]
        selection = page_of(talk(*chat, *work))
        near = [selection.candidates.work[owner] for owner in selection.candidates.owner]
        said, worked = (
            sum(selection.weight[n] for n, is_work in enumerate(near) if is_work == wanted)
            for wanted in (False, True)
        )
        assert said
        assert worked
        first = next(part for part in _parts(selection, 0.0) if part.ends)
        assert first.share / (1 - first.share) == pytest.approx(CHAT_SHARE * said / worked)


def test_one_that_stands_out_is_not_given_up_for_two_that_are_worth_more_together() -> None:
    queue = queue_of((40, 60, 60), (20.0, 14.0, 14.0))
    queue.end(145)
    assert queue.selection.chosen[0] == 0


@given(st.lists(gains, min_size=1, max_size=30), st.lists(gains, max_size=30))
def test_units_rank_by_gain_and_equals_by_number(early: list[float], late: list[float]) -> None:
    """Seen failing without the bucket of the worthless, and when a better bucket that came late was not looked for."""
    known = dict(enumerate([*early, *late]))
    ranked = sorted(known, key=lambda number: (-known[number], number))
    ranking = Ranking()
    ranking.put((-known[number], number) for number in range(len(early)))
    first = best(ranking, known)
    assert first == next(number for number in ranked if number < len(early))
    ranking.put((-known[number], number) for number in range(len(early), len(known)))
    ranked.remove(first)
    assert [best(ranking, known) for _ in ranked] == ranked
    assert ranking.first(known.__getitem__) is None


def best(ranking: Ranking, known: dict[int, float]) -> int:
    entry = ranking.first(known.__getitem__)
    assert entry is not None
    ranking.drop()
    return entry[1]


@given(st.lists(st.tuples(gains, st.floats(0, 1)), min_size=1, max_size=30))
def test_a_unit_whose_gain_fell_is_put_back_and_the_best_of_the_others_found(
    units: list[tuple[float, float]],
) -> None:
    """Seen failing with all that fell put into the last bucket."""
    ranking, now = Ranking(), {number: gain * left for number, (gain, left) in enumerate(units)}
    ranking.put((-gain, number) for number, (gain, _) in enumerate(units))
    entry = ranking.first(now.__getitem__)
    assert entry is not None
    assert now[entry[1]] >= STALE * -entry[0]
    assert all(
        (entry[0], entry[1]) <= (-(gain if now[number] >= STALE * gain else now[number]), number)
        for number, (gain, _) in enumerate(units)
    )
    assert sorted(ranking) == sorted(now)


def test_what_says_the_same_is_one_rival() -> None:
    selection = page_of(talk("u: Call Ada at nine.", "u: call ADA at nine!", "u: Then call Bob at ten."))
    queue = GreedyQueue(selection, range(3), Fixed(selection, (5.0, 4.9, 4.8)))
    queue.end(ENDING)
    assert selection.chosen == [0, 2]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 90), st.integers(1, 9)), min_size=1, max_size=12),
    st.integers(20, ENDING),
)
def test_an_ending_is_never_worth_less_than_the_greedy_one(units: list[tuple[int, int]], room: int) -> None:
    """Seen failing with the cheapest of the tried endings taken."""
    lengths, worths = [length for length, _ in units], [float(length * dear) for length, dear in units]
    greedy, planned = queue_of(lengths, worths), queue_of(lengths, worths)
    gains = {n: planned.gain(n) for n in range(len(units)) if planned.selection.cost(n) <= room}
    assume(gains and len(set(gains.values())) == len(gains))  # Among equals, greedy takes either.
    assert greedy.crumble(room) >= 0
    assert planned.end(room) >= 0
    best = max(gains.values())
    net = [sum(worths[n] - best * EFFORT for n in queue.selection.chosen) for queue in (greedy, planned)]
    assert net[1] >= net[0] - 1e-9


@settings(deadline=None)
@given(conversations(), st.data())
def test_what_is_taken_back_leaves_no_trace(covered: Branch, data: st.DataObject) -> None:
    """Seen failing when the words or the identifiers of what was taken back stayed known."""
    choice = SharedChoice(survey(covered, (), "", "tea", analyse_all(covered)))
    choice.grow(data.draw(st.sampled_from((0, ENDING))) + data.draw(st.integers(0, 250)))
    for part in choice.parts:
        before = state(choice, part)
        ranked = [number for _, number in before[1]]
        taken = data.draw(st.lists(st.sampled_from(ranked), unique=True)) if ranked else []
        for number in taken:
            part.queue.paying.take(number)
        for _ in taken:
            part.queue.paying.take_back()
        assert state(choice, part) == before


def state(choice: SharedChoice, part: RoomShare) -> tuple[list[int], list[tuple[float, int]], list[int]]:
    costs = [choice.selection.cost(number) for number in range(len(choice.selection.candidates.units))]
    gains = [(part.queue.gain(number), number) for number in sorted(part.queue.ranking)]
    return list(choice.chosen), gains, costs


def test_an_ending_that_turns_out_too_long_is_chosen_again() -> None:
    choice = SharedChoice(survey(MANY, (), "", "", analyse_all(MANY)))
    choice.grow(300)
    kept = list(choice.chosen)
    choice.end(200)
    first = list(choice.chosen)
    choice.end(-30)
    assert choice.ended
    assert not choice.complete
    assert choice.chosen[: len(kept)] == kept
    assert choice.chosen != first
    assert sum(choice.spent) <= 500 - 30


def test_after_the_ending_whatever_fits_is_taken_and_that_is_all() -> None:
    choice = SharedChoice(survey(MANY, (), "", "", analyse_all(MANY)))
    choice.end(200)
    before = len(choice.chosen)
    choice.end(100)
    assert choice.complete
    assert len(choice.chosen) > before
