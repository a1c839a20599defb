"""Python, the installed packages and environment variables."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

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
        pinned = read_locked(place.root / lock)
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


def check_variables(place: Place, environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Variables that the project reads, and those by which its servers would be missed. No secret is shown."""
    found = list(_find_faulty_variables(environ))
    yield from found
    if not found:
        names = ", ".join(sorted(name for name in environ if name in VARIABLES)) or "no COMPASS_ variable"
        token = "set" if environ.get("HF_TOKEN") else "not set"
        yield Finding("variables", f"{names} set; HF_TOKEN {token}", level="ok")


def _find_faulty_variables(environ: Mapping[str, str]) -> Iterator[Finding]:
    for name in sorted(name for name in environ if name.startswith("COMPASS_") and name not in VARIABLES):
        remedy = f"{did_you_mean(name, VARIABLES)}`unset {name}`"
        yield Finding("variables", f"{name} is set, and nothing reads it", remedy, "warning")
    data = environ.get("COMPASS_DATA")
    if data is not None and not Path(data).expanduser().is_dir():
        yield Finding("variables", f"COMPASS_DATA is {data!r}, which is no folder", "`export COMPASS_DATA=FOLDER`")
    token = environ.get("HF_TOKEN")
    if token is not None and (not token or token != token.strip()):
        found = "HF_TOKEN is empty or has spaces around it: the hub refuses it"
        yield Finding("variables", found, "`unset HF_TOKEN`, or export it again without spaces")
    records = environ.get("MLFLOW_TRACKING_URI", "")
    if records and urlsplit(records).scheme in ("", "file"):
        remedy = "`unset MLFLOW_TRACKING_URI`: runs then go to the database in .compass"
        yield Finding("variables", f"MLFLOW_TRACKING_URI names a folder ({records}), which MLflow refuses", remedy)
    proxy = next((name for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY") if environ.get(name)), None)
    spared = (environ.get("no_proxy") or environ.get("NO_PROXY") or "").replace(" ", "").split(",")
    if proxy and not {"127.0.0.1", "*"} & set(spared):
        found = f"{proxy} is set, and no_proxy does not spare 127.0.0.1: MLflow and Prefect would be asked through it"
        yield Finding("variables", found, "`export no_proxy=127.0.0.1,localhost`", "warning")
