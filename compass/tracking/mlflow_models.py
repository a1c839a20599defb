"""Models in MLflow, by reference: DVC keeps the weights, MLflow knows their hash, their scores and where they came from.

A model is a *logged model* of the run that trained it, found by DVC's hash of its folder, so that a model that was not trained
again is not logged again. When models are scored they become versions of the registered model of their profile
(`compass-tiny`), with two aliases:

- `base`: the policy that RL started from in the last evaluation;
- `champion`: the version whose 95% interval of the average accuracy has the highest lower end, among those that were scored on
  the same benchmarks as the last evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compass.tracking.mlflow_client import LONGEST_VALUE

MD5 = "dvc.md5"
PATH = "dvc.path"
LOW = "compass.average_low"
MODEL_ID = "compass.model_id"
"""Tag of a version: the logged model that it is."""

BENCHMARKS = "compass.benchmarks"
"""Tag of a version: the benchmarks that it was scored on, by DVC's hash."""

BASE, CHAMPION = "base", "champion"
RULE = (
    "Models by reference: DVC keeps the weights (`dvc.path`, `dvc.md5`). "
    "Alias `base`: where RL started in the last evaluation. Alias `champion`: the highest lower end of the 95% interval of the "
    "average accuracy, among versions scored on the benchmarks of the last evaluation."
)


def record_model(client: Any, experiment: str, run_id: str, entry: Mapping[str, Any]) -> None:
    """Log the model that a stage made as an output of its run; `entry` has its `name`, `path`, `md5` and `params`."""
    from mlflow.entities import LoggedModelOutput

    model = _logged_model(client, experiment, run_id, entry)
    outputs = client.get_run(run_id).outputs
    if model not in [output.model_id for output in (outputs.model_outputs if outputs else [])]:
        client.log_outputs(run_id, [LoggedModelOutput(model, step=0)])


def record_scores(client: Any, experiment: str, run_id: str, record: Mapping[str, Any]) -> None:
    """Log what models scored: on each logged model and on the run that trained it, and as versions of the registered model.

    `models` of the record has `name`, `path`, `md5`, `scores` (metrics) and `low` of each; `registered` is the registered
    model's name, `benchmarks` the hash of what they were scored on, `time` when.
    """
    from mlflow.entities import LoggedModelInput, Metric

    _registered(client, record["registered"])
    for entry in record["models"]:
        model = _logged_model(client, experiment, run_id, entry)
        client.log_inputs(run_id, models=[LoggedModelInput(model)])
        trained = client.get_logged_model(model).source_run_id or run_id
        scores = entry["scores"].items()
        client.log_batch(
            trained, metrics=[Metric(name, value, record["time"], 0, model_id=model) for name, value in scores]
        )
        version = _version(client, record["registered"], entry, model, trained)
        for tag, value in ((LOW, f"{entry['low']:.6f}"), (BENCHMARKS, record["benchmarks"])):
            client.set_model_version_tag(record["registered"], version, tag, value)
        if entry["name"] == BASE:
            client.set_registered_model_alias(record["registered"], BASE, version)
    _crown(client, record["registered"], record["benchmarks"])


def _logged_model(client: Any, experiment: str, run_id: str, entry: Mapping[str, Any]) -> str:
    """The id of the logged model with a hash; made, as one of this run, where there is none."""
    found = client.search_logged_models(
        [experiment],
        filter_string=f"tags.`{MD5}` = '{entry['md5']}'",
        order_by=[{"field_name": "creation_time", "ascending": True}],
    )
    if found:
        return found[0].model_id
    model = client.create_logged_model(
        experiment,
        name=entry["name"],
        source_run_id=run_id,
        tags={MD5: entry["md5"], PATH: entry["path"]},
        params={name: value[:LONGEST_VALUE] for name, value in entry.get("params", {}).items()},
        model_type="policy",
    )
    client.finalize_logged_model(model.model_id, "READY")
    return model.model_id


def _registered(client: Any, name: str) -> None:
    if not client.search_registered_models(f"name = '{name}'"):
        client.create_registered_model(name, description=RULE)


def _version(client: Any, registered: str, entry: Mapping[str, Any], model: str, trained: str) -> str:
    """The version of a model, made where its hash has none."""
    known = client.search_model_versions(f"name = '{registered}' and tags.`{MD5}` = '{entry['md5']}'")
    if known:
        return known[0].version
    tags = {MD5: entry["md5"], PATH: entry["path"], "compass.model": entry["name"], MODEL_ID: model}
    # A server takes the model's id alone for a source, a database only its address.
    by_id = client.tracking_uri.startswith("http")
    made = client.create_model_version(
        registered,
        source=f"models:/{model}" if by_id else client.get_logged_model(model).artifact_location,
        run_id=trained,
        model_id=model,
        tags=tags,
        description=f"{entry['name']}; `dvc` has the weights as {entry['path']} ({entry['md5']})",
        await_creation_for=0,
    )
    return made.version


def _crown(client: Any, registered: str, benchmarks: str) -> None:
    """Give `champion` to the version that the rule names; of equals to the older one."""
    versions = client.search_model_versions(f"name = '{registered}'")
    scored = [one for one in versions if one.tags.get(BENCHMARKS) == benchmarks]
    best = max(scored, key=lambda one: (float(one.tags[LOW]), -int(one.version)))
    client.set_registered_model_alias(registered, CHAMPION, best.version)
