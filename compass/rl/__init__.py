"""Reinforcement learning with verl: one stage from its settings to trained weights.

The stage's own process: `start_checks`, `config` (settings to verl's configuration), `dataset`, `launch`, `checkpoint`, `metrics`,
`reward_table`, `mixed_groups`, `policy_agreement`. The trainer's process, which `launch` starts: `train`, `reward_canary`, `cluster`.
Loaded by verl, by name: `agent_loop`, `dynamic_sampling`, `reward_function`. `cpu/` is what only the CPU needs, `gpu/` what only
GPUs need.
"""
