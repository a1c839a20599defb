"""The tiny profile's sources and benchmarks: generated problems, planted defects, and the truth about every row.

`generate` publishes three sources of different shape and one held-out benchmark per level, the way real data comes:

    tiny-chat.jsonl.gz       chat rows as verl publishes them (`prompt`, `reward_model.ground_truth`, `extra_info.index`)
    tiny-solutions.parquet   `problem` and `solution`; the answer is in the solution's last \\boxed{}
    tiny-gsm.csv             `question` and `answer`, whose last line is `#### n`
    level-1.jsonl …          `id`, `problem`, `answer`

and, beside the folder, `truth.parquet`: what was planted where, so that curation is measured against it.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import atomic_path
from compass.settings import Generator, SettingsError
from compass.sources import tiny_planting as planting
from compass.sources.tiny_problems import LEVELS, Problem, draw_problem, worked_solution

SOURCES = ("tiny-chat", "tiny-solutions", "tiny-gsm")
"""Names of the sources, the preferred first."""

_FILES = ("tiny-chat.jsonl.gz", "tiny-solutions.parquet", "tiny-gsm.csv")

FILES = (*_FILES, *(f"level-{level}.jsonl" for level in LEVELS))
"""What the generator writes: the sources' files, then the benchmarks'."""

TRUTH = pa.schema(
    [
        ("source", pa.string()),
        ("source_id", pa.string()),
        ("kind", pa.string()),  # "clean", or what was planted
        ("stage", pa.string()),  # the stage that should drop the row; empty for clean rows
        ("reason", pa.string()),  # and for which reason
        ("twin_source", pa.string()),  # the original of a duplicate, or the benchmark of a benchmark item
        ("twin_source_id", pa.string()),
        ("level", pa.int32()),  # operations in the problem
        ("skill", pa.string()),  # kind of story
    ]
)
"""Columns of `truth.parquet`: one row for each published training row."""

DISTINCT_SIMILARITY = 0.6
"""Problems with the same numbers must be less similar than this, well below a near-duplicate's 0.8."""


class GeneratorError(SettingsError):
    """More problems were asked for than there are; the message names the setting."""


def generate(settings: Generator, *, seed: int, folder: Path) -> None:
    """Write the sources and benchmarks into `folder` and `truth.parquet` beside it, byte for byte the same by seed.

    Args:
        settings: how many problems, benchmark items and planted rows.
        seed: the run's seed.
        folder: made if absent; its files are replaced one by one, each whole.

    Raises:
        GeneratorError: more distinct problems were asked for than the stories can tell.
    """
    rng = random.Random(f"tiny-problems/{seed}")
    pool = DistinctProblems(rng)
    items = [
        (f"level-{level}", f"{level}-{number}", pool.draw(level, held_out=True, setting="benchmark_per_level"))
        for level in LEVELS
        for number in range(settings.benchmark_per_level)
    ]
    clean = [
        planting.row_of(pool.draw(level, held_out=False, setting="problems_per_level"))
        for level in LEVELS
        for _ in range(settings.problems_per_level)
    ]
    spoiled = [
        pool.draw(rng.choice(LEVELS), held_out=False, setting="planted_per_kind")
        for _ in range(len(planting.DEFECTS) * settings.planted_per_kind)
    ]
    defects = planting.plant_defects(rng, spoiled, settings.planted_per_kind)
    defects += planting.plant_benchmark_items(rng, items, settings.planted_per_kind)
    published = _publish(rng, clean, defects, settings)

    folder.mkdir(parents=True, exist_ok=True)
    writers: tuple[Callable[[Path, list[planting.Row]], None], ...] = (_write_chat, _write_solutions, _write_gsm)
    for source, name, write in zip(SOURCES, _FILES, writers, strict=True):
        with atomic_path(folder / name) as path:
            write(path, published[source])
    for level in LEVELS:
        with atomic_path(folder / f"level-{level}.jsonl") as path:
            _write_benchmark(path, [item for item in items if item[0] == f"level-{level}"])
    with atomic_path(folder.parent / "truth.parquet") as path:
        pq.write_table(_truth(published), path)


