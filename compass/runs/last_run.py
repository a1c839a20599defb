"""What the last run did, as `.compass/last_run.json`: written when a run ends, however it ends, unless it is killed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compass.files import write_json

FILE = Path(".compass/last_run.json")


def write_last_run(
    root: Path, *, command: str, state: str, began: float, seconds: float, ran: Sequence[str], **more: Any
) -> None:
    """Keep what a run did.

    Args:
        root: the repository's root.
        command: the `dvc` command that does the same.
        state: `finished`, `failed` or `stopped`.
        began: when it was its turn, in seconds since 1970.
        seconds: how long it took.
        ran: the stages that ran.
        more: what else there is to tell, as `experiment`, or the `stage` that failed.
    """
    facts = {"command": command, "state": state, "began": began, "seconds": round(seconds, 1), "ran": list(ran), **more}
    write_json(root / FILE, facts)


def read_last_run(root: Path) -> dict[str, Any] | None:
    """What `write_last_run` kept; None where nothing has run here."""
    try:
        return json.loads((root / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
