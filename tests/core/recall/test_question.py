"""What is asked: the words of a message, or those before it, or nothing."""

from __future__ import annotations

import pytest

from octavo.core.messages import Image, Message, Text, ToolCall, ToolResult, assistant, user
from octavo.core.recall.question import ASKED, BEFORE, COMPONENT, LONGEST_EMPTY, READ, ask, question_of
from octavo.core.recall.words import words

EARLIER = ("Where did we store the backup keys?", "In the vault of the Lisbon office.")


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!",
        "ok",
        "Ok, go on.",
        "go on",
        "yes please",
        "Great, thank you very much!",
        "ok?",
        "Danke!",
        "Danke, weiter bitte",
        "merci beaucoup",
        "¡Gracias!",
        "obrigado",
        "grazie mille",
        "спасибо большое",
        "شكرا جزيلا",
        "धन्यवाद",
        "teşekkürler, devam et",
        "谢谢",
        "好的，继续",
        "ありがとうございます",
        "はい、続けてください",
        "감사합니다",
        "네, 계속하세요",
        "ขอบคุณมากครับ",
        "👍",
        "",
    ],
)
def test_courtesy_asks_for_nothing(text: str) -> None:
    """Case 117."""
    assert ask(text, EARLIER).weights == {}


@pytest.mark.parametrize(
    "text",
    [
        "And when was that?",
        "who was it?",
        "Und wer war das?",
        "why not?",
        "那是什么时候？",
        "それはいつですか？",
    ],
)
def test_a_follow_up_takes_the_words_of_the_turn_before(text: str) -> None:
    """Case 117."""
    weights = ask(text, EARLIER).weights
    assert weights[words("vault")[0]] == weights[words("backup")[0]] == BEFORE


def test_a_question_with_words_of_its_own_needs_none_from_before() -> None:
    weights = ask("Which train goes to Prague?", EARLIER).weights
    assert set(weights) == set(words("train goes Prague"))
    assert set(weights.values()) == {1.0}


def test_the_parts_of_a_long_word_count_less() -> None:
    weights = ask("Wie lautet das Datenbankpasswort?").weights
    assert weights[words("Datenbank")[0]] == 1.0
    assert weights[words("Passwort")[0]] == COMPONENT


def test_a_pasted_document_is_asked_by_its_beginning_and_its_end() -> None:
    text = " ".join(f"word{n}x" for n in range(20_000))
    weights = ask(text).weights
    assert len(text) > READ
    assert len(weights) <= ASKED
    assert "word0x" in weights
    assert "word19999x" in weights


def test_a_run_without_blanks_is_asked_as_a_whole_if_it_is_more_than_courtesy() -> None:
    assert "小白" in ask("好的，小白是谁？").weights
    assert "的猫" in ask("我的猫" * 20).weights


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where is it?", True),
        ("where does the ship lie", True),
        ("Wann war das Treffen", True),
        ("你的船在哪里？", True),
        ("什么时候开会", True),
        ("The ship lies at berth 47.", False),
        ("Fix the parser.", False),
        ("", False),
    ],
)
def test_the_form_of_a_question_is_seen(text: str, asks: bool) -> None:
    assert ask(text).asks is asks


def test_a_question_beside_a_picture_means_the_picture() -> None:
    earlier = [user(EARLIER[0]), assistant(EARLIER[1])]
    text = Text(text="What is this?")
    beside = Message(role="user", parts=(text, Image(source="data:image/png;base64,aGk=")))
    assert question_of(beside, earlier).weights == {}
    assert (
        question_of(Message(role="user", parts=(text,)), earlier).weights == ask(text.text, EARLIER).weights
    )
    named = Message(role="user", parts=(Text(text="Is this the Aurelia?"), *beside.parts[1:]))
    assert set(question_of(named, earlier).weights) == set(words("Aurelia"))


def test_the_turn_before_goes_back_to_what_the_user_said_last() -> None:
    step = Message(role="assistant", parts=(ToolCall(id="c", name="look", input="{}"),))
    result = Message(role="user", parts=(ToolResult(call_id="c", content=(Text(text="a quay"),)),))
    earlier = [user("Of the zebra."), user(EARLIER[0]), step, result, assistant(EARLIER[1])]
    weights = question_of(user("And when was that?"), earlier).weights
    assert set(weights) == set(words(" ".join(EARLIER)))
    assert question_of(user("And when was that?"), []).weights == {}


def test_a_run_without_blanks_that_is_longer_than_courtesy_names_something() -> None:
    polite = "ありがとうございます" * 2 + "どうもね"
    assert len(polite) == LONGEST_EMPTY
    assert ask(polite).weights == {}
    assert ask(f"{polite}ね").weights


def test_a_message_that_is_read_whole_is_not_cut_in_the_middle() -> None:
    half = "x" * (READ // 2 - 5)
    assert (
        "harbour" in ask(f"{half} harbour {half}").weights
        or "harbou" in ask(f"{half} harbour {half}").weights
    )
