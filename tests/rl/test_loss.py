"""The loss of the report (section 3, its variant of GRPO), through verl's own functions with the project's configuration.

Every expected value is worked out by hand from the formulas, on a few tokens. Ratios are those of new to old policy.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from compass.rl.config import StagePaths, verl_config
from compass.settings import RlStage, load_settings

ROOT = Path(__file__).resolve().parents[2]
PAPER = load_settings(ROOT / "profiles/paper.yaml").rl.stages["rl-1"]
Accepted = Callable[..., Any]


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
    """Each response's advantage as verl's trainer computes it; a reward stands at a response's last token."""
    from verl import DataProto
    from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories

    config = verl_config("rl-1", settings, StagePaths(Path("m"), Path("t"), Path("w")), seed=0)
    given = [reward for group in rewards.values() for reward in group]
    lengths = lengths or [1] * len(given)
    mask = torch.tensor([[float(at < length) for at in range(max(lengths))] for length in lengths])
    last = torch.tensor([[float(at == length - 1) for at in range(max(lengths))] for length in lengths])
    data = DataProto.from_dict(
        tensors={"response_mask": mask, "token_level_rewards": last * torch.tensor(given).unsqueeze(-1)},
        non_tensors={"uid": np.array([name for name, group in rewards.items() for _ in group], dtype=object)},
    )
    done = compute_advantage_for_multi_trajectories(
        data,
        batch_keys=[f"{name}_{n}_0" for name, group in rewards.items() for n in range(len(group))],
        adv_estimator=config.algorithm.adv_estimator,
        num_repeat=settings.rollout.group_size,
        norm_adv_by_std_in_grpo=config.algorithm.norm_adv_by_std_in_grpo,
        config=config.algorithm,
    ).batch["advantages"]
    firsts = done[:, 0].tolist()
    assert torch.equal(done, done[:, :1] * mask)  # every token has its response's advantage
    return firsts


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        ("token-mean", -(2 * 1 - 1 * 3) / 4),  # the report's: every token weighs the same
        ("seq-mean-token-mean", -(2 - 1) / 2),  # GRPO's: every response weighs the same
        ("seq-mean-token-sum", -(2 * 1 - 1 * 3) / 2),
    ],
)
def test_tokens_are_averaged_as_the_setting_says(accepted: Accepted, aggregation: str, expected: float) -> None:
    actor = accepted("rl-1", recipe(loss={"aggregation": aggregation}))
    value, _ = loss(actor, [[1.0], [1.0, 1.0, 1.0]], [2.0, -1.0])
    assert value == pytest.approx(expected)


def test_the_mean_is_over_the_tokens_of_the_whole_update_however_it_is_cut_into_passes(accepted: Accepted) -> None:
    """Not over each group's tokens, as in the report's formula: a group of long responses weighs more."""
    actor = accepted("rl-1", PAPER)
    short, _ = loss(actor, [[1.0]], [2.0], of=(4, 2))
    long, _ = loss(actor, [[1.0, 1.0, 1.0]], [-1.0], of=(4, 2))
    assert (short, long) == (pytest.approx(-0.5), pytest.approx(0.75))
    assert short + long == pytest.approx(loss(actor, [[1.0], [1.0, 1.0, 1.0]], [2.0, -1.0])[0])


