"""verl's trainer, watched. Its own trainer is a stand-in that does an iteration in verl's order."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from omegaconf import OmegaConf

from compass.rl.config import watch_config
from compass.rl.guards.findings import GuardError, read_findings
from compass.rl.notice import Noticed, read_stopped
from compass.rl.paths import StagePaths
from compass.rl.progress import read_progress
from compass.settings import load_settings

TINY = load_settings(Path(__file__).parents[2] / "profiles/tiny.yaml").rl.stages["rl-1"]
HEALTHY = {
    "actor/entropy": 0.07,
    "actor/grad_norm": 0.6,
    "training/rollout_probs_diff_max": 1e-5,
    "guards/zero_signal_share": 0.2,
}


class PPOTrainerSync:
    """An iteration in verl's order: update, checkpoint, weights, metrics."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.steps_per_epoch, self.global_steps = 4, 1
        self.replay_buffer = SimpleNamespace(responses={})
        self.tokenizer = SimpleNamespace(batch_decode=lambda rows, skip_special_tokens: [str(len(row)) for row in rows])
        self.timing_raw: dict[str, float] = {}
        self.saved: list[int] = []
        self.phases: list[str] = []
        self.faults: dict[str, float] = {}
        self.train_dataloader = SimpleNamespace(state_dict=lambda: list(self.drawn))
        self.drawn: list[int] = []
        self.gone_to_sleep: list[str] = []
        self.checkpoint_manager = SimpleNamespace(
            abort_replicas=lambda reject_request: self.gone_to_sleep.append("aborted")
        )
        self.notice_in = ""

    def phase(self) -> None:
        told = read_progress(Path(self.config.trainer.v1.sampler.sampler_kwargs.watch.progress))
        self.phases.append(told["phase"] if told else "")

    def on_step_begin(self) -> None: ...

    def _fetch_one_gen_batch(self) -> Any:
        return {"extra_info": [{"id": self.problems.pop(0)}]}

    def init(self) -> None:
        self.actor_rollout_wg = SimpleNamespace(world_size=1, set_loss_fn=lambda loss: setattr(self, "loss", loss))

    def _compute_advantage(self, batch: Any, metrics: dict) -> Any:
        return batch

    def on_sample_end(self) -> None:
        self.gone_to_sleep.append("asleep")

    def _compute_old_log_prob(self, batch: Any, metrics: dict) -> Any:
        self.lay_down_notice("old")
        self.entropy_mode = self.config.actor_rollout_ref.actor.loss_agg_mode
        metrics["actor/entropy"] = HEALTHY["actor/entropy"]
        return batch

    def lay_down_notice(self, place: str) -> None:
        if self.notice_in == place:
            Path(self.config.trainer.v1.sampler.sampler_kwargs.watch.notice).touch()

    def _update_actor(self, batch: Any, metrics: dict) -> Any:
        self.phase()
        self.lay_down_notice("update")
        self.sent = batch.extra_info
        metrics.update(HEALTHY, **self.faults)
        return batch

    def step(self, metrics: dict, timing_raw: dict) -> Any:
        keys = ["u1_0_0", "u1_1_0", "u1_2_0"]
        tags = [{"response_len": 4}, {"response_len": 48}, {"response_len": 9, "is_padding": True}]
        batch = SimpleNamespace(keys=keys, tags=tags, partition_id="train", extra_info={})
        self.drawn.append(self.global_steps)
        if self.notice_in == "rollout":
            self.lay_down_notice("rollout")
            raise Noticed  # as the sampler does
        self.on_sample_end()
        return self._update_actor(self._compute_advantage(self._compute_old_log_prob(batch, metrics), metrics), metrics)

    def _save_checkpoint(self) -> None:
        self.phase()
        self.saved.append(self.global_steps)
        self.saved_data = self.train_dataloader.state_dict()

    def fit(self, agent_loop_manager: Any) -> None:
        for step in range(self.global_steps + 1, agent_loop_manager["steps"] + 1):
            self.global_steps = step
            self.notice_in = agent_loop_manager["notice"] if step == 3 else ""
            self.on_step_begin()
            self.step({}, self.timing_raw)
            if step in agent_loop_manager["saves"]:
                self._save_checkpoint()
            self.on_step_end()

    def on_step_end(self) -> None:
        self.phase()

    def _compute_metrics(self, batch: Any, metrics: dict, timing_raw: dict, global_steps: int, epoch: int) -> None:
        assert timing_raw["step"] >= 0
        metrics.update({"critic/score/mean": np.float64(0.25), "training/epoch": epoch, "counts": {1.0: 3}})

    def iteration(self, step: int) -> dict[str, Any]:
        """What verl's `fit` does with one."""
        self.global_steps = step
        metrics: dict[str, Any] = {}
        self.on_step_begin()
        self.step(metrics, self.timing_raw)
        self._save_checkpoint()
        self.on_step_end()
        return metrics


