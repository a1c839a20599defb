"""The generated sources: same bytes by seed, true labels, and no leak from the benchmarks."""

import csv
import gzip
import hashlib
import io
import json
import random
from collections import Counter
from itertools import combinations

import pyarrow.parquet as pq
import pytest

from compass.settings import Generator
from compass.sources import tiny_planting as planting
from compass.sources.tiny import DISTINCT_SIMILARITY, DistinctProblems, GeneratorError, generate
from compass.sources.tiny_planting import DEFECTS, coverage, ngrams, similarity
from compass.sources.tiny_problems import Problem, Step

SETTINGS = Generator(problems_per_level=60, benchmark_per_level=12, planted_per_kind=6)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny") / "generated"
    generate(SETTINGS, seed=3, folder=folder)
    return folder


def read_sources(folder):
    """{source: [(id, problem, gold)]} read the way each file's shape asks for."""
    chat = [json.loads(line) for line in gzip.decompress((folder / "tiny-chat.jsonl.gz").read_bytes()).splitlines()]
    gsm = list(csv.DictReader(io.StringIO((folder / "tiny-gsm.csv").read_text(encoding="utf-8"), newline="")))
    solutions = pq.read_table(folder / "tiny-solutions.parquet").to_pylist()
    return {
        "tiny-chat": [
            (str(r["extra_info"]["index"]), r["prompt"][0]["content"], r["reward_model"]["ground_truth"]) for r in chat
        ],
        "tiny-solutions": [
            (r["id"], r["problem"], r["solution"].rpartition("\\boxed{")[2].removesuffix("}")) for r in solutions
        ],
        "tiny-gsm": [(r["id"], r["question"], r["answer"].rpartition("#### ")[2]) for r in gsm],
    }


def read_benchmarks(folder):
    return {
        (path.stem, row["id"]): row
        for path in sorted(folder.glob("level-*.jsonl"))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }


def labelled(folder):
    """(truth row, problem, gold) of every published row."""
    truth = pq.read_table(folder.parent / "truth.parquet").to_pylist()
    rows = {(s, i): (problem, gold) for s, found in read_sources(folder).items() for i, problem, gold in found}
    assert len(truth) == len(rows)
    return [(t, *rows[t["source"], t["source_id"]]) for t in truth]


def test_same_seed_gives_the_same_bytes(world, tmp_path):
    generate(SETTINGS, seed=3, folder=tmp_path / "generated")
    for path in [*sorted(world.iterdir()), world.parent / "truth.parquet"]:
        assert path.read_bytes() == (tmp_path / path.relative_to(world.parent)).read_bytes(), path.name


def test_every_machine_gets_the_same_problems(world):
    """Results are compared across machines and versions, so the data of a seed must not drift: change it on purpose only."""
    rows = [(s, i, problem, gold) for s, found in read_sources(world).items() for i, problem, gold in found]
    rows += sorted((*key, *row.values()) for key, row in read_benchmarks(world).items())
    rows += [tuple(row.values()) for row in pq.read_table(world.parent / "truth.parquet").to_pylist()]
    assert hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16] == "998bbe6fb42ea1a4"


def test_every_row_has_a_truth_and_every_kind_its_number(world):
    kinds = Counter(t["kind"] for t, _, _ in labelled(world))
    assert kinds.pop("clean") == 5 * SETTINGS.problems_per_level
    expected = [d.kind for d in DEFECTS] + ["exact_duplicate", "near_duplicate", "answer_conflict"]
    assert kinds == dict.fromkeys([*expected, "benchmark_item", "benchmark_variant"], SETTINGS.planted_per_kind)
    assert len(list(world.glob("level-*.jsonl"))) == 5
    assert len(read_benchmarks(world)) == 5 * SETTINGS.benchmark_per_level


def test_copies_stand_in_a_later_source_and_are_as_similar_as_labelled(world):
    rows = {(t["source"], t["source_id"]): (t, p, g) for t, p, g in labelled(world)}
    order = ["tiny-chat", "tiny-solutions", "tiny-gsm"]
    originals = set()
    for truth, problem, gold in rows.values():
        if truth["stage"] != "dedup":
            continue
        twin = (truth["twin_source"], truth["twin_source_id"])
        original, text, answer = rows[twin]
        assert original["kind"] == "clean"
        assert order.index(twin[0]) < order.index(truth["source"])
        assert (gold != answer) == (truth["kind"] == "answer_conflict")
        if truth["kind"] == "near_duplicate":
            assert 0.8 < similarity(text, problem) < 1
        else:
            assert problem.lower().split() == text.lower().split()
        originals.add(twin)
    assert len(originals) == 3 * SETTINGS.planted_per_kind


