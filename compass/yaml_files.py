"""YAML files, read with errors that name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from compass.errors import UserError, describe_yaml_error

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C where it is built: dvc.lock may hold thousands of lines."""


def read_yaml(path: Path) -> Any:
    """What a YAML file holds; None for an empty one and for one that does not exist.

    Raises:
        UserError: the file cannot be read, or is no YAML; the message names file, line and column.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER) if path.exists() else None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {describe_yaml_error(error)}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
