"""The final answer of a response, to the letter."""

from __future__ import annotations

import pytest

from compass.verifier import extract_answer
from compass.verifier.extract import MAX_RESPONSE
from compass.verifier.extracting.boxes import MAX_BOX, MAX_BOXES
from compass.verifier.extracting.phrases import TAIL

ANSWERS = [
    (r"so \boxed{5}", "5"),
    (r"\boxed{ 5 }", "5"),
    (r"\boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
    (r"\boxed{3} then \boxed{4}", "4"),
    (r"$\boxed{1}$ and $\boxed{2}$", "1, 2"),
    (r"\boxed{1}, \boxed{2} or \boxed{3}", "1, 2, 3"),
    (r"\boxed{5}\boxed{5}", "5"),
    (r"\boxed{\boxed{5}}", r"\boxed{5}"),
    (r"\boxed 7", "7"),
    (r"\boxed", None),
    (r"x=-\boxed{3}", "-3"),
    (r"3-\boxed{3}", "3-(3)"),
    (r"(-\boxed{3}", "-3"),
    (r": -\boxed{3}", "-3"),
    (r"a -\boxed{3}", "a -(3)"),
    (r"\boxed{2} So the final answer is $10$.", None),
    (r"The final answer is $10$. \boxed{2}", "2"),
    (r"\boxed{2} final answer: 7", None),
    (r"\boxed{}", None),
    (r"\boxed{12", None),
    (r"\boxed{5} and \boxed{1", None),
    (r"$\boxed{12$ is it.", "12"),
    (r"$\boxed{12$", None),
    (r"\fbox{3}", "3"),
    (r"\boxedx{3}", r"\boxedx{3}"),
    (r"\boxed{1}                                                                                \boxed{2}", "1, 2"),
    (r"\boxed{1}                                                                                 \boxed{2}", "2"),
    (r"\boxed{x}, y = \boxed{2}", "x, 2"),
    (r"\boxed{1} so \boxed{2}", "2"),
    (r"\boxed{a\}b}", r"a\}b"),
    ("#### 42", "42"),
    ("#### 42\n\nmore", "42"),
    ("The answer is 7.", "7"),
    ("The answer is 3.14.", "3.14"),
    ("The answer is:\n\\[\n\\frac{3}{4}\n\\]", r"\frac{3}{4}"),
    ("The answer is $$5$$", "5"),
    ("The answer is **17**.", "17"),
    ("The result is 5", "5"),
    ("Answer = 5", "5"),
    ("the answer will be 9", "9"),
    ("The answer is (B).", "B"),
    ("Answer: C", "C"),
    ("The correct answer is (A) because it holds.", "A"),
    ("The correct option is B", "B"),
    ("We pick option C here because it holds", "C"),
    ("So there are 12 apples.", "12 apples"),
    ("Therefore x = 5", "x = 5"),
    ("Hence, the solutions are x = 3 and x = 4.", "x = 3 and x = 4"),
    ("The total is 1,234.50 dollars.", "1,234.50 dollars"),
    ("It costs $5 or so for all", "$5"),
    ("the price is $5", "$5"),
    (r"<think>\boxed{1}</think> The answer is 2.", "2"),
    ("<thinking>a</thinking>5", "5"),
    ("The answer is 5.<|im_end|>The answer is 6.", "5"),
    ("<|im_start|>The answer is 6.", "6"),
    ("答案是 5。", "5"),
    ("The answer is Tuesday.", "Tuesday"),
    ("", None),
    ("   ", None),
    ("hence $x = 5^", None),
    ("We compute 3 + 4 =", None),
    (r"$$x=\frac{1}{2}$$", r"\frac{1}{2}"),
    ("$$x+y=3$$", "x+y=3"),
    ("$f(2)=3+4=7$", "7"),
    ("$a=b=7$", "7"),
    ("thus $5$ and then $6$ are the two values", None),
    ("The values here are 5 and 6", "5 and 6"),
    ("no idea what to say here", None),
    ("There are 3/4 of them left over", "3/4"),
    ("There are 50% of them left over", "50%"),
    ("so it is −5 in the end of it", "−5"),
    ("Answer: A) because", "A"),
    ("x<5", "x<5"),
    ("The answer is $x<5=y$", "x<5=y"),
    ("I think that it equals 9", "9"),
    ("We get 5", "5"),
    (r"\[5", None),
    ("The answer is ", None),
    ("so\n\n7", "7"),
]


@pytest.mark.parametrize(("response", "answer"), ANSWERS)
def test_answers_to_the_letter(response: str, answer: str | None) -> None:
    assert extract_answer(response) == answer


def test_long_responses_are_read_from_their_end() -> None:
    assert extract_answer(r"\boxed{5}" + " " * (MAX_RESPONSE - 9)) == "5"
    assert extract_answer(r"\boxed{5}" + " " * (MAX_RESPONSE - 8)) != "5"
    assert extract_answer("#### 5" + "\n" * (TAIL - 6)) == "5"
    assert extract_answer("#### 5" + "\na" * TAIL) != "5"


def test_the_last_boxes_count_and_a_long_one_is_cut() -> None:
    boxes = r"\boxed{1}" + r"\boxed{2}" * (MAX_BOXES - 1)
    assert extract_answer(boxes) == "1, 2"
    assert extract_answer(boxes + r"\boxed{2}") == "2"
    fits = "1" * (MAX_BOX - 2)
    assert extract_answer(rf"\boxed{{{fits}}} done") == fits
    assert extract_answer(rf"\boxed{{{fits}11}} done") == fits + "1"


def test_a_response_must_be_text() -> None:
    with pytest.raises(TypeError, match="a response must be text, found int"):
        extract_answer(5)


def test_without_a_number_or_formula_the_answer_follows_the_last_verb() -> None:
    assert extract_answer("So what it is is clear to anyone here") == "clear to anyone here"


@pytest.mark.parametrize(("digits", "read"), [(7_999, 7_999), (8_000, 7_999)])
def test_a_box_is_read_up_to_its_limit(digits: int, read: int) -> None:
    assert len(extract_answer(r"\boxed{" + "1" * digits + "}") or "") == read


@pytest.mark.parametrize(
    ("value", "answer"),
    [("$(a+5)(b+2)$", "(a+5)(b+2)"), ("$b+2$", "b+2"), ("$(b,c)$", "(b,c)"), ("B", "B"), ("(C) 12", "C")],
)
def test_a_letter_inside_a_formula_is_no_choice(value: str, answer: str) -> None:
    assert (
        extract_answer(f"We factor by grouping.\nFinal Answer: The final answer is {value}. I hope it is correct.")
        == answer
    )
