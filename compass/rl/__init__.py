"""Reinforcement learning with verl: one stage from its settings to trained weights.

- In the stage's own process: `start` (its model and its checks), `course`, `dataset`, `mixed_groups`, `launch`, `trainer_watch`, `checkpoint`,
  `metrics`, `rollouts`, `export`.
- A setting becomes verl's in `config`, with `device` for what the hardware decides, `advantage` for estimators and their critic, `correction` for
  rollout correction, and `verl_keys` for verl's own keys (`rl.verl`).
- In the trainer's process, which `launch` starts: `train`, `stage_trainer`, `reward_canary`, `cluster`.
- Loaded by verl, by name: `agent_loop` (from vLLM to the reward), `dynamic_sampling`, `reward_function`.
- `guards/` watches in both. `cpu/` is what only the CPU needs, `gpu/` what only GPUs need. `verl_internals` lists what is used of verl, Ray and vLLM
  that is no public interface.
"""
