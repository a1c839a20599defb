"""evaluate: every model on every benchmark, sampled and greedy, with 95% intervals.

    python -m stages.evaluate

Reads `data/collect/benchmarks.parquet` and the models in `models/`; writes `data/evaluate/samples.parquet` (every
response's score), `plots/evaluate/accuracy.json`, and `metrics/evaluate.json`. Sampling that was stopped continues from
`work/evaluate`.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compass.evaluation.benchmarks import benchmark_problems
from compass.evaluation.evaluate import evaluate_model, plot_rows, summarise
from compass.files import atomic_path, write_json
from compass.records import read_records
from compass.settings import Settings
from stages._stage import Summary, main

BENCHMARKS = Path("data/collect/benchmarks.parquet")
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
) -> Summary:
    """Score the models of `settings.evaluate`.

    Returns:
        The summary; `metrics` is the content of `metrics/evaluate.json`: `{"models": {MODEL: {BENCHMARK: {...}}}}`.

    Raises:
        RecordError: the benchmarks cannot be read, or lack one of the settings.
        SamplingError: a model cannot be used.
    """
    chosen = benchmark_problems(
        read_records(benchmarks),
        [source.name for source in settings.collect.benchmarks],
        max_problems=settings.evaluate.max_problems,
        seed=settings.seed,
    )
    samples = pa.concat_tables(
        evaluate_model(name, models / name, chosen, settings.evaluate, seed=settings.seed, work=work)
        for name in settings.evaluate.models or settings.models
    )
    scores = summarise(samples, resamples=settings.evaluate.bootstrap, seed=settings.seed)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "samples.parquet") as temporary:
        pq.write_table(samples, temporary, compression="zstd")
    write_json(plots / "accuracy.json", plot_rows(scores))
    for model, scored in scores.items():
        low, high = scored["average"]["ci95"]
        print(f"evaluate: {model} {scored['average']['accuracy']:.1%} on average, {low:.1%} to {high:.1%}")
    return Summary("evaluate", metrics={"models": scores})


if __name__ == "__main__":
    # Scores have a contract of their own: the file is the scores, not a summary around them.
    main("evaluate", run, metrics_alone=True)