class DistinctProblems:
    """Draws problems of which no two share their numbers unless their words differ clearly."""

    def __init__(self, rng: random.Random, *, attempts: int = 2_000) -> None:
        self._rng = rng
        self._attempts = attempts
        self._told: dict[tuple[int, ...], list[str]] = {}

    def draw(self, level: int, *, held_out: bool, setting: str) -> Problem:
        """A problem unlike every one drawn before.

        Raises:
            GeneratorError: none was found; the message names `setting`.
        """
        for _ in range(self._attempts):
            problem = draw_problem(self._rng, level, held_out=held_out)
            told = self._told.setdefault(problem.numbers, [])
            if all(planting.similarity(problem.text, other) < DISTINCT_SIMILARITY for other in told):
                told.append(problem.text)
                return problem
        raise GeneratorError(
            f"collect.generate.{setting}: no further distinct problem of level {level} in {self._attempts} draws; ask for fewer"
        )


def _publish(
    rng: random.Random, clean: list[planting.Row], defects: list[planting.Row], settings: Generator
) -> dict[str, list[planting.Row]]:
    """Spread rows over the sources; a row's place in its list is its id there."""
    rows = clean + defects
    rng.shuffle(rows)
    published = {source: rows[number :: len(SOURCES)] for number, source in enumerate(SOURCES)}
    # Originals stand in one source and their copies in a later one, appended: earlier ids stay as they are.
    per_kind = settings.planted_per_kind
    for source, later in ((SOURCES[0], SOURCES[1:]), (SOURCES[1], SOURCES[2:])):
        share = per_kind - per_kind // 2 if source == SOURCES[0] else per_kind // 2
        originals = [(source, str(i), row) for i, row in enumerate(published[source]) if row.kind == "clean"]
        if len(originals) < 3 * share:
            raise GeneratorError(
                f"collect.generate.planted_per_kind: {per_kind} needs {3 * share} clean rows to copy in {source}, "
                f"found {len(originals)}; raise problems_per_level or plant fewer"
            )
        for copy in planting.plant_duplicates(rng, rng.sample(originals, 3 * share), share):
            published[rng.choice(later)].append(copy)
    return published


def _write_chat(path: Path, rows: list[planting.Row]) -> None:
    lines = [
        json.dumps(
            {
                "data_source": SOURCES[0],
                "prompt": [{"role": "user", "content": row.text}],
                "ability": "math",
                "reward_model": {"style": "rule", "ground_truth": row.answer},
                "extra_info": {"index": number, "split": "train"},
            },
            ensure_ascii=False,
        )
        for number, row in enumerate(rows)
    ]
    # No name and no time of writing in the gzip header, so that the file is the same by seed.
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def _write_solutions(path: Path, rows: list[planting.Row]) -> None:
    columns = {
        "id": [str(number) for number in range(len(rows))],
        "problem": [row.text for row in rows],
        "solution": [worked_solution(row.equations, row.answer) for row in rows],
    }
    pq.write_table(pa.table(columns), path)


def _write_gsm(path: Path, rows: list[planting.Row]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", "question", "answer"))
        for number, row in enumerate(rows):
            writer.writerow((number, row.text, "\n".join([*row.equations, f"#### {row.answer}"])))


def _write_benchmark(path: Path, items: list[tuple[str, str, Problem]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for _, item, problem in items:
            file.write(json.dumps({"id": item, "problem": problem.text, "answer": str(problem.answer)}) + "\n")


def _truth(published: dict[str, list[planting.Row]]) -> pa.Table:
    rows = [
        {
            "source": source,
            "source_id": str(number),
            "kind": row.kind,
            "stage": row.stage,
            "reason": row.reason,
            "twin_source": row.twin[0],
            "twin_source_id": row.twin[1],
            "level": row.level,
            "skill": row.skill,
        }
        for source, rows in published.items()
        for number, row in enumerate(rows)
    ]
    return pa.Table.from_pylist(rows, schema=TRUTH)
