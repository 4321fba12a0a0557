"""Short chats in several languages, each with facts to keep, and the generators the properties share."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from octavo.core.messages import Attachment, Branch, Image, Message, Role, Text, ToolCall, ToolResult, place


def quarter(text: str) -> int:
    """A token is four characters."""
    return -(-len(text) // 4)


def utf8(text: str) -> int:
    """A token is three bytes, so that every script costs about what it costs a model."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)


@dataclass(frozen=True)
class Sample:
    """A chat of a user and an assistant in turns, and what of it must survive a small budget."""

    language: str
    said: tuple[str, ...]
    facts: tuple[str, ...]


SAMPLES = (
    Sample(
        "English",
        (
            "Hello there! How is it going today?",
            "Great, thanks for asking! What can I do for you?",
            "My sister Clara moved to Lisbon on 12 March 2024. That was quite something!",
            "Wow, what a change! That sounds exciting. Moving is always a lot of work, isn't it?",
            "I am allergic to peanuts. By the way, the weather is nice today.",
            "Good to know! Anything else on your mind? I am happy to talk about whatever you like.",
            "We decided to spend at most 850 euros on the trip. Isn't that nice?",
            "That is a sensible amount! Let me know how it goes. Have a wonderful day!",
        ),
        ("Clara", "Lisbon", "12 March 2024", "peanuts", "850"),
    ),
    Sample(
        "German",
        (
            "Hallo! Wie geht es dir denn so?",
            "Danke, sehr gut! Was kann ich heute für dich tun?",
            "Meine Schwester Clara ist am 12. März 2024 nach Lissabon gezogen. Das war vielleicht was!",
            "Oh, was für eine Veränderung! Das klingt spannend. Umzüge machen immer viel Arbeit, oder?",
            "Ich bin allergisch gegen Erdnüsse. Übrigens ist das Wetter heute schön.",
            "Gut zu wissen! Liegt dir noch etwas auf dem Herzen? Ich rede gerne über alles Mögliche.",
            "Wir haben beschlossen, höchstens 850 Euro für die Reise auszugeben. Ist das nicht schön?",
            "Das ist eine vernünftige Summe! Sag mir, wie es läuft. Einen wunderbaren Tag noch!",
        ),
        ("Clara", "Lissabon", "12. März 2024", "Erdnüsse", "850"),
    ),
    Sample(
        "Russian",
        (
            "Привет! Как у тебя дела сегодня?",
            "Спасибо, всё отлично! Чем могу помочь?",
            "Моя сестра Клара переехала в Лиссабон 12 марта 2024. Вот это да!",
            "Ого, какая перемена! Звучит интересно. Переезд всегда требует много сил, правда?",
            "У меня аллергия на арахис. Кстати, погода сегодня хорошая.",
            "Буду знать! Что-нибудь ещё? Я с удовольствием поговорю о чём угодно.",
            "Мы решили потратить на поездку не больше 850 евро. Здорово, правда?",
            "Разумная сумма! Расскажи потом, как прошло. Хорошего тебе дня!",
        ),
        ("Клара", "Лиссабон", "12 марта 2024", "арахис", "850"),
    ),
    Sample(
        "Arabic",
        (
            "مرحبا! كيف حالك اليوم؟",
            "شكرا، بخير! كيف يمكنني مساعدتك؟",
            "أنا عندي أخت اسمها كلارا انتقلت إلى لشبونة في 12 مارس 2024. كان ذلك رائعا!",
            "يا له من تغيير! هذا يبدو مثيرا. الانتقال يحتاج دائما إلى جهد كبير، أليس كذلك؟",
            "أنا عندي حساسية من الفول السوداني. الطقس جميل اليوم.",
            "جيد أن أعرف! هل هناك شيء آخر؟ يسعدني الحديث عن أي شيء.",
            "نحن قررنا ألا ننفق أكثر من 850 يورو على الرحلة. أليس هذا جميلا؟",
            "هذا مبلغ معقول! أخبرني كيف تسير الأمور. أتمنى لك يوما سعيدا!",
        ),
        ("كلارا", "لشبونة", "12 مارس 2024", "الفول", "850"),
    ),
    Sample(
        "Hindi",
        (
            "नमस्ते! आज आप कैसे हैं?",
            "धन्यवाद, बहुत अच्छा! मैं आपकी क्या मदद कर सकता हूँ?",
            "मेरी बहन क्लारा 12 मार्च 2024 को लिस्बन चली गई। यह तो कमाल था!",
            "वाह, कितना बड़ा बदलाव! सुनकर अच्छा लगा। घर बदलना हमेशा मेहनत का काम है, है न?",
            "मुझे मूँगफली से एलर्जी है। वैसे आज मौसम अच्छा है।",
            "जानकर अच्छा लगा! और कुछ? जो चाहें उस पर बात कर सकते हैं।",
            "हमने तय किया कि यात्रा पर 850 यूरो से ज़्यादा खर्च नहीं करेंगे। अच्छा है न?",
            "यह ठीक रकम है! बताइए कैसा रहता है। आपका दिन शुभ हो!",
        ),
        ("क्लारा", "लिस्बन", "12 मार्च 2024", "मूँगफली", "850"),
    ),
    Sample(
        "Chinese",
        (
            "你好！今天过得怎么样？",
            "很好，谢谢！有什么可以帮你的吗？",
            "我的妹妹克拉拉2024年3月12日搬到了里斯本。真是没想到！",
            "哇，变化真大！听起来很有意思。搬家总是很辛苦，对吧？",
            "我对花生过敏。顺便说一句，今天天气不错。",
            "知道了！还有别的事吗？聊什么都可以。",
            "我们决定这次旅行最多花850欧元。不错吧？",
            "这个数目很合理！告诉我进展如何。祝你今天愉快！",
        ),
        ("克拉拉", "里斯本", "2024年3月12日", "花生", "850"),
    ),
    Sample(
        "Japanese",
        (
            "こんにちは！今日はどうですか？",
            "元気です、ありがとう！何かお手伝いしましょうか？",
            "私の妹のクララは2024年3月12日にリスボンへ引っ越しました。びっくりですね！",
            "わあ、大きな変化ですね！楽しそうです。引っ越しはいつも大変ですよね？",
            "私はピーナッツにアレルギーがあります。ところで天気がいいですね。",
            "わかりました！ほかに何かありますか？何でも話してください。",
            "私たちは旅行に最大850ユーロ使うことに決めました。いいでしょう？",
            "妥当な金額ですね！どうなったか教えてください。よい一日を！",
        ),
        ("クララ", "リスボン", "2024年3月12日", "ピーナッツ", "850"),
    ),
    Sample(
        "Korean",
        (
            "안녕하세요! 오늘 어떻게 지내세요?",
            "네, 잘 지냅니다! 무엇을 도와드릴까요?",
            "제 여동생 클라라는 2024년 3월 12일에 리스본으로 이사했어요. 정말 놀랐어요!",
            "와, 큰 변화네요! 재미있겠어요. 이사는 언제나 힘들지요?",
            "저는 땅콩 알레르기가 있어요. 그런데 오늘 날씨가 좋네요.",
            "알겠습니다! 다른 것은 없나요? 무엇이든 이야기해 주세요.",
            "우리는 여행에 최대 850유로를 쓰기로 결정했어요. 괜찮지요?",
            "적당한 금액이네요! 어떻게 되었는지 알려 주세요. 좋은 하루 보내세요!",
        ),
        ("클라라", "리스본", "2024년 3월 12일", "땅콩", "850"),
    ),
)
"""Languages that have cue words of their own."""
UNLISTED = (
    Sample(
        "Greek",
        (
            "Γεια σου! Πώς τα πας σήμερα;",
            "Πολύ καλά, ευχαριστώ! Τι μπορώ να κάνω για σένα;",
            "Η αδελφή μου η Κλάρα μετακόμισε στη Λισαβόνα στις 12 Μαρτίου 2024. Ήταν μεγάλη έκπληξη!",
            "Πω πω, τι αλλαγή! Ακούγεται ωραίο. Μια μετακόμιση θέλει πάντα πολλή δουλειά, έτσι δεν είναι;",
            "Έχω αλλεργία στα φιστίκια. Παρεμπιπτόντως, ο καιρός είναι καλός σήμερα.",
            "Καλό είναι να το ξέρω! Υπάρχει κάτι άλλο; Χαίρομαι να μιλάμε για ό,τι θέλεις.",
            "Αποφασίσαμε να ξοδέψουμε το πολύ 850 ευρώ για το ταξίδι. Δεν είναι ωραίο;",
            "Είναι λογικό ποσό! Πες μου πώς θα πάει. Να έχεις μια υπέροχη μέρα!",
        ),
        ("Κλάρα", "Λισαβόνα", "12 Μαρτίου 2024", "φιστίκια", "850"),
    ),
    Sample(
        "Hebrew",
        (
            "שלום! מה שלומך היום?",
            "תודה, הכול טוב! במה אפשר לעזור?",
            "אחותי קלרה עברה לליסבון ב-12 במרץ 2024. זו הייתה הפתעה גדולה!",
            "איזה שינוי! זה נשמע מעניין. מעבר דירה תמיד דורש הרבה עבודה, נכון?",
            "יש לי אלרגיה לבוטנים. אגב, מזג האוויר נעים היום.",
            "טוב לדעת! יש עוד משהו? אשמח לדבר על כל דבר.",
            "החלטנו להוציא לכל היותר 850 אירו על הטיול. יפה, לא?",
            "זה סכום הגיוני! ספר לי איך הולך. שיהיה לך יום נפלא!",
        ),
        ("קלרה", "ליסבון", "12 במרץ 2024", "בוטנים", "850"),
    ),
    Sample(
        "Spanish",
        (
            "¡Buenas! ¿Cómo va todo por ahí?",
            "Muy bien, gracias por preguntar. ¿En qué te ayudo?",
            "Tengo una perra que se llama Nube y el martes la operan en Valencia. Estoy un poco nerviosa.",
            "Vaya, entiendo que estés nerviosa. Seguro que todo sale bien. ¿Hay algo que pueda hacer?",
            "La clínica pide 430 euros por adelantado. Qué caro está todo, la verdad.",
            "Sí, es verdad, los precios suben y suben. Al menos estará en buenas manos.",
            "No puede tomar ibuprofeno, le sienta fatal. Bueno, ya te contaré.",
            "De acuerdo, espero noticias. ¡Mucho ánimo y un abrazo!",
        ),
        ("Nube", "martes", "Valencia", "430", "ibuprofeno"),
    ),
    Sample(
        "French",
        (
            "Salut ! Ça va bien aujourd'hui ?",
            "Très bien, merci beaucoup ! Que puis-je faire pour toi ?",
            "Mon frère Mathieu ouvre une boulangerie à Nantes le 3 octobre 2025. C'est fou, non ?",
            "Oh, quelle belle nouvelle ! Il doit être très content. C'est un métier difficile mais passionnant.",
            "Je ne mange pas de gluten. C'est un peu bête pour la famille !",
            "Ah, je comprends, ce n'est pas simple. On trouve tout de même de bonnes choses.",
            "Il a emprunté 60000 euros à la banque. Enfin, on verra bien.",
            "C'est une somme importante, en effet. Bonne chance à lui et bonne journée !",
        ),
        ("Mathieu", "Nantes", "3 octobre 2025", "gluten", "60000"),
    ),
    Sample(
        "Turkish",
        (
            "Merhaba! Bugün nasılsın bakalım?",
            "Çok iyiyim, teşekkür ederim! Sana nasıl yardımcı olabilirim?",
            "Kuzenim Elif geçen hafta İzmir'de yeni bir işe başladı. Çok sevindik doğrusu!",
            "Ne güzel bir haber! Umarım her şey yolunda gider. Yeni bir iş her zaman heyecan vericidir, değil mi?",
            "Maaşı 48000 lira olacakmış. Hiç fena değil bence!",
            "Evet, gerçekten hiç fena değil. Başka bir şey var mı konuşmak istediğin?",
            "Ben laktoz içeren hiçbir şey yiyemiyorum. Neyse, boş ver.",
            "Tamam, aklımda tutarım. Güzel bir gün geçirmeni dilerim!",
        ),
        ("Elif", "İzmir", "48000", "laktoz"),
    ),
    Sample(
        "Polish",
        (
            "Cześć! Co tam słychać u ciebie?",
            "Wszystko dobrze, dziękuję! W czym mogę pomóc?",
            "Córka dostała się na studia do Gdańska, zaczyna 1 października. Ale się cieszymy!",
            "Gratulacje, to wspaniała wiadomość! Na pewno sobie poradzi. Pierwszy rok bywa trudny, prawda?",
            "Pokój w akademiku kosztuje 720 złotych. Pogoda dziś paskudna, swoją drogą.",
            "To rozsądna cena jak na dzisiejsze czasy. Oby jutro było lepiej.",
            "Zosia nie znosi hałasu, szuka cichego pokoju. No nic, zobaczymy.",
            "Jasne, będzie dobrze! Miłego dnia i do usłyszenia!",
        ),
        ("Gdańska", "1 października", "720", "Zosia", "hałasu"),
    ),
    Sample(
        "Vietnamese",
        (
            "Chào bạn! Hôm nay bạn thế nào?",
            "Cảm ơn, tôi rất khỏe! Tôi có thể giúp gì cho bạn?",
            "Chị gái tôi tên là Hương vừa chuyển đến Đà Nẵng ngày 5 tháng 9. Thật là bất ngờ!",
            "Ồ, thay đổi lớn quá! Nghe thú vị thật. Chuyển nhà lúc nào cũng vất vả, phải không?",
            "Tôi bị dị ứng với tôm. À mà hôm nay trời đẹp thật.",
            "Tôi biết rồi! Còn chuyện gì nữa không? Tôi rất vui được nói chuyện với bạn.",
            "Chúng tôi chỉ chi tối đa 12 triệu đồng cho chuyến đi. Tuyệt quá phải không?",
            "Số tiền đó hợp lý! Hãy cho tôi biết mọi việc thế nào. Chúc bạn một ngày tốt lành!",
        ),
        ("Hương", "Đà Nẵng", "5 tháng 9", "tôm", "12 triệu"),
    ),
    Sample(
        "Thai",
        (
            "สวัสดี! วันนี้เป็นอย่างไรบ้าง?",
            "สบายดี ขอบคุณมาก! มีอะไรให้ช่วยไหม?",
            "พี่สาวของฉันชื่อคลาร่าย้ายไปเชียงใหม่เมื่อวันที่ 12 มีนาคม 2567 น่าตื่นเต้นมาก!",
            "ว้าว เปลี่ยนแปลงมากเลย! ฟังดูน่าสนใจ การย้ายบ้านเหนื่อยเสมอ ใช่ไหม?",
            "ฉันแพ้ถั่วลิสง! วันนี้อากาศดีนะ",
            "เข้าใจแล้ว! มีอะไรอีกไหม? คุยเรื่องอะไรก็ได้",
            "เราตัดสินใจใช้เงินไม่เกิน 8500 บาทสำหรับทริปนี้! ดีไหม?",
            "จำนวนเงินสมเหตุสมผล! บอกด้วยนะว่าเป็นอย่างไร ขอให้เป็นวันที่ดี!",
        ),
        ("คลาร่า", "เชียงใหม่", "12 มีนาคม 2567", "ถั่วลิสง", "8500"),
    ),
    Sample(
        "Persian",
        (
            "سلام! امروز چطوری؟",
            "ممنون، خیلی خوبم! چه کمکی از دستم برمی‌آید؟",
            "برادرم آرش پارسال در شیراز یک کتابفروشی باز کرد. خیلی خوشحال شدیم!",
            "چه خبر خوبی! حتما کار سختی بوده است. کتابفروشی جای آرامی است، نه؟",
            "اجاره‌اش ماهی 9500 تومان است. هوا هم امروز خوب است.",
            "درست است، همه چیز گران شده. موضوع دیگری هست؟",
            "من به عسل حساسیت دارم. خب، بعدا حرف می‌زنیم.",
            "یادم می‌ماند! روز خوبی داشته باشی.",
        ),
        ("آرش", "شیراز", "9500", "عسل"),
    ),
)
"""Languages that have few or none: what is left is coverage."""


