"""What mkdocs does beside turning pages into HTML: it makes the reference from the code, and keeps links inside the site.

The reference is never written by hand: `reference/commands.md` comes from the commands' docstrings and types,
`reference/settings.md` from the settings' fields, `reference/api.md` from the docstrings of `import compass`, whenever the site is built.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import pairwise
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cyclopts import App
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import compass
from compass.cli import COMMANDS, EXIT_STATUS, build_app
from compass.command_help import examples
from compass.library.curate import Curated
from compass.library.score import Scored
from compass.report.run import Run
from compass.settings import Settings
from compass.settings.section import Section
from compass.verifier import Judgement, Verdict

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:benchmarks|profiles|studies|tests)/[^)#]+|[A-Z]+\.md)(?:#[^)]*)?\)")
"""A link to a file of the repository that is no page."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, text in (("commands", commands_page()), ("settings", settings_page()), ("api", api_page())):
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


def api_page() -> str:
    """Every name of `import compass` with its signature and docstring; of a class its public fields and methods as well."""
    parts = [
        "# Python",
        "What `import compass` offers. [Installing a part](../guides/install.md#from-python) shows it in use.",
    ]
    for name in compass.__all__:
        parts += list(_object(f"compass.{name}", getattr(compass, name)))
    returned = (Verdict, Judgement, Curated, Scored, Run)
    for one in returned:
        parts += list(_object(one.__name__, one))
    return "\n\n".join(parts) + "\n"


def _object(name: str, one: Any) -> Iterator[str]:
    yield f"## `{name}`"
    if not isinstance(one, type):
        yield f"```python\n{_signature(name.rpartition('.')[2], one)}\n```"
    yield from _docstring(inspect.getdoc(one) or "")
    if isinstance(one, type):
        rows = [f"- `{field}`: {_prose(text)}" for field, text in _members(one).items()]
        yield "\n".join(rows)


def _signature(name: str, function: Callable[..., Any]) -> str:
    """A function's head, an argument per line where it is long."""
    signature = inspect.signature(function)
    listed = ["*" if one is None else _argument(one) for one in _with_star(signature)]
    returned = _annotation(signature.return_annotation)
    line = f"{name}({', '.join(listed)}) -> {returned}"
    if len(line) < 100:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in listed) + f") -> {returned}"


def _argument(one: inspect.Parameter) -> str:
    default = (
        ""
        if one.default is one.empty
        else f" = {str(one.default) if isinstance(one.default, Enum) else repr(one.default)}"
    )
    return f"{one.name}: {_annotation(one.annotation)}{default}"


def _annotation(annotation: Any) -> str:
    """As the code has it."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _with_star(signature: inspect.Signature) -> Iterator[inspect.Parameter | None]:
    """The parameters, None before the first that is given by name alone."""
    starred = False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            starred = True
            yield None
        yield one


def _docstring(text: str) -> Iterator[str]:
    """A docstring as Markdown: `Args:` and `Raises:` as lists, `Returns:` as a paragraph."""
    first, *sections = re.split(r"^(Args|Returns|Raises|Examples):\n", text, flags=re.MULTILINE)
    yield first.strip()
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        lines = textwrap.dedent(body).strip("\n")
        if title == "Examples":
            yield f"**{title}**\n\n" + textwrap.indent(lines, "    ")
        elif title == "Returns":
            yield f"**{title}**: {' '.join(lines.split())}"
        else:
            entries = [" ".join(entry.split()) for entry in re.split(r"\n(?=\S)", lines)]
            listed = [re.sub(r"^([^:]+): ", r"- `\1`: ", entry) for entry in entries]
            yield f"**{title}**\n\n" + "\n".join(listed)


def _members(one: type) -> dict[str, str]:
    """Public fields with the text under each, and properties and methods with their docstrings' first paragraphs."""
    found: dict[str, str] = {}
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
    for node, after in pairwise([*tree.body, ast.Pass()]):
        name = getattr(getattr(node, "target", None), "id", "") or getattr(node, "name", "")
        name = name or (node.targets[0].id if isinstance(node, ast.Assign) else "")
        if not name or name.startswith("_"):
            continue
        if isinstance(node, ast.FunctionDef):
            found[name] = (ast.get_docstring(node) or "").split("\n\n")[0]
        elif isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[name] = str(after.value.value)
        else:
            found[name] = ast.unparse(getattr(node, "annotation", None) or node.value)
    return found


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
