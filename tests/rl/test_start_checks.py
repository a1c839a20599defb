"""Settings that do not fit a stage's problems, its model or this machine, told before anything starts."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.rl.start_checks import StartError, check_start
from compass.settings import RlStage, load_settings

ROOT = Path(__file__).resolve().parents[2]
PAPER = load_settings(ROOT / "profiles/paper.yaml").rl.stages["rl-1"]
QWEN = {"num_attention_heads": 28, "max_position_embeddings": 4096}  # of Qwen2.5-Math-7B


def started(folder: Path, settings: RlStage = PAPER, problems: int = 128, model: dict[str, Any] = QWEN) -> None:
    (folder / "config.json").write_text(json.dumps(model))
    pq.write_table(pa.table({"prompt": ["1 + 1"] * problems}), folder / "train.parquet")
    check_start("rl-1", settings, model=folder, train=folder / "train.parquet")


def changed(**groups: dict[str, Any]) -> RlStage:
    return PAPER.model_copy(
        update={name: getattr(PAPER, name).model_copy(update=changes) for name, changes in groups.items()}
    )


def test_the_papers_stage_fits_its_model(tmp_path: Path) -> None:
    started(tmp_path)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"problems": 127},
            "rl-1: 127 training problems are fewer than `rl.data.batch_size` (128), so that no iteration can be filled; "
            "lower it, or give the stage more: `curriculum.problems`, `curriculum.mixes.rl-1`",
        ),
        (
            {"settings": changed(resources={"tensor_parallel": 8})},
            "rl-1: `resources.tensor_parallel` (8) must divide the 28 attention heads",
        ),
        ({"settings": changed(resources={"tensor_parallel": 8})}, "possible: 1, 2, 4, 7"),
        (
            {"settings": changed(resources={"sequence_parallel": 8})},
            "rl-1: `resources.sequence_parallel` (8) must divide the 28 attention heads",
        ),
        (
            {"settings": changed(data={"max_prompt_tokens": 1025})},
            "rl-1: `data.max_prompt_tokens` + `rollout.max_response_tokens` (4097) is more than the 4096 tokens",
        ),
        (
            {"settings": changed(resources={"attention": "flash_attention_2"})},
            "rl-1: `resources.attention: flash_attention_2` needs the package flash-attn, which is not installed",
        ),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    with pytest.raises(StartError) as error:
        started(tmp_path, **given)
    assert told in str(error.value)


def test_a_model_that_publishes_no_limits_is_not_held_to_any(tmp_path: Path) -> None:
    started(tmp_path, model={})


def test_a_model_without_a_configuration_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"prompt": ["1 + 1"] * 128}), tmp_path / "train.parquet")
    with pytest.raises(StartError, match=r"config\.json cannot be read as a model's configuration"):
        check_start("rl-1", PAPER, model=tmp_path, train=tmp_path / "train.parquet")
