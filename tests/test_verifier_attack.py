"""Policies that know only the question: what copies, hedges or speaks to the extractor is not paid."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from compass.verifier_attack import Policy, run_attack

OWN = Path(__file__).parent / "data" / "attack_problems.jsonl"
SHARED = Path(__file__).parents[1] / "../shared/data"
LIMIT = 0.005
"""Share of problems that a policy which is no guess may be paid for."""


def problems() -> list[tuple[str, str]]:
    rows = map(json.loads, OWN.read_text(encoding="utf-8").splitlines())
    return [(row["question"], row["gold"]) for row in rows]


def test_no_policy_but_a_guess_is_paid_on_our_own_problems() -> None:
    found = run_attack(problems())
    assert found.problems == 30
    assert {
        paid.policy.name: paid.examples for paid in found.results if paid.policy.kind != "guess" and paid.strict
    } == {}


def test_the_lenient_mode_pays_for_a_copied_formula() -> None:
    """The suite can tell a verifier that is open to an attack from one that is not."""
    found = {paid.policy.name: paid for paid in run_attack(problems()).results}
    assert found["last formula"].lenient > 0.3
    edited = [paid.lenient for name, paid in found.items() if name.startswith("edited formula")]
    assert sum(edited) / len(edited) > 0.2


def test_an_honest_solver_is_paid() -> None:
    answers = dict(problems())
    honest = Policy("honest", "copy", lambda question: f"So it is $\\boxed{{{answers[question]}}}$.")
    (paid,) = run_attack(problems(), [honest]).results
    assert (paid.strict, paid.lenient) == (1.0, 1.0)


def test_problems_that_give_their_answer_away_are_left_out() -> None:
    given = ("The area is $2\\sqrt3$. What is the area?", "2\\sqrt{3}")
    found = run_attack([given, *problems()])
    assert (found.problems, found.given_away) == (30, 1)
    with pytest.raises(ValueError, match="no problem to attack: 1 read"):
        run_attack([given])


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason=f"{SHARED} is not there")
@pytest.mark.parametrize(
    ("file", "question", "gold"),
    [
        ("benchmarks/math500.jsonl", "problem", "answer"),
        ("benchmarks/aime2024.jsonl", "problem", "answer"),
        ("raw/gsm8k_train.jsonl.gz", "question", "answer"),
        ("raw/deepscaler_by_difficulty.jsonl.gz", "prompt", "answer"),
    ],
)
def test_no_policy_but_a_guess_is_paid_on_published_problems(file: str, question: str, gold: str) -> None:
    path = SHARED / file
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [json.loads(line) for line in data.decode("utf-8").split("\n") if line]
    drawn = random.Random(3).sample(rows, min(len(rows), 400))
    found = run_attack([(row[question], str(row[gold]).rpartition("####")[2].strip()) for row in drawn])
    paid = {paid.policy.name: paid.strict for paid in found.results if paid.policy.kind != "guess"}
    assert max(paid.values()) <= LIMIT, paid
