"""`compute_score` as verl calls a custom reward function: the one that this project trains with.

reward.custom_reward_function.path=pkg://compass.integrations.verl
reward.custom_reward_function.name=compute_score

`extra_info` may hold the problem's text as `question`: an answer copied from it earns nothing; and what else is right as
`alternatives` (a list) and `tolerance` (`0.01` or `5%`).
"""

from __future__ import annotations

from compass.rl.reward_function import compute_score

__all__ = ["compute_score"]
