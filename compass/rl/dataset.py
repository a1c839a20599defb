"""The training problems of an RL stage as verl reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import atomic_path
from compass.prompts import chat_messages
from compass.records import RecordError, split_stages
from compass.settings import RlStage


def write_training_set(stage: str, problems: pa.Table, settings: RlStage, tokenizer: Any, path: Path) -> dict[str, int]:
    """Write the problems that `stage` trains on as verl's parquet.

    Args:
        stage: the stage's name; a problem belongs to it when its `stages` column names it.
        problems: the curriculum's records.
        settings: the stage's settings; prompts longer than `data.max_prompt_tokens` are left out.
        tokenizer: the policy's tokenizer, whose chat template makes the prompt.
        path: the file to write.

    Returns:
        `problems` and `too_long`, the counts of rows written and left out.

    Raises:
        RecordError: no problem is left.
    """
    rows, too_long = [], 0
    for record in problems.to_pylist():
        if stage not in split_stages(record["stages"]):
            continue
        messages = chat_messages(
            record["problem"], system_prompt=settings.data.system_prompt, prompt_suffix=settings.data.prompt_suffix
        )
        tokens = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)
        if len(tokens) > settings.data.max_prompt_tokens:
            too_long += 1
            continue
        rows.append(
            {
                "data_source": record["source"],
                "prompt": messages,
                "ability": "math",
                "reward_model": {"style": "rule", "ground_truth": record["answer"]},
                "extra_info": {"id": record["id"], "level": record["level"], "index": len(rows)},
            }
        )
    if not rows:
        raise RecordError(
            f"{stage}: no training problem is left ({too_long} are longer than `data.max_prompt_tokens` = "
            f"{settings.data.max_prompt_tokens}); look at `curriculum.mixes.{stage}` and at data/curriculum"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows), temporary)
    return {"problems": len(rows), "too_long": too_long}
