"""Vocabularies by name, each behind one function from text to a number.

A vocabulary is loaded when first asked for, once, and must count four known texts rightly before it is trusted;
if it is missing or wrong, the next source in the chain serves: splintr, tiktoken with data that is already here,
o200k times a ratio, characters. Equal names mean equal numbers: what is not the vocabulary itself has another
name, so a guessed number is never stored as a counted one. Any string has a count; text that looks like a
special token is text.
"""

from __future__ import annotations

import logging
import math
import os
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from octavo.errors import BadInput
from octavo.meters.estimate import characters, estimate

log = logging.getLogger(__name__)

Count: TypeAlias = Callable[[str], int]

FAILURES = (
    ImportError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
)
"""What a counter may raise when it is missing or broken, or cannot take a text."""

TOKEN_BYTES = 4
"""Bytes per token in splintr's flat answer, which spares a Python number for each."""
BLOCK = 100_000
"""Characters counted at a time where tiktoken cannot take a longer stretch of white space."""
SPACES = re.compile(r"\s+")

PROBES = (
    "Hello, world!",
    "I'm sure they'll re-run it: 3.14159 vs 2,718,281 <|endoftext|>",
    'def f(x):\n    return {"a": [1, 2, 3], "b": None}\n',
    "请帮我检查一下这段代码，为什么会出现内存泄漏？ 🚀👩‍💻",
)
"""Prose, numbers with a special token as text, code, and another script with joined emoji."""


class Unavailable(RuntimeError):
    """A source does not have this vocabulary, or has it wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """A counter that can be used."""

    name: str
    """What its numbers are stored under."""
    count: Count
    exact: bool = True
    """Whether these are the vocabulary's own numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Where a vocabulary can be had and how to recognise it."""

    name: str
    splintr: str = ""
    swift: str = ""
    """Another of splintr's vocabularies that gives the same counts: slower to load, then much faster."""
    tiktoken: str = ""
    claude: str = ""
    golden: tuple[int, ...] = ()
    """The counts of `PROBES`."""
    ratio: float = 1.0
    """Tokens per token of o200k over mixed text, for when the vocabulary cannot be had."""


def _listed(*vocabularies: Vocabulary) -> dict[str, Vocabulary]:
    return {vocabulary.name: vocabulary for vocabulary in vocabularies}


V = Vocabulary
VOCABULARIES = _listed(
    V(name="o200k", splintr="o200k_base", tiktoken="o200k_base", golden=(4, 26, 23, 24)),
    V(name="cl100k", splintr="cl100k_base", tiktoken="cl100k_base", golden=(4, 27, 23, 36), ratio=1.03),
    V(name="harmony", splintr="o200k_harmony", tiktoken="o200k_base", golden=(4, 26, 23, 24)),
    V(name="gemma", splintr="gemma3", swift="gemma4", golden=(4, 37, 26, 18), ratio=1.12),
    V(name="llama3", splintr="llama3", golden=(4, 27, 23, 27), ratio=1.02),
    V(name="llama2", splintr="llama2", golden=(4, 38, 26, 48), ratio=1.25),
    V(name="qwen", splintr="qwen3", golden=(4, 34, 23, 19), ratio=1.06),
    V(name="deepseek", splintr="deepseek_v3", golden=(4, 28, 23, 20), ratio=1.04),
    V(name="mistral", splintr="mistral_v3", golden=(4, 35, 23, 35), ratio=1.08),
    V(name="mistral-v1", splintr="mistral_v1", golden=(4, 38, 26, 39), ratio=1.25),
    V(name="glm", splintr="glm4", golden=(4, 29, 23, 21), ratio=1.04),
    V(name="kimi", splintr="kimi_k2", golden=(4, 25, 23, 17), ratio=1.03),
    V(name="phi4", splintr="phi4", golden=(4, 27, 23, 36), ratio=1.03),
    V(name="claude-3", claude="claude-3", golden=(4, 31, 25, 38), ratio=1.19),
    V(name="claude-4.7", claude="claude-4.7", golden=(6, 36, 26, 38), ratio=1.47),
    V(name="claude-4.8", claude="claude-4.8", golden=(6, 36, 26, 37), ratio=1.47),
    V(name="claude-5", claude="claude-5", golden=(6, 36, 26, 37), ratio=1.47),
    # No vocabulary of these is published, or none is in our sources: o200k stands in and calibration corrects it.
    V(name="grok"),
    V(name="llama4"),
    V(name="qwen3.5", ratio=0.98),
)


def from_splintr(vocabulary: Vocabulary) -> Count:
    """Take the vocabulary compiled into splintr."""
    if not vocabulary.splintr:
        raise Unavailable("not in splintr")
    from splintr import Tokenizer as Native

    native = Native.from_pretrained(vocabulary.splintr)
    flat, spelled = native.encode_flat, native.encode_ordinary
    first, *others = sorted({special[0] for special in native.special_tokens()})

    def count(text: str) -> int:
        try:
            # The flat form recognises special tokens, so text where one could start is spelled out instead.
            if first in text or (others and any(other in text for other in others)):
                return len(spelled(text))
            return len(flat(text)) // TOKEN_BYTES
        except UnicodeEncodeError:
            return count(_repaired(text))

    return count


