"""Settings of rollout correction: what cannot go together."""

from typing import Any

import pytest
from pydantic import ValidationError

from compass.settings.correction import Correction


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
