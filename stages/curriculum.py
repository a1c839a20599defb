"""curriculum: choose the training problems of every RL stage by level.

    python -m stages.curriculum

Reads `data/verify/kept.parquet`; writes `data/curriculum/kept.parquet`, whose column `stages` names the RL stages that
train on a problem, and `dropped.parquet`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from compass.curriculum.curriculum import Selection, curriculum
from compass.errors import UserError
from compass.ledger import Reason, count_rows
from compass.records import RecordError, read_records
from compass.settings import Settings
from stages._stage import Summary, main, write_pieces

RECORDS = Path("data/verify/kept.parquet")
FOLDER = Path("data/curriculum")


REMEDIES = {
    Reason.DOUBTFUL: "`curriculum.doubtful`",
    Reason.UNGRADED: "`grade.max_problems` or `curriculum.use_source_level`",
    Reason.SOLVE_RATE: "`curriculum.solve_rate`",
}
"""What decides how many rows a reason drops; of any other it is what the stage takes."""


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
            raise RecordError(f"{records}: {_describe_empty(stage, selection, read, dropped, settings)}")
    _check_batches(settings, chosen)
    summary = write_pieces(
        folder,
        "curriculum",
        read=read.num_rows,
        pieces=[(kept, dropped)],
        stages={stage: _facts(selection) for stage, selection in chosen.items()},
    )
    return replace(summary, note=_short(chosen))


def _describe_empty(stage: str, selection: Selection, read: pa.Table, dropped: pa.Table, settings: Settings) -> str:
    """Why a stage has no problem at all: what took most rows, and the setting that decides it."""
    if not read.num_rows:
        return f"it holds no row, so that {stage} has no problem; the stage that wrote it kept none"
    counts = count_rows("curriculum", read.num_rows - dropped.num_rows, dropped)
    remedy = REMEDIES.get(next(iter(counts.dropped), ""), _selecting(stage, settings))
    lost = f"dropped were {counts.reasons(4)}" if dropped.num_rows else "none was dropped"
    return (
        f"no problem for {stage}, which wants levels {', '.join(map(str, selection.wanted))}; of {read.num_rows:,} rows {lost}: "
        f"change {remedy}, or give it more sources"
    )


def _selecting(stage: str, settings: Settings) -> str:
    """The settings that say which problems a stage takes."""
    own = f"`curriculum.mixes.{stage}`"
    return f"`curriculum.sources` or {own}" if settings.curriculum.sources else own


def _check_batches(settings: Settings, chosen: dict[str, Selection]) -> None:
    """Stop before any stage trains where a later one could not: it changes nothing of what this stage writes."""
    for name, selection in chosen.items():
        stage = settings.rl.stages[name]
        count, held, batch = len(selection.ids), stage.checkpoint.validation_problems, stage.data.batch_size
        if count - held < batch:
            less = f" ({held} of them held out by `checkpoint.validation_problems`)" if held else ""
            raise ShortError(
                f"{name} gets {count} problem{'s' * (count != 1)}{less}, fewer than `rl.data.batch_size` ({batch}), so that it could fill no "
                f"iteration; set `rl.data.batch_size` and `rl.optimizer.mini_batch_size` to {max(1, count - held)} or less, "
                f"or give it more: sources, {_selecting(name, settings)}, `curriculum.solve_rate`"
            )


def _short(chosen: dict[str, Selection]) -> str:
    """Which stages train on fewer problems than was asked for, and whether that leaves nothing of the order of levels."""
    short = [
        f"{name} has {len(one.ids):,} of {sum(one.wanted.values()):,} wanted problems, {one.missing:,} are missing"
        for name, one in chosen.items()
        if one.missing
    ]
    notes = [f"short: {'; '.join(short)} (more sources, or less `curriculum.problems`)"] if short else []
    return "; ".join(notes + _without_curriculum(chosen))


def _without_curriculum(chosen: dict[str, Selection]) -> list[str]:
    """Where the mixes of stages differ and all train on as many problems of each level: the order from easy to hard is lost."""
    levels, asked = [one.taken for one in chosen.values()], [one.wanted for one in chosen.values()]
    if all(one == levels[0] for one in levels) and any(one != asked[0] for one in asked):
        had = ", ".join(f"{count:,} of level {level}" for level, count in levels[0].items())
        return [f"warning: {', '.join(chosen)} train on the same levels ({had}), though their mixes differ"]
    return []


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
