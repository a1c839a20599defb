from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Path]:
    """`changed({"rl.stages.rl-2.steps": 5})`: the tiny profile's file with some values set; dots reach into sections, and
    None takes a key away."""

    def write(values: dict[str, Any]) -> Path:
        tree = yaml.safe_load((ROOT / "profiles/tiny.yaml").read_text())
        for key, value in values.items():
            *sections, last = key.split(".")
            section = tree
            for name in sections:
                section = section[int(name)] if isinstance(section, list) else section.setdefault(name, {})
            if value is None:
                del section[last]
            else:
                section[last] = value
        path = tmp_path / "params.yaml"
        path.write_text(yaml.safe_dump(tree, sort_keys=False))
        return path

    return write
