"""`compass doctor`: is this machine, and this folder, fit to run the pipeline."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx
import psutil
from packaging.utils import canonicalize_name

from compass.base.resolve import HUB_ID
from compass.checks.before_run import find_problems
from compass.checks.finding import Finding
from compass.checks.models import is_hub_offline
from compass.errors import UserError
from compass.evaluation.benchmarks import find_benchmarks
from compass.locks import read_turn
from compass.machine import describe_load
from compass.services.lifetime import find_free_port, find_listener, find_processes, is_free
from compass.services.servers import DEFAULT_PORTS, list_servers
from compass.services.state import read_recorded_services, read_services
from compass.settings import Settings, SettingsError, load_settings
from compass.tracking.from_cache import cache_folder
from compass.yaml_files import read_yaml

PYTHON = (3, 11)
"""The version that both locks are made for."""

OPEN_FILES = 4096
"""Files that Ray and vLLM want to have open; Ray warns below."""

PROBE_BYTES = 16 << 20
"""Size of the file that is written for a moment, to meet quotas that the free space does not show."""

ROOM_BYTES = 1 << 30
"""Free space for results and for temporary files: Ray keeps its object store there when /dev/shm is small."""

DRIVERS = {"12": 525, "13": 580}
"""The oldest NVIDIA driver for a CUDA version (CUDA release notes, minor version compatibility)."""

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)")


@dataclass
class Place:
    """What the checks look at."""

    root: Path
    """The repository's root."""
    seconds: float = 2.5
    """How long to wait for other machines."""

    @cached_property
    def installed(self) -> dict[str, str]:
        """Version of every package on Python's path, by normalised name; from folder names, since reading 400 files takes a second."""
        found: dict[str, str] = {}
        for folder in map(Path, dict.fromkeys(sys.path)):
            for path in folder.glob("*.dist-info") if folder.is_dir() else ():
                name, _, version = path.name.removesuffix(".dist-info").rpartition("-")
                found.setdefault(canonicalize_name(name), version)
        return found

    @property
    def device(self) -> Literal["cpu", "gpu"]:
        """Which of the two locks is installed: the CPU build of torch says so in its version."""
        torch = self.installed.get("torch", "")
        if torch:
            return "cpu" if torch.endswith("+cpu") else "gpu"
        return "gpu" if (self.root / ".venv/.ready-gpu").exists() else "cpu"

    @cached_property
    def settings(self) -> Settings | None:
        """The parameters in force; None where they cannot be read, which the check of parameters reports."""
        try:
            return load_settings(self.root / "params.yaml")
        except SettingsError:
            return None


def _read_locked(lock: Path) -> dict[str, str]:
    """Versions that a lock file pins, by normalised name."""
    pins = map(_PINNED.match, lock.read_text(encoding="utf-8").splitlines())
    return {canonicalize_name(pin[1]): pin[2] for pin in pins if pin}


def check_python(place: Place) -> Iterator[Finding]:
    """The interpreter: its version, and whether it is that of the environment."""
    found = f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}"
    if sys.version_info[:2] != PYTHON:
        remedy = "the locked packages are for 3.11: `rm -rf .venv && make setup` makes an environment with it"
        yield Finding("Python", found, remedy)
    elif sys.prefix == sys.base_prefix:
        remedy = "`make setup` makes .venv, `source .venv/bin/activate` uses it"
        yield Finding("Python", f"{found}, the system's own", remedy, "warning")
    else:
        yield Finding("Python", found, level="ok")


def check_packages(place: Place) -> Iterator[Finding]:
    """What is installed against the lock of the device."""
    lock = f"requirements/{place.device}.txt"
    try:
        pinned = _read_locked(place.root / lock)
    except OSError as error:
        yield Finding("packages", f"{lock} cannot be read: {error.strerror}", f"`git checkout {lock}`")
        return
    wrong = [
        f"{name} {place.installed.get(name, 'missing')} instead of {version}"
        for name, version in pinned.items()
        if place.installed.get(name) != version
    ]
    if wrong:
        more = f" and {len(wrong) - 8} more" if len(wrong) > 8 else ""
        remedy = f"`requirements/setup.sh {place.device}` installs what the lock names"
        yield Finding("packages", f"not as in {lock}: {', '.join(wrong[:8])}{more}", remedy)
    else:
        yield Finding("packages", f"{len(pinned)}, all as in {lock}", level="ok")


