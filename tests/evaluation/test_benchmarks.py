"""Benchmarks by name: where copies are looked for, and whether they are the published sets."""

from __future__ import annotations

import csv
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.evaluation import benchmarks as registry
from compass.evaluation.benchmarks import (
    BENCHMARKS,
    BenchmarkError,
    benchmark_problems,
    check_benchmark,
    check_benchmarks,
    content_hash,
    find_benchmarks,
    places,
)
from compass.evaluation.known_benchmarks import KNOWN_BENCHMARKS, KnownBenchmark
from compass.golds import golds
from compass.records import RecordError, table
from compass.settings import Benchmark, Collect, Source
from compass.settings.section import is_commit
from compass.sources.adapters import ADAPTERS
from compass.sources.collect import collect_benchmarks
from compass.verifier import verify


def items(*rows: tuple[str, str, str]):
    return table([{"id": name, "source": source, "problem": "?", "answer": gold} for name, source, gold in rows])


def test_benchmarks_come_in_the_order_of_the_settings():
    found = benchmark_problems(
        items(("1", "aime", "5"), ("2", "amc", "6"), ("3", "aime", "7")), ["amc", "aime"], max_problems=0, seed=0
    )
    assert list(found) == ["amc", "aime"]
    assert found["aime"].column("id").to_pylist() == ["1", "3"]


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


SHARED = Path(__file__).resolve().parents[2].parent / "shared/data"
ROWS = [
    {"id": f"{number}", "problem": f"What is {number} plus {number}?", "answer": f"{2 * number}"} for number in range(4)
]


def pairs(rows: list[dict]) -> list[tuple[str, str]]:
    return [(row["problem"], row["answer"]) for row in rows]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A benchmark of four problems, called math-500, whose file and hub copy are the real entry's."""
    real = BENCHMARKS["math-500"]
    copies = tuple(
        replace(copy, rows=4, sha256=content_hash(pairs(ROWS)) if copy.source.path else "") for copy in real.copies
    )
    monkeypatch.setitem(BENCHMARKS, "math-500", replace(real, rows=4, copies=copies))
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    (tmp_path / "benchmarks").mkdir()
    return tmp_path / "benchmarks"


