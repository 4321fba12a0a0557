"""The title of a conversation: what a model is asked for, and whether its answer will do.

A small model may answer with a sentence, a list or something else altogether. If there is no title in its answer,
nobody is told, and the first words of the conversation stay its title.
"""

from __future__ import annotations

import re

from octavo.core.messages import Message, user

LONGEST = 60
"""Characters of a title: what a list at the side of a page shows in two lines."""
MOST_WORDS = 14
"""Words of an answer that can still be cut down to a title; what is longer is an essay."""
KNOWN_SHARE = 0.5
"""Share of the words of a title that occur in the conversation at least: a model of 135 million parameters, which
writes titles about titles, stays below it, one of 500 million is nearly always above."""
SHOWN = 800
"""Characters of the question, and of the answer, that the model is shown: the matter is named at the beginning."""
ASKED = (
    "Write a title for the conversation above: 3 to 6 words that name what it is about, in the language of the user. "
    "Answer with the title only."
)
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_LABEL = re.compile(r"^(?:conversation )?(?:title|titel|titre|t[íi]tulo|titolo)\s*[:：]\s*", re.IGNORECASE)
_MARKUP = "#*_`\"'“”„‘’«»「」『』<>[](){}|~=- \t"
_WORD = re.compile(r"\w+")
_SHARED = 4
"""Letters that a word of the title has in common with one of the conversation: endings differ."""
_UNPARTED = "\u0e00"
"""Letters from Thai on, Chinese and Japanese among them: scripts that put no spaces between words."""


def title_request(question: str, answer: str) -> tuple[Message, ...]:
    """Ask for a title."""
    shown = f"User: {question[:SHOWN].strip()}\n\nAssistant: {answer[:SHOWN].strip()}"
    return (user(f"{shown}\n\n---\n{ASKED}"),)


def title_of_answer(said: str, about: str) -> str:
    """Take the title out of a model's answer; empty if there is none in it.

    `about` is what the model was shown: a title with few words of it is about something else.
    """
    lines = [_bare(line) for line in _THOUGHT.sub("", said).splitlines()]
    # "Here is a title:" announces one.
    found = next((line for line in lines if line and not line.endswith((":", "："))), "")
    named = _beginnings(found)
    known = named & _beginnings(about)
    if len(found.split()) > MOST_WORDS or not known or len(known) < KNOWN_SHARE * len(named):
        return ""
    return _shortened(found)


def _bare(line: str) -> str:
    """Strip quotes, markup, a label and the full stop."""
    label_off = _LABEL.sub("", " ".join(line.split()).strip(_MARKUP))
    return label_off.strip(_MARKUP).removesuffix(".").removesuffix("。").strip(_MARKUP)


def _beginnings(text: str) -> set[str]:
    """Give the beginnings of the longer words of a text; in scripts without spaces, its pairs of characters."""
    found = set[str]()
    for word in _WORD.findall(text.casefold()):
        if max(word) >= _UNPARTED:
            found |= {word[at : at + 2] for at in range(len(word) - 1)}
        elif len(word) >= _SHARED:
            found.add(word[:_SHARED])
    return found


def _shortened(title: str) -> str:
    if len(title) <= LONGEST:
        return title
    cut = title[: LONGEST - 1]
    whole, space, _ = cut.rpartition(" ")
    return f"{(whole if space else cut).rstrip(' ,;:')}…"
