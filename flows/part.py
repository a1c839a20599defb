"""A part of the pipeline on whichever machine a worker runs: fetch what it needs, run it, send what it made.

Machines share nothing but Prefect's server and a DVC remote. Each has a clone of the same commit; results travel through the
remote with DVC's run cache, which tells another machine which outputs belong to which inputs.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from flows import prefect_settings

ROOT = Path(__file__).resolve().parents[1]

prefect_settings.apply(ROOT)  # before Prefect reads its settings

from prefect import flow, get_run_logger, runtime  # noqa: E402
from prefect.client.schemas.objects import State  # noqa: E402
from prefect.states import Completed, Failed  # noqa: E402

from compass.errors import UserError  # noqa: E402
from compass.runs.repository import git_state  # noqa: E402
from compass.settings import check_values  # noqa: E402
from flows.flow_run import carry_out  # noqa: E402
from flows.overrides import changed_text, read_text  # noqa: E402
from flows.run import RunRequest  # noqa: E402


def _run_name() -> str:
    return ", ".join(runtime.flow_run.parameters["stages"])


@flow(name="part", flow_run_name=_run_name)
def part(stages: list[str], fingerprint: str = "", other_settings: dict[str, Any] = {}) -> State:  # noqa: B006
    """Run some stages on this machine; what they need comes from the DVC remote, and what they made goes there.

    Args:
        stages: the stages, in the order of the pipeline.
        fingerprint: commit and settings of the other machines; a clone that differs is refused. Empty checks nothing.
        other_settings: settings by their name in params.yaml.
    """
    # A worker starts in a folder of its own; the clone is where this file is.
    os.chdir(ROOT)
    try:
        own = fingerprint_of(ROOT, other_settings)
    except UserError as error:
        return Failed(message=str(error))
    if fingerprint and own != fingerprint:
        return Failed(
            message=f"this machine's clone ({ROOT}) has {own} (commit and settings), the others have {fingerprint}. "
            "Check out the same commit with the same params.yaml there, and start again"
        )
    # `--pull` takes from the remote what another machine has made already.
    request = RunRequest(stages[0], overrides=other_settings, extra=(*stages[1:], "--pull"))
    state = carry_out(request)
    return _push() if state.is_completed() else state


def fingerprint_of(root: Path, overrides: dict[str, Any]) -> str:
    """Commit and settings of a clone, in a few letters: machines with the same one compute the same.

    Raises:
        UserError: the settings cannot be used.
    """
    import yaml

    text, _ = changed_text(read_text(root), overrides)
    settings = json.dumps(check_values(yaml.safe_load(text)).model_dump(mode="json"), sort_keys=True)
    state = git_state(root)
    return f"{state['commit'][:12] if state else 'no-git'}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"


def _push() -> State:
    """Send outputs and run cache to the remote, so that other machines find them."""
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "push", "--run-cache"]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode:
        return Failed(message="\n".join(["the results are here, but did not reach the DVC remote:", *said[-5:]]))
    get_run_logger().info("dvc push --run-cache: %s", said[-1] if said else "done")
    return Completed(message="ran here, and sent to the DVC remote")