def check_variables(place: Place) -> Iterator[Finding]:
    """Variables that the project reads, and those by which its servers would be missed. No secret is shown."""
    data = os.environ.get("COMPASS_DATA")
    if data is not None and not Path(data).expanduser().is_dir():
        yield Finding("variables", f"COMPASS_DATA is {data!r}, which is no folder", "`export COMPASS_DATA=FOLDER`")
    token = os.environ.get("HF_TOKEN")
    if token is not None and (not token or token != token.strip()):
        found = "HF_TOKEN is empty or has spaces around it: the hub refuses it"
        yield Finding("variables", found, "`unset HF_TOKEN`, or export it again without spaces")
    records = os.environ.get("MLFLOW_TRACKING_URI", "")
    if records and urlsplit(records).scheme in ("", "file"):
        remedy = "`unset MLFLOW_TRACKING_URI`: runs then go to the database in .compass"
        yield Finding("variables", f"MLFLOW_TRACKING_URI names a folder ({records}), which MLflow refuses", remedy)
    proxies = urllib.request.getproxies_environment()
    if ({"http", "all"} & proxies.keys()) and not urllib.request.proxy_bypass_environment("127.0.0.1", proxies):
        found = "a proxy is set, and no_proxy does not spare 127.0.0.1: MLflow and Prefect would be asked through it"
        yield Finding("variables", found, "`export no_proxy=127.0.0.1,localhost`", "warning")


def check_machine(place: Place) -> Iterator[Finding]:
    """Processor, libraries, programs, memory, /dev/shm and disk, as `make check` looks at them before there is an environment."""
    command = [sys.executable, str(place.root / "requirements/prerequisites.py"), place.device]
    variables = {**os.environ, "COMPASS_CHECK": "on"}
    asked = subprocess.run(command, cwd=place.root, env=variables, capture_output=True, text=True)
    if asked.returncode:
        lines = asked.stderr.replace(":\n  ", ": ").splitlines()
        yield Finding("machine", "; ".join(line.removeprefix("check: ") for line in lines))
    else:
        yield Finding("machine", describe_load(), level="ok")


def check_writing(place: Place) -> Iterator[Finding]:
    """Whether the repository's folder and that of temporary files take a file of some size: quotas, limits, permissions."""
    for what, folder in (("disk", place.root), ("temporary files", Path(tempfile.gettempdir()))):
        remedy = f"free space or raise the quota of {folder}"
        if what == "temporary files":
            remedy += ", or `export TMPDIR=FOLDER` with more of it"
        try:
            with tempfile.TemporaryFile(dir=folder) as probe:
                os.posix_fallocate(probe.fileno(), 0, PROBE_BYTES)
        except OSError as error:
            found = f"{folder} does not take a file of {PROBE_BYTES >> 20} MiB: {error.strerror}"
            yield Finding(what, found, remedy)
            continue
        free = shutil.disk_usage(folder).free
        shown = f"{free / (1 << 30):.1f} GiB free in {folder}"
        yield Finding(what, shown, level="ok") if free >= ROOM_BYTES else Finding(what, shown, remedy, "warning")


