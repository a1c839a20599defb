"""base: bring the policy's starting weights, pre-trained here or resolved from a path or hub id.

    python -m stages.base

Writes `models/base`, a transformers folder (config, safetensors, tokenizer, generation config, `compass_origin.json`).
It is built in `work/base` and moved into place whole, so that a stopped run leaves no half model.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from compass.base.origin import Origin, write_origin
from compass.base.pretrain import pretrain
from compass.base.resolve import resolve
from compass.files import folder_digest
from compass.progress import report
from compass.settings import Settings
from stages._stage import Summary, main

FOLDER = Path("models/base")
WORK = Path("work/base")


def run(settings: Settings, folder: Path = FOLDER, work: Path = WORK) -> Summary:
    """Bring the policy that `settings.base` asks for.

    Returns:
        The summary; `metrics` has the origin and, when pre-trained, parameters, steps, loss, expected accuracy, speed.

    Raises:
        PretrainError: the policy did not reach the skill asked for.
        ModelError: the model cannot be found or used.
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
    write_origin(building, origin)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
    return Summary("base", metrics={**facts, "origin": origin.kind, "name": origin.name, "digest": origin.digest})


def _pretrain(settings: Settings, out: Path) -> dict[str, float]:
    def show(step: int, loss: float, done: float) -> None:
        # How many steps there will be is not known: percents are of the work, as far as it can be told.
        report(100 * done, 100, "percent", "pre-training", detail=f"step {step}, loss {loss:.3f}")

    return pretrain(settings.base.pretrain, seed=settings.seed, out=out, progress=show)


if __name__ == "__main__":
    main("base", run)
