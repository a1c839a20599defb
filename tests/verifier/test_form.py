"""What the strict mode asks of an answer beyond being equal: a final form, and that it is not the question's own formula.

Responses that it pays and refuses are in `tests/data/response_labels.jsonl`.
"""

from __future__ import annotations

from compass.verifier.form import gives_away, is_final


def test_a_question_that_writes_its_gold_gives_it_away() -> None:
    assert gives_away(r"\sqrt{3}", r"Which is larger, $\sqrt2$ or $\sqrt3$?")
    assert gives_away("(0,3)", "Name the point $(0,3)$.")
    assert not gives_away(r"8\sqrt2", r"Simplify $\sqrt{50}+\sqrt{18}$.")
    assert not gives_away("12", "Tom has 12 apples, $x = 12$.")
    assert not gives_away("x", "Find $x$.")


def test_open_arithmetic_is_not_final() -> None:
    assert is_final("7/2", r"3\frac12")
    assert not is_final("10", "5+5")


def test_a_word_that_multiplies_a_number_leaves_nothing_open() -> None:
    assert is_final("9000000", "9 million")
    assert is_final("60", r"5 \text{ dozen}")
    assert not is_final("9000000", r"9 \cdot 1000000")
