"""No fixed text equals golds that differ from each other: an answer that names nothing of the problem earns nothing.

Both sides are generated: every way to write a letter and what it runs over, against golds of one letter and expressions in
letters of a question.
"""

from itertools import product

import pytest

from compass.verifier import reward, verify

VALUES = ("{0}", "2{0}", "{0}+1", "{0}^2", "x={0}", r"\{{{0}\}}", "({0})", "-{0}", r"{0}^\circ")
LETTERS = ("t", "k", "y", "c")
CLAUSES = (
    r", {0}\in\mathbb{{R}}",
    r", {0}\in\mathbb{{Z}}",
    r", {0} \in \mathbb{{C}}",
    r" \text{{ for any real number }} {0}",
    r", \text{{where }} {0} \text{{ is an integer}}",
)
UNIVERSAL = [
    value.format(letter) + clause.format(letter) for value, letter, clause in product(VALUES, LETTERS, CLAUSES)
]
LETTER_GOLDS = ("A", "B", "E", r"\text{(C)}", r"\textbf{(D)}", "x", r"\theta", r"\overline{CD}")
EXPRESSION_GOLDS = ("p-q", "m+n", "a", r"\alpha", "r+1", "n+2", "2s", "-2n-2", "x+1", "C_n^2", r"\int_0^1 x^2 dx")


@pytest.mark.parametrize("gold", [*LETTER_GOLDS, *EXPRESSION_GOLDS])
def test_a_letter_that_runs_over_all_numbers_equals_no_gold(gold: str) -> None:
    assert [answer for answer in UNIVERSAL if verify(gold=gold, answer=answer).equal] == []
    assert [answer for answer in UNIVERSAL if reward(rf"\boxed{{{answer}}}", gold) > 0] == []


HEADS = ("{0}. ", "({0}) ", "{0}) ", "{0}: ", "{0}\n", "{0}, ", "{0} or ", r"\text{{({0})}} ")
ANNOUNCED = ("Final answer: {0}", "Thus the answer is ${0}$.", "the answer is ({0})", r"\boxed{{{0}}}", "answer = {0}", "option {0}", "**{0}**", "{0}")  # fmt: skip
AROUND = (r"\boxed{{{0}}}", r"\boxed{{{0}", "Answer: {0}", "{0}", r"\boxed{{\text{{{0}}}}}")


@pytest.mark.parametrize("around", AROUND)
def test_a_text_that_names_two_letters_is_paid_for_one_at_most(around: str) -> None:
    for head, announced in product(HEADS, ANNOUNCED):
        text = around.format(head.format("B") + announced.format("D"))
        assert sum(reward(text, gold) > 0 for gold in ("B", "D")) < 2, text
