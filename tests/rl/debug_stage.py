"""The first RL stage of profile `debug` with other settings, in a folder that holds what it reads."""

import csv
from pathlib import Path
from typing import Any

import yaml

from compass.settings import Settings

ROOT = Path(__file__).resolve().parents[2]

INPUTS = ("models/base", "data/curriculum")
"""What the stage reads."""


def settings(recipe: dict[str, Any], steps: int, **stage: Any) -> Settings:
    """Profile `debug` with a recipe's values over its own, and so many iterations in its first stage.

    Args:
        recipe: groups of `rl` to their values.
        steps: iterations.
        stage: further settings of the stage alone, such as `init_from`.
    """
    tree = yaml.safe_load((ROOT / "profiles/debug.yaml").read_text())
    tree["rl"] |= {group: tree["rl"][group] | values for group, values in recipe.items()}
    tree["rl"]["stages"]["rl-1"] |= {"steps": steps, **stage}
    return Settings.model_validate(tree)


def iterations(root: Path) -> list[dict[str, float]]:
    """What verl measured in each iteration of the stage; a measure that an iteration does not have is left out."""
    with (root / "data/rl-1/steps.csv").open(encoding="utf-8") as file:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]


def weights(folder: Path) -> dict[str, Any]:
    """A model's weights by their names."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype="float32").state_dict()
