"""What an RL stage leaves behind: its weights as a model folder, its curves and the rewards of every response."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import atomic_path

WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "config.json")

REWARDS = pa.schema(
    [
        ("step", pa.int32()),
        ("id", pa.string()),
        ("reward", pa.float32()),
        ("response_tokens", pa.int32()),
        ("used", pa.bool_()),  # False: left out as all right, all wrong, or surplus
    ]
)


OPTIMIZER = "optimizer"
"""The folder inside a model folder that holds verl's whole training state."""


def export_model(checkpoint: Path, start: Path, model: Path, *, keep_optimizer: bool = False) -> None:
    """Make a model folder of the weights in a checkpoint.

    Tokenizer and generation settings come from the model that the stage started from, byte for byte: saved again they
    may come back different.

    Args:
        checkpoint: verl's folder of one iteration.
        start: the model folder that the stage started from.
        model: the folder to write, whole or not at all.
        keep_optimizer: also keep the training state, in `optimizer/`.
    """
    building = model.with_name(f".{model.name}.part")
    shutil.rmtree(building, ignore_errors=True)
    weights = checkpoint / "actor" / "huggingface"
    shutil.copytree(start, building, ignore=shutil.ignore_patterns(*WEIGHTS, "compass_origin.json", OPTIMIZER))
    for pattern in WEIGHTS:
        for file in weights.glob(pattern):
            shutil.copy2(file, building / file.name)
    if keep_optimizer:
        shutil.copytree(checkpoint / "actor", building / OPTIMIZER, ignore=shutil.ignore_patterns("huggingface"))
    shutil.rmtree(model, ignore_errors=True)
    building.rename(model)


def start_from_optimizer(model: Path, checkpoints: Path) -> None:
    """Lay a model's kept training state down as the checkpoint of iteration 0, from which verl goes on.

    Does nothing when there is a checkpoint already: an interrupted stage goes on from its own.
    """
    tracker = checkpoints / "latest_checkpointed_iteration.txt"
    if tracker.exists():
        return
    shutil.copytree(model / OPTIMIZER, checkpoints / "global_step_0" / "actor", dirs_exist_ok=True)
    tracker.write_text("0")


def write_curves(metrics: list[dict[str, Any]], path: Path) -> None:
    """Write verl's metrics as CSV, one row an iteration; a metric that an iteration lacks stays empty."""
    columns = ["step", *sorted({name for row in metrics for name in row} - {"step"})]
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(metrics)


def write_rewards(lines: Path, path: Path) -> pa.Table:
    """Write the recorded rewards as parquet, one row a response, ordered by iteration and problem.

    Returns:
        The table, columns as in `REWARDS`.
    """
    rows = []
    for line in lines.read_text(encoding="utf-8").splitlines():
        group = json.loads(line)
        for reward, tokens in zip(group["rewards"], group["tokens"], strict=True):
            rows.append(
                {
                    "step": group["step"],
                    "id": group["id"],
                    "reward": reward,
                    "response_tokens": tokens,
                    "used": group["used"],
                }
            )
    rows.sort(key=lambda row: (row["step"], row["id"]))
    table = pa.Table.from_pylist(rows, schema=REWARDS)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    return table
