"""One stage of reinforcement learning, from an earlier model to the next: any stage that `rl.stages` lists.

    python -m stages.rl rl-1

Reads `data/curriculum` and the model named by `init_from`; writes `models/<stage>`, and into `data/<stage>` verl's
metrics (`steps.csv`), the reward of every response (`rewards.parquet`), the rollouts of chosen iterations
(`rollouts.parquet`) and what guards found (`guards.json`, `samples/`). Checkpoints live under
`work/<stage>/<course>`, named after everything that decides the stage's updates, so that a killed stage continues from its
last checkpoint and a changed one starts from the beginning. The last one stays until DVC has the model: the next stage that
runs removes it.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.model_cards import rl_card
from compass.progress import report, report_phase
from compass.records import read_records, split_stages
from compass.rl.checkpoint import best_step, checkpoint_folder
from compass.rl.course import (
    FINISHED,
    check_disk,
    course,
    mark_finished,
    remove_other_courses,
)
from compass.rl.export import describe_beginning, export_model
from compass.rl.guards.findings import format_finding, write_findings
from compass.rl.launch import train
from compass.rl.metrics import SAMPLED_LENGTH, SAMPLED_REWARD, write_curves
from compass.rl.mixed_groups import MixedGroups, UnfillableStageError, cannot_fill, predict_mixed_groups
from compass.rl.paths import StagePaths
from compass.rl.rollouts import write_rewards, write_rollouts
from compass.rl.start import bring_start, check_start, remove_start
from compass.runs.dvc_files import dvc_md5
from compass.settings import Settings, SettingsError
from stages._stage import Summary, main


def run(settings: Settings, stage: str, root: Path = Path(".")) -> Summary:
    """Train the stage of this name.

    Returns:
        The summary; `metrics` has the problems trained on, the predicted share of mixed groups, and the first and last
        iterations' mean reward and response length.

    Raises:
        SettingsError: `rl.stages` has no such stage.
        ModelError: `init_from` names a model from elsewhere that cannot be found or used.
        StartError: its settings do not fit the training set, the model or this machine.
    """
    from transformers import AutoTokenizer

    from compass.rl.dataset import hold_out, write_training_set

    if stage not in settings.rl.stages:
        raise SettingsError(f"`rl.stages` in params.yaml has no {stage!r}; there are {', '.join(settings.rl.stages)}")
    ours = settings.rl.stages[stage]
    report_phase("preparing the training set")
    start = bring_start(stage, ours, root).resolve()
    problems = read_records(root / "data/curriculum/kept.parquet")
    work = root / "work" / stage
    training_set = work / "train.parquet"
    counts = write_training_set(stage, problems, ours, AutoTokenizer.from_pretrained(start), training_set)
    if held := ours.checkpoint.validation_problems:
        validation = work / "validation.parquet"
        counts["problems"] = hold_out(stage, training_set, validation, count=held, seed=settings.seed)
    report_phase("checking model and machine")
    check_start(stage, ours, model=start, train=training_set)
    expected = _expected_groups(stage, problems, read_records(root / "data/curriculum/dropped.parquet"), settings)

    name = course(ours, seed=settings.seed, start=start, training_set=training_set)
    paths = StagePaths(start, training_set.resolve(), (work / name).resolve())
    (paths.work / FINISHED).unlink(missing_ok=True)  # from here on the work is in use again
    print(check_disk(stage, ours, start, paths.work), flush=True)
    metrics = train(stage, ours, paths, seed=settings.seed)

    report(ours.steps, ours.steps, "iterations", "writing the model")
    out = root / "data" / stage
    out.mkdir(parents=True, exist_ok=True)
    write_curves(metrics, out / "steps.csv")
    rewards = write_rewards(paths.rewards, out / "rewards.parquet")
    write_rollouts(paths.rollouts, out / "rollouts.parquet")
    found = write_findings(paths.findings, paths.samples, out)
    chosen = best_step(metrics) or ours.steps
    model = _write_model(settings, stage, paths, metrics, chosen, root, problems=counts["problems"])
    mark_finished(paths.work, model, dvc_md5(root / model))
    remove_other_courses(work, name)
    remove_start(stage, ours, root)
    return Summary(
        stage,
        metrics={
            **counts,
            "steps": ours.steps,
            "exported_step": chosen,
            **_group_metrics(expected, ours.graded_by_policy(settings.grade)),
            "groups_used": _share_used(rewards),
            "guards_fired": len(found),
            **_ends("reward", metrics, SAMPLED_REWARD),
            **_ends("response_tokens", metrics, SAMPLED_LENGTH),
            "seconds_per_step": sorted(row["timing_s/step"] for row in metrics)[len(metrics) // 2],
        },
    )


def _write_model(
    settings: Settings,
    stage: str,
    paths: StagePaths,
    metrics: list[dict[str, Any]],
    chosen: int,
    root: Path,
    *,
    problems: int,
) -> Path:
    """Make the stage's model of the checkpoint of an iteration, with its card, and return its folder below `root`."""
    ours, model = settings.rl.stages[stage], Path("models") / stage
    card = rl_card(
        stage, ours, profile=settings.profile, seed=settings.seed, step=chosen, problems=problems, metrics=metrics
    )
    (root / "data" / stage / "card.md").write_text(card, encoding="utf-8")  # for the report, which needs no weights
    export_model(
        checkpoint_folder(paths.checkpoints, chosen),
        paths.model,
        root / model,
        dtype=ours.resources.dtype,
        card=card,
        building=paths.work / "model",
        keep_optimizer=ours.checkpoint.keep_optimizer,
        beginning=describe_beginning(metrics, ours.rollout.temperature),
    )
    return model


