"""Run verl's supervised trainer on a complete configuration: `python -m compass.base.warm_start.train CONFIG.yaml`.

verl loads the examples' dataset from here by name (`data.custom_cls`).
"""

from __future__ import annotations

import sys
from typing import Any

import pyarrow.parquet as pq
import torch
from torch.utils.data import Dataset


class ExampleDataset(Dataset):
    """Examples without padding; the loss is on the response's tokens alone."""

    def __init__(self, parquet_files: str, tokenizer: Any, config: Any, processor: Any = None, max_samples: int = -1):
        table = pq.read_table(str(parquet_files))
        self._prompts = table.column("prompt").to_pylist()
        self._responses = table.column("response").to_pylist()

    def __len__(self) -> int:
        return len(self._prompts)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        """`input_ids`, `position_ids` and `loss_mask`, each of shape (tokens,)."""
        prompt, response = self._prompts[index], self._responses[index]
        ids = torch.tensor([*prompt, *response], dtype=torch.long)
        return {
            "input_ids": ids,
            "position_ids": torch.arange(len(ids)),
            "loss_mask": torch.tensor([0] * len(prompt) + [1] * len(response), dtype=torch.long),
        }


def main(path: str) -> None:
    """Train as the configuration at `path` says; returns when the last step is done and saved."""
    from omegaconf import OmegaConf
    from verl.trainer.sft_trainer import run_sft

    run_sft(OmegaConf.load(path))


if __name__ == "__main__":
    main(sys.argv[1])
