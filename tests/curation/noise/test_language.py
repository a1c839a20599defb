from __future__ import annotations

import pytest

from compass.curation.noise.language import language
from compass.settings import Denoise


def told(problem: str, *languages: str) -> str | None:
    drop = language({"problem": problem}, Denoise(languages=list(languages) or ["en"]))
    return drop and drop.evidence["language"]


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        ("一共有多少页", "zh"),
        ("いくつありますか", "ja"),
        ("모두 몇 개입니까", "ko"),
        ("Сколько всего чисел", "ru"),
        ("كم عدد الصفحات", "ar"),
        ("כמה עמודים יש", "he"),
        ("कितने पृष्ठ हैं", "hi"),
        ("มีกี่หน้า", "th"),
        ("কত পৃষ্ঠা আছে", "bn"),
        ("ఎన్ని పేజీలు", "te"),
        ("რამდენი გვერდია", "georgian"),
        ("Find the area where $𝑥 = ℓ$ and π is known.", None),
        ("Juma ana vitabu kumi na viwili, na kila kitabu kina kurasa kwa hesabu ya shule, je ana ngapi?", "sw"),
        ("¿Cuántos son los enteros que están entre la raíz y el número?", "es"),
        ("Combien de nombres sont dans le cercle avec une aire paire?", "fr"),
        ("Wie viele Zahlen sind nicht in der Menge und auf dem Kreis?", "de"),
        ("Quantos números não são da soma e do produto em uma lista?", "pt"),
        ("Quanti numeri non sono nel cerchio e della somma per il quadrato?", "it"),
        ("Hoeveel getallen zijn niet in het vierkant en de cirkel voor een punt?", "nl"),
        ("How many integers lie strictly between one and seven?", None),
        ("Compute $3+4$.", None),
        ("", None),
    ],
)
def test_languages_are_told_apart(problem, expected):
    assert told(problem) == expected


def test_languages_of_the_settings_are_kept():
    assert told("一共有多少页", "zh") is None
    assert told("一共有多少页", "en") == "zh"


def test_evidence_holds_the_share_and_the_beginning():
    problem = "abcde这" * 30
    drop = language({"problem": problem.replace("abcde", "abc")}, Denoise())
    assert drop.evidence == {"language": "zh", "share": 0.25, "text": ("abc这" * 30)[:80]}


@pytest.mark.parametrize(("letters", "expected"), [(4, "zh"), (5, None)])
def test_a_fifth_of_the_letters_makes_a_foreign_text(letters, expected):
    assert told("x" * letters + "这") == expected


def test_a_text_of_one_foreign_letter():
    assert language({"problem": "这"}, Denoise()).evidence["share"] == 1


def test_formulas_are_no_letters():
    assert told("$aaaaaaaaaaaaaaaaaaaa$ 这 ab") == "zh"


def test_foreign_letters_count_in_a_text_that_is_plainly_english_otherwise():
    assert told("the sum of 这是一道很长的中文题目请回答下面的问题") == "zh"
    assert told("What is the word КАША in Russian and how many letters of it are vowels?") is None


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        ("una tres que xxxx yyyy", None),  # five words
        ("una tres que los xxxx yyyy", "es"),
        ("una que xxxx yyyy zzzz wwww", None),  # two function words
        ("una que los xxxx yyyy of", None),  # English: a sixth of the words
        ("una que los xxxx yyyy zzzz of", "es"),
        ("una que los con xxxx aa bb cc dd ee ff gg is of", None),  # twice as many as the English words
        ("una que los con por xxxx aa bb cc dd ee ff gg is of", "es"),
    ],
)
def test_function_words_that_tell_a_latin_script(problem, expected):
    assert told(problem) == expected


def test_the_share_of_function_words():
    drop = language({"problem": "una que los xxxx yyyy zzzz wwww vvvv"}, Denoise())
    assert drop.evidence["share"] == round(3 / 8, 2)
