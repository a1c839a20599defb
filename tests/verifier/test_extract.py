"""The final answer of a response: `tests/data/responses.jsonl` says which, to the letter (`literal`) or as the verifier compares it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compass.verifier import Mode, extract_answer, final_answer, same_final_answer, verify
from compass.verifier.extract import MAX_RESPONSE
from compass.verifier.extracting.announcements import TAIL
from compass.verifier.extracting.boxes import MAX_BOX, MAX_BOXES

RESPONSES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/responses.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("row", RESPONSES, ids=lambda row: row["response"][:30])
def test_the_final_answer_is_taken_out_of_a_response(row: dict[str, Any]) -> None:
    answer = extract_answer(row["response"])
    if row["answer"] is None or "literal" in row:
        assert answer == row["answer"]
    else:
        assert answer is not None
        assert verify(gold=row["answer"], answer=answer).equal


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


SAME = [
    ("42", "Die Antwort lautet 42."),
    ("3/4", "La respuesta correcta es 3/4."),
    ("45", "Resposta: O carro custa 45 €."),
    ("12", "Ответ: 12 см"),
    ("7", "答：小明还剩下7个苹果。"),
    ("24", "所以一共需要 4 × 6 = 24 辆车。"),
    ("16", "Donc le périmètre est de 2 * (5 + 3) = 16 cm"),
    ("68", "Le prix après réduction est de 80 - 12 = 68 €."),
    ("36", "因此，周长为36厘米。"),
    ("81", "Risposta: 81"),
    ("15", "Svar: 15"),
    ("9", "정답은 9 입니다"),
    ("30", "Đáp án: 30"),
    ("3", "答え: 3"),
    ("105", "La réponse est (45 + 60 = 105)."),
    ("3/4", "Thus the ratio simplifies to $= 9/12 = 3/4$"),
    ("x>4", "We see that the inequality holds for $x > 4$."),
    (r"\begin{bmatrix}1&-1\\0&1\end{bmatrix}", r"Here is the inverse: $\begin{pmatrix}1&-1\\0&1\end{pmatrix}$"),
    ("D", "It can't be C, so I believe it's D"),
    ("9", "When we add we get 9, so the answer is 9"),
    (r"Doubling gives $2x = 8$, hence $x = \boxed{4}$.", "4"),
    ("Ben is slower, and the answer is\n(A) Ann", "A"),
    (r"the unread \frac{", r"the unread \frac{"),
    ("all even $n$", "all even $n$"),
]
OTHER = [
    ("20", "Réponse: Paul doit 35 $ à Marie et 20 $ à Luc."),
    ("5", "Die Antwort ist nicht 5."),
    ("5", "答案可能是5"),
    ("5", "La respuesta es 5 o 6."),
    ("3", "We get $x=2$ and $x=3$."),
    ("4", "The region does not include $x=4$"),
    ("3", "Since $a=3$ the area is 12"),
    ("6", "所以他们有5个苹果和6个梨"),
    ("5", "Is it $5$?"),
    ("9", "If we trusted him the answer is 9"),
    ("C", "It can't be C, so I believe it's D"),
    ("-5", "Answer: the value is minus 5 or 5"),
]


@pytest.mark.parametrize(("gold", "answer"), SAME)
def test_texts_with_the_same_final_answer(gold: str, answer: str) -> None:
    assert same_final_answer(gold=gold, answer=answer).equal, final_answer(answer)


@pytest.mark.parametrize(("gold", "answer"), OTHER)
def test_texts_with_other_final_answers_or_none(gold: str, answer: str) -> None:
    assert not same_final_answer(gold=gold, answer=answer).equal, final_answer(answer)


def test_a_last_sentence_with_several_values_counts_beyond_the_strict_mode_alone() -> None:
    text = "First we square. We see that for $k = 3$ the inequality holds for $x > 4$."
    assert extract_answer(text) == "x > 4"
    assert extract_answer(text, Mode.STRICT) is None
    assert extract_answer("First we square. We see that the inequality holds for $x > 4$.", Mode.STRICT) == "x > 4"


def test_the_only_amount_of_money_among_spans_of_time() -> None:
    text = "Le prêt dure deux ans. En tout Paul devra encore verser 35 $ dans 6 semaines"
    assert verify(gold="35", answer=extract_answer(text) or "").equal


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("We have 3x + 2 = 17.\nNote that 3x = 15.\nx = 5.", "x = 5"),
        ("Start: 3x + 2 = 17 is given.\nCheck whether 4 works: 14, no.\nThe root is x = 5.", "x = 5"),
        ("The price is 5.\nReferences to the table give 7 as the final price.", "7"),
        ("There are 12 eggs.\n\n**Verification**\n3*4 = 12, 3*5 = 15", "12 eggs"),
        ("There are 12 eggs.\n\n**Remark.** With four boxes there are 16.", "12 eggs"),
        ("There are 12 eggs.\nMethod 2 (direct): 36/3 = 12, 24/3 = 8", "12 eggs"),
        ("So x = 11. Verification: the left side is 32, the right side is 32. Both are 32, so it holds.", "x = 11"),
        ("So the speed is 10 m/s. With g = 9.81 you would get 9.9 m/s instead.", "10 m/s"),
        ("We discard -1, which leaves 3 as the only solution.", "3"),
        ("So no, 1001 isn't prime; it is 7 x 11 x 13.", "no"),
        ("Final answer (in simplest form): 4 7/12", "4 7/12"),
    ],
)
def test_a_section_after_the_answer_is_known_by_its_label_and_not_by_a_word(text: str, answer: str) -> None:
    assert extract_answer(text, Mode.LENIENT) == answer


def test_a_word_that_the_question_offers_is_no_remark_after_a_conclusion() -> None:
    text = "3 + 5 = 8. So the total is 8.\nThe total is even."
    assert extract_answer(text, Mode.LENIENT, "Is the total even or odd?") == "even"
    assert extract_answer(text, Mode.LENIENT, "What is the total?") == "8"
    text = "3 + 5 = 8. So the total is 8.\nNo calculator is needed."
    assert extract_answer(text, Mode.STRICT, "What is the sum?") == "8"
