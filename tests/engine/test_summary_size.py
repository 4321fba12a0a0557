"""A summary that somebody writes has room up to the last token, and not for one more."""

from __future__ import annotations

import pytest

from octavo.engine.chat_snapshots import SummarySize
from octavo.errors import BadInput


def test_what_fills_the_room_exactly_fits() -> None:
    SummarySize(tokens=1_500, room=1_500).check()
    with pytest.raises(BadInput, match=r"1,501 tokens, and 1,500 fit"):
        SummarySize(tokens=1_501, room=1_500).check()
