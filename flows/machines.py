"""The pipeline on several machines: data stages on one worker, GPU stages on another, results through a DVC remote.

Machines share nothing but Prefect's server and a DVC remote. Each has a clone of the same commit; results travel through the
remote with DVC's run cache, which tells another machine which outputs belong to which inputs.

    prefect work-pool create compass --type process      # once
    python -m flows.machines --pool compass              # once, and after a change of the stages' names
    prefect worker start --pool compass --work-queue data    # on the data machine, in its clone
    prefect worker start --pool compass --work-queue gpu     # on the GPU machine, in its clone
    prefect deployment run across/across

`docs/guides/prefect.md` has the same for Docker and Kubernetes.
"""

import argparse
import hashlib
import json
import os
import subprocess
from itertools import groupby
from pathlib import Path
from typing import Any

from flows import prefect_settings

ROOT = Path(__file__).resolve().parents[1]

prefect_settings.apply(ROOT)  # before Prefect reads its settings

from prefect import flow, get_run_logger, runtime  # noqa: E402
from prefect.client.schemas.objects import State  # noqa: E402
from prefect.deployments import run_deployment  # noqa: E402
from prefect.deployments.runner import EntrypointType  # noqa: E402
from prefect.states import Completed, Failed  # noqa: E402

from compass.errors import UserError  # noqa: E402
from compass.runs.repository import git_state  # noqa: E402
from compass.settings import Settings, check_values, load_settings  # noqa: E402
from compass.settings.load import parse_values, read_text  # noqa: E402
from flows.dvc_process import dvc_command  # noqa: E402
from flows.flow_run import carry_out  # noqa: E402
from flows.overrides import FILE, change_text  # noqa: E402
from flows.run import RunRequest  # noqa: E402
from flows.stage import choose_machine  # noqa: E402

QUEUES = ("data", "gpu")
"""Work queues of the pool, one per kind of machine; `flows.stage.choose_machine` says which stage wants which."""


@flow(name="across")
def across(up_to: str = "", other_settings: dict[str, Any] = {}) -> State:  # noqa: B006
    """Run the pipeline across machines: every part on a worker of its kind, one after another.

    Args:
        up_to: The last stage to run; empty runs all.
        other_settings: Settings by their name in params.yaml, as {"seed": 1}.
    """
    os.chdir(ROOT)
    logger = get_run_logger()
    settings = load_settings()
    if up_to and up_to not in settings.stages:
        return Failed(message=f"there is no stage {up_to!r}; there are {', '.join(settings.stages)}")
    same = compute_fingerprint(ROOT, other_settings)
    for kind, stages in split_parts(settings, up_to):
        logger.info("%s: %s", kind, ", ".join(stages))
        given = {"stages": stages, "fingerprint": same, "other_settings": other_settings}
        run = run_deployment(
            f"part/{kind}", parameters=given, flow_run_name=f"{kind}: {', '.join(stages)}", tags=[kind]
        )
        if run.state is None or not run.state.is_completed():
            return Failed(message=f"{kind} ({', '.join(stages)}): {run.state.message if run.state else 'no state'}")
    return Completed(message="every part ran")


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
        own = compute_fingerprint(ROOT, other_settings)
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


def compute_fingerprint(root: Path, overrides: dict[str, Any]) -> str:
    """Commit and settings of a clone, in a few letters: machines with the same one compute the same.

    Raises:
        UserError: the settings cannot be used.
    """
    text, _ = change_text(read_text(root / FILE), overrides)
    settings = json.dumps(check_values(parse_values(text)).model_dump(mode="json"), sort_keys=True)
    state = git_state(root)
    return f"{state['commit'][:12] if state else 'no-git'}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"


def _push() -> State:
    """Send outputs and run cache to the remote, so that other machines find them."""
    done = subprocess.run(
        dvc_command("push", "--run-cache"), cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    if done.returncode:
        return Failed(message="\n".join(["the results are here, but did not reach the DVC remote:", *said[-5:]]))
    get_run_logger().info("dvc push --run-cache: %s", said[-1] if said else "done")
    return Completed(message="ran here, and sent to the DVC remote")


def split_parts(settings: Settings, up_to: str = "") -> list[tuple[str, list[str]]]:
    """The stages in their order, cut where the kind of machine changes: `[("data", ["collect", …]), ("gpu", […])]`."""
    stages = settings.stages
    wanted = stages[: stages.index(up_to) + 1] if up_to else stages
    return [(kind, list(group)) for kind, group in groupby(wanted, key=lambda stage: choose_machine(stage, settings))]


def register(pool: str, image: str | None, variables: dict[str, Any]) -> None:
    """Register the deployments `part/data`, `part/gpu` and `across/across` with a work pool.

    Args:
        pool: its name.
        image: the Docker image, for a Docker or Kubernetes pool.
        variables: job variables of the pool's type, such as `volumes`.
    """
    module = {"entrypoint_type": EntrypointType.MODULE_PATH, "work_pool_name": pool, "job_variables": variables}
    for kind in QUEUES:
        made = part.to_deployment(kind, work_queue_name=kind, tags=["worker", kind], **module)
        made.apply(image=image)
    made = across.to_deployment("across", work_queue_name="data", tags=["worker"], **module)
    made.apply(image=image)
    print(f"registered part/data, part/gpu and across/across with the work pool {pool}")


def main() -> None:
    """Register the deployments from the command line."""
    parser = argparse.ArgumentParser(prog="python -m flows.machines", description=register.__doc__)
    parser.add_argument("--pool", default="compass", help="the work pool (default: compass)")
    parser.add_argument("--image", help="the Docker image, for a Docker or Kubernetes pool")
    parser.add_argument("--variables", type=json.loads, default={}, metavar="JSON", help="job variables of the pool")
    args = parser.parse_args()
    register(args.pool, args.image, args.variables)


if __name__ == "__main__":
    from flows import machines  # a worker finds the flow by its module's name, which is not `__main__`

    machines.main()
