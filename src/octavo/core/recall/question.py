"""What is asked: the words of a user's message, each with its weight.

A follow-up that names nothing ("and when was that?") takes the words of the turn before it, at a lower weight. What
is only polite ("thanks!", "go on") asks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from octavo.core.extract.cues import FUNCTION_WORDS
from octavo.core.extract.scan import UNSPACED, atoms
from octavo.core.messages import Message, Text, opens_turn
from octavo.core.recall.words import EDGES, components, fold, stem, words

BEFORE = 0.4
"""Weight of a word that only the turn before says: it may be what "that" means, or not."""
COMPONENT = 0.3
"""Weight of what may be a part of a long word."""
ASKED = 64
"""Words of a question that are looked up, the first and the last ones: a pasted document is not a question."""
LONGEST_EMPTY = 24
"""Characters of a run without blanks that may all be courtesy: a longer one names something."""
READ = 20_000
"""Characters of a message that are read for its question, half of them at either end."""

_COURTESY = """
    thanks thank thx ty cheers great cool nice perfect awesome excellent wonderful ok okay k yes yeah yep yup sure fine
    right good no nope nah please continue go on going ahead next proceed done hi hello hey bye goodbye welcome sorry
    lol haha hmm oh wow well alright agreed exactly indeed got understood much lot so you that is was very really keep
    danke dankeschön bitte super toll prima gut weiter mach ja nein genau gerne klar passt alles hallo tschüss schön
    merci beaucoup parfait oui non continue vas-y bien d'accord salut bonjour super
    gracias muchas perfecto sí vale bien claro continúa sigue adelante hola genial bueno
    obrigado obrigada perfeito sim não continua ótimo beleza certo olá grazie mille perfetto sì avanti bene ciao
    спасибо большое отлично хорошо да нет ок окей продолжай продолжайте дальше понятно ясно супер привет пока ладно
    شكرا جزيلا حسنا نعم لا تابع استمر ممتاز جيد مرحبا تمام
    धन्यवाद शुक्रिया ठीक है हाँ हां नहीं जारी रखो रखें आगे बढ़ो अच्छा बहुत नमस्ते
    teşekkürler teşekkür ederim sağol tamam evet hayır devam et harika güzel peki merhaba çok
    dank bedankt dankjewel goed ga door prima dziękuję dzięki dobrze tak nie dalej świetnie tack bra ja nej fortsätt
"""
_UNSPACED_COURTESY = """
    谢谢 多谢 感谢 好的 好吧 可以 继续 明白 知道了 是的 不是 不用 好 嗯 对 行 你好 再见 非常 你 了 啊
    ありがとうございます ありがとう どうも わかりました 了解です 了解 はい いいえ 続けて ください 続き お願いします
    お願い いいね なるほど です ます ね よ
    감사합니다 고마워요 고마워 네 예 아니요 좋아요 좋아 알겠습니다 알겠어요 알았어 계속하세요 계속해 계속 하세요
    해주세요 주세요
    ขอบคุณ มาก ครับ ค่ะ คะ โอเค ได้ ตกลง ต่อไป ต่อ เลย ใช่ ไม่ ดี สวัสดี เยี่ยม นะ
"""
_OPEN = """
    who when where why what which whose how wer wann wo warum wieso weshalb wohin woher welche welcher welches was wie
    wieviel das dies qui quand où pourquoi comment quel quelle combien quoi ça quién cuándo dónde qué cómo cuál cuánto
    eso quem quando onde como qual quanto isso chi dove perché come quale quello кто когда где почему как какой какая
    сколько что куда это من متى أين لماذا كيف كم ماذا ما ذلك कौन कब कहाँ कहां क्यों कैसे क्या कितना वह था kim ne
    zaman nerede neden nasıl hangi kaç bu wanneer waar waarom hoe welke
