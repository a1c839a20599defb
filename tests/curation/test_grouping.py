"""What grouping signs mean for deduplication: pairs of formulas in one sentence, distinct problems or one."""

from __future__ import annotations

import pytest

from compass.curation.decontamination import BenchmarkIndex
from compass.curation.dedup import dedup
from compass.curation.problem_words import tokens
from compass.settings import Dedup, Denoise

SENTENCE = (
    "For all values for which it is defined, work carefully and write the expression ${}$ as simply as you can; "
    "then give what it is equal to."
)

OTHER_GROUPING = [
    (r"\sqrt{9+16}", r"\sqrt{9}+16"),
    (r"2^{3+1}", "2^3+1"),
    ("(a-b)-c", "a-(b-c)"),
    (r"88\div4\div2", r"88\div(4\div2)"),
    ("-f(x)-3", "f(-x)-3"),
    ("f(f(x))", "f(f(f(x)))"),
    (r"\frac{x+1}{2}", r"\frac{x}{2}+1"),
    (r"\frac{1}{2x}", r"\frac{1}{2}x"),
    (r"\sqrt{ab}", r"\sqrt{a}b"),
    (r"\sqrt{2x}", r"\sqrt{2}x"),
    ("a_{n+1}", "a_n+1"),
    ("2(x+3)", "2x+3"),
    ("(x+y)^2", "x+y^2"),
    ("(xy)^2", "xy^2"),
    ("(-3)^2", "-3^2"),
    ("2^{-x}+1", "2^{-x+1}"),
    (r"\log_{2x}y", r"\log_2xy"),
    (r"\log(x+y)", r"\log(x)+y"),
    (r"\sin(x+1)", r"\sin(x)+1"),
    (r"\sqrt{x+\sqrt{y}}", r"\sqrt{x}+\sqrt{y}"),
    (r"\frac{a}{b+c}", r"\frac{a}{b}+c"),
    (r"\frac{a}{\frac{b}{c}}", r"\frac{\frac{a}{b}}{c}"),
    ("a/(b/c)", "(a/b)/c"),
    ("a/(bc+1)", "a/bc+1"),
    ("[0,1)", "(0,1]"),
    ("[0,1]", "(0,1)"),
    ("[2,5)", "[2,5]"),
    ("(1+2)*3", "1+(2*3)"),
    ("1-(2-3)-4", "1-(2-3-4)"),
    ("3(4+5)6", "3(4+56)"),
    ("(2+3)(4+5)", "2+3(4+5)"),
    (r"\overline{a+b}", r"\overline{a}+b"),
    (r"\overline{z+w}", r"\overline{z}+\overline{w}"),
    (r"x^{y^2}", r"{(x^y)}^2"),
    (r"2^{3^2}", r"(2^3)^2"),
    (r"e^{xy}", r"e^xy"),
    (r"e^{2x}", r"e^2x"),
    (r"10^{n}-1", r"10^{n-1}"),
    (r"\sqrt[3]{x+8}", r"\sqrt[3]{x}+8"),
    (r"\binom{n+1}{2}", r"\binom{n}{2}+1"),
    (r"\sum_{k=1}^{n+1}k", r"\sum_{k=1}^{n}+1k"),
    (r"x(y+z)", r"(xy+z)"),
    (r"|x|-|y-1|", r"|x|-(|y|-1)"),
    ("n!+1", "(n+1)!"),
    ("(2n)!", "2n!"),
    ("(n!)!+2", "n!!+2"),
    ("f(g(x)+1)", "f(g(x))+1"),
    ("f(2x)-1", "f(2x-1)"),
    (r"\left(a+b\right)c", r"a+\left(bc\right)"),
    (r"(1+\frac{1}{n})^n", r"1+\frac{1}{n}^n"),
    (r"7-(3+2)", r"(7-3)+2"),
    (r"12/(2*3)", r"12/2*3"),
    (r"5-[3-(2-1)]", r"5-[(3-2)-1]"),
    (r"\{[(1+2)*3]+4\}", r"\{(1+2)*[3+4]\}"),
    (r"a^{b+c}d", r"a^{b}+cd"),
    (r"\tan(\frac{x}{2}+y)", r"\tan(\frac{x}{2})+y"),
    (r"f'(x+1)", r"f'(x)+1"),
    (r"f''(x)", r"f'(x)"),
    (r"\vec{u+v}", r"\vec{u}+v"),
    (r"x_{2n}-x_n", r"x_2n-x_n"),
    ("|3-7|+2", "|3-7+2|"),
    ("|x-1|+4", "|x-1+4|"),
    ("|x|+1", "x+1"),
    ("2|x-3|", "|2x-3|"),
    ("||x|-3|", "|x|-|3|"),
    (r"\left|a-b\right|-c", r"\left|a-b-c\right|"),
    (r"\lvert z+1\rvert^2", r"\lvert (z+1)^2\rvert"),
    ("|a+b|", "|a|+|b|"),
    ("|x-2|+|x+5|", "|x-2+|x+5||"),
    ("-|4-9|", "|-4-9|"),
    (r"\sqrt{|x|+1}", r"\sqrt{|x+1|}"),
    (r"f(|x|-2)", r"|f(x)-2|"),
    (r"\|u+v\|", r"\|u\|+v"),
    (r"|z-3i|=2", r"|z|-3i=2"),
    (r"\vec{a+b}", r"\vec{a}+b"),
    (r"\vec{AB}", r"AB"),
    (r"\frac{|x|}{2}", r"|\frac{x}{2}-1|"),
    (r"(a+b)(c+d)", r"(a+b)c+d"),
    (r"\sqrt{5x}-2", r"\sqrt{5x-2}"),
    (r"3^{k-1}+5", r"3^{k-1+5}"),
]

