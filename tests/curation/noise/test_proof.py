"""Claims to be proved, and answers to be found with a proof."""

from __future__ import annotations

import pytest

from compass.curation.noise.damaged_text import markup
from compass.curation.noise.proof import proof
from compass.settings import Denoise


def test_an_answer_with_a_proof_needs_a_gold():
    problem = "Find the limit $L$ of $a_n = 1 + 1/n$ and prove that it is the limit."
    assert proof({"problem": problem, "answer": "1"}, Denoise()).strength == "possible"
    assert proof({"problem": problem, "answer": ""}, Denoise()).drops("likely")
    assert proof({"problem": problem, "answer": "See the solution."}, Denoise()).drops("likely")


@pytest.mark.parametrize(
    "problem",
    [
        "What is the number with \\[B=142857\\] times seven?",
        "Let $x \\in [b]$ and $[i] = \\{1, \\ldots, i\\}$. What is $[2]$?",
        "The display \\[i\\] is the unit. What is its square?",
        "The matrix $[u=3]$ has one entry. What is it?",
        "Find $a < b$ and $c > d$ with $a<b>c$ and sum 7.",
    ],
)
def test_formulas_in_brackets_are_no_markup(problem):
    assert markup({"problem": problem}, Denoise()) is None
