"""Which local servers of a repository run: `.compass/services.json`, read and written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from compass.files import write_json
from compass.processes import process_runs

FOLDER = ".compass"
"""The folder at the repository's root for everything that is neither a result nor resumable work."""

FILE = "services.json"


@dataclass(frozen=True)
class Service:
    """A server that `compass up` started."""

    name: str
    """`mlflow`, `prefect`, `deployments` or `live`."""
    pid: int
    """Its process; it leads a session of its own, with all that it starts."""
    created: float
    """When that process began (`compass.processes.find_start`): tells it apart from a later one with the same number."""
    url: str | None
    """Where to look, without a slash at the end; None for a service without a page."""
    log: str
    """The file that holds its output, relative to the repository's root."""

    @property
    def port(self) -> int | None:
        """The port of its page."""
        return int(self.url.rpartition(":")[2]) if self.url else None

    @property
    def runs(self) -> bool:
        """Whether its process is alive now."""
        return process_runs(f"{self.pid}:{self.created}")


def read_services(root: str | Path = ".") -> dict[str, Service]:
    """The services of a repository whose processes are alive, by name; empty where the file cannot be read."""
    return {name: service for name, service in read_recorded_services(root).items() if service.runs}


def read_recorded_services(root: str | Path = ".") -> dict[str, Service]:
    """The services that the file names, whether their processes are alive or not.

    In a copy of the folder the file came along, and names the services of the folder that was copied: those are left out.
    """
    try:
        entries = json.loads((Path(root) / FOLDER / FILE).read_text(encoding="utf-8"))
        return {
            name: Service(name, int(entry["pid"]), float(entry["created"]), entry.get("url"), str(entry["log"]))
            for name, entry in entries.items()
            if entry["root"] == str(Path(root).resolve())
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # The file only says what to end: one that is torn or foreign names nothing.
        return {}


def write_services(services: Iterable[Service], root: str | Path = ".") -> None:
    """Write the file whole; without services it is removed."""
    path = Path(root) / FOLDER / FILE
    here = str(Path(root).resolve())
    entries = {service.name: {**asdict(service), "root": here} for service in services}
    if entries:
        write_json(path, entries)
    else:
        path.unlink(missing_ok=True)
