from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.commands.curate import select
from compass.commands.curate_sources import source_settings
from compass.files import file_digest
from compass.ledger import LEDGER
from compass.records import RecordError, record_id
from compass.report.outputs import check_finished, open_outputs
from compass.settings import Source, load_settings

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


def command(files: Path, out: Path) -> list[str]:
    sources = [str(files / "first.jsonl"), str(files / "second.jsonl")]
    return ["curate", *sources, "--benchmark", str(files / "bench.jsonl"), "--out", str(out)]


def digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in folder.rglob("*") if path.is_file()}


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


def test_the_settings_are_written_before_anything_is_read(files, curated, tmp_path, capsys):
    settings = json.loads((curated / "curate.json").read_text())
    assert list(settings) == ["collect", "dedup", "denoise", "verify", "problems", "seed"]
    assert [source["name"] for source in settings["collect"]["sources"]] == ["first", "second"]
    assert settings["dedup"]["threshold"] == 0.8
    assert main(["curate", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "out")]) == 1
    assert "none.jsonl" in capsys.readouterr().err


def test_the_last_line_says_where_the_kept_rows_are(files, tmp_path, capsys):
    assert main([*command(files, tmp_path / "all")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["collect", "dedup", "denoise", "verify", "write", "kept"]
    assert re.fullmatch(
        r"dedup            47 read         45 kept +\d+\.\d s  answer_conflict 1, near_duplicate 1", lines[1]
    )
    assert re.fullmatch(rf"write    {re.escape(str(tmp_path / 'all'))}  \d+\.\d s in all", lines[-2])
    out = tmp_path / "all"
    assert lines[-1] == f"kept 41 of 48 rows: {out}/verify/kept.parquet, card: {out}/card.html"
    assert main([*command(files, tmp_path / "ten"), "--problems", "10"]) == 0
    out = tmp_path / "ten"
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"kept 10 of 48 rows: {out}/select/kept.parquet, card: {out}/card.html"
    )


def test_a_second_run_leaves_nothing_of_the_first(files, curated, tmp_path):
    assert main([*command(files, tmp_path / "out"), "--problems", "10"]) == 0
    assert main(command(files, tmp_path / "out")) == 0
    assert digests(tmp_path / "out") == digests(curated)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_outputs_of_a_pipeline_are_not_replaced(files, pipeline, capsys):
    folder, _ = pipeline
    before = digests(folder)
    assert main(command(files, folder)) == 1
    assert "not written by `compass curate`, which would replace" in capsys.readouterr().err
    assert digests(folder) == before


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


def test_licences_are_allowed_by_name(files, tmp_path):
    assert main([*command(files, tmp_path), "--allow-licences", "MIT"]) == 0
    assert check_finished(tmp_path)["stages"]["collect"]["dropped"] == {"licence": 48}


def test_a_parameter_files_thresholds_and_sources_are_used(files, tmp_path):
    parameters = (ROOT / "profiles" / "tiny.yaml").read_text().replace("threshold: 0.8", "threshold: 0.95")
    (tmp_path / "mine.yaml").write_text(parameters)
    out = tmp_path / "out"
    assert main([*command(files, out), "--params", str(tmp_path / "mine.yaml")]) == 0
    settings = json.loads((out / "curate.json").read_text())
    assert settings["dedup"]["threshold"] == 0.95
    assert settings["collect"]["generate"] is None
    assert [source["name"] for source in settings["collect"]["benchmarks"]] == ["bench"]
    limits = load_settings(tmp_path / "mine.yaml").collect
    assert settings["collect"]["max_answer_chars"] == limits.max_answer_chars


def test_a_known_file_is_read_as_the_parameters_say():
    known = [Source(name="mine", path="/data/rows.csv", problem_field="text", licence="MIT")]
    [source] = source_settings([Path("elsewhere/rows.csv")], known)
    assert source == known[0].model_copy(update={"path": "elsewhere/rows.csv"})


def test_sections_of_a_parameter_file_alone_are_enough(files, tmp_path):
    params = tmp_path / "mine.yaml"
    params.write_text("dedup:\n  threshold: 0.95\n")
    assert main([*command(files, tmp_path / "out"), "--params", str(params)]) == 0
    settings = json.loads((tmp_path / "out" / "curate.json").read_text())
    assert settings["dedup"]["threshold"] == 0.95
    assert [source["name"] for source in settings["collect"]["sources"]] == ["first", "second"]


def test_the_guess_is_explained_and_written_as_parameters(files, tmp_path, capsys):
    params = tmp_path / "mine.yaml"
    asked = [*command(files, tmp_path / "out"), "--explain", "--write-params", str(params)]
    assert main(asked) == 0
    said = capsys.readouterr().err
    assert "problem_field: question (a usual name" in said
    assert "answer_field: final_answer" in said
    assert not (tmp_path / "out").exists()
    assert main(asked) == 1
    assert main([*asked[:-1], str(tmp_path / "nowhere" / "mine.yaml")]) == 1
    assert "no folder; make it" in capsys.readouterr().err
    assert main([*command(files, tmp_path / "out"), "--params", str(params)]) == 0
    sources = json.loads((tmp_path / "out" / "curate.json").read_text())["collect"]["sources"]
    assert [source["problem_field"] for source in sources] == ["problem", "question"]


def test_an_unreadable_source_stops_the_run_or_is_skipped(files, tmp_path, capsys):
    unclear, late = tmp_path / "unclear.jsonl", tmp_path / "late.jsonl"
    unclear.write_text('{"a": 1}\n')
    rows = (files / "first.jsonl").read_text().splitlines()
    late.write_text("\n".join(rows * 8) + "\n{broken\n")
    out = tmp_path / "out"
    assert main(command(files, out)) == 0
    before = digests(out)
    asked = [*command(files, out)[:2], str(unclear), str(late), *command(files, out)[2:]]
    assert main(asked) == 1
    assert digests(out) == before
    assert main([*command(files, out)[:2], str(late), *command(files, out)[2:]]) == 1
    assert digests(out) == before
    capsys.readouterr()
    assert main([*asked, "--skip-unreadable"]) == 0
    said = capsys.readouterr()
    assert "unclear.jsonl" in said.err
    assert "source 'late' is skipped" in said.out


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


def test_a_selection_keeps_its_evidence(records):
    rows = records(*[(f"{n}?", "1", "web") for n in range(5)])
    kept, dropped = select(rows, 2, 0)
    assert (kept.num_rows, dropped.num_rows) == (2, 3)
    evidence = {"rule": "lowest seeded hash of the id", "selected": 2, "of": 5}
    assert [json.loads(text) for text in dropped["evidence"].to_pylist()] == [evidence] * 3
    assert set(dropped["reason"].to_pylist()) == {"not_selected"}
    assert set(dropped["stage"].to_pylist()) == {"select"}
    assert select(rows, 2, 1)[0]["id"].to_pylist() != kept["id"].to_pylist()
    assert select(rows, 9, 0)[0].num_rows == 5


def test_selection_is_a_stable_sample(files, curated, tmp_path):
    for count in (10, 20):
        main([*command(files, tmp_path / str(count)), "--problems", str(count)])
    ten, twenty = (
        set(pq.read_table(tmp_path / count / "select" / "kept.parquet")["id"].to_pylist()) for count in ("10", "20")
    )
    assert len(ten) == 10
    assert len(twenty) == 20
    assert ten < twenty < set(pq.read_table(curated / "verify" / "kept.parquet")["id"].to_pylist())
    assert check_finished(tmp_path / "10")["stages"]["select"]["dropped"].keys() == {"not_selected"}


def test_an_unfinished_folder_is_not_read(curated, tmp_path, capsys):
    shutil.copytree(curated, tmp_path, dirs_exist_ok=True)
    (tmp_path / "dedup" / "dropped.parquet").write_bytes(b"PAR1")
    with pytest.raises(RecordError, match=r"dedup/dropped\.parquet: not the file"):
        check_finished(tmp_path)
    (tmp_path / "summary.json").unlink()
    assert main(["ledger", "--data", str(tmp_path)]) == 1
    assert "start it again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (record_id("first", "40"), ["stands for 3 rows", "verify      kept"]),
        (record_id("second", "0"), ["dedup       DROPPED: near_duplicate", record_id("first", "40"), "Its twin:"]),
        (record_id("first", "43"), ["collect     DROPPED: missing_answer"]),
        (record_id("first", "44"), ["verify      DROPPED: unreadable_gold"]),
    ],
)
def test_why_tells_the_story(curated, capsys, query, expected):
    assert main(["why", query, "--data", str(curated)]) == 0
    told = capsys.readouterr().out
    for part in expected:
        assert part in told


