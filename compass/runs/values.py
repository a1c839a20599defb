"""Nested settings as flat names and values, without secrets: what runs are compared, named and recorded by."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

_SECRET_NAME = re.compile(r"(^|[._-])(token|secret|passw(or)?d|api_?key|access_?key|credentials?)$", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[opsu]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{12,})")
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")


def flatten(values: Mapping[str, Any]) -> dict[str, str]:
    """Nested settings as `{"rl.stages.rl-1.steps": "20"}`; secrets are left out and values scrubbed.

    A list of named entries, such as sources, gives its names, then each entry; one of other mappings gives each by its
    place; any other list is one value.
    """
    return {name: scrub(_text(value)) for name, value in _leaves(values) if name and not _SECRET_NAME.search(name)}


def compare(before: Mapping[str, str], after: Mapping[str, str], absent: str) -> dict[str, tuple[str, str]]:
    """The names in which two results of `flatten` differ, each with both values; `absent` stands for one that a side lacks."""
    both = {name: (before.get(name, absent), after.get(name, absent)) for name in dict.fromkeys([*after, *before])}
    return {name: (old, new) for name, (old, new) in both.items() if old != new}


def scrub(text: str) -> str:
    """Text without credentials: user names in URLs, keys of known shape, values of secret environment variables."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    return _SECRET_VALUE.sub("***", _USER_IN_URL.sub("***@", text))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value and all(isinstance(entry, Mapping) and "name" in entry for entry in value):
        yield name, [entry["name"] for entry in value]
        for entry in value:
            rest = {key: inner for key, inner in entry.items() if key != "name"}
            if rest:
                yield from _leaves(rest, f"{name}.{entry['name']}")
    elif isinstance(value, list) and any(isinstance(entry, Mapping | list) for entry in value):
        for at, entry in enumerate(value):
            yield from _leaves(entry, f"{name}.{at}")
    else:
        yield name, value


def _text(value: Any) -> str:
    """A value as params.yaml has it."""
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value)) or "[]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return f"{value:.12g}" if isinstance(value, float) else str(value)
