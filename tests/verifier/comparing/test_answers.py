"""What a second look at whole answers finds: selections, dots, vectors, signs in tuples, definitions by cases."""

from __future__ import annotations

import pytest
from flint import fmpq

from compass.verifier import verify

ABSOLUTE = r"\begin{cases}x&x\ge0\\-x&x<0\end{cases}"
PAIRS = [
    ("120", "C_{10}^3", True), ("120", "C(10,3)", True), ("720", "A_{10}^3", True), ("0", "P(3,5)", True), ("120", "C_{10}^4", False), ("C_1e^x", "120", False),
    ("C(10,3)", "(10,3)", True), ("C_n^2", r"\frac{n(n-1)}{2}", True), ("3!7!", "30240", True),
    (r"1+2+\cdots+n", r"\frac{n(n+1)}{2}", True), (r"1+2+\cdots+n", r"\frac{n(n-1)}{2}", False), (r"1+4+9+\cdots+n^2", r"\frac{n(n+1)(2n+1)}{6}", False),
    (r"1+2+4+\cdots+2^{9}", "1023", True), (r"a_1+a_2+\cdots+a_n", r"a_n+a_{n-1}+\cdots+a_1", True), (r"a_1+a_2+\cdots+a_n", r"a_1+a_2+\cdots+a_{n+1}", False),
    (r"x_1+x_2+\dots+x_n", r"\sum_{i=1}^n x_i", True), (r"1,3,\ldots,9", "1,3,5,7,9", True), (r"1,3,\ldots,9", "1,3,9", False), (r"1,2,4,\ldots,16", "1,2,4,8,16", False),
    (r"2\vec i-\vec k", "(2,0,-1)", True), (r"2\vec i-\vec k", "(2,-1,0)", False), ("2+3i", "(2,3)", False), (r"\hat i+1", "(1,0)", False), (r"i+j^2", "(1,1)", False),
    ("(1,2)^T", r"\begin{pmatrix}1\\2\end{pmatrix}", True), (r"\begin{pmatrix}2&0\\0&4\end{pmatrix}^{-1}", r"\begin{pmatrix}\frac12&0\\0&\frac14\end{pmatrix}", True),
    ("2(1,2)", "(2,4)", True), ("(1,2)+(3,4)", "(4,6)", True), ("(1,2)-(3,4)", "(-2,-2)", True), (r"(1,2)\cdot(3,4)", "(3,8)", False),
    (r"(2,\pm1)", "(2,1),(2,-1)", True), (r"(\pm1,\mp2)", "(1,-2),(-1,2)", True), (r"(\pm1,\mp2)", "(1,2),(-1,-2)", False), (r"(\pm1,\pm2)", "(1,2),(-1,-2),(1,-2),(-1,2)", True),
    ("|x|", ABSOLUTE, True), ("x", ABSOLUTE, False), ("-|x|", ABSOLUTE, False), (r"\max(x,-x)", ABSOLUTE, True), ("|x|", r"\begin{cases}x&x\ge0\end{cases}", False),
    (r"\begin{cases}x&x>0\\0&\text{otherwise}\end{cases}", r"\begin{cases}0&x\le0\\x&x>0\end{cases}", True), (r"\begin{cases}x&x>0\\0&\text{otherwise}\end{cases}", r"\begin{cases}0&x\le1\\x&x>1\end{cases}", False),
    ("a_n=2^n", "a_k=2^k", True), ("a_n=2^n", "b_n=2^n", False), ("a_n=k+n", "a_k=k+n", False), ("f(x)=0,f(x)=x^2", "f(t)=t^2,f(t)=0", True), ("f(x)=t,f(x)=x", "f(t)=t,f(t)=x", False),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "answer", "same"), PAIRS)
def test_a_second_look(gold: str, answer: str, same: bool) -> None:
    assert verify(gold=gold, answer=answer).equal == same
    assert verify(gold=answer, answer=gold).equal == same


def test_whole_numbers_of_a_set_are_listed() -> None:
    assert verify(gold=r"\{x\in\mathbb{Z}:-2<x\le 1\}", answer="-1,0,1").equal
    assert not verify(gold=r"\{x\in\mathbb{Z}:-2<x\le 1\}", answer="-2,-1,0,1").equal
    assert not verify(gold=r"\{x\in\mathbb{N}:x<2\}", answer="0,1").equal  # some count 0 as natural, some do not


def test_an_exact_step_is_never_a_close_one() -> None:
    close = fmpq(10**12 + 1, 10**12)
    assert not verify(
        gold=r"k\pi, k\in\mathbb{Z}", answer=rf"\frac{{{close.p}}}{{{close.q}}}k\pi, k\in\mathbb{{Z}}"
    ).equal
