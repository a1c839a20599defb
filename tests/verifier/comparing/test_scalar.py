"""Single values."""

from __future__ import annotations

import pytest

from compass.verifier import verify

VALUES = [
    ("x+1", "1+x", "equal", "algebra", "as rational functions"),
    ("2x", "x+x", "equal", "algebra", "as rational functions"),
    ("x+y", "y+z", "different", "algebra", "as rational functions"),
    (r"\frac{x}{x}", "1", "equal", "numeric", "equal at every point tried"),
    (r"\frac{x-x}{x-x}", "0", "unrecognised", "numeric", "no point where both are defined"),
    (r"\sqrt8", r"2\sqrt2", "equal", "numeric", "equal at every point tried"),
    (r"\sqrt8", "3", "different", "numeric", "different values"),
    (r"\pi+1", r"1+\pi", "equal", "numeric", "equal at every point tried"),
    (r"\infty", r"+\infty", "equal", "structure", "the same expression"),
    (r"\infty", r"-\infty", "different", "structure", "infinite"),
    (r"-\infty", r"-\infty+0", "different", "structure", "infinite"),
    (r"\infty", "5", "different", "structure", "infinite"),
    ("3+i", "3+I", "equal", "structure", "the same expression"),
    ("i", "I", "equal", "structure", "the same expression"),
    ("i", "J", "different", "numeric", "different at a point"),
    (r"\sin x", r"\cos x", "different", "numeric", "different at a point"),
    (r"\sin 2x", r"2\sin x\cos x", "equal", "numeric", "equal at every point tried"),
    ("x", "5", "different", "numeric", "different at a point"),
    ("x^x", "x^{x}x/x", "equal", "numeric", "equal at every point tried"),
    (r"\text{cm}", "x+1", "different", "algebra", "as rational functions"),
    ("1+1", "2", "equal", "rational", "both are 2"),
    ("1+1", "3", "different", "rational", "2 against 3"),
    (
        "2^{100}+1",
        "2^{100}",
        "different",
        "rational",
        "1267650600228229401496703205377 against 1267650600228229401496703205376",
    ),
    ("10^{50}+1", "10^{50}", "different", "rational", "a number of 51 digits against a number of 51 digits"),
    ("f(x)", "f(x)+0", "equal", "numeric", "equal at every point tried"),
    ("f(x)", "g(x)", "different", "numeric", "different at a point"),
    (r"\frac{1}{0}+x", "x+1", "unrecognised", "structure", "a division by zero"),
    ("(x+1)^{300}", "(1+x)^{300}", "equal", "numeric", "equal at every point tried"),
    ("x+5=x+5+0", "5", "different", "structure", "relation against scalar"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), VALUES)
def test_values_are_compared_by_the_first_tier_that_can(
    gold: str, answer: str, outcome: str, method: str, detail: str
) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)


