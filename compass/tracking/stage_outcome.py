"""What is recorded of a stage without its doing: where it begins, what it wrote, and what its pipeline's run says of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from compass.processes import pipeline_key
from compass.runs.dvc_files import Graph, digest
from compass.runs.run_name import Change, changed_settings, run_name
from compass.runs.stage_times import read_times
from compass.runs.values import flatten, scrub
from compass.tracking.datasets import stage_datasets
from compass.tracking.description import description
from compass.tracking.journal import Journal
from compass.tracking.mlflow_client import experiment_name
from compass.tracking.pipeline_run import KIND, MODELS, OUTPUTS, PIPELINE, STAGE, git_tags, owner, started_tags
from compass.tracking.sender import server
from compass.tracking.stage_metrics import headline, model_scores, row_counts
from compass.tracking.stage_record import StageRun, parent_points


def record_begin(journal: Journal, stage: str, settings: Any, folder: Path) -> None:
    graph, key = Graph(folder), pipeline_key()
    deps = graph.dep_hashes(stage)
    code = {path: md5 for path, md5 in deps.items() if path.startswith(("compass/", "stages/"))}
    trains = stage in settings.rl.stages
    tags = {
        KIND: "stage",
        STAGE: stage,
        "compass.profile": settings.profile,
        **owner(),
        **git_tags(folder),
        "dvc.code": digest(code),
        **{f"dvc.dep.{path}": md5 for path, md5 in deps.items() if path.startswith(("data/", "models/"))},
    }
    parent, cached = None, {}
    if key:
        tags[PIPELINE] = key
        changes = changed_settings(settings, folder / "profiles") or []
        parent = {
            "key": key,
            "name": run_name(settings, folder / "profiles"),
            "params": _parent_params(settings, changes),
            "tags": {
                "compass.profile": settings.profile,
                MODELS: ",".join(settings.models),
                **owner(),
                **git_tags(folder),
                **started_tags(),
            },
        }
        cached = {other: digest(outs) for other in graph.ancestors(stage) if (outs := graph.locked_outs(other))}
    # A source has twenty fields, of which most are left alone: all of them would hide those that are not.
    section = flatten({stage: settings.stage(stage).model_dump(mode="json", exclude_defaults=stage == "collect")})
    journal.write(
        "begin",
        server=server(folder),
        experiment=experiment_name(),
        stage=stage,
        tags={name: scrub(str(value)) for name, value in tags.items()},
        params={"seed": str(settings.seed), **section},
        datasets=stage_datasets(graph, stage, trains=trains),
        parent=parent,
        cached=cached,
        models=list(settings.models),
        curves={other: points for other in cached if (points := _curves_of_before(settings, other, folder))},
    )
    tracked = StageRun(stage, settings, folder, journal)
    tracked.document("settings.json", settings.model_dump(mode="json"), on="parent")
    _record_progress(tracked, graph)


def _curves_of_before(settings: Any, stage: str, folder: Path) -> list[list[Any]]:
    """The curves of an RL stage that DVC skips, from the file it wrote."""
    path = folder / "data" / stage / "steps.csv"
    if stage not in settings.rl.stages or not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
    return [point for row in rows for point in parent_points(settings, stage, row)]


def _parent_params(settings: Any, changes: list[Change]) -> dict[str, str]:
    """Profile, seed, and every setting that differs from the profile."""
    return {"profile": settings.profile, "seed": str(settings.seed)} | {one.name: one.after[:500] for one in changes}


def _record_progress(tracked: StageRun, graph: Graph, *, report: bool = False) -> None:
    """What the pipeline's run says of the stages that are done, those that DVC skipped included."""
    folder, settings = tracked.folder, tracked.settings
    done = [*graph.ancestors(tracked.stage), tracked.stage]
    summaries = {stage: _json(folder / "metrics" / f"{stage}.json") for stage in done}
    tracked.metrics(row_counts(summaries.items()), on="parent")
    evaluated = tracked.stage in ("evaluate", "report")
    scores = summaries.get("evaluate", {}).get("models", {}) if evaluated else {}
    tracked.metrics(headline(scores), on="parent")
    changes = changed_settings(settings, folder / "profiles")
    text = description(settings.profile, changes, scores, summaries, report=report, folder=folder)
    tracked.write("describe", on="parent", text=scrub(text))


def record_outputs(tracked: StageRun, hours: float) -> None:
    """Tag the run with what it wrote, log its model, and copy what people compare to the pipeline's run."""
    folder, stage = tracked.folder, tracked.stage
    graph = Graph(folder)
    hashes = graph.out_hashes(stage)
    tracked.tags({OUTPUTS: digest(hashes), **{f"dvc.out.{path}": md5 for path, md5 in hashes.items()}})
    for path in hashes:
        if Path(path).parts[0] in ("plots", "reports"):
            tracked.artifact(folder / path)
    outputs = {other: graph.locked_outs(other) for other in graph.ancestors(stage)} | {stage: hashes}
    tracked.document("outputs.json", outputs, on="parent")
    tracked.document(
        "times.json", {other: facts for other, facts in read_times(folder).items() if other in outputs}, on="parent"
    )
    tracked.metrics({f"hours/{stage}": hours}, on="parent")
    if (model := f"models/{stage}") in hashes:
        params = flatten(tracked.settings.stage(stage).model_dump(mode="json"))
        tracked.write("model", name=stage, path=model, md5=hashes[model], params=params)
    if stage == "evaluate":
        _record_scores(tracked, graph)
    _record_progress(tracked, graph, report=stage == "report")


def _record_scores(tracked: StageRun, graph: Graph) -> None:
    """The scores of every model, for its logged model and its version."""
    hashes = graph.dep_hashes("evaluate")
    scores = _json(tracked.folder / "metrics/evaluate.json").get("models", {})
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
    if models:
        registered = f"compass-{tracked.settings.profile}"
        tracked.write("scores", registered=registered, benchmarks=measured, models=models)


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # not there yet, or broken: its stage says so
