"""`octavo demo`: everything can be tried at once, without a model and without a key."""

from __future__ import annotations

from tests.cli.kit import plainly


def test_the_demo_opens_a_compressed_conversation_without_any_model(environment: dict[str, str]) -> None:
    done = plainly("demo", environment=environment, stdin="/summary\n/receipt\n/recall spare sensor\n/undo\n")
    assert done.code == 0, done.err
    assert "a weather station" in done.out
    assert "After a power cut everything comes back" in done.out, "the summary"
    assert "MM_A_TIP" in done.out, "a fact that was left out"
    assert "0x77" in done.out, "what was recalled"
    assert "/receipt" in done.err, "what can be tried is said first"
    again = plainly("demo", environment=environment)
    assert again.code == 0
    listed = plainly("conversations", "--json", environment=environment).json
    assert len(listed) == 1, "the sample is there once"
