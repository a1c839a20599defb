"""A stage's datasets are what it learns from, works on or is measured on, with hashes that lead to DVC and back."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.runs.dvc_files import Graph, dvc_md5
from compass.tracking.datasets import stage_datasets

DEPS = {
    "dedup": ["data/collect"],
    "denoise": ["data/collect", "data/dedup"],
    "grade": ["data/dedup"],
    "rl-1": ["data/dedup"],
    "evaluate": ["data/collect", "data/dedup"],
    "report": ["data/collect", "data/dedup"],
}


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    tables = {
        "collect/kept": {"id": ["a", "b", "c"]},
        "collect/benchmarks": {"id": ["x"]},
        "dedup/kept": {"id": ["a", "b"], "stages": ["rl-1,rl-2", None], "solve_rate": [0.5, 1.0], "n_rollouts": [1, 2]},
        "dedup/dropped": {"id": ["c"]},
    }
    for name, columns in tables.items():
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), tmp_path / "data" / f"{name}.parquet")
    stages = "".join(f"  {stage}: {{cmd: x, deps: [{', '.join(deps)}]}}\n" for stage, deps in DEPS.items())
    (tmp_path / "dvc.yaml").write_text(f"stages:\n{stages}")
    return Graph(tmp_path)


def used(graph: Graph, stage: str, *, trains: bool = False) -> list[tuple[str, str, int]]:
    return [(one["name"], one["context"], one["rows"]) for one in stage_datasets(graph, stage, trains=trains)]


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("dedup", [("collect/kept", "curation", 3)]),
        ("denoise", [("collect/benchmarks", "decontamination", 1), ("dedup/kept", "curation", 2)]),
        ("grade", [("dedup/kept", "grading", 2)]),
        ("evaluate", [("collect/benchmarks", "evaluation", 1)]),
        ("report", []),
    ],
)
def test_a_stage_uses_what_it_works_on_and_no_dropped_row(graph: Graph, stage: str, expected: list) -> None:
    assert used(graph, stage) == expected


def test_an_rl_stage_trains_on_the_rows_that_the_curriculum_chose_for_it(graph: Graph) -> None:
    assert used(graph, "rl-1", trains=True) == [("dedup/kept (rl-1)", "training", 1)]


def test_the_digest_is_dvcs_hash_of_the_file_and_the_outputs_hash_is_beside_it(graph: Graph) -> None:
    [table] = stage_datasets(graph, "grade", trains=False)
    assert table["md5"] == dvc_md5(graph.folder / "data/dedup/kept.parquet")
    assert table["dvc"] == dvc_md5(graph.folder / "data/dedup")
    assert table["path"] == "data/dedup/kept.parquet"
    assert table["columns"] == {"id": "string", "stages": "string", "solve_rate": "double", "n_rollouts": "long"}


def test_a_file_that_is_not_whole_is_left_to_its_stage(graph: Graph) -> None:
    (graph.folder / "data/dedup/kept.parquet").write_text("PAR1")
    assert used(graph, "grade") == []
