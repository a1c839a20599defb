"""The final answer of a response: `tests/data/responses.jsonl` says which, to the letter (`literal`) or as the verifier compares it,
and which text ends in the same answer (`same_as`)."""

from __future__ import annotations

from typing import Any

import pytest

from compass.verifier import Mode, extract_answer, same_final_answer, verify
from compass.verifier.extract import MAX_RESPONSE
from compass.verifier.extracting.announcements import TAIL
from compass.verifier.extracting.boxes import MAX_BOX, MAX_BOXES
from tests.conftest import data_rows

RESPONSES = data_rows("responses.jsonl")


@pytest.mark.parametrize("row", [row for row in RESPONSES if "answer" in row], ids=lambda row: row["response"][:30])
def test_the_final_answer_is_taken_out_of_a_response(row: dict[str, Any]) -> None:
    answer = extract_answer(row["response"])
    if row["answer"] is None or "literal" in row:
        assert answer == row["answer"]
    else:
        assert answer is not None
        assert verify(gold=row["answer"], answer=answer).equal


@pytest.mark.parametrize("row", [row for row in RESPONSES if "same_as" in row], ids=lambda row: row["response"][:30])
def test_texts_are_compared_by_their_final_answers(row: dict[str, Any]) -> None:
    assert same_final_answer(gold=row["same_as"], answer=row["response"]).equal is row["equal"]


def test_long_responses_are_read_from_their_end() -> None:
    assert extract_answer(r"\boxed{5}" + " " * (MAX_RESPONSE - 9)) == "5"
    assert extract_answer(r"\boxed{5}" + " " * (MAX_RESPONSE - 8)) != "5"
    assert extract_answer("#### 5" + "\n" * (TAIL - 6)) == "5"
    assert extract_answer("#### 5" + "\na" * TAIL) != "5"


def test_long_gaps_are_closed_before_rules_look_across_them() -> None:
    """A rule that tried each of 1,900 line breaks took 110 seconds, and one that tried each of 200 lines did not end."""
    assert extract_answer("So it is 5." + " \n" * 1_900) == "5"
    assert extract_answer("So it is 5." + " \n" * 1_900 + "It is 6.") == "6"
    assert extract_answer("It is 5" + " " * 3_900 + "apples.") == extract_answer("It is 5" + " " * 20 + "apples.")
    assert extract_answer("So it is 5." + (" \n" * 9 + "**") * 200) in (None, "5")


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


@pytest.mark.parametrize(("digits", "read"), [(7_999, 7_999), (8_000, 7_999)])
def test_a_box_is_read_up_to_its_limit(digits: int, read: int) -> None:
    assert len(extract_answer(r"\boxed{" + "1" * digits + "}") or "") == read


def test_a_box_on_the_way_gives_way_to_what_is_called_final_in_the_lenient_mode_alone() -> None:
    response = (
        r"The first loan costs $0.05 \cdot 400 = \boxed{20}$. With the second loan of the same size she pays twice as much, "
        "and the fee adds 3. Final Answer: The final answer is $43$."
    )
    assert extract_answer(response, Mode.LENIENT) == "43"
    assert extract_answer(response, Mode.STRICT) is None
    assert extract_answer(r"\boxed{20} or so. The final answer is 43.", Mode.LENIENT) is None


def test_several_values_stay_several() -> None:
    assert verify(gold="5", answer=extract_answer("The answer is 5 or 6.") or "").outcome != "equal"
    assert verify(gold="4", answer=extract_answer("The solutions are $3$ and $4$.") or "").outcome != "equal"


def test_a_last_sentence_with_several_values_counts_beyond_the_strict_mode_alone() -> None:
    text = "First we square. We see that for $k = 3$ the inequality holds for $x > 4$."
    assert extract_answer(text) == "x > 4"
    assert extract_answer(text, Mode.STRICT) is None
    assert extract_answer("First we square. We see that the inequality holds for $x > 4$.", Mode.STRICT) == "x > 4"


def test_the_only_amount_of_money_among_spans_of_time() -> None:
    text = "Le prêt dure deux ans. En tout Paul devra encore verser 35 $ dans 6 semaines"
    assert verify(gold="35", answer=extract_answer(text) or "").equal


def test_a_word_that_the_question_offers_is_no_remark_after_a_conclusion() -> None:
    text = "3 + 5 = 8. So the total is 8.\nThe total is even."
    assert extract_answer(text, Mode.LENIENT, "Is the total even or odd?") == "even"
    assert extract_answer(text, Mode.LENIENT, "What is the total?") == "8"
    text = "3 + 5 = 8. So the total is 8.\nNo calculator is needed."
    assert extract_answer(text, Mode.STRICT, "What is the sum?") == "8"
