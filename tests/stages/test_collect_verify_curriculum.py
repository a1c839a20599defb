"""The stages collect, verify and curriculum on files, and what stands when one fails."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from compass.records import RecordError, read_records, record_id, table, write_records
from compass.settings import Source, load_settings
from compass.sources.read import SourceError
from stages import collect, curriculum, verify


@pytest.fixture
def settings(tmp_path):
    """The tiny profile over two sources and a benchmark in `tmp_path`."""
    values = yaml.safe_load((Path(__file__).parents[2] / "profiles/tiny.yaml").read_text())
    rows = [{"problem": f"What is {n} plus {n}?", "answer": 2 * n} for n in range(20)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "b.csv").write_text("problem,answer\nWhat is 3 plus 4?,7\n,8\n")
    (tmp_path / "bench.jsonl").write_text('{"problem": "What is 9 plus 9?", "answer": "18"}\n')
    values["collect"] = {
        "sources": [{"name": "a", "path": str(tmp_path / "a.jsonl")}, {"name": "b", "path": str(tmp_path / "b.csv")}],
        "benchmarks": [{"name": "bench", "path": str(tmp_path / "bench.jsonl")}],
    }
    values["rl"]["data"]["batch_size"] = values["rl"]["optimizer"]["mini_batch_size"] = 8
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(values))
    return load_settings(path)


def test_collect_writes_records_ledger_and_benchmarks(settings, tmp_path):
    folder = tmp_path / "data"
    summary = collect.run(settings, folder)
    assert (summary.counts.read, summary.counts.kept, summary.counts.dropped) == (22, 21, {"empty_problem": 1})
    assert summary.metrics["sources"]["b"]["read"] == 2
    assert summary.metrics["benchmarks"] == {"bench": 1}
    assert summary.metrics["warnings"] == []
    assert read_records(folder / "kept.parquet").column("source").to_pylist().count("a") == 20
    assert read_records(folder / "benchmarks.parquet").column("source").to_pylist() == ["bench"]
    first = (folder / "kept.parquet").read_bytes()
    collect.run(settings, folder)
    assert (folder / "kept.parquet").read_bytes() == first


def test_a_moving_revision_is_told(settings, tmp_path, monkeypatch, capsys):
    from compass.sources import collect as library

    monkeypatch.setattr(library, "resolve_commit", lambda hub, revision: "0" * 40)
    monkeypatch.setattr(library, "hub_rows", lambda source, commit: iter([(0, {"problem": "1?", "answer": "1"})]))
    source = Source(name="hub", hub="owner/set", revision="main")
    sources = settings.collect.model_copy(update={"sources": [source]})
    summary = collect.run(settings.model_copy(update={"collect": sources}), tmp_path / "data")
    assert len(summary.metrics["warnings"]) == 1
    assert capsys.readouterr().out.startswith("collect: warning: owner/set: revision 'main' can move")


def test_a_source_that_breaks_leaves_the_earlier_outputs(settings, tmp_path):
    folder = tmp_path / "data"
    collect.run(settings, folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    (tmp_path / "b.csv").write_bytes(b"problem,answer\ncaf\xe9,7\n")
    with pytest.raises(SourceError, match=r"b\.csv.*not UTF-8"):
        collect.run(settings, folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def graded(tmp_path, answers):
    records = table(
        [
            {"id": record_id("a", str(n)), "source": "a", "answer": answer, "level": n % 5 + 1, "solve_rate": 0.5}
            for n, answer in enumerate(answers)
        ]
    )
    write_records(tmp_path / "grade/kept.parquet", records)
    return records


def test_verify_drops_golds_and_reports_types(settings, tmp_path):
    records = graded(tmp_path, ["7", "\\frac{3}{}", "8", "1/2"])
    ids = records.column("id").to_pylist()
    rollouts = [{"id": ids[2], "sample": n, "answer": "5", "correct": False} for n in range(8)]
    rollouts.append({"id": ids[0], "sample": 0, "answer": None, "correct": False})
    rollouts += [{"id": ids[3], "sample": n, "answer": "1/2", "correct": True} for n in range(8)]
    where = tmp_path / "grade/kept.parquet", tmp_path / "grade/rollouts.parquet", tmp_path / "verify"
    pq.write_table(pa.Table.from_pylist(rollouts), where[1])
    summary = verify.run(settings, *where)
    assert summary.counts.dropped == {"suspicious_gold": 1, "unreadable_gold": 1}
    assert not summary.note
    assert summary.metrics["answer_types"] == {"fraction": 1, "integer": 1}
    assert read_records(tmp_path / "verify/kept.parquet").column("answer_type").to_pylist() == ["integer", "fraction"]

    pq.write_table(pa.Table.from_pylist(rollouts[:9]), where[1])
    summary = verify.run(settings, *where)
    assert summary.counts.dropped == {"unreadable_gold": 1}, "a grader that solves nothing is no evidence"
    assert "the grader solves 0.0%" in summary.note


def test_curriculum_writes_stages_and_the_mix(settings, tmp_path):
    graded(tmp_path, [str(n) for n in range(50)])
    summary = curriculum.run(settings, tmp_path / "grade/kept.parquet", tmp_path / "curriculum")
    assert summary.counts.kept + sum(summary.counts.dropped.values()) == summary.counts.read == 50
    assert summary.metrics["stages"]["rl-1"] == {
        "problems": 30,
        "missing": 738,
        "levels": {"1": 10, "2": 10, "3": 10},
        "wanted": {"1": 384, "2": 384},
        "borrowed": [{"for": 1, "from": 3, "problems": 10}],
    }
    assert summary.note.startswith("short: rl-1 has 30 of 768")
    kept = read_records(tmp_path / "curriculum/kept.parquet").to_pylist()
    assert all(row["stages"] for row in kept)
    assert {row["level"] for row in kept if "rl-3" in row["stages"].split(",")} <= {2, 3, 4, 5}
    enough = settings.model_copy(update={"curriculum": settings.curriculum.model_copy(update={"problems": 20})})
    assert curriculum.run(enough, tmp_path / "grade/kept.parquet", tmp_path / "curriculum").note == ""


def test_curriculum_says_when_every_stage_trains_on_the_same_levels(settings, tmp_path):
    graded(tmp_path, [str(n) for n in range(50)])
    mixes = {"rl-1": {"1": 0.6, "2": 0.4}, "rl-2": {"1": 0.4, "2": 0.6}, "rl-3": {"1": 0.2, "2": 0.8}}

    def note(problems: int) -> str:
        ours = settings.curriculum.model_copy(update={"problems": problems, "mixes": mixes})
        changed = settings.model_copy(update={"curriculum": ours})
        return curriculum.run(changed, tmp_path / "grade/kept.parquet", tmp_path / "curriculum").note

    had = "10 of level 1, 10 of level 2, 10 of level 3"
    assert note(64).endswith(f"; warning: rl-1, rl-2, rl-3 train on the same levels ({had}), though their mixes differ")
    assert note(10) == ""


def test_curriculum_stops_before_a_stage_that_could_fill_no_batch(settings, tmp_path):
    graded(tmp_path, [str(n) for n in range(9)])
    with pytest.raises(
        curriculum.ShortError, match=r"rl-1 gets \d problems, fewer than `rl.data.batch_size` \(8\).* to \d or less"
    ):
        curriculum.run(settings, tmp_path / "grade/kept.parquet", tmp_path / "curriculum")
    assert not (tmp_path / "curriculum").exists()


def test_curriculum_without_graded_problems_says_what_to_change(settings, tmp_path):
    write_records(tmp_path / "k.parquet", table([{"id": "x", "source": "a", "answer": "1"}]))
    with pytest.raises(
        RecordError,
        match=r"no problem for rl-1, which wants levels 1, 2; of 1 rows dropped were ungraded 1: change `grade",
    ):
        curriculum.run(settings, tmp_path / "k.parquet", tmp_path / "curriculum")


def test_curriculum_names_the_sources_that_it_was_told_to_take(settings, tmp_path):
    graded(tmp_path, [str(n) for n in range(9)])
    told = settings.curriculum.model_copy(update={"sources": ["elsewhere"]})
    with pytest.raises(RecordError, match=r"not_selected 9: change `curriculum.sources` or `curriculum.mixes.rl-1`"):
        curriculum.run(
            settings.model_copy(update={"curriculum": told}), tmp_path / "grade/kept.parquet", tmp_path / "curriculum"
        )


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "no such file; run the stage"), (b"PAR1", "unreadable .*; run `dvc repro -f grade`")],
)
def test_verify_names_rollouts_that_cannot_be_read(settings, tmp_path, content, said):
    graded(tmp_path, ["7"])
    rollouts = tmp_path / "grade/rollouts.parquet"
    if content is not None:
        rollouts.write_bytes(content)
    with pytest.raises(RecordError, match=rf"rollouts\.parquet: {said}"):
        verify.run(settings, tmp_path / "grade/kept.parquet", rollouts, tmp_path / "verify")
