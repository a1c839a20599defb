"""Files in the shapes that hubs publish, read without any settings."""

from __future__ import annotations

import json

import pytest

from compass.sources.adapters import ADAPTERS
from compass.sources.read import SourceError
from compass.sources.recognise import described, read_as

ASKED = ["How many apples are 2 and 3 apples?", "What is 4 times 7 in all?", "Find the sum of 10 and 8."]
GOLDS = ["5", "28", "18"]
WORKED = [f"We work it out step by step and get at last \\boxed{{{gold}}}." for gold in GOLDS]
LETTERS = ["A", "C", "B"]
CHOICES = [["5", "6", "7"], ["11", "12", "28"], ["17", "18", "19"]]
PRINTED = ["(A) 5\n(B) 6\n(C) 7", "(A) 11\n(B) 12\n(C) 28", "(A) 17\n(B) 18\n(C) 19"]


def rows(**fields):
    """Three rows; a list gives each row its value, anything else stands in all of them."""
    return [{k: v[n] if isinstance(v, list) and len(v) == 3 else v for k, v in fields.items()} for n in range(3)]


def talk(names, roles):
    return [
        [{names[0]: roles[0], names[1]: asked}, {names[0]: roles[1], names[1]: worked}]
        for asked, worked in zip(ASKED, WORKED, strict=True)
    ]


OPEN = {
    "query-response": rows(type="GSM_Rephrased", query=ASKED, response=[f"{w}\n#### {g}" for w, g in zip(WORKED, GOLDS, strict=True)]),
    "expected-answer": rows(problem=ASKED, generated_solution=WORKED, expected_answer=GOLDS, problem_source="math"),
    "sharegpt": rows(id=["x1", "x2", "x3"], conversations=talk(("from", "value"), ("human", "gpt"))),
    "messages": rows(messages=talk(("role", "content"), ("user", "assistant")), dataset="sft"),
    "bare conversation": talk(("role", "content"), ("user", "assistant")),
    "verl": rows(data_source="m", prompt=[[{"role": "user", "content": a}] for a in ASKED], ability="math",
                 reward_model=[{"ground_truth": g, "style": "rule"} for g in GOLDS], extra_info=[{"index": n} for n in range(3)]),
    "instruction-output": rows(instruction=ASKED, input="", output=WORKED),
    "directive-input": rows(instruction="Solve this problem and box the answer.", input=ASKED, output=WORKED),
    "all three": rows(source="olympiads", problem=ASKED, solution=WORKED, messages=talk(("role", "content"), ("user", "assistant"))),
    "solve rates": rows(problem=ASKED, answer=GOLDS, domain="Algebra", llama8b_solve_rate=[0.5, 0.25, 1.0]),
    "names with blanks": rows(**{"Problem ID": ["1", "2", "3"], "QUESTION": ASKED, "Short Answer": GOLDS, "Level": ["1", "2", "1"]}),
    "nested chat": rows(data=[{"messages": m} for m in talk(("role", "content"), ("user", "assistant"))], meta=[{"Gold": g} for g in GOLDS]),
    "object of one": [{f"item {n}": {"question": a, "answer": g}} for n, (a, g) in enumerate(zip(ASKED, GOLDS, strict=True))],
    "announced answers": rows(source="CoT", instruction=ASKED, output=[f"We count on our fingers. The answer is {g}." for g in GOLDS]),
    "golds called solutions": rows(solution=GOLDS, question=ASKED, attempt="Let us think."),
    "objects as JSON": rows(prompt=ASKED, in_source_id=["n1", "n2", "n3"], verification_info=[json.dumps({"ground_truth": g}) for g in GOLDS]),
    "names of textbooks": rows(problem_text=ASKED, answer_latex=[f" {g} " for g in GOLDS], answer_number=GOLDS, problemid=["1.1", "1.2", "1.3"]),
    "names that nobody uses": rows(zz=ASKED, yy=GOLDS),
}  # fmt: skip

CHOICE = {
    "index": rows(question=ASKED, subject="algebra", choices=[["5", "6", "7"], ["11", "12", "28"], ["17", "18", "19"]], answer=[0, 2, 1]),
    "labels and texts": rows(id=["a", "b", "c"], question=ASKED, choices=[{"text": c, "label": ["A", "B", "C"]} for c in CHOICES], answerKey=LETTERS),
    "dictionary": rows(question=ASKED, options=[dict(zip("ABC", c, strict=True)) for c in CHOICES], correct=LETTERS),
    "text": rows(Problem=ASKED, Rationale=WORKED, options=PRINTED, correct=LETTERS),
    "columns": rows(Question=ASKED, A=[c[0] for c in CHOICES], B=[c[1] for c in CHOICES], C=[c[2] for c in CHOICES], **{"Correct Answer": LETTERS}),
    "objects": rows(problem=ASKED, answer_option_list=[[[{"aoVal": v, "content": t}] for v, t in zip("ABC", c, strict=True)] for c in CHOICES], answer_value=LETTERS),
}  # fmt: skip


