"""Damage with one reading is mended; damage with two, and text that only looks damaged, stays as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compass.records import record_id
from compass.settings import Collect, Source
from compass.sources.collect import collect, collect_benchmarks
from compass.sources.repair import repair

MENDED = {
    # an escape has eaten the first letter of a command
    "Simplify $\x0crac{6}{4} + \x08inom{5}{2}$.": r"Simplify $\frac{6}{4} + \binom{5}{2}$.",
    "\x08egin{cases} x \x0border \\end{cases}": None,
    "so the sum is \x08oxed{12}": r"so the sum is \boxed{12}",
    "$\x0bec{a} \\cdot \x08eta \x07pprox 3$": r"$\vec{a} \cdot \beta \approx 3$",
    "$3 \times 5$ and 2 \times 4": r"$3 \times 5$ and 2 \times 4",
    "What is \\sin(\theta) if $\tan x = 2$?": r"What is \sin(\theta) if $\tan x = 2$?",
    "Let f: R \to R be odd.": r"Let f: R \to R be odd.",
    "$\\left(\\frac12\right)^2$": r"$\left(\frac12\right)^2$",
    "$A_{\rm U}$": r"$A_{\rm U}$",
    "$n \rightarrow \\infty$": r"$n \rightarrow \infty$",
    "$\\lfloor x/2 \rfloor + \\langle u, v \rangle$": r"$\lfloor x/2 \rfloor + \langle u, v \rangle$",
    "where $a^2 + b^2 \neq 0$ and $\nabla f = 0$": r"where $a^2 + b^2 \neq 0$ and $\nabla f = 0$",
    "$\x08eta\x0crac12$": r"$\beta\frac12$",
    # codes of TeX fonts
    "Given the fi\x0crst term, \x0cnd the \x1cfth, a \x0cnite di\x0berence": "Given the first term, find the fifth, a finite difference",
    "a $5\\times\x02 6$ board, $n\x02\\times n$, $y \x15\\ge 4$": r"a $5\times 6$ board, $n\times n$, $y \ge 4$",
    "Compute $\x0c|x^2-9|$.": "Compute $|x^2-9|$.",
    # doubled backslashes
    "Given \\\\(\\\\sin \\\\theta = \\\\dfrac {3}{5}\\\\), find \\\\(\\\\theta\\\\) \\_\\_": r"Given \(\sin \theta = \dfrac {3}{5}\), find \(\theta\) \_\_",
    "Let \\\\(x = \\sqrt{3}\\\\) and \\\\(y\\\\).": r"Let \(x = \sqrt{3}\) and \(y\).",
    "$f(x)=\\begin{cases} x & x<0 \\\\ 1 & x>0\\\\end{cases}$": r"$f(x)=\begin{cases} x & x<0 \\ 1 & x>0\end{cases}$",
    "the period of $2\\sin(\\\\omega x)$": r"the period of $2\sin(\omega x)$",
    "\\\\frac{\\\\sqrt{61}}{5}": r"\frac{\sqrt{61}}{5}",
    # entities
    "If x &lt; 3 &amp;&amp; y &gt;= 2, 90&deg;, 3&nbsp;cm, &#960;, &amp;lt;": "If x < 3 && y >= 2, 90°, 3 cm, π, <",
    # scraps of the page
    "Find $x$.\n\t\n\\end{problem}\n\\noindent": "Find $x$.",
    "6\\\\\n\\noindent": "6",
    "$\\frac{\\pi}{4}$.\\\\\n\\noindent": r"$\frac{\pi}{4}$.",
    "What is 2 + 2?\\medskip": "What is 2 + 2?",
    "\\begin{align*} x &= 1 \\end{align*} \\end{exercise} \\newpage": r"\begin{align*} x &= 1 \end{align*}",
    # tags that only set type
    "x<sup>2</sup> + a<sub>n</sub><br/>Find it. [i]Rome, 1999[/i]": "x^{2} + a_{n}\nFind it. Rome, 1999",
    "[b]Rules[/b]\n[list]\n[*] one\n[*] two\n[/list]\n[i]": "Rules\n- one\n- two",
    '<p style="color:red">One</p><p><b>Two</b></p>': "One\nTwo\n",
    "$1\\plus{}2 \\equal{} 4\\minus 1$": "$1+2 = 4- 1$",
    # golds without their last sign or their brackets
    "45^": "45^\\circ",
    "75^\\text{\\circ}": "75^\\circ",
    "x|x > 1": "\\{x|x > 1\\}",
    # decoded twice
    "2 Ã\u0097 3": "2 × 3",
    "the angle Ï€/3, 5 â‰¤ 7 and itâ€™s 90Â°": "the angle π/3, 5 ≤ 7 and it’s 90°",
}


@pytest.mark.parametrize(("damaged", "whole"), [(k, v) for k, v in MENDED.items() if v])
def test_damage_with_one_reading_is_mended(damaged, whole):
    assert repair(damaged) == whole
    assert repair(whole) == whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Find x + 1.",
        "Let n be even.\nequal sides\nthen\tan angle\ttables\rright\rho",  # line ends and tabs before words
        "draw(a--b);\nu=(2/3)*C;\n\treturn 5;\n\tf(x)\n\t\tk = 2",
        "$$\n\\begin{align*}\nc + o &= u \\\\\nu + n &= t\n\\end{align*}$$",
        "$d = \trac{1}{2}$",  # \frac or \sqrt
        "\to{1} first item\n\to second item",
        "\\begin{pmatrix} 1 \\\\ -2 \\\\frac12 \\end{pmatrix}",  # a row's end and a lost backslash
        "\\begin{pmatrix} 1\\\\(a)\\\\ b \\end{pmatrix}",
        "a \\\\ b \\\\ (c)",
        "fish \x0cook, 5\x0c6, \x02, \x15",  # no word, digits on both sides, unknown codes
        "$x\x01y z$ and $y\x15 3$",
        "x & y; AT&T; &copy &unknown; \\&lt",
        "Ärger, Café, naïve, 10 Â, ±3, π ≤ 4, 如图",
        "\\begin{cases} x \\\\ y \\end{cases}",
        "a \\par b \\noindent c, and x \\parallel",
        "\ufffd and \ue000",
        "a<b and b>c, $A[i]$, [b] and <i>, [hide]x[/hide], [url=x]y[/url], <table><td>3</td></table>",
        "$\\plusminus$, 2^n, |x|, a|b, x|x^2",
        "\\textbf{(A)}\\ 3 \\qquad \\\\[2pt] \\textbf{(B)} 4",
    ],
)
def test_what_has_two_readings_or_none_stays(text):
    assert repair(text) == text


@given(
    st.text(
        alphabet=st.sampled_from("\\\\ $(){}&;ltgamp#39\x0c\x08\t\n\rabefhinoqrtuvxÃÂâ€\u0097 []<>/*^|"), max_size=60
    )
)
@example("\u00c2\x0c\u0097")  # a page's end inside of two misread bytes
def test_a_repaired_text_is_repaired_already(text):
    once = repair(text)
    assert repair(once) == once


def collected(tmp_path, rows, **limits):
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = Source(name="s", path=str(path), solution_field="solution" if "solution" in rows[0] else "")
    return collect([source], Collect(sources=[source], benchmarks=[], **limits)), source


def test_the_record_holds_both_texts_and_the_summary_counts_them(tmp_path):
    rows = [
        {"problem": "Simplify $\x0crac{6}{4}$ fully.", "answer": "\x0crac{3}{2}", "solution": ""},
        {"problem": "What is 2 + 3?", "answer": "", "solution": "It is \x08oxed{5}"},
        {"problem": "What is 2 + 4?", "answer": "6", "solution": ""},
    ]
    found, _ = collected(tmp_path, rows)
    first, second, third = found.kept.to_pylist()
    assert (first["problem"], first["original"]) == (r"Simplify $\frac{6}{4}$ fully.", rows[0]["problem"])
    assert first["answer"] == r"\frac{3}{2}"
    assert first["id"] == record_id("s", "0")
    assert (second["answer"], second["original"]) == ("5", None)
    assert third["original"] is None
    assert found.sources["s"]["repaired"] == 1
    off, _ = collected(tmp_path, rows, repair=False)
    assert [row["problem"] for row in off.kept.to_pylist()] == [rows[0]["problem"], rows[2]["problem"]]
    assert "repaired" not in off.sources["s"]


def test_benchmarks_stay_as_published(tmp_path):
    rows = [{"problem": "Simplify $\x0crac{6}{4}$ fully.", "answer": "1.5"}]
    _, source = collected(tmp_path, rows)
    assert collect_benchmarks([source], Collect(sources=[], benchmarks=[source])).kept["problem"].to_pylist() == [
        rows[0]["problem"]
    ]


def test_json_inside_of_a_row_keeps_its_backslashes_until_it_is_read(tmp_path):
    rows = [
        {"problem": "Simplify $\\frac{2}{4}$.", "answer": '["\\\\frac{1}{2}"]'},
        {"problem": "1 + 1 = ?", "answer": '["x = \\u000crac{8}{4}"]'},
    ]
    found, _ = collected(tmp_path, rows)
    assert found.kept["answer"].to_pylist() == [r"\frac{1}{2}", r"x = \frac{8}{4}"]
    assert found.kept["original"].to_pylist() == [None, None]
