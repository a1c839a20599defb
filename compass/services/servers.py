"""The servers of `compass up`: what each runs, where it is reached, and when it is ready."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psutil

from compass.environment import QUIET, dvc_variables
from compass.services.state import FOLDER, Service
from compass.tracking.record import KIND, experiment_name

HOST = "127.0.0.1"
"""The only address that servers listen on."""

MARK = "COMPASS_SERVICES_OF"
"""Environment variable of every process of a server: the repository's root. Finds those that outlived their parents."""

NAME = "COMPASS_SERVICE"
"""Environment variable of every process of a server: the server's name."""

DEFAULT_PORTS = {"prefect": 4200, "mlflow": 5000, "live": 5050}

TIMEOUT_S = 3.0

TRAINING = "workflowType=machine_learning"
"""Has MLflow's menu show runs and models, instead of what is for traces of language models."""

_NOT_PASSED_ON = {
    "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "COMPASS_PIPELINE_RUN", "COMPASS_PIPELINE_LOCK",
    "COMPASS_STARTED_BY", "COMPASS_PREFECT_URL", "DVC_STAGE", "DVC_ROOT", "DVC_EXP_NAME",
}  # fmt: skip
"""Variables of a run that the caller may be inside of."""


@dataclass(frozen=True)
class Server:
    """How a server of `compass up` is run."""

    name: str
    purpose: str
    """What its page is for, in a few words."""
    arguments: tuple[str, ...]
    """What Python is started with, in the repository's root."""
    is_ready: Callable[[Service], bool]
    """Asks the server itself over HTTP; quick, and False where it does not answer."""
    variables: Mapping[str, str]
    """Environment variables of its own."""


def list_servers(root: Path, ports: Mapping[str, int]) -> dict[str, Server]:
    """The servers by name, in the order in which they are shown.

    Args:
        root: the repository's root.
        ports: port of each server that has one. Without `prefect` the stages are served to `PREFECT_API_URL`.
    """
    elsewhere = "" if "prefect" in ports else os.environ.get("PREFECT_API_URL", "")
    ports, folder = {**DEFAULT_PORTS, **ports}, root / FOLDER
    prefect = f"http://{HOST}:{ports['prefect']}"
    served_at = elsewhere or f"{prefect}/api"
    address = {name: ("--host", HOST, "--port", str(port)) for name, port in ports.items()}
    servers = (
        Server(
            "prefect",
            "start, watch, cancel and schedule the pipeline and its stages",
            ("-m", "prefect", "server", "start", *address["prefect"]),
            lambda service: is_answering(f"{service.url}/api/health") and is_answering(f"{service.url}/"),
            {
                "PREFECT_API_URL": f"{prefect}/api",
                "PREFECT_UI_API_URL": f"{prefect}/api",
                "PREFECT_API_KEY": "",
                "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{folder / 'prefect' / 'prefect.db'}",
                # Prefect's own default lets every web page in the user's browser start runs here.
                "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"{prefect},http://localhost:{ports['prefect']}",
                "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
            },
        ),
        Server(
            "mlflow",
            "compare runs",
            (
                *("-m", "mlflow", "server", *address["mlflow"], "--workers", "1"),
                *("--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"),
                *("--artifacts-destination", str(folder / "mlartifacts")),
                # A page asks every few seconds: its log would grow by megabytes a day and say nothing.
                *("--uvicorn-opts", "--no-access-log"),
            ),
            lambda service: is_answering(f"{service.url}/health"),
            # Otherwise eight processes of 240 MB each run jobs for scorers of language-model traces.
            {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
        ),
        Server(
            "live",
            "watch the stage that runs now",
            (
                *("-m", "uvicorn", "compass.live.server:make_app", "--factory", *address["live"]),
                *("--log-level", "warning", "--no-server-header", "--timeout-graceful-shutdown", "1"),
                *("--workers", "1"),  # else WEB_CONCURRENCY starts several, which would each score responses
            ),
            lambda service: is_answering(f"{service.url}/"),
            {},
        ),
        Server(
            "deployments",
            "serves the pipeline and its stages to Prefect",
            ("-m", "flows.deployments"),
            lambda service: _has_polled(service, served_at),
            {"PREFECT_API_URL": served_at},
        ),
    )
    return {server.name: server for server in servers}


def _has_polled(service: Service, api: str) -> bool:
    """Whether the process has asked Prefect for work: the server notes when a deployment was last asked for."""
    try:
        began = psutil.Process(service.pid).create_time()
    except psutil.Error:
        return False
    try:
        deployments = ask(f"{api}/deployments/filter", {})
    except (httpx.HTTPError, ValueError):
        return False
    polled = [datetime.fromisoformat(one["last_polled"]) for one in deployments if one.get("last_polled")]
    return any(when.timestamp() > began for when in polled)


def environment(root: Path, server: Server) -> dict[str, str]:
    """All variables that a server runs with.

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
        NAME: server.name,
        **server.variables,
    }


def ask(url: str, body: Any = None, timeout_s: float = TIMEOUT_S) -> Any:
    """The JSON that a GET, or a POST of `body`, gives; None for an empty answer.

    Never through a proxy: a machine's proxy knows nothing of the machine's own ports.

    Raises:
        httpx.HTTPError: no answer in time, or one with an error's status.
        ValueError: the answer is not JSON.
    """
    method = "GET" if body is None else "POST"
    answer = httpx.Client(trust_env=False, timeout=timeout_s).request(method, url, json=body)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def is_answering(url: str) -> bool:
    """Whether a GET of `url` is answered with a status below 400."""
    try:
        return httpx.Client(trust_env=False, timeout=TIMEOUT_S).get(url).status_code < 400
    except httpx.HTTPError:  # refused, reset, too slow, or something that is not HTTP
        return False


def find_page(service: Service) -> str | None:
    """Where to look at a running server first; None for one without a page.

    MLflow's own first page is about traces of language models: here it is the list of pipeline runs, or of experiments as long
    as there are none.
    """
    if service.name != "mlflow" or not service.url:
        return service.url
    server = service.url
    try:
        answer = ask(f"{server}/api/2.0/mlflow/experiments/get-by-name?experiment_name={quote(experiment_name())}")
    except (httpx.HTTPError, ValueError):  # 404: no run was recorded yet
        return f"{server}/#/experiments"
    pipelines = quote(f"tags.`{KIND}` = 'pipeline'")
    return f"{server}/#/experiments/{answer['experiment']['experiment_id']}/runs?{TRAINING}&searchFilter={pipelines}"