"""
"""What asks and points without naming anything."""
_UNSPACED_OPEN = """
    什么时候 什么 时候 谁 哪里 哪儿 为什么 怎么 多少 那个 那 这 是 的 呢 吗 在 什麼 それ これ いつ 誰 だれ どこ なぜ 何
    でした ですか は が の か 그게 그건 그것 이것 언제 누구 어디 왜 무엇 뭐 였어요 였나요 였죠 인가요 แล้ว นั่น มัน
    เมื่อไหร่ เมื่อไร ใคร ที่ไหน ทำไม อะไร คือ
"""
_POLITE = frozenset(map(fold, _COURTESY.split()))
_POINTING = frozenset(map(fold, _OPEN.split())) | FUNCTION_WORDS
_ASKING = frozenset(map(fold, _OPEN.split()))
_EMPTY_RUNS = (*_UNSPACED_COURTESY.split(), *_UNSPACED_OPEN.split())
_OPEN_RUN = re.compile("|".join(_UNSPACED_OPEN.split()))
_ASKS = re.compile("[?？؟;\u037e]")
_RUN = re.compile(f"[{UNSPACED}]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A pending message as it is looked up."""

    text: str
    weights: Mapping[str, float]
    """Words with their weights; none: nothing is asked for."""
    asks: bool = True
    """Whether it has the form of a question; something that is only told may need less of what was said before."""


def question_of(message: Message, earlier: Sequence[Message]) -> Question:
    """Say what a user's message asks for, after the messages `earlier` on its branch."""
    # "What is this?" beside a picture means the picture, not what was said before.
    alone = all(isinstance(part, Text) for part in message.parts)
    return ask(message.text, _turn_before(earlier) if alone else ())


def _turn_before(earlier: Sequence[Message]) -> Iterator[str]:
    """Give the texts of the last turn: what "that" may mean."""
    for message in reversed(earlier):
        if message.text:
            yield message.text
        if opens_turn(message):
            return


def ask(text: str, before: Iterable[str] = ()) -> Question:
    """Say what a user's message asks for; `before` are the texts of the turn before it."""
    weights = _weigh(text)
    if not weights and _is_follow_up(text):
        for earlier in before:
            weights |= {word: BEFORE * weight for word, weight in _weigh(earlier).items()}
    return Question(text=text, weights=weights, asks=_has_form_of_question(text))


def _has_form_of_question(text: str) -> bool:
    first = next((_bare(piece) for piece in atoms(text[:READ])), "")
    return bool(_ASKS.search(text) or first in _ASKING or _OPEN_RUN.match(text.strip()))


def _weigh(text: str) -> dict[str, float]:
    text = text if len(text) <= READ else f"{text[: READ // 2]}\n{text[-READ // 2 :]}"
    pieces = [piece for piece in atoms(_RUN.sub(_named, text)) if _bare(piece) not in _POLITE | _POINTING]
    whole = {stem(_bare(piece)) for piece in pieces}
    inner = {part for piece in pieces for part in components(_bare(piece))} - whole
    weights = {word: COMPONENT if word in inner else 1.0 for word in words(" ".join(pieces))}
    if len(weights) <= ASKED:
        return weights
    kept = [*weights][: ASKED // 2] + [*weights][-ASKED // 2 :]
    return {word: weights[word] for word in kept}


def _bare(piece: str) -> str:
    return fold(piece.strip(EDGES))


def _named(run: re.Match[str]) -> str:
    """Leave a run of a script without blanks only if it names something."""
    text = run[0]
    if len(text) > LONGEST_EMPTY:
        return text
    reached = {0}
    for at in range(len(text)):
        if at in reached:
            reached |= {at + len(word) for word in _EMPTY_RUNS if text.startswith(word, at)}
    return " " if len(text) in reached else text


def _is_follow_up(text: str) -> bool:
    """Tell whether a text that names nothing asks something all the same."""
    points = any(_bare(piece) in _POINTING - _POLITE for piece in atoms(text)) or _OPEN_RUN.search(text)
    return bool(points) and _ASKS.search(text) is not None
