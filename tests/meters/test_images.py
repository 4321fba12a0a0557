from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.core.messages import Attachment, Image, Wire
from octavo.meters.images import (
    MEDIA,
    Crops,
    Grid,
    Patches,
    Tiles,
    count_file,
    count_image,
    count_pages,
    read_size,
    size_of,
)


def png(width: int, height: int, noise: int = 0) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 8) + b"\7" * noise), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 20


def jpeg(width: int, height: int, *, before: int = 0) -> bytes:
    """A JPEG whose size stands after `before` bytes of what a camera wrote."""
    segments = b""
    while before > 0:
        size = min(before, 60_000)
        segments += b"\xff\xe1" + struct.pack(">H", size + 2) + b"x" * size
        before -= size
    frame = struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\0" * 9
    return b"\xff\xd8" + segments + b"\xff\xff\xc2" + frame + b"\xff\xd9"


def webp(kind: bytes, width: int, height: int) -> bytes:
    match kind:
        case b"VP8 ":
            body = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
        case b"VP8L":
            body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 8
        case _:
            body = b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(body)) + body


def url(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


FILES: dict[str, Callable[[int, int], bytes]] = {
    "png": png,
    "gif": gif,
    "jpeg": jpeg,
    "webp lossy": lambda w, h: webp(b"VP8 ", w, h),
    "webp lossless": lambda w, h: webp(b"VP8L", w, h),
    "webp extended": lambda w, h: webp(b"VP8X", w, h),
}


@pytest.mark.parametrize("kind", FILES)
@given(width=st.integers(1, 16_383), height=st.integers(1, 16_383))
def test_the_size_is_read_from_the_first_bytes(kind: str, width: int, height: int) -> None:
    """Planted bug: a WebP's lossless height was read from one bit further."""
    assert size_of(Image(source=url(FILES[kind](width, height)))) == (width, height)


@pytest.mark.parametrize("before", [0, 10_000, 200_000])
def test_a_jpeg_is_read_past_what_the_camera_wrote(before: int) -> None:
    assert size_of(Image(source=url(jpeg(4_000, 3_000, before=before)))) == (4_000, 3_000)


def test_a_size_that_is_stated_needs_no_bytes() -> None:
    assert size_of(Image(source="https://example.org/cat.png", width=640, height=480)) == (640, 480)


@given(
    st.binary(max_size=64),
    st.sampled_from([b"\xff\xd8", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8L", b"\x89PNG\r\n\x1a\n"]),
)
def test_broken_pictures_have_no_size_and_do_no_harm(noise: bytes, start: bytes) -> None:
    size = read_size(start + noise)
    assert size is None or min(size) > 0


@pytest.mark.parametrize(
    "source",
    [
        "",
        "data:image/png;base64,",
        "data:image/png;base64,!!!!",
        "data:image/png,raw",
        "file-abc123",
        "data:;base64,AA",
    ],
)
def test_a_source_that_cannot_be_read_takes_the_cap(source: str) -> None:
    for name, media in MEDIA.items():
        assert count_image(name, Image(source=source)) == media.picture.tokens(None) > 0


@pytest.mark.parametrize("rule", MEDIA)
def test_the_cost_does_not_depend_on_the_length_of_the_encoding(rule: str) -> None:
    """Case 70."""
    small, large = png(800, 600), png(800, 600, noise=300_000)
    assert count_image(rule, Image(source=url(small))) == count_image(rule, Image(source=url(large)))


@pytest.mark.parametrize("rule", MEDIA)
@given(width=st.integers(1, 12_000), height=st.integers(1, 12_000))
def test_no_picture_costs_more_than_one_of_unknown_size(rule: str, width: int, height: int) -> None:
    """Planted bug: patches over their budget were not shrunk. (Flat tiles state no limit; a large photo is theirs.)"""
    picture = MEDIA[rule].picture
    assert 0 < picture.tokens((width, height)) <= picture.tokens(None)


def test_published_examples_of_the_tile_rule() -> None:
    rule = Tiles(base=85, tile=170)
    assert [rule.tokens(size) for size in ((1_024, 1_024), (2_048, 4_096), (4_096, 8_192), (100, 100))] == [
        765,
        1_105,
        1_105,
        255,
    ]


def test_published_examples_of_the_patch_rule() -> None:
    assert Patches(factor=1, budget=1_536).tokens((1_024, 1_024)) == 1_024
    assert Patches(factor=1, budget=1_536).tokens((1_800, 2_400)) == 1_452


def test_published_measurements_of_the_grid_rule() -> None:
    older, newer = Grid(side=28, edge=1_568, cap=1_568), Grid(side=28, edge=2_576, cap=4_784)
    squares = [(256, 256), (512, 512), (1_024, 1_024)]
    assert [newer.tokens(size) for size in squares] == [100, 361, 1_369]
    assert (older.tokens((1_920, 1_080)), newer.tokens((1_920, 1_080))) == (1_560, 2_691)


def test_small_pictures_are_one_crop() -> None:
    rule = Crops(side=768, tile=258, most=24, small=384)
    assert [rule.tokens(size) for size in ((384, 384), (385, 10), (1_536, 768))] == [258, 258, 516]


def test_low_detail_costs_the_least_whatever_the_size() -> None:
    wire = Wire("openai", '{"image_url":{"detail":"low"}}')
    assert count_image("openai-4o", Image(source=url(png(4_000, 3_000)), wire=wire)) == 85


def test_pages_are_counted_or_guessed_from_the_size() -> None:
    pdf = b"%PDF-1.7 " + b"1 0 obj << /Type /Page /Parent 2 0 R >> endobj " * 3 + b"<< /Type /Pages >>"
    assert count_pages(Attachment(name="a.pdf", source=url(pdf, "application/pdf"))) == 3
    assert count_pages(Attachment(name="a.pdf", size=600_000)) == 10
    assert count_pages(Attachment(name="a.pdf")) == 1


def test_files_cost_by_pages_and_seconds_where_a_family_takes_them() -> None:
    pdf = Attachment(name="a.pdf", media_type="application/pdf", size=120_000)
    sound = Attachment(name="a.mp3", media_type="audio/mp3", size=160_000)
    film = Attachment(name="a.mp4", media_type="video/mp4", size=2_500_000)
    assert count_file("anthropic", pdf, "application/pdf") == 4_200
    assert count_file("gemini-2", pdf, "application/pdf") == 516
    assert count_file("gemini-2", sound, "audio/mp3") == 320
    assert count_file("gemini-2", film, "video/mp4") == 2_630
    assert count_file("anthropic", sound, "audio/mp3") is None
    assert count_file("openai-4o", sound, "audio/mp3") == 100
