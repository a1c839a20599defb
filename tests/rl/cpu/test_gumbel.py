"""Tokens are drawn as often as the softmax says, and masked ones never."""

import torch

from compass.rl.cpu import gumbel

DRAWS = 200_000


def test_tokens_are_drawn_with_their_probability() -> None:
    torch.manual_seed(0)
    logits = torch.tensor([2.0, 0.0, -1.0, 1.0, -4.0])
    counts = torch.bincount(gumbel.sample(logits.expand(DRAWS, 5)), minlength=5)
    probabilities = logits.softmax(-1)
    deviation = (DRAWS * probabilities * (1 - probabilities)).sqrt()
    assert ((counts - DRAWS * probabilities).abs() < 4 * deviation).all()


def test_a_masked_token_is_never_drawn() -> None:
    torch.manual_seed(0)
    logits = torch.tensor([0.0, -torch.inf, 0.0]).expand(10_000, 3)
    assert set(gumbel.sample(logits).tolist()) == {0, 2}


def test_rows_are_drawn_apart_and_logits_stay() -> None:
    torch.manual_seed(0)
    logits = torch.full((4, 4), -1e4).fill_diagonal_(0)
    before = logits.clone()
    assert gumbel.sample(logits).tolist() == [0, 1, 2, 3]
    assert torch.equal(logits, before)


def test_half_precision_draws_like_single() -> None:
    torch.manual_seed(0)
    half = torch.bincount(gumbel.sample(torch.tensor([1.0, 0.0], dtype=torch.bfloat16).expand(DRAWS, 2)), minlength=2)
    assert abs(half[0] / DRAWS - torch.tensor([1.0, 0.0]).softmax(-1)[0]) < 0.005
