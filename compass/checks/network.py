"""What the settings need from elsewhere: the hub, DVC's remotes, a Ray cluster. Short waits: without a network nothing hangs."""

from __future__ import annotations

import configparser
import importlib.util
import os
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from compass.checks.finding import Finding, Place
from compass.checks.models import HUB_ID, is_hub_offline
from compass.runs.values import scrub

if TYPE_CHECKING:
    from compass.settings import Benchmark, Settings

REACH_S = 1.5
"""Seconds in which a server has to take a connection."""

_REMOTE = re.compile(r"""'?remote "(.+)"'?""")
"""A section's name as DVC writes it: `'remote "NAME"'`."""

PLUGINS = {
    "s3": "s3",
    "gs": "gs",
    "azure": "azure",
    "ssh": "ssh",
    "webdav": "webdav",
    "webdavs": "webdav",
    "hdfs": "hdfs",
}
"""Scheme of a remote's address to the package `dvc-NAME` that DVC needs for it."""

PORTS = {"http": 80, "https": 443, "ssh": 22, "webdav": 80, "webdavs": 443}


def check_hub(place: Place) -> Iterator[Finding]:
    """The Hugging Face hub, where the settings name something on it."""
    if place.settings is None:
        return
    needed = _list_hub_settings(place.settings, place.root)
    if not needed:
        yield Finding("hub", "ok", "not needed by these settings")
        return
    what = f"{', '.join(needed[:3])}{' …' if len(needed) > 3 else ''}"
    token = "with a token" if os.environ.get("HF_TOKEN") else "no HF_TOKEN, which gated data need"
    if is_hub_offline():
        remedy = "`unset HF_HUB_OFFLINE`; leave it if the hub's cache has them"
        yield Finding("hub", "warning", f"HF_HUB_OFFLINE is set, and {what} name it", remedy)
        return
    address = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=REACH_S):
            pass
    except urllib.error.HTTPError as error:
        if error.code >= 500:
            yield Finding("hub", "problem", f"{address} answers {error.code}; needed by {what}", "try again later")
            return
    except (OSError, ValueError) as error:
        remedy = "connect to the network, set HF_ENDPOINT to a mirror, or name local files (`path`) instead"
        reason = getattr(error, "reason", error)
        yield Finding("hub", "problem", f"{address} is not reached ({reason}); needed by {what}", remedy)
        return
    yield Finding("hub", "ok", f"{address} answers, {token}; needed by {what}")


def _list_hub_settings(settings: Settings, root: Path) -> list[str]:
    """The settings that name something on the hub."""
    models = [] if settings.base.pretrain else [("base.model", os.path.expandvars(settings.base.model))]
    if not settings.grade.model.startswith("models/"):
        models.append(("grade.model", settings.grade.model))
    return [
        *(f"collect.sources {source.name}" for source in settings.collect.sources if source.hub),
        *(
            f"collect.benchmarks {benchmark.name}"
            for benchmark in settings.collect.benchmarks
            if _is_fetched(benchmark)
        ),
        *(setting for setting, model in models if HUB_ID.fullmatch(model) and not (root / model).exists()),
    ]


def _is_fetched(benchmark: Benchmark) -> bool:
    """Whether a benchmark's problems are on the hub; one that is not known at all is found before every run."""
    from compass.errors import UserError
    from compass.evaluation.benchmarks import find_benchmarks

    try:
        return any(source.hub for source in find_benchmarks([benchmark]))
    except UserError:
        return False


def read_dvc_configuration(root: Path) -> configparser.ConfigParser:
    """DVC's configuration of the repository, with what `--local` added."""
    merged = configparser.ConfigParser(interpolation=None, strict=False)
    merged.read([root / ".dvc/config", root / ".dvc/config.local"], encoding="utf-8")
    return merged


