"""The loss of an iteration that is one update, against verl's own with the old log-probabilities of a pass before it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

pytest.importorskip("verl")

PROMPTS, RESPONSES = [3, 2, 4], [2, 5, 3]
SEQUENCES = [prompt + response for prompt, response in zip(PROMPTS, RESPONSES, strict=True)]


def nested(sizes: list[int], start: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(start)
    return torch.nested.as_nested_tensor(
        [torch.randn(size, generator=generator) for size in sizes], layout=torch.jagged
    )


def ones(sizes: list[int]) -> torch.Tensor:
    return torch.nested.as_nested_tensor([torch.ones(size, dtype=torch.int64) for size in sizes], layout=torch.jagged)


def micro_batch(old: torch.Tensor, **more: Any) -> Any:
    from verl.utils import tensordict_utils as tu

    return tu.get_tensordict(
        {
            "prompts": ones(PROMPTS),
            "responses": ones(RESPONSES),
            "response_mask": ones(RESPONSES),
            "advantages": nested(RESPONSES, 5),
            "old_log_probs": old,
        },
        {"dp_size": 1, "batch_num_tokens": sum(RESPONSES), "global_batch_size": 3, **more},
    )


def actor(entropy_coeff: float = 0.0, mode: str = "vanilla", aggregation: str = "token-mean") -> Any:
    from verl.workers.config import FSDPActorConfig, PolicyLossConfig

    return FSDPActorConfig(
        policy_loss=PolicyLossConfig(loss_mode=mode),
        strategy="fsdp2",
        rollout_n=3,
        ppo_micro_batch_size_per_gpu=3,
        clip_ratio_low=0.2,
        clip_ratio_high=0.28,
        entropy_coeff=entropy_coeff,
        loss_agg_mode=aggregation,
        loss_scale_factor=48 if aggregation == "seq-mean-token-sum-norm" else None,
    )


def passed(entropy: bool = True) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """What a forward pass gives, and the flat values that gradients are of."""
    values = (-nested(SEQUENCES, 1).values().abs()).requires_grad_()
    offsets = nested(SEQUENCES, 1).offsets()
    output = {"log_probs": torch.nested.nested_tensor_from_jagged(values, offsets)}
    if entropy:
        output["entropy"] = torch.nested.nested_tensor_from_jagged(values * 0.5, offsets)
    return output, values


def own_log_probabilities() -> torch.Tensor:
    from verl.workers.utils.padding import response_from_nested

    return response_from_nested(passed()[0]["log_probs"].detach(), ones(RESPONSES))


def rollouts(apart: float) -> torch.Tensor:
    own = own_log_probabilities()
    shifted = own.values().clone()
    shifted[4] -= apart
    return torch.nested.as_nested_tensor(list(shifted.split(RESPONSES)), layout=torch.jagged)


@pytest.mark.parametrize("entropy_coeff", [0.0, 0.01])
def test_loss_and_gradient_are_those_after_a_pass_for_old_log_probabilities(entropy_coeff: float) -> None:
    from verl.workers.utils.losses import ppo_loss

    from compass.rl.policy_loss import FLAG, loss

    output, theirs = passed()
    expected, _ = ppo_loss(actor(entropy_coeff), output, micro_batch(own_log_probabilities()))
    expected.backward()
    output, ours = passed()
    value, _ = loss(actor(entropy_coeff), output, micro_batch(rollouts(0.5), **{FLAG: True}))
    value.backward()
    assert value.item() == expected.item()
    assert torch.equal(ours.grad, theirs.grad)
    assert ours.grad.abs().sum() > 0


@pytest.mark.parametrize("aggregation", ["token-mean", "seq-mean-token-mean", "seq-mean-token-sum-norm"])
def test_entropy_is_measured_per_token_whatever_the_loss_averages_over(aggregation: str) -> None:
    from verl.workers.utils.losses import ppo_loss
    from verl.workers.utils.padding import response_from_nested

    from compass.rl.policy_loss import FLAG, loss

    output, _ = passed()
    value, metrics = loss(actor(0.01, aggregation=aggregation), output, micro_batch(rollouts(0.5), **{FLAG: True}))
    expected = response_from_nested(output["entropy"].detach(), ones(RESPONSES)).values().mean()
    assert metrics["actor/entropy_loss"].aggregate() == pytest.approx(float(expected))
    theirs, _ = ppo_loss(actor(0.01, aggregation=aggregation), passed()[0], micro_batch(own_log_probabilities()))
    assert value.item() == theirs.item(), "what trains stays verl's"


def test_rollout_and_trainer_are_compared_on_every_token() -> None:
    from compass.rl.policy_loss import FLAG, loss

    output, _ = passed()
    _, metrics = loss(actor(), output, micro_batch(rollouts(0.5), **{FLAG: True}))
    own = own_log_probabilities().values()
    expected = float(own[4].exp() - (own[4] - 0.5).exp())
    assert metrics["training/rollout_probs_diff_max"].aggregate() == pytest.approx(expected)
    assert metrics["training/rollout_probs_diff_mean"].aggregate() == pytest.approx(expected / sum(RESPONSES))
    assert metrics["training/rollout_probs_diff_valid"].aggregate() == 1
    assert metrics["rollout_corr/kl"].aggregate() == pytest.approx(-0.5 / sum(RESPONSES))
    assert metrics["actor/ppo_kl"].aggregate() == 0


def test_the_largest_difference_of_a_batch_is_that_of_its_worst_micro_batch() -> None:
    from verl.utils.metric import Metric

    from compass.rl.policy_loss import FLAG, loss

    name = "training/rollout_probs_diff_max"
    parts = [loss(actor(), passed()[0], micro_batch(rollouts(apart), **{FLAG: True}))[1][name] for apart in (0.5, 0.0)]
    worst = parts[0].aggregate()
    parts[0].append(parts[1])
    assert Metric.aggregate_dp([parts[0]]) == worst > 0


def test_without_the_flag_it_is_verls_loss() -> None:
    from verl.workers.utils.losses import ppo_loss

    from compass.rl.policy_loss import loss

    expected, theirs = ppo_loss(actor(), passed()[0], micro_batch(rollouts(0.1)))
    value, metrics = loss(actor(), passed()[0], micro_batch(rollouts(0.1)))
    assert value.item() == expected.item()
    assert metrics.keys() == theirs.keys()


def cut_off(sizes: list[int]) -> torch.Tensor:
    return ones(sizes) * 0


@pytest.mark.parametrize("one_pass", [True, False])
@pytest.mark.parametrize("tokens_of_the_update", [0, 40])
def test_a_pass_in_which_no_token_trains_moves_nothing(one_pass: bool, tokens_of_the_update: int) -> None:
    from compass.rl.policy_loss import FLAG, loss

    output, values = passed()
    batch = micro_batch(rollouts(0.5), batch_num_tokens=tokens_of_the_update, **{FLAG: one_pass})
    batch["response_mask"] = cut_off(RESPONSES)
    value, metrics = loss(actor(), output, batch)
    value.backward()
    assert value.item() == 0
    assert values.grad.abs().sum() == 0
    if one_pass:
        assert metrics["training/rollout_probs_diff_max"].aggregate() > 0


def test_the_gradient_of_geo_mean_does_not_depend_on_the_number_of_passes() -> None:
    from compass.rl.policy_loss import loss

    def gradient(responses: int, shares: int) -> torch.Tensor:
        """The gradient of an update of so many like passes."""
        output, values = passed()
        for _ in range(shares):
            value, _ = loss(actor(mode="geo_mean"), output, micro_batch(rollouts(0.1), global_batch_size=responses))
            value.backward(retain_graph=True)
        return values.grad

    whole = gradient(3, 1)
    assert torch.allclose(gradient(6, 2), whole)
    assert whole.abs().sum() > 0


def test_metrics_get_the_names_that_they_have_after_a_pass_of_their_own() -> None:
    from compass.rl.policy_loss import rename_metrics

    metrics = {"actor/entropy_loss": 0.2, "actor/training/rollout_probs_diff_max": 1e-5, "actor/rollout_corr/kl": 0.0}
    rename_metrics(metrics)
    assert metrics == {"actor/entropy": 0.2, "training/rollout_probs_diff_max": 1e-5, "rollout_corr/kl": 0.0}
