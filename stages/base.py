"""base: bring the policy's starting weights: pre-trained here, or resolved from a path or hub id and warm-started if asked.

    python -m stages.base

Writes `models/base`, a transformers folder (config, safetensors, tokenizer, generation config, `compass_origin.json`).
It is built in `work/base` and moved into place whole, so that a stopped run leaves no half model.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from compass.base.pretrain import pretrain
from compass.base.resolve import Origin, resolve, write_origin
from compass.base.warm_start.examples import write_examples
from compass.base.warm_start.launch import train
from compass.files import folder_digest
from compass.model_cards import warm_start_card
from compass.progress import report
from compass.records import read_records
from compass.rl.export import export_model
from compass.settings import Settings
from stages._stage import Summary, main

FOLDER = Path("models/base")
WORK = Path("work/base")
KEPT = Path("data/denoise/kept.parquet")


def run(settings: Settings, folder: Path = FOLDER, work: Path = WORK, kept: Path = KEPT) -> Summary:
    """Bring the policy that `settings.base` asks for.

    Returns:
        The summary; `metrics` has the origin and, when pre-trained, parameters, steps, loss, expected accuracy, speed; after a warm
        start its examples, rows left out, and first and last loss (nats per response token).

    Raises:
        PretrainError: the policy did not reach the skill asked for.
        ModelError: the model cannot be found or used.
        WarmStartError: the supervised training ended early.
    """
    building = work / "model"
    shutil.rmtree(building, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    facts: dict[str, float] = {}
    if settings.base.pretrain:
        facts = _pretrain(settings, building)
        origin = Origin("pretrained", f"generated problems, seed {settings.seed}", "", folder_digest(building))
    else:
        origin = resolve(settings.base.model, revision=settings.base.revision, out=building)
    if settings.base.warm_start:
        facts = _warm_start(settings, building, work, kept)
    write_origin(building, origin)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
    return Summary("base", metrics={**facts, "origin": origin.kind, "name": origin.name, "digest": origin.digest})


def _pretrain(settings: Settings, out: Path) -> dict[str, float]:
    ours = settings.base.pretrain

    def show(step: int, loss: float, skill: float, done: float) -> None:
        # How many steps there will be is not known: percents are of the work, as far as it can be told.
        found = f"skill {skill:.2f} of {ours.skill:.2g}, at most {ours.steps} steps"
        if skill >= ours.skill:
            found = f"skill {skill:.2f} reached, learning habits"
        report(100 * done, 100, "percent", "pre-training", detail=f"step {step}, loss {loss:.3f}, {found}")

    # Read when torch is imported: a small model has thousands of products per second, each shorter than waking a thread. They spin for some
    # microseconds, not without end, so that other work on the machine is not held up.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    return pretrain(ours, seed=settings.seed, out=out, progress=show)


def _warm_start(settings: Settings, model: Path, work: Path, kept: Path) -> dict[str, float]:
    """Train the model in `model` on worked solutions, and put what comes out in its place."""
    from transformers import AutoTokenizer

    ours = settings.base.warm_start
    examples = work / "examples.parquet"
    counts = write_examples(
        read_records(kept), ours, AutoTokenizer.from_pretrained(model), examples, seed=settings.seed
    )

    def show(step: int, loss: float) -> None:
        report(step, ours.steps, "steps", "warm start", detail=f"loss {loss:.3f}")

    report(0, ours.steps, "steps", "warm start")
    checkpoint, rows = train(ours, model=model, examples=examples, work=work, report=show)
    trained = work / "trained"
    losses = [row["train/loss"] for row in rows]
    export_model(
        checkpoint,
        model,
        trained,
        dtype="float32",
        card=warm_start_card(ours, counts, losses, model=settings.base.model),
        building=work / "exporting",
    )
    shutil.rmtree(model)
    trained.rename(model)
    return {**counts, "loss_first": losses[0], "loss_last": losses[-1]}


if __name__ == "__main__":
    main("base", run)
