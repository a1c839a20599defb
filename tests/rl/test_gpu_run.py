"""A run with GPUs reads nothing of `compass/rl/cpu`: not by an import, not by a name in verl's configuration or environment."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_configuring_and_launching_for_gpus_imports_and_names_nothing_of_it() -> None:
    code = """
import sys
from pathlib import Path
from compass.rl.config import verl_config
from compass.rl.paths import StagePaths
from compass.rl.launch import trainer_environment
from compass.settings import load_settings
from omegaconf import OmegaConf
import stages.rl
settings = load_settings("profiles/paper.yaml")
stage = settings.rl.stages["rl-1"]
paths = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))
print(OmegaConf.to_yaml(verl_config("rl-1", stage, paths, seed=0)))
added = trainer_environment({}, stage.resources, live_metrics=paths.live_metrics)
print(added)
print("imported", [name for name in sys.modules if name.startswith("compass.rl.cpu")])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert "rl.cpu" not in done.stdout
    assert "'RAY_AUTH_TOKEN'" in done.stdout
    assert "n_gpus_per_node: 8" in done.stdout
    assert done.stdout.endswith("imported []\n")