def write(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(benchmark: Benchmark) -> dict:
    records = collect_benchmarks(find_benchmarks([benchmark]), Collect(sources=[], benchmarks=[])).kept
    return check_benchmarks([benchmark], records)[benchmark.name]


def test_the_table_holds_what_a_reader_needs() -> None:
    for known in KNOWN_BENCHMARKS:
        assert all((known.licence, known.rules, known.citation))
        assert re.fullmatch(r"20\d\d-[01]\d", known.published)
        assert any(copy.url for copy in known.copies)
        for copy in known.copies:
            assert copy.source.adapter in ADAPTERS
            assert copy.source.name == known.name
            assert not copy.source.hub or is_commit(copy.source.revision) or copy.source.revision == "main"
            assert len(copy.sha256) in (0, 64)


def test_the_hash_knows_neither_order_nor_white_space_but_every_other_change() -> None:
    digest = content_hash(pairs(ROWS))
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    assert content_hash(pairs(shuffled)) == digest
    assert content_hash([(f" {problem}\n", gold) for problem, gold in pairs(ROWS)]) == digest
    assert content_hash(pairs([{**ROWS[0], "answer": "1"}, *ROWS[1:]])) != digest
    assert content_hash(pairs([{**ROWS[0], "problem": "What?"}, *ROWS[1:]])) != digest
    assert content_hash(pairs(ROWS[1:])) != digest
    assert content_hash([("a", "bc")]) != content_hash([("ab", "c")])


def test_a_name_reads_the_first_copy_that_is_here(known: Path) -> None:
    downloaded = write(known / "math-500/test.jsonl", [{**row, "unique_id": row["id"], "level": 1} for row in ROWS])
    (source,) = find_benchmarks([Benchmark(name="math-500")])
    assert (source.path, source.hub) == ("$COMPASS_DATA/benchmarks/math-500/test.jsonl", "")
    assert read(Benchmark(name="math-500"))["copy"] == "published", "the hub's file holds what the hashed one does"
    write(downloaded, [{**row, "unique_id": row["id"], "level": 1, "answer": row["answer"] + ".0"} for row in ROWS])
    assert read(Benchmark(name="math-500"))["copy"] == "unknown", "nobody has hashed such a file of the hub"
    write(known / "math500.jsonl", [{**row, "level": "1"} for row in ROWS])
    assert find_benchmarks([Benchmark(name="math-500")])[0].path == "$COMPASS_DATA/benchmarks/math500.jsonl"
    assert read(Benchmark(name="math-500")) == {
        "rows": 4, "sha256": content_hash(pairs(ROWS)), "copy": "published",
    }  # fmt: skip
    assert downloaded.exists()


ARENA = [known for known in KNOWN_BENCHMARKS if known.copies[-1].source.hub.startswith("MathArena/")]


@pytest.mark.parametrize("known", ARENA, ids=lambda known: known.name)
def test_a_competition_is_read_in_the_shape_that_matharena_publishes(
    known: KnownBenchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    downloaded = Path(known.copies[-1].downloaded.replace("$COMPASS_DATA", str(tmp_path)))
    downloaded.parent.mkdir(parents=True)
    rows = [
        {"problem_idx": number, "problem": f"What is ${number}^2$?", "answer": number**2, "problem_type": ["Algebra"]}
        for number in range(1, known.rows + 1)
    ]
    pq.write_table(pa.Table.from_pylist(rows), downloaded)
    benchmark = Benchmark(name=known.name)
    assert read(benchmark)["rows"] == known.rows
    records = collect_benchmarks(find_benchmarks([benchmark]), Collect(sources=[], benchmarks=[])).kept
    assert records["answer"].to_pylist() == [str(row["answer"]) for row in rows]
    pq.write_table(pa.Table.from_pylist(rows[1:]), downloaded)
    with pytest.raises(BenchmarkError, match=f"expected {known.rows} problems, found {known.rows - 1}"):
        read(benchmark)


PUBLISHED = {
    "beyond-aime": {"problem": "What is ${n}^2$?", "answer": "{n}", "problem_type": "Algebra"},
    "imo-answerbench": {"Problem ID": "imo-bench-algebra-{n:03}", "Problem": "Find $a$ with ${n}a = 1$,\nand $a > 0$.", "Short Answer": "$\\frac{{1}}{{{n}}}$", "Category": "Algebra", "Subcategory": "Other", "Source": "IMO"},
    "olymmath-easy": {"problem": "What is ${n}^2$?", "answer": "\\sqrt{{{n}}}", "subject": "Algebra", "unique_id": "OlymMATH-EASY-{n}-EN"},
    "olymmath-hard": {"problem": "What is ${n}^2$?", "answer": "{n}", "subject": "Algebra", "unique_id": "OlymMATH-HARD-{n}-EN"},
    "math-perturb-simple": {"problem_id": "{n}", "problem": "What is ${n}^2$?", "answer": "{n}", "level": "Level 5", "type": "Algebra", "original_split": "test"},
    "gsm-symbolic": {"id": "{n}", "instance": "3", "question": "Ann has {n} eggs and eats none. How many are left?", "answer": "None of {n} is eaten.\n#### {n}", "original_id": "7", "original_question": "?", "original_answer": "#### 1"},
    "gsm-symbolic-p2": {"id": "1", "instance": "{n}", "question": "Ann has {n} eggs and eats none. How many are left?", "answer": "None is eaten.\n#### {n}", "original_id": "7", "original_question": "?", "original_answer": "#### 1"},
    "amo-bench-p": {"question_id": "{n}", "prompt": "What is ${n}^2$?", "solution": "By heart.", "answer": "$\\boxed{{{n}}}$", "answer_type": "number"},
    **{
        f"livemathbench-{subset}": {"question": "What is ${n}^2$?", "answer": "{n}", "question_type": "Problem-Solving"}
        for subset in ("amc", "ccee", "cnmo", "wlpmc")
    },
}  # fmt: skip
"""A row of each benchmark that has one public file, in its published fields."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_benchmark_of_one_file_is_read_in_its_published_shape(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    known = BENCHMARKS[name]
    rows = [{field: text.format(n=n) for field, text in PUBLISHED[name].items()} for n in range(1, known.rows + 1)]
    copy = known.copies[0]
    assert [other.source.revision for other in known.copies[1:]] in ([], ["main"])
    path = Path(copy.source.path.replace("$COMPASS_DATA", str(tmp_path)))
    assert copy.url.startswith("https://")

    def put(rows: list[dict[str, str]]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        elif path.suffix == ".csv":
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        else:
            write(path, rows)

    put(rows)
    benchmark = Benchmark(name=name)
    records = collect_benchmarks(find_benchmarks([benchmark]), Collect(sources=[], benchmarks=[])).kept
    pairs_read = list(zip(records["problem"].to_pylist(), records["answer"].to_pylist(), strict=True))
    assert len({text for text, _ in pairs_read}) == known.rows
    assert verify(gold=pairs_read[8][1], answer={"imo-answerbench": "1/9", "olymmath-easy": "3"}.get(name, "9")).equal
    clusters = [row["id"] if name.startswith("gsm-symbolic") else None for row in rows]
    assert records["cluster"].to_pylist() == clusters
    if copy.sha256:
        with pytest.raises(BenchmarkError, match=f"expected the content hash {copy.sha256}"):
            read(benchmark)
    put(rows[1:])
    with pytest.raises(BenchmarkError, match=f"expected {known.rows:,} problems, found {known.rows - 1:,}"):
        read(benchmark)


def test_without_a_file_a_name_reads_the_hub_at_its_commit(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = find_benchmarks([Benchmark(name="math-500", max_rows=2)])
    assert (source.hub, len(source.revision), source.split, source.max_rows) == (
        "HuggingFaceH4/MATH-500",
        40,
        "test",
        2,
    )
    monkeypatch.delenv("COMPASS_DATA")
    assert [place.here for place in places(BENCHMARKS["math-500"])] == [False, False, False, None]


def test_a_wrong_count_names_both_and_the_remedy(known: Path) -> None:
    write(known / "math500.jsonl", [{**row, "level": "1"} for row in ROWS[:3]])
    with pytest.raises(
        BenchmarkError,
        match=r"'math-500': expected 4 problems, found 3\. Move \$COMPASS_DATA/benchmarks/math500.jsonl away, .*Get .*`compass data get math-500`.*`other_copy: true`",
    ):
        read(Benchmark(name="math-500"))
    assert read(Benchmark(name="math-500", other_copy=True))["copy"] == "other"


def test_other_golds_are_told_by_the_hash(known: Path) -> None:
    rows = [{**row, "level": "1"} for row in ROWS]
    write(known / "math500.jsonl", [{**rows[0], "answer": "1"}, *rows[1:]])
    with pytest.raises(BenchmarkError, match=r"expected the content hash [0-9a-f]{64}, found [0-9a-f]{64}"):
        read(Benchmark(name="math-500"))
    mine = write(known / "mine.jsonl", [{**rows[0], "answer": "1"}, *rows[1:]])
    with pytest.raises(BenchmarkError, match="content hash"):
        read(Benchmark(name="math-500", path=str(mine)))
    assert read(Benchmark(name="math-500", path=str(mine), other_copy=True))["copy"] == "other"
    assert read(Benchmark(name="my-500", path=str(mine)))["copy"] == "unknown"


def test_a_wrong_field_names_those_that_are_there(known: Path) -> None:
    write(known / "math500.jsonl", [{"id": "1", "question": "What is 1 plus 1?", "answer": "2", "level": "1"}])
    with pytest.raises(
        registry.UserError, match="has the field 'problem' that `problem_field` names; found: id, question"
    ):
        read(Benchmark(name="math-500"))


def test_a_benchmark_with_a_place_is_read_as_its_settings_say() -> None:
    benchmark = Benchmark(name="mine", path="mine.csv", problem_field="question")
    assert find_benchmarks([benchmark]) == [benchmark]
    settings = Collect(sources=[], benchmarks=[Source(name="mine", path="mine.csv")])
    assert settings.benchmarks == [Benchmark(name="mine", path="mine.csv")]


def test_a_copy_that_is_nowhere_says_where_it_was_looked_for(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = BENCHMARKS["math-500"]
    monkeypatch.setitem(BENCHMARKS, "math-500", replace(entry, copies=entry.copies[:1]))
    with pytest.raises(
        BenchmarkError, match=r"'math-500' is not here; looked for \$COMPASS_DATA/benchmarks/math500\.jsonl"
    ):
        find_benchmarks([Benchmark(name="math-500")])


@pytest.mark.skipif(not (SHARED / "benchmarks").exists(), reason=f"no {SHARED}")
def test_the_sets_at_hand_are_the_published_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(SHARED))
    names = ("aime-2024", "amc-2023", "math-500", "minerva-math", "olympiad-bench")
    benchmarks = [Benchmark(name=name) for name in names]
    records = collect_benchmarks(find_benchmarks(benchmarks), Collect(sources=[], benchmarks=[])).kept
    assert {name: fact["copy"] for name, fact in check_benchmarks(benchmarks, records).items()} == dict.fromkeys(
        names, "published"
    )
    by_name = dict(zip(records["id"].to_pylist(), records["source"].to_pylist(), strict=True))
    tolerances = {
        name: {
            gold.tolerance for id_, gold in golds(records).items() if by_name[id_] == name and not isinstance(gold, str)
        }
        for name in names
    }
    assert tolerances["minerva-math"] == {"1%"}
    assert tolerances["olympiad-bench"] == {"1e-1"}
    assert not any(tolerances[name] for name in names[:3])
    assert check_benchmark(Benchmark(name="unheard-of"), records)["copy"] == "unknown"


@pytest.mark.parametrize(
    ("name", "hint"), [("putnam", r"known are aime-2024, .*gsm8k\."), ("math500", r"Did you mean math-500\?")]
)
def test_an_unknown_name_lists_the_known_ones_and_suggests_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(BenchmarkError, match=rf"'{name}' is not known; .*{hint}"):
        find_benchmarks([Benchmark(name=name)])


def test_descriptions_are_no_part_of_a_set_that_leaves_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    kinds = ["number"] * 30 + ["set"] * 5 + ["variable"] * 4 + ["description"] * 11
    rows = [
        {"question_id": n, "prompt": f"What is ${n}^2$?", "solution": "", "answer": str(n * n), "answer_type": kind}
        for n, kind in enumerate(kinds)
    ]
    path = tmp_path / "benchmarks/amo-bench-p/test.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert read(Benchmark(name="amo-bench-p"))["rows"] == 39
    pq.write_table(pa.Table.from_pylist(rows).drop_columns(["answer_type"]), path)
    with pytest.raises(
        registry.UserError, match="has no field 'answer_type', which `only` of source 'amo-bench-p' names"
    ):
        read(Benchmark(name="amo-bench-p"))
    pq.write_table(pa.Table.from_pylist(rows[-11:]), path)
    with pytest.raises(registry.UserError, match="holds no rows that `only` allows"):
        read(Benchmark(name="amo-bench-p"))
