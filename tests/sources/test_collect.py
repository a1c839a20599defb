"""Sources become records and a ledger; what a source cannot be is an error that names file and row."""

from __future__ import annotations

import json
import math

import pytest

from compass.records import record_id
from compass.settings import Collect, Source
from compass.sources.collect import Reading, clean, collect, collect_benchmarks
from compass.sources.read import SourceError


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(tmp_path, rows, limits=None, **fields):
    source = Source(name="s", path=str(write(tmp_path / "s.jsonl", rows)), **fields)
    return collect([source], Collect(sources=[source], benchmarks=[], **(limits or {})))


def reasons(found):
    return found.dropped.column("reason").to_pylist()


def test_a_row_becomes_a_record_with_a_stable_id(tmp_path):
    found = run(tmp_path, [{"problem": "1+1?", "answer": 2, "id": "x"}], id_field="id", licence="MIT")
    row = found.kept.to_pylist()[0]
    assert row["id"] == record_id("s", "x")
    assert (row["problem"], row["answer"], row["licence"], row["source_id"]) == ("1+1?", "2", "MIT", "x")
    assert row["solve_rate"] is None


def test_bad_rows_go_to_the_ledger_and_counts_add_up(tmp_path):
    rows = [
        {"problem": "1+1?", "answer": "2", "id": 1},
        {"problem": "  ", "answer": "2", "id": 2},
        {"problem": "1+2?", "answer": "", "id": 3},
        {"problem": "1+3?", "id": 4},
        {"problem": "1+4?", "answer": "5", "id": 1},
        {"problem": {"no": "text"}, "answer": "5", "id": 6},
        {"problem": "x" * 101, "answer": "5", "id": 7},
    ]
    found = run(tmp_path, rows, {"max_problem_chars": 100}, id_field="id")
    expected = ["empty_problem", "missing_answer", "missing_answer", "duplicate_id", "undecodable", "too_large"]
    assert reasons(found) == expected
    assert found.read == 7 == found.kept.num_rows + found.dropped.num_rows
    assert found.sources["s"]["licence"] == "unknown"
    assert (found.sources["s"]["read"], found.sources["s"]["kept"], found.sources["s"]["files"]) == (7, 1, 1)
    assert found.sources["s"]["dropped"] == {
        "missing_answer": 2,
        "duplicate_id": 1,
        "empty_problem": 1,
        "too_large": 1,
        "undecodable": 1,
    }
    ids = found.kept.column("id").to_pylist() + found.dropped.column("id").to_pylist()
    assert len(set(ids)) == 7
    assert [json.loads(row["evidence"]) for row in found.dropped.to_pylist()] == [
        {"field": "problem"},
        {"fields": ["answer"]},
        {"fields": ["answer"]},
        {"source_id": "1", "row": "4", "first_row": "0"},
        {"field": "problem", "needs": "text, or messages with a user's"},
        {"field": "problem", "characters": 101, "limit": 100},
    ]


def test_a_missing_answer_names_every_field_that_could_have_had_it(tmp_path):
    rows = [{"problem": "1?", "answer": "1", "solution": ""}, {"problem": "2?", "answer": "", "solution": "no box"}]
    found = run(tmp_path, rows, solution_field="solution")
    assert json.loads(found.dropped.to_pylist()[0]["evidence"]) == {"fields": ["answer", "solution"]}


@pytest.mark.parametrize("field", ["problem", "answer", "solution"])
def test_a_text_may_be_as_long_as_its_limit(tmp_path, field):
    rows = [{"problem": "1", "answer": "1", "solution": "1"} | {field: "x" * length} for length in (10, 11)]
    found = run(tmp_path, rows, {f"max_{field}_chars": 10}, solution_field="solution")
    assert found.kept.column(field).to_pylist() == ["x" * 10]
    assert found.dropped.column(field).to_pylist() == ["x" * 10]
    assert json.loads(found.dropped.to_pylist()[0]["evidence"]) == {"field": field, "characters": 11, "limit": 10}


def test_sources_are_read_in_their_order_and_each_has_its_own_counts_and_ids(tmp_path):
    first = Source(name="b", path=str(write(tmp_path / "1.jsonl", [{"problem": "1?", "answer": "1", "id": 5}])))
    rows = [{"problem": "2?", "answer": "2", "id": 5}, {"problem": "", "answer": "2", "id": None}]
    second = Source(name="a", path=str(write(tmp_path / "2.jsonl", rows)), id_field="id")
    found = collect([first, second], Collect(sources=[first, second], benchmarks=[]))
    assert found.kept.column("source").to_pylist() == ["b", "a"]
    assert found.kept.column("source_id").to_pylist() == ["0", "5"]
    assert found.dropped.column("source_id").to_pylist() == ["#row1"]  # without an id of its own: its row number
    assert found.read == 3
    assert {name: (facts["read"], facts["kept"]) for name, facts in found.sources.items()} == {"b": (1, 1), "a": (2, 1)}


