"""From which of verl's checkpoints a stage goes on, which are removed, and how a kept training state becomes iteration 0."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from compass.rl.checkpoint import (
    ACCURACY,
    TRACKER,
    best_step,
    find_unvalidated,
    last_step,
    remove_older,
    resume_from,
    start_from_optimizer,
    whole_checkpoints,
)
from compass.settings.recipe import Optimizer


def save(checkpoints: Path, step: int, *, ranks: int = 1) -> Path:
    """A checkpoint as verl leaves it."""
    folder = checkpoints / f"global_step_{step}"
    (folder / "actor" / "huggingface").mkdir(parents=True)
    for kind in ("model", "optim", "extra_state"):
        for rank in range(ranks):
            torch.save({"of": step}, folder / f"actor/{kind}_world_size_{ranks}_rank_{rank}.pt")
    torch.save({}, folder / "data.pt")
    (checkpoints / TRACKER).write_text(str(step))
    return folder


def steps(checkpoints: Path) -> list[int]:
    return sorted(int(path.name.removeprefix("global_step_")) for path in checkpoints.glob("global_step_*"))


@pytest.mark.parametrize(
    ("saved", "recorded", "keep", "step", "left"),
    [
        ([], 9, None, 0, []),
        ([5, 10, 15], 15, None, 15, [15]),
        ([5, 10], 9, None, 5, [5]),  # 10 was saved and not recorded: it is trained again
        ([5, 10], 4, None, 0, []),
        ([5, 10, 15, 20], 17, 5, 15, [5, 15]),  # the best by validation stays
    ],
)
def test_a_stage_goes_on_from_its_newest_recorded_checkpoint_and_keeps_no_other_but_the_best(
    tmp_path: Path, saved: list[int], recorded: int, keep: int | None, step: int, left: list[int]
) -> None:
    checkpoints = tmp_path / "checkpoints"
    for one in saved:
        save(checkpoints, one, ranks=2)
    assert last_step(checkpoints) == max(saved, default=0)
    assert resume_from(checkpoints, recorded=recorded, keep=keep) == step
    assert steps(checkpoints) == left
    assert [path.read_text() for path in checkpoints.glob(TRACKER)] == [str(step)] * bool(step)


def test_older_checkpoints_go_when_a_newer_one_is_recorded_but_for_a_chosen_one(tmp_path: Path) -> None:
    for step in (5, 10, 15):
        save(tmp_path, step)
    remove_older(tmp_path, recorded=14, keep=5)
    assert steps(tmp_path) == [5, 10, 15]  # 15 is not recorded yet: a kill now would go on from 10
    remove_older(tmp_path, recorded=14)
    assert steps(tmp_path) == [10, 15]
    remove_older(tmp_path, recorded=15)
    assert steps(tmp_path) == [15]


@pytest.mark.parametrize("tracker", ["", "1", "nonsense", None])
def test_a_tracker_file_that_a_kill_cut_off_does_not_matter(tmp_path: Path, tracker: str | None) -> None:
    save(tmp_path, 10)
    (tmp_path / TRACKER).unlink()
    if tracker is not None:
        (tmp_path / TRACKER).write_text(tracker)
    assert last_step(tmp_path) == 10
    assert resume_from(tmp_path, recorded=12) == 10
    assert (tmp_path / TRACKER).read_text() == "10"


@pytest.mark.parametrize(
    "file",
    [
        "actor/model_world_size_2_rank_1.pt",
        "actor/optim_world_size_2_rank_0.pt",
        "actor/extra_state_world_size_2_rank_1.pt",
        "data.pt",
    ],
)
@pytest.mark.parametrize("cut", [True, False])
def test_a_half_written_checkpoint_does_not_count(tmp_path: Path, file: str, cut: bool) -> None:
    save(tmp_path, 5, ranks=2)
    path = save(tmp_path, 10, ranks=2) / file
    if cut:
        path.write_bytes(path.read_bytes()[:-30])
    else:
        path.unlink()
    assert whole_checkpoints(tmp_path) == [5]
    assert resume_from(tmp_path, recorded=10) == 5


def test_the_best_iteration_is_the_earliest_of_equals() -> None:
    rows = [{"step": 1}, {"step": 2, ACCURACY: 0.5}, {"step": 4, ACCURACY: 0.75}, {"step": 6, ACCURACY: 0.75}]
    assert best_step(rows) == 4
    assert best_step(rows[:1]) is None


def test_a_checkpoint_whose_validation_was_cut_off_is_found(tmp_path: Path) -> None:
    rows: dict[int, dict[str, float]] = {step: {"step": step} for step in range(1, 12)}
    rows[5][ACCURACY] = 0.5
    save(tmp_path, 5)
    assert find_unvalidated(rows, tmp_path) is None
    save(tmp_path, 10)
    assert find_unvalidated(rows, tmp_path) == 10
    assert find_unvalidated(rows, tmp_path, stopped=10) is None
    save(tmp_path, 15)  # not recorded at all: it does not count anyway
    rows[10][ACCURACY] = 0.0
    assert find_unvalidated(rows, tmp_path) is None


OURS = Optimizer(learning_rate=1e-3, weight_decay=0.1, betas=[0.8, 0.9], eps=1e-6)


class Stage:
    """A linear model trained a little with AdamW under verl's constant schedule, its state kept as a stage keeps it."""

    def __init__(self, folder: Path) -> None:
        self.model, self.optimizer, self.schedule = make(learning_rate=1e-2, weight_decay=0.5, warmup=0)
        train(self.model, self.optimizer, self.schedule, updates=3)
        self.folder = folder / "rl-1"
        state = self.folder / "optimizer"
        state.mkdir(parents=True)
        torch.save(self.model.state_dict(), state / "model_world_size_1_rank_0.pt")
        torch.save(self.optimizer.state_dict(), state / "optim_world_size_1_rank_0.pt")
        extra = {"lr_scheduler": self.schedule.state_dict(), "rng": {}}
        torch.save(extra, state / "extra_state_world_size_1_rank_0.pt")