MARKED = [
    (
        r"5\text{ cm}",
        r"5.0\text{ cm}+0",
        "unrecognised",
        "structure",
        "units inside an expression that do not make one unit",
    ),
    (
        r"8\text{ m}",
        r"5\text{ m}+3",
        "unrecognised",
        "structure",
        "units inside an expression that do not make one unit",
    ),
    (r"8\text{ m}", r"5+3\text{ m}", "equal", "rational", "both are 8"),
    (r"15+5\sqrt3\text{ cm}", r"15+5\sqrt3\text{ m}", "different", "numeric", "different values"),
    (r"20\text{ cm}^2", r"4\text{ cm}\times5\text{ cm}", "equal", "rational", "both are 20"),
    (r"5\text{ cm}", "5", "equal", "structure", "the same expression"),
    ("5", r"5\text{ cm}", "equal", "structure", "the same expression"),
    (r"5\text{ cm}", "6", "different", "rational", "5 against 6"),
    (r"5\text{ cm}", r"50\text{ mm}", "equal", "rational", "both are 5"),
    (r"5\text{ cm}", r"5\text{ s}", "different", "structure", "cm against s"),
    (r"5\text{ cm}", r"5\text{ units}", "equal", "structure", "the same expression"),
    (r"5\text{ units}", r"6\text{ cm}", "different", "rational", "5 against 6"),
    ("5 m", r"500\text{ cm}", "equal", "rational", "both are 5"),
    (r"500\text{ cm}", "5 m", "equal", "rational", "both are 500"),
    ("5 m", r"500\text{ s}", "different", "structure", "m against s"),
    ("5m", r"500\text{ s}", "different", "numeric", "different at a point"),
    (r"100^\circ\text{C}", r"212^\circ\text{F}", "equal", "rational", "both are 100"),
    (r"100^\circ\text{C}", r"100^\circ\text{F}", "different", "rational", "100 against 340/9"),
    (r"\frac{\pi}{2}\text{ rad}", r"90^\circ", "equal", "numeric", "equal at every point tried"),
    ("x m", r"x\text{ cm}", "different", "algebra", "as rational functions"),
    ("5 q", r"5\text{ cm}", "different", "numeric", "different at a point"),
    ("m", r"1\text{ m}", "different", "numeric", "different at a point"),
    (r"2\cdot 3 m", "600 cm", "equal", "rational", "both are 6"),
    (r"x\%", r"\frac{x}{100}", "equal", "algebra", "as rational functions"),
    (r"\frac{x}{100}", r"x\%", "equal", "algebra", "as rational functions"),
    (r"x\%", "x", "equal", "structure", "the same expression"),
    (r"2\sqrt2\%", r"2\sqrt2", "equal", "structure", "the same expression"),
    (r"2\sqrt2\%", r"\frac{2\sqrt2}{100}", "equal", "numeric", "equal at every point tried"),
    (r"\frac{2\sqrt2}{100}", r"2\sqrt2\%", "equal", "numeric", "equal at every point tried"),
    (r"x\%", r"x\text{ cm}", "different", "structure", "percent against cm"),
    (r"(x)^\circ", "x", "equal", "structure", "the same expression"),
    (r"60^\circ", r"\frac{\pi}{3}", "equal", "numeric", "equal at every point tried"),
    (r"\frac{\pi}{3}", r"60^\circ", "equal", "numeric", "equal at every point tried"),
    (r"60^\circ", r"\frac{\pi}{4}", "different", "numeric", "different values"),
    (r"\sqrt2^\circ", r"\frac{\sqrt2}{180}", "different", "numeric", "different values"),
    (r"-5\text{ cm}", r"-(5\text{ cm})", "equal", "rational", "both are -5"),
    (r"6\times10^{23}\text{ mol}", "6e23 mol", "equal", "rational", "both are 600000000000000000000000"),
    (r"5\text{ cm}\cdot 2", "10", "equal", "rational", "both are 10"),
    (r"5\text{ cm}\cdot 2", r"10\text{ km}", "different", "rational", "10 against 1000000"),
    (r"5\text{ cm}\%", "5", "equal", "structure", "the same expression"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), MARKED)
def test_units_percent_and_degrees(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)


ROUNDED = [
    ("1.414", r"\sqrt2", "equal", "numeric", "equal up to rounding"),
    ("1.41421", r"\sqrt2", "equal", "numeric", "equal up to rounding"),
    ("1.415", r"\sqrt2", "different", "numeric", "different values"),
    ("1.4", r"\sqrt2", "different", "numeric", "different values"),
    (r"\sqrt2", "1.414", "different", "numeric", "different values"),
    (r"\sqrt2", "1.4142136", "equal", "numeric", "equal up to rounding"),
    (r"\sqrt2", "1.4142135", "different", "numeric", "different values"),
    ("-1.414", r"-\sqrt2", "equal", "numeric", "equal up to rounding"),
    (r"1.414\times10^0", r"\sqrt2", "equal", "numeric", "equal up to rounding"),
    (r"1.414\times10^{1}", r"10\sqrt2", "equal", "numeric", "equal up to rounding"),
    (r"1414\times10^{-3}", r"\sqrt2", "different", "numeric", "different values"),
    (r"141.4\times10^{-2}", r"\sqrt2", "equal", "numeric", "equal up to rounding"),
    ("2.33", "7/3", "equal", "rational", "rounds to the gold 2.33"),
    ("2.33", "2.3333", "equal", "rational", "rounds to the gold 2.33"),
    ("2.33", "2.333", "different", "rational", "233/100 against 2333/1000"),
    ("2.33", "2.335", "different", "rational", "233/100 against 467/200"),
    ("2.33", "2.3351", "different", "rational", "233/100 against 23351/10000"),
    ("2.33", "2.3249", "different", "rational", "233/100 against 23249/10000"),
    ("2.3", "7/3", "different", "rational", "23/10 against 7/3"),
    ("233.", "700/3", "different", "rational", "233 against 700/3"),
    ("2.50", "5/2", "equal", "rational", "both are 5/2"),
    ("7/3", "2.3333333", "equal", "rational", "2.3333333 is 7/3 rounded"),
    ("7/3", "2.333333", "different", "rational", "7/3 against 2333333/1000000"),
    ("7/3", "2.3333334", "different", "rational", "7/3 against 11666667/5000000"),
    ("5/2", "2.49999999", "different", "rational", "5/2 against 249999999/100000000"),
    ("1e20/3", "3e19", "different", "rational", "100000000000000000000/3 against 30000000000000000000"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), ROUNDED)
def test_decimals_against_constants(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)
