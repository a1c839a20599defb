"""Reinforcement learning without an accelerator: all that verl and vLLM lack for it. No run with GPUs reads this folder.

- `environment`: the variables of the trainer's processes; a further one goes there
- `patches`: what is changed inside verl, torch and vLLM, one function each; a further one goes there
- `plugin`: the module that verl imports in every process; it applies the patches
- `configuration`: how verl's configuration differs
- `platform`, `rollout`, `log_probabilities`, `gumbel`: what the patches put in place
- `fork_server`, `preload`: start Ray's and vLLM's processes by forking one that has imported everything
"""
