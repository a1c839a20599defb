"""Problems that already tell their gold, and those in which it only happens to stand."""

from __future__ import annotations

from compass.curation.noise.answer_given import answer_given
from compass.settings import Denoise


def test_a_short_formula_among_the_data_is_a_doubt():
    problem = "If $BD = \\frac{\\sqrt{3}}{2}$, find the area of the triangle."
    finding = answer_given({"problem": problem, "answer": "\\frac{\\sqrt{3}}{2}"}, Denoise())
    assert (finding.strength, finding.evidence["formula"]) == ("possible", "\\frac{\\sqrt{3}}{2}")


def test_spacing_commands_and_order_make_no_other_formula():
    problem = "The derivative is $3x^2 - 4 + 2\\cos(x)$. What is it?"
    assert answer_given({"problem": problem, "answer": "2 \\cos (x) - 4 + 3 x^{2}"}, Denoise()).drops("likely")


def evidence(problem: str, answer: str | None = "7") -> dict | None:
    finding = answer_given({"problem": problem, "answer": answer}, Denoise())
    return finding and finding.evidence


def test_evidence_of_a_given_answer():
    box = "x" * 200
    assert evidence(f"It is \\boxed{{{box}}}", box)["boxed"] == box[:120]
    assert evidence("How many? Answer: 7", "7")["span"] == [10, 19]
    assert evidence("Odd. Hence it is 7.", "7")["text"] == "Odd. Hence it is 7."


def test_the_gold_stands_within_twelve_characters_of_the_end():
    assert evidence("Odd. Hence 7" + "x" * 12, "7")
    assert not evidence("Odd. Hence 7" + "x" * 13, "7")
