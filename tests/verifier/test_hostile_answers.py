"""Answers written to win without being right: never equal, never much work, never a crash.

Every entry is `name: (gold, answer)`.
"""

from __future__ import annotations

import resource
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
LISTS = {
    "several values": ("5", "4, 5, 6"),
    "every digit": ("5", "0,1,2,3,4,5,6,7,8,9"),
    "two values joined by or": ("5", "5 or 6"),
    "two values in text": ("10", "\\text{10 or 11}"),
    "set with the gold": ("5", "\\{5, 6\\}"),
    "tuple with the gold": ("5", "(5, 6)"),
    "plus or minus": ("2", "\\pm 2"),
    "plus or minus a difference": ("5", "5 \\pm 1"),
    "interval around the gold": ("5", "[4, 6]"),
    "interval of one point and more": ("5", "[5, 5.1]"),
    "union of points": ("5", "\\{5\\} \\cup \\{6\\}"),
    "all real numbers": ("5", "\\mathbb{R}"),
    "gold twice": ("5", "5, 5"),
    "gold glued": ("840", "840,840"),
    "half of the gold's list": ("1331, 1728", "1728"),
    "more than the gold's list": ("1, 2", "1, 2, 3"),
    "list in one number": ("2, 3", "23"),
    "both choices": ("A", "A, B"),
    "choices glued": ("A", "AB"),
    "named twice": ("x=5", "x=5, x=6"),
    "two lines": ("5", "5\n6"),
    "semicolons": ("5", "5; 6"),
    "ratio": ("5", "5:6"),
    "fraction slash list": ("5", "5/6"),
}
PROSE = {
    "gold inside prose": ("42", "I am not sure, but 42 might be right, or 43"),
    "gold denied": ("5", "not 5"),
    "gold denied after": ("5", "5 is wrong"),
    "gold and a correction": ("5", "5 but actually 6"),
    "at least the gold": ("5", "at least 5"),
    "at most the gold": ("5", "5 or less"),
    "more than the gold": ("5", "more than 5"),
    "question": ("5", "5?"),
    "choice between": ("5", "5?6"),
    "the gold": ("42", "The answer"),
    "the gold named": ("42", "the gold"),
    "ground truth": ("42", "ground_truth"),
    "equal to itself": ("42", "x = x"),
    "the request": ("42", "verify(gold, answer) == equal"),
    "empty box": ("5", "\\boxed{}"),
    "empty text": ("5", "\\text{}"),
    "empty": ("5", ""),
    "blank": ("5", "   "),
    "dots": ("4", "\\ldots"),
    "three dots": ("4", "..."),
    "dollars alone": ("4", "$$"),
    "variable": ("5", "x"),
    "unknown constant": ("5", "C"),
    "undefined": ("0", "undefined"),
    "not a number": ("0", "NaN"),
    "infinity": ("5", "\\infty"),
    "word number": ("3", "three apples"),
    "other word": ("even", "neve"),
    "letters turned round": ("\\text{MAKE}", "\\text{KAME}"),
    "negated word": ("\\text{Monday}", "-\\text{Monday}"),
}
ALGEBRA = {
    "zero over zero": ("0", "\\frac{0}{0}"),
    "zero over zero as one": ("1", "\\frac{0}{0}"),
    "division by a cancelled zero": ("1", "\\frac{x-x}{x-x}"),
    "one over zero": ("\\infty", "\\frac{1}{0}"),
    "infinity minus infinity": ("0", "\\infty-\\infty"),
    "false equation": ("7", "7=8"),
    "false equation ending in the gold": ("8", "7=8"),
    "chain that contradicts itself": ("5", "x=5=6"),
    "chain ending in the gold": ("6", "x=5=6"),
    "maximum with a bound": ("1000", "\\max(x, 1000)"),
    "floor of a small number": ("0", "\\lfloor x/10^9 \\rfloor"),
    "floors that agree nearby": ("\\lfloor n/5 \\rfloor", "\\lfloor n/6 \\rfloor"),
    "absolute value": ("x", "|x|"),
    "root of a square": ("x", "\\sqrt{x^2}"),
    "saturated function": ("1", "\\tanh(1000)"),
    "error function": ("1", "\\operatorname{erf}(100)"),
    "near identity": ("262537412640768744", "e^{\\pi\\sqrt{163}}"),
    "near integer": ("20", "e^{\\pi}-\\pi"),
    "near pi": ("\\pi", "\\frac{355}{113}"),
    "nearer pi": ("\\pi", "3.14159"),
    "vanishing exponential": ("\\sqrt{x}", "\\sqrt{x}+e^{-10^6 x^2-10^6}"),
    "exponent off by a brace": ("2^{n+1}", "2^n+1"),
    "sign": ("6-5i", "6+5i"),
    "close integers": ("73920", "73923"),
    "close decimals": ("1e-7", "2e-7"),
    "two exponents": ("100", "1e2e3"),
    "other base": ("52_8", "52"),
    "value of another base": ("52_8", "42"),
    "brackets": ("[0,9)", "(0,9)"),
    "tuple as a set": ("(1,2)", "\\{1,2\\}"),
    "order of a tuple": ("(1,2)", "(2,1)"),
    "thousands in a tuple": ("(1,000)", "(1,0)"),
    "row for a column": ("\\begin{pmatrix}1&2\\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
    "constant equation": ("\\cos 1 = 0.54", "\\cos 2 = 0.54"),
    "other name": ("x=5", "y=5"),
    "membership of another": ("x \\in [-2,7]", "-x \\in [-2,7]"),
    "other unit": ("5\\text{ m}", "5\\text{ cm}"),
    "half a day": ("\\text{4:30 p.m.}", "\\text{4:30 a.m.}"),
    "percent of percent": ("50\\%", "0.05"),
}
CODE = {
    "python import": ("0", "__import__('os').system('true')"),
    "python eval": ("4", "eval('2+2')"),
    "python lambda": ("4", "(lambda: 4)()"),
    "class access": ("1", "().__class__.__bases__[0].__subclasses__()"),
    "format string": ("1", "{0.__class__}"),
    "latex input": ("1", "\\input{/etc/passwd}"),
    "latex definition": ("1", "\\def\\x{1}\\x\\x"),
    "latex macro loop": ("1", "\\newcommand{\\a}{\\a\\a}\\a"),
    "latex write": ("1", "\\immediate\\write18{ls}"),
    "shell": ("1", "$(echo 1)"),
    "sql": ("1", "1; DROP TABLE golds"),
    "html": ("1", "<b>1</b><script>alert(1)</script>"),
    "sympy text": ("1", "Symbol('x').func"),
    "null byte": ("1", "\x002"),
    "escape codes": ("1", "\x1b[2J1\x1b[0m2"),
    "right to left": ("12", "\u202e12"),
    "zero width": ("12", "1\u200b3"),
    "combining marks": ("12", "1\u03362\u0336"),
    "emoji": ("1", "1️⃣🔥"),
    "every sign of Latin-1": ("1", "".join(map(chr, range(32, 256)))),
    "mathematical alphanumerics": ("1", "\U0001d7cf\U0001d7d0"),
    "lone surrogate": ("1", "\ud800"),
    "private use": ("1", "\ue0001"),
    "brackets of every kind": ("1", "([{⟨⌈⌊1⌋⌉⟩}])2"),
    "worst case for patterns": ("1", "1" + ",111" * 900 + "x"),
    "spaces between digits": ("11", "1 " * 900),
    "letters that are nearly a unit": ("5", "5\\text{ " + "m" * 900 + ", or so}"),
    "unit to the power 0": (r"440\text{ cm}^2", r"440\text{ cm^0"),
}
HOSTILE = [
    (name, gold, answer)
    for group in (POWERS, FACTORIALS, SUMS, WORK, NESTING, SIZE, LISTS, PROSE, ALGEBRA, CODE)
    for name, (gold, answer) in group.items()
]

MOST_CALLS = 200_000
"""Calls of functions, and returns from them, for one comparison: a tenth of a second at most. The work inside flint has budgets of its own."""


def test_there_are_at_least_a_hundred_kinds() -> None:
    assert len({name for name, _, _ in HOSTILE}) == len(HOSTILE) >= 100


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


def test_memory_stays_within_its_bound() -> None:
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 < 1500  # of the whole test process