def make(*, learning_rate: float, weight_decay: float, warmup: int) -> tuple[Any, Any, Any]:
    """What verl builds before it loads a checkpoint (`get_constant_schedule_with_warmup`)."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, step / max(1, warmup)) if warmup else 1.0
    )
    return model, optimizer, schedule


def train(model: Any, optimizer: Any, schedule: Any, *, updates: int) -> list[float]:
    """The learning rate of each update."""
    rates = []
    for _ in range(updates):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).sum().backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def load(checkpoints: Path, optimizer: Any, schedule: Any) -> None:
    """As `FSDPCheckpointManager.load_checkpoint` does."""
    actor = checkpoints / "global_step_0" / "actor"
    optimizer.load_state_dict(torch.load(actor / "optim_world_size_1_rank_0.pt", weights_only=False))
    extra = torch.load(actor / "extra_state_world_size_1_rank_0.pt", weights_only=False)
    if extra["lr_scheduler"] is not None:
        schedule.load_state_dict(extra["lr_scheduler"])


@pytest.mark.parametrize(("warmup", "rates"), [(0, [1e-3, 1e-3, 1e-3]), (2, [0.0, 5e-4, 1e-3])])
def test_moments_are_carried_over_and_the_learning_rate_is_the_new_stages(
    tmp_path: Path, warmup: int, rates: list[float]
) -> None:
    earlier = Stage(tmp_path)
    checkpoints = tmp_path / "checkpoints"
    checkpoints.mkdir()
    start_from_optimizer(earlier.folder, checkpoints, OURS.model_copy(update={"warmup_steps": warmup}), steps=5)
    assert last_step(checkpoints) == 0
    assert (checkpoints / TRACKER).read_text() == "0"
    model, optimizer, schedule = make(learning_rate=1e-3, weight_decay=0.1, warmup=warmup)
    load(checkpoints, optimizer, schedule)
    carried, kept = optimizer.state_dict()["state"][0], earlier.optimizer.state_dict()["state"][0]
    assert torch.equal(carried["exp_avg"], kept["exp_avg"])
    assert torch.equal(carried["exp_avg_sq"], kept["exp_avg_sq"])
    group = optimizer.param_groups[0]
    assert (group["weight_decay"], group["betas"], group["eps"]) == (0.1, (0.8, 0.9), 1e-6)
    assert train(model, optimizer, schedule, updates=3) == pytest.approx(rates)


def test_a_critic_is_carried_over_with_its_own_rate(tmp_path: Path) -> None:
    earlier, checkpoints = Stage(tmp_path), tmp_path / "checkpoints"
    checkpoints.mkdir()
    state = earlier.folder / "optimizer"
    shutil.copytree(state, tmp_path / "critic")
    (tmp_path / "critic").rename(state / "critic")
    start_from_optimizer(earlier.folder, checkpoints, OURS, OURS.with_rate(2e-4, 3), steps=5)
    rates = {
        name: torch.load(checkpoints / f"global_step_0/{name}/optim_world_size_1_rank_0.pt")["param_groups"][0]
        for name in ("actor", "critic")
    }
    assert [(one["lr"], one["initial_lr"]) for one in rates.values()] == [(1e-3, 1e-3), (0.0, 2e-4)]
    assert not (checkpoints / "global_step_0/actor/critic").exists()
    shutil.rmtree(checkpoints / "global_step_0")
    start_from_optimizer(earlier.folder, checkpoints, OURS, steps=5)  # a stage without a critic takes over none
    assert not (checkpoints / "global_step_0/critic").exists()


def test_a_checkpoint_whose_critic_is_half_written_does_not_count(tmp_path: Path) -> None:
    for step in (5, 10):
        save(tmp_path, step)
        shutil.copytree(tmp_path / f"global_step_{step}/actor", tmp_path / f"global_step_{step}/critic")
    assert whole_checkpoints(tmp_path) == [5, 10]
    (tmp_path / "global_step_10/critic/optim_world_size_1_rank_0.pt").write_text("half")
    assert resume_from(tmp_path, recorded=10) == 5


def test_laying_down_the_training_state_may_be_done_again_after_a_kill(tmp_path: Path) -> None:
    earlier, checkpoints = Stage(tmp_path), tmp_path / "checkpoints"
    for half in ("building/actor", "global_step_0/actor"):
        (checkpoints / half).mkdir(parents=True)
        (checkpoints / half / "optim_world_size_1_rank_0.pt").write_text("half")
    start_from_optimizer(earlier.folder, checkpoints, OURS, steps=5)
    assert whole_checkpoints(checkpoints) == [0]
    assert not (checkpoints / "building").exists()
    assert resume_from(checkpoints, recorded=0) == 0
    assert whole_checkpoints(checkpoints) == [0]


def test_an_interrupted_stage_goes_on_from_its_own_checkpoint(tmp_path: Path) -> None:
    earlier, checkpoints = Stage(tmp_path), tmp_path / "checkpoints"
    save(checkpoints, 5)
    start_from_optimizer(earlier.folder, checkpoints, OURS, steps=5)
    assert steps(checkpoints) == [5]
    shutil.rmtree(checkpoints / "global_step_5")
    start_from_optimizer(earlier.folder, checkpoints, OURS, steps=5)
    assert steps(checkpoints) == [0]
