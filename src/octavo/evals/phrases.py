"""The words that built-in conversations are made of: small talk, things worth keeping, and questions about them.

All of it was written for this purpose. Small talk never uses the words that a question hangs on, so an answer that is
found was kept, and not met by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FactPattern:
    """Something worth keeping: how it is said, perhaps how it changes, what is asked, and what the answer is."""

    kind: str
    said: str
    asked: str
    answer: str
    before: str = ""
    """What was said earlier and holds no longer."""


SORTS = (
    FactPattern(
        "fact",
        "My badge for the {place} has the number {number}.",
        "Which number has the {place} badge?",
        "{number}",
    ),
    FactPattern(
        "fact",
        "The door of the {place} opens with the code {code}.",
        "Which code opens the {place} door?",
        "{code}",
    ),
    FactPattern(
        "fact",
        "{person} at {company} answers for the {topic}.",
        "Who at {company} answers for the {topic}?",
        "{person}",
    ),
    FactPattern(
        "decision",
        "We decided to use {tool} for the {topic}, because it is the simplest thing that works.",
        "What did we decide to use for the {topic}?",
        "{tool}",
    ),
    FactPattern(
        "decision",
        "Agreed, the {topic} will be built with {tool} first.",
        "What will the {topic} be built with?",
        "{tool}",
    ),
    FactPattern(
        "constraint",
        "The {topic} must never take more than {number} milliseconds.",
        "How many milliseconds may the {topic} take?",
        "{number}",
    ),
    FactPattern(
        "constraint",
        "Never send the {topic} to {company} without the form {code}.",
        "Which form must go with the {topic} to {company}?",
        "{code}",
    ),
    FactPattern(
        "preference",
        "I prefer {tool} whenever we talk about the {topic}.",
        "What do I prefer for the {topic}?",
        "{tool}",
    ),
    FactPattern(
        "renamed",
        "From now on the component for the {topic} is called {new_name}.",
        "What is the component for the {topic} called now?",
        "{new_name}",
        before="Let us call the component for the {topic} {old_name} until we find a better word.",
    ),
    FactPattern(
        "changed",
        "The review at {company} has moved, it is now on {new_day}.",
        "When is the review at {company}?",
        "{new_day}",
        before="The review at {company} is on {old_day}.",
    ),
)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


PLACES = _listed(
    "archive, boathouse, cellar, depot, foundry, greenhouse, hangar, kiln, laundry, mill, observatory, pantry, quarry"
)
TOPICS = _listed(
    "billing export, parcel tracker, seat planner, invoice scanner, tariff lookup, mail digest, thumbnail maker, "
    "refund queue, stock ticker, login audit, route cache, coupon engine, print spooler, voice menu, photo import, "
    "visitor register"
)
TOOLS = _listed(
    "Zephyrine, Quillon, Marlstone, Brackenpress, Ottervale, Fernwick, Copperlane, Driftmoor, Hollowgate, Larkspur"
)
PEOPLE = _listed(
    "Ingrid, Tomasz, Amara, Benedikt, Chidi, Dolores, Emre, Farida, Gustavo, Hanneke, Isamu, Jovana"
)
COMPANIES = _listed(
    "Norvik, Alderbank, Pellworm, Castrelle, Duskfield, Emberline, Fallowmere, Gildhall, Harrowgate, Ironquay"
)
MONTHS = _listed(
    "January, February, March, April, June, July, August, September, October, November, December"
)
NAMES = _listed("sparrow, heron, plover, dunlin, curlew, avocet, whimbrel, godwit, turnstone, sanderling")

STORIES = (
    "Last {weekday} {neighbour} showed me a {adjective} {thing} that had cost {amount} crowns.",
    "I read that the {adjective} {thing} from {town} is {amount} years old.",
    "{neighbour} and {other} walked {amount} steps to {town}, just to see a {thing}.",
    "There is a {adjective} {thing} in {town} that nobody has opened since {year}.",
    "My aunt in {town} keeps {amount} stamps next to a {adjective} {thing}.",
    "According to {neighbour}, every {adjective} {thing} should be cleaned on a {weekday}.",
    "In {year} a {thing} from {town} won a prize for being so {adjective}.",
    "{neighbour} would rather have a {adjective} {thing} than {amount} new ones.",
    "We saw {amount} people waiting for a {adjective} {thing} near {town}.",
    "The {thing} that {other} painted in {year} looks more {adjective} every {weekday}.",
)
"""Small talk with names and numbers in it, like real small talk: they are nobody's answer."""
NEIGHBOURS = _listed(
    "Marta, Olwen, Petros, Quinn, Rosalind, Stefan, Ulrike, Viktor, Wanda, Xenia, Yusuf, Zora"
)
TOWNS = _listed(
    "Brindlow, Ashcombe, Tarnwick, Overby, Saltmarsh, Kestrel Bay, Northam, Wexcliff, Millbrook, Dunmere"
)
THINGS = _listed(
    "teapot, bicycle, lantern, accordion, umbrella, weathercock, rowing boat, sundial, typewriter, kite"
)
ADJECTIVES = _listed(
    "crooked, silver, forgotten, noisy, enormous, polished, striped, hollow, cheerful, antique"
)
WEEKDAYS = _listed("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday")

