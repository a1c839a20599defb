"""One stage of reinforcement learning, from an earlier model to the next: any stage that `rl.stages` lists.

    python -m stages.rl rl-1

Reads `data/curriculum` and the model named by `init_from`; writes `models/<stage>`, and into `data/<stage>` verl's
metrics (`steps.csv`) and the reward of every response (`rewards.parquet`). Checkpoints live under
`work/<stage>/<course>`, named after everything that decides the stage's updates, so that a killed stage continues from its
last checkpoint and a changed one starts from the beginning. The last one stays until DVC has the model: the next stage that
runs removes it.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from compass.records import read_records, split_stages
from compass.rl.checkpoint import checkpoint_folder
from compass.rl.config import StagePaths
from compass.rl.course import (
    FINISHED,
    check_disk,
    course,
    mark_finished,
    remove_other_courses,
)
from compass.rl.export import export_model
from compass.rl.launch import train
from compass.rl.metrics import write_curves
from compass.rl.mixed_groups import check_fillable, predict_mixed_share
from compass.rl.model_card import model_card
from compass.rl.reward_table import write_rewards
from compass.rl.start_checks import check_start
from compass.settings import RlStage, Settings, SettingsError
from compass.tracking.dvc_files import dvc_md5
from stages._stage import Summary, main


def run(settings: Settings, stage: str, root: Path = Path(".")) -> Summary:
    """Train the stage of this name.

    Returns:
        The summary; `metrics` has the problems trained on, the predicted share of mixed groups, and the first and last
        iterations' mean reward and response length.

    Raises:
        SettingsError: `rl.stages` has no such stage.
        StartError: its settings do not fit the training set, the model or this machine.
    """
    from transformers import AutoTokenizer

    from compass.rl.dataset import write_training_set

    if stage not in settings.rl.stages:
        raise SettingsError(f"`rl.stages` in params.yaml has no {stage!r}; there are {', '.join(settings.rl.stages)}")
    ours = settings.rl.stages[stage]
    start = (root / "models" / ours.init_from).resolve()
    problems = read_records(root / "data/curriculum/kept.parquet")
    work = root / "work" / stage
    training_set = work / "train.parquet"
    counts = write_training_set(stage, problems, ours, AutoTokenizer.from_pretrained(start), training_set)
    check_start(stage, ours, model=start, train=training_set)
    share = _mixed_share(stage, problems, ours)

    name = course(ours, seed=settings.seed, start=start, training_set=training_set)
    paths = StagePaths(start, training_set.resolve(), (work / name).resolve())
    (paths.work / FINISHED).unlink(missing_ok=True)  # from here on the work is in use again
    print(check_disk(stage, ours, start, paths.work))
    metrics = train(stage, ours, paths, seed=settings.seed)

    out = root / "data" / stage
    out.mkdir(parents=True, exist_ok=True)
    write_curves(metrics, out / "steps.csv")
    rewards = write_rewards(paths.rewards, out / "rewards.parquet")
    model = Path("models") / stage
    export_model(
        checkpoint_folder(paths.checkpoints, ours.steps),
        start,
        root / model,
        dtype=ours.resources.dtype,
        card=model_card(
            stage,
            ours,
            profile=settings.profile,
            seed=settings.seed,
            step=ours.steps,
            problems=counts["problems"],
            metrics=metrics,
        ),
        building=paths.work / "model",
        keep_optimizer=ours.checkpoint.keep_optimizer,
    )
    mark_finished(paths.work, model, dvc_md5(root / model))
    remove_other_courses(work, name)
    return Summary(
        stage,
        metrics={
            **counts,
            "steps": ours.steps,
            "mixed_groups_predicted": share,
            "groups_used": _share_used(rewards),
            "reward_first": metrics[0]["critic/score/mean"],
            "reward_last": metrics[-1]["critic/score/mean"],
            "response_tokens_first": metrics[0]["response_length/mean"],
            "response_tokens_last": metrics[-1]["response_length/mean"],
            "seconds_per_step": sorted(row["timing_s/step"] for row in metrics)[len(metrics) // 2],
        },
    )


def _mixed_share(stage: str, problems, ours: RlStage) -> float | None:
    """Predict how many groups teach something, and stop a stage that could not fill a batch."""
    graded = [
        rate
        for rate, stages in zip(problems["solve_rate"].to_pylist(), problems["stages"].to_pylist(), strict=True)
        if rate is not None and stage in split_stages(stages)
    ]
    if not graded:
        return None
    share = predict_mixed_share(graded, ours.rollout.group_size)
    if ours.rollout.dynamic_sampling:
        check_fillable(stage, share, ours.rollout.max_generation_batches)
    return share


def _share_used(rewards) -> float:
    used = rewards["used"].to_pylist()
    return sum(used) / len(used)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m stages.rl STAGE, with a name of `rl.stages` in params.yaml")
    main(sys.argv[1], partial(run, stage=sys.argv[1]))
