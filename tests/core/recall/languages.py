"""One made-up conversation in fifteen languages: four things that are said, and asked later in other words."""

from __future__ import annotations

from typing import NamedTuple


class Talk(NamedTuple):
    """What is said, and which line belongs to which question."""

    lines: tuple[str, ...]
    questions: tuple[tuple[str, str], ...]


def talk(said: str, asked: str, other: str) -> Talk:
    facts, more = said.strip().splitlines(), other.strip().splitlines()
    lines = (*more[:2], facts[0], facts[1], *more[2:4], facts[2], facts[3], *more[4:])
    asking = zip(asked.strip().splitlines(), facts, strict=True)
    return Talk(lines, tuple((question.strip(), fact) for question, fact in asking))


TALKS = {
    "English": talk(
        """
The password of the database is kept by Maria in the blue safe.
We moved the dentist's appointment to the ninth of March.
My cat is called Pixel and eats nothing but tuna.
The train to Prague leaves from platform seven.
""",
        """
Who has the database passwords?
When do I have to see the dentist?
What do my cats like to eat?
Where do trains leave for Prague?
""",
        """
Good morning, how is the weather with you today?
It is raining, and the garden needs it after that dry month.
Please write me a short poem about autumn leaves.
Red and gold they fall, the wind knows every one by name.
How many people live in Iceland these years?
A little fewer than four hundred thousand.
""",
    ),
    "German": talk(
        """
Das Datenbankpasswort liegt bei Maria im blauen Tresor.
Wir haben den Zahnarzttermin auf den neunten März verschoben.
Meine Katze heißt Pixel und frisst nur Thunfisch.
Der Zug nach Prag fährt von Gleis sieben.
""",
        """
Wo liegt das Passwort der Datenbank?
Wann muss ich zum Zahnarzt?
Was fressen meine Katzen?
Von welchem Gleis fahren die Züge nach Prag?
""",
        """
Guten Morgen, wie ist das Wetter heute bei euch?
Es regnet, der Garten braucht es nach dem trockenen Monat.
Schreib mir ein kurzes Gedicht über Herbstlaub.
Rot und golden fällt es, der Wind kennt jedes Blatt.
Wie viele Menschen leben in Island?
Etwas weniger als vierhunderttausend.
""",
    ),
    "French": talk(
        """
Le mot de passe de la base de données est chez Maria, dans le coffre bleu.
Nous avons déplacé le rendez-vous chez le dentiste au neuf mars.
Mon chat s'appelle Pixel et ne mange que du thon.
Le train pour Prague part du quai sept.
""",
        """
Qui a les mots de passe de la base ?
C'est quand, le dentiste ?
Que mangent mes chats ?
De quel quai partent les trains pour Prague ?
""",
        """
Bonjour, quel temps fait-il chez vous aujourd'hui ?
Il pleut, le jardin en avait besoin après ce mois sec.
Écris-moi un court poème sur les feuilles d'automne.
Rouges et dorées elles tombent, le vent les connaît toutes.
Combien d'habitants y a-t-il en Islande ?
Un peu moins de quatre cent mille.
""",
    ),
    "Spanish": talk(
        """
La contraseña de la base de datos la guarda María en la caja azul.
Hemos cambiado la cita del dentista al nueve de marzo.
Mi gato se llama Pixel y solo come atún.
El tren a Praga sale del andén siete.
""",
        """
¿Quién tiene las contraseñas de la base de datos?
¿Cuándo tengo que ir al dentista?
¿Qué comen mis gatos?
¿De qué andén salen los trenes a Praga?
""",
        """
Buenos días, ¿qué tiempo hace hoy por ahí?
Llueve, y el jardín lo necesita después de un mes tan seco.
Escríbeme un poema corto sobre las hojas del otoño.
Rojas y doradas caen, el viento conoce cada una.
¿Cuántos habitantes hay en Islandia?
Algo menos de cuatrocientos mil.
""",
    ),
    "Portuguese": talk(
        """
A senha da base de dados está com a Maria no cofre azul.
Mudámos a consulta do dentista para nove de março.
O meu gato chama-se Pixel e só come atum.
O comboio para Praga parte da linha sete.
""",
        """
Quem tem as senhas da base de dados?
Quando é o dentista?
O que comem os meus gatos?
De que linha partem os comboios para Praga?
""",
        """
Bom dia, como está o tempo hoje por aí?
Está a chover, e o jardim precisa depois de um mês tão seco.
Escreve-me um poema curto sobre as folhas do outono.
Vermelhas e douradas caem, o vento conhece todas.
Quantos habitantes há na Islândia?
Um pouco menos de quatrocentos mil.
""",
    ),
    "Italian": talk(
        """
La password del database la tiene Maria nella cassaforte blu.
Abbiamo spostato l'appuntamento dal dentista al nove marzo.
Il mio gatto si chiama Pixel e mangia solo tonno.
Il treno per Praga parte dal binario sette.
""",
        """
Chi ha le password del database?
Quando devo andare dal dentista?
Che cosa mangiano i miei gatti?
Da quale binario partono i treni per Praga?
""",
        """
Buongiorno, che tempo fa oggi da voi?
Piove, e il giardino ne ha bisogno dopo un mese così secco.
Scrivimi una breve poesia sulle foglie d'autunno.
Rosse e dorate cadono, il vento le conosce tutte.
Quanti abitanti ci sono in Islanda?
Poco meno di quattrocentomila.
""",
    ),
    "Dutch": talk(
        """
Het wachtwoord van de database ligt bij Maria in de blauwe kluis.
We hebben de tandartsafspraak naar negen maart verzet.
Mijn kat heet Pixel en eet alleen tonijn.
De trein naar Praag vertrekt van spoor zeven.
""",
        """
Wie heeft de wachtwoorden van de database?
Wanneer moet ik naar de tandarts?
Wat eten mijn katten?
Van welk spoor vertrekken de treinen naar Praag?
""",
        """
Goedemorgen, hoe is het weer vandaag bij jullie?
Het regent, de tuin heeft het nodig na die droge maand.
Schrijf een kort gedicht over herfstbladeren.
Rood en goud vallen ze, de wind kent ze allemaal.
Hoeveel mensen wonen er in IJsland?
Iets minder dan vierhonderdduizend.
""",
    ),
    "Russian": talk(
        """
Пароль от базы данных хранится у Марии в синем сейфе.
Мы перенесли визит к стоматологу на девятое марта.
Мою кошку зовут Пиксель, она ест только тунца.
Поезд в Прагу отправляется с седьмого пути.
""",
        """
У кого пароли от базы данных?
Когда мне идти к стоматологу?
Что едят мои кошки?
С какого пути отправляются поезда в Прагу?
""",
        """
Доброе утро, какая у вас сегодня погода?
Идёт дождь, саду он нужен после такого сухого месяца.
Напиши мне короткое стихотворение об осенних листьях.
Красные и золотые падают, ветер знает каждый.
Сколько человек живёт в Исландии?
Чуть меньше четырёхсот тысяч.
""",
    ),
    "Turkish": talk(
        """
Veritabanı şifresi Maria'da, mavi kasanın içinde.
Dişçi randevusunu dokuz Mart'a aldık.
Kedimin adı Pixel, sadece ton balığı yiyor.
Prag treni yedinci perondan kalkıyor.
""",
        """
VERİTABANININ ŞİFRESİ kimde?
Dişçiye ne zaman gideceğim?
Kedimin yediği balık hangisi?
Prag'a giden tren hangi perondan kalkar?
""",
        """
Günaydın, bugün orada hava nasıl?
Yağmur yağıyor, bahçenin buna ihtiyacı var.
Sonbahar yaprakları hakkında kısa bir şiir yaz.
Kırmızı ve altın düşerler, rüzgar hepsini tanır.
İzlanda'da kaç kişi yaşıyor?
Dört yüz binden biraz az.
""",
    ),
    "Arabic": talk(
        """
كلمة مرور قاعدة البيانات عند ماريا في الخزنة الزرقاء.
نقلنا موعد طبيب الأسنان إلى التاسع من مارس.
قطتي اسمها بيكسل ولا تأكل إلا التونة.
القطار إلى براغ ينطلق من الرصيف السابع.
""",
        """
من عنده كلمات مرور قاعدة بيانات؟
متى موعدي مع طبيب أسنان؟
ماذا تأكل القطة؟
من أي رصيف ينطلق قطار براغ؟
""",
        """
صباح الخير، كيف الطقس عندكم اليوم؟
إنها تمطر، والحديقة تحتاج إلى ذلك بعد شهر جاف.
اكتب لي قصيدة قصيرة عن أوراق الخريف.
حمراء وذهبية تسقط، والريح تعرفها كلها.
كم عدد سكان آيسلندا؟
أقل قليلا من أربعمئة ألف.
""",
    ),
    "Hindi": talk(
        """
डेटाबेस का पासवर्ड मारिया के पास नीली तिजोरी में है।
हमने दाँतों के डॉक्टर की मुलाक़ात नौ मार्च को रखी है।
मेरी बिल्ली का नाम पिक्सेल है और वह सिर्फ़ टूना खाती है।
प्राग की रेलगाड़ी सातवें प्लेटफ़ॉर्म से चलती है।
""",
        """
डेटाबेस के पासवर्ड किसके पास हैं?
दाँत के डॉक्टर से मुलाक़ात कब है?
मेरी बिल्लियाँ क्या खाती हैं?
प्राग की रेलगाड़ियाँ किस प्लेटफ़ॉर्म से चलती हैं?
""",
        """
सुप्रभात, आज वहाँ मौसम कैसा है?
बारिश हो रही है, सूखे महीने के बाद बगीचे को ज़रूरत थी।
मुझे पतझड़ की पत्तियों पर एक छोटी कविता लिखो।
लाल और सुनहरी गिरती हैं, हवा सबको पहचानती है।
आइसलैंड में कितने लोग रहते हैं?
चार लाख से थोड़े कम।
""",
    ),
    "Chinese": talk(
        """
数据库的密码由玛丽亚保管在蓝色保险箱里。
我们把牙医的预约改到了三月九日。
我的猫叫小像素，只吃金枪鱼。
去布拉格的火车从七号站台出发。
""",
        """
谁保管数据库密码？
看牙医是哪一天？
我家猫吃什么？
布拉格的火车在哪个站台？
""",
        """
早上好，今天你那里天气怎么样？
正在下雨，花园干了一个月，很需要雨水。
请写一首关于秋叶的短诗。
红的金的纷纷落下，风认得每一片。
冰岛有多少人口？
不到四十万。
""",
    ),
    "Japanese": talk(
        """
データベースのパスワードはマリアが青い金庫に保管しています。
歯医者の予約を三月九日に変更しました。
うちの猫はピクセルという名前で、マグロしか食べません。
プラハ行きの電車は七番線から出ます。
""",
        """
データベースのパスワードは誰が持っていますか？
歯医者はいつ行けばいいですか？
猫は何を食べますか？
プラハへの電車は何番線ですか？
""",
        """
おはようございます、今日の天気はどうですか？
雨が降っています。乾いた月のあとで庭には恵みです。
紅葉について短い詩を書いてください。
赤く金色に散り、風はすべてを知っている。
アイスランドの人口はどれくらいですか？
四十万人より少し少ないです。
""",
    ),
    "Korean": talk(
        """
데이터베이스 비밀번호는 마리아가 파란 금고에 보관하고 있습니다.
치과 예약을 삼월 구일로 옮겼습니다.
우리 고양이 이름은 픽셀이고 참치만 먹습니다.
프라하행 기차는 칠번 승강장에서 출발합니다.
""",
        """
데이터베이스의 비밀번호를 누가 갖고 있나요?
치과에는 언제 가야 하나요?
고양이가 뭘 먹죠?
프라하로 가는 기차는 어느 승강장인가요?
""",
        """
좋은 아침입니다, 오늘 날씨가 어때요?
비가 옵니다. 메마른 한 달 뒤라 정원에 필요했어요.
가을 낙엽에 대한 짧은 시를 써 주세요.
붉고 금빛으로 떨어지고 바람은 모두를 안다.
아이슬란드 인구는 얼마나 되나요?
사십만 명보다 조금 적습니다.
""",
    ),
    "Thai": talk(
        """
รหัสผ่านของฐานข้อมูลอยู่กับมาเรียในตู้เซฟสีน้ำเงิน
เราเลื่อนนัดหมอฟันเป็นวันที่เก้ามีนาคม
แมวของฉันชื่อพิกเซลและกินแต่ปลาทูน่า
รถไฟไปปรากออกจากชานชาลาที่เจ็ด
""",
        """
ใครเก็บรหัสผ่านฐานข้อมูล
ต้องไปหาหมอฟันเมื่อไหร่
แมวกินอะไร
รถไฟไปปรากอยู่ชานชาลาไหน
""",
        """
สวัสดีตอนเช้า วันนี้อากาศเป็นอย่างไร
ฝนตก สวนต้องการน้ำหลังจากเดือนที่แห้งแล้ง
ช่วยเขียนบทกวีสั้นเกี่ยวกับใบไม้ร่วง
แดงและทองร่วงหล่น สายลมรู้จักทุกใบ
ไอซ์แลนด์มีประชากรกี่คน
น้อยกว่าสี่แสนเล็กน้อย
""",
    ),
}
