"""What a word alone says about its sentence: a small table per language on a base that needs no language.

A cue only ever raises or lowers a sentence among its neighbours. Where a language has no entry, no sentence gets the
cue, all are treated alike, and what is left is plain coverage. Words that mean something else in another language of
the table are left out, so one table serves mixed conversations.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FIRST_PERSON = 1
"""Somebody speaks of themselves."""
DECISION = 2
"""Something was decided, agreed or finished."""
CONSTRAINT = 4
"""Something has to be, or must not be."""
PREFERENCE = 8
"""Somebody likes, wants or avoids something."""
CHANGE = 16
"""Something is not what it was."""
TIME = 32
"""A day, a month, a span; or an amount in words."""
MONTH = 64
"""The name of a month: a date may be near."""
OUTCOME = 128
"""How something ended: an error, a failure, a success."""
CAPITAL = 256
"""A capitalised word; inside a sentence, most often a name."""
FIGURE = 512
"""A digit."""
LOGGED = 1024
"""An error, by the level that a log gives the line."""
ALL = 2047

_SPACED: Mapping[int, str] = {
    FIRST_PERSON: """
        i my me we our mine us ours myself
        ich mein meine meinen meinem meiner mir mich wir unser unsere uns
        je mon nous notre nos moi
        yo mis nosotros nuestra nuestro eu meu minha nós nosso nossa mio mia noi nostro nostra
        я мне меня мой моя моё мои мою моей моего мы нас нам наш наша наши нашей
        أنا أنني لدي عندي نحن لدينا مني
        मैं मैंने मेरा मेरी मेरे मुझे हम हमने हमारा हमारी हमारे हमें
        ik mijn wij onze jag min vi vår ja mój moja mnie my nasz nasza ben benim biz bizim
        제 내 저의 나의 저를 나를 제게 내게 저도 나도
    """,
    DECISION: """
        decided decide decision agreed agree chose chosen choose settled concluded conclusion approved confirmed
        finally resolved fixed done merged plan
        entschieden entschlossen beschlossen entscheidung vereinbart gewählt erledigt behoben bestätigt
        décidé décision choisi convenu confirmé decidido decidimos decisión elegido acordado confirmado decisão
        decidemos escolhido deciso scelto confermato
        решили решил решила решение выбрали выбрал договорились подтвердил исправлено готово
        قررنا قررت قرار اخترنا اخترت اتفقنا
        निर्णय फैसला तय चुना सहमत
    """,
    CONSTRAINT: """
        must never always only need needs required require requires cannot should shouldn mustn don without avoid
        limit maximum minimum deadline allergic forbidden mandatory
        muss müssen niemals immer darf dürfen keinesfalls erforderlich frist höchstens mindestens
        doit jamais toujours obligatoire interdit debe nunca siempre obligatorio prohibido deve sempre
        должен должна должны нельзя никогда всегда обязательно только запрещено срок
        يجب لا أبدا دائما ممنوع فقط
        चाहिए कभी हमेशा केवल ज़रूरी जरूरी अनिवार्य
    """,
    PREFERENCE: """
        prefer prefers favorite favourite love loves enjoy enjoys hate hates want wants wish dislike
        bevorzuge lieber lieblings mag möchte hasse préfère aime veux voudrais prefiero quiero gusta encanta prefiro
        gosto quero preferisco voglio
        люблю предпочитаю нравится хочу ненавижу
        أفضل أحب أريد أكره
        पसंद चाहता चाहती नापसंद
    """,
    CHANGE: """
        now instead changed switched moved replaced updated renamed actually anymore longer
        jetzt stattdessen geändert umbenannt maintenant plutôt changé ahora cambiado cambié agora mudou
        теперь вместо изменил изменили сейчас
        الآن بدلا غيرت
        अब बजाय बदल
    """,
    TIME: """
        two three four five six seven eight nine ten eleven twelve dozen couple few half twice once
        monday tuesday wednesday thursday friday saturday sunday yesterday today tomorrow tonight last next ago
        mon tue wed thu fri sat sun week weekend month year years months weeks days since recently
        summer winter spring fall autumn
        montag dienstag mittwoch donnerstag freitag samstag sonntag gestern heute morgen woche monat jahr zwei drei
        hier demain semaine mois année lundi mardi mercredi jeudi vendredi samedi dimanche
        ayer mañana semana lunes martes miércoles jueves viernes sábado domingo ontem amanhã
        вчера сегодня завтра неделя неделю месяц год лет понедельник вторник среду четверг пятницу субботу
        أمس اليوم غدا أسبوع شهر سنة
        कल आज सप्ताह महीने साल हफ्ते सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार
    """,
    MONTH: """
        january february march april may june july august september october november december
        jan feb mar apr jun jul aug sep sept oct nov dec
        januar februar märz mai juni juli oktober dezember
        janvier février mars avril juin juillet août septembre octobre novembre décembre
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
        января февраля марта апреля мая июня июля августа сентября октября ноября декабря
        يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
        जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
    """,
    OUTCOME: """
        error errors failed fails failure failures passed success successful successfully succeeded traceback fatal
        denied refused exited timeout aborted panic cannot
        fehler fehlgeschlagen erfolgreich erreur échec réussi fallo éxito falhou errore
        ошибка ошибки успешно خطأ فشل نجح त्रुटि विफल सफल
    """,
}
_UNSPACED: Mapping[int, str] = {
    FIRST_PERSON: "我 咱 私 僕 俺 自分 ผม ฉัน เรา",
    DECISION: "决定 決定 同意 确认 確認 选择 選択 选了 选定 已完成 決め ตัดสินใจ",
    CONSTRAINT: """
        必须 必須 不能 不要 不可 禁止 只能 务必 一定要 总是 从不 なければ ならない てはいけ 必ず だけ ต้อง ห้าม
    """,
    PREFERENCE: "喜欢 喜歡 偏好 更愿意 想要 讨厌 好き 嫌い たい 希望 ชอบ อยาก",
    CHANGE: "现在 現在 改为 改成 换成 不再 今は 代わり 変更 ตอนนี้ เปลี่ยน",
    TIME: """
        昨天 今天 明天 上周 下周 去年 今年 明年 星期 周末 小时 分钟 昨日 今日 明日 先週 来週 昨年 来年 曜日
        เมื่อวาน วันนี้ พรุ่งนี้
    """,
    MONTH: "年 月",
    OUTCOME: "错误 失败 成功 報錯 报错 エラー 失敗 ข้อผิดพลาด สำเร็จ",
}
_KOREAN: Mapping[int, str] = {
    FIRST_PERSON: "제가 저는 나는 내가 저희 우리",
    DECISION: "정했 결정 확정",
    CONSTRAINT: "반드시 절대",
    PREFERENCE: "좋아 싫어 원해",
    CHANGE: "이제 변경",
    TIME: """
        어제 오늘 내일 주말 지난주 다음주 작년 올해 내년 월요일 화요일 수요일 목요일 금요일 토요일 일요일
    """,
    MONTH: "년 월",
    OUTCOME: "오류 실패 성공",
}
_FUNCTION_WORDS = """
    a an the and or but if then of to in on at by for with from as is are was were be been being am do does did done
    have has had having i you he she it we they me him her us them my your his its our their this that these those
    there here what which who whom when where why how not no nor so too very can could will would shall should may
    might must just about into over under again more most some any each all both few other such only own same than s t
    re ve ll d m also one get got like
    der die das und oder aber den dem des ein eine einen einem einer ist sind war waren wird werden hat haben hatte ich
    du er sie es wir ihr mich mir dich sich nicht kein keine auf für mit von zu zum zur bei nach aus auch noch nur wie
    dass wenn als im ins am vom doch mal sehr
    le la les un une et ou mais du au aux ce cette ces est sont était je tu il elle nous vous ils elles ne pas plus que
    qui dans sur pour par avec sans se sa ses leur y en
    el los las y o pero del al es son era fue yo tú él ella ellos que no se su sus lo por para con sin una unos
    os e mas do da dos das não é foi ele ela eles um uma por com sem seu sua
    gli ed della dello dei degli che non di da si per su
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще
    нет о из ему для мы их чем была сам чтоб без это этот эта эти или
    في من على إلى عن أن إن هذا هذه ذلك التي الذي كان كانت ما مع هو هي لم لن قد كل بعد قبل أو ثم و
    के का की को में से है हैं था थी थे और या पर यह वह ये वे जो तो भी ही ने एक नहीं कर हो गया
    het een en van ik je niet dat op te zijn met voor
"""

FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that hold sentences together and say nothing by themselves."""


def _by_word(table: Mapping[int, str]) -> Mapping[str, int]:
    cues: dict[str, int] = {}
    for cue, text in table.items():
        for word in text.casefold().split():
            cues[word] = cues.get(word, 0) | cue
    return MappingProxyType(cues)


MONTHS = tuple(_SPACED[MONTH].split())
"""Names of months, full and short."""
WORD_CUES = _by_word(_SPACED)
"""Cues of whole words, for scripts that put spaces between them."""
PART_CUES = tuple(_by_word(_UNSPACED).items())
"""Cues to be found inside runs of scripts without spaces."""
START_CUES = tuple(_by_word(_KOREAN).items())
"""Cues that open a word of Korean, which puts spaces between words and particles at their ends."""
