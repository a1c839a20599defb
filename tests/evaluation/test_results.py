"""Results of several runs in one folder: added to, never mixed."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.evaluation import results as module
from compass.evaluation.evaluate import COLUMNS
from compass.evaluation.results import (
    PROBLEMS,
    ResultsError,
    add_results,
    differences,
    find_clusters,
    problems_table,
    read_clusters,
    write_results,
)
from compass.records import table, with_column
from tests.conftest import digests

FLAGS = ("greedy", "correct", "correct_lenient", "boxed", "looped", "bare")


def rows(model, benchmark, *, setup="s1", samples=2, right=True):
    return pa.Table.from_pylist(
        [
            dict.fromkeys(COLUMNS, "")
            | dict.fromkeys(FLAGS, right)
            | {
                "model": model,
                "benchmark": benchmark,
                "id": f"{benchmark}-{problem}",
                "sample": number,
                "tokens": 3,
                "operations": 1,
            }
            | {
                "seconds": 1.0,
                "greedy": False,
                "setup": setup,
                "finish_reason": "stop",
                "outcome": "equal",
                "answer": "1",
                "correct_other": None,
            }
            for problem in range(3)
            for number in range(samples)
        ]
    )


def problems(*benchmarks, gold="1"):
    return pa.Table.from_pylist(
        [
            {"benchmark": name, "id": f"{name}-{problem}", "problem": "?", "answer": gold, "similar": None}
            for name in benchmarks
            for problem in range(3)
        ],
        schema=PROBLEMS,
    )


def setups(*names, engine="1.0"):
    return {name: {"engine": {"name": "vllm", "version": engine}, "seed": 0} for name in names}


def put(folder, samples, asked, known, **options):
    both = add_results(folder, samples, asked, known, **{"replace": False} | options)
    write_results(folder, *both, seed=0)
    return both


def counts(samples):
    return samples.group_by(["model", "benchmark", "setup"]).aggregate([("id", "count")]).to_pylist()


def test_models_benchmarks_and_samples_are_added(tmp_path):
    put(tmp_path, rows("a", "x"), problems("x"), setups("s1"))
    put(tmp_path, rows("b", "x", setup="s2"), problems("x"), setups("s2"))
    both, asked, known = put(tmp_path, rows("a", "y", samples=4), problems("y"), setups("s1"))
    assert {(row["model"], row["benchmark"]): row["id_count"] for row in counts(both)} == {
        ("a", "x"): 6,
        ("b", "x"): 6,
        ("a", "y"): 12,
    }
    assert asked.column("id").to_pylist() == [f"{name}-{n}" for name in "xy" for n in range(3)]
    assert set(known) == {"s1", "s2"}
    assert pq.read_table(tmp_path / "samples.parquet").num_rows == 24


def test_a_benchmark_that_is_run_again_replaces_its_rows(tmp_path):
    put(tmp_path, rows("a", "x"), problems("x"), setups("s1"))
    both, asked, _ = put(tmp_path, rows("a", "x", samples=3), problems("x"), setups("s1"))
    assert both.num_rows == 9
    assert asked.num_rows == 3


def test_another_setup_of_a_model_is_an_error_that_says_what_differs(tmp_path):
    put(tmp_path, rows("a", "x"), problems("x"), setups("s1"))
    new = rows("a", "y", setup="s2"), problems("y"), setups("s2", engine="2.0")
    with pytest.raises(ResultsError, match=r"a was sampled there under another setup \(other: engine\.version\); give"):
        add_results(tmp_path, *new, replace=False)
    both, asked, known = put(tmp_path, *new, replace=True)
    assert set(both.column("benchmark").to_pylist()) == {"y"}
    assert set(asked.column("benchmark").to_pylist()) == {"y"}
    assert set(known) == {"s2"}


def test_a_gold_that_has_changed_is_an_error(tmp_path):
    put(tmp_path, rows("a", "x"), problems("x"), setups("s1"))
    with pytest.raises(ResultsError, match="problem x-0 of x has another text or gold now"):
        add_results(tmp_path, rows("b", "x", setup="s2"), problems("x", gold="2"), setups("s2"), replace=False)
    both, asked, _ = add_results(tmp_path, rows("a", "x"), problems("x", gold="2"), setups("s1"), replace=False)
    assert set(asked.column("answer").to_pylist()) == {"2"}
    assert both.num_rows == 6


@pytest.mark.parametrize("name", ["samples.parquet", "problems.parquet", "setups.json"])
def test_damaged_results_are_named(tmp_path, name):
    put(tmp_path, rows("a", "x"), problems("x"), setups("s1"))
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:20])
    with pytest.raises(ResultsError, match="holds no whole results"):
        add_results(tmp_path, rows("a", "x"), problems("x"), setups("s1"), replace=False)


@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize("written", range(4))
def test_a_run_that_is_killed_while_it_writes_can_be_run_again(tmp_path, monkeypatch, written, earlier):
    new = rows("b", "y", setup="s2"), problems("y"), setups("s2")
    whole = tmp_path / "whole"
    for folder in (whole, tmp_path / "killed") if earlier else ():
        put(folder, rows("a", "x"), problems("x"), setups("s1"))
    put(whole, *new)
    done = []

    def stop_after(write):
        def stopping(path, content):
            if len(done) == written:
                raise KeyboardInterrupt
            done.append(path)
            write(path, content)

        return stopping

    with monkeypatch.context() as patch:
        for name in ("write_records", "write_json"):
            patch.setattr(module, name, stop_after(getattr(module, name)))
        with pytest.raises(KeyboardInterrupt):
            put(tmp_path / "killed", *new)
    put(tmp_path / "killed", *new)
    assert digests(tmp_path / "killed") == digests(whole)


def test_a_price_on_one_run_alone_keeps_the_other(tmp_path):
    priced = rows("a", "x").append_column("cost", pa.array([0.5] * 6))
    put(tmp_path, priced, problems("x"), setups("s1"))
    both, *_ = put(tmp_path, rows("b", "x", setup="s2"), problems("x"), setups("s2"))
    costs = dict(zip(both.column("model").to_pylist(), both.column("cost").to_pylist(), strict=True))
    assert costs == {"a": 0.5, "b": None}
    assert json.loads((tmp_path / "setups.json").read_text()).keys() == {"s1", "s2"}


def test_problems_that_begin_alike_or_share_a_template_are_clusters():
    stem = "A train leaves the station at noon and drives north at a speed of sixty kilometres per hour."
    texts = [f"{stem} Where is it at one?", "What is 1 + 1?", f"{stem}\n\nWhen is it back?", "What is 1 + 1?", "a", "b"]
    items = table(
        [
            {
                "id": f"x{number}",
                "source": "x",
                "source_id": f"{number}",
                "problem": text,
                "answer": "1",
                "cluster": own,
            }
            for number, (text, own) in enumerate(zip(texts, [None] * 4 + ["7", "7"], strict=True))
        ]
    )
    assert find_clusters(items) == {"x0": "x0", "x2": "x0", "x4": "7", "x5": "7"}
    asked = problems_table({"x": items})
    assert asked["cluster"].to_pylist() == ["x0", None, "x0", None, "7", "7"]
    assert read_clusters(asked) == {"x0": "x: x0", "x2": "x: x0", "x4": "x: 7", "x5": "x: 7"}
    assert read_clusters(asked.drop_columns("cluster")) == {}


def test_clusters_reach_what_is_written_and_results_without_them_can_be_added_to(tmp_path):
    asked = with_column(problems("x"), "cluster", ["s", "s", None])
    scores = write_results(tmp_path, rows("a", "x"), asked, setups("s1"), seed=0)
    assert scores["a"]["x"]["clusters"] == 2
    before = pq.read_table(tmp_path / "problems.parquet").drop_columns("cluster")
    pq.write_table(before, tmp_path / "problems.parquet")
    _, kept, _ = add_results(tmp_path, rows("b", "y", setup="s2"), problems("y"), setups("s2"), replace=False)
    assert kept["cluster"].to_pylist() == [None] * 6


def test_differences_are_dotted_names():
    one = {"engine": {"name": "vllm", "version": "1"}, "seed": 0}
    assert differences(one, one) == []
    assert differences(one, {"engine": {"name": "vllm", "version": "2"}, "seed": 1, "new": 1}) == [
        "engine.version",
        "seed",
        "new",
    ]
