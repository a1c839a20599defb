"""`benchmarks/compare_outputs.py` sees every kind of difference between two runs, and nothing where there is none."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "compare_outputs.py"
SPEC = importlib.util.spec_from_file_location("compare_outputs", PATH)
assert SPEC is not None
assert SPEC.loader is not None
compare_outputs = importlib.util.module_from_spec(SPEC)
sys.modules["compare_outputs"] = compare_outputs
SPEC.loader.exec_module(compare_outputs)

KEPT = [{"id": "a", "problem": "1 + 1?", "rate": 0.5}, {"id": "b", "problem": "1 + 2?", "rate": math.nan}]
DROPPED = [{"id": "c", "reason": "link", "evidence": "{}"}, {"id": "d", "reason": "image", "evidence": "{}"}]


def write(folder: Path, kept: list[dict] = KEPT, dropped: list[dict] = DROPPED) -> Path:
    """A stage's outputs in `folder/denoise`."""
    (folder / "denoise").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(kept), folder / "denoise" / "kept.parquet")
    pq.write_table(pa.Table.from_pylist(dropped), folder / "denoise" / "dropped.parquet")
    return folder


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old")


def differences(old: Path, new: Path) -> dict:
    """File to difference, of those that differ."""
    return {one.file: one for one in compare_outputs.compare(old, new) if not one.equal}


def test_equal_runs_are_equal(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = write(tmp_path / "new")
    assert compare_outputs.main([str(old), str(new)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split() == ["denoise/dropped.parquet", "2", "2", "0", "0", "equal"]
    assert shown[2].split() == ["denoise/kept.parquet", "2", "2", "0", "0", "equal"]
    assert shown[-1] == "2 files compared, 0 differ"


def test_a_changed_value_is_named_with_its_row(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = write(tmp_path / "new", dropped=[DROPPED[0], {**DROPPED[1], "evidence": '{"text": "x"}'}])
    [one] = differences(old, new).values()
    assert one.columns == {"evidence": [(("d",), "{}", '{"text": "x"}')]}
    assert (one.rows_old, one.rows_new, one.only_old, one.only_new, one.note) == (2, 2, [], [], "")
    assert compare_outputs.main([str(old), str(new)]) == 1
    shown = capsys.readouterr().out
    assert "denoise/dropped.parquet: evidence differs in 1 rows\n  d\n    old {}\n" in shown
    assert shown.endswith("2 files compared, 1 differ\n")


def test_a_row_that_is_dropped_now_is_told_from_one_that_is_lost(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = write(tmp_path / "new", kept=KEPT[:1], dropped=[{**DROPPED[0], "id": "b"}, {**DROPPED[1], "reason": "link"}])
    assert compare_outputs.fates(old, new, "denoise") == {
        ("image", "link"): ["d"],
        ("kept", "link"): ["b"],
        ("link", "absent"): ["c"],
    }
    found = differences(old, new)
    assert found["denoise/kept.parquet"].only_old == [("b",)]
    assert found["denoise/kept.parquet"].rows_new == 1
    assert found["denoise/dropped.parquet"].only_new == [("b",)]
    assert compare_outputs.main([str(old), str(new)]) == 1
    assert "denoise: kept -> link: 1 rows: b\n" in capsys.readouterr().out


def test_order_is_a_difference_of_its_own(old: Path, tmp_path: Path) -> None:
    [one] = differences(old, write(tmp_path / "new", kept=KEPT[::-1])).values()
    assert (one.note, one.columns, one.only_old, one.only_new) == ("rows in another order", {}, [], [])


def test_columns_and_types_are_compared(old: Path, tmp_path: Path) -> None:
    changed = [{"id": row["id"], "rate": str(row["rate"]), "level": 1} for row in KEPT]
    [one] = differences(old, write(tmp_path / "new", kept=changed)).values()
    assert one.note == "columns gone ['problem'], added ['level']; rate was double, is string"
    assert list(one.columns) == ["rate"]
    turned = [dict(reversed(row.items())) for row in KEPT]
    [one] = differences(old, write(tmp_path / "turned", kept=turned)).values()
    assert one.note == "columns in another order"


def test_other_files_are_compared_by_their_bytes_and_missing_ones_named(old: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new")
    for folder, text in ((old, "a\n"), (new, "b\n")):
        (folder / "collect" / "published").mkdir(parents=True)
        (folder / "collect" / "published" / "one.jsonl").write_text(text)
        (folder / "collect" / "published" / "same.jsonl").write_text("same")
    (old / "summary.json").write_text("beside the stages: not compared")
    (new / "denoise" / "extra.parquet").write_bytes(b"")
    (old / "collect" / "gone.csv").write_bytes(b"")
    assert {name: one.note for name, one in differences(old, new).items()} == {
        "collect/gone.csv": "only in OLD",
        "collect/published/one.jsonl": "other bytes",
        "denoise/extra.parquet": "only in NEW",
    }


def test_stages_are_chosen_and_an_empty_folder_is_an_error(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = write(tmp_path / "new", kept=KEPT[:1])
    (old / "dedup").mkdir()
    (new / "dedup").mkdir()
    for folder in (old, new):
        pq.write_table(pa.Table.from_pylist(KEPT), folder / "dedup" / "kept.parquet")
    assert compare_outputs.main([str(old), str(new), "--stages", "dedup"]) == 0
    assert compare_outputs.main([str(old), str(new), "--stages", "dedup", "denoise"]) == 1
    capsys.readouterr()
    assert compare_outputs.main([str(old), str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'none'}: holds no stage's outputs to compare\n"
    assert compare_outputs.main([str(old), str(new), "--stages", "verify"]) == 2
