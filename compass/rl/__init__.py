"""Reinforcement learning with verl: one stage from its settings to trained weights.

The stage's own process: `start`, `config` (settings to verl's configuration), `course`, `dataset`, `mixed_groups`, `launch`,
`checkpoint`, `metrics`, `rollouts`, `export`. The trainer's process, which `launch` starts: `train`,
`stage_trainer`, `reward_canary`, `cluster`. Loaded by verl, by name: `agent_loop`, `dynamic_sampling`, `reward_function`. `guards/`
watches in both. `cpu/` is what only the CPU needs, `gpu/` what only GPUs need.
"""
