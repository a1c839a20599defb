import pytest

from compass.sampling.engines import setup_facts
from compass.sampling.model_source import find_model
from compass.sampling.store import setup_digest
from compass.settings import Sampling


@pytest.fixture
def model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    return find_model(str(tmp_path))


def digest(model, seed=0, **settings):
    return setup_digest(setup_facts(model, Sampling(**settings), seed=seed))


def test_speed_and_memory_are_no_part_of_a_setup(model):
    assert digest(model) == digest(model, memory=0.3, kv_cache_gib=4, tensor_parallel=2, batch=7)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"temperature": 0.5},
        {"top_p": 0.9},
        {"max_tokens": 32},
        {"max_model_len": 300},
        {"dtype": "bfloat16"},
        {"system_prompt": "Think."},
        {"prompt_suffix": "Box it."},
        {"prompt": "qwen-math"},
        {"checkpoint_tokens": 32},
    ],
)
def test_whatever_decides_a_response_makes_another_setup(model, change):
    assert digest(model, **change) != digest(model)


def test_another_model_or_engine_makes_another_setup(model, tmp_path, monkeypatch):
    before = digest(model)
    (tmp_path / "config.json").write_text('{"layers": 2}')
    changed = digest(model)
    monkeypatch.setattr("compass.sampling.engine.version", lambda name: "99.0")
    assert len({before, changed, digest(model)}) == 3
