"""verl's synchronous trainer, watched: guards before the checkpoint, rollouts kept, progress reported.

verl trains, saves a checkpoint, and only then gives an iteration's metrics: a fault that they show is in the checkpoint by
then, and a kill between the two loses them. Here

1. the guards see an iteration after its update and before its checkpoint, so that a checkpoint is never of a faulty one;
2. an iteration that is saved has its metrics on disk first;
3. the rollouts of chosen iterations are kept, and the worst samples of one in which a guard fires;
4. the trainer's phase is written for the process that watches it;
5. where the old log-probabilities are the rollout engine's, a few responses are compared with the trainer all the same;
6. an adaptive KL coefficient goes on where it was when a stage goes on, an entropy coefficient with a target follows it
   (`compass.rl.adaptive_entropy`), and ReMax gets its greedy rewards;
7. where an iteration is one update, the pass before it is left out (`compass.rl.policy_loss`);
8. every iteration has a seed of its own for its mini-batches;
9. with `rollout.reproducible` a problem goes with how often the iteration had it before, so that its responses get other seeds;
10. a trainer whose machine is taken away saves the last iteration that is whole, and ends (`compass.rl.notice`).

`compass.rl.train` puts it in the place of verl's.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
from verl.utils.config import omega_conf_to_dataclass
from verl.utils.debug import marked_timer

from compass.rl import estimators, policy_loss
from compass.rl.adaptive_entropy import COEFFICIENT, find_applied_coefficient, move_coefficient
from compass.rl.correction import compare_responses
from compass.rl.guards.findings import Findings
from compass.rl.guards.step_guards import STEP_GUARDS, Facts, StepGuard
from compass.rl.metrics import CUT_OFF, ENTROPY, LENGTH, LOOPS, find_loops, read_metrics, without_end
from compass.rl.notice import Noticed, answer_notice, check_notice
from compass.rl.progress import Progress
from compass.rl.reproducible import BEFORE, update_seed
from compass.rl.rollouts import SAMPLED, TRAINED, fetch_fields, keeps_rollouts, rollout_rows, write_step, write_worst

KL_IN_REWARD, KL_COEFFICIENT = "actor/reward_kl_penalty", "actor/reward_kl_penalty_coeff"
"""verl's metrics of KL in the reward: its mean per token, and the coefficient that it was taken with."""


