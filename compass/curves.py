"""The curves of an RL stage: of which metric of an iteration each is made, its name in MLflow, and its title on pages.

MLflow, the live page, the report and studies draw by this one table. A metric of `steps.csv` whose name begins as one of `SHOWN` is a
curve without a line here, under its own name.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

SHOWN = ("guards/", "reward/", "val-")
"""How the names of metrics begin that are curves in any case: what a guard watches is worth a look."""


class Curve(NamedTuple):
    """One curve.

    `metric`: verl's name or the project's, in `steps.csv`. `tracked`: its name in MLflow. `title`: with its unit; "" where pages draw it
    as part of another chart, or not at all. `percent`: a share from 0 to 1, drawn in percent. `column`: its name in the report, "" where the
    report does not draw it.
    """

    metric: str
    tracked: str
    title: str = ""
    percent: bool = False
    column: str = ""

    @property
    def scale(self) -> float:
        """What a value is multiplied by where it is drawn."""
        return 100.0 if self.percent else 1.0


def _shown(metric: str, title: str = "", *, percent: bool = False, tracked: str = "") -> Curve:
    return Curve(metric, tracked or metric, title, percent, metric if title else "")


CURVES = (
    Curve("sampled/reward", "train/reward"),
    Curve("sampled/accuracy", "train/accuracy"),
    Curve("actor/entropy", "train/entropy", "entropy, nats per token", column="entropy"),
    Curve("sampled/response_tokens", "train/response_tokens"),
    Curve("actor/grad_norm", "update/grad_norm", "gradient norm", column="grad_norm"),
    Curve("actor/pg_loss", "update/policy_loss"),
    Curve("actor/lr", "update/learning_rate"),
    Curve("actor/pg_clipfrac", "update/clipped_share", "clipped tokens, %", percent=True, column="clipped"),
    Curve("actor/ppo_kl", "update/kl_to_rollout_policy"),
    Curve("actor/kl_loss", "update/kl_to_reference", "KL to the start, averaged as the loss", column="kl"),
    Curve("actor/reward_kl_penalty", "update/kl_in_reward", "KL taken off the reward, per token"),
    Curve("actor/reward_kl_penalty_coeff", "update/kl_coefficient"),
    Curve("actor/entropy_coef", "update/entropy_coefficient", "entropy coefficient"),
    Curve("critic/vf_loss", "critic/loss"),
    Curve("critic/vf_explained_var", "critic/explained_variance", "explained variance of the critic"),
    Curve("critic/values/mean", "critic/value"),
    Curve("remax/greedy_reward/mean", "train/greedy_reward", "reward of greedy responses"),
    Curve("training/rollout_probs_diff_max", "update/rollout_probability_error"),
    Curve("timing_s/step", "walltime/iteration_s"),
    Curve("timing_s/gen", "walltime/rollout_s"),
    Curve("timing_s/update_actor", "walltime/update_s"),
    Curve("perf/throughput", "walltime/tokens_per_s_per_rank"),
    Curve("guards/cut_off_share", "train/cut_off_share", "cut-off responses, %", percent=True, column="cut_off"),
    _shown("guards/loop_share", "responses that end in repetition, %", percent=True, tracked="train/looping_share"),
    _shown(
        "guards/zero_signal_share",
        "groups all right or all wrong, %",
        percent=True,
        tracked="train/groups_without_signal",
    ),
    _shown("guards/failed_groups", "groups that failed"),
    _shown("guards/response_length"),
    _shown("reward/solved_groups", "groups with a right response, %", percent=True),
    _shown("reward/leaned", "right ones that rest on a leniency, %", percent=True),
    _shown("reward/distinct_right", "variety of right responses, 0 to 1"),
)
"""In the order in which pages draw them."""


def unlisted_curves(metrics: Iterable[str]) -> list[str]:
    """The metrics that are curves by how their names begin alone."""
    listed = {curve.metric for curve in CURVES}
    return sorted({name for name in metrics if name and name.startswith(SHOWN)} - listed)


def read_steps(path: Path) -> dict[int, dict[str, float | None]]:
    """The metrics in a stage's `steps.csv` by iteration; None for one that the iteration does not have."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{name: float(value) if value else None for name, value in row.items()} for row in csv.DictReader(file)]
    return {int(row["step"]): row for row in rows if row.get("step") is not None}
