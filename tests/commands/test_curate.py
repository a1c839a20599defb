from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import compass
from compass.cli import main
from compass.errors import SourceError
from compass.ledger import LEDGER
from compass.library.curate import CurateOptions, curate_settings
from compass.library.curate_sources import source_settings
from compass.library.curate_stages import select
from compass.library.export_rows import export_rows
from compass.records import RecordError, record_id, write_records
from compass.report.outputs import check_finished, open_outputs
from compass.settings import Curation, Dedup, Denoise, Source, Verify, load_sections, load_settings
from tests.conftest import digests

ROOT = Path(__file__).resolve().parents[2]

ITEM = "A farmer has 17 sheep and buys 25 more at the market on Monday. How many sheep does the farmer have then?"
WORDY = (
    "the second one has more of them because it can be split into equal parts in many more ways than the first one can"
)
BOOKS = "Tom has 8 books. Then Tom buys 3 more of them in the shop. How many books does Tom have now?"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two sources and a benchmark, with one row of each fate."""
    folder = tmp_path_factory.mktemp("raw")
    first = [{"problem": f"What is {n} plus {n * n + 3} minus {n + 1}?", "answer": str(n * n + 2)} for n in range(40)]
    first += [
        {"problem": BOOKS, "answer": "11"},
        {"problem": ITEM, "answer": "42"},
        {"problem": "See https://example.org/x.html and say how many dogs there are.", "answer": "3"},
        {"problem": "How many hats has Ann if she has 5 of them and 2 more?", "answer": ""},
        {"problem": "Which of the two numbers 18 and 24 has more divisors than the other?", "answer": WORDY},
        {"problem": "How many <b>cats</b> | \x1b[31mred\x1b[0m are 5 and 6 cats?", "answer": "11"},
    ]
    second = [{"question": f"{BOOKS} Explain.", "final_answer": "11"}, {"question": BOOKS, "final_answer": "12"}]
    for name, rows in (("first", first), ("second", second), ("bench", [{"problem": ITEM, "answer": "42"}])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_decimal_comma_is_explained_written_and_without_its_setting_warned_about(tmp_path, capsys):
    source, params = tmp_path / "mine.jsonl", tmp_path / "p.yaml"
    golds = ["0,25", "247,25", "0,375", "3,5", "9"]
    rows = [{"problem": f"How long is each piece of rope {n}, in metres?", "answer": g} for n, g in enumerate(golds)]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["curate", str(source), "--write-params", str(params)]) == 0
    assert "decimal_comma: True (4 of 5 sampled golds" in capsys.readouterr().err
    assert load_sections(params, ("collect",))["collect"].sources[0].decimal_comma
    out = ["--out", str(tmp_path / "out")]
    assert main(["curate", "--params", str(params), *out]) == 0
    assert "decimal sign" not in capsys.readouterr().out
    kept = pq.read_table(tmp_path / "out" / "verify" / "kept.parquet")
    assert set(kept["answer"].to_pylist()) == {"0.25", "247.25", "0.375", "3.5", "9"}
    history_of = ["why", "mine:2", "--data", str(tmp_path / "out")]
    assert main(history_of) == 0
    assert "answer    0.375  (published with a decimal comma: 0,375)" in capsys.readouterr().out
    params.write_text(params.read_text().replace("decimal_comma: true", "decimal_comma: false"))
    assert main(["curate", "--params", str(params), *out]) == 0
    assert "collect: warning: source 'mine': 4 golds have a comma where" in capsys.readouterr().out


def command(files: Path, out: Path) -> list[str]:
    sources = [str(files / "first.jsonl"), str(files / "second.jsonl")]
    return ["curate", *sources, "--benchmark", str(files / "bench.jsonl"), "--out", str(out)]


@pytest.fixture(scope="module")
def curated(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    assert main(command(files, out)) == 0
    return out


def test_every_row_is_kept_or_dropped_with_reason(curated):
    summary = check_finished(curated)
    outputs = open_outputs(curated)
    kept, dropped = pq.read_table(curated / "verify" / "kept.parquet"), outputs.ledger()
    assert (summary["read"], summary["kept"], summary["dropped"]) == (48, kept.num_rows, dropped.num_rows)
    assert kept.num_rows + dropped.num_rows == 48
    assert dropped.schema.equals(LEDGER)
    reasons = dict(zip(dropped["id"].to_pylist(), dropped["reason"].to_pylist(), strict=True))
    assert reasons[record_id("first", "41")] == "contaminated"
    assert reasons[record_id("first", "42")] == "link"
    assert reasons[record_id("first", "43")] == "missing_answer"
    assert reasons[record_id("second", "0")] == "near_duplicate"
    assert reasons[record_id("second", "1")] == "answer_conflict"
    assert summary["sources"]["second"]["kept"] == 0
    assert summary["sources"]["second"]["dropped"] == {"answer_conflict": 1, "near_duplicate": 1}


def test_kept_rows_are_exported_as_a_table_or_as_json_lines(files, tmp_path):
    words = command(files, tmp_path / "out")
    assert main([*words, "--export", str(tmp_path / "clean.csv")]) == 0
    assert main([*words, "--export", str(tmp_path / "clean.jsonl")]) == 0
    kept = pq.read_table(tmp_path / "out/verify/kept.parquet").to_pylist()
    with open(tmp_path / "clean.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (tmp_path / "clean.jsonl").read_text().splitlines()]
    for name in ("id", "source", "source_id", "problem", "answer"):
        assert [row[name] for row in rows] == [row[name] for row in lines] == [row[name] for row in kept]
    assert not {"alternatives", "tolerance"} & set(lines[0])


def test_exported_rows_read_as_those_they_were_written_of(tmp_path):
    rows = [
        {"problem": f"What is {n} over 7, in all?", "answer": f"{n / 7:.2f}", "tolerance": "0.01"} for n in range(9)
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = tmp_path / "mine.jsonl"
    for clean in (tmp_path / "clean.csv", tmp_path / "clean.jsonl"):
        kept = compass.curate(given, out=tmp_path / "out").kept
        export_rows(tmp_path / "out/verify/kept.parquet", clean)
        given = clean
    again = compass.curate(given).kept
    for name in ("problem", "answer", "tolerance"):
        assert again[name].to_pylist() == kept[name].to_pylist() == [row[name] for row in rows]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("clean.xlsx", "name a file that ends in .csv or .jsonl"),
        ("none/clean.csv", "none does not exist"),
        ("out/clean.csv", "holds the run's own files alone"),
    ],
)
def test_an_export_that_cannot_be_written_is_refused_before_the_run(files, tmp_path, capsys, name, said):
    (tmp_path / "out").mkdir()
    assert main([*command(files, tmp_path / "out"), "--export", str(tmp_path / name)]) == 1
    assert said in capsys.readouterr().err
    assert not list((tmp_path / "out").iterdir())


def test_the_summary_says_what_was_read_and_kept_by_stage_and_source(curated, files):
    summary = check_finished(curated)
    stages = {name: (facts["read"], facts["kept"], facts["dropped"]) for name, facts in summary["stages"].items()}
    assert stages == {
        "collect": (48, 47, {"missing_answer": 1}),
        "dedup": (47, 45, {"answer_conflict": 1, "near_duplicate": 1}),
        "denoise": (45, 42, {"contaminated": 1, "encoding": 1, "link": 1}),
        "verify": (42, 41, {"unreadable_gold": 1}),
    }
    first = summary["sources"]["first"]
    assert (first["read"], first["kept"], first["path"]) == (46, 41, str(files / "first.jsonl"))
    assert list(first["dropped"].items()) == [
        ("contaminated", 1),
        ("encoding", 1),
        ("link", 1),
        ("missing_answer", 1),
        ("unreadable_gold", 1),
    ]
    assert summary["benchmarks"] == {"bench": 1}
    stage_files = [f"{stage}/{fate}.parquet" for stage in stages for fate in ("dropped", "kept")]
    cards = [path.name for path in curated.glob("card*")]
    whole = {"curate.json", "croissant.json", "collect/benchmarks.parquet", *stage_files, *cards}
    assert set(summary["files"]) == whole


def test_a_second_run_leaves_nothing_of_the_first(files, curated, tmp_path):
    assert main([*command(files, tmp_path / "out"), "--problems", "10"]) == 0
    assert main(command(files, tmp_path / "out")) == 0
    assert digests(tmp_path / "out") == digests(curated)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_fewer_problems_than_none_are_refused(files, tmp_path, capsys):
    assert main([*command(files, tmp_path / "out"), "--problems", "-3"]) == 1
    assert "--problems -3: give how many problems to keep" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_a_benchmark_a_warning_is_printed(files, curated, tmp_path, capsys):
    assert main(["curate", str(files / "first.jsonl"), "--out", str(tmp_path)]) == 0
    warning = "curate: no --benchmark given: nothing is checked for contamination\n"
    assert warning in capsys.readouterr().err
    main(command(files, tmp_path))
    assert warning not in capsys.readouterr().err


def test_licences_are_allowed_by_name_and_a_set_without_rows_is_none(files, tmp_path, capsys):
    assert main([*command(files, tmp_path), "--allow-licences", "unknown"]) == 0
    assert "licence" not in check_finished(tmp_path)["stages"]["collect"]["dropped"]
    assert main([*command(files, tmp_path), "--allow-licences", "MIT"]) == 1
    assert "all 48 rows were dropped: licence 48. The first as licence is first:0, " in capsys.readouterr().err


def test_a_parameter_files_thresholds_and_sources_are_used(files, tmp_path):
    parameters = (ROOT / "profiles" / "tiny.yaml").read_text().replace("threshold: 0.8", "threshold: 0.95")
    for text in (parameters, "dedup:\n  threshold: 0.95\n"):  # a whole file, and one section
        (tmp_path / "mine.yaml").write_text(text)
        assert main([*command(files, tmp_path / "out"), "--params", str(tmp_path / "mine.yaml")]) == 0
        settings = json.loads((tmp_path / "out" / "curate.json").read_text())
        assert list(settings) == ["curation", "collect", "dedup", "denoise", "verify", "problems", "seed"]
        assert (settings["dedup"]["threshold"], settings["collect"]["generate"]) == (0.95, None)
        assert [source["name"] for source in settings["collect"]["sources"]] == ["first", "second"]
        assert [source["name"] for source in settings["collect"]["benchmarks"]] == ["bench"]
        if text == parameters:
            limits = load_settings(tmp_path / "mine.yaml").collect
            assert settings["collect"]["max_answer_chars"] == limits.max_answer_chars


def test_a_known_file_is_read_as_the_parameters_say():
    known = [Source(name="mine", path="/data/rows.csv", problem_field="text", licence="MIT")]
    [source] = source_settings([Path("elsewhere/rows.csv")], known)
    assert source == known[0].model_copy(update={"path": "elsewhere/rows.csv"})


def test_sources_of_one_name_or_of_one_file_are_told_apart_by_path():
    paths = {"a": "a/rows.csv", "b": "b/rows.csv", "start": "$PARTS/words.csv", "rest": "$PARTS/words.csv"}
    known = [Source(name=name, path=path) for name, path in paths.items()]
    for file, names in {"a/rows.csv": ["a"], "./b/rows.csv": ["b"], "here/words.csv": ["start", "rest"]}.items():
        read = source_settings([Path(file)], known)
        assert [(source.name, source.path) for source in read] == [(name, str(Path(file))) for name in names]
    with pytest.raises(SourceError, match=r"c/rows.csv: several sources .*: a \(a/rows.csv\), b \(b/rows.csv\); give"):
        source_settings([Path("c/rows.csv")], known)


def test_without_files_the_parameters_sources_are_read_as_they_are(tmp_path: Path):
    params = ROOT / "profiles" / "paper.yaml"
    given = load_sections(params, ["collect"])["collect"].sources
    assert any(source.hub for source in given)
    assert curate_settings([], CurateOptions(params=params), tmp_path / "out").collect.sources == given
    for path in ("https://host.org/a/rows.csv", "a/rows.csv"):
        (tmp_path / "mine.yaml").write_text(f"collect: {{sources: [{{name: one, path: '{path}'}}]}}")
        [read] = curate_settings([], CurateOptions(params=tmp_path / "mine.yaml"), tmp_path / "out").collect.sources
        assert read.path == path
    named = CurateOptions(params=params, named={"problem_field": "text"})
    with pytest.raises(SourceError, match="no file has the field 'text': none is named, and sources of --params name"):
        curate_settings([], named, tmp_path / "out")


def test_the_guess_is_explained_and_written_as_parameters(files, tmp_path, capsys):
    params = tmp_path / "mine.yaml"
    asked = [*command(files, tmp_path / "out"), "--explain", "--write-params", str(params)]
    assert main(asked) == 0
    said = capsys.readouterr().err
    assert "problem_field: question (a usual name" in said
    assert "answer_field: final_answer" in said
    assert not (tmp_path / "out").exists()
    written = load_sections(params, ["collect", "curation", "dedup", "denoise", "verify"])
    assert "skip_reasons: []" in params.read_text()
    assert written.pop("collect").max_problem_chars == 20_000
    assert list(written.values()) == [Curation(), Dedup(), Denoise(), Verify()]
    assert main(asked) == 1
    assert main([*asked[:-1], str(tmp_path / "nowhere" / "mine.yaml")]) == 1
    assert "does not exist; make it" in capsys.readouterr().err
    assert main([*command(files, tmp_path / "out"), "--params", str(params)]) == 0
    sources = json.loads((tmp_path / "out" / "curate.json").read_text())["collect"]["sources"]
    assert [source["problem_field"] for source in sources] == ["problem", "question"]


def test_written_parameters_read_as_the_settings_they_were_written_of(files, tmp_path, capsys):
    limits = (
        "{repair: false, recast_choices: true, max_answer_chars: 9, allow_licences: [unknown], skip_unreadable: true}"
    )
    marks = tmp_path / "marks.jsonl"
    marks.write_text("")
    (tmp_path / "given.yaml").write_text(f"collect: {limits}\ncuration: {{labels: {marks}, warn_share: 0.5}}")
    asked = [*command(files, tmp_path / "out"), "--params"]
    written = tmp_path / "written.yaml"
    assert main([*asked, str(tmp_path / "given.yaml"), "--write-params", str(written)]) == 0
    capsys.readouterr()
    settings = []
    for params in (tmp_path / "given.yaml", written):
        assert main([*asked, str(params)]) == 0
        settings.append(json.loads((tmp_path / "out" / "curate.json").read_text()))
        [benchmark] = settings[-1]["collect"].pop("benchmarks")
        assert benchmark["answer_field"] == "answer"
    assert settings[0] == settings[1]
    assert settings[1]["collect"]["max_answer_chars"] == 9
    assert settings[1]["curation"] == {"labels": str(marks), "warn_share": 0.5}


def test_a_source_whose_last_row_is_broken_is_skipped_where_asked(files, tmp_path, capsys):
    late = tmp_path / "late.jsonl"
    late.write_text("\n".join((files / "first.jsonl").read_text().splitlines() * 8) + "\n{broken\n")
    asked = ["curate", str(late), *command(files, tmp_path / "out")[1:]]
    assert main(asked) == 1
    assert main([*asked, "--skip-unreadable"]) == 0
    assert f"warning: skipped: {late}: row " in capsys.readouterr().err


def test_all_files_are_explained_before_the_questions_about_some(files, tmp_path, capsys):
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text('{"a": 1}\n')
    unclear = [str(tmp_path / f"{name}.jsonl") for name in ("one", "two")]
    clear = str(files / "first.jsonl")
    assert main(["curate", unclear[0], clear, "--benchmark", unclear[1], "--explain"]) == 1
    said = capsys.readouterr().err
    assert "2 files cannot be read without you:" in said
    assert f"{clear}: adapter columns" in said
    assert [said.index(path) for path in (clear, *unclear)] == sorted(said.index(path) for path in (clear, *unclear))


def test_a_source_of_which_nothing_is_kept_is_a_warning(files, tmp_path, capsys):
    proofs = tmp_path / "proofs.jsonl"
    proofs.write_text('{"problem": "Prove that 7 is a prime number.", "answer": "proof"}\n')
    assert main([*command(files, tmp_path / "out")[:3], str(proofs), "--out", str(tmp_path / "out")]) == 0
    assert "warning: source 'proofs': none of its 1 rows is kept: " in capsys.readouterr().err


def test_selection_is_a_stable_sample_with_evidence(records, tmp_path):
    path = tmp_path / "rows.parquet"
    write_records(path, records(*[(f"{n}?", "1", "web") for n in range(50)]))
    ((kept, dropped),), ((more, _),), ((other, _),) = (select(path, *asked) for asked in ((10, 0), (20, 0), (10, 1)))
    ids = [set(table["id"].to_pylist()) for table in (kept, more, other)]
    assert [len(one) for one in ids] == [10, 20, 10]
    assert ids[0] < ids[1]
    assert ids[0] != ids[2]
    evidence = {"rule": "lowest seeded hash of the id", "selected": 10, "of": 50}
    assert [json.loads(text) for text in dropped["evidence"].to_pylist()] == [evidence] * 40
    assert {(row["reason"], row["stage"]) for row in dropped.to_pylist()} == {("not_selected", "select")}
    assert [kept.num_rows for kept, _ in select(path, 99, 0)] == [50]


def test_an_unfinished_folder_is_not_read(curated, tmp_path, capsys):
    shutil.copytree(curated, tmp_path, dirs_exist_ok=True)
    (tmp_path / "dedup" / "dropped.parquet").write_bytes(b"PAR1")
    with pytest.raises(RecordError, match=r"dedup/dropped\.parquet: not the file"):
        check_finished(tmp_path)
    (tmp_path / "summary.json").unlink()
    assert main(["ledger", "--data", str(tmp_path)]) == 1
    assert "start it again" in capsys.readouterr().err


def test_terminal_escapes_are_not_printed(curated, capsys):
    main(["why", record_id("first", "45"), "--data", str(curated)])
    assert "\x1b" not in capsys.readouterr().out


def test_fields_that_are_named_are_not_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"What is {n} and {n + 1} together?,{2 * n + 1},How much is {n} more than 3?\n" for n in range(12))
    (tmp_path / "odd.csv").write_text("alpha,beta,gamma\n" + rows)
    odd, out = str(tmp_path / "odd.csv"), str(tmp_path / "out")
    assert main(["curate", odd, "--out", out]) == 1
    assert "name it: --" in capsys.readouterr().err
    assert main(["curate", odd, "--out", out, "--problem-field", "alpah"]) == 1
    assert f"no file has the field 'alpah': {odd} has alpha, beta, gamma" in capsys.readouterr().err
    assert main(["curate", odd, "--out", out, "--problem-field", "alpha", "--answer-field", "beta"]) == 0
    told = capsys.readouterr()
    assert "problem_field: alpha (as you said)" in told.err
    assert "of 12 rows" in told.out


def test_the_files_of_a_parameter_file_need_not_be_named(files, tmp_path, capsys):
    params = tmp_path / "mine.yaml"
    assert main(["curate", str(files / "first.jsonl"), "--write-params", str(params)]) == 0
    assert main(["curate", "--params", str(params), "--out", str(tmp_path / "out"), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out.partition("\n")[2])["sources"]) == {"first"}
    assert main(["curate", "--out", str(tmp_path / "none")]) == 1
    assert "which files?" in capsys.readouterr().err
