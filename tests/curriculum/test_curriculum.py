"""The training set of each RL stage: level mix, rule of filling, determinism."""

from __future__ import annotations

import json

import pytest

from compass.curriculum.curriculum import curriculum, quotas, select_problems, source_levels
from compass.records import table
from compass.settings import Curriculum

MIXES = {"rl-1": {"1": 0.5, "2": 0.5}, "rl-2": {"2": 0.3, "3": 0.4, "4": 0.3}, "rl-3": {"3": 0.2, "4": 0.4, "5": 0.4}}


def problems(**per_level):
    return {f"{level}-{n}": int(level[1:]) for level, count in per_level.items() for n in range(count)}


def test_quotas_add_up():
    assert quotas({"1": 0.5, "2": 0.5}, 7) == {1: 4, 2: 3}
    assert quotas(MIXES["rl-2"], 768) == {2: 231, 3: 307, 4: 230}
    assert quotas(MIXES["rl-3"], 1) == {3: 0, 4: 1, 5: 0}  # of equal remainders the easier level's comes first
    assert quotas({"5": 0.5, "1": 0.0, "2": 0.5}, 4) == {2: 2, 5: 2}
    assert quotas({"1": 0.1, "2": 0.2, "3": 0.7}, 10) == {1: 1, 2: 2, 3: 7}  # 0.7 * 10 is a little below 7


def test_a_stage_takes_its_mix_and_prefers_fresh_problems():
    chosen = select_problems(problems(l1=100, l2=100, l3=100, l4=100, l5=100), MIXES, 100, seed=0)
    assert chosen["rl-1"].taken == {1: 50, 2: 50}
    assert chosen["rl-3"].taken == {3: 20, 4: 40, 5: 40}
    assert not set(chosen["rl-1"].ids) & set(chosen["rl-2"].ids)
    assert len(set(chosen["rl-2"].ids)) == 100


def test_a_thin_level_is_filled_from_its_neighbours_and_said_so():
    chosen = select_problems(problems(l1=10, l2=100, l3=100, l4=0, l5=100), MIXES, 100, seed=0)
    assert chosen["rl-1"].taken == {1: 10, 2: 90}
    assert chosen["rl-1"].borrowed == [{"for": 1, "from": 2, "problems": 40}]
    # Level 4 lacks all of its 40: level 3 gives first, as the easier of two equally near.
    assert chosen["rl-3"].borrowed == [{"for": 4, "from": 3, "problems": 40}]
    assert chosen["rl-3"].missing == 0


def test_a_problem_serves_again_only_when_fresh_ones_are_used_up():
    mixes = {"rl-1": {"1": 1.0}, "rl-2": {"1": 1.0}, "rl-3": {"1": 1.0}}
    chosen = select_problems(problems(l1=30), mixes, 12, seed=0)
    one, two, three = (set(chosen[stage].ids) for stage in mixes)
    assert not one & two
    assert len(three - one - two) == 6
    assert len(three) == 12


def test_a_level_gives_only_what_its_own_share_leaves():
    chosen = select_problems(problems(l1=10, l2=60), {"rl-1": {"1": 0.5, "2": 0.5}}, 100, seed=0)["rl-1"]
    assert chosen.taken == {1: 10, 2: 60}
    assert chosen.borrowed == [{"for": 1, "from": 2, "problems": 10}]
    assert (chosen.wanted, chosen.missing) == ({1: 50, 2: 50}, 30)


def test_nearer_levels_give_before_farther_ones():
    chosen = select_problems(problems(l1=5, l3=7, l4=100), {"rl-1": {"2": 0.5, "3": 0.5}}, 14, seed=0)["rl-1"]
    assert chosen.borrowed == [
        {"for": 2, "from": 1, "problems": 5},
        {"for": 2, "from": 4, "problems": 2},
    ]


def test_only_neighbours_of_the_mix_give():
    chosen = select_problems(problems(l1=10, l4=100, l5=100), MIXES, 100, seed=0)
    assert chosen["rl-1"].taken == {1: 10}
    assert chosen["rl-1"].missing == 90


def test_the_seed_and_the_ids_decide_not_their_order():
    levels = problems(l1=50, l2=50, l3=50, l4=50, l5=50)
    shuffled = dict(sorted(levels.items(), key=lambda item: item[0][::-1]))
    assert select_problems(levels, MIXES, 30, seed=1) == select_problems(shuffled, MIXES, 30, seed=1)
    assert (
        select_problems(levels, MIXES, 30, seed=1)["rl-1"].ids != select_problems(levels, MIXES, 30, seed=2)["rl-1"].ids
    )


def rows(*levels, **columns):
    made = [
        {"id": str(n), "source": "s", "level": level, "solve_rate": rate, "source_level": own}
        for n, (level, rate, own) in enumerate(levels)
    ]
    return table([{**row, **columns} for row in made])


def test_ungraded_and_out_of_range_rows_are_dropped_with_a_reason():
    settings = Curriculum(mixes=MIXES, problems=10, solve_rate=[0.1, 0.9])
    found = rows((1, 0.5, None), (2, 1.0, None), (None, None, "3"), (5, 0.1, None))
    kept, dropped, chosen = curriculum(found, settings, seed=0)
    assert dict(zip(dropped.column("id").to_pylist(), dropped.column("reason").to_pylist(), strict=True)) == {
        "1": "solve_rate",
        "2": "ungraded",
    }
    # One problem of level 1 and one of level 5 are all there is: neighbours of rl-2's mix, so that rl-2 has both.
    assert kept.column("stages").to_pylist() == ["rl-1,rl-2", "rl-2,rl-3"]
    assert chosen["rl-1"].missing == 9
    assert [json.loads(evidence) for evidence in dropped.column("evidence").to_pylist()] == [
        {"solve_rate": 1.0, "allowed": [0.1, 0.9]},
        {"source_level": "3", "use_source_level": False},
    ]


