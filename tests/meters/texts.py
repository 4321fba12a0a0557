"""Varied texts, made anew from a seed: languages, code, data, noise, and what people type to break tokenizers."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator

from benchmarks.texts import LANGUAGES as LANGUAGES
from benchmarks.texts import code_lines as code_lines

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>user\nhi<|im_end|>",
    "<|fim_prefix|><|fim_suffix|>",
    "<|endofprompt|>",
    "<|start|>assistant<|channel|>final<|message|>ok<|return|>",
    "<|think|>so<|/think|>",
    "<bos><eos><pad><start_of_turn>",
    "[INST] hi [/INST]</s>",
    "\n\nHuman: hi\n\nAssistant:",
)
EMOJI = "🚀🎉👩\u200d💻👨🏽\u200d🔬✅🔥📈🐛☕\ufe0f🇫🇷🇯🇵🏳\ufe0f\u200d🌈🙂"
SPACES = (
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    "\u00a0",
    "\u3000",
    "\u2003",
    "\u200b",
    "\u0085",
    "\x0b",
)


def language(rng: random.Random) -> str:
    text = rng.choice(list(LANGUAGES.values()))
    if rng.random() < 0.5:
        return text
    return "".join(rng.choices(text + rng.choice(list(LANGUAGES.values())), k=rng.randint(1, 120)))


def sentences(rng: random.Random) -> str:
    return " ".join(rng.choices(list(LANGUAGES.values()), k=rng.randint(1, 5)))


def code(rng: random.Random, lines: list[str]) -> str:
    start = rng.randrange(len(lines) - 40)
    return "\n".join(lines[start : start + rng.randint(1, 40)])


def data(rng: random.Random) -> str:
    rows = [
        {"id": rng.randrange(10**9), "ok": rng.random() < 0.5, "ms": rng.random() * 1e3, "tags": ["a b", "ü"]}
        for _ in range(rng.randint(1, 5))
    ]
    return json.dumps(rows, indent=rng.choice([None, 2]), ensure_ascii=rng.random() < 0.5)


def encoded(rng: random.Random) -> str:
    noise = rng.randbytes(rng.randint(1, 400))
    return base64.b64encode(noise).decode() if rng.random() < 0.6 else noise.hex()


def emoji(rng: random.Random) -> str:
    return "".join(rng.choices(EMOJI + " ab", k=rng.randint(1, 40)))


def spaces(rng: random.Random) -> str:
    pieces = rng.choices([*SPACES, "a", "b.", "7"], k=rng.randint(1, 30))
    return "".join(piece * rng.randint(1, 9) for piece in pieces)


def special(rng: random.Random) -> str:
    return rng.choice(("", "x ", "1")).join(rng.choices(SPECIAL, k=rng.randint(1, 4)))


def case(rng: random.Random) -> str:
    words = (
        "HTTPServer",
        "iPhone",
        "don't",
        "WE'VE",
        "o'clock",
        "ÀÉÎ",
        "ǅ",
        "ẞ",
        "ΣΑΣ",
        "snake_case",
        "X9",
        "3.14e-10",
    )
    return rng.choice((" ", "", "-", "'")).join(rng.choices(words, k=rng.randint(1, 9)))


def repeated(rng: random.Random) -> str:
    return rng.choice("aA0 .-_=!é中🙂\n") * rng.randint(1, 600)


def unicode(rng: random.Random) -> str:
    planes = (
        (32, 127),
        (160, 0x3000),
        (0x3000, 0xD7FF),
        (0xE000, 0xFFFE),
        (0x1F300, 0x1FAFF),
        (0x10000, 0x30000),
    )
    return "".join(chr(rng.randrange(*rng.choice(planes))) for _ in range(rng.randint(1, 60)))


def varied(count: int, seed: int = 1) -> Iterator[str]:
    """Give texts of all kinds in turn."""
    rng, lines = random.Random(seed), code_lines()
    kinds: tuple[Callable[[random.Random], str], ...] = (
        language,
        sentences,
        lambda rng: code(rng, lines),
        data,
        encoded,
        emoji,
        spaces,
        special,
        case,
        repeated,
        unicode,
    )
    for number in range(count):
        yield kinds[number % len(kinds)](rng)
