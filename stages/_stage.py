"""What every stage's `main()` does: read the settings, run, write the summary last, record the run in MLflow."""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.errors import UserError
from compass.files import write_json
from compass.ledger import LEDGER, Counts, check_counts, most_first
from compass.locks import OFF, hold_turn
from compass.machine import describe_disk, describe_load
from compass.process_tree import lock_stage, own_processes
from compass.progress import report_phase
from compass.records import RECORD, records_writer
from compass.runs.repository import repository_root
from compass.runs.stage_times import timed
from compass.settings import Settings, load_settings
from stages._rl_entries import check_names


@dataclass(frozen=True)
class Summary:
    """What a stage did: `counts` of its rows, None for a stage that does not curate, and whatever else it measured."""

    stage: str
    counts: Counts | None = None
    metrics: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    """What the stage's line ends with: what the user should know without looking into the metrics."""

    def as_dict(self) -> dict[str, Any]:
        """The content of `metrics/<stage>.json`."""
        rows: dict[str, Any] = {"read": None, "kept": None, "dropped": None}
        if self.counts is not None:
            rows = {"read": self.counts.read, "kept": self.counts.kept, "dropped": self.counts.dropped}
        return {"stage": self.stage, **rows, "metrics": self.metrics}


class EmptyError(UserError):
    """A stage that read rows and kept none of them; the message names the reason that took most."""


def write_pieces(
    folder: str | Path,
    stage: str,
    *,
    read: int | Callable[[], int],
    pieces: Iterable[tuple[pa.Table, pa.Table]],
    **metrics: Any,
) -> Summary:
    """Write what a curation stage keeps and drops piece by piece; the files appear only if no row was lost.

    `read` is how many rows the stage read, or what says so after the last piece.

    Raises:
        RecordError: a row was lost.
        EmptyError: no row is kept. The dropped rows are written, so that they can be read, and the kept ones are not.
    """
    kept_rows, reasons = 0, Counter[str]()
    with records_writer(Path(folder) / "kept.parquet", RECORD) as write_kept:  # the last to appear
        with records_writer(Path(folder) / "dropped.parquet", LEDGER) as write_dropped:
            for kept, dropped in pieces:
                write_dropped(dropped.select(LEDGER.names).cast(LEDGER))
                write_kept(kept.select(RECORD.names).cast(RECORD))
                kept_rows += kept.num_rows
                reasons.update(dropped.column("reason").to_pylist())
            rows = read() if callable(read) else read
            check_counts(stage, read=rows, kept=kept_rows, dropped=reasons.total())
        counts = Counts(stage, kept_rows, most_first(reasons))
        if counts.read and not counts.kept:
            raise EmptyError(
                f"all {counts.read:,} rows were dropped: {counts.reasons(4)}. {_example(folder, counts)}. Change the settings that "
                "drop them, or the sources"
            )
    return Summary(stage, counts, metrics)


def _example(folder: str | Path, counts: Counts) -> str:
    """The first row that the most frequent reason took, with its evidence."""
    reason = next(iter(counts.dropped))
    row = pq.read_table(Path(folder) / "dropped.parquet", filters=[("reason", "=", reason)]).slice(0, 1).to_pylist()[0]
    return f"The first as {reason} is {row['source']}:{row['source_id']}, {row['evidence']}"


INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def main(
    stage: str,
    run: Callable[[Settings], Summary],
    *,
    metrics_alone: bool = False,
) -> None:
    """Run one stage as `dvc repro` does, alone at its outputs, and end with whoever started it (`compass.process_tree`).

    A stage that `compass run` did not start, as by `dvc repro` or a queued experiment, waits for its turn itself (`compass.locks`):
    two that sample or train at once may not fit into the machine's memory. `COMPASS_LINE=off` lets them.

    Args and errors as in `perform`. Ends with a message, too, when another process is at work on the same stage, and after Ctrl-C with
    the status 130: DVC hands it to its stages, and shows what they wrote.
    """
    try:
        if os.environ.get(OFF) != "off":
            hold_turn(repository_root(), f"stage {stage}")  # held until this process and its forks have ended
        lock_stage(stage)
        own_processes()
        perform(stage, run, metrics_alone=metrics_alone)
    except UserError as error:
        sys.exit(f"{stage}: {error}")
    except KeyboardInterrupt:
        print(f"{stage}: stopped. Run it again: what it has saved in work/{stage} is used", file=sys.stderr)
        sys.exit(INTERRUPTED)


def perform(
    stage: str,
    run: Callable[[Settings], Summary],
    *,
    metrics_alone: bool = False,
) -> None:
    """Run one stage in this process: from the repository's root, with `params.yaml`.

    `metrics/<stage>.json` holds the summary, or with `metrics_alone` the summary's `metrics` and nothing around them.

    An error of the user's making, a full disk and too little memory end the process with a message alone; any other propagates with its
    traceback.
    """
    from compass import tracking
    from compass.runs.progress import stage_progress

    try:
        with stage_progress(stage, pages=tracking.run_page):
            report_phase("connecting to MLflow")
            settings = load_settings()
            check_names(settings)
            _remove_secured(stage)
            with tracking.stage_run(stage, settings), timed(stage):
                report_phase("reading inputs")
                summary = run(settings)
                result = summary.metrics if metrics_alone else summary.as_dict()
                write_json(f"metrics/{stage}.json", result)
    except UserError as error:
        sys.exit(f"{stage}: {error}")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        place = error.filename or Path.cwd()
        sys.exit(
            f"{stage}: the disk is full ({place}; {describe_disk(place)}); free some space and run it again. "
            "Outputs of earlier stages are as they were"
        )
    except MemoryError:
        sys.exit(
            f"{stage}: out of memory ({describe_load()}); run it again when less runs beside it, or give it less at a time. Outputs of "
            "earlier stages are as they were"
        )
    if counts := summary.counts:
        reasons = f"; dropped {counts.reasons()}" if counts.dropped else ""
        note = f"; {summary.note}" if summary.note else ""
        print(f"{stage}: read {counts.read:,}, kept {counts.kept:,}{reasons}{note}")


def _remove_secured(stage: str) -> None:
    """Remove the checkpoints of other RL stages whose models DVC has by now: their result can no longer be lost."""
    from compass.rl.course import remove_secured
    from compass.runs.dvc_files import Graph

    graph = Graph()
    locked = {path: md5 for entry in graph.lock for path, md5 in graph.locked_outs(entry).items()}
    remove_secured(Path(), locked, but=stage)
