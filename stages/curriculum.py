"""curriculum: choose the training problems of every RL stage by level.

    python -m stages.curriculum

Reads `data/verify/kept.parquet`; writes `data/curriculum/kept.parquet`, whose column `stages` names the RL stages that
train on a problem, and `dropped.parquet`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from compass.curriculum.curriculum import Selection, curriculum
from compass.errors import UserError
from compass.ledger import count_reasons
from compass.records import RecordError, read_records
from compass.settings import Settings
from stages._stage import Summary, main, write_split

RECORDS = Path("data/verify/kept.parquet")
FOLDER = Path("data/curriculum")


class ShortError(UserError):
    """An RL stage that could fill no batch; the message says what to change."""


def run(settings: Settings, records: Path = RECORDS, folder: Path = FOLDER) -> Summary:
    """Select as `settings.curriculum` says.

    Returns:
        The summary; `metrics.stages` has each stage's problems by level, what was wanted, and what neighbours gave.

    Raises:
        RecordError: records cannot be read, or a stage would have no problem at all.
        ShortError: a stage would have fewer problems than its batch.
    """
    read = read_records(records)
    kept, dropped, chosen = curriculum(read, settings.curriculum, settings.seed)
    for stage, selection in chosen.items():
        if not selection.ids:
            reasons = count_reasons(dropped.column("reason").to_pylist())
            raise RecordError(
                f"{records}: no problem for {stage}, which wants levels {list(selection.wanted)}; of {read.num_rows} rows "
                f"{reasons} were dropped: widen `curriculum.solve_rate` or `mixes`, or grade more problems"
            )
    _check_batches(settings, chosen)
    summary = write_split(
        folder,
        "curriculum",
        read=read.num_rows,
        kept=kept,
        dropped=dropped,
        stages={stage: _facts(selection) for stage, selection in chosen.items()},
    )
    return replace(summary, note=_short(chosen))


def _check_batches(settings: Settings, chosen: dict[str, Selection]) -> None:
    """Stop before any stage trains where a later one could not: it changes nothing of what this stage writes."""
    for name, selection in chosen.items():
        stage = settings.rl.stages[name]
        count, held, batch = len(selection.ids), stage.checkpoint.validation_problems, stage.data.batch_size
        if count - held < batch:
            less = f" ({held} of them held out by `checkpoint.validation_problems`)" if held else ""
            raise ShortError(
                f"{name} gets {count} problems{less}, fewer than `rl.data.batch_size` ({batch}), so that it could fill no "
                f"iteration; set `rl.data.batch_size` and `rl.optimizer.mini_batch_size` to {max(1, count - held)} or less, "
                f"or give it more: sources, `curriculum.mixes.{name}`, `curriculum.solve_rate`"
            )


def _short(chosen: dict[str, Selection]) -> str:
    """Which stages train on fewer problems than was asked for."""
    short = [
        f"{name} has {len(one.ids):,} of {sum(one.wanted.values()):,} wanted problems, {one.missing:,} are missing"
        for name, one in chosen.items()
        if one.missing
    ]
    return f"short: {'; '.join(short)} (more sources, or less `curriculum.problems`)" if short else ""


def _facts(selection: Selection) -> dict[str, object]:
    return {
        "problems": len(selection.ids),
        "missing": selection.missing,
        "levels": {str(level): count for level, count in selection.taken.items()},
        "wanted": {str(level): count for level, count in selection.wanted.items()},
        "borrowed": selection.borrowed,
    }


if __name__ == "__main__":
    main("curriculum", run)