OTHER_TYPESETTING = [
    ("jx", "j x"),
    (r"x\equiv1\pmod 6", r"x\equiv1(\bmod 6)"),
    (r"\pmod{7}", r"(\text{mod }7)"),
    (r"x\pmod{n+1}", r"x\;(\bmod\;n+1)"),
    (r"\frac12", r"\frac{1}{2}"),
    (r"\frac ab", r"\frac{a}{b}"),
    (r"\frac a b", r"\dfrac{a}{b}"),
    (r"\sqrt{2}", r"\sqrt2"),
    (r"\sqrt{a}", r"\sqrt a"),
    ("x^{2}+y^{10}", "x^2+y^10"),
    ("x_{1}+x_{2}", "x_1+x_2"),
    ("abc", "a b c"),
    (r"\triangle ABC", r"\triangle A B C"),
    (r"\overline{AB}", r"\overline{A B}"),
    (r"\int f\,dx\,dy", r"\int f d x d y"),
    (r"\int x\mathrm{d}x", r"\int xdx"),
    (r"x\mathrm{d}x", r"x\,\text{d} x"),
    (r"3\times4", r"3 \cdot 4"),
    ("3×4", r"3\times 4"),
    (r"x\neq 3", "x≠3"),
    (r"x\ne3", "x != 3"),
    ("90^\\circ", "90°"),
    (r"90^{\circ}", r"90\degree"),
    ("x²+y³", "x^2+y^3"),
    ("x¹⁰", "x^{10}"),
    ("x⁻¹", "x^{-1}"),
    ("1,000", r"1\,000"),
    ("12{,}500", "12,500"),
    (r"\left(a+b\right)", "(a+b)"),
    (r"\bigl(a+b\bigr)c", "( a + b ) c"),
    (r"\sin{x}", r"\sin x"),
    (r"\sin{2x}", r"\sin 2x"),
    (r"\log_{2}{8}", r"\log_2 8"),
    (r"\log _{n+1} 8", r"\log_{n+1}8"),
    ("2^{(n+1)}", "2^{n+1}"),
    ("2^{n+1}", "2^(n+1)"),
    (r"\sqrt{(x+1)}", r"\sqrt{x+1}"),
    ("√(x+1)", r"\sqrt{x+1}"),
    (r"x_iy_i", r"x_i y_i"),
    (r"x_{i}y_{i}", r"x_iy_i"),
    ("f^{\\prime}(x)", "f'(x)"),
    (r"\{1,2\}", r"\lbrace 1,2 \rbrace"),
    (r"|x|", r"\lvert x\rvert"),
    (r"a\le b", "a≤b"),
    (r"a\leqslant b", r"a \leq b"),
    ("{x+1}", "x+1"),
    (r"{\rm cm}", r"\mathrm{cm}"),
    (r"5\text{ cm}", "5 cm"),
    (r"\mathbf{a+b}", "a+b"),
    ("x - 1", "x−1"),
    (r"\alpha+\beta", "α+β"),
    (r"\varepsilon", r"\epsilon"),
    (r"\begin{aligned}x+y=2\end{aligned}", "x+y=2"),
    (r"\displaystyle\sum_{k=1}^{n}k", r"\sum_{k=1}^nk"),
    (r"a\,b\;c", "abc"),
    (r"\text{lcm}(a,b)", r"\operatorname{lcm}(a, b)"),
    (r"A\to B", "A → B"),
    (r"x\in\mathbb{R}", r"x ∈ ℝ"),
    ("f( x )=2x", "f(x) = 2 x"),
    (r"\binom{n}{k}", r"\tbinom nk"),
    (r"\vec v", r"\mathbf v"),
    (r"\vec{v}", r"\mathbf{v}"),
    (r"\vec{a}+\vec{b}", r"\boldsymbol{a}+\boldsymbol{b}"),
    (r"\vec{v}_1", r"\mathbf{v}_1"),
    (r"\vec{v_1}", r"\mathbf{v_1}"),
    (r"\vec{e_{2}}", r"\mathbf{e}_2"),
    (r"\vec\alpha", r"\boldsymbol{\alpha}"),
    (r"|\vec{u}|", r"\left|\mathbf{u}\right|"),
    (r"\|\vec{w}\|", r"\| \mathbf w \|"),
    ("|x-1|", r"\lvert x - 1 \rvert"),
    (r"\left|3-7\right|+2", "| 3 - 7 | + 2"),
    (r"|x|^{2}", "|x|^2"),
    (r"\{x \mid x>0\}", "\\{ x | x > 0 \\}"),
    (r"P(A|B)", r"P(A\mid B)"),
    (r"5\mid n", "5|n"),
    (r"\bigl|a+b\bigr|", r"\lvert a+b\rvert"),
    (r"\vert x \vert", "|x|"),
    (r"\dfrac{|x|}{2}", r"\frac{\left|x\right|}{2}"),
    (r"k\,|x|", "k|x|"),
    ("|−3|", "|-3|"),
]


