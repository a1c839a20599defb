"""Sampled responses scored, and texts that end in a loop."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

from compass.loops import LEAST, LONGEST, REPEATS, ends_in_loop
from compass.sampling.score import is_bare_answer, score_responses

OUTPUTS = Path(__file__).parents[2] / "../shared/data/model_outputs/qwen25_math_cot_100x8.jsonl.gz"


def score(gold: str, *responses: str) -> list[dict]:
    rows = pa.table({"id": ["p"] * len(responses), "response": list(responses)})
    return score_responses(rows, {"p": gold}).to_pylist()


def test_right_wrong_and_missing_answers():
    right, wrong, empty, cut = score(r"\frac{1}{2}", r"so \boxed{0.5}", r"so \boxed{2}", "", r"so \boxed{0.")
    assert right["operations"] == wrong["operations"] == 0
    assert (right["answer"], right["correct"], right["boxed"]) == ("0.5", True, True)
    assert (wrong["correct"], wrong["boxed"]) == (False, True)
    assert (empty["answer"], empty["correct"], empty["boxed"]) == (None, False, False)
    assert (cut["answer"], cut["correct"], cut["boxed"]) == (None, False, False)


def test_the_strict_outcome_is_told_and_a_missing_answer_is_one_of_its_own():
    rows = score(r"\frac{1}{2}", r"\boxed{0.5}", r"\boxed{2}", r"\boxed{\frac{1}{}", "I give up.", r"\boxed{a\over}")
    assert [row["outcome"] for row in rows[:2]] == ["equal", "different"]
    assert rows[3]["outcome"] == "none"
    assert [row["method"] is None for row in rows] == [row["outcome"] == "none" for row in rows]


def test_an_answer_that_only_the_lenient_mode_reads_is_told_apart():
    (row,) = score("12", "There are four rows.\n```output\n12\n```")
    assert (row["answer"], row["correct"], row["outcome"]) == (None, False, "none")
    assert (row["answer_lenient"], row["correct_lenient"]) == ("12", True)


@pytest.mark.parametrize(
    ("text", "answer", "bare"),
    [
        (r"\boxed{10}", "10", True),
        (r"The final answer to this question is $\boxed{\frac{1}{2} + 4}$.", r"\frac{1}{2} + 4", True),
        ("The answer is (B).", "B", True),
        ("28-5=23, so 23", "23", False),
        (r"28-5=23, \boxed{23}", "23", False),
        (r"As $\sqrt{x} = y$ holds, \boxed{y^2}.", "y^2", False),
        ("Ann sits beside Bob, who sits beside Cleo, and she is not the first, so Bob it is.", "Bob", False),
        ("I do not know.", None, False),
        ("", None, False),
    ],
)
def test_a_bare_answer_shows_no_work(text, answer, bare):
    assert is_bare_answer(text, answer) is bare


def test_a_response_to_an_unknown_problem_is_an_error():
    with pytest.raises(KeyError, match="q"):
        score_responses(pa.table({"id": ["q"], "response": ["1"]}), {"p": "1"})


@pytest.mark.skipif(not OUTPUTS.exists(), reason=f"{OUTPUTS} is not there")
def test_published_scores_of_real_responses_are_found_again():
    with gzip.open(OUTPUTS, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = [(str(row["idx"]), text) for row in rows for text in row["code"]]
    published = [bool(mark) for row in rows for mark in row["score"]]
    responses = pa.table({"id": [name for name, _ in texts], "response": [text for _, text in texts]})
    scored = score_responses(responses, {str(row["idx"]): row["gt"] for row in rows})
    agreed = sum(ours == theirs for ours, theirs in zip(scored.column("correct").to_pylist(), published, strict=True))
    assert agreed / len(published) >= 0.99


STEP = "Now we multiply both sides by two and we get the same equation again. "
LONG = "".join(
    f"Case {n}: the remainder modulo {n + 7} is {n * n % (n + 7)}, which does not divide the sum. " for n in range(20)
)


@pytest.mark.parametrize(
    "text",
    [
        "We begin. " + STEP * 4,
        "We begin. " + STEP * 40,
        "We begin. " + STEP * 6 + STEP[:17],  # cut off by the token limit
        "First. " + LONG * 4,
        "The decimal is 0." + "3" * LEAST,
        "$$" + r"\frac{1}{2}+" * 30,
        "x" + "\n" * 300,
    ],
)
def test_a_passage_repeated_to_the_end_is_a_loop(text):
    assert ends_in_loop(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        STEP * 3,
        STEP * 40 + r"So the answer is $\boxed{12}$.",  # it left the loop again
        LONG,
        "The decimal is 0." + "3" * (LEAST // 2),
        "".join(f"Step {n}: add {n} to the total, which makes {n * (n + 1) // 2}.\n" for n in range(400)),
        "| n | f(n) |\n" + "".join(f"| {n} | {n % 3} |\n" for n in range(120)),
        "We check each pair in turn. " * 3 + "None fits, so the answer is 0.",
    ],
)
def test_an_honest_text_is_no_loop(text):
    assert not ends_in_loop(text)


def test_the_thresholds_are_where_they_are_said_to_be():
    unit = "".join(random.Random(0).choices("abcdefghij klmnop", k=LEAST // REPEATS))
    assert ends_in_loop("start " + unit * REPEATS)
    assert not ends_in_loop("start " + unit * (REPEATS - 1))
    assert not ends_in_loop("start " + (unit * REPEATS)[1:][: LEAST - 2])
    longest = "".join(random.Random(1).choices("abcdefghij klmnop", k=LONGEST))
    assert ends_in_loop(longest * REPEATS)
    assert not ends_in_loop((longest + "x") * REPEATS)


def test_it_agrees_with_a_plain_search_for_every_period():
    rng = random.Random(2)

    def plain(text):
        tail = text[-REPEATS * LONGEST :]
        return any(
            (covered := max(LEAST, REPEATS * period)) <= len(tail)
            and tail[-covered + period :] == tail[-covered:-period]
            for period in range(1, min(LONGEST, len(tail)) + 1)
        )

    found = []
    for _ in range(600):
        unit = "".join(rng.choices("ab", k=rng.randint(1, 70)))
        text = (
            "".join(rng.choices("ab", k=rng.randint(0, 40)))
            + unit * rng.randint(1, 9)
            + "".join(rng.choices("ab", k=rng.randint(0, 1)))
        )
        assert ends_in_loop(text) == plain(text), text
        found.append(plain(text))
    assert 100 < sum(found) < 500