def published(tmp_path, made):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    source, evidence = described(path)
    return (
        [
            ADAPTERS[source.adapter]({str(n): v for n, v in enumerate(r)} if isinstance(r, list) else r, source)
            for r in made
        ],
        source,
        evidence,
    )


@pytest.mark.parametrize("shape", OPEN)
def test_problems_and_golds_are_read(tmp_path, shape):
    read, source, evidence = published(tmp_path, OPEN[shape])
    assert [row.answer for row in read] == GOLDS
    assert [row.problem.splitlines()[-1] for row in read] == ASKED
    assert source.problem_field in "\n".join(evidence)


@pytest.mark.parametrize("shape", CHOICE)
def test_options_are_read(tmp_path, shape):
    read, _, _ = published(tmp_path, CHOICE[shape])
    assert [row.answer for row in read] == LETTERS
    assert [row.problem for row in read] == [
        f"{asked}\n{printed}" for asked, printed in zip(ASKED, PRINTED, strict=True)
    ]


def test_a_question_is_joined_to_the_text_it_refers_to(tmp_path):
    read, source, _ = published(
        tmp_path, rows(Body=["Ann has 2.", "Bob has 4.", "Cid has 9."], Question=ASKED, Answer=GOLDS)
    )
    assert source.problem_field == "Body, Question"
    assert read[0].problem == f"Ann has 2.\n{ASKED[0]}"


def test_levels_and_ids_are_named_and_an_id_that_repeats_is_not(tmp_path):
    made = OPEN["names with blanks"]
    assert published(tmp_path, made)[1].model_dump(include={"id_field", "level_field"}) == {
        "id_field": "Problem ID",
        "level_field": "Level",
    }
    late = [
        dict(made[n % 3], **{"Problem ID": str(min(n, 250)), "QUESTION": f"What is {n} and 5?"}) for n in range(300)
    ]
    assert published(tmp_path, late)[1].id_field == ""
    (tmp_path / "late.jsonl").write_text("".join(json.dumps(row) + "\n" for row in late))
    named = {"problem_field": "QUESTION", "answer_field": "", "solution_field": ""}
    assert read_as(tmp_path / "late.jsonl", named)[0].id_field == ""


@pytest.mark.parametrize(
    "made",
    [
        rows(zz=ASKED, yy=ASKED[::-1], answer=GOLDS),
        rows(zz=ASKED, yy=GOLDS, xx=GOLDS[::-1]),
        rows(question=ASKED, answer="a long text that explains at length and marks no answer at all, as some files have it"),
        rows(a=[1, 2, 3], b=[4, 5, 6]),
        rows(question=ASKED, year=[1990, 1991, 1992]),
        rows(question=ASKED, in_source_id=["n1", "n2", "n3"], response="No answer is marked in this long text, which only tells about sums."),
        rows(instruction=ASKED, output=[f"a = {g}\nb = 4\nprint(a * b)" for g in GOLDS]),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_asked(tmp_path, made):
    with pytest.raises(SourceError, match=r"collect\.sources"):
        published(tmp_path, made)


def test_solutions_that_mark_no_answer_are_named(tmp_path):
    with pytest.raises(SourceError, match="of 3 solutions in `informal_proof` mark their answers"):
        published(
            tmp_path,
            rows(informal_statement=ASKED, informal_proof="It follows from what we know about sums of whole numbers."),
        )


def test_conversations_with_follow_ups_are_asked_about(tmp_path):
    talks = [
        [*pair, {"role": "user", "content": "Are you sure?"}]
        for pair in talk(("role", "content"), ("user", "assistant"))
    ]
    with pytest.raises(SourceError, match=r"speaks more than once.*messages\.0\.content"):
        published(tmp_path, rows(messages=talks))


def test_a_worked_answer_without_a_mark_is_no_gold(tmp_path):
    told = [f"{w}\n#### {g}" for w, g in zip(WORKED, GOLDS, strict=True)]
    read, source, _ = published(
        tmp_path,
        rows(
            question=ASKED,
            answer=[*told[:2], "We add ten and eight and get eighteen, unless I have made a mistake somewhere."],
        ),
    )
    assert source.answer_field == ""
    assert [row.answer for row in read] == [*GOLDS[:2], ""]
