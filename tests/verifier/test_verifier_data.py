"""Accuracy on published labelled cases, where the folder that holds them lies beside the repository."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from compass.verifier import Mode, Outcome, answer_type, extract_answer, judge, verify

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not (SHARED / "verifier").is_dir(), reason=f"no labelled cases in {SHARED}")


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file of cases, those with prose around the answer left out."""
    lines = (SHARED / "verifier" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if not row.get("needs_extraction")]


@pytest.mark.parametrize(
    ("name", "accuracy", "false_positives"), [("mix", 0.998, 0), ("cases", 0.98, 3), ("parser", 0.93, 3)]
)
def test_accuracy(name: str, accuracy: float, false_positives: int) -> None:
    cases = rows(name)
    verdicts = [verify(gold=row["gold"], answer=row["pred"]).equal for row in cases]
    assert sum(got and not row["label"] for got, row in zip(verdicts, cases, strict=True)) <= false_positives
    assert sum(got == row["label"] for got, row in zip(verdicts, cases, strict=True)) / len(cases) >= accuracy


@pytest.mark.parametrize("name", ["mix", "cases", "parser"])
def test_the_last_resort_is_rare(name: str) -> None:
    methods = [verify(gold=row["gold"], answer=row["pred"]).method for row in rows(name)]
    assert methods.count("sympy") <= 0.003 * len(methods)


@pytest.mark.parametrize("name", ["mix", "cases", "parser"])
def test_swapping_changes_no_outcome(name: str) -> None:
    for row in rows(name):
        assert (
            verify(gold=row["gold"], answer=row["pred"]).outcome is verify(gold=row["pred"], answer=row["gold"]).outcome
        ), row


def test_prose_around_an_answer() -> None:
    lines = (SHARED / "verifier" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [row for row in map(json.loads, lines) if row.get("needs_extraction")]
    right = 0
    for row in cases:
        gold = extract_answer(row["gold"]) if "boxed" in row["gold"] else row["gold"]
        answer = extract_answer(row["pred"])
        right += bool(gold and answer and verify(gold=gold, answer=answer).equal) == row["label"]
    assert right / len(cases) >= 0.9


def perturbed(gold: str) -> str | None:
    """A copy with one digit changed; None where there is no digit."""
    digits = [match.start() for match in re.finditer(r"\d", gold)]
    if not digits:
        return None
    at = random.Random(gold).choice(digits)
    return gold[:at] + str((int(gold[at]) + 1) % 10) + gold[at + 1 :]


def test_golds_are_recognised_equal_to_themselves_and_different_from_a_perturbed_copy() -> None:
    golds = [row["gold"] for row in rows("gold_answers")]
    recognised = sum(answer_type(gold) != "unrecognised" for gold in golds)
    itself = sum(verify(gold=gold, answer=f"$ {gold} $").equal for gold in golds)
    changed = [(gold, copy) for gold in golds if (copy := perturbed(gold)) is not None]
    confused = [pair for pair in changed if verify(gold=pair[0], answer=pair[1]).outcome is Outcome.EQUAL]
    assert recognised / len(golds) >= 0.99
    assert itself / len(golds) >= 0.99
    assert len(confused) / len(changed) <= 0.002, confused


@pytest.mark.parametrize(
    ("name", "against_label"),
    [("qwen25_math_cot_100x8", 12), ("rho-math-1b-v0.1__minerva_math", 25), ("rho-math-7b-v0.1__minerva_math", 12)],
)
def test_raw_responses_agree_with_published_labels(name: str, against_label: int) -> None:
    disagree = total = 0
    with gzip.open(SHARED / "model_outputs" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            for response, label in zip(row["code"], row["score"], strict=True):
                answer = extract_answer(response)
                total += 1
                disagree += (answer is not None and verify(gold=row["answer"], answer=answer).equal) != label
    assert total >= 500
    assert disagree <= against_label


WAYS = {
    "box": "Thus \\boxed{%s}.",
    "display": "So we get\n$$\\boxed{%s}$$",
    "sentence": "We compute. The answer is $%s$.",
    "label": "Steps.\n\nAnswer: %s",
    "hashes": "Steps\n#### %s",
    "tag": "<think>x</think><answer>%s</answer>",
    "field": 'Done.\n{"reasoning": "...", "answer": "%s"}',
    "heading": "Steps.\n\n**Final Answer**\n\n$%s$",
    "minerva": "Final Answer: The final answer is $%s$. I hope it is correct.",
}


@pytest.mark.parametrize("way", WAYS)
def test_published_answers_are_read_in_every_way_to_give_one(way: str) -> None:
    golds = [row["gold"] for row in rows("gold_answers")][:: 4 if way == "field" else 2]
    plain = [gold for gold in golds if not re.search(r'[$"\n]|boxed', gold) and verify(gold=gold, answer=gold).equal]
    missed = [gold for gold in plain if not judge(gold=gold, response=WAYS[way] % gold, mode=Mode.LENIENT).equal]
    assert len(plain) > 1000
    assert len(missed) / len(plain) <= 0.01, missed
