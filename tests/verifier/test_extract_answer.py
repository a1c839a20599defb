"""The final answer of a response."""

from __future__ import annotations

import pytest

from compass.verifier import Mode, extract_answer, verify

CASES = [
    (r"so \boxed{5}", "5"),
    (r"nested \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
    (r"first \boxed{3}. Then later we find \boxed{4}.", "4"),
    (r"$\boxed{1}$ and $\boxed{2}$", "1, 2"),
    (r"\boxed{5}\boxed{6}", "5, 6"),
    (r"\boxed{840} \boxed{840}", "840"),
    (r"\boxed{\boxed{5}}", "5"),
    (r"\fbox{3}", "3"),
    (r"\boxed 7", "7"),
    (r"x = -\boxed{3}", "-3"),
    (r"3-\boxed{3}", "0"),
    (r"\boxed{2}. Wait, I forgot a factor. So the final answer is $10$.", "10"),
    ("... #### 42", "42"),
    ("The answer is 7.", "7"),
    ("The answer is 3.14.", "3.14"),
    (r"The answer is $\frac{1}{2}$.", r"\frac{1}{2}"),
    (r"The answer is \(\sqrt{2}\).", r"\sqrt{2}"),
    ("The answer is:\n\\[\n\\frac{3}{4}\n\\]", r"\frac{3}{4}"),
    ("Final Answer: The final answer is $10,455$. I hope it is correct.", "10455"),
    ("The answer is **17**.", "17"),
    ("**Answer:** 17", "17"),
    ("The answer is (B).", "B"),
    ("Answer: C", "C"),
    ("The correct answer is (A) because it holds for every value.", "A"),
    ("So there are 12 apples.", "12"),
    ("Therefore x = 5", "5"),
    (r"$$x=\frac{1}{2}$$", r"\frac{1}{2}"),
    ("Hence, the solutions are x = 3 and x = 4.", "3, 4"),
    ("The total is 1,234.50 dollars.", "1234.5"),
    ("<think>\\boxed{1}</think> The answer is 2.", "2"),
    ("The answer is 5.<|im_end|><|im_start|>user\nThe answer is 6.", "5"),
    ("答案是 5。", "5"),
    ("The answer is Tuesday.", "Tuesday"),
    ("The largest number of towns that could be joined by the roads is 14.", "14"),
    ("From the first row $$3x \\geq 9.$$ Adding, $$4x = 24.$$ Therefore, the weight grows by 50%.", "50%"),
]


@pytest.mark.parametrize(("response", "answer"), CASES)
def test_the_final_answer_is_found(response: str, answer: str) -> None:
    found = extract_answer(response)
    assert found is not None
    assert verify(gold=answer, answer=found).equal, found


@pytest.mark.parametrize(
    "response",
    [
        "",
        "   ",
        r"\boxed{}",
        r"\boxed{2} So the final answer is $10$.",
        r"so \boxed{12",
        r"\boxed{5} and then \boxed{1",
        r"hence $x = 5^",
        "We compute 3 + 4 =",
    ],
)
def test_a_response_without_a_final_answer_has_none(response: str) -> None:
    assert extract_answer(response) is None


def test_a_box_on_the_way_gives_way_to_what_is_called_final_in_the_lenient_mode_alone() -> None:
    response = (
        r"The first loan costs $0.05 \cdot 400 = \boxed{20}$. With the second loan of the same size she pays twice as much, "
        "and the fee adds 3. Final Answer: The final answer is $43$."
    )
    assert extract_answer(response, Mode.LENIENT) == "43"
    assert extract_answer(response, Mode.STRICT) is None
    assert extract_answer(r"\boxed{20} or so. The final answer is 43.", Mode.LENIENT) is None


def test_a_brace_forgotten_inside_a_formula_is_forgiven() -> None:
    assert extract_answer("$\\boxed{12$ is the answer.") == "12"


def test_several_values_stay_several() -> None:
    assert verify(gold="5", answer=extract_answer("The answer is 5 or 6.") or "").outcome != "equal"
    assert verify(gold="4", answer=extract_answer("The solutions are $3$ and $4$.") or "").outcome != "equal"
