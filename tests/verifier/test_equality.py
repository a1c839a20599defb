"""What equals what, kind of answer by kind of answer: the rules of docs/verifier.md as cases."""

from __future__ import annotations

import pytest

from compass.verifier import Outcome, verify

EQUAL = {
    "numbers": [("5", "5."), ("0.5", r"\frac12"), ("3.0", "3"), ("025", "25"), (r"\frac{14}{3}", "14/3"), ("-10/9", r"-\frac{10}{9}"),
                (r"\frac{3}{-4}", r"-\frac34"), ("+5", "5"), ("1e20", "10^{20}"), ("6.02e23", r"6.02\times10^{23}"), (r"7.8\times 10^2", "780")],
    "mixed numbers": [("5/4", "1 1/4"), (r"\frac72", r"3\frac{1}{2}"), ("2.5", "2½"), ("-2.5", r"-2\frac12")],
    "repeating decimals": [("1/3", r"0.\overline{3}"), ("1/6", r"0.1\overline{6}"), ("1/3", "0.333..."), ("1/3", "0.(3)"), (r"\frac{5}{11}", r"0.\overline{45}")],
    "thousands": [("12345", "12,345"), ("12345", r"12{,}345"), ("10080", r"10,\!080"), ("32349", r"32,\! 349"), ("1000000", "1 000 000"),
                  ("1000", r"1\,000"), ("1234567", "1.234.567"), ("1000", "1'000")],
    "percent": [(r"50\%", "50%"), (r"\frac12", r"50\%"), (r"28\%", "28"), (r"28\%", "28 percentage")],
    "currency": [(r"\$18.90", "18.9"), (r"\textdollar 22.5", "22.50"), ("8 dollars and 50 cents", r"\$8.50"), ("1000.99", "1,000.99€"), (r"\$5", "500 cents")],
    "units": [(r"5\text{ cm}", "5"), (r"48\text{ square feet}", "48"), (r"5\text{ m}", r"500\text{ cm}"), (r"15\mbox{ cm}^2", r"15\text{ square units}"),
              ("5.4 cents", r"5.4\text{ cents}"), (r"864\text{ inches}^2", r"6\text{ square feet}"), ("3 hours", "180 minutes"),
              ("5 ft 8 in", "68 inches"), (r"5\text{ years }8\text{ months}", "68 months"), ("2 hours and 30 minutes", "2.5 hours"), ("5 min", "300 seconds"),
              ("5 m", "500 cm"), ("2.5 g", r"2.5 \times 10^{-3} \text{ kg}"), (r"\{1,2\}\text{ m}", r"\{100,200\}\text{ cm}"), (r"\{1,2\}\text{ cm}", r"\{1,2\}"),
              (r"x\le 3\text{ hours}", r"x\le 180\text{ minutes}"), (r"x\le 3\text{ hours}", r"(-\infty,3]"), (r"(1,2)\text{ cm}", r"(1\text{ cm},2\text{ cm})"),
              (r"\begin{pmatrix}1\\2\end{pmatrix}\text{ m}", r"(100,200)\text{ cm}")],
    "degrees": [(r"90^\circ", "90"), (r"30^\circ", "30°"), (r"45^{\circ}", r"45\text{ degrees}"), (r"\frac{\pi}{3}", r"60^\circ"), (r"1^\circ30'", r"1.5^\circ")],
    "radicals": [(r"\sqrt8", r"2\sqrt2"), (r"\frac1{\sqrt2}", r"\frac{\sqrt2}{2}"), (r"\sqrt[3]{16}", r"2\sqrt[3]{2}"), ("2^{1/3}", r"\sqrt[3]2"), (r"\sqrt{51}", "sqrt(51)"),
                 (r"\sqrt[3]{-8}", "-2"), ("√2", r"\sqrt{2}")],
    "long numbers": [("2023!", r"2023 \cdot 2022!"), (r"\binom{4036}{2018}", r"\frac{4036!}{2018!^2}"), ("3^{9900}", "9^{4950}"), ("(1002!)^2+2004", "2004+(1002!)^2"),
                     (r"\frac{1}{2023!}", r"\frac{2024}{2024!}"), ("7!!", "105"), ("8!!", "384"), ("0!!", "1")],
    "constants": [("18+2\\pi", "18+2pi"), (r"\frac{\pi}{2}", "π/2"), ("e^{16}-1", "-1 + exp(16)"), (r"\ln 4", r"2\ln2"), (r"\log_2 8", "3"), (r"\sin 30^\circ", "1/2"),
                  (r"\cot x", r"\cotx"), ("120", "5!"), ("10", r"\binom52"), (r"\lfloor3.5\rfloor", "3"), ("|-3|", "3")],
    "angles of complex numbers": [(r"\pi", r"\arg(-1)"), (r"\frac{\pi}{4}", r"\arg(1+i)")],
    "complex": [("6-5i", "6 - 5 i"), (r"\frac{1+i}{2}", r"\frac12+\frac i2"), ("-1", r"e^{i\pi}"), ("2+3i", "3*I + 2"), (r"5\text{cis}0", r"5\operatorname{cis}0")],
    "expressions": [("x^3-1", "(x-1)(x^2+x+1)"), ("2^{n+1}", r"2\cdot2^n"), (r"\frac{x^2-1}{x-1}", "x+1"), (r"\sin2x", r"2\sin x\cos x"), (r"\tan^2y+1", r"\sec^2y"),
                    (r"\binom n2", r"\frac{n(n-1)}2"), ("n!", "n(n-1)!"), (r"\sum_{k=1}^n k", r"\frac{n(n+1)}2"), ("(-1)^n", r"\cos(n\pi)"), (r"\ln x^2", r"2\ln x")],
    "equations": [("y=2x+3", "2x-y+3=0"), ("2x+2y=4", "x+y=2"), ("x^2/4+y^2/3=1", "x^2/16+y^2/12=1/4"), ("x=5", "5"), ("f(x)=x^2", "x^2"), ("|AB|=1", "1"),
                  ("S_{MBCN}:S=7:32", "7:32"), (r"W(n)=1", "W(x)=1"), ("11", r"x\approx11")],
    "inequalities": [("x>3", r"(3,\infty)"), (r"1\le x\le2", "[1,2]"), ("x<1", "-x>-1"), ("0<f(x)<1", "(0,1)"), ("|x-2|<3", "(-1,5)"), ("x>=5", r"5 \leq x"),
                     (r"x\ne2", r"(-\infty,2)\cup(2,\infty)"), (r"\{x \mid x>3\}", r"(3,\infty)"), ("2y>4x", "y>2x")],
    "sets": [(r"\{1,2,3\}", r"\{3,2,1\}"), (r"1\text{ or }2", "1, 2"), ("x=1, x=2", "1,2"), (r"(0,9)\cup(9,36)", r"(0,36)\setminus\{9\}"), (r"\mathbb{R}", "all real numbers"),
             (r"\pm2021", "{-2021, 2021}"), (r"1\pm\sqrt{19}", r"1+\sqrt{19},1-\sqrt{19}"), (r"\emptyset", "no solution"), (r"\{\}", r"\varnothing")],
    "tuples": [(r"(1,\frac12)", "(1,0.5)"), ("(2,1),(3,1)", "(3,1),(2,1)"), ("p=5,q=2;p=7,q=2", "(5,2),(7,2)"), ("(x,y)=(5,8)", "(5,8)"), ("x=1,y=2", "y=2,x=1"),
               (r"\langle1,2\rangle", "(1,2)"), ("1,2", "(1,2)")],
    "matrices": [(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{bmatrix}1&2\\3&4\end{bmatrix}"), (r"\begin{pmatrix}6\\8\end{pmatrix}", r"2\begin{pmatrix}3\\4\end{pmatrix}"),
                 (r"\begin{pmatrix}1\\2\end{pmatrix}", "(1,2)")],
    "cases": [(r"\begin{cases}x&x>0\\0&x\le0\end{cases}", r"\begin{cases}0&\text{if }x\le0\\x&\text{if }x>0\end{cases}")],
    "bases": [("52_8", "52_{8}"), ("1010_2", r"1010_{\text{2}}")],
    "times and ratios": [(r"\text{4:30 p.m.}", "4:30 PM"), ("2:3", "4:6"), ("1:2", "1/2"), ("4:30", "4:30"), ("May 5, 2020", "5 May 2020")],
    "words": [(r"\text{even}", "Even"), ("yes", "Yes."), ("infinitely many", "infinite number of solutions"), (r"\text{(B)}", "B"), ("D", r"\textbf{(D)}"), (r"\text{No solution}", "none")],
    "noise": [("5", r"\boxed{5}"), ("5", "$5$"), ("5", r"\displaystyle 5"), ("73", "**73**"), ("10", r"10\,"), ("185", "185\\"), ("x_{1}", "x_1"), (r"\frac ab", r"\tfrac{a}{b}"), ("8", r"\approx 8")],
    "rounded golds": [("2.33", "7/3"), ("3.14", r"\pi"), ("7.78", "7.7778")],
    "long roundings": [(r"\sqrt{17}", "4.123105625617661"), (r"\frac13", "0.33333333")],
}  # fmt: skip

DIFFERENT = {
    "numbers": [("73920", "73923"), ("1e-7", "2e-7"), (r"\frac1{2^{99}}", r"\frac1{2^{98}}"), ("5", "5.001"), ("100", "100.01"), ("3.14", "3.15"), (r"\frac13", "0.33"),
                (r"1\frac45", r"\frac{14}5"), ("12.3", "12.25"), (r"\pi", "3.14"), ("2, 3", "23"), ("32349", "32, 349"), ("840", "840,840")],
    "units": [(r"5\text{ cm}", r"6\text{ cm}"), (r"5\text{ cm}", r"5\text{ m}"), (r"60^\circ", r"\frac\pi6"), (r"50\%", "0.05"), (r"45\text{ cm}^2", r"45\text{ cm}^3"),
              (r"\{1,2\}\text{ cm}", r"\{1,2\}\text{ km}"), (r"(1,2)\text{ cm}", r"(1,2)\text{ km}"), (r"x\le 3\text{ hours}", r"x\le 3\text{ minutes}"),
              (r"x\le 3\text{ hours}", r"x\le 3\text{ metres}"), (r"x>3\text{ cm}", r"(3\text{ km},\infty)"), (r"[1,2]\cup[3,4]\text{ cm}", r"[1,2]\cup[3,4]\text{ km}"),
              (r"\begin{pmatrix}1\\2\end{pmatrix}\text{ m}", r"\begin{pmatrix}1\\2\end{pmatrix}\text{ s}"), ("5 m", "500 g"), ("5 m", "5 cm")],
    "expressions": [("2^{n+1}", "2^n+1"), ("x", "|x|"), (r"\sqrt{x^2}", "x"), ("x+y", "x-y"), (r"\sin x", r"\cos x"), ("2k", "2"), (r"\ln2", r"\log_{10}2"), ("a", "b")],
    "brackets": [("[0,9)", "(0,9)"), ("(1,2)", r"\{1,2\}"), ("(1,2)", "(2,1)"), ("(1,000)", "(1,0)"), ("(1,2)", "1"), ("x>3", r"x\ge3")],
    "lists": [("1,2", "1"), ("5", "4, 5, 6"), (r"\pm2", "2"), ("1331, 1728", "1728"), (r"\{1,1,2\}", r"\{1,2\}"), ("n=2,3,4", "n=1,2,3")],
    "names": [("x=5", "y=5"), ("x=1,y=2", "x=2,y=1"), (r"\cos(x)=\frac{42}{59}", r"\sin(x)=\frac{42}{59}"), ("a^2+b=0", "0"), ("y=2x+3", "y=3x+2")],
    "matrices": [(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&3\\2&4\end{pmatrix}"), (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}")],
    "bases": [("52_8", "52"), ("52_8", "42"), ("52_8", "528"), ("110_2", "6_7")],
    "words": [(r"\text{even}", "odd"), (r"\text{Evelyn}", "Angela"), ("A", "AB"), (r"\text{MAKE}", "KAME"), (r"\text{True}", "False"), ("4:30", "2:15")],
}  # fmt: skip


def _pairs(table: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str]]:
    return [pair for pairs in table.values() for pair in pairs]


