"""The engine for CPUs against verl's own: one batch, the same loss, log-probabilities, entropy and gradients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compass.rl.cpu.environment import environment

PASSES = Path(__file__).with_name("engine_passes.py")
ONE_UPDATE = Path(__file__).with_name("engine_one_update.py")


def run(*words: object) -> dict[str, Any]:
    """What a script prints in its last line."""
    done = subprocess.run(
        [sys.executable, *words], env=environment(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_it_gives_what_verls_engine_gives(random_model, tmp_path: Path) -> None:
    model = random_model(tmp_path / "model", 0)
    ours, verls = run(PASSES, "ours", model), run(PASSES, "verl", model)
    assert (ours["engine"], verls["engine"]) == ("SharedPromptEngine", "FSDPEngineWithLMHead")
    assert ours["loss"] == pytest.approx(verls["loss"], rel=1e-5)
    for name in ("log_probs", "entropy"):
        for our_values, values in zip(ours["sampled"][name], verls["sampled"][name], strict=True):
            np.testing.assert_allclose(our_values, values, atol=1e-5)
    for name, gradient in verls["gradients"].items():
        np.testing.assert_allclose(ours["gradients"][name], gradient, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_entropy_is_worked_out_in_single_precision_where_the_model_is_in_half(random_model, tmp_path: Path) -> None:
    found = run(PASSES, "ours", random_model(tmp_path / "model", 0), "bfloat16")
    assert found["dtypes"] == {"log_probs": "torch.float32", "entropy": "torch.float32"}


@pytest.mark.slow
def test_an_update_in_one_pass_is_the_update_after_a_pass_for_old_log_probabilities(
    random_model, tmp_path: Path
) -> None:
    found = run(ONE_UPDATE, random_model(tmp_path / "model", 0))
    twice, once = found["twice"], found["once"]
    assert (twice["compared"], once["compared"]) == (False, True)
    assert once["loss"] == pytest.approx(twice["loss"], rel=1e-6)
    for name, gradient in twice["gradients"].items():
        np.testing.assert_allclose(once["gradients"][name], gradient, rtol=1e-5, atol=1e-7, err_msg=name)
