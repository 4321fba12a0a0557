"""Texts in many languages and lines of code, to be counted: written for this, or there in every Python."""

from __future__ import annotations

import sysconfig
from pathlib import Path

LANGUAGES = {
    "English": "The train to the coast leaves at six, so please don't forget the keys; we'll meet on platform nine.",
    "German": "Könnten Sie mir bitte sagen, ob die Straßenbahn übermorgen auch während des Festes fährt?",
    "French": "L'été dernier, nous avons traversé la forêt à vélo jusqu'à l'étang où naît la rivière.",
    "Spanish": "¿Dónde está la llave del armario? Mañana vendrá el carpintero a arreglar la puerta pequeña.",
    "Russian": "Завтра утром мы проверим, почему почта приходит с опозданием, и напишем короткий отчёт.",
    "Greek": "Αύριο το πρωί θα δοκιμάσουμε ξανά το πρόγραμμα και θα γράψουμε τι βρήκαμε.",
    "Chinese": "明天早上我们再检查一次服务器的日志,看看为什么邮件总是迟到,然后写一份简短的报告。",
    "Japanese": "明日の朝、もう一度サーバーのログを確認して、メールが遅れる理由を短い報告書にまとめます。",
    "Korean": "내일 아침에 서버 기록을 다시 확인하고, 메일이 늦게 도착하는 이유를 짧게 정리하겠습니다.",
    "Arabic": "سنراجع سجل الخادم مرة أخرى صباح الغد، ثم نكتب تقريراً قصيراً عن سبب تأخر البريد.",
    "Hebrew": "מחר בבוקר נבדוק שוב את יומן השרת ונכתוב דוח קצר על הסיבה לעיכוב.",
    "Hindi": "कल सुबह हम सर्वर का लॉग फिर से देखेंगे और देरी के कारण पर एक छोटी रिपोर्ट लिखेंगे।",
    "Thai": "พรุ่งนี้เช้าเราจะตรวจสอบบันทึกของเซิร์ฟเวอร์อีกครั้งแล้วเขียนรายงานสั้น ๆ",
    "Vietnamese": "Sáng mai chúng tôi sẽ kiểm tra lại nhật ký máy chủ rồi viết một báo cáo ngắn.",
}


def code_lines() -> list[str]:
    """Lines of Python that every installation has."""
    library = Path(sysconfig.get_paths()["stdlib"])
    names = ("argparse.py", "ast.py", "calendar.py", "csv.py", "difflib.py", "heapq.py", "textwrap.py")
    return [line for name in names for line in (library / name).read_text("utf-8").splitlines()]