@pytest.mark.parametrize("none", [{}, {"id": None}, {"id": ""}, {"id": math.nan}])
def test_rows_without_an_id_take_no_other_rows_id(tmp_path, none):
    rows = [{"problem": "1?", "answer": "1"} | own for own in (none, {"id": 0}, {"id": 3}, none, {"id": 3})]
    found = run(tmp_path, rows, id_field="id")
    assert found.kept.column("source_id").to_pylist() == ["#row0", "0", "3", "#row3"]
    assert found.dropped.column("source_id").to_pylist() == ["3#row4"]


def test_rows_of_a_folder_are_numbered_within_their_file(tmp_path):
    (tmp_path / "rows").mkdir()
    for name in ("b.jsonl", "a.jsonl"):
        write(tmp_path / "rows" / name, [{"problem": "1?", "answer": "1"}])
    source = Source(name="s", path=str(tmp_path / "rows"))
    found = collect([source], Collect(sources=[source], benchmarks=[]))
    assert found.kept.column("source_id").to_pylist() == ["a.jsonl:0", "b.jsonl:0"]
    assert found.sources["s"]["files"] == 2


@pytest.mark.parametrize("count", [1, 3, 4, 5])
def test_batches_change_nothing(tmp_path, monkeypatch, count):
    monkeypatch.setattr("compass.sources.collect.PIECE", 2)
    found = run(tmp_path, [{"problem": f"{n}?", "answer": n if n % 2 else ""} for n in range(count)])
    assert found.read == count
    assert found.kept.column("answer").to_pylist() == [str(n) for n in range(1, count, 2)]
    assert found.sources["s"]["kept"] == count // 2


def test_a_ten_megabyte_answer_is_cut_in_the_ledger(tmp_path):
    found = run(tmp_path, [{"problem": "1+1?", "answer": "9" * 10_000_000}, {"problem": "1+1?", "answer": "2"}])
    assert reasons(found) == ["too_large"]
    row = found.dropped.to_pylist()[0]
    assert len(row["answer"]) == 2_000
    assert json.loads(row["evidence"])["characters"] == 10_000_000


def test_licences_that_are_not_allowed_are_dropped(tmp_path):
    path = str(write(tmp_path / "s.jsonl", [{"problem": "1+1?", "answer": "2"}]))
    sources = [Source(name=name, path=path, licence=name) for name in ("CC-BY-NC-4.0", "MIT")]
    found = collect(sources, Collect(sources=sources, benchmarks=[], allow_licences=["MIT"]))
    assert reasons(found) == ["licence"]
    assert json.loads(found.dropped.to_pylist()[0]["evidence"]) == {"licence": "CC-BY-NC-4.0", "allowed": ["MIT"]}
    assert found.kept.num_rows == 1


def test_a_benchmark_may_have_any_licence(tmp_path):
    source = Source(name="b", path=str(write(tmp_path / "b.jsonl", [{"problem": "1?", "answer": "1"}])), licence="own")
    limits = Collect(sources=[], benchmarks=[source], allow_licences=["MIT"])
    assert collect_benchmarks([source], limits).kept.num_rows == 1


def test_surrogates_do_not_break_the_file(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"problem": "a \\ud800 b", "answer": "1"}\n')
    source = Source(name="s", path=str(tmp_path / "s.jsonl"))
    found = collect([source], Collect(sources=[source], benchmarks=[]))
    assert found.kept.to_pylist()[0]["problem"] == "a ��� b"
    assert clean("ab ½") == "ab ½"


def test_max_rows_reads_no_further(tmp_path):
    rows = [{"problem": f"{n}+1?", "answer": n + 1} for n in range(10)]
    assert run(tmp_path, rows, max_rows=3).kept.column("answer").to_pylist() == ["1", "2", "3"]
    assert run(tmp_path, rows, max_rows=0).read == 10


def test_a_field_that_one_of_the_first_1000_rows_has_is_no_wrong_name(tmp_path):
    rows = [{"problem": "1?", "answer": "1"}] * 999 + [{"problem": "1?", "answer": "1", "level": 3}]
    kept = run(tmp_path, rows, level_field="level").kept
    assert kept.column("source_level").to_pylist()[-2:] == ["", "3"]
    assert kept.column("level").null_count == 1000  # grading fills it
    with pytest.raises(
        SourceError, match=r"none of the first 1000 rows \(to .*s\.jsonl: row 999\) has the field 'level'"
    ):
        run(tmp_path, [*rows[:999], *rows[:1], rows[-1]], level_field="level")


def test_a_benchmark_is_never_shortened(tmp_path):
    path = write(tmp_path / "b.jsonl", [{"problem": "1+1?", "answer": "2"}, *[{"problem": "1+2?", "answer": ""}] * 7])
    source = Source(name="bench", path=str(path))
    said = r"7 benchmark rows are unusable: bench, row 1 \(missing_answer: [^;]*; bench, row 2 \(.*row 5 [^;]*; and 2 more; a benchmark"
    with pytest.raises(SourceError, match=said):
        collect_benchmarks([source], Collect(sources=[], benchmarks=[source]))


