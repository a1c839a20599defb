import pytest

from compass.evaluation.benchmarks import benchmark_problems
from compass.records import RecordError, table


def items(*rows: tuple[str, str, str]):
    return table([{"id": name, "source": source, "problem": "?", "answer": gold} for name, source, gold in rows])


def test_benchmarks_come_in_the_order_of_the_settings():
    found = benchmark_problems(
        items(("1", "aime", "5"), ("2", "amc", "6"), ("3", "aime", "7")), ["amc", "aime"], max_problems=0, seed=0
    )
    assert list(found) == ["amc", "aime"]
    assert found["aime"].column("id").to_pylist() == ["1", "3"]


def test_a_draw_depends_on_the_seed_alone():
    rows = [(str(number), "amc", "5") for number in range(50)]
    one = benchmark_problems(items(*rows), ["amc"], max_problems=10, seed=0)["amc"].column("id").to_pylist()
    turned = benchmark_problems(items(*rows[::-1]), ["amc"], max_problems=10, seed=0)["amc"].column("id").to_pylist()
    other = benchmark_problems(items(*rows), ["amc"], max_problems=10, seed=1)["amc"].column("id").to_pylist()
    assert len(one) == 10
    assert set(one) == set(turned)
    assert set(one) != set(other)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("1", "amc", "5")], r"'aime': holds no problem; known: \['amc'\]"),
        ([("1", "aime", "")], "'aime': item '1' has no gold answer"),
        ([("1", "aime", "5"), ("1", "aime", "6"), ("2", "aime", "6")], "1 items repeat"),
    ],
)
def test_unusable_benchmarks_are_named(rows, message):
    with pytest.raises(RecordError, match=message):
        benchmark_problems(items(*rows), ["aime"], max_problems=0, seed=0)
