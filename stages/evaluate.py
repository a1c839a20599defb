"""evaluate: every model on every benchmark, sampled and greedy, with 95% intervals.

    python -m stages.evaluate

Reads `data/collect/benchmarks.parquet`, `data/curriculum/kept.parquet` (rows that were trained on), `data/denoise/dropped.parquet` (rows that hold a benchmark's items) and the models in
`models/`. Writes `data/evaluate/samples.parquet` (every response with its score), `problems.parquet` (what was asked) and
`setups.json` (what decides the responses), `comparisons.json` (every pair of models, with a verdict), with `evaluate.other_prompts` the responses to those (`prompts.parquet`, `prompts.json`), `plots/evaluate/accuracy.json`, and `metrics/evaluate.json`. Sampling that was stopped
continues from `work/evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.evaluation.benchmarks import benchmark_problems
from compass.evaluation.evaluate import evaluate_model, evaluate_prompts, plot_rows
from compass.evaluation.looks import find_pair, sample_until_verdict
from compass.evaluation.results import add_prompts, dropped_copies, problems_table, read_clusters, write_results
from compass.evaluation.similar import trained_rows
from compass.files import write_json
from compass.prompts.prompt import same_prompt
from compass.prompts.registry import find_prompt
from compass.records import read_records
from compass.sampling.engines import find_source
from compass.sampling.response import PROMPT_TOO_LONG
from compass.settings import Settings
from stages._stage import EmptyError, Summary, main

BENCHMARKS = Path("data/collect/benchmarks.parquet")
TRAINED = Path("data/curriculum/kept.parquet")
DROPPED = Path("data/denoise/dropped.parquet")
MODELS = Path("models")
FOLDER = Path("data/evaluate")
PLOTS = Path("plots/evaluate")
WORK = Path("work/evaluate")


def run(
    settings: Settings,
    benchmarks: Path = BENCHMARKS,
    models: Path = MODELS,
    folder: Path = FOLDER,
    plots: Path = PLOTS,
    work: Path = WORK,
    dropped: Path = DROPPED,
    trained: Path = TRAINED,
) -> Summary:
    """Score the models of `settings.evaluate`.

    Args:
        settings: the pipeline's.
        benchmarks: the held-out records.
        models: the folder of the models.
        folder: where samples, problems, setups and comparisons are written.
        plots: where the plots' rows are written.
        work: folder of resumable work.
        dropped: the rows that `denoise` dropped, for those that hold a problem.
        trained: the rows that were trained on, for those that resemble one. Where a file is absent, the column stays null.

    Returns:
        The summary; `metrics` is the content of `metrics/evaluate.json`: `{"models": {MODEL: {BENCHMARK: {...}}}}`.

    Raises:
        RecordError: the benchmarks cannot be read, or lack one of the settings.
        SamplingError: a model cannot be used.
        EmptyError: there is no problem to score, or a model has a response to none.
    """
    chosen = benchmark_problems(
        read_records(benchmarks),
        [source.name for source in settings.collect.benchmarks],
        max_problems=settings.evaluate.max_problems,
        seed=settings.seed,
    )
    if not any(items.num_rows for items in chosen.values()):
        raise EmptyError("no benchmark has a problem to score; name one in `collect.benchmarks`")
    problems = problems_table(
        chosen,
        trained_rows(read_records(trained), chosen) if trained.exists() else None,
        dropped_copies(read_records(dropped), chosen) if dropped.exists() else None,
    )
    samples, setups, looks = sample_models(settings, chosen, models, work, read_clusters(problems))
    if warning := other_prompt(settings):
        print(f"evaluate: warning: {warning}", flush=True)
    scores = write_results(folder, samples, problems, setups, seed=settings.seed, looks=looks)
    for name in scores if settings.evaluate.other_prompts else ():
        model = find_source(str(models / name), "", settings.engines)
        options = {"seed": settings.seed, "work": work, "engines": settings.engines}
        add_prompts(folder, *evaluate_prompts(name, model, chosen, settings.evaluate, **options))
    write_json(plots / "accuracy.json", plot_rows(scores))
    for model, scored in scores.items():
        low, high = scored["average"]["ci95"]
        print(f"evaluate: {model} {scored['average']['accuracy']:.1%} on average, {low:.1%} to {high:.1%}")
    return Summary("evaluate", metrics={"models": scores})


def sample_models(
    settings: Settings, benchmarks: Mapping[str, pa.Table], models: Path, work: Path, clusters: Mapping[str, str]
) -> tuple[pa.Table, dict[str, Any], dict[str, Any] | None]:
    """Sample and score every model, the two that decide in rounds where the settings ask for that.

    Args:
        settings: the pipeline's.
        benchmarks: name to `RECORD` rows.
        models: the folder of the models.
        work: folder of resumable work.
        clusters: the cluster of each problem that shares one, by its id.

    Returns:
        The scored responses, the setups that they name, and the looks (`compass.evaluation.looks`), None where nobody looked.
    """
    asked, names = settings.evaluate, settings.evaluate.models or list(settings.models)
    pair = find_pair(names, settings.report.primary) if asked.until == "verdict" else []
    sampled: dict[str, pa.Table] = {}
    setups: dict[str, Any] = {}

    def sample(count: int) -> pa.Table:
        for name in pair if sampled else names:
            wanted, model = (
                asked.model_copy(update={"samples": count}),
                find_source(str(models / name), "", settings.engines),
            )
            sampled[name], setup = evaluate_model(
                name, model, benchmarks, wanted, seed=settings.seed, work=work, engines=settings.engines
            )
            check_prompts(name, sampled[name])
            setups.update(setup)
        return pa.concat_tables(sampled.values())

    if not pair:
        return sample(asked.samples), setups, None
    looks = sample_until_verdict(
        sample, samples=asked.samples, at_most=asked.at_most, pair=pair, seed=settings.seed, clusters=clusters
    )
    return pa.concat_tables(sampled.values()), setups, looks


def check_prompts(name: str, sampled: pa.Table) -> None:
    """Refuse a model that could not be asked anything.

    Raises:
        EmptyError: every prompt was too long.
    """
    if all(ended == PROMPT_TOO_LONG for ended in sampled.column("finish_reason").to_pylist()):
        raise EmptyError(
            f"{name} has no response to any problem: every prompt is longer than `evaluate.sampling.max_model_len` less "
            "`evaluate.sampling.max_tokens` leaves; raise the first or lower the second"
        )


def other_prompt(settings: Settings) -> str:
    """What to warn of where a model was trained with another prompt than it is evaluated with; empty where there is nothing."""
    asked = find_prompt(settings.evaluate.sampling.model_dump())
    for name in settings.evaluate.models or settings.models:
        if name in settings.rl.stages:
            trained = find_prompt(settings.rl.stages[name].data.model_dump())
            if not same_prompt(asked, trained):
                return (
                    f"{name} is trained with the prompt {trained.name!r} and evaluated with {asked.name!r} "
                    f"(`rl.data` and `evaluate.sampling` differ): scores may say more of the prompt than of the training"
                )
    return ""


if __name__ == "__main__":
    # Scores have a contract of their own: the file is the scores, not a summary around them.
    main("evaluate", run, metrics_alone=True)
