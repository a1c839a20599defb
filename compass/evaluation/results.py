"""The results of an evaluation as files: the problems with what resembles them, and everything that is written or added to a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.errors import UserError
from compass.evaluation.comparisons import compare_models
from compass.evaluation.evaluate import COLUMNS, summarise
from compass.files import write_json
from compass.records import write_records

GIVEN = "given.json"
"""In a folder of results that `compass score` wrote: what is known of each model's responses, besides them."""

PROBLEMS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("id", pa.string()),
        ("source_id", pa.string()),
        ("problem", pa.string()),
        ("answer", pa.string()),
        ("alternatives", pa.list_(pa.string())),
        ("tolerance", pa.string()),
        ("level", pa.string()),
        ("cluster", pa.string()),
        ("similar", pa.list_(pa.string())),
        ("in_sources", pa.list_(pa.string())),
    ]
)
"""Columns of `data/evaluate/problems.parquet`.

`source_id` is the item's id in the benchmark's own file, or its number there. `answer` is the gold and `alternatives` other golds, any of which is right; `tolerance` is how far a number may be off. `level`
is the benchmark's own difficulty, null where it has none. Problems with the same `cluster` share a stem or a template; it is null where a problem
stands alone (`find_clusters`). `similar` holds the ids of rows that an RL stage trained on and that resemble the
problem (`compass.evaluation.similar`), `in_sources` the ids of rows that hold it and that decontamination dropped; both are null where that is
not known.
"""

CONTAMINATED = "contaminated"


def problems_table(
    benchmarks: Mapping[str, pa.Table],
    similar: Mapping[str, list[str]] | None = None,
    in_sources: Mapping[str, list[str]] | None = None,
) -> pa.Table:
    """The problems of every benchmark, in their order, as a table of `PROBLEMS`.

    Args:
        benchmarks: name to `RECORD` rows.
        similar: item id to the ids of trained rows that resemble it, or None where that is not known.
        in_sources: item id to the ids of dropped rows that hold it, or None where that is not known.
    """
    clusters = {id_: own for items in benchmarks.values() for id_, own in find_clusters(items).items()}
    rows = [
        {
            "benchmark": name,
            "id": row["id"],
            "source_id": row.get("source_id"),
            "problem": row["problem"],
            "answer": row["answer"],
            "alternatives": row.get("alternatives"),
            "tolerance": row.get("tolerance"),
            "level": row["source_level"] or None,
            "cluster": clusters.get(row["id"]),
            "similar": None if similar is None else similar.get(row["id"], []),
            "in_sources": None if in_sources is None else in_sources.get(row["id"], []),
        }
        for name, items in benchmarks.items()
        for row in items.to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=PROBLEMS)


STEM = 80
"""Characters at the beginning of two problems that make them parts of one, where they are the same. Of Minerva's 272 problems 219 are left, of
OlympiadBench's 675 644, of MATH-500's 499."""


def find_clusters(items: pa.Table) -> dict[str, str]:
    """The cluster of each problem that shares one with another: what its source says, else its beginning, white space counted as one space.

    Args:
        items: `RECORD` rows of one benchmark.

    Returns:
        Problem id to its cluster: the source's own name, or the id of the first problem that begins alike.
    """
    groups: dict[str, list[str]] = {}
    for row in items.select(["id", "problem", "cluster"]).to_pylist():
        beginning = " ".join(row["problem"].split())[:STEM]
        alone = row["id"] if len(beginning) < STEM else f"begins {beginning}"
        groups.setdefault(f"cluster {row['cluster']}" if row["cluster"] else alone, []).append(row["id"])
    return {
        id_: name.removeprefix("cluster ") if name.startswith("cluster ") else ids[0]
        for name, ids in groups.items()
        if len(ids) > 1
        for id_ in ids
    }


def read_clusters(problems: pa.Table | None) -> dict[str, str]:
    """Problem id to its benchmark and cluster, from a table of `PROBLEMS`; empty where an earlier version wrote it."""
    if problems is None or "cluster" not in problems.column_names:
        return {}
    rows = problems.select(["benchmark", "id", "cluster"]).to_pylist()
    return {row["id"]: f"{row['benchmark']}: {row['cluster']}" for row in rows if row["cluster"] is not None}


