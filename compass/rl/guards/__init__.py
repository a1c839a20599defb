"""Guards of an RL stage: what makes a run worthless without ending it, seen while it can still be stopped.

Each guard has a name in `rl.guards` (`compass/settings/guards.py`) with its level: `off`, `warn` or `stop`.

- Before launch: `mixed_groups` (`compass/rl/mixed_groups.py`) and `reward_canary` (`compass/rl/reward_canary.py`).
- While an iteration samples: `failed_rollouts` (`compass/rl/dynamic_sampling.py`).
- After every update and before its checkpoint, in the trainer's process: the table `step_guards`.
- From the stage's own process, which lives when the trainer hangs: `watchdog` (`compass/rl/trainer_watch.py`).

What fires is written to `guards.jsonl` (`findings`), with the samples that show it.
"""