def test_a_hub_dataset_out_of_reach_says_what_to_do(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    source = Source(name="hub", hub="nobody/nothing", revision="main")
    with pytest.raises(SourceError, match=r"nobody/nothing at main: cannot be read from the hub .*give its `path`"):
        collect([source], Collect(sources=[source], benchmarks=[]))


@pytest.mark.parametrize(
    ("rows", "fields", "message"),
    [
        ([], {}, "holds no rows"),
        ([{"problem": "1?", "answer": "2"}], {"adapter": "verl"}, "unknown adapter 'verl'; there are columns, chat, options"),
        ([{"question": "1?", "answer": "2"}] * 3, {}, r"s\.jsonl.* 'problem' that `problem_field` names; found: question, answer"),
        ([{"question": "1?", "answer": "2"}], {"problem_field": "question", "answer_field": "gold"}, "'gold' that `answer_field` names"),
        ([{"question": "1?", "answer": "2"}] * 1500, {}, "first 1000 rows"),  # a large source is not read to its end
        ([{"problem": "1?", "answer": "1"}, {"other": 1}], {"level_field": "level"}, r"first 2 rows \(to .*row 1\) has .*; found: problem, answer, other"),
    ],
    ids=["empty", "adapter", "problem", "gold", "large", "short"],
)  # fmt: skip
def test_settings_that_no_row_fits_are_named(tmp_path, rows, fields, message):
    with pytest.raises(SourceError, match=message):
        run(tmp_path, rows, **fields)


def test_a_source_that_breaks_off_is_skipped_whole_and_the_others_stay_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr("compass.sources.collect.PIECE", 2)
    sources = []
    for name, count in (("a", 3), ("b", 5), ("c", 2)):
        path = write(tmp_path / f"{name}.jsonl", [{"problem": f"{name}{n}?", "answer": str(n)} for n in range(count)])
        sources.append(Source(name=name, path=str(path)))
    with (tmp_path / "b.jsonl").open("a") as file:
        file.write("{broken\n")
    found = collect(sources, Collect(sources=sources, benchmarks=[], skip_unreadable=True))
    assert found.kept["problem"].to_pylist() == ["a0?", "a1?", "a2?", "c0?", "c1?"]
    assert (found.read, found.sources["b"]["read"]) == (5, 0)
    assert "source 'b' is skipped: " in found.sources["b"]["warning"]
    with pytest.raises(SourceError, match="row 5 is not JSON"):
        collect(sources, Collect(sources=sources, benchmarks=[]))


def test_rows_come_before_their_source_was_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("compass.sources.collect.PIECE", 2)
    monkeypatch.setattr("compass.sources.collect.SMALL", 0)
    monkeypatch.setattr("compass.sources.collect.in_processes", lambda start, items, workers: map(start(), items))
    source = Source(
        name="s", path=str(write(tmp_path / "s.jsonl", [{"problem": f"{n}?", "answer": "1"} for n in range(9)]))
    )
    reading = Reading([source], Collect(sources=[source], benchmarks=[]))
    pieces = iter(reading)
    assert next(pieces)[0].num_rows == 2
    assert reading._sent == [2]  # of nine: no more was read
    assert sum(kept.num_rows for kept, _ in pieces) == 7
    assert (reading.read, reading.sources["s"]["kept"]) == (9, 9)


COMMAS = ["2,25", "247,25", "6,375", "2.501,00"]


def test_a_decimal_comma_is_read_where_the_source_says_so(tmp_path):
    rows = [{"problem": f"{n}?", "answer": gold, "unit": "cm", "others": ["1,5"]} for n, gold in enumerate(COMMAS)]
    found = run(tmp_path, rows, decimal_comma=True, unit_field="unit", alternatives_field="others")
    assert found.kept["answer"].to_pylist() == ["2.25 cm", "247.25 cm", "6.375 cm", "2501.00 cm"]
    assert found.kept["published_answer"].to_pylist() == COMMAS
    assert found.kept["alternatives"].to_pylist()[0] == ["1.5 cm"]
    facts = found.sources["s"]
    assert (facts["decimal_commas"], "recast" in facts, "repaired" in facts, "warning" in facts) == (
        4,
        False,
        False,
        False,
    )
    source = Source(name="s", path=str(tmp_path / "s.jsonl"), decimal_comma=True)
    held_out = collect_benchmarks([source], Collect(sources=[], benchmarks=[source]))
    assert held_out.kept["answer"].to_pylist()[0] == "2.25"


def test_golds_that_show_a_decimal_comma_are_warned_about_and_stay(tmp_path):
    found = run(tmp_path, [{"problem": f"{n}?", "answer": gold} for n, gold in enumerate(["9", *COMMAS])])
    assert found.kept["answer"].to_pylist() == ["9", *COMMAS]
    assert found.kept["published_answer"].null_count == 5
    warning = found.sources["s"]["warning"]
    assert warning.startswith(
        "source 's': 3 golds have a comma where numbers may have their decimal sign, for example '2,25' (row 1)"
    )
    assert warning.endswith("set `decimal_comma: true` in the source")
    points = run(tmp_path, [{"problem": f"{n}?", "answer": gold} for n, gold in enumerate(["2.5", *COMMAS])])
    assert "warning" not in points.sources["s"]
