"""The local record: `.compass/mlflow.db` and `.compass/mlartifacts` at the repository's root.

MLflow writes absolute addresses of artifacts into its database. In a folder that was copied or moved they point to the old
place, so that a run of the copy would write there; `relocate` makes them point to where the folder is now.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from compass.runs.repository import repository_root

STATE = Path(".compass")
DATABASE = STATE / "mlflow.db"
ARTIFACTS = STATE / "mlartifacts"
OUTBOX = STATE / "outbox"

ADDRESSES = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)
"""Tables and columns of MLflow's database that hold addresses of artifacts."""


def local_uri(folder: str | Path = ".") -> str:
    """The tracking address of the local database."""
    return f"sqlite:///{repository_root(folder) / DATABASE}"


def artifacts_uri(folder: str | Path = ".") -> str:
    """Where the local record keeps artifacts, as an address."""
    return (repository_root(folder) / ARTIFACTS).as_uri()


@contextlib.contextmanager
def store_lock(folder: str | Path = ".") -> Iterator[None]:
    """Hold the local store alone: MLflow migrates a fresh database on first use, and two at once break it."""
    state = repository_root(folder) / STATE
    state.mkdir(parents=True, exist_ok=True)
    with open(state / "mlflow.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def relocate(folder: str | Path = ".") -> None:
    """Fit the local store to the folder it is in; call it before MLflow, or a server of it, opens the database.

    A store at the repository's root (`mlflow.db`, `mlartifacts`) moves into `.compass` first.
    """
    root = repository_root(folder)
    database = root / DATABASE
    _move_from_root(root)
    if not database.exists():
        return
    here = artifacts_uri(root)
    with contextlib.closing(sqlite3.connect(database, timeout=30)) as store, store:
        for table, column in ADDRESSES:
            with contextlib.suppress(sqlite3.OperationalError):  # a version of MLflow without that table
                _rewrite(store, table, column, here)


def _move_from_root(root: Path) -> None:
    old, database = root / "mlflow.db", root / DATABASE
    if old.exists() and not database.exists():
        (root / STATE).mkdir(exist_ok=True)
        if (root / "mlartifacts").exists():
            shutil.move(root / "mlartifacts", root / ARTIFACTS)
        for suffix in ("-wal", "-shm"):
            if (beside := root / f"mlflow.db{suffix}").exists():
                shutil.move(beside, f"{database}{suffix}")
        shutil.move(old, database)
        (root / "mlflow.db.lock").unlink(missing_ok=True)


def _rewrite(store: sqlite3.Connection, table: str, column: str, here: str) -> None:
    """Let the addresses of a column that lie in a folder `mlartifacts` of this disk lie in the one at `here`."""
    mark = f"/{ARTIFACTS.name}"
    wanted = f"{column} LIKE 'file://%{mark}%' AND {column} NOT LIKE ? AND {column} != ?"
    found = store.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {wanted}", (f"{here}/%", here)).fetchall()
    for (address,) in found:
        below = address.rpartition(f"{mark}/")[2] if f"{mark}/" in address else ""
        new = f"{here}/{below}" if below else here
        store.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, address))
