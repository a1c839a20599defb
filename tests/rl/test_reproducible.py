"""Training that does not depend on the number of engines or on the clock."""

from compass.rl.reproducible import OneForOne, response_seed, update_seed


def test_a_response_has_a_seed_of_its_own_that_vllm_takes_and_that_stays_the_same() -> None:
    first = response_seed(0, step=1, problem="a1", sample=0)
    others = {
        response_seed(1, step=1, problem="a1", sample=0),
        response_seed(0, step=2, problem="a1", sample=0),
        response_seed(0, step=1, problem="a2", sample=0),
        response_seed(0, step=1, problem="a1", sample=1),
    }
    assert len(others | {first}) == 5
    assert first == response_seed(0, step=1, problem="a1", sample=0) == 4537359934307784436
    assert all(0 <= seed < 2**63 for seed in others)


def test_the_seeds_of_two_iterations_are_far_apart_for_all_ranks() -> None:
    seeds = [update_seed(seed, step=step) for seed in range(3) for step in range(1, 300)]
    ranks = 64  # verl adds a rank's number
    assert len({seed + rank for seed in seeds for rank in range(ranks)}) == len(seeds) * ranks
    assert max(seeds) < 2**31


def test_a_group_that_is_left_out_is_replaced_by_one() -> None:
    asked: list[int] = []
    replace = OneForOne(asked.append)
    replace(2)  # nothing was left out
    replace.owed += 3
    replace(6)  # verl asks for twice as many
    replace(3)
    replace.owed += 4
    replace(3)  # verl has room for no more
    replace(5)
    assert asked == [3, 3, 1]
