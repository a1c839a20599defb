"""Evaluate models on benchmarks: sample, score, summarise."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.evaluation.benchmark_scores import average_scores, benchmark_scores, over_base, score_other_golds
from compass.golds import golds
from compass.sampling.engines import setup_facts
from compass.sampling.model_source import Model, SamplingError, Server
from compass.sampling.response import FAILED
from compass.sampling.resume import DIGESTS, ON_EVERY_GPU, sample_responses
from compass.sampling.score import SCORES, score_responses
from compass.sampling.store import setup_digest
from compass.settings import Engines, Evaluate

COLUMNS = [
    "model", "benchmark", "id", "sample", "greedy", "response", *SCORES.names,
    "tokens", "seconds", "finish_reason", "setup", "correct_other",
]  # fmt: skip
"""Columns of `data/evaluate/samples.parquet`, one row per response.

Of responses made elsewhere (`compass.evaluation.given_results`) `greedy`, `tokens`, `seconds`, `finish_reason` and `setup` are null: not known.
`compass.sampling.response`, `compass.sampling.score` and `compass.evaluation.benchmark_scores` say what they hold; `response` is the text as the model wrote it, and `setup`
stands for everything that decides it (`data/evaluate/setups.json`)."""


def evaluate_model(
    name: str,
    model: Model | Server,
    benchmarks: Mapping[str, pa.Table],
    settings: Evaluate,
    *,
    seed: int,
    work: Path,
    engines: Engines = ON_EVERY_GPU,
) -> tuple[pa.Table, dict[str, dict[str, Any]]]:
    """Sample and score one model on every benchmark, in one run of the engine.

    Args:
        name: the model's name in the results.
        model: its folder, hub revision or server.
        benchmarks: name to `RECORD` rows.
        settings: how many samples, and how they are sampled.
        seed: the run's seed.
        work: folder of resumable work.
        engines: on what it is sampled.

    Returns:
        Rows of `COLUMNS`, by benchmark and problem, and the setup they name: digest to facts.

    Raises:
        SamplingError: the model cannot be used, or a problem ended one engine after the other.
    """
    items = pa.concat_tables(benchmarks.values())
    ids = items.column("id").to_pylist()
    facts = setup_facts(model, settings.sampling, seed=seed, cache=work / DIGESTS)
    digest = setup_digest(facts)
    responses = sample_responses(
        dict(zip(ids, items.column("problem").to_pylist(), strict=True)),
        model=model,
        sampling=settings.sampling,
        n=settings.samples,
        greedy=settings.greedy,
        seed=seed,
        folder=work,
        what=f"{name} on {len(benchmarks)} benchmark{'s' * (len(benchmarks) != 1)}",
        engines=engines,
    )
    check_sampled(name, responses)
    problems = dict(zip(ids, items.column("problem").to_pylist(), strict=True))
    scored = score_other_golds(score_responses(responses, golds(items), problems), items)
    source = dict(zip(ids, items.column("source").to_pylist(), strict=True))
    sources = [source[problem] for problem in scored.column("id").to_pylist()]
    for column, values in (
        ("model", [name] * scored.num_rows),
        ("benchmark", sources),
        ("setup", [digest] * scored.num_rows),
    ):
        scored = scored.append_column(column, pa.array(values, type=pa.string()))
    return scored.select(COLUMNS), {digest: facts}


def check_sampled(name: str, responses: pa.Table) -> None:
    """Refuse to use responses while some are not known.

    Raises:
        SamplingError: engines or servers failed on some problems.
    """
    failed = pc.equal(responses.column("finish_reason"), FAILED)
    if lost := responses.filter(failed).column("id").unique().to_pylist():
        raise SamplingError(
            f"{name}: no response to {len(lost)} problem{'s' * (len(lost) != 1)} ({', '.join(lost[:5])}), on which every engine or server "
            "failed; the rest alone would say something else. All other responses are kept: run again to try once more"
        )


def evaluate_prompts(
    name: str, model: Model | Server, benchmarks: Mapping[str, pa.Table], settings: Evaluate, **options: Any
) -> tuple[pa.Table, dict[str, dict[str, Any]]]:
    """Sample and score one model with each of `settings.other_prompts`, without greedy responses; arguments as of `evaluate_model`.

    Returns:
        Rows of `COLUMNS` and `prompt`, and the setups they name.
    """
    found, setups = [], {}
    for prompt in settings.other_prompts:
        wanted = settings.model_copy(update={"greedy": False, "sampling": settings.sampling.with_prompt(prompt)})
        rows, facts = evaluate_model(f"{name}, prompt {prompt},", model, benchmarks, wanted, **options)
        rows = rows.set_column(COLUMNS.index("model"), "model", pa.array([name] * rows.num_rows, pa.string()))
        found.append(rows.append_column("prompt", pa.array([prompt] * rows.num_rows, pa.string())))
        setups |= facts
    return pa.concat_tables(found), setups


def summarise(
    samples: pa.Table,
    comparisons: Mapping[str, Any],
    similar: Collection[str] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Scores by model and benchmark, with an `average` per model and, for every model but `base`, the gain over `base`.

    Args:
        samples: rows of `COLUMNS`.
        comparisons: of `compass.evaluation.comparisons.compare_models`, for the gains.
        similar: ids of the problems that resemble training rows, or None where that is not known.
        clusters: the cluster of each problem that shares one, by its id.

    Returns:
        `{"base": {BENCHMARK: {"accuracy": x, "ci95": [lo, hi], "problems": n, "samples": k, ...}, "average": {...}}, ...}`
    """
    scores: dict[str, dict[str, dict[str, Any]]] = {}
    for model in _distinct(samples, "model"):
        own = samples.filter(pc.equal(samples.column("model"), model))
        each = {name: own.filter(pc.equal(own.column("benchmark"), name)) for name in _distinct(own, "benchmark")}
        scores[model] = {name: benchmark_scores(rows, similar, clusters) for name, rows in each.items()}
        scores[model]["average"] = average_scores(scores[model])
    for model, gains in over_base(comparisons).items():
        for name, gain in gains.items():
            scores[model][name] |= gain
    return scores


def plot_rows(scores: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Scores as rows for `dvc plots`: model, benchmark, measure, value."""
    return [
        {"model": model, "benchmark": benchmark, "measure": measure, "value": value}
        for model, scored in scores.items()
        for benchmark, score in scored.items()
        for measure, value in score.items()
        if measure in ("accuracy", "greedy") or measure == f"pass@{score['samples']}"
    ]


def _distinct(table: pa.Table, column: str) -> list[str]:
    return table.column(column).unique().to_pylist()