def test_terminal_escapes_are_not_printed(curated, capsys):
    main(["why", record_id("first", "45"), "--data", str(curated)])
    assert "\x1b" not in capsys.readouterr().out


def test_the_card_shows_counts_and_escapes_text(curated):
    page, text = (curated / "card.html").read_text(), (curated / "card.md").read_text()
    assert "near_duplicate" in page
    assert "near_duplicate" in text
    assert "<svg" in page
    assert "<script" not in page
    assert "card-composition.svg" in text


def test_the_card_opens_in_a_browser(curated, look):
    page = look(curated / "card.html")
    assert page.locator("h1").inner_text() == page.title()
    assert page.locator("svg").count() > 0


def test_fields_that_are_named_are_not_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"What is {n} and {n + 1} together?,{2 * n + 1},How much is {n} more than 3?\n" for n in range(12))
    (tmp_path / "odd.csv").write_text("alpha,beta,gamma\n" + rows)
    odd, out = str(tmp_path / "odd.csv"), str(tmp_path / "out")
    assert main(["curate", odd, "--out", out]) == 1
    assert "--problem-field NAME --answer-field NAME" in capsys.readouterr().err
    assert main(["curate", odd, "--out", out, "--problem-field", "alpah"]) == 1
    assert f"no file has the field 'alpah': {odd} has alpha, beta, gamma" in capsys.readouterr().err
    assert main(["curate", odd, "--out", out, "--problem-field", "alpha", "--answer-field", "beta"]) == 0
    told = capsys.readouterr()
    assert "problem_field: alpha (as you said)" in told.err
    assert "of 12 rows" in told.out
