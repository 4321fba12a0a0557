"""Places as bytes: what is written is read again, and the commonest words are the first to get pages of their own."""

from __future__ import annotations

from array import array
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from octavo.core.recall.rank import BITS
from octavo.store.recall_places import (
    PAGE,
    RECENT,
    Page,
    Together,
    find_together,
    key_of,
    pack,
    pack_together,
    pages,
    part,
    unpack,
    unpack_together,
)

PLACES = st.lists(st.integers(0, 1 << 31), min_size=1, max_size=40, unique=True).map(
    lambda found: array("I", sorted(found))
)
NEAR = st.lists(st.integers(1 << 20, (1 << 20) + 60_000), min_size=1, max_size=40, unique=True).map(
    lambda found: array("I", sorted(found))
)
KEYS = st.integers(-(1 << 31), (1 << 31) - 1)


@given(st.one_of(st.dictionaries(KEYS, PLACES, max_size=20), st.dictionaries(KEYS, NEAR, max_size=20)))
def test_places_that_are_kept_together_are_read_again(together: Together) -> None:
    """Seen failing with: two bytes for each place, however far apart they are."""
    packed = pack_together(together)
    assert unpack_together(packed) == together
    asked = [*together, 5, -7]
    assert dict(find_together(packed, asked)) == {word: [*places] for word, places in together.items()}


def test_places_of_neighbouring_messages_take_two_bytes_each() -> None:
    near = {7: array("I", [900_000 << BITS | 3, 900_001 << BITS | 1])}
    far = {7: array("I", [900_000 << BITS | 3, 990_000 << BITS | 1])}
    assert len(pack_together(far)) - len(pack_together(near)) == 2 * 2


@given(PLACES)
def test_the_bytes_of_places_compare_as_places_do(places: array[int]) -> None:
    """Seen failing with: the least byte first."""
    assert unpack(pack(places)) == places
    assert all(pack([one]) < pack([other]) for one, other in pairwise(places))


@given(st.lists(st.integers(1, 3 * PAGE), min_size=1, max_size=5))
def test_further_places_fill_the_last_page_before_they_begin_a_new_one(sizes: list[int]) -> None:
    """Seen failing with: the number of places before a page counted from its last page on."""
    written: dict[int, Page] = {}
    said = 0
    for size in sizes:
        last = written[max(written)] if written else None
        further = array("I", (depth << BITS | 1 for depth in range(said + 1, said + size + 1)))
        written |= {page.first: page for page in pages(11, last, further)}
        said += size
    found = [written[first] for first in sorted(written)]
    assert [place >> BITS for page in found for place in unpack(page.places)] == [*range(1, said + 1)]
    assert [page.before for page in found] == [*range(0, said, PAGE)]
    assert all(unpack(page.places)[0] >> BITS == page.first for page in found)


def test_a_page_that_is_full_is_left_as_it_is() -> None:
    known = array("I", (depth << BITS | 1 for depth in range(1, PAGE + 1)))
    full = Page(11, 1, 3 * PAGE, pack(known))
    further = array("I", (depth << BITS | 1 for depth in (900, 901)))
    assert [*pages(11, full, further)] == [Page(11, 900, 4 * PAGE, pack(further))]
    nearly = full._replace(places=pack(known[:-1]))
    assert [*pages(11, nearly, further)] == [
        Page(11, 1, 3 * PAGE, pack([*known[:-1], further[0]])),
        Page(11, 901, 4 * PAGE, pack(further[1:])),
    ]


def test_places_that_are_just_too_far_apart_take_four_bytes_each() -> None:
    origin = 7 << BITS
    sizes = []
    for last in ((1 << 16) - 1, 1 << 16):
        together = {5: array("I", [origin, origin + last])}
        packed = pack_together(together)
        assert unpack_together(packed) == together
        assert dict(find_together(packed, [4, 5, 6])) == {5: [origin, origin + last]}
        sizes.append(len(packed))
    assert sizes[1] - sizes[0] == 4


def test_no_more_is_taken_apart_than_it_takes() -> None:
    together = {word: array("I", range(4)) for word in range(3)}
    assert len(part(together, 8)) == 2
    assert sum(map(len, together.values())) == 4


def test_the_commonest_words_are_taken_apart_and_the_rarest_stay() -> None:
    together = {word: array("I", range(word)) for word in range(1, 21)}
    assert part(dict(together), 210) == {}
    apart = part(together, 200)
    assert min(apart) > max(together)
    assert 80 < sum(map(len, together.values())) <= 100


def test_no_word_has_the_key_of_all_words() -> None:
    assert key_of("") != RECENT
    assert {key_of(word) for word in ("boathouse", "hook")} == {key_of("boathouse"), key_of("hook")}
    assert all(-(1 << 31) <= key_of(str(number)) < 1 << 31 for number in range(1_000))