def _repaired(text: str) -> str:
    """Join surrogate halves that belong together and replace those that stand alone, as a JSON reader would."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


TIKTOKEN_FILES = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}
"""tiktoken's names for the rank files in its cache: the SHA-1 of the address it would fetch them from."""


def from_tiktoken(vocabulary: Vocabulary) -> Count:
    """Take tiktoken if it is installed and its data is already on this machine; never let it fetch anything."""
    if not vocabulary.tiktoken or find_spec("tiktoken") is None:
        raise Unavailable("not in tiktoken, or tiktoken is not installed")
    import tempfile

    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    folder = Path(named) if named else Path(tempfile.gettempdir()) / "data-gym-cache"
    if not (folder / TIKTOKEN_FILES[vocabulary.tiktoken]).exists():
        raise Unavailable(f"tiktoken has no data for {vocabulary.tiktoken} here")
    import tiktoken

    encode = tiktoken.get_encoding(vocabulary.tiktoken).encode_ordinary

    def count(text: str) -> int:
        # Its pattern overflows the stack on very long white space, and what it raises then is not an Exception.
        if len(text) > BLOCK and any(len(gap) > BLOCK for gap in SPACES.findall(text)):
            return sum(len(encode(text[at : at + BLOCK])) for at in range(0, len(text), BLOCK))
        return len(encode(text))

    return count


def from_tables(vocabulary: Vocabulary) -> Count:
    """Take the measured Claude tables of this package."""
    if not vocabulary.claude:
        raise Unavailable("not a Claude vocabulary")
    from octavo.meters.claude import FAMILIES, ClaudeCounter

    return ClaudeCounter(FAMILIES[vocabulary.claude]).count


def from_ratio(vocabulary: Vocabulary) -> Count:
    """Stand in with o200k times the vocabulary's usual ratio to it."""
    base = load("o200k")
    if not base.exact:
        raise Unavailable("o200k itself cannot be had")
    return _scaled(base.count, vocabulary.ratio)


def from_characters(vocabulary: Vocabulary) -> Count:
    """Stand in with the estimate by script and class, which never fails."""
    return _scaled(estimate, vocabulary.ratio)


def _scaled(count: Count, ratio: float) -> Count:
    return count if ratio == 1 else lambda text: math.ceil(count(text) * ratio)


Source: TypeAlias = Callable[[Vocabulary], Count]
EXACT: tuple[Source, ...] = (from_splintr, from_tables, from_tiktoken)
STAND_INS: tuple[tuple[str, Source], ...] = (("o200k", from_ratio), ("characters", from_characters))


def build(
    vocabulary: Vocabulary,
    exact: Iterable[Source] = EXACT,
    stand_ins: Iterable[tuple[str, Source]] = STAND_INS,
) -> Tokenizer:
    """Go down the chain until a source has the vocabulary and counts the probes rightly."""
    for source in exact:
        try:
            return Tokenizer(name=vocabulary.name, count=_checked(source(vocabulary), vocabulary))
        except Unavailable:
            continue
        except FAILURES as problem:
            log.warning("%s cannot count %s: %r", source.__name__, vocabulary.name, problem)
    for base, source in stand_ins:
        try:
            return Tokenizer(name=f"{vocabulary.name}~{base}", count=source(vocabulary), exact=False)
        except FAILURES as problem:
            log.warning("%s cannot stand in for %s: %r", base, vocabulary.name, problem)
    return Tokenizer(name=f"{vocabulary.name}~characters", count=estimate, exact=False)


def _checked(count: Count, vocabulary: Vocabulary) -> Count:
    found = tuple(map(count, PROBES))
    if found != vocabulary.golden:
        raise ValueError(f"counts known texts as {found} instead of {vocabulary.golden}")
    return count


CHARACTERS = Tokenizer(name="chars4", count=characters)
"""Four characters a token: the project's yardstick measures in it, whatever the model."""

_loaded: dict[str, Tokenizer] = {CHARACTERS.name: CHARACTERS}
_loading = threading.RLock()


def load(name: str) -> Tokenizer:
    """Give the counter of that name, loading it if need be."""
    tokenizer = _loaded.get(name)
    if tokenizer is None:
        if name not in VOCABULARIES:
            raise BadInput("tokenizer", f"unknown name {name!r}; one of {', '.join(names())}")
        with _loading:
            tokenizer = _loaded.get(name) or build(VOCABULARIES[name])
            _loaded[name] = tokenizer
    return tokenizer


def names() -> tuple[str, ...]:
    """List what `load` accepts."""
    return (*VOCABULARIES, CHARACTERS.name)


def count_text(tokenizer: str, text: str) -> int:
    """Count the tokens of a text in the named vocabulary."""
    if not isinstance(text, str):
        raise BadInput("text", f"expected text, got {type(text).__name__}")
    return load(tokenizer).count(text)


def warm(*tokenizers: str) -> threading.Thread:
    """Load counters in the background, in their fastest form, so that the first count need not wait for them."""

    def work() -> None:
        for name in tokenizers:
            vocabulary = VOCABULARIES.get(name)
            if vocabulary is None or not vocabulary.swift:
                load(name)
                continue
            swift = build(replace(vocabulary, splintr=vocabulary.swift))
            if swift.exact:
                _loaded[name] = swift

    thread = threading.Thread(target=work, name="octavo-warm", daemon=True)
    thread.start()
    return thread