@pytest.mark.parametrize(("gold", "answer"), _pairs(EQUAL))
def test_the_same_answer_written_otherwise_is_equal(gold: str, answer: str) -> None:
    verdict = verify(gold=gold, answer=answer)
    assert verdict.outcome is Outcome.EQUAL, verdict


@pytest.mark.parametrize(("gold", "answer"), _pairs(DIFFERENT))
def test_another_answer_is_not_equal(gold: str, answer: str) -> None:
    assert verify(gold=gold, answer=answer).outcome is not Outcome.EQUAL
    assert verify(gold=answer, answer=gold).outcome is not Outcome.EQUAL or (gold, answer) in [
        (r"\pi", "3.14"),
        (r"\frac13", "0.33"),
    ]


@pytest.mark.parametrize(
    ("gold", "answer"), _pairs({kind: pairs for kind, pairs in EQUAL.items() if "round" not in kind})
)
def test_the_order_of_gold_and_answer_does_not_matter(gold: str, answer: str) -> None:
    assert verify(gold=answer, answer=gold).outcome is Outcome.EQUAL


@pytest.mark.parametrize("answer", ["", " ", r"\boxed{}", "$$", "...", "?"])
def test_nothing_to_read_is_unrecognised_even_against_itself(answer: str) -> None:
    assert verify(gold=answer, answer=answer).outcome is Outcome.UNRECOGNISED


@pytest.mark.parametrize(
    ("gold", "answer", "method"),
    [("5", "5.", "text"), (r"\frac12", "0.5", "rational"), ("(1,2)", "(1, 2.0)", "structure"), ("x^2-1", "(x-1)(x+1)", "algebra"), (r"\sin2x", r"2\sin x\cos x", "numeric"),
     ("1", "9^{9^{9^9}}", "budget"), (r"\int_0^1 x\,dx", "1/2", "sympy")],
)  # fmt: skip
def test_the_method_names_the_tier_that_decided(gold: str, answer: str, method: str) -> None:
    assert verify(gold=gold, answer=answer).method == method


def test_arguments_have_names_so_that_none_can_be_swapped() -> None:
    with pytest.raises(TypeError):
        verify("5", "5")  # type: ignore[misc]
    with pytest.raises(TypeError, match="must be text, found int"):
        verify(gold=5, answer="5")  # type: ignore[arg-type]
