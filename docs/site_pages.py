"""What mkdocs does beside turning pages into HTML: it makes the reference from the code, and keeps links inside the site.

The reference is never written by hand: `reference/commands.md` comes from the commands' docstrings and types,
`reference/settings.md` from the settings' fields, whenever the site is built.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cyclopts import App
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from compass.cli import COMMANDS, EXIT_STATUS, build_app
from compass.command_help import examples
from compass.settings import Settings
from compass.settings.section import Section

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(?:#[^)]*)?\)")
"""A link to a file of the repository that is no page."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, text in (("commands", commands_page()), ("settings", settings_page())):
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Name files outside of docs/ instead of linking to them: the site does not hold them."""
    return _OUTSIDE.sub(r"\1 (`\2`)", markdown)


def commands_page() -> str:
    """Every command with its arguments, options and examples."""
    app = build_app()
    parts = ["# Commands", EXIT_STATUS.split("\n\n")[0]]
    parts.append("Every command also takes `--help` and `--debug`, which shows the traceback of an error.")
    for name in COMMANDS:
        parts += list(_command(app[name], f"compass {name}", level=2))
    return "\n\n".join(parts) + "\n"


def _command(app: App, name: str, level: int) -> Iterator[str]:
    text = app.generate_docs(recursive=False, usage_name=name).split("\n", 1)[1]
    about, bold, options = text.partition("\n**")
    yield f"{'#' * level} `{name}`"
    yield about.split("## Table of Contents")[0].strip()
    if shown := examples(app.default_command):
        yield f"**Examples**:\n\n```console\n{shown}\n```"
    if app.default_command:
        yield (bold + options).strip()
    for one in app:
        if not one.startswith("-"):
            yield from _command(app[one], f"{name} {one}", level + 1)


def settings_page() -> str:
    """Every setting of a parameter file: its name, what is allowed, its default and what it means."""
    parts = [
        "# Settings",
        "The keys of `params.yaml` and of the files in `profiles/`. A key that is not listed here, a value of another type and a "
        "value out of range stop a run before it starts.",
        _table(Settings, ""),
    ]
    for name, field in Settings.model_fields.items():
        for section in _sections(field.annotation):
            parts += list(_section(section, name, level=2))
    return "\n\n".join(parts) + "\n"


def _section(section: type[Section], name: str, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{name}`"
    yield _prose(section.__doc__ or "")
    if table := _table(section, f"{name}."):
        yield table
    for key, field in section.model_fields.items():
        for inner in _sections(field.annotation):
            where = f"{name}.{key}" + ("[]" if get_origin(field.annotation) is list else "")
            where += ".NAME" if get_origin(field.annotation) is dict else ""
            if not (name.startswith("rl.stages") and key in Settings.model_fields["rl"].annotation.model_fields):
                yield from _section(inner, where, min(level + 1, 4))


def _table(section: type[Section], prefix: str) -> str:
    rows = [
        f"| `{prefix}{key}` | {_allowed(field)} | {_default(field)} | {_prose(field.description or '')} |"
        for key, field in section.model_fields.items()
        if not list(_sections(field.annotation))
    ]
    return "\n".join(["| setting | allowed | default | meaning |", "|---|---|---|---|", *rows]) if rows else ""


def _sections(annotation: Any) -> Iterator[type[Section]]:
    """The sections inside a type: of `list[Source]` the class `Source`."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    elif get_origin(annotation) is not Literal:
        for inner in get_args(annotation):
            yield from _sections(inner)


def _allowed(field: FieldInfo) -> str:
    """A field's type and bounds, in words."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<", "min_length": "length ≥", "max_length": "length ≤"}
    bounds = [
        f"{sign} {getattr(one, name)}"
        for one in field.metadata
        for name, sign in signs.items()
        if getattr(one, name, None) is not None
    ]
    return ", ".join([_type(field.annotation), *bounds])


def _type(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(inner[0])
    if origin is Literal:
        return ", ".join(f"`{one}`" if one else "empty" for one in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(_type(one) for one in inner)
    if origin in (list, tuple):
        return f"list of {_type(inner[0])}"
    if origin is dict:
        return f"mapping of {_type(inner[0])} to {_type(inner[1])}"
    words = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "nothing"}
    return words.get(annotation, getattr(annotation, "__name__", str(annotation)))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value = field.default if field.default is not PydanticUndefined else field.get_default(call_default_factory=True)
    return "" if value is None else f"`{value!r}`".replace("|", "\\|")


def _prose(text: str) -> str:
    """A docstring in one line, safe inside a table."""
    return " ".join(text.split()).replace("|", "\\|")
