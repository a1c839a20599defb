"""What MLflow is to hold of one stage's run: plain data, made from the files that the stage, its settings and DVC keep.

    record = begin_record("dedup", settings, folder, server_name(folder))
    add_outputs(record, settings, folder)
    end_record(record, "FINISHED")

`compass.tracking.mlflow_send.send_record` makes MLflow's runs what the record says, however often it is called. The pipeline's
run, the parent of its stages' runs, holds what each stage's record says of it.
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from compass.curves import read_steps
from compass.files import write_json
from compass.processes import pipeline_key, process_key
from compass.runs.dvc_files import Graph, digest
from compass.runs.progress import read_progress, read_run
from compass.runs.repository import git_state, repository_root
from compass.runs.run_name import LAST_STAGE, changed_settings, list_changed, run_name
from compass.runs.stage_times import read_times
from compass.runs.values import flatten, scrub
from compass.tracking.datasets import stage_datasets
from compass.tracking.description import description
from compass.tracking.outbox import ParentShare, Point, Record, artifact_folder, copy_artifact, write_record
from compass.tracking.stage_metrics import (
    PARENT_CURVES,
    curve_values,
    headline,
    model_scores,
    row_counts,
    stage_metrics,
)

PIPELINE = "compass.pipeline"
"""Tag on every run: the pipeline run it belongs to. MLflow's filters cannot follow nesting."""

KIND = "compass.kind"
"""`pipeline` or `stage`."""

STAGE = "compass.stage"
"""The stage's name."""

RECORD = "mlflow.compass.record"
"""The record that a stage's run is made of: the run is never made twice. MLflow's pages hide tags that begin with `mlflow.`."""

OUTPUTS = "compass.outputs"
"""Digest of what a stage wrote: finds the run that produced a cached result."""

CACHED = "compass.cached"
"""With a stage's name behind a dot: the run that produced the result which this pipeline run took over."""

MODELS = "mlflow.compass.models"
"""The models that a pipeline run makes, in the order of training."""

EXPERIMENT = "dvc.experiment"
"""The name of the DVC experiment that a run belongs to."""

DEFAULT_EXPERIMENT = "compass-thinker"

FINISHED = Path(".compass/finished")
"""`STAGE.json` names the last run that finished. DVC writes `dvc.lock` after a stage has ended: a run whose outputs never came there was
killed in between, although its record says otherwise."""


def experiment_name() -> str:
    """`MLFLOW_EXPERIMENT_NAME`, or the project's own."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or DEFAULT_EXPERIMENT


def begin_record(stage: str, settings: Any, folder: Path, server: str) -> Record:
    """The record of a stage that starts now.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    graph, key = Graph(folder), pipeline_key()
    deps = graph.dep_hashes(stage)
    code = {path: md5 for path, md5 in deps.items() if path.startswith(("compass/", "stages/"))}
    git = _git_tags(folder)
    tags = {
        KIND: "stage",
        STAGE: stage,
        "compass.profile": settings.profile,
        "mlflow.compass.host": socket.gethostname(),
        **git,
        "dvc.code": digest(code),
        **{f"dvc.dep.{path}": md5 for path, md5 in deps.items() if path.startswith(("data/", "models/"))},
    }
    # A source has twenty fields, of which most are left alone: all of them would hide those that are not.
    section = flatten({stage: settings.stage(stage).model_dump(mode="json", exclude_defaults=stage == "collect")})
    record = Record(
        id=f"{time.strftime('%Y%m%d-%H%M%S')}-{stage}-{uuid.uuid4().hex[:8]}",
        stage=stage,
        experiment=experiment_name(),
        process=process_key(),
        began=_now(),
        server=server,
        tags={name: scrub(str(value)) for name, value in (tags | ({PIPELINE: key} if key else {})).items()},
        params={"seed": str(settings.seed), **section},
        datasets=stage_datasets(graph, stage, trains=stage in settings.rl.stages),
    )
    if key:
        changes = changed_settings(settings, folder / "profiles") or []
        progress = read_progress(folder)
        earlier = [one for one in graph.ancestors(stage) if one not in progress or progress[one].run != key]
        tags = {"compass.profile": settings.profile, MODELS: ",".join(settings.models), **git, **_started_tags()}
        record.parent = ParentShare(
            key=key,
            name=run_name(settings, folder / "profiles", list_changed(folder, settings)),
            params={"profile": settings.profile, "seed": str(settings.seed)} | {one.name: one.after for one in changes},
            before={one.name: one.before for one in changes},
            continues=os.environ.get(LAST_STAGE, stage) != stage,
            tags={name: scrub(str(value)) for name, value in tags.items()},
            points=[point for other in earlier for point in _read_curves(settings, other, folder)],
            cached={other: digest(outs) for other in earlier if (outs := graph.locked_outs(other))},
        )
        record.replaces = _find_unkept(graph, stage)
        _describe_parent(record, settings, graph)
        write_json(artifact_folder(record, "pipeline", folder) / "settings.json", settings.model_dump(mode="json"))
    write_record(record, folder)
    return record


