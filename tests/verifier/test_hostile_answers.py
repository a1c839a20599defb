"""Answers that could cost much work: never equal, never much work, never a crash.

Every entry is `name: (gold, answer)`. `answer_pairs.jsonl` has the short ones that are written to win without being right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compass.verifier import Outcome, answer_type, budget, extract_answer, reward, verify
from compass.verifier.reading.grammar import parse_once

POWERS = {
    "tower of nines": ("1", "9^{9^{9^9}}"),
    "exponent beyond a float": ("i^{10^{612}}", "i^{10^{612}}+8"),
    "tower against tower": ("9^{9^{9^9}}", "9^{9^{9^8}}"),
    "tower of tens": ("10^{10}", "10^{10^{10^{10}}}"),
    "long plain tower": ("2", "2" + "^2" * 400),
    "braced tower": ("2", "2^{" * 400 + "2" + "}" * 400),
    "negative tower": ("0", "10^{-10^{10^{10}}}"),
    "zero by a tiny power": ("0", "2^{-100000}"),
    "one plus a tiny power": ("1", "1+10^{-1000}"),
    "one plus a tinier power": ("1", "1+10^{-100000}"),
    "root plus a tiny power": ("\\sqrt{2}", "\\sqrt{2}+10^{-300}"),
    "variable plus a tiny power": ("\\sqrt{x}", "\\sqrt{x}+10^{-300}"),
    "base near one": ("1", "(1+10^{-9})^{10^{9}}"),
    "huge exponent of i": ("1", "i^{10^{100000}}"),
    "huge root": ("1", "\\sqrt[1000000000]{2}"),
    "fractional tower": ("1", "(1/2)^{(1/2)^{(1/2)^{9^{99}}}}"),
    "adjacent powers of two": ("\\frac{1}{2^{99}}", "\\frac{1}{2^{98}}"),
    "power of zero": ("1", "0^0"),
    "zero to a negative power": ("0", "0^{-1}"),
}
FACTORIALS = {
    "factorial of a factorial": ("1", "((10!)!)!"),
    "factorial tower": ("6", "3!!!!!!!!!!!!"),
    "factorial of a billion": ("1", "(10^{9})!"),
    "factorial of a fraction": ("1", "0.5!"),
    "factorial of a negative": ("1", "(-1)!"),
    "binomial of large numbers": ("1", "\\binom{10^{18}}{10^{9}}"),
    "double factorial of a billion": ("1", "(10^9)!!"),
    "one over a factorial": ("0", "1/1000!"),
    "root plus one over a factorial": ("\\sqrt{x}", "\\sqrt{x}+1/(x+2000)!"),
    "gamma of a large number": ("1", "\\Gamma(10^{12})"),
}
SUMS = {
    "sum of a billion terms": ("0", "\\sum_{k=1}^{10^{9}} \\frac{1}{k}"),
    "product of many terms": ("1", "\\prod_{k=1}^{100000} k"),
    "nested sums": ("0", "\\sum_{a=1}^{999}\\sum_{b=1}^{999}\\sum_{c=1}^{999} abc"),
    "sum of sums of towers": ("0", "\\sum_{a=1}^{99} 9^{9^{a}}"),
    "integral without bounds": ("1", "\\int"),
    "integral of everything": ("1", "\\int_0^{\\infty} x^{x^{x}} \\sin(x^{99}) dx"),
    "limit of nothing": ("1", "\\lim_{x\\to 0}"),
    "divergent sum": ("-\\frac{1}{12}", "\\sum_{k=1}^{\\infty} k"),
    "long addition": ("3", "+".join(["1"] * 3000)),
    "alternating addition": ("0", "+1-1" * 900 + "+1"),
}
NESTING = {
    "hundred thousand braces": ("1", "{" * 100_000 + "2" + "}" * 100_000),
    "hundred thousand parentheses": ("1", "(" * 100_000 + "2" + ")" * 100_000),
    "open parentheses": ("1", "(" * 1500 + "1"),
    "nested fractions": ("1", "\\frac{1}{" * 300 + "2" + "}" * 300),
    "nested roots": ("1", "\\sqrt{" * 300 + "2" + "}" * 300),
    "nested absolute values": ("1", "|" * 301 + "2" + "|" * 301),
    "nested boxes": ("1", "\\boxed{" * 500 + "2" + "}" * 500),
    "nested text": ("1", "\\text{" * 500 + "2" + "}" * 500),
    "nested sets": ("\\{1\\}", "\\{" * 200 + "1" + "\\}" * 200),
    "nested functions": ("1", "\\sin(" * 300 + "1" + ")" * 300),
    "nested signs": ("1", "-" * 2001 + "1"),
    "nested subscripts": ("1", "x" + "_{x" * 300 + "}" * 300),
    "product of many matrices": ("1", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}" * 80),
    "product of symbolic matrices": ("1", "\\begin{pmatrix}a&b\\\\c&d\\end{pmatrix}" * 60),
    "nested determinants": ("1", "\\begin{vmatrix}1&2&3\\\\4&5&6\\\\" * 30 + "7" + "&8&x\\end{vmatrix}" * 30),
    "nested matrices": ("1", "\\begin{pmatrix}" * 100 + "1" + "\\end{pmatrix}" * 100),
}
WORK = {
    "sum of binomials": ("1", "+".join(rf"\binom{{{10**9 + k}}}{{1600}}" for k in range(150))),
    "sum of double factorials": ("1", "+".join(f"{n}!!" for n in range(4500, 4200, -1))),
    "common multiple of factorials": ("1", r"\lcm(" + ",".join(f"{n}!" for n in range(4500, 4200, -1)) + ")"),
    "sum of factorials": ("1", r"\sum_{k=1}^{2000} k!"),
    "sum of large quotients": ("1", r"\sum_{k=1}^{2000} \frac{4000!}{k!}"),
    "sum of common divisors": ("1", r"\sum_{k=1}^{2000} \gcd(4000!+1,k!+1)"),
    "sum of remainders": ("1", r"\sum_{k=1}^{2000} ((4000!) \mod (k!+1))"),
    "product of polynomials with long coefficients": ("x", "".join(f"(x+{n}!)" for n in range(999, 880, -1))),
    "power of many variables": ("x", "(a+b+c+d+f+g+h+j+k+m+n+x)^{12}"),
    "long coefficient to a power": ("x", "(x+10^{999})^{200}"),
    "product of powers": ("x", "".join(f"(x+{n})^{{12}}" for n in range(250, 150, -1))),
    "sum of fractions": ("x", "+".join(rf"\frac{{{k}}}{{x+{k}}}" for k in range(90))),
}
SIZE = {
    "megabyte of digits": ("1", "1" * 1_000_000),
    "megabyte of nines after the point": ("1", "0." + "9" * 1_000_000),
    "megabyte of spaces and a digit": ("1", " " * 1_000_000 + "2"),
    "megabyte of backslashes": ("1", "\\" * 1_000_000),
    "megabyte of dollars": ("1", "$" * 1_000_000),
    "long list": ("1", ",".join(map(str, range(1, 900)))),
    "long decimal near one": ("1", "0." + "9" * 3000),
    "long decimal near a third": ("\\frac{1}{3}", "0." + "3" * 900 + "4"),
    "many variables": ("a", "+".join(f"x_{{{n}}}" for n in range(300))),
    "power of a long sum": ("1", "(" + "+".join("abcdfghjklmn") + ")^{60}"),
    "product of many sums": ("1", "".join(f"(x+{n})" for n in range(1, 300))),
    "large matrix": ("1", "\\begin{pmatrix}" + "\\\\".join("&".join("1" * 20) for _ in range(20)) + "\\end{pmatrix}"),
    "power of a large matrix": ("1", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}^{100000}"),
}
CODE = {
    "every sign of Latin-1": ("1", "".join(map(chr, range(32, 256)))),
    "worst case for patterns": ("1", "1" + ",111" * 900 + "x"),
    "spaces between digits": ("11", "1 " * 900),
    "letters that are nearly a unit": ("5", "5\\text{ " + "m" * 900 + ", or so}"),
}
HOSTILE = [
    (name, gold, answer)
    for group in (POWERS, FACTORIALS, SUMS, WORK, NESTING, SIZE, CODE)
    for name, (gold, answer) in group.items()
]

MOST_CALLS = 200_000
"""Calls of functions, and returns from them, for one comparison: a tenth of a second at most. The work inside flint has budgets of its own."""


@pytest.mark.parametrize(("name", "gold", "answer"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
def test_a_hostile_answer_is_never_equal_and_little_work(
    name: str, gold: str, answer: str, count_calls: Callable[[Callable[[], Any]], int]
) -> None:
    def decide() -> None:
        parse_once.cache_clear()
        assert verify(gold=gold, answer=answer).outcome is not Outcome.EQUAL, name

    assert count_calls(decide) < MOST_CALLS, name
    assert budget.spent().numeric <= budget.MAX_NUMERIC


@pytest.mark.parametrize(("name", "gold", "answer"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
def test_a_hostile_response_earns_no_reward(name: str, gold: str, answer: str) -> None:
    for response in (answer, f"The answer is \\boxed{{{answer}}}", f"The final answer is {answer}"):
        extract_answer(response)
    assert reward(f"Thus \\boxed{{{answer}}}", gold) == -1.0, name
    assert isinstance(answer_type(answer), str)


def test_every_sign_of_unicode_is_survived() -> None:
    for start in range(0, 0x110000, 64):
        text = "".join(map(chr, range(start, start + 64)))
        assert verify(gold="7/3", answer=text).outcome is not Outcome.EQUAL
        assert verify(gold="7/3", answer="7/3" + text).outcome is not Outcome.EQUAL or not text.strip()
