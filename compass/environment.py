"""Environment variables every process of the pipeline runs with: no telemetry, no files of DVC's outside the repository, and
threads that wait without spinning.

The Makefile exports the same variables; `apply` gives them to a plain `dvc repro` too. Values already set win.
"""

from __future__ import annotations

import os
from pathlib import Path

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


def dvc_variables(root: Path) -> dict[str, str]:
    """Keeps what DVC remembers of files and remotes in the repository at `root`; in /var/tmp/dvc otherwise."""
    return {"DVC_SITE_CACHE_DIR": str(root.resolve() / ".compass" / "dvc")}


def apply(root: Path | None = None) -> None:
    """Set the variables of `QUIET`, and with the root of a repository DVC's, where they are not set yet.

    They count for this process and those it starts.
    """
    for name, value in (QUIET | (dvc_variables(root) if root else {})).items():
        os.environ.setdefault(name, value)
