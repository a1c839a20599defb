"""Reinforcement learning without an accelerator: all that verl and vLLM lack for it. No run with GPUs reads this folder.

- `environment`: the variables of the trainer's processes; a further one goes there
- `patches`: what is changed inside verl and torch, one function each; a further one goes there
- `plugin`: the module that verl imports in every process; it applies the patches
- `platform`: the CPU as one of verl's platforms
- `engine`, `shared_prompts`: a pass that computes less
- `rollout`: vLLM's worker, and what is changed inside vLLM
- `fork_server`: starts Ray's and vLLM's processes by forking one that has imported everything
"""
