"""Dynamic sampling with a bound and a record (report section 3; DAPO).

verl's replay buffer leaves out groups whose responses are all right or all wrong and asks for others in their place.
It has no bound: a policy that solves everything, or nothing, would generate forever. And a group with a response that
could not be sampled or scored counts as a sample like any other. This sampler

1. stops the stage when one iteration has thrown away more than `max_generation_batches` batches of groups
   (`compass.rl.mixed_groups`);
2. replaces failed groups and counts them; beyond the tolerance of the guard `failed_rollouts` they stop the stage;
3. writes one line for every finished group into `rewards.jsonl` (`compass.rl.rollouts`), with the reward that trains
   and whether the update used it: a group may also be surplus, finished after the batch was full;
4. keeps the responses of iterations whose rollouts are recorded, those of left-out groups included;
5. polls every 50 ms, not every 2 s, which at small sizes is most of an iteration;
6. with `rollout.refill: 1` asks for one group in place of each that is left out, verl for two;
7. with `rollout.reproducible` chooses the same groups in the same order, whenever they end (`compass.rl.reproducible`);
8. ends an iteration whose machine is taken away (`compass.rl.notice`).

verl loads it by path (`trainer.v1.sampler.custom_sampler`).
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import transfer_queue as tq
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from compass.rl.guards.findings import Findings
from compass.rl.metrics import FAILED, ZERO_SIGNAL, group_metrics, leniency_metrics, sampled_metrics
from compass.rl.mixed_groups import check_saturation
from compass.rl.notice import check_notice
from compass.rl.progress import Progress
from compass.rl.reproducible import OneForOne, order_keys
from compass.rl.rollouts import SAMPLED, append_groups, fetch_fields, group_line, keeps_rollouts, reward_of

LOST = ("ActorDiedError", "ActorUnavailableError")
"""Ray's errors where a process that samples or scores is gone: no fault of the responses'."""

LOST_S = 60.0
"""Seconds in which `compass.rl.trainer_watch` ends the training then, and says what is lost."""


class GroupSampler(ReplayBuffer):
    """verl's synchronous replay buffer, bounded and recorded.

    Of `sampler_kwargs` (from `compass.rl.config`) verl's buffer takes `filter_groups_metric` (`acc`, or None for no dynamic sampling),
    `train_batch_size`, `gen_batch_size` and `max_inflight_gen_batches`; the sampler reads `max_generation_batches`, `refill`,
    `reproducible` and `watch` (`watch_config` of the same). What else is there is the agent loop's.
    """

    def __init__(self, **arguments: Any) -> None:
        options = arguments["sampler_kwargs"]
        self.max_generation_batches = int(options["max_generation_batches"])
        self.reproducible = bool(options["reproducible"])
        one_for_one = options["refill"] == 1 or self.reproducible
        self.watch = options["watch"]
        names = ("filter_groups_metric", "train_batch_size", "gen_batch_size", "max_inflight_gen_batches")
        super().__init__(**arguments, poll_interval=0.05, **{name: options[name] for name in names})
        self.replace = OneForOne(self.refill_fn) if one_for_one else None
        self.refill_fn = self.replace or self.refill_fn
        self.rewards_file = Path(self.watch["rewards"])
        self.findings = Findings(Path(self.watch["findings"]), self.watch["guards"])
        self.progress = Progress(Path(self.watch["progress"]))
        self.groups: dict[str, dict[str, Any]] = {}
        self.right: dict[str, list[tuple[bool, bytes]]] = {}
        self.responses: dict[str, dict[str, Any]] = {}
        self.selected: set[str] = set()
        self.evicted: Counter[float] = Counter()
        self.failed: dict[str, tuple[str, str]] = {}
        self.judged: list[dict[str, Any]] = []

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict]:
        """Wait for `batch_size` groups that teach something; see the base class."""
        for kept in (self.groups, self.right, self.responses, self.selected, self.evicted, self.failed, self.judged):
            kept.clear()
        try:
            batch, metrics = super().sample(global_steps=global_steps, partition_id=partition_id, batch_size=batch_size)
        finally:
            # also what a saturated iteration threw away: it shows why
            append_groups(self.rewards_file, self.groups, used=self.selected)
        if self.right:
            groups = list(self.right.values())
            mixed = sum(len({is_right for is_right, _ in group}) > 1 for group in groups)
            metrics[ZERO_SIGNAL] = 1 - mixed / len(groups)
            metrics[FAILED] = len(self.failed)
            metrics |= group_metrics(groups)
            metrics |= sampled_metrics(self.judged)
            metrics |= leniency_metrics(self.judged)
        return batch, metrics

    def _materialize_batch(
        self, partition_id: str, selected_prompt_uids: list[str], partition_snapshot: dict[str, dict]
    ) -> Any:
        self.selected.update(selected_prompt_uids)
        if self.reproducible:
            order = order_keys(partition_snapshot, self.prompt_global_steps[partition_id])
            partition_snapshot = {key: partition_snapshot[key] for key in order}
        return super()._materialize_batch(partition_id, selected_prompt_uids, partition_snapshot)

    def _terminal_eviction_reasons(
        self, global_steps: int, partition_id: str
    ) -> tuple[set[str], set[str], set[str], Counter]:
        stale, filtered, failed, counts = super()._terminal_eviction_reasons(global_steps, partition_id)
        if partition_id != "val":
            # also those of which some responses were made: what is left of a group is no sample of it
            failed = set(self.failure_keys[partition_id])
        return stale, filtered, failed, counts

    def _evict_terminal_groups(
        self, global_steps: int, partition_id: str, eviction_reasons: tuple[set[str], set[str], set[str], Counter]
    ) -> tuple[set[str], int, int, dict]:
        check_notice(Path(self.watch["notice"]))
        self._record(global_steps, partition_id)
        self._check_failed(global_steps, partition_id, eviction_reasons[2])
        self.evicted.update(eviction_reasons[3])
        check_saturation(global_steps, self.evicted, self.train_batch_size, self.max_generation_batches)
        if self.replace is not None:
            stale, filtered, failed, _ = eviction_reasons
            self.replace.owed += len(stale | filtered | failed)
        return super()._evict_terminal_groups(global_steps, partition_id, eviction_reasons)

    def _record(self, global_steps: int, partition_id: str) -> None:
        """Remember the groups that have finished since the last poll, before any of them is evicted."""
        finished = self.finished_keys[partition_id]
        fresh = finished - self.groups.keys()
        if partition_id == "val":
            return
        count = len(self.groups.keys() | finished)
        self.progress.write(
            step=global_steps,
            phase="rollout",
            detail=f"{count} group{'s' * (count != 1)} finished, {sum(self.evicted.values())} of them left out",
        )
        if not fresh:
            return
        keys = [key for key in self.partitions[partition_id] if key.split("_")[0] in fresh]
        whole = keeps_rollouts(global_steps, self.watch["steps"], self.watch["rollouts_every"])
        responses = fetch_fields(keys, partition_id, SAMPLED if whole else ("extra_fields", "rm_scores", "responses"))
        if whole:
            self.responses.update(responses)
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for key, fields in responses.items():
            judged = fields["extra_fields"]["reward_extra_info"]
            group, length = key.split("_")[0], self.partitions[partition_id][key]["response_len"]
            groups[group].append({**judged, "reward": reward_of(fields["rm_scores"]), "tokens": length})
            self.right.setdefault(group, []).append((judged["acc"] > 0, fields["responses"][:length].tobytes()))
        for name, group in groups.items():
            self.judged += group
            self.groups[name] = group_line(global_steps, group)

    def _check_failed(self, global_steps: int, partition_id: str, failed: set[str]) -> None:
        """Count groups with a response that could not be made or scored.

        Raises:
            GuardError: there are more than the guard `failed_rollouts` tolerates.
            FailedRolloutsError: there are so many that no batch fills; or more than tolerated since a process is lost.
        """
        fresh = failed - self.failed.keys()
        if not fresh:
            return
        tags = tq.kv_list(partition_id)[partition_id]
        self.failed.update(
            {name: (tags[name].get("error", "no reason was given"), tags[name].get("problem", "")) for name in fresh}
        )
        ours, batch = self.watch["guards"]["failed_rollouts"], self.train_batch_size
        count = len(self.failed)
        beyond = count > ours["limit"] * batch and count - len(fresh) <= ours["limit"] * batch
        if beyond and _most_frequent(self.failed).startswith(LOST):
            time.sleep(LOST_S)
            raise FailedRolloutsError(f"iteration {global_steps}: {_failures(self.failed, batch)}")
        if count > self.max_generation_batches * batch:
            raise FailedRolloutsError(f"iteration {global_steps}: {_failures(self.failed, batch)}")
        if beyond:
            self.findings.fire("failed_rollouts", global_steps, _failures(self.failed, batch))


class FailedRolloutsError(RuntimeError):
    """So many groups failed that an iteration cannot fill its batch."""


def _most_frequent(failed: dict[str, tuple[str, str]]) -> str:
    return Counter(error for error, _ in failed.values()).most_common(1)[0][0]


def _failures(failed: dict[str, tuple[str, str]], batch: int) -> str:
    """How many groups failed, and the most frequent reason with a problem that shows it."""
    reason = _most_frequent(failed)
    times = sum(error == reason for error, _ in failed.values())
    problem = next(problem for error, problem in failed.values() if error == reason)
    return (
        f"{len(failed)} groups (a batch has {batch}) hold a response that could not be sampled or scored, {times} of them for "
        f"this reason: {reason} (problem {problem or 'unknown'}). Mend the cause: the traceback is in the stage's train.log"
    )