def branch(sample: Sample) -> Branch:
    """The sample as a branch, user first."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return place(
        Message(role=roles[index % 2], parts=(Text(text=text),)) for index, text in enumerate(sample.said)
    )


PIECES = (
    "Deadline: Friday",
    "Deadline: Monday",
    "src/app/main.py:12: ValueError: bad value 4711",
    '{"id": "HAT001", "price": 120, "date": "2024-05-20"}',
    "I prefer tea. We decided to use PostgreSQL!",
    "[2024-05-01 10:00] Ann: see https://example.com/a?b=c",
    "Bob: hello there",
    "Bob: I. Then more follows",
    "Rule: we must always run the tests first",
    "**bold** # not a heading",
    "U: looks like a mark",
    "> quoted",
    "< angled",
    "[bracketed]",
    "\\ backslash",
    "我喜欢喝茶。我们决定用数据库！",
    "हमने तय किया। ठीक है?",
    "…",
    "a … b",
    "\ud800 lone",
    "x" * 300,
    "word " * 60,
    "\u2028\x0b\x85",
    "",
)
texts = st.one_of(
    st.sampled_from(PIECES),
    st.text(max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=5).map("\n".join),
    st.lists(st.sampled_from(PIECES), max_size=5).map(" ".join),
)


@st.composite
def conversations(draw: st.DrawFn) -> Branch:
    """Any messages: speech, calls, results with and without calls, files, pictures."""
    said: list[Message] = []
    for number in range(draw(st.integers(0, 8))):
        text = Text(text=draw(texts))
        match draw(st.sampled_from(("user", "assistant", "system", "call", "result", "file", "named"))):
            case "call":
                given = draw(
                    st.one_of(texts, st.dictionaries(st.text(max_size=8), texts, max_size=3).map(repr))
                )
                call = ToolCall(
                    id=f"c{number % 3}", name=draw(st.sampled_from(("read", "", "ran\nit"))), input=given
                )
                said.append(Message(role="assistant", parts=(text, call)))
            case "result":
                result = ToolResult(call_id=f"c{number % 3}", content=(text,), error=draw(st.booleans()))
                said.append(Message(role="tool", parts=(result,)))
            case "file":
                file = Attachment(name=draw(texts))
                said.append(Message(role="user", parts=(text, file, Image(source=draw(texts)))))
            case "named":
                said.append(
                    Message(role="user", parts=(text,), name=draw(st.sampled_from(("ada", "b(o)b, x"))))
                )
            case "user" | "assistant" | "system" as role:
                said.append(Message(role=role, parts=(text,)))
    return place(said)
