"""`compass up` and `compass down`: the local servers around a repository."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from compass.errors import UserError

if TYPE_CHECKING:
    from compass.services.state import Service

Port = Annotated[int | None, Parameter(validator=Number(gte=1, lte=65535))]


def up(
    *,
    prefect_port: Annotated[Port, Parameter(env_var="COMPASS_PREFECT_PORT")] = None,
    mlflow_port: Annotated[Port, Parameter(env_var="COMPASS_MLFLOW_PORT")] = None,
    live_port: Annotated[Port, Parameter(env_var="COMPASS_LIVE_PORT")] = None,
    no_prefect: bool = False,
    no_mlflow: bool = False,
    no_live: bool = False,
    json: bool = False,
) -> int:
    """Start the local servers: Prefect with every stage to start from its page, MLflow, and the page of the running stage.

    They run in the background, listen on 127.0.0.1 alone and keep everything in `.compass/`. Services that run already stay
    as they are; one that died is started again. If one fails, those that were started with it are ended.

    Args:
        prefect_port: Prefect's port (4200).
        mlflow_port: MLflow's port (5000).
        live_port: port of the page that shows the running stage (5050).
        no_prefect: leave out Prefect's server. Where `PREFECT_API_URL` names another one, the stages are served to that.
        no_mlflow: leave out MLflow's server.
        no_live: leave out the page of the running stage.
        json: print the services as JSON: name, process, address and log of each.

    Examples:
        compass up                          start all of them and say where to look
        compass up --mlflow-port 5001       start all, MLflow on another port
        compass up --no-prefect --no-live   start MLflow alone
    """
    from compass.services.lifetime import start

    root = find_repository()
    left_out = {"prefect": no_prefect, "mlflow": no_mlflow, "live": no_live}
    left_out["deployments"] = no_prefect and not os.environ.get("PREFECT_API_URL")
    chosen = {"prefect": prefect_port, "mlflow": mlflow_port, "live": live_port}
    wanted = [name for name, left in left_out.items() if not left]
    if not wanted:
        raise UserError("nothing is left to start; leave out fewer servers")
    if sys.stderr.isatty():
        _tell("starting " + ", ".join(wanted) + " …")
    ports = {name: port for name, port in chosen.items() if port is not None and name in wanted}
    services = start(root, wanted, ports, tell=_tell)
    _send_records(root)
    records, mlflow = os.environ.get("MLFLOW_TRACKING_URI"), services.get("mlflow")
    if mlflow and records and not records.startswith((mlflow.url, "sqlite:")):
        _tell("MLFLOW_TRACKING_URI is set: runs started in this shell are recorded there, and not in the MLflow below")
    if json:
        print(dumps([asdict(service) for service in services.values()], indent=2))
    else:
        _print_addresses(services, root)
    return 0


def _send_records(root: Path) -> None:
    """Send what tracking servers could not take when stages ran."""
    from compass.tracking.mlflow_client import failures
    from compass.tracking.mlflow_send import send_waiting

    try:
        sent, _ = send_waiting(root)
    except failures():
        _tell("records of runs wait in .compass/outbox: their tracking server does not answer")
        return
    if sent:
        _tell(f"{sent} records of runs that had waited were sent to MLflow")


def down(*, force: bool = False) -> int:
    """End the local servers of this folder, with everything that they started.

    Results, records and logs stay. While a run that was started from Prefect is in progress, nothing is ended.

    Args:
        force: cancel such a run; the next one goes on from its last checkpoint.

    Examples:
        compass down           end what `compass up` started
        compass down --force   cancel the run in progress as well
    """
    from compass.services.lifetime import stop

    ended = stop(find_repository(), force=force, tell=_tell)
    print("ended: " + ", ".join(ended) if ended else "nothing runs")
    return 0


def find_repository() -> Path:
    """The repository's root, which is where commands are run.

    Raises:
        UserError: there is no dvc.yaml here.
    """
    root = Path.cwd().resolve()
    if not (root / "dvc.yaml").is_file():
        raise UserError(f"{root} has no dvc.yaml; run this in the repository's folder")
    return root


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _print_addresses(services: Mapping[str, Service], root: Path) -> None:
    from compass.services.servers import find_page, list_servers

    for name, service in services.items():
        print(f"{name:12} {list_servers(root, {})[name].purpose}")
        if page := find_page(service):
            print(f"{'':12} {page}")
    print("Logs are in .compass/logs; `compass down` ends them all.")
