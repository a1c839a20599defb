"""What an RL stage reads, names and writes around the training itself, which is replaced here."""

import dataclasses
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from transformers import AutoTokenizer

from compass.errors import UserError
from compass.ledger import LEDGER
from compass.records import table, write_records
from compass.rl.course import FINISHED
from compass.settings import Settings, load_settings
from stages import rl

PROFILE = (Path(__file__).parents[2] / "profiles/tiny.yaml").read_text().replace("batch_size: 32", "batch_size: 1")
METRICS = [
    {"sampled/reward": score, "sampled/response_tokens": length, "timing_s/step": seconds}
    for score, length, seconds in ((-0.5, 20.0, 9.0), (0.0, 30.0, 1.0), (0.25, 40.0, 5.0), (0.5, 50.0, 3.0))
]


class Tokenizer:
    """A token a word."""

    def apply_chat_template(self, messages, *, chat_template, add_generation_prompt, tokenize, return_dict):
        return messages[-1]["content"].split()


class Training:
    """Stands for training and export; `paths` are those of the last run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.exported: list[tuple] = []
        self.metrics = METRICS
        monkeypatch.setattr(rl, "train", self.train)
        monkeypatch.setattr(rl, "export_model", self.export)
        monkeypatch.setattr(rl, "write_curves", lambda metrics, path: path.write_text(str(len(metrics))))
        monkeypatch.setattr(rl, "write_rewards", lambda lines, path: pa.table({"used": [True, True, False, True]}))
        monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda path: Tokenizer())

    def train(self, stage, ours, paths, *, seed):
        self.stage, self.seed, self.paths = stage, seed, paths
        self.finished_before = (paths.work / FINISHED).exists()
        paths.work.mkdir(parents=True, exist_ok=True)
        (paths.work / "verl.yaml").touch()
        return self.metrics

    def export(self, checkpoint, start, model, **options):
        self.exported.append((checkpoint, start, model, options))
        model.mkdir(parents=True, exist_ok=True)
        (model / "config.json").write_text(f"trained {options['dtype']}")


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Training:
    return Training(monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for model in ("base", "rl-1"):
        (tmp_path / "models" / model).mkdir(parents=True)
        (tmp_path / "models" / model / "config.json").write_text("{}")
    write(tmp_path, [(0.5, "rl-1"), (0.5, "rl-1,rl-2"), (1.0, "rl-2"), (None, "rl-1")])
    return tmp_path


def write(root: Path, problems: list[tuple[float | None, str | None]]) -> None:
    rows = [
        {
            "id": str(n),
            "source": "s",
            "problem": "1 + 1",
            "answer": "2",
            "level": 1,
            "solve_rate": rate,
            "n_rollouts": None if rate is None else 64,
            "stages": stages,
        }
        for n, (rate, stages) in enumerate(problems)
    ]
    write_records(root / "data/curriculum/kept.parquet", table(rows))
    write_records(root / "data/curriculum/dropped.parquet", table([], LEDGER))


def settings(root: Path, **changes: str) -> Settings:
    """The tiny profile with `name: value` replaced."""
    text = PROFILE
    for name, value in changes.items():
        line = [line for line in text.splitlines() if line.strip().startswith(f"{name}:")][-1 if name == "rl-1" else 0]
        text = text.replace(line, line[: line.index(":")] + f": {value}", 1)
    path = root / "params.yaml"
    path.write_text(text)
    return load_settings(path)


def test_a_stage_trains_its_problems_from_its_model_and_hands_on_what_it_trained(
    training: Training, root: Path
) -> None:
    summary = rl.run(settings(root), "rl-1", root)
    assert (training.stage, training.seed) == ("rl-1", 0)
    assert training.paths.work.parent == root / "work/rl-1"
    rows = pq.read_table(root / "work/rl-1/train.parquet").to_pylist()
    assert [row["extra_info"]["id"] for row in rows] == ["0", "1", "3"]
    (checkpoint, start, out, options) = training.exported[0]
    assert checkpoint == training.paths.checkpoints / "global_step_20"
    assert (start, out) == (root / "models/base", root / "models/rl-1")
    assert "# rl-1\n" in options.pop("card")
    building = training.paths.work / "model"
    none = {"keep_optimizer": False, "beginning": None}  # the stage has too few iterations
    assert options == {**none, "dtype": "float32", "building": building}
    assert (root / "data/rl-1/steps.csv").read_text() == "4"
    assert json.loads((training.paths.work / FINISHED).read_text())["model"] == "models/rl-1"
    mixed = 1 - 2 * 0.5**8  # of groups of 8 at a solve rate of one half
    assert summary.metrics.pop("mixed_groups_predicted") == pytest.approx(mixed, abs=0.01)
    low, high = summary.metrics.pop("mixed_groups_predicted_ci95")
    assert 0.95 < low < high <= 1
    assert summary.stage == "rl-1"
    assert summary.metrics == {
        "problems": 3,
        "too_long": 0,
        "steps": 20,
        "exported_step": 20,
        "problems_no_rollout_solved": 0,
        "problems_every_rollout_solved": 0,
        "solve_rates_are_the_policys": True,
        "groups_used": 0.75,
        "guards_fired": 0,
        "reward_first": -0.5,
        "reward_last": 0.5,
        "response_tokens_first": 20.0,
        "response_tokens_last": 50.0,
        "seconds_per_step": 5.0,
    }


def test_a_stage_that_the_parameters_do_not_list_is_told_with_those_they_do(training: Training, root: Path) -> None:
    with pytest.raises(UserError, match=r"`rl\.stages` in params\.yaml has no 'rl-4'; there are rl-1, rl-2, rl-3"):
        rl.run(settings(root), "rl-4", root)


def test_a_stage_that_could_not_fill_a_batch_stops_before_it_trains(
    training: Training, root: Path, capsys: pytest.CaptureFixture
) -> None:
    write(root, [(0.0, "rl-1")] * 100)
    told = r"rl-1: only 0\.\d% of groups.*no rollout solved 100,.*guard `rl\.guards\.mixed_groups`"
    with pytest.raises(UserError, match=told):
        rl.run(settings(root), "rl-1", root)
    assert training.exported == []
    rl.run(settings(root, guards="{mixed_groups: {level: warn}}"), "rl-1", root)
    rl.run(settings(root, guards="{mixed_groups: {level: 'off'}}"), "rl-1", root)
    rl.run(settings(root, dynamic_sampling="false"), "rl-1", root)
    assert len(training.exported) == 3
    assert capsys.readouterr().err.count("warning: rl-1: only") == 1


@pytest.mark.parametrize(("stage", "model"), [("rl-2", "models/base"), ("rl-1", "someone/else")])
def test_rates_of_another_model_warn_and_say_whose_they_are(
    training: Training, root: Path, capsys: pytest.CaptureFixture, stage: str, model: str
) -> None:
    write(root, [(0.0, stage)] * 100)
    ours = settings(root)
    graded = ours.model_copy(update={"grade": ours.grade.model_copy(update={"model": model})})
    summary = rl.run(graded, stage, root)
    start = ours.rl.stages[stage].init_from
    assert f"rates of {model}, not of the policy that starts here: {start}" in capsys.readouterr().err
    assert summary.metrics["solve_rates_are_the_policys"] is False
    assert summary.metrics["problems_no_rollout_solved"] == 100


def test_what_guards_found_and_the_samples_that_show_it_are_handed_on(training: Training, root: Path) -> None:
    def found(*given, **named):
        metrics = Training.train(training, *given, **named)
        training.paths.samples.mkdir()
        (training.paths.samples / "000003-loops.parquet").write_text("rows")
        line = {
            "step": 3,
            "guard": "loops",
            "level": "warn",
            "message": "loops",
            "samples": "/far/000003-loops.parquet",
        }
        training.paths.findings.write_text(json.dumps(line) + "\n")
        return metrics

    (root / "data/rl-1/samples").mkdir(parents=True)
    (root / "data/rl-1/samples/of-an-earlier-run").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rl, "train", found)
        summary = rl.run(settings(root), "rl-1", root)
    assert summary.metrics["guards_fired"] == 1
    assert json.loads((root / "data/rl-1/guards.json").read_text())[0]["samples"] == "000003-loops.parquet"
    assert [path.name for path in (root / "data/rl-1/samples").iterdir()] == ["000003-loops.parquet"]
    assert pq.read_table(root / "data/rl-1/rollouts.parquet").num_rows == 0


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"save_every": "7"}, True),
        ({"rl-1": "{init_from: base, steps: 40}"}, True),
        ({"rl-1": "{init_from: base, steps: 20, checkpoint: {keep_optimizer: true}}"}, True),
        ({"guards": "{cut_off: {level: stop}}"}, True),
        ({"clip_high": "0.3"}, False),
        ({"seed": "1"}, False),
    ],
)
def test_work_is_taken_up_again_where_nothing_that_decides_its_course_has_changed(
    training: Training, root: Path, changes: dict[str, str], same: bool
) -> None:
    rl.run(settings(root), "rl-1", root)
    first = training.paths.work
    rl.run(settings(root, **changes), "rl-1", root)
    assert (training.paths.work == first) is same
    assert len(first.name) == 16


def test_work_of_earlier_settings_goes_when_the_stage_is_done(training: Training, root: Path) -> None:
    rl.run(settings(root), "rl-1", root)
    first = training.paths.work
    rl.run(settings(root, clip_high="0.3"), "rl-1", root)
    assert [path for path in (root / "work/rl-1").iterdir() if path.is_dir()] == [training.paths.work]
    assert training.paths.work != first


def test_paths_are_whole_wherever_the_trainer_runs(
    training: Training, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    rl.run(settings(root), "rl-2", Path())
    paths = [value for value in dataclasses.asdict(training.paths).values() if isinstance(value, Path)]
    assert len(paths) >= 3
    assert all(path.is_absolute() for path in paths)
    assert root / "models/rl-1" in paths
