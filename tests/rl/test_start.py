"""Settings that do not fit a stage's problems, its model or this machine, told before anything starts."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from compass.base import resolve as module
from compass.base.resolve import ORIGIN_FILE, ModelError
from compass.checks.models import find_model_problems
from compass.files import folder_digest
from compass.rl.start import StartError, bring_start, check_start, remove_start, start_folder
from compass.settings import RlStage, Settings, load_settings
from tests.conftest import changed_profile, make_random_model

ROOT = Path(__file__).resolve().parents[2]
PAPER = load_settings(ROOT / "profiles/paper.yaml").rl.stages["rl-1"]
QWEN = {"num_attention_heads": 28, "max_position_embeddings": 4096}  # of Qwen2.5-Math-7B


def started(folder: Path, settings: RlStage = PAPER, problems: int = 128, model: dict[str, Any] = QWEN) -> None:
    (folder / "config.json").write_text(json.dumps(model))
    pq.write_table(pa.table({"prompt": ["1 + 1"] * problems}), folder / "train.parquet")
    check_start("rl-1", settings, model=folder, train=folder / "train.parquet")


def changed(**groups: dict[str, Any]) -> RlStage:
    return PAPER.model_copy(
        update={name: getattr(PAPER, name).model_copy(update=changes) for name, changes in groups.items()}
    )


@pytest.mark.parametrize("model", [QWEN, {}])  # one that publishes no limits is not held to any
def test_the_papers_stage_fits_its_model(tmp_path: Path, model: dict[str, Any]) -> None:
    started(tmp_path, model=model)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"problems": 127}, ["127", "`rl.data.batch_size` (128)", "`curriculum.problems`", "`curriculum.mixes.rl-1`"]),
        (
            {"settings": changed(resources={"tensor_parallel": 8})},
            ["`resources.tensor_parallel` (8)", "28 attention heads", "possible: 1, 2, 4, 7"],
        ),
        (
            {"settings": changed(data={"max_prompt_tokens": 1025})},
            ["`data.max_prompt_tokens` + `rollout.max_response_tokens` (4097)", "4096"],
        ),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, given: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(StartError) as error:
        started(tmp_path, **given)
    assert [one for one in ("rl-1: ", *told) if one not in str(error.value)] == []


def test_a_model_without_a_configuration_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"prompt": ["1 + 1"] * 128}), tmp_path / "train.parquet")
    with pytest.raises(StartError, match=r"config\.json cannot be read as a model's configuration"):
        check_start("rl-1", PAPER, model=tmp_path, train=tmp_path / "train.parquet")


def settings(**first: Any) -> Settings:
    """Profile `tiny` with another first stage."""
    return Settings.model_validate(changed_profile("tiny", {"rl.stages.rl-1": {"steps": 3, **first}}))


def stage(**first: Any) -> RlStage:
    return settings(**first).rl.stages["rl-1"]


@pytest.fixture
def given(tmp_path: Path) -> Path:
    return make_random_model(tmp_path / "given/model", 0)


def test_an_earlier_stages_model_is_used_as_it_is(tmp_path: Path) -> None:
    assert bring_start("rl-1", stage(init_from="base"), tmp_path) == tmp_path / "models/base"


@pytest.mark.parametrize("relative", [True, False])
def test_a_folder_is_brought_with_its_origin_and_removed_in_the_end(
    tmp_path: Path, given: Path, relative: bool
) -> None:
    ours = stage(init_from="given/model" if relative else str(given))
    for _ in range(2):  # a stage that was killed brings it again
        folder = bring_start("rl-1", ours, tmp_path)
    assert folder == start_folder("rl-1", ours, tmp_path) == tmp_path / "work/rl-1/start"
    assert folder_digest(folder, ("*.safetensors",)) == folder_digest(given, ("*.safetensors",))
    assert json.loads((folder / ORIGIN_FILE).read_text())["kind"] == "folder"
    assert (folder / "model.safetensors").stat().st_ino != (given / "model.safetensors").stat().st_ino
    remove_start("rl-1", ours, tmp_path)
    assert not folder.exists()
    assert given.exists()
    remove_start("rl-1", stage(init_from="base"), tmp_path)


def test_a_hub_id_is_fetched_at_its_revision(tmp_path: Path, given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked = []

    def snapshot(name: str, *, revision: str, allow_patterns: list[str]) -> str:
        asked.append((name, revision))
        assert "*.py" not in allow_patterns
        return str(given)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    folder = bring_start("rl-1", stage(init_from="owner/model", revision="0123abcd" * 5), tmp_path)
    assert asked == [("owner/model", "0123abcd" * 5)]
    assert json.loads((folder / ORIGIN_FILE).read_text()) == {
        "kind": "hub", "name": "owner/model", "revision": "0123abcd" * 5, "digest": folder_digest(given, module._WEIGHTS),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("init_from", "told"),
    [
        ("owner/model", r"rl\.stages\.rl-1\.revision: "),
        ("$NOWHERE/m", r"rl\.stages\.rl-1\.init_from .* NOWHERE is not set"),
        ("given/model", r"rl\.stages\.rl-1\.init_from: .* no \*\.safetensors"),
        ("./elsewhere", r"rl\.stages\.rl-1\.init_from: './elsewhere' is neither a folder"),
    ],
)
def test_what_cannot_be_used_is_told_with_the_stages_setting(
    tmp_path: Path, given: Path, init_from: str, told: str
) -> None:
    (given / "model.safetensors").rename(given / "pytorch_model.bin")
    with pytest.raises(ModelError, match=told):
        bring_start("rl-1", stage(init_from=init_from), tmp_path)


def test_the_check_before_a_run_looks_at_it(tmp_path: Path, given: Path) -> None:
    assert find_model_problems(settings(init_from="given/model"), tmp_path) == []
    (problem,) = find_model_problems(settings(init_from="given/other.gguf"), tmp_path)
    assert problem.where == "rl.stages.rl-1.init_from"
    (problem,) = find_model_problems(settings(init_from="owner/model"), tmp_path)
    assert problem.where == "rl.stages.rl-1.revision"


def test_solve_rates_are_the_policys_only_if_the_same_model_graded() -> None:
    grade = settings(init_from="base").grade
    assert stage(init_from="base").graded_by_policy(grade)
    assert not stage(init_from="owner/model", revision="0123abcd" * 5).graded_by_policy(grade)
    other = grade.model_copy(update={"model": "owner/model", "revision": "0123abcd" * 5})
    assert stage(init_from="owner/model", revision="0123abcd" * 5).graded_by_policy(other)
    assert not stage(init_from="owner/model", revision="b" * 40).graded_by_policy(other)
    assert not stage(init_from="base").graded_by_policy(other)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"init_from": "base", "revision": "0123abcd" * 5}, r"`revision` is for a hub id"),
        ({"init_from": "bse"}, r"allowed: base, a path with `/`, or a hub id \(owner/name\)"),
        (
            {"init_from": "a/b", "checkpoint": {"carry_optimizer": True}},
            r"a model from elsewhere has no optimizer state",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        stage(**given)
