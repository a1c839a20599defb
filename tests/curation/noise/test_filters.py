"""Each noise filter on rows it must drop and rows it must keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from compass.curation import noise
from compass.curation.noise.multi_part import _stem_asks
from compass.ledger import Drop, Reason
from compass.settings import Denoise, SettingsError, load_settings

SETTINGS = Denoise()


def reason(problem: str, answer: str = "7", **settings) -> str | None:
    drop = noise.check({"problem": problem, "answer": answer}, Denoise(**settings))
    return drop and str(drop.reason)


DROPPED = {
    Reason.LINK: [
        "What is 3 + 4? (Source: https://forum.example.org/t/9)",
        "See [this page](http://example.org/x) and compute 3 + 4 for me.",
        "Compute the sum 3 + 4, as on www.example.org today.",
        "An [integer](/wiki/Integer) plus one is eight. What is it?",
    ],
    Reason.IMAGE: [
        "![](https://cdn.example.org/1.jpg?height=200) What is the sum of the two numbers?",
        'What is the sum? <img src="a.gif" alt="">',
        "What is the area? \\includegraphics[width=3cm]{tri}",
        "What is the area of this region? see fig_1.png",
    ],
    Reason.FIGURE: ["Find the area. [asy]draw((0,0)--(1,1));[/asy] It is an integer."],
    Reason.PROOF: ["Prove that there are infinitely many primes of this form."],
    Reason.MULTIPLE_CHOICE: ["What is 3 + 4?\nA) 5\nB) 6\nC) 7\nD) 8"],
    Reason.TRUE_FALSE: ["True or false: every even number above two is a sum of two primes."],
    Reason.YES_NO: ["There are seven coins. Is it possible to share them among three people equally?"],
    Reason.MULTI_PART: ["Let $f(x)=x^2$.\n(1) Find $f(2)$.\n(2) Find the minimum of $f$."],
    Reason.MULTI_QUESTION: [
        "Tom has 3 apples and 4 pears. How many fruits has he? How many would he have after eating two?"
    ],
    Reason.TRUNCATED: [
        "Given the vector $A$ with components $(1,-1)$,",
        "Find the largest $n$ such that \\[ n^2 < 1000. \\",
        "Find all integers $n$ for which $n^2+1$ is prime and",
    ],
    Reason.MARKUP: [
        "Given a<sub>1</sub> = 1 and a<sub>2</sub> = 2, find the tenth term.",
        "We call it [i]good[/i] if it is odd. How many good numbers are below ten?",
        "Solve $x^2 \\plus{} x \\equal{} 6$ over the positive integers.",
    ],
    Reason.ENCODING: [
        "Simplify $\x0crac{1}{2+1}$ and give the denominator.",
        "What is $2 \times 3 \times 4$ when reduced modulo seven?",
        "Marie d\u00c3\u00a9pense 3 euros, et puis 4. How much is that?",
        "The \ufffd operation adds its arguments. What is 3 \ufffd 4?",
    ],
    Reason.LANGUAGE: ["芳芳买了一本书有99页，看了90页，她还剩多少页没有看？"],
    Reason.ESTIMATION: [
        "Compute the digits of $2024!$. If you say $E$ and the correct answer is $A$, your score is $\\max(0, 20 - |A-E|)$."
    ],
    Reason.SCORING: [
        "Write down an integer. Your score is your integer if nobody else wrote it, and 0 points otherwise."
    ],
    Reason.LOST_CONTEXT: ["Let $N$ be the answer to problem 12. What is the remainder of $N$ modulo seven?"],
    Reason.TOO_SHORT: ["5, 6, 7"],
    Reason.TOO_LONG: ["How many digits are there? " + "1" * 4000],
}


@pytest.mark.parametrize(("expected", "problem"), [(r, p) for r, problems in DROPPED.items() for p in problems])
def test_noise_is_dropped_for_its_reason(expected, problem):
    assert reason(problem) == expected


@pytest.mark.parametrize(
    "problem",
    [
        "Tom has 8 books, doubles them and loses 4. How many books has he now?",
        "Roll two dice. What is the probability that the sum of the numbers shown is seven?",
        "Draw a tree diagram in your head. How many leaves has a binary tree of depth three?",
        "David takes a true/false exam with 9 questions. How many answer sheets are possible?",
        "The positive integer nearest to $\\sqrt{50}$ is",
        "The set of all $x$ with $x^2<4$ is the set of all $x$ such that",
        "Is there an integer between 6.5 and 7.5? If so, find it.",
        'Ten elves are asked, "How many nuts have your neighbours?" and each says 7. How many nuts are there in all?',
        "Let $[x]$ denote the greatest integer not above $x$. Find $[7.3]$.",
        "He bought [b] litres of milk for each of $[a]$ children, where $a=7$ and $b=1$. How many litres in all?",
        "If $a < b$ and $b<c$, and all are positive integers below 4, find $a+b+c+1$.",
        "Each movie lasts 2 hours. How many movies are shown in a day of 14 hours?",
    ],
)
def test_clean_problems_are_kept(problem):
    assert reason(problem) is None


@pytest.mark.parametrize(
    ("problem", "answer", "expected"),
    [
        ("Can a square be cut into six squares of any size?", "Yes", "yes_no"),
        ("Determine whether such a number exists below one hundred.", "\\text{No, there is none.}", "yes_no"),
        ("What is the value of the sum $3+4$ in base ten?", "\\textbf{(C)}\\ 7", "multiple_choice"),
        ("The number of arrangements of the seats is $\\boxed{480}$.", "480", "answer_given"),
        ("What is the sum of the first nine primes?", "B", "letter_gold"),
        ("The sum of the two is 12. Therefore, the larger number is 7.", "7", "answer_given"),
    ],
)
def test_filters_that_read_the_gold(problem, answer, expected):
    assert reason(problem, answer) == expected


def test_every_filter_is_asked_tested_and_explained():
    files = {path.stem for path in Path(noise.__file__).parent.glob("*.py")} - {
        "__init__",
        "finding",
        "text",
        "two_demands",
    }
    assert {judge.__module__.rpartition(".")[2] for judge in noise.FILTERS.values()} == files
    assert set(noise.FILTERS) == {*DROPPED, Reason.ANSWER_GIVEN, Reason.LETTER_GOLD}  # the last two read the gold
    page = (Path(__file__).parents[3] / "docs/noise.md").read_text()
    table = page[page.index("\n## Reasons") : page.index("\n## Precision")]
    assert [reason for reason in noise.FILTERS if f"`{reason}`" not in table] == []


def test_an_image_outweighs_its_address():
    assert reason("![](https://cdn.example.org/1.png) What is the sum of all?") == "image"


def test_evidence_holds_what_matched():
    drop = noise.check({"problem": "What is 3+4? See https://example.org/a for more.", "answer": "7"}, SETTINGS)
    assert isinstance(drop, Drop)
    assert "https://example.org" in drop.evidence["text"]


def test_languages_and_skipped_reasons_are_settings():
    chinese = "芳芳买了一本书有99页，看了90页，她还剩多少页没有看？"
    assert reason(chinese, languages=["en", "zh"]) is None
    assert reason("In the diagram, $ABCD$ is a square of area 49. Find its side.", skip_reasons=["figure"]) is None


def test_an_unknown_reason_is_a_settings_error(tmp_path):
    tiny = (Path(__file__).parents[3] / "profiles/tiny.yaml").read_text()
    path = tmp_path / "params.yaml"
    path.write_text(tiny.replace("languages: [en]", "languages: [en]\n  skip_reasons: [ugly]"))
    with pytest.raises(
        SettingsError, match=r"denoise\.skip_reasons\.0: Input should be 'too_long', .* or 'markup', found 'ugly'"
    ):
        load_settings(path)


@pytest.mark.parametrize(
    "text", ["(A) " * 1000, "$" * 4000, "[asy]" * 800, "\\boxed{" * 500, "a) b) " * 600, "? " * 2000]
)
def test_hostile_text_is_judged(text):
    """Without end where an expression tries every way to match."""
    noise.check({"problem": text[:4000], "answer": text[:2000]}, SETTINGS)


@pytest.mark.parametrize(("length", "asks"), [(260, True), (261, False)])
def test_a_stem_asks_for_arrangements_in_its_last_260_characters(length: int, asks: bool) -> None:
    start, end = "how many ways ", " following conditions"
    stem = start + "x" * (length - len(start) - len(end)) + end
    assert _stem_asks(stem, "(1)", 0) is asks
