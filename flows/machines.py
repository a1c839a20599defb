"""The pipeline on several machines: data stages on one worker, GPU stages on another, results through a DVC remote.

    prefect work-pool create compass --type process      # once
    python -m flows.machines --pool compass              # once, and after a change of the stages' names
    prefect worker start --pool compass --work-queue data    # on the data machine, in its clone
    prefect worker start --pool compass --work-queue gpu     # on the GPU machine, in its clone
    prefect deployment run across/across

`docs/prefect.md` has the same for Docker and Kubernetes.
"""

import argparse
import json
import os
from itertools import groupby
from pathlib import Path
from typing import Any

from flows import prefect_settings

ROOT = Path(__file__).resolve().parents[1]

prefect_settings.apply(ROOT)  # before Prefect reads its settings

from prefect import flow, get_run_logger  # noqa: E402
from prefect.client.schemas.objects import State  # noqa: E402
from prefect.deployments import run_deployment  # noqa: E402
from prefect.deployments.runner import EntrypointType  # noqa: E402
from prefect.states import Completed, Failed  # noqa: E402

from compass.settings import Settings, load_settings  # noqa: E402
from flows.part import fingerprint_of, part  # noqa: E402
from flows.stage import machine  # noqa: E402

QUEUES = ("data", "gpu")
"""Work queues of the pool, one per kind of machine; `flows.stage.machine` says which stage wants which."""


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
    same = fingerprint_of(ROOT, other_settings)
    for kind, stages in parts(settings, up_to):
        logger.info("%s: %s", kind, ", ".join(stages))
        given = {"stages": stages, "fingerprint": same, "other_settings": other_settings}
        run = run_deployment(
            f"part/{kind}", parameters=given, flow_run_name=f"{kind}: {', '.join(stages)}", tags=[kind]
        )
        if run.state is None or not run.state.is_completed():
            return Failed(message=f"{kind} ({', '.join(stages)}): {run.state.message if run.state else 'no state'}")
    return Completed(message="every part ran")


def parts(settings: Settings, up_to: str = "") -> list[tuple[str, list[str]]]:
    """The stages in their order, cut where the kind of machine changes: `[("data", ["collect", …]), ("gpu", […])]`."""
    stages = settings.stages
    wanted = stages[: stages.index(up_to) + 1] if up_to else stages
    return [(kind, list(group)) for kind, group in groupby(wanted, key=lambda stage: machine(stage, settings))]


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
