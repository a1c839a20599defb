"""Claims to be proved, and answers to be found with a proof."""

from __future__ import annotations

import pytest

from compass.curation.noise.damaged_text import markup
from compass.curation.noise.proof import proof
from compass.settings import Denoise

PROOFS = [
    "Prove that there are infinitely many primes of this form.",
    "Let $n$ be even. Show that $n^2$ is divisible by four.",
    "Let $a>b$ be real. Demonstrate that $a^3>b^3$ holds always.",
    "Prove the following: for all real $x$, $x^2 + 1 \\geq 2x$.",
    "Given a triangle $ABC$ with $AB = AC$, prove that its base angles are equal.",
    "Prove or disprove: every bounded sequence converges.",
    "Show that $\\sqrt{3}$ is irrational, and deduce that $1 + \\sqrt{3}$ is.",
    "Write a proof that the sum of two odd integers is even.",
    "Let $G$ be a group of order 15. Prove $G$ is cyclic.",
    "Use induction to prove that $2^n > n$.",
    "Suppose that $f$ is continuous. Then prove that it is bounded on $[0, 1]$.",
    "For which reason is it so? Prove that 7 divides $8^n - 1$ for each $n$.",
    "Prove: the medians of a triangle meet in one point.",
    "Let $p$ be prime. Show that if $p$ divides $ab$, then it divides $a$ or $b$.",
    "Give a proof of the theorem of Pythagoras.",
]

FOUND = [
    ("Find, with proof, the least positive integer that is divisible by 4 and 6.", "12"),
    ("Find the largest prime below one hundred. Justify your answer.", "97"),
    ("Find the limit $L$ of $a_n = 1 + 1/n$ and prove it.", "1"),
    ("Determine the greatest $n$ with this property, and prove that it is the greatest.", "12"),
    ("Find a constant $L$ such that $a_n < L$ for all $n$, and prove that your choice works.", "3"),
    ("How many solutions are there? Prove your claim.", "4"),
    ("A baker proves his dough for 45 minutes three times a day. How many minutes is that?", "135"),
    ("She wants to show that she can count to seven. How many fingers does she need?", "7"),
    ("It can be shown that $\\pi$ is irrational. What is its integer part?", "3"),
    ("What is the smallest number of weighings? Show your work.", "3"),
    ("Compute $7 \\cdot 8$. You need not prove that your answer is right.", "56"),
    ("A machine can show at most 40 slides per hour. How many in 2 hours?", "80"),
    ("Records show that 3 of 10 seeds fail. How many of 100 seeds fail?", "30"),
    ("Show that $x = 2$ is a root of $x^3 - 8$, and find the sum of the other two roots.", "-2"),
    ("The proof of a coin costs 12 dollars more. What does it cost?", "14"),
]


@pytest.mark.parametrize("problem", PROOFS)
def test_a_claim_to_be_proved_is_dropped(problem):
    finding = proof({"problem": problem, "answer": ""}, Denoise())
    assert finding is not None
    assert finding.drops("likely")


@pytest.mark.parametrize(("problem", "answer"), FOUND)
def test_what_is_to_be_found_has_an_answer(problem, answer):
    finding = proof({"problem": problem, "answer": answer}, Denoise())
    assert finding is None or not finding.drops("likely")


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


@pytest.mark.parametrize(
    ("problem", "dropped"),
    [
        ("Without proof, find it. You need not prove that.", False),
        ("She wants to show that she can count to seven.", False),
        ("They can prove that it is so.", False),
        ("You need not prove it. But then prove that it is odd.", True),
        ("Show that it is odd.", True),
        ("He had to show ID. What is 3+4?", False),
    ],
)
def test_proofs_that_are_asked_for(problem, dropped):
    assert bool(proof({"problem": problem, "answer": "7"}, Denoise())) is dropped