def check_limits(place: Place) -> Iterator[Finding]:
    """How many files a process may have open. Ray raises the soft limit to the hard one by itself."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < OPEN_FILES:
        remedy = "`ulimit -n 65536` in a new shell; in a container start it with `--ulimit nofile=65536`"
        yield Finding("open files", f"at most {hard}, and Ray and vLLM want {OPEN_FILES}", remedy)


def check_gpus(place: Place) -> Iterator[Finding]:
    """GPUs, their driver, and whether the installed lock fits them."""
    wanted = place.device == "gpu"
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        asked = subprocess.run(query, capture_output=True, text=True, timeout=2)
    except FileNotFoundError:
        if wanted:
            remedy = "install NVIDIA's driver, or `make setup DEVICE=cpu` (in a container: `--gpus all`)"
            yield Finding("GPU", "there is no nvidia-smi, and the environment is the one for GPUs", remedy)
        else:
            yield Finding("GPU", "none; the environment is the one for CPUs", level="ok")
        return
    except subprocess.TimeoutExpired:
        yield Finding("GPU", "nvidia-smi does not answer", "restart the machine or its driver")
        return
    gpus = [line.split(", ") for line in asked.stdout.splitlines() if line.count(", ") == 2]
    if not gpus:
        answer = " ".join((asked.stdout + asked.stderr).strip().splitlines()[:1])
        level = "problem" if wanted else "warning"
        yield Finding("GPU", f"nvidia-smi finds none: {answer}", "repair NVIDIA's driver", level)
        return
    name, memory, driver = gpus[0]
    shown = f"{len(gpus)} x {name} ({memory}), driver {driver}"
    cuda = _read_locked(place.root / "requirements/gpu.txt").get("cuda-toolkit", "").partition(".")[0]
    oldest = DRIVERS.get(cuda, 0)
    if not wanted:
        found = f"{shown}, and the environment is the one for CPUs"
        yield Finding("GPU", found, "`make setup DEVICE=gpu`", "warning")
    elif int(driver.partition(".")[0]) < oldest:
        remedy = f"update NVIDIA's driver to {oldest} or later"
        yield Finding("GPU", f"{shown}: too old for CUDA {cuda}, which the lock has", remedy)
    else:
        yield Finding("GPU", shown, level="ok")


def check_ray(place: Place) -> Iterator[Finding]:
    """The Ray cluster that RAY_ADDRESS names."""
    address = os.environ.get("RAY_ADDRESS", "")
    if not address or address in ("local", "auto"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=place.seconds).close()
    except (OSError, ValueError) as error:
        remedy = "`ray start --head` there and give its HOST:PORT, or `unset RAY_ADDRESS` to use this machine alone"
        yield Finding("Ray cluster", f"{address} is not reached: {error}", remedy)
    else:
        yield Finding("Ray cluster", f"{address} takes connections; `ray status` lists its nodes", level="ok")


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
        f"{process.pid} ({' '.join(process.cmdline()[:4])})"
        for process in find_processes(place.root)
        if process.pid not in own and running.isdisjoint({process.pid, *(parent.pid for parent in process.parents())})
    ]
    if left:
        yield Finding("processes", f"left of a service that has ended: {', '.join(left)}", "`compass down`", "warning")
    every = [process.info for process in psutil.process_iter(["pid", "name", "ppid"])]
    ray = " ".join(str(one["pid"]) for one in every if one["name"] in ("raylet", "gcs_server") and one["ppid"] == 1)
    if ray and not os.environ.get("RAY_ADDRESS"):
        remedy = f"if no one needs it: `ray stop`, or `kill {ray}`"
        yield Finding("processes", f"Ray runs without a program above it (processes {ray})", remedy, "warning")


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
    paid: dict[str, list[float]] = {}
    found = find_problems(place.root, paid=paid)
    yield from found
    if not found and place.settings:
        yield Finding("params.yaml", f"profile {place.settings.profile}, ready to run", level="ok")
    yield from describe_rewards(paid)


def describe_rewards(paid: Mapping[str, Sequence[float]]) -> Iterator[Finding]:
    """What each reward function of the user's pays for known answers."""
    from compass.rl.reward_canary import CANARIES

    for function, rewards in paid.items():
        by_known: dict[bool, list[float]] = {True: [], False: []}
        for (*_, known), reward in zip(CANARIES, rewards, strict=True):
            by_known[known > 0].append(reward)
        right, wrong = (" to ".join(f"{one:+g}" for one in sorted({min(own), max(own)})) for own in by_known.values())
        yield Finding("reward", f"{function} pays known right answers {right}, wrong ones {wrong}", level="ok")


