"""Pictures and files by address: data URLs, links, and what to say in words where a format cannot hold them.

Content that travels inside a message is always a base64 data URL in `source`, whatever the wire called it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from urllib.parse import urlsplit

from octavo.core.messages import Attachment, Image
from octavo.core.transcript import describe

PDF = "application/pdf"
UNKNOWN = "application/octet-stream"
_TEXTUAL = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})
_SAME_TYPE = {"image/jpg": "image/jpeg", "audio/mpeg": "audio/mp3", "audio/x-wav": "audio/wav"}
_BY_ENDING = {
    "png": "image/png",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "pdf": PDF,
}
_BITS_OF_BASE64, _BITS_OF_BYTE = 6, 8


@dataclass(frozen=True, slots=True)
class Data:
    """Content inside a message."""

    media_type: str
    base64: str

    @property
    def url(self) -> str:
        return f"data:{self.media_type};base64,{self.base64}"

    @property
    def size(self) -> int:
        """How many bytes it is."""
        return len(self.base64.rstrip("=")) * _BITS_OF_BASE64 // _BITS_OF_BYTE

    @property
    def text(self) -> str | None:
        """The content as text; None if it is none."""
        try:
            content = base64.b64decode(self.base64, validate=True)
            return content.decode("utf-8", "surrogatepass")
        except ValueError:
            return None


def read_data(source: str) -> Data | None:
    """Take a base64 data URL apart; None for any other address."""
    head, comma, body = source.partition(",")
    if not (comma and head.startswith("data:") and head.endswith(";base64")):
        return None
    return Data(head.removeprefix("data:").removesuffix(";base64"), body)


def text_data(text: str, media_type: str = "text/plain") -> Data:
    """Pack text as content; lone surrogates survive."""
    return Data(media_type, base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii"))


def is_link(source: str) -> bool:
    """Tell whether any provider can fetch this address."""
    return source.lower().startswith(("http://", "https://"))


def main_type(media_type: str) -> str:
    """Strip a media type of parameters and spell it the usual way."""
    plain = media_type.partition(";")[0].strip().lower()
    return _SAME_TYPE.get(plain, plain)


def type_of(part: Image | Attachment) -> str:
    """Tell the media type of a picture or file: from its content if that says it, else from its description."""
    data = read_data(part.source)
    return main_type((data.media_type if data else "") or part.media_type)


def type_by_ending(source: str) -> str:
    """Guess the media type of a link from its ending; empty when it tells nothing."""
    try:
        path = urlsplit(source).path
    except ValueError:
        return ""
    return _BY_ENDING.get(path.rpartition(".")[2].lower(), "")


def file_text(file: Attachment) -> str | None:
    """Read a text file that came with a message; None when it is no text or not there."""
    kind = type_of(file)
    data = read_data(file.source) if kind.startswith("text/") or kind in _TEXTUAL else None
    return None if data is None else data.text


def as_picture(file: Attachment) -> Image | None:
    """Treat a picture that was attached as a file as a picture."""
    kind = type_of(file)
    return Image(source=file.source, media_type=kind) if kind.startswith("image/") else None


def words_for(part: Image | Attachment) -> str:
    """Say in words what a format cannot hold: the text of a text file, else a line that names it."""
    line = describe(part)
    if isinstance(part, Attachment) and (text := file_text(part)) is not None:
        return f"{line}\n{text}"
    return f"{line} {part.source}" if is_link(part.source) else line
