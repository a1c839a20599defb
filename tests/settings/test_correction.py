"""Settings of rollout correction: the presets, and what cannot go together."""

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from compass.settings.correction import PRESETS, Correction
from compass.settings.recipe import Rollout


def test_each_preset_can_be_named_and_gives_its_fields() -> None:
    assert list(get_args(Correction.model_fields["preset"].annotation)) == list(PRESETS)
    for name, fields in PRESETS.items():
        given = Correction(preset=name)
        assert given == Correction.model_validate({**fields, "preset": name})
        assert {field: getattr(given, field) for field in fields} == fields


def test_what_stands_beside_a_preset_wins() -> None:
    ours = Correction.model_validate({"preset": "decoupled_token_icepop", "weight_above": 3.0})
    assert (ours.weights, ours.weight_above, ours.weight_below) == ("token", 3.0, 0.5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "reinforce"}, "is for `bypass: true`"),
        ({"bypass": True, "weights": "token"}, "`weights: token` does nothing"),
        ({"normalise_weights": True}, "needs `weights`"),
        ({"preset": "bypass_pg_is", "normalise_weights": True}, "`bypass: false`"),
        ({"weights": "token", "weight_below": 2.0}, r"`weight_below` \(2\) must be less than `weight_above` \(2\)"),
        ({"reject_above": 2.0}, "need `reject`, which is `none`"),
        ({"reject_below": 0.5}, "need `reject`, which is `none`"),
        ({"reject": "seq_sum_k1"}, "needs `reject_above`"),
        ({"reject": "seq_mean_k3", "reject_above": 0.1, "reject_below": 0.01}, "`reject_below` is for k1"),
        ({"reject": "token_k1", "reject_above": 1.0}, r"`reject_above` \(1\) must be more than 1 "),
        ({"reject": "token_k1", "reject_above": 0.5, "reject_below": 0.5}, r"more than `reject_below` \(0.5\)"),
        ({"preset": "bypass"}, "bypass_ppo_clip"),
    ],
)
def test_what_verl_would_refuse_or_ignore_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Correction.model_validate(given)


def test_the_rollout_engines_probabilities_must_be_of_all_tokens_to_be_taken() -> None:
    Rollout.model_validate({"top_p": 0.9, "correction": {"preset": "decoupled_token_is"}})
    with pytest.raises(ValidationError, match=r"`correction\.bypass` needs `top_p: 1`"):
        Rollout.model_validate({"top_p": 0.9, "correction": {"preset": "bypass_ppo_clip"}})