def check_remotes(place: Place) -> Iterator[Finding]:
    """Every remote of DVC: a folder that is there and can be written, or a server that takes a connection."""
    try:
        configuration = read_dvc_configuration(place.root)
    except configparser.Error as error:
        first = str(error).splitlines()[0]
        yield Finding(
            "DVC remotes", "problem", f".dvc/config cannot be read: {first}", "repair it, or `git checkout .dvc/config`"
        )
        return
    named = ((_REMOTE.fullmatch(section), section) for section in configuration.sections())
    remotes = {match[1]: configuration[section] for match, section in named if match}
    default = configuration.get("core", "remote", fallback="")
    if default and default not in remotes:
        remedy = f"`dvc remote add {default} ADDRESS`, or `dvc remote default --unset`"
        yield Finding(
            "DVC remotes", "problem", f"the default, {default!r}, is none of {', '.join(remotes) or 'none'}", remedy
        )
    if not remotes:
        yield Finding("DVC remotes", "ok", "none; results are in this folder's cache alone")
    for name, options in remotes.items():
        yield _check_remote(name, options.get("url", ""), place.root, options)


def _check_remote(name: str, address: str, root: Path, options: Mapping[str, str]) -> Finding:
    check = f"DVC remote {name}"
    modify = f"`dvc remote modify {name} url ADDRESS`"
    parts = urlsplit(address)
    if parts.scheme in ("", "local", "file"):
        folder = root / ".dvc" / (parts.path if parts.scheme else address)  # relative to the file that names it
        return _check_folder(check, folder.resolve(), modify)
    plugin = PLUGINS.get(parts.scheme)
    if plugin and importlib.util.find_spec(f"dvc_{plugin}") is None:
        remedy = f"`.venv/bin/uv pip install dvc-{plugin}`"
        return Finding(check, "problem", f"{scrub(address)} needs the package dvc-{plugin}", remedy)
    endpoint = urlsplit(options.get("endpointurl", "")) if options.get("endpointurl") else parts
    host, port = endpoint.hostname, endpoint.port or PORTS.get(endpoint.scheme)
    if not host or not port:
        return Finding(check, "ok", f"{scrub(address)}; whether it answers shows `dvc status -c`")
    if fault := find_obstacle(host, port):
        return Finding(check, "problem", f"{scrub(address)} is not reached: {fault}", f"check the network, or {modify}")
    return Finding(check, "ok", f"{scrub(address)} takes connections")


def _check_folder(check: str, folder: Path, modify: str) -> Finding:
    if folder.is_dir():
        if not os.access(folder, os.W_OK | os.X_OK):
            return Finding(check, "problem", f"{folder} cannot be written by you", f"change its owner, or {modify}")
        return Finding(check, "ok", f"{folder}")
    if folder.parent.is_dir() and os.access(folder.parent, os.W_OK | os.X_OK):
        return Finding(check, "ok", f"{folder} is not there yet; the first `dvc push` makes it")
    return Finding(check, "problem", f"{folder} is not there", f"mount the disk that has it, or {modify}")


def check_ray(place: Place) -> Iterator[Finding]:
    """The Ray cluster that RAY_ADDRESS names."""
    address = os.environ.get("RAY_ADDRESS", "")
    if not address or address in ("local", "auto"):
        yield Finding("Ray cluster", "ok", "every stage starts its own Ray on this machine")
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        yield Finding("Ray cluster", "problem", f"RAY_ADDRESS is {address!r}", "give HOST:PORT, or `unset RAY_ADDRESS`")
    elif fault := find_obstacle(host, int(port)):
        remedy = "`ray start --head` there, or `unset RAY_ADDRESS` to use this machine alone"
        yield Finding("Ray cluster", "problem", f"{address} is not reached: {fault}", remedy)
    else:
        yield Finding("Ray cluster", "ok", f"{address} takes connections; `ray status` lists its nodes")


def find_obstacle(host: str, port: int) -> str:
    """Why a connection is not made; empty where it is."""
    try:
        socket.create_connection((host, port), timeout=REACH_S).close()
    except OSError as error:
        return error.strerror or str(error) or "no answer"
    return ""
