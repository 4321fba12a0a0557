"""Tells which language a text is in, by its script and by the small words that every sentence needs.

If the language is not clear, it stays unknown: "the language of the conversation" is a sufficient instruction.
Code, addresses and paths are not looked at, since they look English everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from octavo.core.messages import Message

UNNAMED = "the language of the conversation"
SAMPLE = 6_000
"""Characters that decide: enough for some hundred small words."""
HEAD = 400
"""Characters taken of one message, so that one long paste does not outvote a conversation."""
REACH = 20_000
"""Characters of one message in which they are looked for: a question may follow a page of code."""
DENSE = 3
"""A letter of a script without an alphabet says as much as three others: a Chinese question may quote English names."""
FEWEST_LETTERS = 8
SMALL_SHARE = 0.12
"""At least every eighth word of prose is a small one; in lists of names and in other languages it is not."""
FEWEST_DIFFERENT = 2
MOST_DIFFERENT = 6
WORDS_PER_DIFFERENT = 15
"""Two different small words, and one more for every fifteen words, up to six: in a language that is not in the table,
one syllable that happens to be in it comes again and again."""
LEAD = 1.25
"""How much more than the runner-up the winner needs: related languages share small words."""
KANA_SHARE = 0.1
"""Japanese prose is a third kana or more; a Chinese text that quotes a Japanese name stays below a tenth."""
FOREIGN = 0.8
"""An answer with more than this share of letters in other scripts is not in the language asked for."""
CLEAR = 2
"""How many times as many small words of another language an answer needs to be judged as written in it."""
SURE = 40
"""Letters an answer needs before its language is judged: a list of names is no evidence."""

Script = Literal[
    "latin", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "thai", "han", "kana", "hangul", ""
]

_SCRIPTS: tuple[tuple[Script, re.Pattern[str]], ...] = (
    ("latin", re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")),
    ("cyrillic", re.compile("[\u0400-\u052f]")),
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("arabic", re.compile("[\u0620-\u064a\u066e-\u06d3\u0750-\u077f]")),
    ("hebrew", re.compile("[\u05d0-\u05ea]")),
    ("devanagari", re.compile("[\u0900-\u097f]")),
    ("thai", re.compile("[\u0e00-\u0e7f]")),
    ("han", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")),
    ("kana", re.compile("[\u3040-\u30ff]")),
    ("hangul", re.compile("[\uac00-\ud7a3\u1100-\u11ff]")),
)
_DENSE: frozenset[Script] = frozenset({"han", "kana", "hangul"})
_ALONE: Mapping[Script, str] = {
    "greek": "Greek",
    "hebrew": "Hebrew",
    "thai": "Thai",
    "hangul": "Korean",
}
"""Scripts that one language has for itself, as far as conversations go."""

_WORDS: Mapping[Script, Mapping[str, str]] = {
    "latin": {
        "English": """
            the and of to in is that it for was with this have are not you on be what can from but they
            we how i me my do want did would should there which when if has or its your where why
        """,
        "German": """
            der die und das ist nicht ich ein eine zu den mit für auf wie es auch wir sich wird haben
            von dem im kann bitte noch du mir mich dir des was habe oder aber wenn nur einen einem einer
            bei nach uns sie er hat kein keine
        """,
        "French": """
            le la les des et est une un que pas pour dans qui sur avec nous vous je ce au sont il elle
            plus du en ne cette mais ou où tu mon ma mes peux être avoir ai fait comme si quand notre
            votre leur tout
        """,
        "Spanish": """
            el la los las y que es una un por con para no se del lo como pero más está yo qué su al en
            de hay me mi te si o cuando esta este esto ha he son muy quiero puedes tiene sin
        """,
        "Italian": """
            il che di la è per una non con sono del della le si gli come ma nel anche questo questa un i
            alla ha ho mi più dei ogni al da in abbiamo perché puoi ti o se lo cosa tutti quando suo
        """,
        "Portuguese": """
            o a os as que não é uma um para com por do da em se mas como está no na eu você isso dos das
            ao ou tem são à toda todo me meu minha pode quero ser seja quando muito ele ela nos foi
        """,
        "Dutch": """
            de het een en van is dat niet ik je met voor op zijn te aan er maar ook wij we naar deze dit
            wat heeft hebben kan door bij om mijn me of als nog hoe kun wil moet geen uit over
        """,
        "Polish": """
            nie jest się na że to do jak w z i po ale czy co dla jestem mam są tak przez od mi może oraz
            lub ma każdy bez o a za ja ty my być było tego ten ta jego możesz proszę kiedy który która
        """,
        "Turkish": """
            bir ve bu için da de mi mı ile çok ne ben var yok değil daha olarak gibi ama her veya olan
            olduğu nasıl hakkı herkes bunu şu o biz siz ki kadar sonra çünkü neden olur en mu musun
            misin
        """,
        "Swedish": """
            och att det är en som på inte jag av för med har till den ett vi kan eller om skall varje
            rätt de du min mig vad hur så men från var ska
        """,
        "Danish": """
            og at det er en som på ikke jeg af for med har til den et vi kan eller om skal enhver ret de
            du min mig hvad hvordan så men fra var
        """,
        "Czech": """
            a je se na že to v s z i ale nebo jak by pro jako být jsem má každý není která při do které
            o k co tak už jsou si jeho mi mě tím
        """,
        "Romanian": """
            și în la de nu este că pe cu o un a să din sau care pentru are mai lui orice dreptul fi prin
            eu am ai te mă ce cum dar
        """,
        "Indonesian": """
            yang dan di dengan untuk tidak ini itu dari dalam atau adalah ke pada setiap akan bisa orang
            saya berhak kita anda apa bagaimana juga
        """,
        "Vietnamese": """
            và của là có không được cho các người trong một những này với đã quyền mọi hay để tôi bạn
            như thế nào ra vào về khi cũng
        """,
    },
    "cyrillic": {
        "Russian": """
            и в не на что я с как это по но он мы для из у к так же бы от или чтобы все есть был если о
            каждый должен может мне меня ты вы мой она они да за то только когда при уже нет
        """,
        "Ukrainian": """
            і в не на що я з як це та але для до у й або за він ми бути має кожна є від чи при щоб якщо
            був усі про мені мене ти ви мій вона вони так то тільки коли вже ні ласка бо
        """,
        "Bulgarian": """
            и на да се за от не е в с по като или са има към при всеки право си което той ще аз ми това
            как какво
        """,
        "Serbian": """
            и у на је да се за од са не као или који има свако право по што би њу су ја ми то како
        """,
    },
    "arabic": {
        "Arabic": """
            في من على أن إلى لا ما هذا عن كل مع هو التي أو هل كان قد له الذي لم هذه ولا كيف أنا نحن ذلك
            لأن بعد قبل هي إن يجب عدم
        """,
        "Persian": """
            و در به که از را این با است برای آن هر می یا حق خود دارد شود بر کند باید من ما تا هم نیست
        """,
    },
    "devanagari": {
        "Hindi": """
            है के में की का को से और हैं यह पर नहीं कि एक भी इस था हो कर या क्या मैं ने हम मेरी मेरा
            मुझे आप थी थे तो जो
        """,
        "Marathi": """
            आहे व आणि या हे त्या नाही करण्याचा प्रत्येक अधिकार आहेत मध्ये त्याच्या कोणत्याही असा मी मला
        """,
        "Nepali": """
            छ र को मा हो हुने लाई गर्ने प्रत्येक व्यक्तिलाई वा कुनै अधिकार छन् गर्न म मलाई
        """,
    },
}
"""The words that hold sentences together, by language; those that languages share stand in the rows of all of them."""
_SIGNS: Mapping[str, str] = {
    "Russian": "ыэё",
    "Ukrainian": "іїєґ",
    "Serbian": "јљњћђџ",
    "Polish": "łąęśźż",
    "Turkish": "ığş",
    "Czech": "řěů",
    "Romanian": "țșă",
    "Portuguese": "ãõ",
    "Spanish": "ñ",
    "Vietnamese": "đơưạảấầẩậắặẹẻếềểệịọốồổộớờợụủứừửựỹ",
    "Persian": "پچژگ",
}
"""Letters that tell a language of the table from its neighbours; languages that are not in it may have them too."""
_TABLE: Mapping[Script, Mapping[str, frozenset[str]]] = {
    script: {name: frozenset(words.split()) for name, words in rows.items()}
    for script, rows in _WORDS.items()
}
_NOT_PROSE = re.compile(
    r"(?:```.*?(?:```|\Z)|`[^`\n]*`|<[^<>\n]*>)(?:[^\s`<]*[\\/_@]\S*)?|\b\w+://\S+|(?<!\S)\S*[\\/_@]\S*",
    re.DOTALL,
)
_WORD = re.compile(r"[^\W\d_]+(?:[\u0900-\u0903\u093a-\u094f\u064b-\u0652]+[^\W\d_]*)*")
_HEADING = re.compile(r"^[^\S\n]*(?:#{1,6}[^\S\n].*|\*\*[^*\n]+\*\*:?[^\S\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Language:
    """A language by its English name, and its script; empty: unknown."""

    name: str = ""
    script: Script = ""

    def __str__(self) -> str:
        return self.name or UNNAMED


UNKNOWN = Language()


def detect(text: str) -> Language:
    """Tell the language of a text."""
    prose = _NOT_PROSE.sub(" ", text)
    weights = _weigh(prose)
    if weights.total() < FEWEST_LETTERS:
        return UNKNOWN
    script = _main(weights)
    if script == "han":
        kana = weights["kana"] / (weights["han"] + weights["kana"])
        return Language("Japanese" if kana >= KANA_SHARE else "Chinese", "han")
    if script in _ALONE:
        return Language(_ALONE[script], script)
    return Language(_by_words(prose, script), script)


def language_of(messages: Iterable[Message]) -> Language:
    """Tell the language of a conversation: the users', by their newest words; if that is unclear, everybody's."""
    newest = [message for message in reversed(tuple(messages)) if message.role in ("user", "assistant")]
    asked = detect(_sample(message for message in newest if message.role == "user"))
    return asked if asked.name else detect(_sample(newest))


def _sample(messages: Iterable[Message]) -> str:
    pieces: list[str] = []
    size = 0
    for message in messages:
        if size >= SAMPLE:
            break
        pieces.append(_NOT_PROSE.sub(" ", message.text[:REACH])[:HEAD])
        size += len(pieces[-1])
    return "\n".join(pieces)


def _weigh(text: str) -> Counter[Script]:
    counts = Counter({script: len(pattern.findall(text)) for script, pattern in _SCRIPTS})
    for script in _DENSE:
        counts[script] *= DENSE
    return counts


def _main(weights: Counter[Script]) -> Script:
    """Find the script most of a text is in; Chinese characters and kana are one."""
    together = weights.copy()
    together["han"] += together.pop("kana")
    return max(together, key=together.__getitem__)


def _hits(words: Sequence[str], script: Script, name: str) -> list[str]:
    """List the words that speak for a language: its small words, and those with a letter only it has."""
    row, signs = _TABLE[script][name], _SIGNS.get(name, "")
    return [word for word in words if word in row or any(sign in word for sign in signs)]


def _by_words(prose: str, script: Script) -> str:
    words = _words(prose)
    hits = {name: _hits(words, script, name) for name in _TABLE[script]}
    first, second = sorted(hits, key=lambda name: len(hits[name]), reverse=True)[:2]
    small = [word for word in hits[first] if word in _TABLE[script][first]]
    different = min(MOST_DIFFERENT, FEWEST_DIFFERENT + len(words) // WORDS_PER_DIFFERENT)
    clear = (
        len(hits[first]) >= LEAD * len(hits[second])
        and len(small) >= SMALL_SHARE * len(words)
        and len(set(small)) >= different
    )
    return first if clear else ""


def _words(prose: str) -> list[str]:
    return _WORD.findall(prose.casefold())


def foreign(answer: str, wanted: Language, *, allowed: str = "") -> str:
    """Name what an answer is written in if that is not the language wanted; empty if it is, or cannot be told.

    `allowed` is a text, such as a user's wish, in which another language may be named.
    """
    prose = _NOT_PROSE.sub(" ", _HEADING.sub("", answer))
    weights = _weigh(prose)
    total = weights.total()
    if total < SURE or not wanted.script:
        return ""
    found = detect(prose)
    if found.name and found.name.casefold() in allowed.casefold():
        return ""
    own = weights[wanted.script] + (weights["kana"] if wanted.script == "han" else 0)
    if total - own > FOREIGN * total:
        return found.name or f"{found.script} script"
    return found.name if _clearly_other(prose, found, wanted) else ""


def _clearly_other(prose: str, found: Language, wanted: Language) -> bool:
    """Tell two languages of one script apart; relatives that share most small words get the benefit of the doubt."""
    if not (found.name and wanted.name) or found == wanted or found.script != wanted.script:
        return False
    if found.script not in _TABLE:
        return True
    words = _words(prose)
    return len(_hits(words, found.script, found.name)) >= CLEAR * len(_hits(words, found.script, wanted.name))
