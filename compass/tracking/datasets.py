"""The tables that a stage learns from, works on or is measured on, as MLflow's dataset inputs.

MLflow's digest of a table is DVC's hash of its file, and every input carries the hash that `dvc.lock` has for the output it is
in: who has one finds the other (`compass runs list --data HASH`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compass.runs.dvc_files import Graph, dvc_md5

KEPT, BENCHMARKS = "kept.parquet", "benchmarks.parquet"


def stage_datasets(graph: Graph, stage: str, *, trains: bool) -> list[dict[str, Any]]:
    """The tables that a stage uses; rows that an earlier stage dropped are none of them.

    Args:
        graph: `dvc.yaml` and `dvc.lock`.
        stage: the stage's name.
        trains: whether it is an RL stage, which uses the rows that the curriculum chose for it.

    Returns:
        `name`, `path`, `md5`, `dvc`, `rows`, `columns` (name to type) and `context` of each.
    """
    tables = []
    hashes = graph.dep_hashes(stage)
    for dep, md5 in hashes.items():
        for path in (graph.folder / dep / KEPT, graph.folder / dep / BENCHMARKS):
            if path.exists() and (context := _context(stage, path, trains=trains)):
                shape = _shape(path, stage if trains else None)
                if shape is not None:
                    place = path.relative_to(graph.folder).as_posix()
                    # MLflow has one entry per name and digest: the rows of another stage would be shown otherwise.
                    name = "/".join(Path(place).with_suffix("").parts[1:]) + (f" ({stage})" if trains else "")
                    tables.append(
                        {"name": name, "path": place, "md5": dvc_md5(path), "dvc": md5, "context": context, **shape}
                    )
    return tables


def _context(stage: str, path: Path, *, trains: bool) -> str | None:
    """What a stage uses a table for; None where it only looks things up in it."""
    if path.name == BENCHMARKS:
        return {"evaluate": "evaluation", "denoise": "decontamination"}.get(stage)
    if trains:
        return "training"
    return {"grade": "grading", "evaluate": None, "report": None, "denoise": _not_collected(path)}.get(
        stage, "curation"
    )


def _not_collected(path: Path) -> str | None:
    """`denoise` reads of collect's output the benchmarks alone."""
    return None if path.parent.name == "collect" else "curation"


def _shape(path: Path, stage: str | None) -> dict[str, Any] | None:
    """Rows and columns; with `stage` only the rows that the curriculum chose for it. None for what is not a whole file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from compass.records import split_stages

    try:
        file = pq.ParquetFile(path)
        rows = file.metadata.num_rows
        if stage and "stages" in file.schema_arrow.names:
            chosen = pq.read_table(path, columns=["stages"])["stages"].to_pylist()
            rows = sum(stage in split_stages(one) for one in chosen)
    except (pa.ArrowInvalid, OSError):
        return None  # the stage that reads it says so, and what to do
    return {"rows": rows, "columns": {field.name: _type(field.type) for field in file.schema_arrow}}


def _type(kind: Any) -> str:
    """MLflow's name of an Arrow type."""
    import pyarrow.types as types

    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind):
        return "long"
    if types.is_floating(kind):
        return "double"
    return "string"
