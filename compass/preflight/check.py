"""All of preflight's checks, in the order in which a user would mend what they find."""

from __future__ import annotations

from pathlib import Path

from compass.errors import UserError
from compass.preflight.problem import Problem, listed
from compass.settings import Settings, SettingsError
from compass.settings.load import parse_values, read_values, settings_or_faults


def check(root: str | Path = ".", settings: Settings | None = None, *, text: str | None = None) -> None:
    """Find what would stop the pipeline.

    Args:
        root: the repository's root.
        settings: what to check instead of `params.yaml` there.
        text: the same as the text of a parameter file.

    Raises:
        UserError: something would; the message lists all of it.
    """
    if found := problems(root, settings, text=text):
        raise UserError(listed(found))


def problems(root: str | Path = ".", settings: Settings | None = None, *, text: str | None = None) -> list[Problem]:
    """What would stop the pipeline, as `check`; empty where nothing is known to."""
    from compass.preflight.data import data_problems
    from compass.preflight.enough import batch_problems
    from compass.preflight.graph import graph_problems
    from compass.preflight.machine import machine_problems
    from compass.preflight.models import model_problems
    from compass.preflight.reward import reward_problems

    root = Path(root)
    if settings is None:
        path = root / "params.yaml"
        try:
            read = settings_or_faults(read_values(path) if text is None else parse_values(text, path))
        except SettingsError as error:
            return [Problem("params.yaml", str(error).removeprefix(f"{path}: "), _MEND_FILE)]
        if not isinstance(read, Settings):
            return [Problem(fault.key, fault.message, fault.hint or _MEND_VALUE) for fault in read]
        settings = read
    found, rows = data_problems(settings, root)
    return [
        *graph_problems(settings, root),
        *found,
        *model_problems(settings, root),
        *reward_problems(settings, root),
        *batch_problems(settings, root, rows),
        *machine_problems(settings, root),
    ]


_MEND_FILE = "repair params.yaml, or write it again with `compass profile use NAME --force`"
_MEND_VALUE = "change it in params.yaml; profiles/ has complete examples"
