"""Dynamic sampling with a bound and a record (report section 3; DAPO).

verl's replay buffer leaves out groups whose responses are all right or all wrong and asks for others in their place.
It has no bound: a policy that solves everything, or nothing, would generate for ever. This sampler

1. stops the stage when one iteration has thrown away more than `max_generation_batches` batches of groups, and says
   whether the problems are too easy or too hard;
2. writes one line for every finished group, kept or not, into `rewards.jsonl`: iteration, problem id, rewards, lengths;
3. polls every 50 ms, not every 2 s, which at small sizes is most of an iteration.

verl loads it by path (`trainer.v1.sampler.custom_sampler`).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import transfer_queue as tq
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer


class SaturatedError(RuntimeError):
    """Too few groups with both right and wrong responses to fill an iteration."""


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
        self.recorded: set[str] = set()
        self.evicted: Counter[float] = Counter()

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict]:
        """Wait for `batch_size` groups that teach something; see the base class."""
        self.recorded.clear()
        self.evicted.clear()
        return super().sample(global_steps=global_steps, partition_id=partition_id, batch_size=batch_size)

    def _evict_terminal_groups(
        self, global_steps: int, partition_id: str, eviction_reasons: tuple[set[str], set[str], set[str], Counter]
    ) -> tuple[set[str], int, int, dict]:
        self._record(global_steps, partition_id, filtered=eviction_reasons[1])
        self.evicted.update(eviction_reasons[3])
        thrown_away = sum(self.evicted.values())
        if self.train_batch_size and thrown_away > self.max_generation_batches * self.train_batch_size:
            raise SaturatedError(self._explain(global_steps, thrown_away))
        return super()._evict_terminal_groups(global_steps, partition_id, eviction_reasons)

    def _explain(self, global_steps: int, thrown_away: int) -> str:
        solved = sum(count for accuracy, count in self.evicted.items() if accuracy >= 1)
        easy = solved * 2 >= thrown_away
        return (
            f"iteration {global_steps} threw away {thrown_away} groups ({solved} all right, {thrown_away - solved} all "
            f"wrong) without filling a batch of {self.train_batch_size}; the problems are too "
            f"{'easy' if easy else 'hard'} for the policy: give the stage {'harder' if easy else 'easier'} levels "
            "(`curriculum.mixes`), more responses (`group_size`), or raise `max_generation_batches`"
        )

    def _record(self, global_steps: int, partition_id: str, filtered: set[str]) -> None:
        fresh = self.finished_keys[partition_id] - self.recorded
        if partition_id == "val" or not fresh:
            return
        self.recorded |= fresh
        keys = [key for key in self.partitions[partition_id] if key.split("_")[0] in fresh]
        data = tq.kv_batch_get(keys=keys, partition_id=partition_id, select_fields=["extra_fields"])
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for key, value in zip(keys, list(data["extra_fields"]), strict=True):
            fields = getattr(value, "data", value)
            tokens = self.partitions[partition_id][key]["response_len"]
            groups[key.split("_")[0]].append({**fields["reward_extra_info"], "tokens": tokens})
        with self.rewards_file.open("a", encoding="utf-8") as file:
            for uid, responses in sorted(groups.items()):
                line = {
                    "step": global_steps,
                    "id": responses[0]["problem_id"],
                    "rewards": [float(response["score"]) for response in responses],
                    "tokens": [int(response["tokens"]) for response in responses],
                    "used": uid not in filtered,
                }
                file.write(json.dumps(line) + "\n")
