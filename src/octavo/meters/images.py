"""Counts pictures, pages, sound and film by their measures, never by the length of their encoding.

A picture's size is read from the first bytes of its file, and only those are decoded. If a size is unknown, the most
that the rule can charge is taken, so a missing header never makes a count too low.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from octavo.core.messages import Attachment, Image

Size: TypeAlias = tuple[int, int]

HEADER = 32
"""Bytes that hold the size in a PNG, a GIF or a WebP."""
JPEG_STEPS = (4_096, 65_536, 1_048_576)
"""Bytes of a JPEG looked through, step by step: its size stands after whatever the camera wrote."""
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


def read_size(head: bytes) -> Size | None:
    """Read width and height from the beginning of a PNG, GIF, WebP or JPEG file; None if they are not there."""
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        return _real(struct.unpack(">II", head[16:24]))
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return _real(struct.unpack("<HH", head[6:10]))
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp(head)
    return _jpeg(head) if head[:2] == b"\xff\xd8" else None


def _real(size: tuple[int, ...]) -> Size | None:
    width, height = size
    return (width, height) if width > 0 and height > 0 else None


def _webp(head: bytes) -> Size | None:
    if len(head) < 30:
        return None
    match head[12:16]:
        case b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return _real((width & 0x3FFF, height & 0x3FFF))
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None


def _jpeg(head: bytes) -> Size | None:
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return None
        kind = head[at + 1]
        if kind in _JPEG_FRAMES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return _real((width, height))
        if kind == 0xFF:
            at += 1
        elif kind in _JPEG_BARE:
            at += 2
        else:
            at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None


def size_of(image: Image) -> Size | None:
    """Find a picture's size: as stated, else from the bytes in its data URL."""
    if image.width > 0 and image.height > 0:
        return image.width, image.height
    head = _decoded(image.source, HEADER)
    if not head.startswith(b"\xff\xd8"):
        return read_size(head)
    found = (read_size(_decoded(image.source, step)) for step in JPEG_STEPS)
    return next((size for size in found if size is not None), None)


