"""Two answers of any kind: what they are decides how they are compared."""

from __future__ import annotations

import pytest

from compass.verifier import verify

KINDS = [
    (
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        r"\begin{bmatrix}1&2\\3&\frac82\end{bmatrix}",
        "equal",
        "structure",
        "the same parts",
    ),
    (
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        r"\begin{pmatrix}1&2\\3&5\end{pmatrix}",
        "different",
        "rational",
        "part 4: 4 against 5",
    ),
    (
        r"\begin{pmatrix}1&2\end{pmatrix}",
        r"\begin{pmatrix}1\\2\end{pmatrix}",
        "different",
        "structure",
        "matrices of other sizes",
    ),
    (r"\begin{pmatrix}1&2\end{pmatrix}", "(1,2)", "equal", "structure", "the same parts"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\langle 1,2\rangle", "equal", "structure", "the same parts"),
    ("(1,2)", r"\begin{pmatrix}1\\\frac42\end{pmatrix}", "equal", "structure", "the same parts"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "[1,2]", "different", "structure", "a matrix against something else"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "(2,1)", "different", "rational", "part 1: 1 against 2"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "(1,2,3,4)", "different", "structure", "a matrix against something else"),
    (r"\begin{pmatrix}5\end{pmatrix}", "5.0", "equal", "rational", "both are 5"),
    ("5", r"\begin{pmatrix}\frac{10}2\end{pmatrix}", "equal", "rational", "both are 5"),
    (r"\begin{pmatrix}5\end{pmatrix}", "6", "different", "rational", "5 against 6"),
    (r"\begin{pmatrix}1&2\end{pmatrix}", "5", "different", "structure", "a matrix against something else"),
    (r"2\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}2\\4\end{pmatrix}", "equal", "structure", "the same parts"),
    (
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}\begin{pmatrix}1\\1\end{pmatrix}",
        r"\begin{pmatrix}3\\7\end{pmatrix}",
        "equal",
        "structure",
        "the same parts",
    ),
    (
        r"\begin{pmatrix}1\\2\end{pmatrix}+\begin{pmatrix}1\\1\end{pmatrix}",
        r"\begin{pmatrix}2\\3\end{pmatrix}",
        "equal",
        "structure",
        "the same parts",
    ),
    (
        r"-\begin{pmatrix}1\\2\end{pmatrix}",
        r"\begin{pmatrix}-1\\-2\end{pmatrix}",
        "equal",
        "structure",
        "the same parts",
    ),
    ("2:3", "4:6", "equal", "structure", "the same parts"),
    ("2:3", "3:2", "different", "rational", "part 1: 3/2 against 2/3"),
    ("1:2:3", "2:4:6", "equal", "structure", "the same parts"),
    ("1:2:3", "1:2", "different", "structure", "ratios of other lengths"),
    ("1:2", "0.5", "equal", "rational", "both are 1/2"),
    ("0.5", "1:2", "equal", "rational", "both are 1/2"),
    ("1:2:3", "2", "different", "structure", "a ratio against something else"),
    ("4:30", "8:60", "different", "rational", "part 1: 4 against 8"),
    ("4:30", "4:30+0", "equal", "structure", "the same parts"),
    ("4:30", "2/15", "equal", "rational", "both are 2/15"),
    ("24:10", "48:20", "equal", "structure", "the same parts"),
    ("25:10", "5:2", "equal", "structure", "the same parts"),
    ("4:9", "8:18", "equal", "structure", "the same parts"),
    ("4:60", "1:15", "different", "rational", "part 1: 4 against 1"),
    ("4:59", "8:118", "equal", "structure", "the same parts"),
    ("1:2", "(1,2)", "different", "structure", "a ratio against something else"),
    ("52_8", "52_8+0", "different", "structure", "a number in another base, or without one"),
    ("52_8", "052_{8}", "equal", "structure", "the same parts"),
    ("52_8", "52_7", "different", "structure", "a number in another base, or without one"),
    ("52_8", "42", "different", "structure", "a number in another base, or without one"),
    (r"\text{even number}", r"\text{(even number)}", "equal", "text", "the same words"),
    (r"\text{cm}", "x", "different", "algebra", "as rational functions"),
    (
        r"\begin{cases}x&x>0\\y&x<0\end{cases}",
        r"\begin{cases}y&x<0\\x&x>0\end{cases}",
        "equal",
        "structure",
        "the same parts",
    ),
    (
        r"\begin{cases}x&x>0\\y&x<0\end{cases}",
        r"\begin{cases}x&x>0\end{cases}",
        "different",
        "structure",
        "a definition by cases, or a system, against something else",
    ),
    (r"\begin{cases}x=1\\y=2\end{cases}", r"\begin{cases}y=2\\x=1\end{cases}", "equal", "structure", "the same parts"),
    (
        r"\begin{cases}x=1\\y=2\end{cases}",
        "(1,2)",
        "equal",
        "structure",
        "the same parts",
    ),
    ("x=5", "5", "equal", "rational", "both are 5"),
    ("5", r"\mathbb{R}", "different", "structure", "scalar against named set"),
    (r"\{5\}", r"\mathbb{R}", "different", "structure", "other sets of numbers"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), KINDS)
def test_kinds(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)
