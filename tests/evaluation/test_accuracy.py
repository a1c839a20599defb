from itertools import combinations

import pytest

from compass.evaluation.accuracy import avg_at_k, maj_at_k, pass_at_k, reported_k


def same(one: str, other: str) -> bool:
    return float(one) == float(other)


def test_avg_at_k_is_the_share_of_right_samples():
    assert avg_at_k([True, False, False, True]) == 0.5


@pytest.mark.parametrize("right", range(7))
@pytest.mark.parametrize("k", range(1, 7))
def test_pass_at_k_is_the_share_of_subsets_with_a_right_sample(right, k):
    marks = [True] * right + [False] * (6 - right)
    subsets = [any(subset) for subset in combinations(marks, k)]
    assert pass_at_k(6, right, k) == pytest.approx(sum(subsets) / len(subsets))


@pytest.mark.parametrize(("samples", "right", "k"), [(4, 2, 5), (4, 5, 1), (4, 2, 0), (4, -1, 1)])
def test_pass_at_k_refuses_what_cannot_be_estimated(samples, right, k):
    with pytest.raises(ValueError, match="cannot be estimated"):
        pass_at_k(samples, right, k)


def test_pass_at_k_does_not_overflow():
    assert pass_at_k(1024, 1, 512) == pytest.approx(0.5)


def test_maj_at_k_counts_the_most_frequent_answer():
    assert maj_at_k(["5", "5", "7"], [True, True, False], same) == 1.0
    assert maj_at_k(["5", "7", "7"], [True, False, False], same) == 0.0


def test_maj_at_k_groups_answers_that_are_equal_but_written_differently():
    assert maj_at_k(["5", "5", "7", "7.0", "07"], [True, True, False, False, False], same) == 0.0


def test_maj_at_k_shares_a_tie_by_chance():
    assert maj_at_k(["5", "7"], [True, False], same) == 0.5
    assert maj_at_k(["5", "7", "8"], [True, False, False], same) == pytest.approx(1 / 3)


def test_maj_at_k_gives_samples_without_an_answer_no_vote():
    assert maj_at_k([None, None, "5"], [False, False, True], same) == 1.0
    assert maj_at_k([None, None], [False, False], same) == 0.0


@pytest.mark.parametrize(("samples", "expected"), [(1, []), (2, [2]), (6, [2, 4, 6]), (8, [2, 4, 8])])
def test_reported_k_ends_with_the_number_of_samples(samples, expected):
    assert reported_k(samples) == expected


def test_maj_at_k_joins_a_vote_to_the_answer_it_equals_and_to_no_other():
    assert maj_at_k(["7", "8", "7.0", "5", "5"], [False, False, False, True, True], same) == 0.5
    assert maj_at_k(["7", "8", "9", "5"], [False, False, False, True], same) == 0.25


def test_pass_at_k_takes_the_whole_range():
    assert pass_at_k(4, 0, 1) == 0.0
    assert pass_at_k(4, 4, 4) == 1.0
    assert pass_at_k(1, 1, 1) == 1.0