@pytest.mark.parametrize(
    ("ratio", "advantage", "term", "slope"),
    [
        (1.1, 1.0, 1.1, 1.1),
        (1.27, 1.0, 1.27, 1.27),  # beyond 1 + 0.2, below the raised bound 1 + 0.28
        (1.29, 1.0, 1.28, 0.0),
        (3.0, 1.0, 1.28, 0.0),
        (0.5, 1.0, 0.5, 0.5),  # a better response that has become less likely is always pulled back
        (0.9, -1.0, -0.9, -0.9),
        (0.81, -1.0, -0.81, -0.81),
        (0.79, -1.0, -0.8, 0.0),
        (0.1, -1.0, -0.8, 0.0),
        (1.5, -1.0, -1.5, -1.5),  # a worse response that has become likelier is always pushed back
        (2.9, -1.0, -2.9, -2.9),
        (3.1, -1.0, -3.0, 0.0),  # up to the dual clip, which the report's formula does not have
    ],
)
def test_ratios_are_clipped_at_the_two_bounds(
    accepted: Accepted, ratio: float, advantage: float, term: float, slope: float
) -> None:
    value, gradient = loss(accepted("rl-1", PAPER), [[ratio]], [advantage])
    assert value == pytest.approx(-term, rel=1e-6)
    assert gradient[0][0] == pytest.approx(-slope, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("ratio", [3.1, 1e4, 4e8])
def test_without_the_dual_clip_the_loss_is_the_reports(accepted: Accepted, ratio: float) -> None:
    value, gradient = loss(accepted("rl-1", recipe(loss={"dual_clip": 0.0})), [[ratio]], [-1.0])
    assert (value, gradient[0][0]) == (pytest.approx(ratio, rel=1e-5), pytest.approx(ratio, rel=1e-5))


def test_without_a_kl_term_the_reference_does_not_count(accepted: Accepted) -> None:
    actor = accepted("rl-1", PAPER)
    alone = loss(actor, [[1.1, 0.9]], [1.0])
    assert loss(actor, [[1.1, 0.9]], [1.0], reference=[[-3.0, 2.0]]) == alone


def test_a_kl_term_adds_the_low_variance_estimate_over_the_same_tokens(accepted: Accepted) -> None:
    """exp(x) - x - 1 with x = reference - policy, times the coefficient; its slope by the policy is 1 - exp(x)."""
    actor = accepted("rl-1", recipe(loss={"kl_coef": 0.1}))
    value, gradient = loss(actor, [[1.0, 1.0]], [0.0], reference=[[math.log(2), 0.0]])
    assert value == pytest.approx(0.1 * (2 - math.log(2) - 1) / 2)
    assert gradient[0] == pytest.approx([0.1 * (1 - 2) / 2, 0.0])


def test_the_standard_deviation_is_the_samples() -> None:
    """Of three times -1 and once 1: mean -1/2; sum of squares 3, over n - 1 = 3 gives 1, over n = 4 (the report) 0.866."""
    assert advantages(PAPER, {"a": [1.0, -1.0, -1.0, -1.0]}) == pytest.approx([1.5, -0.5, -0.5, -0.5], abs=1e-5)
    plus_minus = math.sqrt(4 / 3)  # two of each: mean 0, sum of squares 4
    two = advantages(PAPER, {"a": [1.0, 1.0, -1.0, -1.0]})
    assert two == pytest.approx([1 / plus_minus, 1 / plus_minus, -1 / plus_minus, -1 / plus_minus], abs=1e-5)
    undivided = recipe(advantage={"normalise_by_std": False})
    assert advantages(undivided, {"a": [1.0, 1.0, -1.0, -1.0]}) == [1.0, 1.0, -1.0, -1.0]


def test_groups_are_compared_within_themselves_alone() -> None:
    both = advantages(PAPER, {"a": [1.0, -1.0], "b": [5.0, 3.0, 4.0]})
    assert both[:2] == pytest.approx(advantages(PAPER, {"a": [1.0, -1.0]}))
    assert both[2:] == pytest.approx([1.0, -1.0, 0.0], abs=1e-5)


@pytest.mark.parametrize("reward", [1.0, -1.0])
def test_equal_rewards_give_no_gradient(accepted: Accepted, reward: float) -> None:
    ours = advantages(PAPER, {"a": [reward] * 4})
    assert ours == [0.0] * 4
    value, gradient = loss(accepted("rl-1", PAPER), [[1.1, 0.7], [0.9], [5.0], [1.0]], ours)
    assert value == 0
    assert gradient == [[0.0, 0.0], [0.0], [0.0], [0.0]]


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        ("rloo", [2.0, -2 / 3, -2 / 3, -2 / 3]),  # less the mean of the other three: -1; -1/3
        # over all tokens of the batch: mean -1/2, variance 1 (unbiased)
        ("reinforce_plus_plus", [1.5, -0.5, -0.5, -0.5]),
    ],
)
def test_other_estimators(estimator: str, expected: list[float]) -> None:
    settings = recipe(advantage={"estimator": estimator})
    assert advantages(settings, {"a": [1.0, -1.0, -1.0, -1.0]}) == pytest.approx(expected, abs=1e-5)


def test_mini_batches_are_drawn_anew_in_every_pass_and_the_same_again_for_the_same_seed(accepted: Accepted) -> None:
    """verl hands over responses in the order in which they ended: unshuffled, the first mini-batch has the shortest."""
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu

    def passes(seed: int) -> list[list[int]]:
        config = verl_config("rl-1", PAPER, StagePaths(Path("m"), Path("t"), Path("w")), seed=seed)
        actor = config.actor_rollout_ref.actor
        data = TensorDict({"length": torch.arange(64)}, batch_size=[64])
        batches = tu.make_iterator(
            data,
            mini_batch_size=16,
            epochs=actor.ppo_epochs,
            seed=actor.data_loader_seed,
            dataloader_kwargs={"shuffle": actor.shuffle},
        )
        return [batch["length"].tolist() for batch in batches]

    drawn = passes(seed=0)
    assert len(drawn) == 16  # 4 passes of 4
    for first in range(0, 16, 4):
        one = drawn[first : first + 4]
        assert sorted(length for batch in one for length in batch) == list(range(64))
        assert all(max(batch) - min(batch) > 32 for batch in one)
    assert drawn[:4] != drawn[4:8]
    assert passes(seed=0) == drawn
    assert passes(seed=1) != drawn
