"""A warm start trains with verl, goes on where it was stopped, and starts anew where what decides its result has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError
from transformers import AutoTokenizer

from compass.base.warm_start.config import sft_config
from compass.base.warm_start.launch import WarmStartError, train
from compass.settings import WarmStart
from stages import base
from tests.base.warm_start.test_examples import record, records


def settings(**changes: Any) -> WarmStart:
    values = {
        "sources": ["words"],
        "batch_size": 4,
        "steps": 3,
        "learning_rate": 3e-3,
        "warmup_steps": 0,
        "save_every": 2,
    }
    return WarmStart(**{**values, "dtype": "float32", "micro_batch_size": 3, **changes})


@pytest.mark.parametrize(("gpus", "batch", "expected"), [(0, 4, 2), (0, 3, 3), (2, 8, 2), (8, 8, 1)])
def test_the_configuration_is_one_that_verl_reads(tmp_path: Path, gpus: int, batch: int, expected: int) -> None:
    from verl.utils.config import omega_conf_to_dataclass

    ours = settings(gpus=gpus, batch_size=batch)
    config = sft_config(ours, model=tmp_path, examples=tmp_path / "e", checkpoints=tmp_path / "c")
    assert config.data.micro_batch_size_per_gpu == expected
    assert config.trainer.device == ("cuda" if gpus else "cpu")
    for part in ("engine", "optim", "checkpoint"):
        omega_conf_to_dataclass(config[part])


def test_a_batch_that_the_gpus_cannot_share_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"`batch_size` \(4\) must be a multiple of `gpus` \(8\)"):
        settings(gpus=8, batch_size=4)


@pytest.mark.slow
def test_a_stopped_warm_start_goes_on_and_lowers_the_loss(tmp_path: Path, random_model, monkeypatch) -> None:
    from compass.settings import load_settings

    table = records(*(record(number) for number in range(40)))
    kept = tmp_path / "kept.parquet"
    _write(table, kept)
    model = random_model(tmp_path / "given", 0)
    ours = load_settings(Path(__file__).parents[3] / "params.yaml")
    short = ours.model_copy(
        update={"base": ours.base.model_copy(update={"pretrain": None, "model": str(model), "warm_start": settings()})}
    )
    long = short.model_copy(update={"base": short.base.model_copy(update={"warm_start": settings(steps=12)})})
    base.run(short, tmp_path / "short", tmp_path / "work", kept)
    course = next((tmp_path / "work").glob("warm-*"))
    assert (course / "checkpoints" / "global_step_3").is_dir()

    summary = base.run(long, tmp_path / "long", tmp_path / "work", kept)
    assert next((tmp_path / "work").glob("warm-*")) == course
    steps = [line for line in (course / "metrics.live.jsonl").read_text().splitlines() if '"step"' in line]
    assert len(steps) == 9  # 4 to 12: none of the first three again
    assert summary.metrics["loss_last"] < summary.metrics["loss_first"]
    assert AutoTokenizer.from_pretrained(tmp_path / "long").eos_token == "<|im_end|>"
    assert (tmp_path / "long" / "README.md").read_text().count("12 steps of 4 worked solutions") == 1

    other = settings(steps=12, learning_rate=1.0e-3, max_tokens=4)  # no example fits
    with pytest.raises(ValueError, match="examples are left"):
        base.run(
            long.model_copy(update={"base": long.base.model_copy(update={"warm_start": other})}),
            tmp_path / "none",
            tmp_path / "work",
            kept,
        )
    assert course.is_dir()  # what was trained is not lost to a slip


@pytest.mark.slow
def test_a_trainer_that_fails_tells_the_end_of_its_log(tmp_path: Path, random_model) -> None:
    import pyarrow.parquet as pq

    from compass.base.warm_start.examples import EXAMPLES

    examples = tmp_path / "examples.parquet"
    rows = [{"id": str(n), "prompt": [5, 6], "response": [900_000], "text": ""} for n in range(8)]  # no such token
    pq.write_table(pa.Table.from_pylist(rows, EXAMPLES), examples)
    with pytest.raises(WarmStartError, match="stopped at step 0 of 3"):
        train(settings(), model=random_model(tmp_path / "m", 0), examples=examples, work=tmp_path / "work")


def _write(table: pa.Table, path: Path) -> None:
    from compass.records import write_records

    write_records(path, table)
