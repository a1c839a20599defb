"""How Prefect is set up for this repository; import it before Prefect, which reads its settings at import.

Prefect's files are in `.compass/prefect`, and its server is the one that `compass up` started, wherever the environment
names no other.
"""

from __future__ import annotations

import os
from pathlib import Path

from compass import environment
from compass.services.state import FOLDER, read_services

DEFAULTS = {
    # Delays double from 2 s: about eight minutes of trying before a server that is down costs a request.
    "PREFECT_CLIENT_MAX_RETRIES": "8",
    # Seconds between two looks for new runs; Prefect's own 10 are long for someone who watches the page.
    "PREFECT_RUNNER_POLL_FREQUENCY": "2",
    "PREFECT_WORKER_QUERY_SECONDS": "3",
    "PREFECT_LOGGING_TO_API_BATCH_INTERVAL": "1",
}
"""Prefect's settings, unless the environment has them."""


def apply(root: str | Path = ".") -> None:
    """Set the variables that Prefect reads, in this process and those it starts."""
    environment.apply(Path(root))
    home = Path(root).resolve() / FOLDER / "prefect"
    if "PREFECT_HOME" not in os.environ:
        home.mkdir(parents=True, exist_ok=True)
        os.environ["PREFECT_HOME"] = str(home)
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    server = read_services(root).get("prefect")
    if server and server.url:
        os.environ.setdefault("PREFECT_API_URL", f"{server.url}/api")
