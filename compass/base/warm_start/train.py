"""Run verl's supervised trainer on a complete configuration: `python -m compass.base.warm_start.train CONFIG.yaml`."""

from __future__ import annotations

import sys


def main(path: str) -> None:
    """Train as the configuration at `path` says; returns when the last step is done and saved."""
    from omegaconf import OmegaConf
    from verl.trainer.sft_trainer import run_sft

    run_sft(OmegaConf.load(path))


if __name__ == "__main__":
    main(sys.argv[1])
