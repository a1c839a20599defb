from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import changed_profile


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Path]:
    """`changed({"rl.stages.rl-2.steps": 5})`: the tiny profile's file with some values set, as `changed_profile` does."""

    def write(values: dict[str, Any]) -> Path:
        path = tmp_path / "params.yaml"
        path.write_text(yaml.safe_dump(changed_profile("tiny", values), sort_keys=False))
        return path

    return write
