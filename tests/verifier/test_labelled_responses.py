"""Whole responses, honest and nasty, with what a careful teacher would pay.

A row of `tests/data/response_labels.jsonl` has a response and its gold, with the gold's `tolerance` and the `question` where they matter,
and whether it is paid (`label`), in both modes or in `mode` alone. `known_error` marks one that the verifier gets wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from compass.verifier import Gold, Leniency, Mode, judge, judge_many
from tests.conftest import data_rows

ROWS = data_rows("response_labels.jsonl")
MEGABYTE = 1_000_000
MOST_CALLS = 30_000
"""Calls of functions, and returns from them, for one response. A quadratic search inside a pattern would take minutes here."""


def gold_of(row: dict) -> str | Gold:
    return Gold(row["gold"], tolerance=row["tolerance"]) if "tolerance" in row else row["gold"]


CASES = [(row, mode) for row in ROWS for mode in (Mode.STRICT, Mode.LENIENT) if row.get("mode", mode) == mode]


@pytest.mark.parametrize(
    ("row", "mode"), CASES, ids=[f"{row['group']} {number}" for number, (row, _) in enumerate(CASES)]
)
def test_a_response_is_paid_as_a_teacher_would(row: dict, mode: Mode) -> None:
    judgement = judge(gold=gold_of(row), response=row["response"], question=row.get("question"), mode=mode)
    expected = row["label"] != ("known_error" in row)
    assert judgement.equal is expected, judgement
    if "tolerance" in row and expected:
        assert Leniency.TOLERANCE in judgement.verdict.leniencies


@pytest.mark.parametrize("mode", Mode)
def test_many_are_judged_with_their_questions_as_one_by_one(mode: Mode) -> None:
    pairs, questions = [(gold_of(row), row["response"]) for row in ROWS], [row.get("question") for row in ROWS]
    assert judge_many(pairs, questions=questions, mode=mode) == [
        judge(gold=gold, response=response, question=question, mode=mode)
        for (gold, response), question in zip(pairs, questions, strict=True)
    ]
    assert judge_many([]) == []


LONG = [
    "$x ", "a", r"\boxed{", r"\boxed{5} ", "}", "{", "(", "$", r"\(", "\n", " ", "**", "# ", "#### 5\n", "the answer is 5. ", "answer\n\n", "1", "1,",
    "\nQuestion:", "\nHuman:", "<think>", "</think>", "<answer>5", '{"answer":', "\\\\", r"\text{ and } ", "x = ", "Case 1 ", "wait ", "答案", "é", r"\boxed{1}, y=",
]  # fmt: skip


@pytest.mark.parametrize("unit", LONG)
@pytest.mark.parametrize(("before", "after"), [("", ""), (r"\boxed{7} ", ""), ("The final answer is ", r" \boxed{7}")])
def test_a_megabyte_is_read_with_little_work(
    unit: str, before: str, after: str, count_calls: Callable[[Callable[[], Any]], int]
) -> None:
    text = before + (unit * (MEGABYTE // len(unit))) + after
    assert count_calls(lambda: judge(gold="7", response=text)) < MOST_CALLS


STYLES = data_rows("response_styles.jsonl")
"""Whole responses in 648 styles of models and prompts, written without sight of the rules; the fifth round and `prose` are prose alone, two thirds of
the seventh are. Rules were tuned on all but most of `structured` and `prose`, `third_held`, of which only styles and readings were looked at, `fourth_held`,
which was only counted, `seventh_held`, of which the structured rows and what was wrongly paid were looked at, and what was held back of the eighth, tenth and
eleventh round. Two of the fourth round's
labels refuse 3/6 for 1/2 and another form of a line, which these rules pay, and two a value that ends a derivation. Each row has what each mode should pay;
null: either is right."""


FOUND = {
    "seen": ((110, 0), (115, 0), (115, 0)),
    "second": ((92, 0), (100, 0), (100, 0)),
    "held": ((88, 0), (97, 0), (98, 0)),
    "third": ((56, 0), (60, 0), (60, 0)),
    "third_held": ((46, 0), (51, 0), (51, 1)),
    "fourth": ((68, 4), (78, 2), (81, 2)),
    "fourth_held": ((74, 0), (82, 0), (85, 1)),
    "fifth": ((73, 1), (84, 0), (84, 0)),
    "structured": ((73, 1), (80, 1), (76, 1)),
    "prose": ((30, 0), (32, 0), (39, 0)),
    "seventh": ((34, 0), (67, 0), (71, 1)),
    "seventh_held": ((38, 1), (54, 1), (57, 2)),
    "eighth": ((20, 0), (36, 0), (38, 0)),
    "eighth_held": ((20, 0), (35, 0), (35, 0)),
    "ninth": ((229, 0), (257, 0), (259, 1)),
    "tenth": ((27, 0), (30, 0), (30, 0)),
    "tenth_held": ((29, 0), (31, 0), (32, 0)),
    "eleventh": ((15, 0), (18, 0), (20, 0)),
    "eleventh_held": ((23, 0), (26, 0), (26, 1)),
}
"""Per half, and per mode in the order of `Mode`: how many responses are rightly paid at least, and wrongly at most."""


@pytest.mark.parametrize("half", FOUND)
def test_no_style_is_paid_wrongly_and_as_many_are_found_as_before(half: str) -> None:
    rows = [row for row in STYLES if row["half"] == half]
    for mode, (found, paid_wrongly) in zip(Mode, FOUND[half], strict=True):
        paid = [
            judge(gold=row["gold"], response=row["response"], question=row["question"], mode=mode).equal for row in rows
        ]
        assert sum(one and row[mode] is True for one, row in zip(paid, rows, strict=True)) >= found, mode
        assert sum(one and row[mode] is False for one, row in zip(paid, rows, strict=True)) <= paid_wrongly, mode


CONCLUSIONS = [
    "So ",
    "Therefore, ",
    "Hence, ",
    "In total, ",
    "We conclude that ",
    "It follows that ",
    "Putting it together, ",
    "",
]
CLAUSES = [
    "Maria has {} left", "the train travels {} in 3 hours", "the area of the 3 by 4 rectangle is {}", "x = {}", "the total cost is {}",
    "each of the 6 friends gets {}", "2 workers need {} for the 10 walls", "out of the 50 people, {} are left-handed", "the price dropped by 10% to {}",
    "the 5th term is {}", "the required number is {}", "the mean of 3, 4 and 5 is {}", "we get {}", "after spending 5 of the 20, she has {}",
]  # fmt: skip
VALUES = ["17", "$24.50", "3.5", "45%", r"$\frac{3}{4}$", "$-4$", "1,250", "7/8", "**18**", r"$2\sqrt{3}$", "12 cm"]
ENDINGS = [
    ".", "!", "", " ✅", ".\n\n---", ". That's it.", ". Great job!", ".\n\n**Key takeaway:** read the question twice.", ".\n\nCheck: 8 + 9 = 17.",
    ".\n\nLet me know if you have any questions!",
]  # fmt: skip


def test_a_last_sentence_is_read_whatever_its_words_and_what_follows_them() -> None:
    """Every conclusion, clause, value and ending; the question gives the other numbers of the clause."""
    missed = []
    for number, parts in enumerate(product(CONCLUSIONS, CLAUSES, VALUES, ENDINGS)):
        if number % 7:
            continue
        conclusion, clause, value, ending = parts
        sentence = conclusion + clause.format(value) + ending
        response = f"First we compute 9 + 9 = 18.\n\n{sentence[0].upper()}{sentence[1:]}"
        question = " ".join(re.findall(r"\d+%?", clause))
        if not judge(gold=value.strip("*"), response=response, question=question, mode=Mode.LENIENT).equal:
            missed.append((response, value))
    assert len(missed) <= 0.02 * number / 7, missed[:20]


ASKED = [
    ("How many {}s does it have?", "So it has {} {}s, which come in {} pairs."),
    ("How many {}s are there?", "There are {} {}s in all, and {} of the other kind."),
    ("Find the number of {}s.", "Hence it has {} {}s, since there are {} sides, not more."),
    ("What is the {}?", "Therefore the {1} is {0}, the same as that of {2} such figures."),
    ("Find the {} of the figure.", "The {1} we are after is {0}, and the rest of it measures {2}."),
    ("Determine the {}, as a number.", "The {1} of the figure is then {0}; the other one is {2}."),
]
NOUNS = ["divisor", "radius", "edge", "minute", "perimeter", "row"]


def test_of_several_values_the_one_that_the_question_asks_for_is_the_answer() -> None:
    for (question, sentence), noun, (value, other) in product(
        ASKED, NOUNS, [("24", "12"), ("$7$", "31"), ("3/4", "9")]
    ):
        response = f"First we add: 5 + 6 = 11.\n\n{sentence.format(value, noun, other)}"
        asked = f"A figure with 8 sides is given. {question.format(noun)}"
        for mode, gold in product(Mode, (value, other)):
            judgement = judge(gold=gold, response=response, question=asked, mode=mode)
            assert judgement.equal is (gold == value), (response, asked, mode, judgement)


STATED = [
    "So the answer is 9.", "Answer: 9", r"Therefore $x = \boxed{9}$.", "\n#### 9", "**Final answer:** 9", r"The final answer is $\boxed{9}$.",
]  # fmt: skip
OPENERS = ["Wait, ", "Actually, ", "Hmm, ", "No, ", "Hold on, ", "Oops, ", "Sorry, ", "But ", ""]
REJECTIONS = [
    "that's wrong", "this cannot be correct", "my calculation is off", "the check fails", "it doesn't satisfy the first equation", "disregard that",
    "I misread the question", "I dropped a sign", "I made an error above", "that answer contradicts the second condition", "this is not what was asked",
]  # fmt: skip
AFTERWARDS = ["", " Let me think again.", " I need to start over.", " I am not sure what the answer is."]
REMARKS = [
    "Check: 3 * 9 = 27, correct.", "Wait, let me verify: 27 / 3 = 9. Good.", "I made no mistake above.", "Let me know if I made a mistake.",
    "I hope I made no error.", "That can't be a coincidence.", "Do not ignore the sign in such problems.", "Note that the other root is impossible.",
    "It would be wrong to divide here.", "Hold on to this trick, you will need it again.", "Sorry for the long solution!",
]  # fmt: skip


@pytest.mark.parametrize("stated", STATED)
def test_an_answer_that_the_text_rejects_is_none_and_one_that_it_comments_on_stays(stated: str) -> None:
    question = "A number tripled and lowered by 4 is 23. Which number?"
    for parts in product(OPENERS, REJECTIONS, AFTERWARDS):
        rejection = "".join(parts[:2])
        response = f"3n = 27. {stated}\n{rejection[0].upper()}{rejection[1:]}.{parts[2]}"
        assert not judge(gold="9", response=response, question=question).equal, response
        assert judge(gold="9", response=f"{response} So the answer is 9.", question=question).equal, response
    for remark in REMARKS:
        response = f"3n = 27. {stated}\n\n{remark}"
        assert judge(gold="9", response=response, question=question).equal, response


TOTALS = ["Hence {} in total.", "So there are {} of them altogether.", "In total there are {}.", "Therefore we have {}.", "Thus, in conclusion, {}.", "So in all it is {}."]  # fmt: skip


@pytest.mark.parametrize("stated", STATED)
def test_a_later_conclusion_must_agree_with_the_answer(stated: str) -> None:
    question = "A number tripled and lowered by 4 is 23. Which number?"
    for total, mode in product(TOTALS, [Mode.STRICT, Mode.LENIENT]):
        for value, agrees in (("9", True), ("13", False)):
            response = f"3n = 27. {stated}\n\n{total.format(value)}"
            assert judge(gold="9", response=response, question=question, mode=mode).equal is agrees, response
