"""The metric of an iteration's leniencies."""

from compass.rl.leaned import leaned_metrics


def test_shares_are_of_the_right_responses() -> None:
    leaned = [(1.0, ""), (1.0, "unit,name"), (1.0, "unit"), (1.0, ""), (0.0, "rounding")]
    assert leaned_metrics({"acc": score, "leaned": names} for score, names in leaned) == {
        "reward/leaned": 0.5,
        "reward/leaned/name": 0.25,
        "reward/leaned/unit": 0.5,
    }


def test_without_a_right_response_nothing_leans() -> None:
    assert leaned_metrics([]) == leaned_metrics([{"acc": 0.0, "leaned": "unit"}]) == {"reward/leaned": 0.0}
