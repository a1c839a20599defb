"""The base stage: a whole model folder with its origin, or the earlier one untouched."""

import json

import pytest

from compass.base.pretrain import PretrainError
from compass.base.resolve import ORIGIN_FILE, Origin
from compass.files import folder_digest
from compass.progress import send_reports
from compass.settings import load_settings
from stages import base


def settings_with(profiles, **pretrain):
    """The tiny profile with a pre-training of seconds."""
    tiny = load_settings(profiles / "tiny.yaml")
    small = {"hidden_size": 32, "layers": 1, "batch_size": 8, "skill": 1e-30, "steps": 10, "habit_steps": 2}
    quick = tiny.base.pretrain.model_copy(update=small | pretrain)
    return tiny.model_copy(update={"base": tiny.base.model_copy(update={"pretrain": quick})})


@pytest.fixture
def profiles(request):
    return request.config.rootpath / "profiles"


def test_it_writes_the_model_whole_and_keeps_it_when_a_later_run_fails(profiles, tmp_path):
    folder, work, details = tmp_path / "models" / "base", tmp_path / "work", []
    with send_reports(lambda step: details.append(step.detail)):
        summary = base.run(settings_with(profiles), folder, work)
    assert details[0].endswith("skill 0.00 of 1e-30, at most 10 steps")
    assert details[-1].endswith("skill 0.00 reached, learning habits")
    assert {"config.json", "model.safetensors", "tokenizer.json", "generation_config.json"} <= {
        path.name for path in folder.iterdir()
    }
    origin = json.loads((folder / ORIGIN_FILE).read_text())
    assert origin["digest"] == summary.metrics["digest"] == folder_digest(folder)
    assert origin["name"] == summary.metrics["name"] == "generated problems, seed 0"
    assert {"parameters", "tokens_per_second", "loss", "seconds"} <= summary.metrics.keys()

    with pytest.raises(PretrainError):
        base.run(settings_with(profiles, skill=0.9), folder, work)
    assert json.loads((folder / ORIGIN_FILE).read_text()) == origin


def test_a_model_that_is_not_pre_trained_is_resolved(profiles, tmp_path, monkeypatch):
    asked = []

    def resolve(model, *, revision, out):
        asked.append((model, revision))
        out.mkdir()
        return Origin("hub", model, revision, "0" * 64)

    monkeypatch.setattr(base, "resolve", resolve)
    tiny = load_settings(profiles / "tiny.yaml")
    brought = tiny.base.model_copy(update={"pretrain": None, "model": "owner/name", "revision": "0123"})
    folder = tmp_path / "models" / "base"
    folder.mkdir(parents=True)
    (folder / "old").touch()
    summary = base.run(tiny.model_copy(update={"base": brought}), folder, tmp_path / "work")
    assert asked == [("owner/name", "0123")]
    assert summary.metrics == {"origin": "hub", "name": "owner/name", "digest": "0" * 64}
    assert [path.name for path in folder.iterdir()] == ["compass_origin.json"]