REMARKS = (
    "That sounds reasonable to me, and I see no reason to hurry.",
    "It took longer than expected, but in the end it was worth the trouble.",
    "Most of it is a matter of taste, so let us not argue about it for too long.",
    "I had another look this morning and it still seems fine.",
    "There is more to say about it, though perhaps not today.",
    "People usually get used to such things after a while.",
    "Some of the older ideas were not so bad after all.",
    "It is easier to explain with a picture than with words.",
    "In general, small steps have worked better for us than big ones.",
    "Nobody complained so far, which is either good or a sign that nobody looked.",
    "We could come back to it when everything else is quiet.",
    "The weather has been grey all week and the coffee machine is broken again.",
    "As always, the last ten percent are the ones that hurt.",
    "It helps to write things down before they are forgotten.",
    "A second pair of eyes would certainly not do any harm.",
    "For the moment it is good enough, and that is what counts.",
)
FUNCTIONS = _listed("load, parse, merge, check, render, flush, retry, rotate, sample, encode")
OBJECTS = _listed("header, ledger, window, record, packet, column, segment, cursor, bucket, margin")
LEVELS = _listed("DEBUG, INFO, INFO, INFO, WARN")


@dataclass(frozen=True, slots=True)
class LanguagePhrases:
    """A language: small talk, with numbers that are nobody's answer, and things worth keeping with their questions."""

    remarks: tuple[str, ...]
    sorts: tuple[tuple[str, str, str], ...]
    """Kind, what is said, what is asked; `{}` is the answer."""


