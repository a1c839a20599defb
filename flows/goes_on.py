"""Where a stage that was stopped goes on when it is run again."""

from __future__ import annotations

from pathlib import Path


def goes_on(root: Path, stage: str | None) -> str:
    """One clause for the user: `rl-1 goes on from iteration 12 of 20`.

    Args:
        root: the repository's root.
        stage: the stage that was stopped; None where none was running.
    """
    from compass.runs.progress import read_progress

    if stage is None:
        return "it goes on with the stage that is next"
    last = read_progress(root).get(stage)
    if (done := _checkpoint(root, stage)) is not None:
        total = f" of {last.total:,.0f}" if last and last.unit == "iterations" and last.total else ""
        return f"{stage} goes on from iteration {done}{total}"
    if last and last.unit == "responses" and last.total and (root / "work" / stage).is_dir():
        return f"{stage} goes on from about response {last.done:,.0f} of {last.total:,.0f}"
    return f"it begins {stage} again; the stages before it are done"


def _checkpoint(root: Path, stage: str) -> int | None:
    """The iteration of the newest checkpoint of an RL stage."""
    found = list((root / "work" / stage).glob("*/checkpoints/latest_checkpointed_iteration.txt"))
    try:
        return int(max(found, key=lambda path: path.stat().st_mtime).read_text()) if found else None
    except (OSError, ValueError):
        return None
