"""A stage's loss and advantages through verl's own functions under its configuration, for values worked out by hand."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from compass.rl import estimators
from compass.rl.config import verl_config
from compass.rl.paths import StagePaths
from compass.settings import RlStage, load_settings

ROOT = Path(__file__).resolve().parents[2]
PATHS = StagePaths(Path("m"), Path("t"), Path("w"))
PAPER = load_settings(ROOT / "profiles/paper.yaml").rl.stages["rl-1"]


def recipe(**groups: dict[str, Any]) -> RlStage:
    """The paper's stage with some values of its groups changed."""
    return PAPER.model_copy(
        update={name: getattr(PAPER, name).model_copy(update=changes) for name, changes in groups.items()}
    )


def nested(rows: Sequence[Sequence[float]]) -> torch.Tensor:
    return torch.nested.as_nested_tensor([torch.tensor(row) for row in rows], layout=torch.jagged)


def loss(
    actor: Any,
    ratios: Sequence[Sequence[float]],
    advantages: Sequence[float],
    *,
    reference: Sequence[Sequence[float]] | None = None,
    of: tuple[int, int] | None = None,
) -> tuple[float, list[list[float]]]:
    """verl's loss of some responses and its gradient by the new log-probabilities.

    Args:
        actor: verl's typed configuration of the policy.
        ratios: of each token of each response; the old log-probability is 0.
        advantages: of each response.
        reference: log-probabilities of the reference.
        of: tokens and responses of the whole update, where these are one pass of several.
    """
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu
    from verl.workers.utils.losses import ppo_loss

    lengths = [len(row) for row in ratios]
    # one token of prompt each: the log-probability at a position is that of the token after it
    new = torch.tensor([math.log(ratio) for row in ratios for ratio in (*row, 1.0)], requires_grad=True)
    ends = torch.tensor([0, *np.cumsum([length + 1 for length in lengths])])
    fields = {
        "prompts": nested([[1.0]] * len(lengths)),
        "responses": nested([[1.0] * length for length in lengths]),
        "response_mask": nested([[1.0] * length for length in lengths]),
        "old_log_probs": nested([[0.0] * length for length in lengths]),
        "advantages": nested([[a] * length for a, length in zip(advantages, lengths, strict=True)]),
    }
    if reference is not None:
        fields["ref_log_prob"] = nested(reference)
    data = TensorDict(fields, batch_size=[len(lengths)])
    tokens, responses = of or (sum(lengths), len(lengths))
    tu.assign_non_tensor(data, dp_size=1, batch_num_tokens=tokens, global_batch_size=responses)
    value, _ = ppo_loss(actor, {"log_probs": torch.nested.nested_tensor_from_jagged(new, ends)}, data)
    value.backward()
    gradient = iter(new.grad.tolist())
    rows = [[next(gradient) for _ in range(length + 1)] for length in lengths]
    assert all(row[-1] == 0 for row in rows)
    return value.item(), [row[:-1] for row in rows]


def advantages(settings: RlStage, rewards: dict[str, list[float]], lengths: Sequence[int] | None = None) -> list[float]:
    """Each response's advantage; every token has its response's."""
    rows, _ = token_advantages(settings, rewards, lengths)
    assert all(len(set(row)) == 1 for row in rows)
    return [row[0] for row in rows]


def token_advantages(
    settings: RlStage,
    rewards: dict[str, list[float]],
    lengths: Sequence[int] | None = None,
    *,
    values: Sequence[Sequence[float]] = (),
    greedy: Mapping[str, float] | None = None,
) -> tuple[list[list[float]], list[list[float]]]:
    """Advantage and return of each response's tokens as verl's trainer computes them; a reward stands at a response's last token.

    Args:
        settings: the stage's.
        rewards: of each response, by its group.
        lengths: tokens of each response; one each by default.
        values: the critic's, of each token of each response.
        greedy: the reward of each group's greedy response.
    """
    from verl import DataProto
    from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories

    estimators.register_estimators()
    estimators.BASELINE.set_rewards(greedy or {})
    algorithm = verl_config("rl-1", settings, PATHS, seed=0).algorithm
    given = [reward for group in rewards.values() for reward in group]
    lengths = lengths or [1] * len(given)
    mask = torch.tensor([[float(at < length) for at in range(max(lengths))] for length in lengths])
    last = torch.tensor([[float(at == length - 1) for at in range(max(lengths))] for length in lengths])
    tensors = {"response_mask": mask, "token_level_rewards": last * torch.tensor(given).unsqueeze(-1)}
    if values:
        tensors["values"] = nested(values).to_padded_tensor(0.0)
    data = DataProto.from_dict(
        tensors=tensors,
        non_tensors={"uid": np.array([name for name, group in rewards.items() for _ in group], dtype=object)},
    )
    done = compute_advantage_for_multi_trajectories(
        data,
        batch_keys=[f"{name}_{n}_0" for name, group in rewards.items() for n in range(len(group))],
        adv_estimator=algorithm.adv_estimator,
        gamma=algorithm.gamma,
        lam=algorithm.lam,
        num_repeat=settings.rollout.group_size,
        norm_adv_by_std_in_grpo=algorithm.norm_adv_by_std_in_grpo,
        config=algorithm,
    ).batch
    return tuple(
        [row[:length] for row, length in zip(done[name].tolist(), lengths, strict=True)]
        for name in ("advantages", "returns")
    )