def test_benchmark_items_are_planted_whole_or_nearly(world):
    items = read_benchmarks(world)
    for truth, problem, gold in labelled(world):
        if truth["reason"] == "contaminated":
            item = items[truth["twin_source"], truth["twin_source_id"]]
            assert gold == item["answer"]
            assert coverage(item["problem"], problem) >= 0.6
            assert (problem == item["problem"]) == (truth["kind"] == "benchmark_item")


def test_no_benchmark_problem_occurs_among_the_other_rows(world):
    items = [(ngrams(row["problem"], 13), row["problem"]) for row in read_benchmarks(world).values()]
    for truth, problem, _ in labelled(world):
        if truth["reason"] != "contaminated":
            grams = ngrams(problem, 13)
            assert all(len(item & grams) / len(item) < 0.4 for item, _ in items)
            assert all(similarity(text, problem) < 0.8 for _, text in items)


def test_clean_problems_with_the_same_numbers_are_clearly_different(world):
    by_numbers = {}
    for truth, problem, _ in labelled(world):
        if truth["kind"] == "clean":
            numbers = tuple(sorted(int(w) for w in problem.replace(".", " ").split() if w.isdigit()))
            by_numbers.setdefault(numbers, []).append(problem)
    pairs = [pair for told in by_numbers.values() for pair in combinations(told, 2)]
    assert pairs
    assert all(similarity(*pair) < DISTINCT_SIMILARITY for pair in pairs)


def test_more_planted_rows_than_there_are_originals_names_the_setting(tmp_path):
    few = Generator(problems_per_level=2, benchmark_per_level=2, planted_per_kind=30)
    with pytest.raises(GeneratorError, match=r"collect\.generate\.planted_per_kind"):
        generate(few, seed=0, folder=tmp_path / "generated")


def test_each_source_has_a_shape_of_its_own(world):
    first = json.loads(gzip.decompress((world / "tiny-chat.jsonl.gz").read_bytes()).splitlines()[0])
    problem, answer = first["prompt"][0]["content"], first["reward_model"]["ground_truth"]
    assert first == {
        "data_source": "tiny-chat",
        "prompt": [{"role": "user", "content": problem}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": answer},
        "extra_info": {"index": 0, "split": "train"},
    }
    assert pq.read_schema(world / "tiny-solutions.parquet").names == ["id", "problem", "solution"]
    assert (world / "tiny-gsm.csv").read_text(encoding="utf-8").startswith("id,question,answer\n0,")


@pytest.mark.parametrize(("second", "drawn"), [("a b c d e g", False), ("a b c d h g", True)])
def test_problems_with_the_same_numbers_are_less_similar_than_the_limit(monkeypatch, second, drawn):
    step = Step(3, "add", 2, 5)  # of "a b c d e f" the first has three of five trigrams in common
    texts = iter(["a b c d e f", second])
    monkeypatch.setattr("compass.sources.tiny.draw_problem", lambda *_, **__: Problem("tank", (step,), (next(texts),)))
    pool = DistinctProblems(random.Random(0), attempts=1)
    pool.draw(1, held_out=False, setting="x")
    if drawn:
        assert pool.draw(1, held_out=False, setting="x").text == second
    else:
        with pytest.raises(GeneratorError, match="no further distinct problem of level 1 in 1 draws"):
            pool.draw(1, held_out=False, setting="x")


def test_running_out_of_distinct_problems_names_the_setting():
    pool = DistinctProblems(random.Random(0), attempts=1)
    with pytest.raises(GeneratorError, match=r"collect\.generate\.benchmark_per_level.*level 1"):
        [pool.draw(1, held_out=True, setting="benchmark_per_level") for _ in range(10_000)]


def test_a_reworded_copy_is_as_similar_as_it_must_be_or_more(monkeypatch):
    monkeypatch.setattr(planting, "rewordings", lambda rng, text: iter(["below", "at the limit", "above"]))
    similar = {"below": 0.81, "at the limit": planting.NEAR_SIMILARITY, "above": 0.9}
    monkeypatch.setattr(planting, "similarity", lambda text, changed: similar[changed])
    assert planting.near_copy(random.Random(0), "text") == "at the limit"
    covered = {"below": 0.59, "at the limit": planting.VARIANT_COVERAGE, "above": 0.9}
    monkeypatch.setattr(planting, "coverage", lambda text, changed: covered[changed])
    assert planting.benchmark_variant(random.Random(0), "text") == "at the limit"
