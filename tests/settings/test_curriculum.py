import pytest
from pydantic import ValidationError

from compass.settings import Curriculum


@pytest.mark.parametrize("shares", [{"1": 0.5, "5": 0.5}, {"3": 1.0}, {"1": 0.3, "2": 0.3, "3": 0.4000005}])
def test_the_shares_of_a_stage_add_up_to_one(shares: dict[str, float]) -> None:
    assert Curriculum(mixes={"warm": shares}).mixes == {"warm": shares}


@pytest.mark.parametrize("shares", [{"1": 0.5}, {"1": 0.7, "2": 0.31}, {"1": 0.3, "2": 0.70001}, {}])
def test_other_shares_are_refused(shares: dict[str, float]) -> None:
    total = sum(shares.values())
    with pytest.raises(ValidationError, match=rf"`mixes\.warm` adds up to {total:g}, not 1"):
        Curriculum(mixes={"warm": shares})


@pytest.mark.parametrize("shares", [{"0": 1.0}, {"6": 1.0}, {"1": -0.5, "2": 1.5}])
def test_a_mix_knows_levels_1_to_5_and_shares_from_0_to_1(shares: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Curriculum(mixes={"warm": shares})


def test_solve_rates_go_from_lowest_to_highest() -> None:
    assert Curriculum(mixes={}, solve_rate=[0.5, 0.5]).solve_rate == [0.5, 0.5]
    for wrong in ([0.6, 0.5], [0.5], [0.1, 0.2, 0.3], []):
        with pytest.raises(ValidationError, match="must be \\[lowest, highest\\]"):
            Curriculum(mixes={}, solve_rate=wrong)
