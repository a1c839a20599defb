"""Numbered parts that each ask, and numbers in brackets that are products, rules, labels or properties."""

from __future__ import annotations

import pytest

from compass.curation.noise.multi_part import multi_part
from compass.settings import Denoise

PARTS = [
    "Let $f(x)=x^2$.\n(1) Find $f(2)$.\n(2) Find the minimum of $f$.",
    "(a) What is 3+4? (b) What is 4+5?",
    "Calculate:\n(1) $3+4$;\n(2) $4+5$.",
    "1) Solve $2x = 8$. 2) Solve $3y = 27$. 3) Compute $x + y$.",
    "A car travels 120 km in 2 hours.\n(i) What is its speed?\n(ii) How far does it travel in 5 hours?",
    "Consider $f(x) = x^2 - 2x$.\na) Determine its zeros.\nb) Determine its minimum.",
    "1. Find the sum of the first ten odd numbers.\n2. Find the sum of their squares.",
    "(1) If $a = 3$, find $b$. (2) If $b = 3$, find $a$.",
    "Given is a line. (Ⅰ) Find its slope; (Ⅱ) if it meets the circle, find the range of $r$.",
    "Part A: How many apples are there?\nPart B: How many pears are there?",
    "The two circles meet at $P$ and $Q$.\n(1) Prove that $PQ$ is fixed.\n(2) Find the length of $PQ$.",
    "Simplify each expression: (a) $2x + 3x$ (b) $4y - y$ (c) $z + z$",
    "① Write down the equation of the line; ② Calculate its distance from the origin.",
    "In how many ways can they sit in each of the following cases? (1) Ann sits left. (2) Ben sits right.",
    "**p1.** What is 3+4? **p2.** What is 4+5?",
    "(1) The area is ____; (2) the perimeter is ____.",
]

WHOLE = [
    "Solve $(-1)(2)(x)(4) = 24$ for $x$.",
    "Compute $(1)(2) + (3)(4) + (5)(6)$.",
    "A game has these rules: (1) a player who draws a red card gives two cards back; (2) a player who draws a black card, which counts double, keeps it. How many cards has Ann after a red and a black card?",
    "The function $f$ satisfies (1) $f(0)=1$ and (2) $f(x+1)=2f(x)$ for all $x$. Find $f(5)$.",
    "A sequence has the properties (1) every term is larger than the one before, (2) no three terms, whichever they are, form a progression. What is the least fifth term?",
    "A code is built in steps: 1. Write down a digit.\n2. Write down a digit that differs from it.\n3. Write down their sum. How many codes are there?",
    "Points are labelled (1), (2) and (3). How many paths lead from (1) to (3)?",
    "Equation (1) is $x + y = 3$ and equation (2) is $x - y = 1$. What is $x$ in the system of (1) and (2)?",
    "Let $g(1) + g(2) = 3$ and $g(2) = 2$. What is $g(1)$?",
    "There are three kinds of coins: (a) gold coins, which are worth 5; (b) silver coins, which are worth 3; (c) copper coins. Ann has one of each kind and 9 in value. What is a copper coin worth?",
    "Find all pairs such that\n(i) $a < b$,\n(ii) $a + b = 7$,\n(iii) $a$ and $b$ are positive integers.",
    "A number has 4 digits. Clues: 1. The first digit is odd.\n2. The second digit is twice the first.\n3. The last two are what is left of 1 and 2. What is the least such number?",
    "The vertices are $(1)$ apex and $(2)$ base. How many edges are there?",
    "He can (1) add 3 to the number or (2) double the number. What is the least number of moves from 1 to 22?",
    "What is the least positive integer with these properties?\na) It leaves the remainder 1 when divided by 2.\nb) It leaves the remainder 2 when divided by 3.",
    "For each $n$ let $(n)$ be the number of divisors. What is $(1) + (2) + (3)$?",
]


@pytest.mark.parametrize("problem", PARTS)
def test_parts_that_ask_are_dropped(problem):
    finding = multi_part({"problem": problem, "answer": "7"}, Denoise())
    assert finding is not None
    assert finding.drops("likely")


@pytest.mark.parametrize("problem", WHOLE)
def test_products_rules_labels_and_properties_are_no_parts(problem):
    finding = multi_part({"problem": problem, "answer": "7"}, Denoise())
    assert finding is None or not finding.drops("likely")


def test_the_span_is_the_second_mark_of_the_text_as_it_is():
    problem = "\\((\\)1\\()\\) Find x.<br>\\((\\)2\\()\\) Find y."
    start, end = multi_part({"problem": problem}, Denoise()).evidence["span"]
    assert "2" in problem[start:end]
    assert "1" not in problem[start:end]


def evidence(problem: str, answer: str | None = "7") -> dict | None:
    finding = multi_part({"problem": problem, "answer": answer}, Denoise())
    return finding and finding.evidence


@pytest.mark.parametrize(
    ("problem", "style", "parts", "asking"),
    [
        ("(1) Find a. (2) Find b.", "(1)", 2, 2),
        ("(1) a is 3. (2) Find b.", None, 0, 0),
        ("(1) Find a.", None, 0, 0),
        ("(1) Find a. (2) Find b. (3) It is odd. Use (1).", "(1)", 3, 2),
        ("Find the sum of:\n(1) 3+4;\n(2) 4+5", "(1)", 2, 0),
        ("A map satisfies the conditions\n(1) 3;\n(2) 5", None, 0, 0),
        ("How many arrangements are there under these conditions? (1) a (2) b", "(1)", 2, 0),
        ("(a) Find x. (b) Find y.", "(a)", 2, 2),
        ("What is the least one?\na) an odd one\nb) find an even one", "a)", 2, 1),
        ("It satisfies the conditions. What is it?\na) odd\nb) find it", "a)", 2, 1),
        ("What satisfies these conditions?\na) odd\nb) find it", None, 0, 0),
        ("It is so.\na) odd\nb) find it", None, 0, 0),
        ("What is it?\n1. odd\n2. find it", None, 0, 0),
        ("1. Find x.\n2. Find y.", "1.", 2, 2),
        ("Part A Find x.\nPart B Find y.", "Part", 2, 2),
        ("**p1.** Find x. **p2.** Find y.", "p1", 2, 2),
        ("① Find x; ② find y", "①", 2, 2),
        ("(i) Find x. (ii) Find y.", "(i)", 2, 2),
        ("(I) Find x. (II) Find y.", "(I)", 2, 2),
        ("(1) 求甲 (2) 求乙", "(1)", 2, 2),
        ("(1) Is it odd (2) Has it a root", "(1)", 2, 2),
        ("Start<br>1. Find x.<br/>2. Find y.", "1.", 2, 2),
        ("\\((\\)1\\()\\) Find x. \\((\\)2\\()\\) Find y.", "(1)", 2, 2),
    ],
)
def test_parts_that_ask(problem, style, parts, asking):
    told = evidence(problem)
    if style is None:
        assert told is None
    else:
        assert (told["style"], told["parts"], told["asking"]) == (style, parts, asking)


def test_the_evidence_of_parts_is_the_second_mark():
    assert evidence("(1) Find a. (2) Find b.")["text"] == "(1) Find a. (2) Find b."
    far = f"(1) Find {'x' * 100} (2) Find {'y' * 100}"
    assert evidence(far)["text"] == far[70:153]
