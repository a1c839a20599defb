"""Stand-ins for the libraries whose import alone takes ten seconds: verl, vLLM, Ray. The slow tests train with the real ones.

What is held against verl itself (configurations, the loss) imports the real one, once for all of them.
"""

import importlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rl.debug_stage import INPUTS


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """`library("verl.utils", name=value)` is what `import verl.utils` gives for the length of a test."""
    made: dict[str, ModuleType] = {}

    def install(name: str, **contents: Any) -> ModuleType:
        parts = name.split(".")
        parent: ModuleType | None = None
        for length in range(1, len(parts) + 1):
            path = ".".join(parts[:length])
            if parts[0] == "compass" and path != name:  # our own packages stay what they are
                parent = importlib.import_module(path)
                continue
            if path not in made:
                made[path] = ModuleType(path)
                made[path].__path__ = []
                monkeypatch.setitem(sys.modules, path, made[path])
                if parent is not None:
                    monkeypatch.setattr(parent, parts[length - 1], made[path], raising=False)
            parent = made[path]
        vars(made[name]).update(contents)
        return made[name]

    return install


@pytest.fixture
def load() -> Iterator[Callable[[str], ModuleType]]:
    """`load("compass.rl.train")` imports a module anew, among the stand-ins; after the test the earlier one is back."""
    earlier: dict[str, ModuleType | None] = {}

    def import_anew(name: str) -> ModuleType:
        earlier.setdefault(name, sys.modules.pop(name, None))
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    yield import_anew
    for name, module in earlier.items():
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        if module is not None:
            sys.modules[name] = module
            setattr(sys.modules[package], last, module)


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's configuration and tokenizer, without weights: with the heads and positions of Qwen2.5-Math-7B."""
    from transformers import Qwen2Config

    from compass.base.tokenizer import train_tokenizer

    folder = tmp_path_factory.mktemp("model")
    train_tokenizer(["What is 1 + 1? It is 2."] * 3, vocabulary=300, folder=folder)
    Qwen2Config(
        vocab_size=300,
        hidden_size=28 * 4,
        num_attention_heads=28,
        num_key_value_heads=4,
        num_hidden_layers=1,
        max_position_embeddings=4096,
        architectures=["Qwen2ForCausalLM"],
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def finished_debug(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the base and the problems of profile `debug`: the one that COMPASS_DEBUG_RUN names, or made here."""
    if done := os.environ.get("COMPASS_DEBUG_RUN"):
        return Path(done)
    from tests.test_pipeline import commit_copy, dvc
    from tests.test_pipeline import run as run_command

    folder = tmp_path_factory.mktemp("debug")
    commit_copy(folder)
    run_command(folder, *dvc(folder, "repro", "curriculum"))
    return folder


@pytest.fixture
def debug_root(tmp_path: Path, finished_debug: Path) -> Path:
    """A folder with what the first RL stage of profile `debug` reads."""
    for name in INPUTS:
        shutil.copytree(finished_debug / name, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="session")
def training_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training set of 128 problems, the paper's batch."""
    path = tmp_path_factory.mktemp("problems") / "train.parquet"
    pq.write_table(pa.table({"prompt": ["1 + 1"] * 128}), path)
    return path


@pytest.fixture(scope="session")
def accepted(model_folder: Path, training_set: Path) -> Callable[..., Any]:
    """`accepted(stage, settings)`: verl's typed configuration of the policy, after all checks of the project and of verl."""
    from tests.rl.verl_checks import accepted

    return partial(accepted, model=model_folder, train=training_set)