def test_solve_rates_may_be_as_low_and_as_high_as_allowed():
    settings = Curriculum(mixes=MIXES, problems=10, solve_rate=[0.25, 0.75])
    found = rows((1, 0.25, None), (1, 0.75, None), (1, 0.24, None), (1, 0.76, None), (1, None, None))
    kept, dropped, _ = curriculum(found, settings, seed=0)
    assert kept.column("id").to_pylist() == ["0", "1", "4"]
    assert dropped.column("reason").to_pylist() == ["solve_rate"] * 2


def test_what_no_stage_takes_goes_to_the_ledger_with_its_level():
    settings = Curriculum(mixes={stage: {"1": 1.0} for stage in MIXES}, problems=1)
    kept, dropped, chosen = curriculum(rows(*[(1, 0.5, None)] * 5, (3, 0.5, None)), settings, seed=0)
    assert kept.num_rows == 3
    assert sorted(kept.column("stages").to_pylist()) == ["rl-1", "rl-2", "rl-3"]
    assert set(dropped.column("reason").to_pylist()) == {"not_selected"}
    assert sorted(json.loads(evidence)["level"] for evidence in dropped.column("evidence").to_pylist()) == [1, 1, 3]
    assert [len(chosen[stage].ids) for stage in MIXES] == [1, 1, 1]


def test_only_the_sources_asked_for_are_trained_on():
    found = table([{"id": name, "source": name[0], "level": 1, "solve_rate": 0.5} for name in ("a1", "a2", "b1", "c1")])
    kept, dropped, _ = curriculum(found, Curriculum(mixes=MIXES, problems=10, sources=["a", "c"]), seed=0)
    assert kept.column("id").to_pylist() == ["a1", "a2", "c1"]
    assert dropped.column("reason").to_pylist() == ["not_selected"]
    assert json.loads(dropped.column("evidence")[0].as_py()) == {"source": "b", "sources": ["a", "c"]}
    assert curriculum(found, Curriculum(mixes=MIXES, problems=10), seed=0)[0].num_rows == 4


def test_the_source_level_stands_in_where_allowed():
    settings = Curriculum(mixes=MIXES, problems=10, use_source_level=True)
    kept, dropped, _ = curriculum(rows((None, None, "Level 5"), (None, None, "Level ?")), settings, seed=0)
    assert kept.column("level").to_pylist() == [5]
    assert dropped.column("reason").to_pylist() == ["ungraded"]


@pytest.mark.parametrize(
    ("published", "levels"),
    [
        (["Level 1", "Level 5", "3", None, "?", ""], [1, 5, 3, None, None, None]),
        (["2.0", "4.0", "6.0", "7.0", "9.0"], [1, 2, 3, 4, 5]),
        (["1", "2", "3", "4", "2.5"], [1, 2, 4, 5, 3]),
        (["-1", "0", "1", "2", "3"], [1, 2, 3, 4, 5]),
        ([f"level-{level}" for level in range(1, 6)], [1, 2, 3, 4, 5]),
        (["grade-3", "grade-5", "grade-8"], [1, 2, 4]),
        ([".5", "1.5", "3.5"], [1, 2, 4]),
        (["1,200", "1,500", "2,400", "900"], [2, 3, 4, 1]),
        (["6", "6", "6", "6"], [2, 2, 2, 2]),
        (["6", "7", "7", "7", "7", "7"], [1, 3, 3, 3, 3, 3]),
        (["10", "9", "8", "7", "6", "5", "4", "3", "2", "1"], [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]),
        (["7", None], [1, None]),
        # by a solve rate, what is solved most is easiest
        ([f"solve rate {rate}" for rate in (1.0, 0.75, 0.5, 0.25, 0.0)], [1, 2, 3, 4, 5]),
        (["solve rate 1", "solve rate 0", "", "solve rate 0"], [1, 3, None, 3]),
    ],
)
def test_levels_of_a_source(published, levels):
    assert source_levels(["s"] * len(published), published) == levels


def test_each_source_has_its_own_scale():
    assert source_levels(["a", "b", "b"], ["2", "10", "20"]) == [2, 1, 3]


@pytest.mark.parametrize("doubtful", ["keep", "drop"])
def test_doubtful_rows_are_trained_on_unless_the_settings_drop_them(doubtful):
    doubt = [{"reason": "figure", "strength": "possible", "evidence": {"text": "the picture"}}]
    rows = [{"id": str(n), "source": "s", "problem": "p", "level": 1, "findings": None} for n in range(4)]
    rows[2]["findings"] = json.dumps(doubt)
    settings = Curriculum(mixes={"rl-1": {"1": 1.0}}, problems=10, doubtful=doubtful)
    kept, dropped, chosen = curriculum(table(rows), settings, 0)
    if doubtful == "keep":
        assert (kept.num_rows, dropped.num_rows) == (4, 0)
        assert kept.column("findings").to_pylist()[2] == rows[2]["findings"]
    else:
        (row,) = dropped.to_pylist()
        assert (row["id"], row["reason"], json.loads(row["evidence"])) == ("2", "doubtful", {"findings": doubt})
        assert len(chosen["rl-1"].ids) == kept.num_rows == 3
