"""A parameter file as text: every value, and beside it why it was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

WIDTH = 128
"""Columns up to which a reason stands beside its value; a longer one stands above it."""


def parameter_file(tree: Mapping[str, Any], reasons: Mapping[str, str], head: Sequence[str]) -> str:
    """A parameter file.

    Args:
        tree: its sections.
        reasons: comments by the dotted key that they are about.
        head: the comment at the top, line by line.
    """
    lines = [*(f"# {line}".rstrip() for line in head)]
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            lines.append("")
        lines += _lines(key, value, key, reasons, "")
    return "\n".join(lines) + "\n"


def set_value(tree: dict[str, Any], key: str, value: Any) -> None:
    """Set a value by its dotted key, and make the sections above it where they are absent."""
    *sections, last = key.split(".")
    for name in sections:
        tree = tree.setdefault(name, {})
    tree[last] = value


def _lines(key: str, value: Any, path: str, reasons: Mapping[str, str], pad: str) -> Iterator[str]:
    if isinstance(value, dict) and value and not _is_leaf(value):
        yield from _said(f"{pad}{_flow(key)}:", reasons.get(path, ""), pad)
        for name, inner in value.items():
            yield from _lines(name, inner, f"{path}.{name}", reasons, pad + "  ")
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield from _said(f"{pad}{key}:", reasons.get(path, ""), pad)
        for number, one in enumerate(value):
            inside = [
                line
                for name, inner in one.items()
                for line in _lines(name, inner, f"{path}.{number}.{name}", reasons, "")
            ]
            yield from (f"{pad}  {'- ' if at == 0 else '  '}{line}" for at, line in enumerate(inside))
    else:
        yield from _said(f"{pad}{_flow(key)}: {_flow(value)}", reasons.get(path, ""), pad)


def _said(line: str, reason: str, pad: str) -> Iterator[str]:
    if not reason:
        yield line
    elif len(line) + len(reason) + 3 <= WIDTH:
        yield f"{line} # {reason}"
    else:
        yield f"{pad}# {reason}"
        yield line


def _is_leaf(value: Mapping[str, Any]) -> bool:
    """Whether a section is written in one line: a level mix, a stage's few values."""
    plain = all(not isinstance(one, dict | list) for one in value.values())
    return plain and (set(value) <= set("12345") or "init_from" in value)


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").replace("\n", " ")
