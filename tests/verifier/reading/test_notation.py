"""Notations rewritten as LaTeX before the text is split."""

from __future__ import annotations

import time

import pytest

from compass.verifier.reading.normalise import normalise
from compass.verifier.reading.notation import rewrite_notation

REWRITTEN = [
    ("]1,2[", "(1,2)"),
    ("]0;5]", "(0;5]"),
    ("[0,1[", "[0,1)"),
    (r"]1,2[\cup]3,4[", r"(1,2)\cup(3,4)"),
    (r"[1,3)\cap[3,4]", r"[1,3)\cap[3,4]"),
    ("[1,2],[3,4]", "[1,2],[3,4]"),
    ("10C3", r"\binom{10}{3}"),
    ("{}_{10}C_3", r"\binom{10}{3}"),
    ("{}^8C_3", r"\binom{8}{3}"),
    ("5P2", r"\frac{(5)!}{(5-2)!}"),
    ("x^2C_1", "x^2C_1"),
    ("x≡1 (mod 3)", r"x\equiv 1\pmod{3}"),
    (r"128\mod 3", r"128\mod 3"),
    (r"2\pi n \text{ where } n \text{ is an integer}", r"2\pi n,n\in\mathbb{Z}"),
    (r"x = n\pi, n \text{ an integer}", r"x=n\pi,n\in\mathbb{Z}"),
    (r"(t, 2t) \text{ for some integer } t", r"(t,2t),t\in\mathbb{Z}"),
    (r"4k+1, k=0,1,2,\ldots", r"4k+1,k\in\mathbb{N}_0"),
    (r"4k+1, k=1,2,3,\ldots", r"4k+1,k\in\mathbb{N}^+"),
    (r"k\pi, k = 0, \pm 1, \pm 2, \ldots", r"k\pi,k\in\mathbb{Z}"),
    (r"[k\pi, k\pi+1](k∈Z)", r"[k\pi,k\pi+1],k\in\mathbb{Z}"),
    (r"x=a+b; a,b\in\mathbb{Z}", r"x=a+b,a\in\mathbb{Z},b\in\mathbb{Z}"),
    (r"y=Ce^x, where C is an arbitrary constant", r"y=Ce^x,C\in\mathbb{R}"),
    (r"2x \text{ for all complex numbers } x", r"2x,x\in\mathbb{C}"),
    (r"n^2 \text{ for all positive integers } n", r"n^2,n\in\mathbb{N}^+"),
    (r"k\in\mathbb{Z}", r"k\in\mathbb{Z}"),
    ("(1,2)U(3,4)", r"(1,2)\cup (3,4)"),
    (r"\text{only }x=3", "x=3"),
    (r"\exists x\in\mathbb{R}: x>1", r"\exists x\in\mathbb{R},x>1"),
]


@pytest.mark.parametrize(("text", "expected"), REWRITTEN)
def test_notations_are_rewritten(text: str, expected: str) -> None:
    assert rewrite_notation(normalise(text)) == expected


@pytest.mark.parametrize("part", ["a,", "[1,", "where ", "for all k ", "_1C_", "]1,[", r"\in Z,", "(mod "])
def test_long_texts_take_little_time(part: str) -> None:
    text = "x" + part * (3900 // len(part))
    start = time.process_time()
    rewrite_notation(text)
    assert time.process_time() - start < 1  # a search that grows with the square would take minutes
