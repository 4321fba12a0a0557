r"""Finds the words that a pattern needs: a text without them need not be searched for it.

A pattern is read as far as it takes to tell: literals, groups, bars, sets and counts. Where that tells no words, the
pattern has to be tried on every text. Words are runs of what `\w` matches, as `\b` sees them; of each only its
beginning counts, so that `rules?` and `deploy\w*` tell as much as whole words do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<bar>\|)|(?P<edge>\^\^|\\b|\^|\$)"
    r"|(?P<blank>\\s)|(?P<any>\\[wWdDS]|\.|\[\^?\]?(?:\\.|[^\]\\])*\])|\\(?P<escaped>.)|(?P<sign>.)",
    re.DOTALL,
)
_COUNT = re.compile(r"(?:\?|(?P<many>\*|\+)|\{(?P<least>\d+)(?:,\d*)?\})\??")
BEGINNING = 4
"""Letters of a word that are looked at; fewer would be those of many words."""
_FREQUENT = """
    i you we he she it they my your our the a an to be is are was were and or of in on at for not no do don t s m d
    re ve ll this that have has had can will would should if so with as but me us them all any every by from now
    de la le les que et en un une ne pas je tu il elle nous vous es se el los die der das und ist ich du wir nicht
    ein eine zu mit für auf
"""
_COMMON = frozenset(word[:BEGINNING] for word in _FREQUENT.split())
"""Words of many sentences, and so many rare ones are as good as one of them."""
_PENALTY = 200


class _Atom(NamedTuple):
    """A piece of a pattern: a sign, an edge of a word, a group, or something that is not looked into."""

    kind: str
    sign: str = ""
    groups: tuple[tuple[_Atom, ...], ...] = ()
    needed: bool = True
    once: bool = True


def guard_words(pattern: str, *, at_edge: bool = False) -> tuple[frozenset[str], ...]:
    """Give sets of beginnings of words, the rarest first: every match has one of each set. None: it cannot be told.

    `at_edge`: the pattern is only tried where a word may begin.
    """
    alternatives = _Reader(pattern).alternatives()
    found = [_needed(piece, left=at_edge, right=False) for piece in alternatives]
    if len(found) == 1:
        return tuple(found[0])
    return (frozenset[str]().union(*(sets[0] for sets in found)),) if all(found) else ()


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def alternatives(self) -> list[tuple[_Atom, ...]]:
        """Read up to the end of the pattern, or of the group."""
        found: list[list[_Atom]] = [[]]
        while self.at < len(self.pattern):
            token = _TOKEN.match(self.pattern, self.at)
            assert token is not None  # a sign is anything
            self.at = token.end()
            match token.lastgroup:
                case "close":
                    break
                case "bar":
                    found.append([])
                case "look":
                    self.alternatives()
                    self._count(_Atom("edge"))
                case "open":
                    found[-1].append(self._count(_Atom("group", groups=tuple(self.alternatives()))))
                case "edge" | "blank" | "any" as kind:
                    found[-1].append(self._count(_Atom(kind)))
                case kind:
                    found[-1].append(self._count(_Atom("sign", token[str(kind)])))
        return [tuple(piece) for piece in found]

    def _count(self, atom: _Atom) -> _Atom:
        count = _COUNT.match(self.pattern, self.at)
        if count is None:
            return atom
        self.at = count.end()
        needed = count["many"] == "+" or int(count["least"] or 0) > 0
        return atom._replace(needed=needed, once=False)


def _needed(atoms: Sequence[_Atom], *, left: bool, right: bool) -> list[frozenset[str]]:
    """Give what atoms need, the best first; `left` and `right`: no letter can stand before and after them."""
    found: list[frozenset[str]] = []
    at = 0
    while at < len(atoms):
        atom, end = atoms[at], at + 1
        if _is_letter(atom):
            while end < len(atoms) and _is_letter(atoms[end]):
                end += 1
            word = "".join(one.sign for one in atoms[at:end])
            ended = len(word) >= BEGINNING or _bounded(atoms[: end - 1 : -1], right, back=True)
            if ended and _bounded(atoms[:at], left):
                found.append(frozenset({word[:BEGINNING]}))
        elif atom.kind == "group" and atom.needed:
            before = atom.once and _bounded(atoms[:at], left)
            after = atom.once and _bounded(atoms[:at:-1], right, back=True)
            inside = [_needed(piece, left=before, right=after) for piece in atom.groups]
            if all(inside):
                found.append(frozenset[str]().union(*(sets[0] for sets in inside)))
        at = end
    return sorted(found, key=_cost)


def _bounded(near: Sequence[_Atom], outer: bool, *, back: bool = False) -> bool:  # noqa: FBT001
    """Tell whether what stands next to a place, the last of these atoms, surely is no letter."""
    if not near:
        return outer
    last, before = near[-1], near[:-1]
    if last.kind == "group":
        beyond = _bounded(before, outer, back=back)
        inner = beyond and last.once
        return (beyond or last.needed) and all(
            _bounded(piece[::-1] if back else piece, inner, back=back) for piece in last.groups
        )
    closed = last.kind in ("edge", "blank") or (last.kind == "sign" and not _is_word(last.sign))
    return closed and (last.needed or _bounded(before, outer, back=back))


def _is_letter(atom: _Atom) -> bool:
    return atom.kind == "sign" and atom.once and _is_word(atom.sign)


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _cost(words: frozenset[str]) -> int:
    return sum(_PENALTY if word in _COMMON else 1 for word in words)
