"""Nested settings as the flat, bounded and harmless names and values that a tracking server takes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST_VALUE = 500
"""Characters of a parameter's value that are kept; databases behind tracking servers bound it."""

_SECRET_NAME = re.compile(r"(^|[._-])(token|secret|passw(or)?d|api_?key|access_?key|credentials?)$", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"\b(hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[opsu]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{12,})")
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")


def flatten(values: Mapping[str, Any]) -> dict[str, str]:
    """Nested settings as `{"rl-1.steps": "20"}`; secrets are left out, values are scrubbed and cut."""
    shown = {name: scrub(str(value))[:LONGEST_VALUE] for name, value in _leaves(values)}
    return {name: value for name, value in shown.items() if not _SECRET_NAME.search(name)}


def scrub(text: str) -> str:
    """Text without credentials: user names in URLs, keys of known shape, values of secret environment variables."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    return _SECRET_VALUE.sub("***", _USER_IN_URL.sub("***@", text))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    else:
        yield name, value
        return
    for key, inner in items:
        yield from _leaves(inner, f"{name}.{key}" if name else str(key))