TONGUES: Mapping[str, LanguagePhrases] = MappingProxyType(
    {
        "German": LanguagePhrases(
            (
                "Gestern kamen {} Leute in das Museum von Brindlow.",
                "Marta hat sich einen Regenschirm für {} Kronen gekauft.",
                "Das alte Akkordeon von Petros stammt aus dem Jahr {}.",
                "Bis nach Tarnwick sind es {} Schritte, sagt Ulrike.",
                "Das klingt vernünftig, und es eilt auch nicht besonders.",
                "Darüber haben wir schon öfter gesprochen, ohne zu einem Ende zu kommen.",
                "Am Ende ist es vor allem eine Frage des Geschmacks.",
                "Bei dem Wetter bleibt man ohnehin lieber zu Hause.",
                "Kleine Schritte haben sich bisher am besten bewährt.",
                "Vielleicht sehen wir uns das morgen noch einmal in Ruhe an.",
            ),
            (
                (
                    "fact",
                    "Die Kundennummer der Bäckerei Lindner ist {}.",
                    "Welche Kundennummer hat die Bäckerei Lindner?",
                ),
                (
                    "decision",
                    "Wir haben beschlossen, den Lieferwagen am Tor {} zu entladen.",
                    "An welchem Tor wird der Lieferwagen entladen?",
                ),
                (
                    "constraint",
                    "Die Kühlkammer darf niemals über {} Grad warm werden.",
                    "Wie viel Grad darf die Kühlkammer höchstens haben?",
                ),
                (
                    "changed",
                    "Der Notartermin ist verlegt, er hat jetzt das Aktenzeichen {}.",
                    "Welches Aktenzeichen hat der Notartermin?",
                ),
            ),
        ),
        "French": LanguagePhrases(
            (
                "Hier, {} personnes ont visité le musée de Brindlow.",
                "Marta a acheté un parapluie pour {} couronnes.",
                "Le vieil accordéon de Petros date de {}.",
                "Il y a {} pas jusqu'à Tarnwick, dit Ulrike.",
                "Cela me paraît raisonnable et rien ne presse vraiment.",
                "Nous en avons déjà parlé plusieurs fois sans conclure.",
                "Au fond, c'est surtout une question de goût.",
                "Avec ce temps, autant rester à la maison.",
                "Jusqu'ici les petits pas ont mieux marché que les grands.",
                "On pourrait y revenir demain, quand tout sera plus calme.",
            ),
            (
                (
                    "fact",
                    "Le numéro de dossier de la librairie Morel est {}.",
                    "Quel est le numéro de dossier de la librairie Morel ?",
                ),
                (
                    "decision",
                    "Nous avons décidé de garer la camionnette au quai {}.",
                    "À quel quai garons-nous la camionnette ?",
                ),
                (
                    "constraint",
                    "La chambre froide ne doit jamais dépasser {} watts.",
                    "Combien de watts la chambre froide ne doit-elle pas dépasser ?",
                ),
                (
                    "changed",
                    "Le vol de la délégation a changé, c'est maintenant le {}.",
                    "Quel est le vol de la délégation ?",
                ),
            ),
        ),
        "Spanish": LanguagePhrases(
            (
                "Ayer {} personas visitaron el museo de Brindlow.",
                "Marta compró un paraguas por {} coronas.",
                "El viejo acordeón de Petros es de {}.",
                "Hay {} pasos hasta Tarnwick, dice Ulrike.",
                "Me parece razonable y tampoco hay tanta prisa.",
                "Ya lo hemos hablado varias veces sin llegar a nada.",
                "En el fondo es sobre todo una cuestión de gustos.",
                "Con este tiempo es mejor quedarse en casa.",
                "Hasta hoy los pasos pequeños han funcionado mejor.",
                "Podemos volver a verlo mañana con más calma.",
            ),
            (
                (
                    "fact",
                    "El número de socio de la biblioteca Olivares es {}.",
                    "¿Qué número de socio tiene la biblioteca Olivares?",
                ),
                (
                    "decision",
                    "Decidimos descargar el camión en el muelle {}.",
                    "¿En qué muelle se descarga el camión?",
                ),
                (
                    "constraint",
                    "La bomba del pozo nunca debe pasar de {} vatios.",
                    "¿De cuántos vatios no debe pasar la bomba del pozo?",
                ),
                (
                    "changed",
                    "La reserva del hotel ha cambiado, ahora es la {}.",
                    "¿Cuál es la reserva del hotel?",
                ),
            ),
        ),
        "Russian": LanguagePhrases(
            (
                "Вчера в музей Брайтона пришли {} человек.",
                "Марта купила зонт за {} крон.",
                "Старый аккордеон Петра сделан в {} году.",
                "До Таллина {} шагов, говорит Ульяна.",
                "Звучит разумно, и спешить особенно некуда.",
                "Мы уже не раз об этом говорили, но так ни к чему и не пришли.",
                "В конце концов, это скорее вопрос вкуса.",
                "В такую погоду лучше сидеть дома.",
                "До сих пор маленькие шаги работали лучше больших.",
                "Можно вернуться к этому потом, когда станет спокойнее.",
            ),
            (
                (
                    "fact",
                    "Номер договора с пекарней Лосева {}.",
                    "Какой номер договора с пекарней Лосева?",
                ),
                (
                    "decision",
                    "Мы решили разгружать фургон у ворот {}.",
                    "У каких ворот разгружают фургон?",
                ),
                (
                    "constraint",
                    "Насос в подвале никогда не должен брать больше {} ватт.",
                    "Сколько ватт может брать насос в подвале?",
                ),
                (
                    "changed",
                    "Бронь гостиницы изменили, теперь она {}.",
                    "Какая бронь гостиницы?",
                ),
            ),
        ),
        "Chinese": LanguagePhrases(
            (
                "昨天有 {} 个人参观了博物馆。",
                "小梅花了 {} 块钱买了一把雨伞。",
                "老王的手风琴是 {} 年做的。",
                "从这里到湖边要走 {} 步。",
                "听起来挺有道理的，而且也不着急。",
                "这件事我们谈过好几次了，一直没有结果。",
                "说到底还是个人口味的问题。",
                "这种天气还是待在家里比较好。",
                "到目前为止，小步走的效果更好一些。",
                "等大家都有空的时候再看看也不迟。",
            ),
            (
                (
                    "fact",
                    "会议室的门禁密码是 {}。",
                    "会议室的门禁密码是多少？",
                ),
                (
                    "decision",
                    "我们决定在 {} 号码头卸货。",
                    "在几号码头卸货？",
                ),
                (
                    "constraint",
                    "水泵的功率绝对不能超过 {} 瓦。",
                    "水泵的功率不能超过多少瓦？",
                ),
                (
                    "changed",
                    "酒店的预订改了，现在的预订编号是 {}。",
                    "酒店的预订编号是什么？",
                ),
            ),
        ),
        "Japanese": LanguagePhrases(
            (
                "昨日は博物館に {} 人が来ました。",
                "花子さんは {} 円で傘を買いました。",
                "太郎さんの古い楽器は {} 年のものです。",
                "湖までは {} 歩かかるそうです。",
                "それはもっともだと思いますし、急ぐ話でもありません。",
                "この話は何度かしましたが、まだまとまっていません。",
                "結局のところ、好みの問題でしょう。",
                "こんな天気なら家にいるのが一番です。",
                "これまでは小さく進めるほうがうまくいきました。",
                "落ち着いたころにもう一度見てみましょう。",
            ),
            (
                (
                    "fact",
                    "倉庫の暗証番号は {} です。",
                    "倉庫の暗証番号は何ですか？",
                ),
                (
                    "decision",
                    "荷物は {} 番ゲートで降ろすことに決めました。",
                    "荷物は何番ゲートで降ろしますか？",
                ),
                (
                    "constraint",
                    "冷蔵室の消費電力は必ず {} ワット以下にしてください。",
                    "冷蔵室の消費電力は何ワット以下ですか？",
                ),
                (
                    "changed",
                    "宿の予約が変わり、予約番号は {} になりました。",
                    "宿の予約番号は何ですか？",
                ),
            ),
        ),
        "Arabic": LanguagePhrases(
            (
                "زار المتحف أمس {} شخصا.",
                "اشترت مريم مظلة بمبلغ {} دينارا.",
                "صنع العود القديم سنة {}.",
                "المسافة إلى البحيرة {} خطوة.",
                "يبدو هذا معقولا ولا داعي للعجلة.",
                "تحدثنا في هذا الأمر مرات كثيرة من غير نتيجة.",
                "المسألة في النهاية مسألة ذوق.",
                "في مثل هذا الجو من الأفضل البقاء في البيت.",
                "الخطوات الصغيرة نجحت معنا أكثر من الكبيرة.",
                "يمكن أن نعود إليه حين تهدأ الأمور.",
            ),
            (
                (
                    "fact",
                    "رقم عقد المخبز الجديد هو {}.",
                    "ما رقم عقد المخبز الجديد؟",
                ),
                (
                    "decision",
                    "قررنا تفريغ الشاحنة عند البوابة {}.",
                    "عند أي بوابة نفرغ الشاحنة؟",
                ),
                (
                    "constraint",
                    "يجب ألا تتجاوز قدرة المضخة {} واط.",
                    "كم واط لا يجب أن تتجاوز قدرة المضخة؟",
                ),
                (
                    "changed",
                    "تغير حجز الفندق وأصبح رقمه {}.",
                    "ما رقم حجز الفندق؟",
                ),
            ),
        ),
    }
)
