"""What curation leaves of the user's rows: the data stages themselves on small data, an estimate on large."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compass.settings import Collect, Source
from compass.sources.collect import collect, collect_benchmarks

CURATED = 3_000
"""Rows up to which the data stages run here: a few seconds."""

EXPECTED_LEFT = 0.75
"""Share of rows that is expected to pass the data stages where they do not run here."""

_CJK = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Rows:
    """What is known of sources and benchmarks."""

    read: int
    """Rows of all sources."""

    usable: int
    """Rows that curation leaves."""

    measured: bool
    """Whether the data stages ran, or `usable` is an estimate."""

    dropped: dict[str, int]
    """Rows by the reason for which they were dropped; empty for an estimate."""

    items: dict[str, int]
    """Items of each benchmark."""

    problems: list[str]
    """The problems' texts, of sources and benchmarks, for their lengths."""

    solution_chars: int
    """Nine tenths of the published solutions are at most this long; 0 without solutions."""

    languages: list[str]
    """Of `denoise.languages`, those in which at least a twentieth of the problems is written."""


Curate = Callable[[Sequence[Source], Sequence[Source], Sequence[str]], tuple[int, dict[str, int]]]
"""From sources, benchmarks and languages to how many rows curation keeps, and the others by reason."""


def measure(sources: Sequence[Source], benchmarks: Sequence[Source], curate: Curate) -> Rows:
    """Read sources and benchmarks, and curate them where they are small.

    Args:
        sources: how each file of problems is read.
        benchmarks: the same of benchmarks.
        curate: what runs the data stages.

    Raises:
        SourceError: one cannot be read; names file and row.
    """
    limits = Collect(sources=list(sources), benchmarks=[])
    read = collect(sources, limits)
    held_out = collect_benchmarks(benchmarks, limits)
    problems = read.kept["problem"].to_pylist()
    solutions = sorted(len(text) for text in read.kept["solution"].to_pylist() if text)
    chinese = sum(bool(_CJK.search(text)) for text in problems) / max(1, len(problems))
    languages = [name for name, share in (("en", 1 - chinese), ("zh", chinese)) if share >= 0.05]
    usable, dropped = int(EXPECTED_LEFT * read.kept.num_rows), {}
    if small := read.read <= CURATED:
        usable, dropped = curate(sources, benchmarks, languages)
    return Rows(
        read=read.read,
        usable=usable,
        measured=small,
        dropped=dropped,
        items={name: fact["kept"] for name, fact in held_out.sources.items()},
        problems=problems + held_out.kept["problem"].to_pylist(),
        solution_chars=solutions[int(0.9 * (len(solutions) - 1))] if solutions else 0,
        languages=languages or ["en"],
    )
