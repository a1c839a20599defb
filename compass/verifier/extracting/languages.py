"""How some twenty languages announce, conclude, doubt and deny: patterns that the readers of responses share."""

from __future__ import annotations

_ANSWER = {
    "Chinese": "答案|(?<!解)答",
    "Japanese": "答え|解答(?!】)",
    "Korean": "정답|답",
    "French": r"réponses?(?:\s(?:finale|correcte))?",
    "Spanish": r"respuestas?(?:\s(?:final|correcta))?",
    "Portuguese": r"respostas?(?:\s(?:final|correta))?",
    "Italian": r"rispost[ae](?:\s(?:finale|corretta))?",
    "German": r"antwort(?:en)?|ergebnis|lösung",
    "Dutch": "antwoord",
    "Swedish, Norwegian, Danish": r"svar(?:et)?",
    "Polish": "odpowiedź",
    "Czech": "odpověď",
    "Russian": "ответ",
    "Ukrainian": "відповідь",
    "Turkish": "cevap|yanıt",
    "Vietnamese": r"đáp\s(?:án|số)|câu\strả\slời",
    "Indonesian, Malay": "jawaban(?:nya)?|jawapan",
    "Arabic": "الجواب|الإجابة",
    "Persian": "پاسخ",
    "Hindi": "उत्तर",
    "Bengali": "উত্তর",
    "Thai": "คำตอบ",
}
VERBS = r"is|are|equals|est|sont|vaut|ist|sind|lautet|beträgt|es|são|é|è|sono|είναι|jest|wynosi|är|é\sde|est\sde|рав(?:ен|на|но|ны)|составляет"
"""Verbs between a name and its value; only those that no English text has with another meaning, besides the English ones."""
FOREIGN_ANNOUNCED = (
    rf"(?<![A-Za-z\u00c0-\u04ff])(?:{'|'.join(_ANSWER.values())})\**\s{{0,3}}(?:(?:est|sont|es|son|é|è|ist|lautet|sind|jest|är|är|adalah|là|هو|هي|है|는|은)(?!\w)"
    r"(?:\s(?:donc|alors|de|also|pues|entonces)(?!\w)){0,2}|[:：】是为は=]|คือ|\s?(?=(?-i:[A-J])(?![\w'’])))\**\s{0,3}[:：]?"
)
"""A pattern for "the answer is" and "answer:" in any of the languages."""
FOREIGN_THEREFORE = (
    r"ao todo|no total|in totale|au total|всего|итого|razem|w sumie|celkem|toplam|tổng cộng|por (?:lo )?tanto|as[ií] que|entonces|en total|donc|ainsi|par conséquent|also(?=,?\s(?:ist|sind|gilt|beträgt|hat|haben|der|die|das|es|gibt|gab|wir|folgt|lautet|kostet|braucht))|daher|somit|folglich|insgesamt|quindi|dunque|pertanto"
    r"|portanto|logo|assim|dus|następnie|więc|zatem|takže|tedy|итак|следовательно|значит|таким образом|поэтому|отже|тому|vậy|do đó|jadi|maka"
    r"|따라서|그러므로|よって|したがって|ゆえに|综上|所以|因此|故|इसलिए|أي|إذن"
)
"""What opens a conclusion."""
FOREIGN_HEDGED = (
    "可能|也许|大概|或许|不确定|peut-être|probablement|quiz[áa]s?|tal vez|talvez|forse|vielleicht|wahrscheinlich(?!k)|возможно|может быть|наверное"
    "|być może|chyba|snad|belki|có lẽ|mungkin|かもしれ|たぶん|おそらく|아마|어쩌면|ربما|شاید|शायद"
)
"""What makes an answer doubtful."""
FOREIGN_HOW_MANY = r"cu[áa]nt[oa]s|wie\s?viele|combien\sd[e'’]|quanti|quante|quantos|quantas|hoeveel|hur\smånga|ile|kolik|kaç|сколько|скільки|berapa"
"""What asks for a number."""
FOREIGN_DENIED = r"不是|不等于|n'est pas|ne sont pas|\bno es\b|\bnicht\b|не равно"
"""What says that something is not the answer."""
FOREIGN_REJECTED = (
    r"(?:das|dies|es)\s(?:ist|war)\sfalsch|stimmt\snicht|korrigieren|(?:verrechnet|geirrt)|c'est\sfaux|me\ssuis\stromp|je\sme\scorrige|me\sequivoqu|está\smal\b|me\scorrijo|ho\ssbagliato|mi\scorreggo|me\senganei|est(?:á|ava)\serrad"
    r"|ошиб(?:ся|лась)|это\sневерно|поправ(?:ка|люсь)|pomylił|poprawiam|vergiste\sme|klopt\sniet|yanlış\syaptım|düzeltiyorum|算错了|我错了|間違え|訂正|틀렸|정정"
)
"""What takes an answer back."""