class StageTrainer(PPOTrainerSync):
    """One RL stage's trainer; `trainer.v1.sampler.sampler_kwargs.watch` of its configuration says where it writes."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.watch = config.trainer.v1.sampler.sampler_kwargs.watch
        self.findings = Findings(Path(self.watch.findings), self.watch.guards)
        self.progress = Progress(Path(self.watch.progress))
        metrics = Path(self.watch.metrics)
        self.history: list[dict[str, Any]] = read_metrics(metrics) if metrics.exists() else []
        self.now: tuple[Any, dict[str, Any]] = (None, {})
        self.began = time.monotonic()
        self.update_seed: int = config.actor_rollout_ref.actor.data_loader_seed
        self.bypass: bool = config.algorithm.rollout_correction.bypass_mode
        self.compared: dict[str, np.ndarray] = {}
        self.one_pass = False
        self.handed_out: Counter[str] = Counter()
        self.notice = Path(self.watch.notice)
        self.whole_step, self.saved_step = 0, 0
        """The iteration whose weights these are, -1 while an update changes them, and the last one that has a checkpoint."""
        self.data_state: Any = None
        self.asleep = False
        """Whether the rollout engines have given their memory back."""
        if config.algorithm.use_kl_in_reward and self.history:
            self._restore_kl_coefficient(self.history[-1])

    def _restore_kl_coefficient(self, last: dict[str, Any]) -> None:
        """Bring the KL controller to where the last iteration left it: verl's checkpoints do not hold it."""
        responses = self.config.data.train_batch_size * self.config.actor_rollout_ref.rollout.n
        self.kl_ctrl_in_reward.value = float(last[KL_COEFFICIENT])
        self.kl_ctrl_in_reward.update(current_kl=float(last[KL_IN_REWARD]), n_steps=responses)

    def init(self) -> None:
        """Start every part, and give the actor its loss."""
        super().init()
        distillation = self.config.get("distillation")
        if not (distillation and distillation.enabled):  # which has a loss of its own
            actor = omega_conf_to_dataclass(self.config.actor_rollout_ref.actor)
            self.actor_rollout_wg.set_loss_fn(partial(policy_loss.loss, actor))

    def fit(self, agent_loop_manager: Any) -> None:
        """Train, to the last iteration or until the machine is taken away."""
        self.whole_step = self.saved_step = self.global_steps
        try:
            super().fit(agent_loop_manager)
        except Noticed:
            if self.whole_step != self.saved_step:
                self._save_whole()
            answer_notice(self.notice, Path(self.watch.stopped), self.whole_step)
            print(f"ended by a notice after iteration {self.whole_step}", flush=True)

    def _save_whole(self) -> None:
        """Save the iteration whose weights these are: this one, or the one before, whose metrics are logged already."""
        if self.whole_step == self.global_steps:
            self._save_checkpoint()
            return
        if not self.asleep:
            self.checkpoint_manager.abort_replicas(reject_request=True)
            self.on_sample_end()
        self.progress.write(phase="checkpoint of the iteration before")
        self.global_steps = self.whole_step
        self.train_dataloader = SimpleNamespace(state_dict=lambda: self.data_state)
        super()._save_checkpoint()

    def on_step_begin(self) -> None:
        """The next iteration begins."""
        self.data_state = self.train_dataloader.state_dict()
        self.asleep = False
        self.began = time.monotonic()
        self.handed_out.clear()
        kept = keeps_rollouts(self.global_steps, self.watch.steps, self.watch.rollouts_every)
        self.one_pass = self.watch.one_update and not kept
        if self.watch.one_update:  # verl then takes the rollout's log-probabilities for the old ones
            self.config.algorithm.rollout_correction.bypass_mode = self.one_pass
        for trained in (self.config.actor_rollout_ref.actor, self.config.critic):
            trained.data_loader_seed = update_seed(self.update_seed, step=self.global_steps)
        super().on_step_begin()

    def _fetch_one_gen_batch(self) -> Any:
        """verl's next problem of the data: one, since failed groups are replaced one by one."""
        batch = super()._fetch_one_gen_batch()
        if not self.config.trainer.v1.sampler.sampler_kwargs.reproducible:
            return batch
        problems = [info["id"] for info in batch["extra_info"]]
        batch[BEFORE] = torch.tensor([self.handed_out[problem] for problem in problems])
        self.handed_out.update(problems)
        return batch

    def step(self, metrics: dict, timing_raw: dict) -> Any:
        """One iteration: verl's, and a look at it.

        Raises:
            GuardError: a guard of level `stop` fired.
            Noticed: the machine is taken away, and this is not the last iteration.
        """
        check_notice(self.notice)
        batch = super().step(metrics, timing_raw)
        with marked_timer("guards", timing_raw):
            self._report_phase("guards")
            self._ask_guards(batch, metrics)
        self.history.append(dict(metrics))
        self.now = batch, metrics
        self.whole_step = self.global_steps
        if self.global_steps < self.watch.steps:
            check_notice(self.notice)
        return batch

    def _ask_guards(self, batch: Any, metrics: dict[str, Any]) -> None:
        """Ask every guard, and keep the rollouts."""
        longest = self.config.data.max_response_length
        real = [key for key, tag in zip(batch.keys, batch.tags, strict=True) if not tag.get("is_padding", False)]
        lengths = np.array([tag["response_len"] for tag in batch.tags if not tag.get("is_padding", False)])
        responses = fetch_fields(real, batch.partition_id, ("responses",))
        metrics[LENGTH] = float(lengths.mean())
        metrics[CUT_OFF] = float((lengths >= longest).mean())
        metrics[LOOPS] = float(
            find_loops([without_end(row["responses"], longest) for row in responses.values()]).mean()
        )

        rows: list[dict[str, Any]] = []
        if keeps_rollouts(self.global_steps, self.watch.steps, self.watch.rollouts_every):
            rows = self._rows(batch, real)
            write_step(Path(self.watch.rollouts), self.global_steps, rows)
        facts = Facts(metrics, self.history, self.watch.device, self.watch.dtype, self.watch.beginning)
        for guard in STEP_GUARDS:
            seen = None
            if self.findings.level(guard.name) != "off":
                seen = guard.find(facts, self.watch.guards[guard.name])
            if seen is not None:
                rows = rows or self._rows(batch, real)
                self._fire(guard, seen, rows)

    def _fire(self, guard: StepGuard, seen: str, rows: list[dict[str, Any]]) -> None:
        path = Path(self.watch.samples) / f"{self.global_steps:06d}-{guard.name}.parquet"
        write_worst(path, [row for row in rows if row["used"]], guard.worst)
        self.findings.fire(guard.name, self.global_steps, f"{seen}: {guard.why}. To do: {guard.remedy}", path)

    def _rows(self, batch: Any, real: list[str]) -> list[dict[str, Any]]:
        """Every response that the update used, and those that the sampler kept of groups that it left out."""
        used = fetch_fields(real, batch.partition_id, (*SAMPLED, *TRAINED))
        groups = {key.split("_")[0] for key in used}
        if self.bypass or self.one_pass:  # the old log-probabilities are the rollout engine's
            for key, fields in used.items():
                fields["old_log_probs"] = self.compared.get(key)
        responses = {**self.replay_buffer.responses, **used}
        return rollout_rows(self.global_steps, responses, groups, self.tokenizer, self.config.data.max_response_length)

    def _save_checkpoint(self) -> None:
        self._report_phase("checkpoint")
        self._write_metrics()
        super()._save_checkpoint()
        self.saved_step = self.global_steps

    def _write_metrics(self) -> None:
        """Write the iteration's metrics, as verl will log them after the checkpoint: a kill in between loses none."""
        batch, metrics = self.now
        whole, timing = dict(metrics), {**self.timing_raw, "step": time.monotonic() - self.began}
        epoch = (self.global_steps - 1) // self.steps_per_epoch
        super()._compute_metrics(batch, whole, timing, global_steps=self.global_steps, epoch=epoch)
        numbers = {name: float(value) for name, value in whole.items() if np.isscalar(value)}
        with Path(self.watch.saved_metrics).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": self.global_steps, "data": numbers}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _report_phase(self, phase: str) -> None:
        self.progress.write(step=self.global_steps, phase=phase)

    def _begin_phase(self, phase: str) -> None:
        """Report a phase in which the weights are still those of the iteration before; `Noticed` where that one is to be saved."""
        check_notice(self.notice)
        self._report_phase(phase)

    def _begin_update(self, phase: str) -> None:
        """Report a phase that changes weights."""
        if self.whole_step >= 0:
            check_notice(self.notice)
        self.whole_step = -1
        self._report_phase(phase)

    def on_sample_end(self) -> None:
        """All responses are there; the engines give their memory back."""
        super().on_sample_end()
        self.asleep = True

    def _compute_old_log_prob(self, batch: Any, metrics: dict) -> Any:
        self._begin_phase("old log-probabilities")
        actor = self.config.actor_rollout_ref.actor
        mode, actor.loss_agg_mode = actor.loss_agg_mode, policy_loss.PER_TOKEN  # of entropy alone, there
        try:
            batch = super()._compute_old_log_prob(batch, metrics)
        finally:
            actor.loss_agg_mode = mode
        if self.bypass:
            compared, self.compared = compare_responses(self, batch)
            metrics.update(compared)
        return batch

    def _compute_ref_log_prob(self, batch: Any, metrics: dict) -> Any:
        self._begin_phase("reference log-probabilities")
        return super()._compute_ref_log_prob(batch, metrics)

    def _compute_advantage(self, batch: Any, metrics: dict) -> Any:
        self._begin_phase("advantages")
        if self.config.algorithm.adv_estimator == estimators.GREEDY_BASELINE:
            fields = fetch_fields(batch.keys, batch.partition_id, ("uid", estimators.REWARD))
            greedy = {str(one["uid"]): float(one[estimators.REWARD]) for one in fields.values()}
            estimators.BASELINE.set_rewards(greedy)
            metrics[estimators.METRIC] = float(np.mean(list(greedy.values())))
        return super()._compute_advantage(batch, metrics)

    def _compute_values(self, batch: Any, metrics: dict) -> Any:
        self._begin_phase("values")
        return super()._compute_values(batch, metrics)

    def _update_critic(self, batch: Any, metrics: dict) -> Any:
        self._begin_update("update of the critic")
        return super()._update_critic(batch, metrics)

    def _update_actor(self, batch: Any, metrics: dict) -> Any:
        self._begin_update("update")
        if self.watch.entropy.entropy_target:
            self._follow_entropy(metrics)
        batch.extra_info[policy_loss.FLAG] = self.one_pass
        batch = super()._update_actor(batch, metrics)
        if self.one_pass:
            policy_loss.rename_metrics(metrics)
        return batch

    def _follow_entropy(self, metrics: dict) -> None:
        """Move the entropy coefficient, and give the actor the loss that has it."""
        ours, actor = self.watch.entropy, self.config.actor_rollout_ref.actor
        metrics[COEFFICIENT] = move_coefficient(self.history, metrics[ENTROPY], ours)
        actor.entropy_coeff = find_applied_coefficient(metrics, ours.entropy_target)
        self.actor_rollout_wg.set_loss_fn(partial(policy_loss.loss, omega_conf_to_dataclass(actor)))

    def _balance_batch(self, batch: Any, metrics: dict, *arguments: Any, **named: Any) -> Any:
        if self.actor_rollout_wg.world_size > 1:
            return super()._balance_batch(batch, metrics, *arguments, **named)
        from verl.trainer.ppo.padding_utils import upsample_batch_to_divisible_size

        # verl would sort all responses into the only part that there is; groups stay together this way
        return upsample_batch_to_divisible_size(
            batch, self._get_required_batch_multiple(1), self.tokenizer.eos_token_id
        )

    def on_validate_begin(self) -> None:
        """verl validates after the weights went to the rollout engine."""
        self._report_phase("validation")
        super().on_validate_begin()

    def on_step_end(self) -> None:
        """The update is done; its weights go to the rollout engine."""
        self._report_phase("weights to the rollout engine")
        super().on_step_end()
