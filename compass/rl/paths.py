"""Where an RL stage reads and writes, and which of its work folders is the last run's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class StagePaths:
    """Where an RL stage reads and writes.

    Attributes:
        model: folder of the weights it starts from.
        train: verl's parquet of training problems.
        work: the stage's resumable state: `checkpoints/`, `metrics.jsonl`, `rewards.jsonl`.
    """

    model: Path
    train: Path
    work: Path

    @property
    def validation(self) -> Path:
        """verl's parquet of validation problems, where there are any."""
        return self.train.with_name("validation.parquet")

    @property
    def checkpoints(self) -> Path:
        """verl's checkpoints, one folder per iteration that was saved."""
        return self.work / "checkpoints"

    @property
    def metrics(self) -> Path:
        """verl's metrics, one JSON line per iteration."""
        return self.work / "metrics.jsonl"

    @property
    def live_metrics(self) -> Path:
        """The same as verl is writing it; verl starts a new one with every process."""
        return self.work / "metrics.live.jsonl"

    @property
    def rewards(self) -> Path:
        """Rewards, one JSON line per group."""
        return self.work / "rewards.jsonl"

    @property
    def saved_metrics(self) -> Path:
        """The metrics of iterations with a checkpoint, written before it."""
        return self.work / "metrics.saved.jsonl"

    @property
    def findings(self) -> Path:
        """What guards found, one JSON line each."""
        return self.work / "guards.jsonl"

    @property
    def progress(self) -> Path:
        """Where the trainer is."""
        return self.work / "progress.json"

    @property
    def lost(self) -> Path:
        """What the trainer lost on a Ray cluster that it joined."""
        return self.work / "lost.txt"

    @property
    def notice(self) -> Path:
        """There where the trainer is to save and end (`compass.rl.notice`)."""
        return self.work / "notice"

    @property
    def stopped(self) -> Path:
        """The iteration that a trainer ended after that had such a notice."""
        return self.work / "stopped.json"

    @property
    def rollouts(self) -> Path:
        """Rollouts of chosen iterations, one file each."""
        return self.work / "rollouts"

    @property
    def samples(self) -> Path:
        """The worst samples of iterations in which a guard fired."""
        return self.work / "samples"

    @property
    def log(self) -> Path:
        """What the trainer prints."""
        return self.work / "train.log"

    @property
    def verl(self) -> Path:
        """verl's whole configuration."""
        return self.work / "verl.yaml"

    @property
    def touched(self) -> float:
        """When the stage last wrote into its work folder, in seconds since 1970; 0 where it holds nothing."""
        written = (self.log, self.verl, self.metrics, self.rewards, self.progress, self.rollouts, self.checkpoints)
        return max((path.stat().st_mtime for path in written if path.exists()), default=0.0)


def find_newest(root: Path, stage: str) -> StagePaths | None:
    """The work folder that a stage wrote into last, of those of all its settings; None where it has none.

    Args:
        root: the pipeline's folder.
        stage: its name.
    """
    found = [StagePaths(Path(), Path(), folder) for folder in (root / "work" / stage).glob("*/")]
    newest = max(found, key=lambda paths: paths.touched, default=None)
    return newest if newest and newest.touched else None