def _decoded(source: str, size: int) -> bytes:
    """Decode the first bytes of a base64 data URL; empty for anything else."""
    comma = source.find(",", 0, 512)
    if not source.startswith("data:") or comma < 0 or not source[:comma].endswith(";base64"):
        return b""
    letters = -(-size // 3) * 4
    text = source[comma + 1 : comma + 1 + letters]
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """OpenAI's older rule: fit into a square, shrink the short side, count tiles."""

    base: int
    tile: int
    box: int = 2_048
    short: int = 768
    side: int = 512

    def tokens(self, size: Size | None) -> int:
        width, height = size or (self.short, self.box)
        scale = min(1.0, self.box / max(width, height))
        scale *= min(1.0, self.short / (min(width, height) * scale))
        return self.base + self.tile * _cells(width * scale, height * scale, self.side)

    @property
    def least(self) -> int:
        return self.base


@dataclass(frozen=True, slots=True, kw_only=True)
class Patches:
    """OpenAI's newer rule: patches up to a budget, times a factor."""

    factor: float
    budget: int
    low: int = 256
    """Patches at low detail."""
    side: int = 32

    def tokens(self, size: Size | None) -> int:
        if size is None:
            return math.ceil(self.budget * self.factor)
        width, height = size
        patches = _cells(width, height, self.side)
        if patches > self.budget:
            patches = self._shrunk(width, height)
        return math.ceil(patches * self.factor)

    def _shrunk(self, width: float, height: float) -> int:
        scale = math.sqrt(self.side**2 * self.budget / (width * height))
        across, down = width * scale / self.side, height * scale / self.side
        scale *= min(max(1, math.floor(across)) / across, max(1, math.floor(down)) / down)
        return min(self.budget, _cells(width * scale, height * scale, self.side))

    @property
    def least(self) -> int:
        return math.ceil(self.low * self.factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Cells of a picture shrunk until its long edge and its number of cells are within limits."""

    side: int
    edge: int
    cap: int
    block: int = 0
    """What the block around the picture costs."""

    def tokens(self, size: Size | None) -> int:
        if size is None:
            return self.cap + self.block
        width, height = size
        high = min(1.0, self.edge / max(width, height))
        if _cells(width * high, height * high, self.side) <= self.cap:
            return _cells(width * high, height * high, self.side) + self.block
        low = 0.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if _cells(width * middle, height * middle, self.side) <= self.cap:
                low = middle
            else:
                high = middle
        return _cells(width * low, height * low, self.side) + self.block

    @property
    def least(self) -> int:
        return self.tokens(None)


HALVINGS = 40
"""Steps of the search for the largest scale that fits: more precise than any picture has pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crops:
    """A price for each tile, without shrinking; small pictures are one tile."""

    side: int
    tile: int
    most: int
    """Tiles of the largest picture the rule allows, or of a large photograph where it states no limit."""
    small: int = 0
    """Up to this edge a picture is one tile."""
    extra: int = 0
    """Tiles added for the view of the whole."""

    def tokens(self, size: Size | None) -> int:
        if size is None:
            return self.tile * (self.most + self.extra)
        if max(size) <= self.small:
            return self.tile
        return self.tile * (min(self.most, _cells(*size, self.side)) + self.extra)

    @property
    def least(self) -> int:
        return self.tile


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """One price for every picture."""

    price: int

    def tokens(self, size: Size | None) -> int:  # noqa: ARG002 - every rule is asked with the size
        return self.price

    @property
    def least(self) -> int:
        return self.price


def _cells(width: float, height: float, side: int) -> int:
    # Scaling leaves 768.0000001 where 768 is meant; a millionth of a pixel is no pixel.
    return max(1, math.ceil(width / side - 1e-6)) * max(1, math.ceil(height / side - 1e-6))


Rule: TypeAlias = Tiles | Patches | Grid | Crops | Flat


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """What a family of models charges for what is not text."""

    picture: Rule
    page: int = 0
    """A page of a PDF, text and picture of it together; 0: the family reads none."""
    sound: float = 0
    """A second of sound; 0: the family hears nothing."""
    film: float = 0
    """A second of film."""
    fetches: bool = False
    """Files given by address are fetched and read."""


_OPENAI_PAGE = 1_500
"""A page of some 600 words with its picture; OpenAI names no figure."""
_OPENAI_SOUND = 10
"""A token for each tenth of a second."""


def _openai(picture: Rule) -> Media:
    return Media(picture=picture, page=_OPENAI_PAGE, sound=_OPENAI_SOUND)


MEDIA = MappingProxyType(
    {
        "openai-4o": _openai(Tiles(base=85, tile=170)),
        "openai-4o-mini": _openai(Tiles(base=2_833, tile=5_667)),
        "openai-o1": _openai(Tiles(base=75, tile=150)),
        "openai-5": _openai(Tiles(base=70, tile=140)),
        "openai-4.1-mini": _openai(Patches(factor=1.62, budget=1_536)),
        "openai-4.1-nano": _openai(Patches(factor=2.46, budget=1_536)),
        "openai-o4-mini": _openai(Patches(factor=1.72, budget=1_536)),
        "openai-5-mini": _openai(Patches(factor=1.2, budget=1_536)),
        "openai-5-nano": _openai(Patches(factor=1.5, budget=1_536)),
        "openai-5.2": _openai(Patches(factor=1.2, budget=2_500)),
        "anthropic": Media(picture=Grid(side=28, edge=1_568, cap=1_568, block=4), page=2_100, fetches=True),
        "anthropic-4.7": Media(
            picture=Grid(side=28, edge=2_576, cap=4_784, block=4), page=2_330, fetches=True
        ),
        "gemini-2": Media(
            picture=Crops(side=768, tile=258, most=24, small=384), page=258, sound=32, film=263, fetches=True
        ),
        "gemini-3": Media(picture=Flat(price=1_120), page=560, sound=32, film=70, fetches=True),
        "grok": Media(picture=Crops(side=448, tile=256, most=6, extra=1)),
        "mistral": Media(picture=Grid(side=28, edge=1_540, cap=3_025)),
        "qwen": Media(picture=Grid(side=28, edge=16_384, cap=1_280, block=2)),
        "llama4": Media(picture=Crops(side=336, tile=144, most=16, extra=1)),
        "": Media(picture=Flat(price=1_600), page=2_000),
    }
)
"""By the name a model card gives; the nameless one is for models nothing is known about."""


def count_image(rule: str, image: Image) -> int:
    """Count a picture by a family's rule."""
    picture = MEDIA[rule].picture
    if image.wire is not None and _LOW_DETAIL.search(image.wire.fields):
        return picture.least
    return picture.tokens(size_of(image))


_LOW_DETAIL = re.compile(r'"detail"\s*:\s*"low"')

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
PAGE_BYTES = 60_000
"""A usual page of a PDF, for files that hide their pages in compressed objects."""
SOUND_BYTES = MappingProxyType({"audio/wav": 32_000, "audio/x-wav": 32_000, "audio/flac": 64_000})
"""Bytes in a second of sound that is not compressed, or not much."""
COMPRESSED_SOUND_BYTES = 16_000
"""A second at 128 kilobits, the usual rate of mp3 and its kin."""
FILM_BYTES = 250_000
"""A second at 2 megabits."""


def count_pages(file: Attachment) -> int:
    """Count the pages of a PDF: as its objects say, else by its size; at least one."""
    content = _decoded(file.source, len(file.source))
    size = len(content) or file.size
    return max(1, len(_PAGE.findall(content)) or math.ceil(size / PAGE_BYTES))


def count_seconds(file: Attachment, media_type: str) -> int:
    """Guess how long a recording is from its size; at least a second."""
    size = file.size or len(file.source) * 3 // 4
    if media_type.startswith("video/"):
        return max(1, math.ceil(size / FILM_BYTES))
    return max(1, math.ceil(size / SOUND_BYTES.get(media_type, COMPRESSED_SOUND_BYTES)))


def count_file(rule: str, file: Attachment, media_type: str) -> int | None:
    """Count a PDF, sound or film by a family's rule; None if the family does not take it in."""
    media = MEDIA[rule]
    if media_type == "application/pdf" and media.page:
        return media.page * count_pages(file)
    if media_type.startswith("audio/") and media.sound:
        return math.ceil(media.sound * count_seconds(file, media_type))
    if media_type.startswith("video/") and media.film:
        return math.ceil(media.film * count_seconds(file, media_type))
    return None
