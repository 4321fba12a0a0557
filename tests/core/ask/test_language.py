"""Case 106: the language of a conversation, and of an answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from octavo.core.ask.language import UNKNOWN, Language, detect, foreign, language_of
from octavo.core.messages import assistant, user

SAYINGS = {
    "English": "Can you help me fix the build? I want to move it to the new machine, but it does not start.",
    "German": "Kannst du mir bitte beim Bauen helfen? Wir haben uns entschieden, die Datenbank nicht zu wechseln.",
    "French": "Peux-tu m'aider à corriger cette erreur ? Nous avons décidé de ne pas changer le nom de la table.",
    "Spanish": "¿Puedes ayudarme a arreglar el error? No quiero que se cambie el nombre de la tabla en la base.",
    "Italian": "Puoi aiutarmi a correggere questo errore? Abbiamo deciso di non cambiare il nome della tabella.",
    "Portuguese": "Você pode me ajudar a corrigir o erro? Não quero que o nome da tabela seja alterado na base.",
    "Dutch": "Kun je me helpen met deze fout? We hebben besloten om de naam van de tabel niet te veranderen.",
    "Russian": "Помоги мне исправить ошибку в базе. Мы решили не менять название таблицы, потому что это сложно.",
    "Ukrainian": "Допоможи мені виправити помилку в базі. Ми вирішили не змінювати назву таблиці, бо це складно.",
    "Polish": "Czy możesz mi pomóc naprawić błąd w bazie? Nie chcę zmieniać nazwy tabeli, bo to jest trudne.",
    "Turkish": "Bu hatayı düzeltmeme yardım eder misin? Tablonun adını değiştirmemeye karar verdik bu daha kolay.",
    "Arabic": "هل يمكنك مساعدتي في إصلاح هذا الخطأ؟ قررنا عدم تغيير اسم الجدول لأن هذا أسهل من ذلك.",
    "Hebrew": "אתה יכול לעזור לי לתקן את השגיאה במסד הנתונים? החלטנו לא לשנות את שם הטבלה.",
    "Hindi": "क्या आप इस त्रुटि को ठीक करने में मेरी मदद कर सकते हैं? हमने तालिका का नाम नहीं बदलने का फैसला किया है।",
    "Chinese": "你能帮我修复数据库 PostgreSQL 里的错误吗？我们决定不更改表名，因为这样更简单。",
    "Japanese": "データベースのエラーを直すのを手伝ってくれますか？テーブル名は変更しないことにしました。",
    "Korean": "데이터베이스 오류를 고치는 것을 도와줄 수 있나요? 테이블 이름은 바꾸지 않기로 했습니다.",
    "Greek": "Μπορείς να με βοηθήσεις να διορθώσω το σφάλμα στη βάση δεδομένων;",
    "Thai": "คุณช่วยฉันแก้ไขข้อผิดพลาดในฐานข้อมูลได้ไหม",
}
DATA = Path(__file__).parents[3] / ".." / "shared" / "data" / "claude_counts.jsonl.gz"


@pytest.mark.parametrize("name", SAYINGS)
def test_a_language_is_told_by_its_script_and_its_small_words(name: str) -> None:
    assert detect(SAYINGS[name]).name == name
    assert str(detect(SAYINGS[name])) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12345 !!! ???",
        "ok",
        "static int *xs = malloc(n * sizeof *xs); assert(xs); free(xs);",
        "Ann Bob Claire Dora Emil Fritz Gustav Hanna",
        "Kila mtu anastahili kuwa na haki zote na uhuru wote ambao umeelezwa katika tangazo hili",
    ],
)
def test_what_is_not_clear_is_not_guessed(text: str) -> None:
    assert detect(text).name == ""
    assert str(detect(text)) == "the language of the conversation"


def test_declarations_in_many_languages_are_told_apart_or_left_open() -> None:
    """None of the languages of the table is taken for another one."""
    if not DATA.exists():
        pytest.skip("the shared data is not here")
    names = {"rus": "Russian", "ukr": "Ukrainian", "pol": "Polish", "hin": "Hindi", "arb": "Arabic"}
    names |= {"por_PT": "Portuguese", "ces": "Czech"}
    with gzip.open(DATA, "rt") as lines:
        documents = {document["id"]: document["text"] for document in map(json.loads, lines)}
    assert {code: detect(documents[f"udhr/{code}"]).name for code in names} == names
    others = [text for id, text in documents.items() if id.startswith("udhr/") and id[5:] not in names]
    guessed = [name for text in others if (name := detect(text).name) not in ("", "Vietnamese", "Indonesian")]
    assert len(guessed) <= len(others) // 10


def test_chinese_that_quotes_a_few_kana_is_chinese_and_with_a_tenth_it_is_japanese() -> None:
    assert detect("今日天気晴朗海上波高" * 2 + "の").name == "Chinese"
    assert detect("今日天気晴朗海上波" + "の").name == "Japanese"


MADE_UP = " ".join(f"zorb{letter}x" for letter in "abcdefghijklmnopqrstuv")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("สวัสดีคร", "Thai"),  # eight letters and signs
        ("สวัสดีค", ""),
        ("och det en som på", "Swedish"),  # of five small words Danish has four
        ("det en som på", ""),
        (f"the and of {MADE_UP}", "English"),  # three different ones of twenty-five words
        (f"the and of {MADE_UP} zorb", ""),
        (f"the and the {MADE_UP}", ""),
    ],
)
def test_just_enough_letters_and_small_words_tell_a_language(text: str, name: str) -> None:
    assert detect(text).name == name


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("Das ist nicht gut und wir haben es schon immer ge", ""),  # thirty-nine letters
        ("Das ist nicht gut und wir haben es schon immer gew", "German"),
        ("abcdefghij " + "щърфкцгжшб" * 4, ""),  # four fifths
        ("abcdefghij " + "щърфкцгжшб" * 4 + "щ", "cyrillic script"),
        ("der und die nicht the and Lagerhaus Fensterbank Kellertreppe Gartentor", "German"),
        ("der und nicht the and Lagerhaus Fensterbank Kellertreppe Gartentor", ""),  # not twice as many
    ],
)
def test_just_enough_of_another_language_is_found_out(answer: str, found: str) -> None:
    assert foreign(answer, Language("English", "latin")) == found


def test_as_much_is_looked_at_as_a_sample_holds() -> None:
    question = user("Kannst du mir das bitte noch für uns machen, wenn es nicht zu viel ist? " * 6)
    newer = [user("x" * 400)] * 15
    assert language_of([question, *newer[1:]]).name == "German"
    assert language_of([question, *newer]).name == ""


def test_code_and_addresses_do_not_count() -> None:
    text = (
        "```python\nfor this in the_list: print('and that is not it')\n```\n"
        "Siehe https://example.org/this/is/the/page und `if this is not that`. Das ist nicht gut, wir haben es schon."
    )
    assert detect(text).name == "German"


def test_a_question_behind_a_page_of_code_counts_and_code_that_touches_words_does_not() -> None:
    pasted = "```\n" + "x = the_other.path()\n" * 500 + "```\n"
    assert language_of([user(pasted + SAYINGS["German"])]).name == "German"
    assert detect(f"`the of`/to/and{SAYINGS['German']}<b is=the>/of/in").name == "German"


def test_users_decide_by_their_newest_words_and_one_paste_does_not_outvote_them() -> None:
    paste = "The quick brown fox is what they have for you and it was not in the box. " * 300
    talk = [user("Bitte fasse das für mich zusammen, es ist zu lang: " + paste)]
    talk += [
        assistant("That is what it is for, and there you have it."),
        user("Kannst du mir auch das erklären?"),
    ]
    talk += [user("Danke, das ist es. Und wie ist es mit dem Rest, kannst du den auch noch für mich machen?")]
    assert language_of(talk[1:]).name == "German"
    assert language_of([user("ls -la"), assistant(SAYINGS["French"])]).name == "French"
    assert language_of([]) == UNKNOWN


def test_a_long_conversation_is_judged_by_its_end() -> None:
    old = [user("I want to know what this is and how it was made for you.")] * 300
    new = [user("Und jetzt möchte ich, dass wir das alles auf der anderen Maschine machen.")] * 300
    assert language_of(old + new).name == "German"


@pytest.mark.parametrize(
    ("answer", "wanted", "found"),
    [
        ("English", "Chinese", "English"),
        ("Chinese", "English", "Chinese"),
        ("Russian", "German", "Russian"),
        ("English", "German", "English"),
        ("French", "Spanish", "French"),
        ("Japanese", "Chinese", "Japanese"),
        ("Russian", "Ukrainian", "Russian"),
        ("German", "German", ""),
        ("Chinese", "Chinese", ""),
        ("Korean", "Korean", ""),
    ],
)
def test_an_answer_in_another_language_is_found_out(answer: str, wanted: str, found: str) -> None:
    assert foreign(SAYINGS[answer], detect(SAYINGS[wanted])) == found


def test_names_and_code_of_another_script_are_no_other_language() -> None:
    answer = "## Key Points\n- 使用 `SELECT * FROM invoices` 查询 PostgreSQL 17 的 invoices 表。\n- 端口改为 5433。"
    assert foreign(answer * 3, detect(SAYINGS["Chinese"])) == ""


def test_a_script_without_a_known_language_is_named_as_such() -> None:
    answer = "Барои ман кор кардан дар ин ҷо хеле душвор аст, зеро вақт намерасад ҳамеша."
    assert foreign(answer, Language("English", "latin")) == "cyrillic script"


def test_little_text_unknown_languages_and_wishes_are_given_the_benefit_of_the_doubt() -> None:
    assert foreign("你好", Language("English", "latin")) == ""
    assert foreign(SAYINGS["Chinese"], UNKNOWN) == ""
    assert (
        foreign(SAYINGS["English"], Language("German", "latin"), allowed="please write it in english") == ""
    )
    assert (
        foreign("Ann, Bob, Claire, Dora, Emil, Fritz, Gustav, Hanna, Ida", Language("German", "latin")) == ""
    )