@pytest.fixture
def trainer(tmp_path: Path, library: Any, load: Any) -> Any:
    from contextlib import nullcontext

    queue: dict[str, Any] = {}

    def get(keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, list[Any]]:
        lengths = {"u1_0_0": 4, "u1_1_0": 48}
        columns: dict[str, Any] = {
            "extra_fields": lambda n: {"reward_extra_info": {"acc": 1.0, "pred": "7"}},
            "extra_info": lambda n: {"id": "p1", "level": 2},
            "reward_model": lambda n: {"ground_truth": "7"},
            "responses": lambda n: np.full(n, 3),
            **queue,
        }
        return {field: [columns.get(field, np.zeros)(lengths[key]) for key in keys] for field in select_fields}

    library("transfer_queue", kv_batch_get=get)
    library("verl.trainer.ppo.v1.trainer_sync", PPOTrainerSync=PPOTrainerSync)
    library("verl.utils.config", omega_conf_to_dataclass=lambda config: ("dataclass", config))
    rename = lambda metrics: metrics.update(renamed=True)  # noqa: E731
    library("compass.rl.policy_loss", loss=print, rename_metrics=rename, FLAG="one_update", PER_TOKEN="token-mean")
    library("verl.utils.debug", marked_timer=lambda name, timing: nullcontext())
    paths = StagePaths(tmp_path / "base", tmp_path / "train.parquet", tmp_path)
    watch = watch_config(TINY, paths)
    watch["guards"]["loops"]["limit"] = 0.9
    watch["guards"]["cut_off"]["limit"] = 0.9
    assert watch["one_update"]  # as in profile tiny
    actor = {"strategy": "fsdp2", "data_loader_seed": 3, "loss_agg_mode": "seq-mean-token-mean"}
    config = {
        "algorithm": {
            "adv_estimator": "grpo",
            "use_kl_in_reward": False,
            "rollout_correction": {"bypass_mode": False},
        },
        "actor_rollout_ref": {"rollout": {"n": 8}, "actor": actor},
        "critic": {"data_loader_seed": 3},
        "data": {"max_response_length": 48, "train_batch_size": 32},
        "trainer": {"v1": {"sampler": {"sampler_kwargs": {"reproducible": True, "watch": watch}}}},
    }
    made = load("compass.rl.stage_trainer").StageTrainer(OmegaConf.create(config))
    made.paths, made.queue = paths, queue
    made.init()
    return made


def test_an_iteration_gets_the_guards_metrics(trainer: Any) -> None:
    metrics = trainer.iteration(2)
    assert metrics == {
        **HEALTHY,
        "renamed": True,
        "guards/response_length": 26.0,  # of the two that are no padding
        "guards/cut_off_share": 0.5,
        "guards/loop_share": 0.5,
    }
    assert read_findings(trainer.paths.findings) == []
    assert not trainer.paths.rollouts.exists()


@pytest.mark.parametrize(
    ("metric", "value", "guard"),
    [("actor/grad_norm", float("nan"), "not_finite"), ("training/rollout_probs_diff_max", 0.1, "agreement")],
)
def test_a_fault_stops_the_stage_before_its_checkpoint(trainer: Any, metric: str, value: float, guard: str) -> None:
    trainer.iteration(1)
    trainer.faults = {metric: value}
    with pytest.raises(GuardError, match=r"^iteration 2: "):
        trainer.iteration(2)
    assert trainer.saved == [1]
    (found,) = read_findings(trainer.paths.findings)
    assert (found["step"], found["guard"], found["level"]) == (2, guard, "stop")
    samples = pq.read_table(found["samples"]).to_pylist()
    assert {row["id"] for row in samples} == {"p1"}
    assert len(samples) == 2


def test_a_warning_saves_its_samples_without_the_gap_of_a_single_pass_and_trains_on(trainer: Any) -> None:
    trainer.faults = {"guards/zero_signal_share": 0.95}
    trainer.iteration(3)
    assert trainer.saved == [3]
    (found,) = read_findings(trainer.paths.findings)
    assert (found["level"], Path(found["samples"]).name) == ("warn", "000003-zero_signal.parquet")
    assert {row["gap_max"] for row in pq.read_table(found["samples"]).to_pylist()} == {None}


