"""What every stage's `main()` does: read the settings, run, write the summary last, record the run in MLflow."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.errors import UserError
from compass.files import write_json
from compass.ledger import LEDGER, check_counts, count_reasons
from compass.records import RECORD, write_records
from compass.settings import Settings, load_settings


@dataclass(frozen=True)
class Summary:
    """What a stage did: `metrics/<stage>.json`.

    `read`, `kept` and `dropped` (reason to count) are rows, None for stages that do not curate. `metrics` holds
    whatever else the stage measured.
    """

    stage: str
    read: int | None = None
    kept: int | None = None
    dropped: dict[str, int] | None = None
    metrics: dict[str, Any] = field(default_factory=dict)


def write_split(
    folder: str | Path, stage: str, *, read: int, kept: pa.Table, dropped: pa.Table, **metrics: Any
) -> Summary:
    """Write a curation stage's `kept.parquet` and `dropped.parquet` after checking that no row was lost."""
    check_counts(stage, read=read, kept=kept, dropped=dropped)
    write_records(Path(folder) / "dropped.parquet", dropped.select(LEDGER.names).cast(LEDGER))
    write_records(Path(folder) / "kept.parquet", kept.select(RECORD.names).cast(RECORD))
    reasons = count_reasons(dropped.column("reason").to_pylist())
    return Summary(stage, read=read, kept=kept.num_rows, dropped=reasons, metrics=metrics)


def main(
    stage: str,
    run: Callable[[Settings], Summary],
    *,
    metrics_alone: bool = False,
) -> None:
    """Run one stage as `dvc repro` does: from the repository's root, with `params.yaml`.

    `metrics/<stage>.json` holds the summary, or with `metrics_alone` the summary's `metrics` and nothing around them.

    An error of the user's making and a full disk end the process with a message alone; any other propagates with its
    traceback.
    """
    from compass import tracking

    try:
        settings = load_settings()
        with tracking.stage_run(stage, settings) as tracked:
            summary = run(settings)
            result = summary.metrics if metrics_alone else asdict(summary)
            tracked.summary(result)
            write_json(f"metrics/{stage}.json", result)
    except UserError as error:
        sys.exit(f"{stage}: {error}")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        sys.exit(
            f"{stage}: the disk is full ({error.filename or Path.cwd()}); free some space and run it again. "
            "Outputs of earlier stages are as they were"
        )
    if summary.read is not None:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in (summary.dropped or {}).items())
        print(f"{stage}: read {summary.read:,}, kept {summary.kept:,}" + (f"; dropped {reasons}" if reasons else ""))