def check_cache(place: Place) -> Iterator[Finding]:
    """Whether DVC's cache has the results that dvc.lock names; DVC compares their contents when it takes them out."""
    stages = read_yaml(place.root / "dvc.lock").get("stages") or {}
    objects, total, missing, here = cache_folder(place.root), 0, [], []
    for name, stage in stages.items():
        outs = [out for out in stage.get("outs", []) if out.get("cache", True) and out.get("md5")]
        lost = [out["path"] for out in outs if not (objects / out["md5"][:2] / out["md5"][2:]).exists()]
        total, missing = total + len(outs), missing + lost
        if lost and all((place.root / out["path"]).exists() for out in outs):
            here.append(name)
    if missing:
        keep = f"`dvc commit -f {' '.join(here)}` takes what is still in this folder; " if here else ""
        remedy = f"{keep}`compass run` makes them again; `dvc pull` brings them where a remote has them"
        found = f"{len(missing)} of {total} results are missing: {', '.join(missing)}"
        yield Finding("DVC cache", found, remedy, "warning")
    else:
        shown = f"all {total} results of dvc.lock are in it" if total else "nothing was run yet"
        yield Finding("DVC cache", shown, level="ok")


def check_runs(place: Place) -> Iterator[Finding]:
    """Who works on the results."""
    holder = read_turn(place.root)
    yield Finding("runs", f"in progress: {holder}" if holder else "none is in progress", level="ok")


def check_hub(place: Place) -> Iterator[Finding]:
    """The Hugging Face hub, where the settings name something on it."""
    needed = ", ".join(_list_hub_settings(place.settings, place.root)) if place.settings else ""
    if not needed:
        return
    if is_hub_offline():
        remedy = "`unset HF_HUB_OFFLINE`; leave it if the hub's cache has them"
        yield Finding("hub", f"HF_HUB_OFFLINE is set; needed by {needed}", remedy, "warning")
        return
    address = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        status = httpx.head(address, timeout=place.seconds).status_code
    except httpx.HTTPError as error:
        remedy = "connect to the network, set HF_ENDPOINT to a mirror, or name local files (`path`) instead"
        yield Finding("hub", f"{address} is not reached ({error}); needed by {needed}", remedy)
        return
    token = "with a token" if os.environ.get("HF_TOKEN") else "no HF_TOKEN, which gated data need"
    yield Finding("hub", f"{address} answers {status}, {token}; needed by {needed}", level="ok")


def _list_hub_settings(settings: Settings, root: Path) -> Iterator[str]:
    """The settings that name something on the hub."""
    for source in settings.collect.sources:
        if source.hub:
            yield f"collect.sources {source.name}"
    for benchmark in settings.collect.benchmarks:
        with contextlib.suppress(UserError):  # of a benchmark that is not known, which is found before every run
            if find_benchmarks([benchmark])[0].hub:
                yield f"collect.benchmarks {benchmark.name}"
    for name, model in (("base.model", os.path.expandvars(settings.base.model)), ("grade.model", settings.grade.model)):
        if HUB_ID.fullmatch(model) and not model.startswith("models/") and not (root / model).exists():
            yield name


Check = Callable[[Place], Iterable[Finding]]

CHECKS: tuple[Check, ...] = (
    check_python,
    check_packages,
    check_machine,
    check_writing,
    check_limits,
    check_gpus,
    check_ray,
    check_services,
    check_processes,
    check_git,
    check_parameters,
    check_hub,
    check_cache,
    check_runs,
    check_variables,
)
"""In the order in which they are shown."""


def examine(place: Place, checks: Sequence[Check] = CHECKS) -> Iterator[Finding]:
    """What the checks find, as they find it. One that fails itself is a warning, so that it does not hide what the others find."""
    for check in checks:
        name = check.__name__.removeprefix("check_").replace("_", " ")
        try:
            yield from check(place)
        except UserError as error:
            yield Finding(name, error.message, error.remedy)
        except Exception as error:
            yield Finding(name, f"could not be checked: {type(error).__name__}: {error}", level="warning")
