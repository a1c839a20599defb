"""Numbered parts that each ask, and numbers in brackets that are products, rules, labels or properties."""

from __future__ import annotations

import pytest

from compass.curation.noise.multi_part import multi_part
from compass.settings import Denoise


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
