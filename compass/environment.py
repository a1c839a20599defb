"""Environment variables every process of the pipeline runs with: no telemetry, and threads that wait without spinning.

The Makefile exports the same variables; `apply` gives them to a plain `dvc repro` too. Values already set win.
"""

from __future__ import annotations

import os

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DVC_NO_ANALYTICS": "true",
    "WANDB_MODE": "disabled",  # verl imports wandb
    "GIT_PYTHON_REFRESH": "quiet",  # MLflow looks for git at import and complains where there is none
    "OMP_WAIT_POLICY": "PASSIVE",  # threads that wait spinning take the cores from every other process
    "TOKENIZERS_PARALLELISM": "false",  # worker processes are forked after tokenizers were used
    "TORCH_CPP_LOG_LEVEL": "ERROR",  # vLLM's CPU kernels report the NUMA nodes they allocate on as a warning
}
"""Variable to value."""


def apply() -> None:
    """Set the variables of `QUIET` that are not set yet, for this process and those it starts."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