def test_comparisons_go_on_from_the_iterations_before_a_kill(trainer: Any, load: Any) -> None:
    rows = [{"step": step, **HEALTHY, "guards/response_length": 26.0} for step in range(1, 6)]
    trainer.paths.metrics.write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = type(trainer)(trainer.config)
    again.faults = {"actor/grad_norm": 60.0}
    again.iteration(6)
    assert [found["guard"] for found in read_findings(trainer.paths.findings)] == ["gradient_spike"]


def test_an_adaptive_kl_coefficient_goes_on_from_the_iteration_before_a_kill(
    trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates: list[tuple[float, dict[str, Any]]] = []
    last = {"step": 4, "actor/reward_kl_penalty": 0.3, "actor/reward_kl_penalty_coeff": 0.05}
    trainer.paths.metrics.write_text(json.dumps({"step": 3, "actor/reward_kl_penalty_coeff": 9.0}) + "\n")
    with trainer.paths.metrics.open("a") as file:
        file.write(json.dumps(last) + "\n")
    trainer.config.algorithm.use_kl_in_reward = True
    controller = SimpleNamespace(value=0.01, update=lambda **given: updates.append((controller.value, given)))
    monkeypatch.setattr(
        PPOTrainerSync, "kl_ctrl_in_reward", controller, raising=False
    )  # verl's, as it is made of the settings
    type(trainer)(trainer.config)
    assert updates == [(0.05, {"current_kl": 0.3, "n_steps": 32 * 8})]


def test_an_entropy_coefficient_with_a_target_rises_below_it_and_goes_on_after_a_kill(trainer: Any) -> None:
    def train(made: Any, step: int) -> tuple[float, float]:
        metrics = made.iteration(step)
        ((_, actor),) = made.loss.args
        return metrics["actor/entropy_coef"], actor.entropy_coeff

    trainer.watch.one_update = False
    trainer.watch.entropy.update(entropy_target=0.1, entropy_step=0.002, entropy_coef_max=0.005)
    assert [train(trainer, step) for step in (1, 2)] == [(0.002, 0.002), (0.004, 0.004)]
    trainer.paths.metrics.write_text(json.dumps({"step": 2, "actor/entropy_coef": 0.004}) + "\n")
    again = type(trainer)(trainer.config)
    again.init()
    assert train(again, 3) == (0.005, 0.005)
    again.watch.entropy.entropy_target = 0.07  # that of every iteration here
    assert train(again, 4) == (pytest.approx(0.003), 0)


def test_the_estimator_gets_the_greedy_rewards_of_its_groups(trainer: Any) -> None:
    from compass.rl import estimators

    trainer.config.algorithm.adv_estimator = estimators.GREEDY_BASELINE
    trainer.queue |= {"uid": lambda n: f"u{n}", estimators.REWARD: lambda n: torch.tensor(n / 48)}
    metrics: dict[str, Any] = {}
    trainer._compute_advantage(SimpleNamespace(keys=["u1_0_0", "u1_1_0"], partition_id="train"), metrics)
    assert estimators.BASELINE.rewards == pytest.approx({"u4": 4 / 48, "u48": 1.0})
    assert metrics == {"remax/greedy_reward/mean": pytest.approx((4 / 48 + 1) / 2)}


@pytest.mark.parametrize(
    ("notice", "saves", "saved", "slept"),
    [
        ("rollout", [], [2], ["aborted", "asleep"]),  # its weights are those of the iteration before
        ("old", [], [2], ["asleep"]),  # by now the engines sleep
        ("old", [2], [2], ["asleep"]),  # saved already
        ("update", [], [3], ["asleep"]),
    ],
)
def test_a_trainer_that_is_taken_away_saves_the_last_whole_iteration_and_ends(
    trainer: Any, notice: str, saves: list[int], saved: list[int], slept: list[str]
) -> None:
    trainer.global_steps = 0
    trainer.fit({"steps": 5, "notice": notice, "saves": saves})
    assert trainer.saved == saved
    assert trainer.saved_data == list(range(1, saved[-1] + 1))  # what the next start draws from is what comes after
    assert trainer.gone_to_sleep == ["asleep", "asleep", *slept]
    assert read_stopped(trainer.paths.stopped) == saved[-1]
    assert not trainer.paths.notice.exists()


def test_a_trainer_in_its_last_iteration_finishes_it(trainer: Any) -> None:
    trainer.global_steps = 0
    trainer.watch.steps = 3
    trainer.fit({"steps": 3, "notice": "update", "saves": [3]})
    assert trainer.saved == [3]
    assert read_stopped(trainer.paths.stopped) is None


def test_a_saved_iteration_has_its_metrics_on_disk_first(trainer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(self: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PPOTrainerSync, "_save_checkpoint", killed)
    with pytest.raises(KeyboardInterrupt):
        trainer.iteration(5)
    (line,) = trainer.paths.saved_metrics.read_text().splitlines()
    saved = json.loads(line)
    assert saved["step"] == 5
    assert saved["data"]["critic/score/mean"] == 0.25
    assert saved["data"]["training/epoch"] == 1
    assert saved["data"]["actor/entropy"] == 0.07
    assert "counts" not in saved["data"]


def test_the_rollouts_of_chosen_iterations_are_kept_with_those_that_were_left_out(trainer: Any) -> None:
    left_out = {
        "prompts": np.zeros(2),
        "responses": np.zeros(2),
        "rm_scores": np.zeros(2),
        "rollout_log_probs": np.zeros(2),
        "extra_fields": {"reward_extra_info": {"acc": 0.0}},
        "extra_info": {"id": "p2"},
        "reward_model": {"ground_truth": "1"},
    }
    trainer.replay_buffer.responses = {"u9_0_0": left_out}
    trainer.iteration(5)
    rows = pq.read_table(trainer.paths.rollouts / "000005.parquet").to_pylist()
    assert [(row["id"], row["used"], row["advantage"] is None) for row in rows] == [
        ("p1", True, False),
        ("p1", True, False),
        ("p2", False, True),
    ]


def test_the_phase_is_told(trainer: Any) -> None:
    trainer.iteration(7)
    assert trainer.phases == ["update", "checkpoint", "weights to the rollout engine"]
    assert read_progress(trainer.paths.progress)["step"] == 7


def test_an_iteration_that_is_one_update_has_one_pass_but_where_its_rollouts_are_kept(trainer: Any) -> None:
    assert (trainer.loss.func, trainer.loss.args) == (print, (("dataclass", trainer.config.actor_rollout_ref.actor),))
    passes = []
    for step in (1, 2, 5):
        metrics = trainer.iteration(step)
        bypassed = trainer.config.algorithm.rollout_correction.bypass_mode
        assert trainer.sent["one_update"] == bypassed == ("renamed" in metrics)
        passes.append(2 - bypassed)
    assert passes == [2, 1, 2]


def test_the_actor_has_our_loss_but_with_distillation(trainer: Any) -> None:
    assert trainer.loss.func is print
    made = type(trainer)(OmegaConf.merge(trainer.config, {"distillation": {"enabled": True}}))
    made.init()
    assert not hasattr(made, "loss")


def test_where_an_iteration_is_several_updates_verls_own_pass_stays(trainer: Any) -> None:
    trainer.watch.one_update = False
    again = type(trainer)(trainer.config)
    again.init()
    again.iteration(2)
    assert again.sent == {"one_update": False}
    assert again.entropy_mode == "token-mean"
    assert again.config.actor_rollout_ref.actor.loss_agg_mode == "seq-mean-token-mean", "of the loss"
    assert again.config.algorithm.rollout_correction.bypass_mode is False


def test_mini_batches_are_drawn_anew_in_every_iteration_and_alike_after_a_restart(trainer: Any) -> None:
    def seeds(made: Any, step: int) -> tuple[int, int]:
        made.iteration(step)
        return made.config.actor_rollout_ref.actor.data_loader_seed, made.config.critic.data_loader_seed

    again = type(trainer)(trainer.config.copy())
    again.init()
    first, second = seeds(trainer, 1), seeds(trainer, 2)
    assert first[0] == first[1] != second[0] == second[1]
    assert seeds(again, 2) == second


def test_a_problem_that_comes_again_within_an_iteration_is_told_apart(trainer: Any) -> None:
    trainer.problems = ["p1", "p2", "p1", "p1", "p1"]
    trainer.on_step_begin()
    before = [trainer._fetch_one_gen_batch()["sent_before"].tolist() for _ in range(4)]
    trainer.on_step_begin()
    assert [*before, trainer._fetch_one_gen_batch()["sent_before"].tolist()] == [[0], [0], [1], [2], [0]]
    trainer.problems, trainer.config.trainer.v1.sampler.sampler_kwargs.reproducible = ["p1"], False
    assert trainer._fetch_one_gen_batch() == {"extra_info": [{"id": "p1"}]}
