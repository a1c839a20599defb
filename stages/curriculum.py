"""curriculum: choose the training problems of every RL stage by level.

    python -m stages.curriculum

Reads `data/verify/kept.parquet`; writes `data/curriculum/kept.parquet`, whose column `stages` names the RL stages that
train on a problem, and `dropped.parquet`.
"""

from __future__ import annotations

from pathlib import Path

from compass.curriculum.curriculum import curriculum
from compass.curriculum.selection import Selection
from compass.ledger import count_reasons
from compass.records import RecordError, read_records
from compass.settings import Settings
from stages._stage import Summary, main, write_split

RECORDS = Path("data/verify/kept.parquet")
FOLDER = Path("data/curriculum")


def run(settings: Settings, records: Path = RECORDS, folder: Path = FOLDER) -> Summary:
    """Select as `settings.curriculum` says.

    Returns:
        The summary; `metrics.stages` has each stage's problems by level, what was wanted, and what neighbours gave.

    Raises:
        RecordError: records cannot be read, or a stage would have no problem at all.
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
    return write_split(
        folder,
        "curriculum",
        read=read.num_rows,
        kept=kept,
        dropped=dropped,
        stages={stage: _facts(selection) for stage, selection in chosen.items()},
    )


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
