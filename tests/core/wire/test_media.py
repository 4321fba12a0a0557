"""Data URLs, links, and files that are text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octavo.core.messages import Attachment, Image
from octavo.core.wire.media import (
    Data,
    as_picture,
    file_text,
    is_link,
    main_type,
    read_data,
    text_data,
    type_by_ending,
    type_of,
    words_for,
)


@pytest.mark.parametrize(
    ("source", "data"),
    [
        ("data:image/png;base64,AA==", Data("image/png", "AA==")),
        ("data:;base64,", Data("", "")),
        ("data:text/plain;charset=utf-8;base64,QQ==", Data("text/plain;charset=utf-8", "QQ==")),
        ("data:text/plain,hello", None),
        ("data:image/png;base64", None),
        ("https://a.example/b,c", None),
        ("", None),
    ],
)
def test_data_urls_are_taken_apart(source: str, data: Data | None) -> None:
    assert read_data(source) == data
    assert data is None or data.url == source


@settings(deadline=None)
@given(st.text(st.characters(categories=["L", "P", "Zs", "Cs"])))
def test_text_survives_as_data(text: str) -> None:
    """Seen failing on lone surrogates when the text was encoded strictly."""
    data = text_data(text)
    assert data.text == text
    assert data.size == len(text.encode("utf-8", "surrogatepass"))
    assert read_data(data.url) == data


@pytest.mark.parametrize("content", ["/w==", "A", "é", "QQ==\n!"])
def test_data_that_is_no_text_has_none(content: str) -> None:
    assert Data("text/plain", content).text is None


@pytest.mark.parametrize(
    ("media_type", "plain"),
    [("image/png", "image/png"), ("IMAGE/JPG; q=1", "image/jpeg"), ("audio/mpeg", "audio/mp3"), ("", "")],
)
def test_media_types_are_spelled_the_usual_way(media_type: str, plain: str) -> None:
    assert main_type(media_type) == plain


@pytest.mark.parametrize(
    ("source", "guess"),
    [
        ("https://a/b.png", "image/png"),
        ("https://a/b.PDF?c=d.png#e", "application/pdf"),
        ("https://a", ""),
        ("http://[", ""),
    ],
)
def test_an_address_may_tell_the_type(source: str, guess: str) -> None:
    assert type_by_ending(source) == guess


def test_content_knows_its_type_better_than_what_is_said_of_it() -> None:
    assert (
        type_of(Attachment(name="a", media_type="text/csv", source="data:IMAGE/png;base64,")) == "image/png"
    )
    assert type_of(Attachment(name="a", media_type="text/csv", source="data:;base64,")) == "text/csv"
    assert type_of(Image(source="https://a/b.png")) == ""


def test_links_are_what_any_provider_can_fetch() -> None:
    assert is_link("HTTPS://a.example")
    assert not is_link("gs://a")
    assert not is_link("file_01")


def test_a_picture_attached_as_a_file_is_a_picture() -> None:
    assert as_picture(Attachment(name="a", media_type="image/png", source="s")) == Image(
        source="s", media_type="image/png"
    )
    assert as_picture(Attachment(name="a", media_type="application/pdf")) is None


def test_a_text_file_is_read() -> None:
    assert file_text(Attachment(name="a", media_type="text/csv", source=text_data("1,2").url)) == "1,2"
    assert file_text(Attachment(name="a", media_type="text/csv", source="https://a/b.csv")) is None
    assert (
        file_text(Attachment(name="a", media_type="text/csv", source="data:application/pdf;base64,MQ=="))
        is None
    )


def test_words_name_what_cannot_be_sent() -> None:
    assert words_for(Image(source="file_1", width=2, height=3)) == "[image 2×3]"
    assert words_for(Attachment(name="a.zip", media_type="application/zip", size=2048)) == (
        "[file: a.zip (application/zip, 2,048 bytes)]"
    )
