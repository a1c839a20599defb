"""A stage with LoRA trains, goes on from its checkpoint, and its model is the start with the trained matrices merged into it.

About four minutes; `COMPASS_DEBUG_RUN` as in test_estimators_train.py.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from compass.records import read_records
from compass.rl.checkpoint import checkpoint_folder
from compass.rl.export import ADAPTER
from stages.rl import run
from tests.rl.debug_stage import INPUTS, iterations, settings, weights
from tests.rl.several import TOLERANCE, assert_same_weights

pytestmark = pytest.mark.recipes

RECIPE = {
    "lora": {"rank": 8, "alpha": 16},
    "optimizer": {"learning_rate": 2e-3, "mini_batch_size": 4},
    "loss": {"kl_coef": 0.001},
    "rollout": {"reproducible": True},
}
SHORT, LONG = 2, 4


def with_adapter(root: Path) -> Any:
    """The model that the stage started from with the matrices of its last checkpoint beside its weights, as peft runs them."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    saved = next((root / "work/rl-1").glob("*/checkpoints"))
    actor = checkpoint_folder(saved, LONG) / "actor"
    given = json.loads((actor / ADAPTER).read_text())
    base = AutoModelForCausalLM.from_pretrained(root / "models/base", dtype="float32")
    model = get_peft_model(base, LoraConfig(r=given["r"], lora_alpha=given["lora_alpha"], target_modules="all-linear"))
    shards = torch.load(actor / "model_world_size_1_rank_0.pt", weights_only=False)
    matrices = {name: tensor.to_local() for name, tensor in shards.items()}
    assert matrices.keys() == {name for name in model.state_dict() if "lora_" in name}
    model.load_state_dict(matrices, strict=False)
    return model.eval()


def answer(model: Any, root: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Greedy responses to the first problems of the curriculum, one row each, and the logits of all of their tokens."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(root / "models/base", padding_side="left")
    problems = read_records(root / "data/curriculum/kept.parquet")["problem"].to_pylist()[:24]
    messages = [[{"role": "user", "content": problem}] for problem in problems]
    prompts = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, padding=True, return_tensors="pt", return_dict=True
    )
    with torch.no_grad():
        whole = model.generate(**prompts, max_new_tokens=32, do_sample=False)
        return whole, model(whole).logits


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, finished_debug: Path) -> Path:
    """A folder in which a stage of two iterations was made one of four."""
    import shutil

    root = tmp_path_factory.mktemp("lora")
    for name in INPUTS:
        shutil.copytree(finished_debug / name, root / name)
    run(settings(RECIPE, steps=SHORT), "rl-1", root)
    run(settings(RECIPE, steps=LONG), "rl-1", root)
    return root


def test_rollouts_are_of_the_merged_weights_and_the_reference_is_without_the_matrices(trained: Path) -> None:
    rows = iterations(trained)
    assert len(rows) == LONG
    assert all(row["training/rollout_probs_diff_max"] < 1e-4 for row in rows)
    assert all(row["actor/grad_norm"] > 0 for row in rows)
    # a reference with the matrices would be the policy itself, at no distance
    assert all(row["actor/kl_loss"] > 0 for row in rows)


def test_the_model_is_the_start_with_the_matrices_merged(trained: Path) -> None:
    from transformers import AutoModelForCausalLM

    merged = AutoModelForCausalLM.from_pretrained(trained / "models/rl-1", dtype="float32").eval()
    ours, logits = answer(merged, trained)
    theirs, expected = answer(with_adapter(trained), trained)
    assert torch.equal(ours, theirs)
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)
    before, _ = answer(AutoModelForCausalLM.from_pretrained(trained / "models/base", dtype="float32").eval(), trained)
    assert before.shape != ours.shape or not torch.equal(before, ours)
    assert weights(trained / "models/rl-1").keys() == weights(trained / "models/base").keys()


def test_a_stage_that_goes_on_from_its_checkpoint_ends_where_one_run_does(trained: Path, debug_root: Path) -> None:
    run(settings(RECIPE, steps=LONG), "rl-1", debug_root)
    base = weights(trained / "models/base")
    assert_same_weights(weights(debug_root / "models/rl-1"), weights(trained / "models/rl-1"), base, TOLERANCE)