def dropped_copies(dropped: pa.Table, benchmarks: Mapping[str, pa.Table]) -> dict[str, list[str]]:
    """The rows that curation dropped because they hold a benchmark item, by the item's id.

    Args:
        dropped: `LEDGER` rows of the stage `denoise`.
        benchmarks: name to `RECORD` rows.
    """
    ids = {
        f"{name}:{row['source_id']}": row["id"]
        for name, items in benchmarks.items()
        for row in items.select(["id", "source_id"]).to_pylist()
    }
    found: dict[str, list[str]] = {}
    for row in dropped.select(["id", "reason", "evidence"]).to_pylist():
        evidence = json.loads(row["evidence"])
        named = [evidence["also_contaminated"]] if "also_contaminated" in evidence else []
        if row["reason"] == CONTAMINATED:
            named = [f"{evidence['benchmark']}:{evidence['item']}", *evidence.get("other_items", [])]
        for item in named:
            if item in ids:
                found.setdefault(ids[item], []).append(row["id"])
    return found


def write_results(
    folder: Path,
    samples: pa.Table,
    problems: pa.Table,
    setups: Mapping[str, Any],
    *,
    seed: int,
    looks: Mapping[str, Any] | None = None,
    primary: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Write `samples.parquet`, `problems.parquet`, `setups.json` and `comparisons.json`.

    Args:
        folder: where; made if need be.
        samples: rows of `compass.evaluation.evaluate.COLUMNS`.
        problems: rows of `compass.evaluation.results.PROBLEMS`.
        setups: the setups that the samples name.
        seed: of the comparisons' resampling.
        looks: of `compass.evaluation.looks`, where samples were added until there was a verdict; their pair is the one that decides.
        primary: without looks, the pair that decides, as in `compare_models`.

    Returns:
        The scores: model to benchmark (and `average`) to scores.
    """
    known = [row for row in problems.select(["id", "similar"]).to_pylist() if row["similar"] is not None]
    similar = {row["id"] for row in known if row["similar"]} if known else None
    clusters = read_clusters(problems)
    primary = looks["pair"] if looks else primary
    comparisons = compare_models(samples, seed=seed, primary=primary, clusters=clusters, looks=looks)
    scores = summarise(samples, comparisons, similar, clusters)
    write_records(folder / "problems.parquet", problems)
    write_json(folder / "setups.json", dict(setups))
    # After what they name: a folder with samples has results, and one that a kill left without them is as an empty one.
    write_records(folder / "samples.parquet", samples)
    write_json(folder / "comparisons.json", comparisons)
    return scores


def read_looks(folder: Path) -> dict[str, Any] | None:
    """The looks of an earlier run into a folder (`compass.evaluation.looks`); None where it has none."""
    path = folder / "comparisons.json"
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("looks") if path.exists() else None
    except ValueError as error:
        raise ResultsError(f"{path}: not JSON ({error}); give another --out") from None


class ResultsError(UserError):
    """A folder of results that cannot be added to; the message says why and what to do."""


def add_results(
    folder: Path, samples: pa.Table, problems: pa.Table, setups: Mapping[str, Any], *, replace: bool
) -> tuple[pa.Table, pa.Table, dict[str, Any]]:
    """What is in the folder together with what is new; a model's new rows on a benchmark take the place of its old ones.

    Args:
        folder: of an earlier run, or one that is not there yet.
        samples: new rows of `compass.evaluation.evaluate.COLUMNS`.
        problems: the problems of the new rows.
        setups: the setups of the new rows.
        replace: drop all old rows of a model that was sampled under another setup.

    Returns:
        All samples, problems and setups.

    Raises:
        ResultsError: a model's old rows have another setup, a problem's text or gold has changed, or the files cannot be read.
    """
    if not (folder / "samples.parquet").exists():
        return samples, problems, dict(setups)
    try:
        before = pq.read_table(folder / "samples.parquet")
        if "evidence_lenient" not in before.column_names:
            before = before.append_column("evidence_lenient", pa.nulls(before.num_rows, pa.string()))
        before = before.select([*COLUMNS, *(name for name in ("cost",) if name in before.column_names)])
        asked = pq.read_table(folder / "problems.parquet")
        for name in {"cluster", "source_id"} - set(asked.column_names):
            asked = asked.append_column(name, pa.nulls(asked.num_rows, pa.string()))
        asked = asked.select(PROBLEMS.names).cast(PROBLEMS)
        known = json.loads((folder / "setups.json").read_text(encoding="utf-8"))
    except (OSError, KeyError, ValueError) as error:
        raise ResultsError(f"{folder}: holds no whole results ({error}); give another --out") from None
    order = dict.fromkeys(name for rows in (before, samples) for name in rows.column("model").unique().to_pylist())
    for model in samples.column("model").unique().to_pylist():
        old = before.filter(pc.equal(before.column("model"), model))
        new = samples.filter(pc.equal(samples.column("model"), model))
        fresh = set(new.column("setup").to_pylist())
        if others := set(old.column("setup").to_pylist()) - fresh:
            if not replace:
                changed = ", ".join(differences(known[min(others)], setups[min(fresh)]))
                raise ResultsError(
                    f"{folder}: {model} was sampled there under another setup (other: {changed}); give another --out, "
                    "another name (NAME=MODEL), or --replace to drop its old responses"
                )
            before = _without(before, new, ["model"])
        before = _without(before, new, ["model", "benchmark"])
    asked = asked.filter(pc.is_in(asked.column("benchmark"), before.column("benchmark").unique()))
    asked = _joined(folder, asked, problems)
    both = pa.concat_tables([before, samples], promote_options="default")
    both = pa.concat_tables([both.filter(pc.equal(both.column("model"), name)) for name in order])
    used = set(both.column("setup").to_pylist())
    return both, asked, {name: facts for name, facts in {**known, **setups}.items() if name in used}


def replace_rows(path: Path, rows: pa.Table, by: Sequence[str]) -> pa.Table:
    """Write rows into a parquet file, in place of those that it has with the same values in the columns `by`; returns all that it then holds.

    Args:
        path: the file, which need not be there yet.
        rows: every value of one of these columns with every value of the others.
        by: names of columns.
    """
    if path.exists():
        before = _without(pq.read_table(path), rows, by)
        rows = pa.concat_tables([before.select(rows.column_names), rows])
    write_records(path, rows)
    return rows


def _without(table: pa.Table, rows: pa.Table, by: Sequence[str]) -> pa.Table:
    """The rows of a table whose values in the columns `by` are not those of other rows."""
    again = pa.scalar(True)
    for column in by:
        again = pc.and_(again, pc.is_in(table.column(column), rows.column(column).unique()))
    return table.filter(pc.invert(again))


PROMPTS_FILE = "prompts"
"""Name of the files with the responses to other prompts and their setups."""


def add_prompts(folder: Path, samples: pa.Table, setups: Mapping[str, Any]) -> None:
    """Write `prompts.parquet` and `prompts.json` with a model's responses to other prompts, in place of those that it had there to the same prompts and benchmarks.

    Args:
        folder: of an evaluation.
        samples: rows of `compass.evaluation.evaluate.COLUMNS` and `prompt`, of one model.
        setups: the setups that they name.
    """
    path, named = (folder / f"{PROMPTS_FILE}{ending}" for ending in (".parquet", ".json"))
    known = json.loads(named.read_text(encoding="utf-8")) if named.exists() else {}
    samples = replace_rows(path, samples, ("model", "prompt", "benchmark"))
    used = set(samples.column("setup").to_pylist())
    write_json(named, {name: facts for name, facts in {**known, **setups}.items() if name in used})


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The facts of two setups that differ, as dotted names."""
    found = []
    for name in [*one, *(name for name in other if name not in one)]:
        mine, theirs = one.get(name), other.get(name)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            found += [f"{name}.{inner}" for inner in differences(mine, theirs)]
        elif mine != theirs:
            found.append(name)
    return found


def _joined(folder: Path, old: pa.Table, new: pa.Table) -> pa.Table:
    """Problems of both, each once, by benchmark; one that says something else now is an error."""
    texts = {row["id"]: (row["problem"], row["answer"]) for row in old.to_pylist()}
    for row in new.to_pylist():
        if texts.get(row["id"], (row["problem"], row["answer"])) != (row["problem"], row["answer"]):
            raise ResultsError(
                f"{folder}: problem {row['id']} of {row['benchmark']} has another text or gold now, and other models answered the "
                "old one; give another --out"
            )
    return pa.concat_tables([_without(old, new, ["id"]), new])
