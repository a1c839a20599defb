"""A slip of the pen costs nothing: DVC, which removes a stage's outputs before it runs the stage, is not even started."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compass.checks.before_run import find_problems
from compass.errors import UserError
from flows.run import RunRequest, run

SLIPS = [
    ({"evaluate.sample": 4}, "evaluate.sample", "unknown key", "did you mean `samples`?"),
    ({"evalute": {"samples": 4}}, "evalute", "unknown key", "did you mean `evaluate`?"),
    ({"verify.require_self_equal": "no "}, "verify.require_self_equal", "valid boolean, found 'no '", "params.yaml"),
    ({"rl.loss.clip_low": 1.5}, "rl.loss.clip_low", "less than 1, found 1.5", "params.yaml"),
    ({"evaluate.samples": "four"}, "evaluate.samples", "valid integer, found 'four'", "params.yaml"),
    ({"seed": None, "profile": None}, "profile", "is missing", "params.yaml"),
    ({"rl.optimizer.mini_batch_size": 3}, "rl.stages.rl-1", "must divide `data.batch_size`", "params.yaml"),
    ({"denoise.languages": ["de"]}, "denoise.languages.0", "Input should be 'en' or 'zh', found 'de'", ""),
    ({"curriculum.mixes.rl-1": {"1": 0.5, "2": 0.4}}, "curriculum", "adds up to 0.9, not 1", "params.yaml"),
    ({"evaluate.models": ["rl-9"]}, "the file", "`evaluate.models` has 'rl-9'; allowed: base, rl-1", "params.yaml"),
    ({"collect.sources.0.name": "held-out", "collect.sources.0.pth": "x"}, "collect.sources.0.pth", "unknown key",
     "did you mean `path`?"),
    ({"collect.sources.0.path": "problem.csv"}, "collect.sources.0 (mine)", "no such file", "did you mean problems.csv?"),
    ({"collect.sources.0.path": "data/raw/p.csv"}, "collect.sources.0 (mine)", "no such file", "there is no folder"),
    ({"collect.sources.0.path": "$COMPASS_DATA/p.csv"}, "collect.sources.0 (mine).path", "$COMPASS_DATA is not set",
     "`export COMPASS_DATA=folder`"),
    ({"collect.sources.0.path": "$GENERATED/tiny-gsm.csv"}, "collect.sources.0 (mine).path", "nothing is generated",
     "give `collect.generate`"),
    ({"collect.generate": {}, "collect.sources.0.path": "$GENERATED/tiny-gms.csv"}, "collect.sources.0 (mine).path",
     "the generator writes no 'tiny-gms.csv'", "did you mean tiny-gsm.csv?"),
    ({"collect.sources.0.problem_field": "quesiton"}, "collect.sources.0 (mine).problem_field",
     "has the field 'quesiton'", "did you mean question? its fields are question, answer"),
    ({"collect.sources.0.adapter": "colums"}, "collect.sources.0 (mine).adapter", "unknown adapter 'colums'",
     "did you mean columns?"),
    ({"collect.benchmarks.0.path": "problems.csv", "collect.benchmarks.0.problem_field": "question",
      "collect.benchmarks.0.id_field": ""}, "collect.benchmarks.0 (held-out)", "reads problems.csv, as collect.sources.0",
     "its own file"),
    ({"collect.benchmarks.0.name": "average"}, "collect.benchmarks.0 (average)", "mean over benchmarks", "rename"),
    ({"collect.benchmarks": [{"name": "math-50"}]}, "collect.benchmarks.0 (math-50)", "no benchmark of this name",
     "did you mean math-500?"),
    ({"collect.benchmarks.0.id_field": "uid"}, "collect.benchmarks.0 (held-out).id_field", "the field 'uid'",
     "did you mean id?"),
    ({"collect.benchmarks": []}, "collect.benchmarks", "is empty", "at least one benchmark"),
    ({"base": {"model": "$COMPASS_MODEL"}}, "base.model", "$COMPASS_MODEL is not set", "`export COMPASS_MODEL="),
    ({"base": {"model": "owner/name"}}, "base.revision", "is empty, and base.model is the hub id owner/name",
     "give the commit"),
    ({"base": {"model": "models/mine/policy"}}, "base.model", "neither a folder, nor a .gguf file", "no folder"),
    ({"base": {"model": "policy.gguf"}}, "base.model", "No such file", "check the path"),
    ({"grade.model": "models/rl-1"}, "grade.model", "models/rl-1 is trained on what the grader grades", "models/base"),
    ({"grade.model": "$COMPASS_MODEL"}, "grade.model", "not filled in here", "write the folder"),
    ({"evaluate.sampling.max_model_len": 4096}, "evaluate.sampling.max_model_len", "more than the 512 tokens",
     "lower it to 512"),
    ({"rl.rollout.max_response_tokens": 500}, "rl.stages.rl-1", "is more than the 512 tokens", "lower one of them"),
    ({"rl.verl": {"trainer.save_freqq": 1}}, "rl.stages.rl-1", "verl has no such key", "the nearest is `trainer.save_freq`"),
    ({"rl.resources.gpus": 2}, "rl.resources.gpus", "2 GPUs are asked for, and this machine has none", "ray_address"),
    ({"rl.data.batch_size": 64, "rl.optimizer.mini_batch_size": 64, "curriculum.problems": 64}, "rl.data.batch_size",
     "all sources together hold 50 problems, fewer than a batch of 64", "to 50 or less"),
    ({"grade.max_problems": 1}, "rl.data.batch_size", "`grade.max_problems` leaves it 1 problem,", "more problems"),
]  # fmt: skip
"""Values of a parameter file, and where, as what and with which advice they are told."""

OUTPUTS = ("data/collect/kept.parquet", "data/grade/kept.parquet", "models/base/config.json", "models/rl-1/config.json")


@pytest.fixture
def finished(repository: Callable[..., Path]) -> Callable[..., Path]:
    """`finished({"seed": 1})`: a repository in which the stages have run, whose settings were changed since."""

    def make(values: dict[str, Any] | None = None) -> Path:
        root = repository(values)
        for output in OUTPUTS:
            (root / output).parent.mkdir(parents=True)
            (root / output).write_text("made by a long run")
        return root

    return make


def standing(root: Path) -> list[str]:
    return [output for output in OUTPUTS if (root / output).is_file()]


@pytest.mark.parametrize(("values", "where", "found", "remedy"), SLIPS)
def test_a_slip_is_told_and_removes_no_output(
    finished: Callable[..., Path], values: dict[str, Any], where: str, found: str, remedy: str
) -> None:
    root = finished(values)
    with pytest.raises(UserError) as error:
        run(RunRequest(), root)
    first = find_problems(root)[0]
    assert first.where == where
    assert found in first.found
    assert remedy in first.remedy
    assert f"  1. {first}" in str(error.value)
    assert standing(root) == list(OUTPUTS)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("base.model", "models/nowhere", "give either `model` (a path or hub id) or `pretrain`"),
        ("rl.data.batch_size", 64, "all sources together hold 50 problems, fewer than a batch of 64"),
        ("collect.sources.0.path", "problem.csv", "did you mean problems.csv?"),
    ],
)
def test_a_slip_of_one_run_removes_no_output_and_stays_out_of_the_file(
    finished: Callable[..., Path], name: str, value: Any, told: str
) -> None:
    root = finished()
    before = (root / "params.yaml").read_bytes()
    with pytest.raises(UserError) as error:
        run(RunRequest(overrides={name: value}), root)
    assert told in str(error.value)
    assert standing(root) == list(OUTPUTS)
    assert (root / "params.yaml").read_bytes() == before


def test_a_variable_that_several_sources_need_is_told_once(finished: Callable[..., Path]) -> None:
    root = finished(
        {"collect.sources.0.path": "$COMPASS_DATA/p.csv", "collect.benchmarks.0.path": "$COMPASS_DATA/b.csv"}
    )
    [told] = [one for one in find_problems(root) if "COMPASS_DATA" in one.found]
    assert told.found.endswith("$COMPASS_DATA is not set; needed by 1 more")
    assert "docs/reference/sources.md" in told.remedy


@pytest.mark.parametrize(("parts", "told"), [(([0.0, 0.5], [0.5, 1.0]), False), (([0.0, 0.6], [0.5, 1.0]), True)])
def test_parts_of_one_file_may_be_trained_on_and_held_out(
    repository: Callable[..., Path], parts: tuple[list[float], list[float]], told: bool
) -> None:
    same = {"path": "problems.csv", "problem_field": "question", "id_field": ""}
    values = {f"collect.{kind}.0.{name}": value for kind in ("sources", "benchmarks") for name, value in same.items()}
    values |= {"collect.sources.0.part": parts[0], "collect.benchmarks.0.part": parts[1]}
    found = [finding for finding in find_problems(repository(values)) if "as collect.sources.0" in finding.found]
    assert bool(found) is told
