"""The report compares a run with the newest recorded run of other responses, where MLflow and DVC's cache have it."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from compass.page.markdown import to_markdown
from compass.report.recorded import compare_with_run_before
from compass.report.run import read_run
from compass.runs.dvc_files import dvc_md5
from compass.tracking.mlflow_client import connect, experiment_id
from compass.tracking.record import DEFAULT_EXPERIMENT, KIND, MODELS
from tests.report.conftest import CHANCE, sample_rows, write_evaluation, write_json


def cached(root: Path, path: Path) -> str:
    """The path's content in DVC's cache; its hash."""
    cache = root / ".dvc" / "cache" / "files" / "md5"
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    listing = []
    for file in files:
        content = file.read_bytes()
        md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
        (cache / md5[:2]).mkdir(parents=True, exist_ok=True)
        (cache / md5[:2] / md5[2:]).write_bytes(content)
        listing.append({"md5": md5, "relpath": file.relative_to(path).as_posix() if path.is_dir() else ""})
    if not path.is_dir():
        return listing[0]["md5"]
    listed = dvc_md5(path)
    (cache / listed[:2]).mkdir(parents=True, exist_ok=True)
    (cache / listed[:2] / listed[2:]).write_text(json.dumps(listing))
    return listed


def record(root: Path, name: str, settings: dict[str, Any]) -> str:
    """The run in the folder, recorded as a pipeline's run; its id."""
    client = connect(root)
    run = client.create_run(
        experiment_id(client, DEFAULT_EXPERIMENT, root),
        tags={KIND: "pipeline", MODELS: ",".join(CHANCE)},
        run_name=name,
    )
    id_ = run.info.run_id
    for model in CHANCE:
        client.log_metric(id_, f"average/{model}", 0.5)
    outs = {path: cached(root, root / path) for path in ("data/evaluate", "metrics/evaluate.json")}
    client.log_dict(id_, settings, "settings.json")
    client.log_dict(id_, {"evaluate": outs}, "outputs.json")
    client.log_dict(id_, {}, "times.json")
    return id_


def evaluate(root: Path, **chance: float) -> None:
    shutil.rmtree(root / "data" / "evaluate", ignore_errors=True)
    scores = write_evaluation(root / "data" / "evaluate", sample_rows(models={**CHANCE, **chance}))
    write_json(root / "metrics" / "evaluate.json", {"models": scores})


def test_the_newest_run_of_other_responses_is_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".compass").mkdir()
    settings = {"profile": "mine", "rl": {"stages": {"rl-1": {"steps": 2}, "rl-2": {"steps": 2}}}}
    evaluate(tmp_path, **{"rl-2": 0.3})
    first = record(tmp_path, "mine", settings)
    evaluate(tmp_path, **{"rl-2": 0.4})
    path = tmp_path / "data" / "evaluate" / "problems.parquet"
    problems = pq.read_table(path)
    others = [f"{text} More?" for text in problems["problem"].to_pylist()]
    pq.write_table(problems.set_column(problems.column_names.index("problem"), "problem", [others]), path)
    record(tmp_path, "other problems under the same ids", settings)
    evaluate(tmp_path)
    write_json(tmp_path / "params.yaml", settings | {"seed": 7})
    record(tmp_path, "the same responses", settings)
    own = record(tmp_path, "now", settings)
    run = read_run(tmp_path)
    section = compare_with_run_before(run, own=own)
    assert section is not None
    text = to_markdown("t", [section])
    assert f"rl-2 of this run against rl-2 of mine ({section.parts[0].split('mine (')[1][:16]}, {first[:8]})" in text
    assert "better by" in text
    assert "| seed | (default) | 7 |" in text.replace("\\", "")
    shutil.rmtree(tmp_path / ".dvc")  # nothing to compare with: a report without that section
    assert compare_with_run_before(run, own=own) is None
    assert compare_with_run_before(run, own=None) is None