def fates(pair: tuple[str, str], records) -> list[str]:
    """What becomes of two problems with different golds: `kept`, or the reason of the drop."""
    table = records(*((SENTENCE.format(formula), gold, "web") for formula, gold in zip(pair, "12", strict=True)))
    kept, dropped = dedup(table, Dedup(), ["web"])
    return ["kept"] * kept.num_rows + dropped["reason"].to_pylist()


def benchmark_rules(pair: tuple[str, str], records) -> list[str]:
    """The rules that find the first problem, a benchmark's item, in the second."""
    index = BenchmarkIndex(records((SENTENCE.format(pair[0]), "1", "bench")), Denoise())
    return [match.rule for match in index.search(SENTENCE.format(pair[1]))]


@pytest.mark.parametrize("pair", OTHER_GROUPING)
def test_other_grouping_makes_another_problem(pair, records):
    assert tokens(pair[0]) != tokens(pair[1])
    assert fates(pair, records) == ["kept", "kept"]
    assert "exact" not in benchmark_rules(pair, records)


@pytest.mark.parametrize("pair", OTHER_TYPESETTING)
def test_other_typesetting_makes_no_other_problem(pair, records):
    assert tokens(pair[0]) == tokens(pair[1])
    assert fates(pair, records) == ["kept", "answer_conflict"]
    assert benchmark_rules(pair, records) == ["exact"]
