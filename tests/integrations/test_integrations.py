"""The verifier as other projects call it: by their own code where the project is installed, else by its calling convention."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from compass.integrations.lm_eval import process_results
from compass.integrations.math_verify import parse, verify
from compass.integrations.trl import accuracy_reward
from compass.integrations.verl import compute_score

RIGHT, WRONG = r"Half of one: \boxed{\frac{1}{2}}", r"Half of one: \boxed{\frac{1}{3}}"


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("0.5", ["0.5"]),
        (r"$\frac{1}{2}$", [r"$\frac{1}{2}$"]),
        ("x = 3", ["x = 3"]),
        ("(1, 2)", ["(1, 2)"]),
        ("yes", ["yes"]),
        (RIGHT, [r"\frac{1}{2}"]),
        ("We add both. The answer is 12.", ["12"]),
        ("", []),
        ("a circle around the origin", ["a circle around the origin"]),
        (r"\frac{1}{", []),
    ],
)
def test_parse_finds_the_answer(text: str, answers: list[str]) -> None:
    assert parse(text, parsing_timeout=5) == answers


def test_verify_takes_what_parse_gives_and_plain_text() -> None:
    assert verify(parse("0.5"), parse(RIGHT), timeout_seconds=5)
    assert not verify(parse("0.5"), parse(WRONG))
    assert verify("0.5", r"\frac12")
    assert verify(["1", "2"], ["3", "2"])
    assert not verify([], ["1"])


def test_parse_takes_text_alone() -> None:
    with pytest.raises(TypeError, match="found float"):
        parse(0.5)  # type: ignore[arg-type]


def test_a_reward_function_of_trl() -> None:
    chats = [[{"role": "assistant", "content": text}] for text in (RIGHT, WRONG, RIGHT)]
    golds = ["0.5", "0.5", r"\frac{1}{"]
    assert accuracy_reward(chats, golds, prompts=["?"] * 3, trainer_state=None) == [1.0, 0.0, None]
    assert accuracy_reward(completions=[RIGHT, WRONG], solution=["0.5", "0.5"]) == [1.0, 0.0]
    asked = [[{"role": "user", "content": "Work out $3^2 - 4$."}]] * 2
    assert accuracy_reward([r"\boxed{3^2-4}", r"\boxed{5}"], ["5", "5"], prompts=asked) == [0.0, 1.0]
    with pytest.raises(ValueError, match="zip"):
        accuracy_reward([RIGHT], [])


SOLUTIONS = [
    r"We have $2x = 1$. The answer is $\boxed{\frac{1}{2}}$.",
    r"Adding the two, we get \boxed{\frac{1}{2}}.",
    "1. Halve 1.\n2. Then $n=0.5$.\n\nThe final answer is $\\boxed{0.5}$",
    "She ate 1/2 = <<1/2=0.5>>0.5 of it.\n#### 0.5",
    "We halve 1. The answer is 0.5.",
    0.5,
    ["0.5"],
]


@pytest.mark.parametrize("solution", SOLUTIONS)
def test_the_gold_of_a_whole_solution_is_its_final_answer(solution: Any) -> None:
    assert accuracy_reward([RIGHT, WRONG], [solution] * 2) == [1.0, 0.0]
    assert process_results({"answer": solution}, [RIGHT]) == {"compass_accuracy": 1.0}
    assert process_results({"answer": None, "solution": solution}, [WRONG]) == {"compass_accuracy": 0.0}


@pytest.mark.parametrize("gold", ["", None, "the sum of the two", r"\frac{1}{"])
def test_a_gold_without_an_answer_is_not_half_read(gold: str | None) -> None:
    assert accuracy_reward([r"\boxed{none}", "2"], [gold] * 2) in ([None, None], [0.0, 0.0])


def test_a_reward_of_verl_through_its_own_manager() -> None:
    pytest.importorskip("verl")
    found = asyncio.run(verl_scores(RIGHT, WRONG))
    assert [row["reward_score"] for row in found] == [1.0, -1.0]
    assert [row["reward_extra_info"]["acc"] for row in found] == [1.0, 0.0]


async def verl_scores(*responses: str) -> list[dict[str, Any]]:
    """What verl's naive reward manager makes of responses to the gold 0.5."""
    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

    class Tokenizer:
        """Tokens are code points."""

        def decode(self, tokens: torch.Tensor, **_: Any) -> str:
            return "".join(map(chr, tokens.tolist()))

    manager = NaiveRewardManager(OmegaConf.create({}), Tokenizer(), compute_score)
    found = []
    for response in responses:
        tokens = torch.tensor([[ord(sign) for sign in response]])
        batch = {
            "prompts": torch.tensor([[65]]),
            "responses": tokens,
            "attention_mask": torch.ones(1, 1 + tokens.shape[1], dtype=torch.long),
        }
        arrays = {
            "data_source": np.array(["set"], dtype=object),
            "reward_model": np.array([{"ground_truth": "0.5"}], dtype=object),
        }
        found.append(await manager.run_single(DataProto.from_dict(tensors=batch, non_tensors=arrays)))
    return found


@pytest.mark.parametrize("doc", [{"answer": "0.5"}, {"solution": RIGHT}, {"target": "1/2"}])
def test_results_of_lm_evaluation_harness(doc: dict[str, str]) -> None:
    assert process_results(doc, [RIGHT]) == {"compass_accuracy": 1.0}
    assert process_results(doc, [WRONG, RIGHT]) == {"compass_accuracy": 0.0}


def test_a_problem_without_a_gold_is_an_error() -> None:
    with pytest.raises(KeyError, match="found question"):
        process_results({"question": "?"}, [RIGHT])


def test_a_metric_of_lighteval() -> None:
    pytest.importorskip("lighteval")
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    from compass.integrations.lighteval import math_accuracy

    metric = math_accuracy("right")
    doc = Doc(query="?", choices=["0.5"], gold_index=0)
    scores = [metric.compute_sample(doc=doc, model_response=ModelResponse(text=[text])) for text in (RIGHT, WRONG)]
    assert scores == [{"right": 1.0}, {"right": 0.0}]
    assert metric.get_corpus_aggregations()["right"]([score["right"] for score in scores]) == 0.5
