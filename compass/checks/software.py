"""Python, the installed packages, environment variables, encoding and clock."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from compass.checks.finding import Finding, Place
from compass.errors import did_you_mean

PYTHON = (3, 11)
"""The version that both locks are made for."""

VARIABLES = (
    "COMPASS_API_KEY", "COMPASS_CHANGED", "COMPASS_CHECK", "COMPASS_DATA", "COMPASS_DEBUG_RUN", "COMPASS_FINISHED_DEBUG",
    "COMPASS_LAST_STAGE", "COMPASS_LINE", "COMPASS_LIVE_PORT", "COMPASS_MLFLOW_PORT", "COMPASS_MODEL", "COMPASS_PIPELINE_LOCK",
    "COMPASS_PIPELINE_RUN", "COMPASS_PREFECT_PORT", "COMPASS_PREFECT_URL", "COMPASS_RUN_PAGE",
    "COMPASS_SCREENSHOTS", "COMPASS_SERVICE", "COMPASS_SERVICES_OF", "COMPASS_STARTED_BY", "COMPASS_SYMPY_SECONDS",
    "COMPASS_TRACKING", "COMPASS_WHEELS",
)  # fmt: skip
"""The variables that the project reads or sets."""

CLOCK_S = 24 * 3600
"""Seconds by which the last commit may be in the future: time zones and drifting clocks make hours."""

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)")


def list_installed() -> dict[str, str]:
    """Version of every package on Python's path, by normalised name; from folder names, since reading 400 files takes a second."""
    found: dict[str, str] = {}
    for folder in map(Path, dict.fromkeys(sys.path)):
        for path in folder.glob("*.dist-info") if folder.is_dir() else ():
            name, _, version = path.name.removesuffix(".dist-info").rpartition("-")
            found.setdefault(normalise_name(name), version)
    return found


def normalise_name(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_locked(lock: Path) -> dict[str, str]:
    """Versions that a lock file pins, by normalised name."""
    pins = map(_PINNED.match, lock.read_text(encoding="utf-8").splitlines())
    return {normalise_name(pin[1]): pin[2] for pin in pins if pin}


def check_python(place: Place) -> Iterator[Finding]:
    """The interpreter: its version, and whether it is that of the environment."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] != PYTHON:
        remedy = "the locked packages are for 3.11: `rm -rf .venv && make setup` makes an environment with it"
        yield Finding("Python", "problem", f"{version} at {sys.executable}", remedy)
    elif sys.prefix == sys.base_prefix:
        remedy = "`make setup` makes .venv, `source .venv/bin/activate` uses it"
        yield Finding("Python", "warning", f"{version} at {sys.executable}, the system's own", remedy)
    else:
        yield Finding("Python", "ok", f"{version} at {sys.executable}")


def check_packages(place: Place) -> Iterator[Finding]:
    """What is installed against the lock of the device."""
    lock = f"requirements/{place.device}.txt"
    try:
        pinned = read_locked(place.root / lock)
    except OSError as error:
        yield Finding("packages", "problem", f"{lock} cannot be read: {error.strerror}", f"`git checkout {lock}`")
        return
    missing = [name for name in pinned if name not in place.installed]
    other = [
        f"{name} {place.installed[name]} instead of {version}"
        for name, version in pinned.items()
        if place.installed.get(name, version) != version
    ]
    if missing or other:
        parts = [
            *([f"missing: {_shorten_list(missing)}"] if missing else []),
            *([_shorten_list(other)] if other else []),
        ]
        remedy = f"`requirements/setup.sh {place.device}` installs what the lock names"
        yield Finding("packages", "problem", f"not as in {lock}: {'; '.join(parts)}", remedy)
    else:
        yield Finding("packages", "ok", f"{len(pinned)}, all as in {lock}")


def check_variables(place: Place, environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Variables that the project reads, and those by which its servers would be missed. No secret is shown."""
    before = False
    for name in sorted(name for name in environ if name.startswith("COMPASS_") and name not in VARIABLES):
        remedy = f"{did_you_mean(name, VARIABLES)}`unset {name}`"
        yield Finding("variables", "warning", f"{name} is set, and nothing reads it", remedy)
        before = True
    data = environ.get("COMPASS_DATA")
    if data is not None and not Path(data).expanduser().is_dir():
        yield Finding(
            "variables", "problem", f"COMPASS_DATA is {data!r}, which is no folder", "`export COMPASS_DATA=FOLDER`"
        )
        before = True
    token = environ.get("HF_TOKEN")
    if token is not None and (not token or token != token.strip()):
        found = "HF_TOKEN is empty or has spaces around it: the hub refuses it"
        yield Finding("variables", "problem", found, "`unset HF_TOKEN`, or export it again without spaces")
        before = True
    proxy = next((name for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY") if environ.get(name)), None)
    spared = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").replace(" ", "").split(",")
    if proxy and not {"127.0.0.1", "*"} & set(spared):
        found = (
            f"{proxy} is set, and no_proxy does not spare 127.0.0.1: clients would ask the proxy for MLflow and Prefect"
        )
        yield Finding("variables", "warning", found, "`export no_proxy=127.0.0.1,localhost`")
        before = True
    if not before:
        names = sorted(name for name in environ if name in VARIABLES)
        shown = f"{', '.join(names) or 'no COMPASS_ variable'} set; HF_TOKEN {'set' if token else 'not set'}"
        yield Finding("variables", "ok", shown)


def check_encoding(place: Place) -> Iterator[Finding]:
    """Whether files are read as UTF-8, which problems and responses are full of."""
    import locale

    found = {sys.getfilesystemencoding(), locale.getpreferredencoding(False), sys.stdout.encoding or ""}
    names = {name.lower().replace("-", "").replace("_", "") for name in found if name}
    if names <= {"utf8"}:
        yield Finding("encoding", "ok", f"UTF-8, time zone {'/'.join(dict.fromkeys(time.tzname))}")
    else:
        remedy = "`export LC_ALL=C.UTF-8 PYTHONUTF8=1`, and `unset PYTHONIOENCODING`"
        yield Finding("encoding", "problem", f"Python uses {', '.join(sorted(filter(None, found)))}", remedy)


def check_clock(place: Place) -> Iterator[Finding]:
    """Whether the clock stands before the last commit: certificates, caches and schedules would go wrong."""
    asked = subprocess.run(
        ["git", "-C", place.root, "log", "-1", "--format=%ct"], capture_output=True, text=True, timeout=2
    )
    if asked.returncode or not asked.stdout.strip():
        return
    ahead = int(asked.stdout) - time.time()
    now = time.strftime("%Y-%m-%d %H:%M %Z")
    if ahead > CLOCK_S:
        remedy = "set the clock (`sudo timedatectl set-ntp true`)"
        yield Finding("clock", "problem", f"{now}, {ahead / 86400:.0f} days before the last commit", remedy)
    else:
        yield Finding("clock", "ok", now)


def _shorten_list(names: list[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
