"""The training problems of an RL stage as verl reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import atomic_path
from compass.prompts.registry import find_prompt
from compass.records import RecordError, split_stages
from compass.seeded_draw import draw
from compass.settings import RlStage

ROWS = pa.schema(
    [
        ("data_source", pa.string()),
        ("prompt", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
        ("ability", pa.string()),
        ("reward_model", pa.struct([("style", pa.string()), ("ground_truth", pa.string())])),
        (
            "extra_info",
            pa.struct(
                [
                    ("id", pa.string()),
                    ("level", pa.int64()),
                    ("index", pa.int64()),
                    ("question", pa.string()),
                    ("alternatives", pa.list_(pa.string())),
                    ("tolerance", pa.string()),
                ]
            ),
        ),
    ]
)
"""Columns of verl's parquet. The types are written out: a file in which nobody has alternatives is read like any other."""

VALIDATION = "validation"
"""The data source that verl names validation's metrics after."""


def write_training_set(stage: str, problems: pa.Table, settings: RlStage, tokenizer: Any, path: Path) -> dict[str, int]:
    """Write the problems that `stage` trains on as verl's parquet.

    Args:
        stage: the stage's name; a problem belongs to it when its `stages` column names it.
        problems: the curriculum's records.
        settings: the stage's settings; prompts longer than `data.max_prompt_tokens` are left out.
        tokenizer: the policy's tokenizer, whose chat template makes the prompt unless the settings name one.
        path: the file to write.

    Returns:
        `problems` and `too_long`, the counts of rows written and left out.

    Raises:
        RecordError: no problem is left.
    """
    rows, too_long = [], 0
    prompt = find_prompt(settings.data.model_dump())
    for record in problems.to_pylist():
        if stage not in split_stages(record["stages"]):
            continue
        messages = prompt.messages(record["problem"])
        tokens = tokenizer.apply_chat_template(
            messages,
            chat_template=prompt.chat_template,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
            **prompt.template_kwargs,
        )
        if len(tokens) > settings.data.max_prompt_tokens:
            too_long += 1
            continue
        rows.append(
            {
                "data_source": record["source"],
                "prompt": messages,
                "ability": "math",
                "reward_model": {"style": "rule", "ground_truth": record["answer"]},
                "extra_info": {
                    "id": record["id"],
                    "level": record["level"],
                    "index": len(rows),
                    "question": record["problem"],
                    "alternatives": record["alternatives"] or [],
                    "tolerance": record["tolerance"] or "",
                },
            }
        )
    if not rows:
        raise RecordError(
            f"{stage}: no training problem is left ({too_long} are longer than `data.max_prompt_tokens` = "
            f"{settings.data.max_prompt_tokens}); look at `curriculum.mixes.{stage}` and at data/curriculum"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, ROWS), temporary)
    return {"problems": len(rows), "too_long": too_long}


def hold_out(stage: str, training_set: Path, validation: Path, *, count: int, seed: int) -> int:
    """Move `count` problems from a stage's training set to its validation set.

    Args:
        stage: the stage's name.
        training_set: what `write_training_set` wrote; rewritten without them.
        validation: the file to write; its problems are one data source, `validation`.
        count: how many.
        seed: the run's; the draw depends on it and on the problems' ids alone.

    Returns:
        The problems left for training.

    Raises:
        RecordError: none would be left.
    """
    rows = pq.read_table(training_set).to_pylist()
    if count >= len(rows):
        raise RecordError(
            f"{stage}: `checkpoint.validation_problems` ({count}) leaves none of its {len(rows)} problems to train on; "
            "give a smaller number"
        )
    chosen = set(draw((row["extra_info"]["id"] for row in rows), count, f"{seed} validation"))
    held = [{**row, "data_source": VALIDATION} for row in rows if row["extra_info"]["id"] in chosen]
    left = [row for row in rows if row["extra_info"]["id"] not in chosen]
    for path, kept in ((validation, held), (training_set, left)):
        with atomic_path(path) as temporary:
            pq.write_table(pa.Table.from_pylist(kept, ROWS), temporary)
    return len(left)
