"""`import compass` as a library: what it offers, that it costs nothing, and what it says where an extra is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import compass
from compass.cli import main
from compass.errors import UserError

ROOT = Path(__file__).parents[2]


def test_every_name_is_what_its_module_has() -> None:
    from compass import records, settings, verifier
    from compass.report import run

    assert compass.verify is verifier.verify
    assert compass.judge is verifier.judge
    assert compass.Mode is verifier.Mode
    assert compass.extract_answer is verifier.extract_answer
    assert compass.load_run is run.read_run
    assert compass.load_settings is settings.load_settings
    assert compass.read_records is records.read_records
    assert set(compass.__all__) <= set(dir(compass))
    assert all(getattr(compass, name) is not None for name in dir(compass))


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'verifi'"):
        compass.verifi  # noqa: B018 - looking it up is the test


def test_the_version_stands_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert compass.__version__ == version("compass-thinker")
    assert main(["--version"]) == 0
    assert compass.__version__ in capsys.readouterr().out


def test_importing_it_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import compass; print([m for m in set(sys.modules) - before if '.' not in m])"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    outside = set(json.loads(shown.stdout.replace("'", '"'))) - set(sys.stdlib_module_names)
    assert outside == {"compass"}


def test_the_docstring_s_examples_hold(tmp_path: Path) -> None:
    assert compass.verify(gold="1/2", answer="0.5").equal
    assert compass.judge(gold="1/2", response=r"So \boxed{0.5}.").equal
    (tmp_path / "metrics").mkdir()
    scores = {"models": {"rl-3": {"level-1": {"accuracy": 0.5, "problems": 60}}}}
    (tmp_path / "metrics/evaluate.json").write_text(json.dumps(scores))
    frame = compass.load_run(tmp_path).scores
    assert frame.to_dict("records") == [{"model": "rl-3", "benchmark": "level-1", "accuracy": 0.5, "problems": 60}]
    (tmp_path / "metrics/evaluate.json").unlink()
    assert list(compass.load_run(tmp_path).scores.columns) == ["model", "benchmark"]


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("compass.curate(table).kept.num_rows", 1_200),
        ("compass.score(rows, response_field='text', gold_field='answer').scores['responses']", 1_200),
        (
            "sum(one.equal for one in verify_many([(row['answer'], row['text']) for row in 2 * rows], processes=2))",
            2_400,
        ),
    ],
)
def test_a_script_without_a_main_guard_runs_once(call: str, shown: int, tmp_path: Path) -> None:
    script = f"""
import pyarrow as pa
import compass
from compass.verifier import verify_many

print("reading")
rows = [{{"problem": f"What is {{n}} plus {{n * n + 3}} minus {{n + 1}}?", "answer": str(n * n + 2), "text": str(n * n + 2)}}
        for n in range(1_200)]
table = pa.Table.from_pylist(rows).select(["problem", "answer"])
print({call})
"""
    (tmp_path / "script.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["reading", str(shown)], done.stderr


@pytest.mark.parametrize("as_given", ["file", "table", "frame"])
def test_curate_takes_files_and_tables_as_the_command_does(as_given: str, tmp_path: Path) -> None:
    sums = [{"problem": f"What is {n} plus {n * n + 3} minus {n + 1}?", "answer": str(n * n + 2)} for n in range(40)]
    books = {
        "problem": "Tom has 8 books. Then Tom buys 3 more of them. How many books does Tom have now?",
        "answer": "11",
    }
    rows = [*sums, books, books]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = pa.Table.from_pylist(rows)
    given = {"file": tmp_path / "mine.jsonl", "table": table, "frame": table.to_pandas()}[as_given]
    lines: list[str] = []
    kept, dropped, card = compass.curate(given, benchmarks=pa.Table.from_pylist([books]), say=lines.append)
    assert sorted(kept["problem"].to_pylist()) == sorted(row["problem"] for row in sums)
    assert sorted(dropped["reason"].to_pylist()) == ["contaminated", "exact_duplicate"]
    assert "# " in card
    assert [line.split()[0] for line in lines[-5:]] == ["collect", "dedup", "denoise", "verify", "write"]


def test_a_curated_folder_and_the_command_s_are_the_same_bytes(tmp_path: Path) -> None:
    example = ROOT / "examples/own_csv"
    words = [str(example / "problems.csv"), "--benchmark", str(example / "benchmark.jsonl"), "--out"]
    assert main(["curate", *words, str(tmp_path / "a")]) == 0
    compass.curate(example / "problems.csv", benchmarks=example / "benchmark.jsonl", out=tmp_path / "b")
    assert (tmp_path / "a/summary.json").read_bytes() == (tmp_path / "b/summary.json").read_bytes()
    assert compass.why("How many", tmp_path / "b")["rows"]


def test_curate_refuses_what_is_neither_a_file_nor_a_table(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="dict: is neither a file nor a table"):
        compass.curate({"problem": ["What is 1 + 1?"]})
    mixed = pandas.DataFrame({"problem": ["What is 1 + 1?"] * 2, "answer": [2, "two"]})
    with pytest.raises(UserError, match=r"DataFrame: .* column answer .*; give the column one type"):
        compass.curate(mixed)


def test_score_takes_rows_tables_and_files(tmp_path: Path) -> None:
    rows = [{"gold": "5", "text": r"It is \boxed{5}."}, {"gold": "5", "text": r"\boxed{6}"}]
    (tmp_path / "r.json").write_text(json.dumps(rows))
    table = pa.Table.from_pylist(rows)
    for given in (rows, table, table.to_pandas(), tmp_path / "r.json"):
        scored = compass.score(given, response_field="text", gold_field="gold")
        assert scored.scores["accuracy"] == 0.5
        assert [(verdict["correct"], verdict["answer"]) for verdict in scored.verdicts] == [(True, "5"), (False, "6")]
    pq.write_table(pa.Table.from_pylist([{"gold": ["5"], "text": [r"\boxed{5}", "x"]}]), tmp_path / "r.parquet")
    scored = compass.score(pandas.read_parquet(tmp_path / "r.parquet"), response_field="text", gold_field="gold")
    assert [(verdict["correct"], verdict["gold"]) for verdict in scored.verdicts] == [(True, "5"), (False, "5")]
    nested = [{"gold": "5", "said": {"texts": [r"\boxed{5}", "x"]}}]
    pq.write_table(pa.Table.from_pylist(nested), tmp_path / "n.parquet")
    scored = compass.score(pandas.read_parquet(tmp_path / "n.parquet"), response_field="said.texts", gold_field="gold")
    assert scored.scores["accuracy"] == 0.5
    with pytest.raises(UserError, match="no field 'txt'; it has gold, text"):
        compass.score(rows, response_field="txt", gold_field="gold")
    with pytest.raises(UserError, match="set: is no file, table or list of rows"):
        compass.score({1}, response_field="text", gold_field="gold")


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "compass.records", raising=False)
    with pytest.raises(ImportError, match=r"compass-thinker\[curate\]"):
        compass.read_records  # noqa: B018 - looking it up is the test
