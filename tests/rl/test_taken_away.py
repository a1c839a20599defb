"""A stage on real verl and vLLM that gets SIGTERM saves what is whole, and the next start goes on from there.

Two to four minutes; `COMPASS_DEBUG_RUN` as in test_estimators_train.py.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compass.rl.checkpoint import whole_checkpoints
from compass.rl.launch import TakenAwayError
from compass.rl.metrics import all_metrics, read_metrics
from compass.rl.paths import StagePaths
from compass.rl.progress import read_progress
from stages.rl import run
from tests.rl.debug_stage import iterations, settings

pytestmark = pytest.mark.recipes


def terminate_in(work: Path, condition: Callable[[dict], bool]) -> None:
    """Send this process SIGTERM when the trainer below `work` is where `condition` says."""

    def look() -> None:
        while True:
            time.sleep(0.05)
            for path in work.glob("*/progress.json"):
                if (at := read_progress(path)) and condition(at):
                    os.kill(os.getpid(), signal.SIGTERM)
                    return

    threading.Thread(target=look, daemon=True).start()


@pytest.mark.parametrize(("phase", "saved"), [("rollout", {2, 3}), ("update", {3})])
def test_a_stage_that_is_taken_away_goes_on_from_its_last_whole_iteration(
    debug_root: Path, phase: str, saved: set[int]
) -> None:
    """A short phase may be over before the stage's process, which looks every half second, has passed the signal on."""
    ours = settings({"checkpoint": {"save_every": 20}, "rollout": {"dynamic_sampling": False}}, steps=4)
    work = debug_root / "work/rl-1"
    terminate_in(work, lambda at: at["step"] == 3 and at["phase"] == phase)
    with pytest.raises(TakenAwayError) as ended:
        run(ours, "rl-1", debug_root)
    (stopped,) = work.glob("*/stopped.json")
    step = json.loads(stopped.read_text())["step"]
    assert step in saved
    assert f"ended by SIGTERM; iteration {step} of 4 is saved" in str(ended.value)
    assert whole_checkpoints(stopped.parent / "checkpoints") == [step]
    paths = StagePaths(model=work, train=work, work=stopped.parent)
    before = all_metrics(paths.saved_metrics, paths.live_metrics, paths.metrics)
    run(ours, "rl-1", debug_root)
    assert [row["step"] for row in iterations(debug_root)] == [1, 2, 3, 4]
    after = read_metrics(paths.metrics)
    assert after[:step] == [before[number] for number in range(1, step + 1)]  # they were not trained again
