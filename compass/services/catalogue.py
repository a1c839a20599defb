"""The services: how each is started, where it is reached and when it is ready."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from compass.environment import QUIET, dvc_variables
from compass.services import http
from compass.services.ports import HOST
from compass.services.state import FOLDER, Service
from compass.tracking.mlflow_client import lock_store

MARK = "COMPASS_SERVICES_OF"
"""Environment variable of every process of a service: the repository's root. Finds those that outlived their parents."""

NAME = "COMPASS_SERVICE"
"""Environment variable of every process of a service: the service's name."""

DEFAULT_PORTS = {"prefect": 4200, "mlflow": 5000, "live": 5050}


@dataclass(frozen=True)
class Definition:
    """A service that `compass up` can start."""

    name: str
    what: str
    """What its page is for, in a few words."""
    command: Callable[[Path, Mapping[str, int]], list[str]]
    """Root and ports to the command, run in the root."""
    variables: Callable[[Path, Mapping[str, int]], dict[str, str]]
    """Root and ports to what its environment has beside this process's."""
    is_ready: Callable[[Service, Mapping[str, int]], bool]
    """Asks the service itself over HTTP; quick, and False where it does not answer."""
    after: str | None = None
    """The service that has to be ready first."""
    prepare: Callable[[Path], AbstractContextManager[object]] = lambda root: nullcontext()
    """Entered with the root before the service is started, and left when it is ready or has failed."""


def url(name: str, ports: Mapping[str, int]) -> str | None:
    """Address of a service; None for one without a port."""
    return f"http://{HOST}:{ports[name]}" if name in ports else None


def environment(root: Path, ports: Mapping[str, int], definition: Definition) -> dict[str, str]:
    """All variables that a service runs with.

    What it writes stays in `.compass/`: temporary files, and the stores that Prefect keeps in the home folder otherwise.
    """
    folder = root / FOLDER
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    local = ",".join(filter(None, [os.environ.get("no_proxy") or os.environ.get("NO_PROXY"), HOST, "localhost"]))
    return {
        **QUIET,
        **kept,
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(folder / "tmp"),
        "NO_PROXY": local,
        "no_proxy": local,
        **dvc_variables(root),
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_PROFILES_PATH": str(folder / "prefect" / "profiles.toml"),
        "PREFECT_MEMO_STORE_PATH": str(folder / "prefect" / "memo_store.toml"),
        "PREFECT_LOCAL_STORAGE_PATH": str(folder / "prefect" / "storage"),
        MARK: str(root),
        NAME: definition.name,
        **definition.variables(root, ports),
    }


# They belong to a run that the caller may be inside of.
_NOT_PASSED_ON = {
    *("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "COMPASS_PIPELINE_RUN", "COMPASS_PIPELINE_LOCK", "COMPASS_STARTED_BY"),
    *("COMPASS_PREFECT_URL", "DVC_STAGE", "DVC_ROOT", "DVC_EXP_NAME"),
}


def _prefect_command(root: Path, ports: Mapping[str, int]) -> list[str]:
    return [sys.executable, "-m", "prefect", "server", "start", "--host", HOST, "--port", str(ports["prefect"])]


def _prefect_variables(root: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        "PREFECT_API_URL": f"{url('prefect', ports)}/api",
        "PREFECT_UI_API_URL": f"{url('prefect', ports)}/api",
        "PREFECT_API_KEY": "",
        "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{root / FOLDER / 'prefect' / 'prefect.db'}",
        # Prefect's own default lets every web page in the user's browser start runs here.
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"{url('prefect', ports)},http://localhost:{ports['prefect']}",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    }


def _prefect_is_ready(service: Service, ports: Mapping[str, int]) -> bool:
    return http.answers(f"{service.url}/api/health") and http.answers(f"{service.url}/")


def _mlflow_command(root: Path, ports: Mapping[str, int]) -> list[str]:
    folder = root / FOLDER
    return [
        *(sys.executable, "-m", "mlflow", "server", "--host", HOST, "--port", str(ports["mlflow"]), "--workers", "1"),
        *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"),
        *("--artifacts-destination", str(folder / "mlartifacts")),
        # A page asks every few seconds: its log would grow by megabytes a day and say nothing.
        *("--uvicorn-opts", "--no-access-log"),
    ]


def _mlflow_variables(root: Path, ports: Mapping[str, int]) -> dict[str, str]:
    # Eight processes of 240 MB each that run jobs for scorers of language-model traces.
    return {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}


def _mlflow_is_ready(service: Service, ports: Mapping[str, int]) -> bool:
    return http.answers(f"{service.url}/health")


@contextmanager
def _own_store(root: Path) -> Iterator[None]:
    """Hold a fresh database until the server has made its tables."""
    with lock_store(root):
        if not (root / FOLDER / "mlflow.db").exists():
            yield
            return
    yield


def _deployments_command(root: Path, ports: Mapping[str, int]) -> list[str]:
    return [sys.executable, "-m", "flows.deployments"]


def _deployments_variables(root: Path, ports: Mapping[str, int]) -> dict[str, str]:
    return {"PREFECT_API_URL": prefect_api(ports)}


def prefect_api(ports: Mapping[str, int]) -> str:
    """Where deployments are served: the local server where it is among `ports`, else `PREFECT_API_URL`."""
    return f"{url('prefect', ports)}/api" if "prefect" in ports else os.environ.get("PREFECT_API_URL", "")


def _deployments_are_ready(service: Service, ports: Mapping[str, int]) -> bool:
    """The process serves once it asks Prefect for work: the server notes when a deployment was last asked for."""
    try:
        served = http.ask(f"{prefect_api(ports)}/deployments/filter", {})
    except (OSError, ValueError):
        return False
    polled = [datetime.fromisoformat(one["last_polled"]) for one in served if one.get("last_polled")]
    return any(when.timestamp() > service.created for when in polled)


def _live_command(root: Path, ports: Mapping[str, int]) -> list[str]:
    return [sys.executable, "-m", "compass.live", "--port", str(ports["live"])]


def _live_is_ready(service: Service, ports: Mapping[str, int]) -> bool:
    return http.answers(f"{service.url}/")


CATALOGUE = {
    definition.name: definition
    for definition in (
        Definition(
            "prefect",
            "start, watch, cancel and schedule the pipeline and its stages",
            _prefect_command,
            _prefect_variables,
            _prefect_is_ready,
        ),
        Definition(
            "mlflow",
            "compare runs",
            _mlflow_command,
            _mlflow_variables,
            _mlflow_is_ready,
            prepare=_own_store,
        ),
        Definition(
            "live",
            "watch the stage that runs now",
            _live_command,
            lambda root, ports: {},
            _live_is_ready,
        ),
        Definition(
            "deployments",
            "serves the pipeline and its stages to Prefect",
            _deployments_command,
            _deployments_variables,
            _deployments_are_ready,
            after="prefect",
        ),
    )
}
"""The services by name, in the order in which they are shown."""