def _expected_groups(stage: str, problems: pa.Table, left_out: pa.Table, settings: Settings) -> MixedGroups | None:
    """Predict how many groups teach something, and warn of or stop a stage that could not fill a batch.

    Where the rates are not of the policy that starts the stage, they do not stop it: they are a guess about another model.
    """
    ours = settings.rl.stages[stage]
    chosen, others = [], []
    for table in (problems, left_out):
        columns = (table[name].to_pylist() for name in ("solve_rate", "n_rollouts", "stages"))
        for rate, rollouts, stages in zip(*columns, strict=True):
            if rate is not None and rollouts:
                (chosen if stage in split_stages(stages) else others).append((rate, rollouts))
    if not chosen:
        return None
    expected = predict_mixed_groups(chosen, ours.rollout.group_size, others)
    level = ours.guards.mixed_groups.level
    seen = cannot_fill(expected, ours.rollout.max_generation_batches) if ours.rollout.dynamic_sampling else None
    if seen is None or level == "off":
        return expected
    own = ours.graded_by_policy(settings.grade)
    whose = "" if own else f" (rates of {settings.grade.model}, not of the policy that starts here: {ours.init_from})"
    message = f"{stage}: " + format_finding(
        "mixed_groups",
        0,
        f"{seen}{whose}; change the levels (`curriculum.mixes.{stage}`), raise `rollout.group_size`, or allow more",
    )
    if level == "stop" and own:
        raise UnfillableStageError(message)
    print(f"warning: {message}", file=sys.stderr)
    return expected


def _group_metrics(expected: MixedGroups | None, own: bool) -> dict[str, float | int | bool | None]:
    if expected is None:
        return {"mixed_groups_predicted": None}
    return {
        "mixed_groups_predicted": expected.share,
        "mixed_groups_predicted_ci95": [expected.low, expected.high],
        "problems_no_rollout_solved": expected.unsolved,
        "problems_every_rollout_solved": expected.solved,
        "solve_rates_are_the_policys": own,
    }


def _ends(name: str, metrics: list[dict[str, Any]], metric: str) -> dict[str, float]:
    """A metric of the first and of the last iteration; nothing where an earlier version began the stage without it."""
    if metric not in metrics[0]:
        return {}
    return {f"{name}_first": metrics[0][metric], f"{name}_last": metrics[-1][metric]}


def _share_used(rewards) -> float:
    used = rewards["used"].to_pylist()
    return sum(used) / len(used)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m stages.rl STAGE, with a name of `rl.stages` in params.yaml")
    main(sys.argv[1], partial(run, stage=sys.argv[1]))
