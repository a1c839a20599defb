"""What the settings need from elsewhere: the hub, DVC's remotes, a Ray cluster. Short waits: without a network nothing hangs."""

from __future__ import annotations

import configparser
import os
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from compass.checks.finding import Finding, Place
from compass.checks.models import HUB_ID, is_hub_offline
from compass.errors import UserError
from compass.evaluation.benchmarks import find_benchmarks
from compass.runs.values import scrub
from compass.settings import Benchmark, Settings

REACH_S = 1.5
"""Seconds in which a server has to take a connection."""

_REMOTE = re.compile(r"""'?remote "(.+)"'?""")
"""A section's name as DVC writes it: `'remote "NAME"'`."""


def check_hub(place: Place) -> Iterator[Finding]:
    """The Hugging Face hub, where the settings name something on it."""
    if place.settings is None:
        return
    needed = _list_hub_settings(place.settings, place.root)
    if not needed:
        yield Finding("hub", "not needed by these settings", level="ok")
        return
    what = f"needed by {', '.join(needed[:3])}{' …' if len(needed) > 3 else ''}"
    if is_hub_offline():
        remedy = "`unset HF_HUB_OFFLINE`; leave it if the hub's cache has them"
        yield Finding("hub", f"HF_HUB_OFFLINE is set; {what}", remedy, "warning")
        return
    address = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=REACH_S).close()
    except (OSError, ValueError) as error:
        if not isinstance(error, urllib.error.HTTPError) or error.code >= 500:  # else it answers
            remedy = "connect to the network, set HF_ENDPOINT to a mirror, or name local files (`path`) instead"
            yield Finding("hub", f"{address} is not reached ({getattr(error, 'reason', error)}); {what}", remedy)
            return
    token = "with a token" if os.environ.get("HF_TOKEN") else "no HF_TOKEN, which gated data need"
    yield Finding("hub", f"{address} answers, {token}; {what}", level="ok")


def _list_hub_settings(settings: Settings, root: Path) -> list[str]:
    """The settings that name something on the hub."""
    collect = settings.collect
    models = [] if settings.base.pretrain else [("base.model", os.path.expandvars(settings.base.model))]
    if not settings.grade.model.startswith("models/"):
        models.append(("grade.model", settings.grade.model))
    return [
        *(f"collect.sources {source.name}" for source in collect.sources if source.hub),
        *(f"collect.benchmarks {benchmark.name}" for benchmark in collect.benchmarks if _is_fetched(benchmark)),
        *(setting for setting, model in models if HUB_ID.fullmatch(model) and not (root / model).exists()),
    ]


def _is_fetched(benchmark: Benchmark) -> bool:
    """Whether a benchmark's problems are on the hub; one that is not known at all is found before every run."""
    try:
        return any(source.hub for source in find_benchmarks([benchmark]))
    except UserError:
        return False


def check_remotes(place: Place) -> Iterator[Finding]:
    """The remotes of DVC that are folders: there, and writable. `dvc status -c` asks the others."""
    configuration = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        configuration.read([place.root / ".dvc/config", place.root / ".dvc/config.local"], encoding="utf-8")
    except configparser.Error as error:
        found = f".dvc/config cannot be read: {str(error).splitlines()[0]}"
        yield Finding("DVC remotes", found, "repair it, or `git checkout .dvc/config`")
        return
    named = ((_REMOTE.fullmatch(section), section) for section in configuration.sections())
    remotes = {match[1]: configuration.get(section, "url", fallback="") for match, section in named if match}
    if not remotes:
        yield Finding("DVC remotes", "none; results are in this folder's cache alone", level="ok")
    for name, address in remotes.items():
        check, modify = f"DVC remote {name}", f"`dvc remote modify {name} url ADDRESS`"
        parts = urlsplit(address)
        folder = (place.root / ".dvc" / parts.path).resolve()  # relative to the file that names it
        if parts.scheme not in ("", "local", "file"):
            yield Finding(check, f"{scrub(address)}; `dvc status -c` asks it", level="ok")
        elif not (folder if folder.is_dir() else folder.parent).is_dir():
            yield Finding(check, f"{folder} is not there", f"mount the disk that has it, or {modify}")
        elif not os.access(folder if folder.is_dir() else folder.parent, os.W_OK | os.X_OK):
            yield Finding(check, f"{folder} cannot be written by you", f"change its owner, or {modify}")
        else:
            yield Finding(check, str(folder), level="ok")


def check_ray(place: Place) -> Iterator[Finding]:
    """The Ray cluster that RAY_ADDRESS names."""
    address = os.environ.get("RAY_ADDRESS", "")
    if not address or address in ("local", "auto"):
        yield Finding("Ray cluster", "every stage starts its own Ray on this machine", level="ok")
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        yield Finding("Ray cluster", f"RAY_ADDRESS is {address!r}", "give HOST:PORT, or `unset RAY_ADDRESS`")
        return
    try:
        socket.create_connection((host, int(port)), timeout=REACH_S).close()
    except OSError as error:
        remedy = "`ray start --head` there, or `unset RAY_ADDRESS` to use this machine alone"
        yield Finding("Ray cluster", f"{address} is not reached: {error.strerror or error}", remedy)
    else:
        yield Finding("Ray cluster", f"{address} takes connections; `ray status` lists its nodes", level="ok")
