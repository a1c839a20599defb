"""YAML files, read with errors that name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from compass.errors import UserError, describe_yaml_error

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C where it is built: dvc.lock may hold thousands of lines."""


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds; empty for an empty file and for one that does not exist.

    Raises:
        UserError: the file cannot be read, is no YAML, or holds something else than a mapping; the message names file, line and column.
    """
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER) if path.exists() else None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {describe_yaml_error(error)}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if not isinstance(found, dict | None):
        raise UserError(f"{path}: not readable as YAML with sections: it holds a {type(found).__name__}")
    return found or {}
