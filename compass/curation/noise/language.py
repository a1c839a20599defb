"""Languages that are not trained on, told by script and, for Latin script, by function words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import prose
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

FOREIGN_LETTERS = 0.2
"""Share of letters in another script from which a text is in another language; quoted words and labels stay below."""

_LANGUAGES = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "HANGUL": "ko",
    "CYRILLIC": "ru",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "THAI": "th",
    "BENGALI": "bn",
    "TELUGU": "te",
    "TAMIL": "ta",
}
"""The language of a script, by the first word of its characters' Unicode names; any other script goes by its own name."""
_OF_FORMULAS = frozenset(("LATIN", "GREEK", ""))
_WORD = re.compile(r"[^\W\d_]{2,}")
_FUNCTION_WORDS = {
    "es": "el la los de son en y o enteros las una que es del por para con se cuál cuántos sea están como más sobre número halla si entre un su sus al no le ha hay lo les cada todos todas también después cuánto cuánta cuántas durante cuando tiene tienen puede ella él pero muy quién dónde",
    "fr": "le la les des une est que dans pour avec par sur quel quelle combien soit sont trouver nombre qui aux du où un de et si en il elle ils elles au ont ses son leur plus chaque ce cette se sa lui ne pas mais après pendant tous toutes été était comment quelles quels donc",
    "de": "der die das ist und ein eine wie viele mit von den dem nicht sich auf welche wird zu im für sind bestimme in einem einer einen eines er sie es hat haben aus an als auch so nach dann wenn jede jeder jedes jeden pro am beim vom zum zur sein seine ihre ihr noch mehr wurde werden insgesamt kostet lang gibt",
    "pt": "os um uma que é do da dos das por para com não qual quantos seja são como mais número se em ao de no na nos nas ele ela tem quanto quantas cada depois também mas ou foi sua seu",
    "it": "il gli una che è di del della per con non quanti quale sia sono come più numero si nel trovare in un lo la le dei delle degli al alla nella ha hanno quante quanto ogni dopo anche se ma suo sua",
    "nl": "de het een van is en dat met hoeveel wat zijn voor niet op als welke wordt bepaal te er aan in die zij hij ze heeft hebben om elke dan ook maar haar per nog uit bij",
    "hu": "az egy hogy és nem van mennyi hány melyik ha számot olyan meg mely két ezek akkor legyen",
    "ro": "și este un o care cu pe din la că sunt numere determinați dacă să în fie pentru in ei sa lui cate câte cât fiecare după are au",
    "pl": "jest się na nie że ile liczba dla oraz jeśli które liczb wszystkie znajdź do co jak",
    "sw": "na ya wa kwa ni katika kila ana yake ngapi kuna za la alikuwa je hii kiasi moja mbili gani yao wao wake hiyo hilo huo kutoka kama kisha baada kabla wote kuwa ina wana alama siku wiki",
    "id": "yang dan di dari untuk adalah berapa dengan setiap pada dalam ini itu jika memiliki ke tidak akan banyak",
    "tr": "bir ve bu kaç için ile olan kadar her daha çok olarak ise var sonra tane eder bulunuz",
    "sv": "och är att det som en ett på av för med den hur många har till inte från om",
    "vi": "của và là có cho các một trong được số với những không tìm nếu bao nhiêu",
}
_ENGLISH_WORDS = (
    "the of and is to in that for find what if are be with how many on by it as which an from has have each at this let "
    "given value number when then there two all such was will would can not or more than does do his her their"
)
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHERS = {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}
_SHARED_WORDS = (
    "also am dan dare data de den die hay he her la le lo me men no on per pro sans she sin so son to us war was"
)
_ALSO_ENGLISH = _ENGLISH | frozenset(_SHARED_WORDS.split())
"""Words that say nothing for or against a language that has them as well."""


_NO_ENGLISH = re.compile(r"[ß-öø-ÿıłğşęąățșœ]")
_BEYOND_LATIN = re.compile(r"[^\W\d_\u0000-\u03ff\u1e00-\u2bff]")
_PLAINLY_ENGLISH = (" the ", " of ", " is ", " and ", " what ", " how many ", " find ", "the ")


def language(record: dict, settings: Denoise) -> Finding | None:
    """A language that `denoise.languages` does not name."""
    text = record["problem"]
    foreign = not text.isascii() and _BEYOND_LATIN.search(text)
    lowered = text.lower()
    if not foreign and sum(word in lowered for word in _PLAINLY_ENGLISH) >= 2:
        return None
    words = prose(text)
    language, share = _script(words) if foreign else ("", 0.0)
    if not language:
        language, share = _latin(words)
    if not language or language in settings.languages:
        return None
    return Finding(
        NoiseReason.LANGUAGE,
        Strength.SURE,
        {"language": language, "share": round(min(share, 1.0), 2), "text": text[:80]},
    )


def _script(words: str) -> tuple[str, float]:
    """The language of the foreign script that makes up enough of the letters, and its share."""
    letters = [char for char in words if char.isalpha()]
    scripts = Counter(map(_script_of, letters))
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    if kana >= FOREIGN_LETTERS * max(1, len(letters)):  # Japanese has Chinese characters, Chinese has no kana
        return "ja", kana / len(letters)
    foreign = [(-count, name) for name, count in scripts.items() if name not in _OF_FORMULAS]
    count, name = min(foreign, default=(0, ""))
    share = -count / max(1, len(letters))
    return (_LANGUAGES.get(name, name.lower()), share) if name and share >= FOREIGN_LETTERS else ("", 0.0)


@lru_cache(maxsize=1 << 16)
def _script_of(char: str) -> str:
    """The first word of a letter's Unicode name, which is its script; variants such as `𝑥` count as the letter itself."""
    return unicodedata.name(unicodedata.normalize("NFKC", char)[0], "").split(" ")[0].split("-")[0]


def _latin(words: str) -> tuple[str, float]:
    """The Latin-script language whose function words outnumber those of English alone twice, and their share.

    A word with a letter that English lacks, and the signs that open a Spanish question, count as one such word of every language.
    """
    latin_words = _WORD.findall(words.lower())
    if len(latin_words) < 6:
        return "", 0.0
    marked = set(filter(_NO_ENGLISH.search, latin_words))
    signs = words.count("¿") + words.count("¡")
    counts = {
        name: signs + sum(word in marked or (word in known and word not in _ALSO_ENGLISH) for word in latin_words)
        for name, known in _OTHERS.items()
    }
    name = max(counts, key=counts.__getitem__)
    english = sum(word in _ENGLISH and word not in _OTHERS[name] for word in latin_words)
    found = counts[name] >= 3 and counts[name] > 2 * english
    return (name, counts[name] / len(latin_words)) if found and english * 6 < len(latin_words) else ("", 0.0)
