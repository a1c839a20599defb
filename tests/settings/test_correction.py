"""Settings of rollout correction: what cannot go together."""

from typing import Any

import pytest
from pydantic import ValidationError

from compass.settings.correction import Correction
from compass.settings.recipe import Rollout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "reinforce"}, "is for `bypass: true`"),
        ({"bypass": True, "weights": "token"}, "`weights: token` does nothing"),
        ({"weights": "token", "weight_below": 2.0}, r"`weight_below` \(2\) must be less than `weight_above` \(2\)"),
    ],
)
def test_what_verl_would_ignore_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Correction.model_validate(given)


def test_the_rollout_engines_probabilities_must_be_of_all_tokens_to_be_taken() -> None:
    Rollout.model_validate({"top_p": 0.9, "correction": {"weights": "token"}})
    with pytest.raises(ValidationError, match=r"`correction\.bypass` needs `top_p: 1`"):
        Rollout.model_validate({"top_p": 0.9, "correction": {"bypass": True}})
