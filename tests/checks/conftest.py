import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from compass.settings import Settings
from compass.settings.load import settings_or_faults
from tests.conftest import changed_profile, fitted_graph

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable names data, a model or a cluster, and no GPU is seen."""
    for name in ("COMPASS_DATA", "COMPASS_MODEL", "HF_HUB_OFFLINE", "RAY_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """`repository({"rl.data.batch_size": 8})`: a folder with dvc.yaml, 50 problems, 8 benchmark items, and a parameter file
    that reads them, with some values set; dots reach into sections, and None takes a key away."""

    def make(values: dict[str, Any] | None = None) -> Path:
        for name in ("problems.csv", "benchmark.jsonl"):
            shutil.copy(ROOT / "examples/own_csv" / name, tmp_path)
        own = {
            "sources": [{"name": "mine", "path": "problems.csv", "problem_field": "question"}],
            "benchmarks": [{"name": "held-out", "path": "benchmark.jsonl", "id_field": "id"}],
        }
        settings = Settings.model_validate(changed_profile("debug", {"collect": own}))
        tree = changed_profile("debug", {"collect": own, **(values or {})})
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(tree, sort_keys=False))
        if isinstance(read := settings_or_faults(tree), Settings):
            settings = read
        (tmp_path / "dvc.yaml").write_text(fitted_graph(settings, tmp_path))
        return tmp_path

    return make


@pytest.fixture
def model(tmp_path: Path) -> Callable[..., Path]:
    """`model(max_position_embeddings=512)`: a folder with the files of a transformers model; its weights are one small tensor."""
    import numpy as np
    from safetensors.numpy import save_file

    def make(name: str = "policy", *, template: bool = True, **config: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({"num_attention_heads": 4, **config}))
        save_file({"weight": np.zeros((8, 8), dtype=np.float32)}, folder / "model.safetensors")
        (folder / "tokenizer.json").write_text("{}")
        (folder / "tokenizer_config.json").write_text(
            json.dumps({"chat_template": "{{ messages }}"} if template else {})
        )
        return folder

    return make