def add_curves(record: Record, settings: Any, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add iterations of an RL stage: verl's metrics of each, with its `step`."""
    for row in rows:
        record.points += make_points(curve_values(row), int(row["step"]))
        if record.parent:
            record.parent.points += _parent_points(settings, record.stage, row, _now())


def add_outputs(record: Record, settings: Any, folder: Path) -> None:
    """Add what a stage that ended well wrote: metrics, hashes, its model, the scores, what the pipeline's run says of it, plots and reports.

    What people compare in `metrics/STAGE.json` becomes metrics, the whole the artifact `summary.json`.

    Raises:
        OSError: the disk is full. What needs no place on it is added.
    """
    graph, stage = Graph(folder), record.stage
    hashes, summary = graph.out_hashes(stage), _read_json(folder / "metrics" / f"{stage}.json")
    record.points += make_points(stage_metrics(stage, summary))
    record.tags |= {OUTPUTS: digest(hashes), **{f"dvc.out.{path}": md5 for path, md5 in hashes.items()}}
    if (model := f"models/{stage}") in hashes:
        params = flatten(settings.stage(stage).model_dump(mode="json"))
        record.model = {"name": stage, "path": model, "md5": hashes[model], "params": params}
    if stage == "evaluate":
        record.scores = _collect_scores(graph, settings)
    if record.parent:
        times, ran = read_times(folder), {stage, *(one.stage for one in read_run(folder, record.parent.key))}
        hours = {other: facts["seconds"] / 3600 for other, facts in times.items() if other in ran}
        if stage in hours:
            record.parent.points += make_points({f"hours/{stage}": hours[stage], "hours/total": sum(hours.values())})
        _describe_parent(record, settings, graph)
        # which run of the stage finished last, and what it wrote
        facts = {"id": record.id, "outputs": record.tags[OUTPUTS]}
        write_json(repository_root(folder) / FINISHED / f"{stage}.json", facts)
        outputs = {other: graph.locked_outs(other) for other in graph.ancestors(stage)} | {stage: hashes}
        place = artifact_folder(record, "pipeline", folder)
        write_json(place / "outputs.json", outputs)
        write_json(place / "times.json", {other: facts for other, facts in times.items() if other in outputs})
    write_json(artifact_folder(record, "stage", folder) / "summary.json", summary)
    for path in hashes:
        if Path(path).parts[0] in ("plots", "reports"):
            copy_artifact(record, folder / path, folder)


def end_record(record: Record, status: str, error: BaseException | None = None) -> None:
    """Note how a stage ended."""
    if error:
        record.tags["compass.error"] = scrub(f"{type(error).__name__}: {error}"[:500])
    record.ended, record.status = _now(), status


def make_points(values: Mapping[str, float], step: int = 0, at: int | None = None) -> list[Point]:
    """Metrics with a time, by default that of now: sent twice, MLflow keeps them once."""
    return [[name, value, at or _now(), step] for name, value in values.items()]


def _find_unkept(graph: Graph, stage: str) -> str:
    """The id of a stage's last finished run, if its `dvc` was killed before it wrote the outputs into `dvc.lock`; else empty.

    A lock file that is newer than the end of the run proves nothing: git may have brought another one.
    """
    note, lock = repository_root(graph.folder) / FINISHED / f"{stage}.json", graph.folder / "dvc.lock"
    try:
        ended, facts = note.stat().st_mtime_ns, json.loads(note.read_text(encoding="utf-8"))
        if lock.exists() and lock.stat().st_mtime_ns > ended:
            return ""
        return "" if digest(graph.locked_outs(stage)) == facts["outputs"] else facts["id"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _describe_parent(record: Record, settings: Any, graph: Graph) -> None:
    """What the pipeline's run says of the stages that are done, those that DVC skipped included."""
    assert record.parent is not None
    folder, done = graph.folder, [*graph.ancestors(record.stage), record.stage]
    summaries = {stage: _read_json(folder / "metrics" / f"{stage}.json") for stage in done}
    evaluated = record.stage in ("evaluate", "report")
    scores = summaries.get("evaluate", {}).get("models", {}) if evaluated else {}
    record.parent.points += make_points(row_counts(summaries.items()) | headline(scores))
    changes = changed_settings(settings, folder / "profiles")
    has_report = record.stage == "report"
    text = description(settings.profile, changes, scores, summaries, report=has_report, folder=folder)
    record.parent.description = scrub(text)


def _collect_scores(graph: Graph, settings: Any) -> dict[str, Any] | None:
    """The scores of every model, for its logged model and its version; None where nothing was scored."""
    hashes = graph.dep_hashes("evaluate")
    scores = _read_json(graph.folder / "metrics/evaluate.json").get("models", {})
    models = [
        {
            "name": name,
            "path": path,
            "md5": hashes[path],
            "scores": model_scores(scored),
            "low": scored["average"]["ci95"][0],
        }
        for name, scored in scores.items()
        if (path := f"models/{name}") in hashes and "average" in scored
    ]
    measured = next((one["md5"] for one in stage_datasets(graph, "evaluate", trains=False)), "")
    registered = f"compass-{settings.profile}"
    return {"registered": registered, "benchmarks": measured, "models": models, "time": _now()} if models else None


def _read_curves(settings: Any, stage: str, folder: Path) -> list[Point]:
    """The curves of an RL stage that DVC skips, from the file it wrote: always of the same time, so that MLflow has them once."""
    path = folder / "data" / stage / "steps.csv"
    if stage not in settings.rl.stages or not path.exists():
        return []
    at = int(path.stat().st_mtime * 1000)
    return [point for row in read_steps(path).values() for point in _parent_points(settings, stage, row, at)]


def _parent_points(settings: Any, stage: str, row: Mapping[str, Any], at: int) -> list[Point]:
    """An iteration of an RL stage as the pipeline's run shows it: few curves, counted on over all RL stages."""
    values = curve_values(row)
    shared = {name: values[name] for name in PARENT_CURVES if name in values}
    names = list(settings.rl.stages)
    before = sum(settings.rl.stages[name].steps for name in names[: names.index(stage)]) if stage in names else 0
    return make_points(shared, before + int(row["step"]), at)


def _git_tags(folder: Path) -> dict[str, str]:
    """Tags for the commit, and whether files differ from it."""
    state = git_state(folder)
    return {"mlflow.source.git.commit": state["commit"], "compass.git_dirty": state["dirty"]} if state else {}


def _started_tags() -> dict[str, str]:
    """Tags that say how the run was started: by whom, from which page, and as which DVC experiment."""
    known = {
        "compass.started_by": "COMPASS_STARTED_BY",
        "compass.prefect_url": "COMPASS_PREFECT_URL",
        EXPERIMENT: "DVC_EXP_NAME",
    }
    return {tag: value for tag, name in known.items() if (value := os.environ.get(name))}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # not there yet, or broken: its stage says so


def _now() -> int:
    return int(time.time() * 1000)
