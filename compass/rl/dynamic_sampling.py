"""Dynamic sampling with a bound and a record (report section 3; DAPO).

verl's replay buffer leaves out groups whose responses are all right or all wrong and asks for others in their place.
It has no bound: a policy that solves everything, or nothing, would generate for ever. This sampler

1. stops the stage when one iteration has thrown away more than `max_generation_batches` batches of groups
   (`compass.rl.mixed_groups`);
2. writes one line for every finished group into `rewards.jsonl` (`compass.rl.reward_table`), with whether the update used
   it: a group may also be surplus, finished after the batch was full;
3. polls every 50 ms, not every 2 s, which at small sizes is most of an iteration.

verl loads it by path (`trainer.v1.sampler.custom_sampler`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import transfer_queue as tq
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from compass.rl.mixed_groups import check_saturation
from compass.rl.reward_table import append_groups, group_line


class GroupSampler(ReplayBuffer):
    """verl's synchronous replay buffer, bounded and recorded.

    `sampler_kwargs` (from `compass.rl.config`): `filter_groups_metric` (`acc`, or None for no dynamic sampling),
    `train_batch_size`, `gen_batch_size`, `max_generation_batches`, `rewards_file`.
    """

    def __init__(self, **arguments: Any) -> None:
        options = dict(arguments["sampler_kwargs"] or {})
        self.max_generation_batches = int(options.pop("max_generation_batches"))
        self.rewards_file = Path(options.pop("rewards_file"))
        super().__init__(**{**arguments, "poll_interval": 0.05, **options})
        self.groups: dict[str, dict[str, Any]] = {}
        self.selected: set[str] = set()
        self.evicted: Counter[float] = Counter()

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict]:
        """Wait for `batch_size` groups that teach something; see the base class."""
        self.groups.clear()
        self.selected.clear()
        self.evicted.clear()
        try:
            return super().sample(global_steps=global_steps, partition_id=partition_id, batch_size=batch_size)
        finally:
            # also what a saturated iteration threw away: it shows why
            append_groups(self.rewards_file, self.groups, used=self.selected)

    def _materialize_batch(
        self, partition_id: str, selected_prompt_uids: list[str], partition_snapshot: dict[str, dict]
    ) -> Any:
        self.selected.update(selected_prompt_uids)
        return super()._materialize_batch(partition_id, selected_prompt_uids, partition_snapshot)

    def _evict_terminal_groups(
        self, global_steps: int, partition_id: str, eviction_reasons: tuple[set[str], set[str], set[str], Counter]
    ) -> tuple[set[str], int, int, dict]:
        self._record(global_steps, partition_id)
        self.evicted.update(eviction_reasons[3])
        check_saturation(global_steps, self.evicted, self.train_batch_size, self.max_generation_batches)
        return super()._evict_terminal_groups(global_steps, partition_id, eviction_reasons)

    def _record(self, global_steps: int, partition_id: str) -> None:
        """Remember the groups that have finished since the last poll, before any of them is evicted."""
        fresh = self.finished_keys[partition_id] - self.groups.keys()
        if partition_id == "val" or not fresh:
            return
        keys = [key for key in self.partitions[partition_id] if key.split("_")[0] in fresh]
        data = tq.kv_batch_get(keys=keys, partition_id=partition_id, select_fields=["extra_fields"])
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for key, value in zip(keys, list(data["extra_fields"]), strict=True):
            fields = getattr(value, "data", value)
            tokens = self.partitions[partition_id][key]["response_len"]
            groups[key.split("_")[0]].append({**fields["reward_extra_info"], "tokens": tokens})
        for name, responses in groups.items():
            self.groups[name] = group_line(global_steps, responses)
