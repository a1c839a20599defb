"""This folder: git, the parameters, DVC's cache, and what runs here or should."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import psutil

from compass.checks.before_run import find_problems
from compass.checks.finding import Finding, Place
from compass.locks import read_turn
from compass.services.lifetime import find_free_port, find_listener, find_processes, is_free
from compass.services.servers import DEFAULT_PORTS, list_servers
from compass.services.state import read_recorded_services, read_services
from compass.tracking.from_cache import cache_folder
from compass.yaml_files import read_yaml

RAY = ("raylet", "gcs_server")


def check_git(place: Place) -> Iterator[Finding]:
    """Whether git works here, and what is not committed."""
    command = ["git", "-C", str(place.root), "status", "--porcelain"]
    asked = subprocess.run(command, capture_output=True, text=True)
    if asked.returncode:
        remedy = "`git init && git add -A && git commit -m start`: DVC and the experiments need a repository"
        if "dubious ownership" in asked.stderr:
            remedy = f"`git config --global --add safe.directory {place.root}`"
        yield Finding("git", (asked.stderr.strip().splitlines() or ["no answer"])[0], remedy)
        return
    lines = asked.stdout.splitlines()
    new = sum(line.startswith("??") for line in lines)
    shown = f"{len(lines) - new} changed and {new} new files" if lines else "all is committed"
    yield Finding("git", shown, level="ok")


def check_parameters(place: Place) -> Iterator[Finding]:
    """Parameters, variables, files, models and the room they need: what is checked before every run."""
    found = find_problems(place.root)
    yield from found
    if not found and place.settings:
        yield Finding("params.yaml", f"profile {place.settings.profile}, ready to run", level="ok")


def check_cache(place: Place) -> Iterator[Finding]:
    """Whether DVC's cache has the results that dvc.lock names; DVC compares their contents when it takes them out."""
    stages = read_yaml(place.root / "dvc.lock").get("stages") or {}
    objects = cache_folder(place.root)
    outs = {name: [out["path"] for out in stage.get("outs", [])] for name, stage in stages.items()}
    missing = [
        out["path"]
        for stage in stages.values()
        for out in stage.get("outs", [])
        if out.get("cache", True) and (digest := out.get("md5")) and not (objects / digest[:2] / digest[2:]).exists()
    ]
    total = sum(map(len, outs.values()))
    if not missing:
        yield Finding("DVC cache", f"all {total} results of dvc.lock are in it", level="ok")
        return
    here = [
        name
        for name, paths in outs.items()
        if not set(missing).isdisjoint(paths) and all((place.root / path).exists() for path in paths)
    ]
    keep = f"`dvc commit -f {' '.join(here)}` takes what is still in this folder; " if here else ""
    remedy = f"{keep}`compass run` makes them again; `dvc pull` brings them where a remote has them"
    some = ", ".join(missing[:4]) + (" …" if len(missing) > 4 else "")
    yield Finding("DVC cache", f"{len(missing)} of {total} results are missing: {some}", remedy, "warning")


def check_runs(place: Place) -> Iterator[Finding]:
    """Who works on the results."""
    holder = read_turn(place.root)
    yield Finding("runs", f"in progress: {holder}" if holder else "none is in progress", level="ok")


def check_services(place: Place) -> Iterator[Finding]:
    """Those of `compass up`: alive, answering; the ports of the others free."""
    recorded = read_recorded_services(place.root)
    servers = list_servers(place.root, {name: one.port for name, one in recorded.items() if one.port})
    up = []
    for name, service in recorded.items():
        if service.runs and servers[name].is_ready(service):
            up.append(f"{name} {service.url or ''}".strip())
            continue
        found = f"{name} {'runs and does not answer' if service.runs else 'was started and has ended'}"
        remedy = f"`compass up` starts it again; {service.log} has its last lines"
        yield Finding("services", found, remedy)
    if up or not recorded:
        yield Finding("services", ", ".join(up) or "none runs; `compass up` starts them", level="ok")
    for name, port in DEFAULT_PORTS.items():
        chosen = int(os.environ.get(f"COMPASS_{name.upper()}_PORT", port))
        if name not in recorded and not is_free(chosen):
            remedy = f"end it, or `compass up --{name}-port {find_free_port(chosen)}`"
            yield Finding("ports", f"port {chosen}, {name}'s, is taken by {find_listener(chosen)}", remedy, "warning")


def check_processes(place: Place) -> Iterator[Finding]:
    """Processes that outlived what started them."""
    running = {service.pid for service in read_services(place.root).values()}
    own = {process.pid for process in (psutil.Process(), *psutil.Process().parents())}
    left = [
        process
        for process in find_processes(place.root)
        if process.pid not in own and running.isdisjoint({process.pid, *(parent.pid for parent in process.parents())})
    ]
    if left:
        shown = ", ".join(f"{process.pid} ({' '.join(process.cmdline()[:4])})" for process in left[:3])
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        found = f"left of a service that has ended: {shown}{more}"
        yield Finding("processes", found, "`compass down`", "warning")
    ray = [process.pid for process in psutil.process_iter(["name", "ppid"]) if _is_ray_orphan(process.info)]
    if ray and not os.environ.get("RAY_ADDRESS"):
        pids = " ".join(map(str, ray))
        remedy = f"if no one needs it: `ray stop`, or `kill {pids}`"
        yield Finding("processes", f"Ray runs without a program above it (processes {pids})", remedy, "warning")
    elif not left:
        yield Finding("processes", "none is left of earlier runs", level="ok")


def _is_ray_orphan(process: dict) -> bool:
    return process["name"] in RAY and process["ppid"] == 1
