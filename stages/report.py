"""report: `reports/index.html`, the same as Markdown, the ledger `reports/ledger.html` and the data card `reports/data_card/`.

For DVC: `metrics/headline.json`, the columns of `dvc exp show`, and `plots/scores.csv`, the accuracy of each model.

python -m stages.report
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from compass.files import atomic_path, write_json
from compass.report.data_card import write_card
from compass.report.ledger_page import write_page
from compass.report.outputs import open_outputs
from compass.report.page import write_report
from compass.report.recorded import compare_with_run_before
from compass.report.results import Results
from compass.report.run import Run, read_run
from compass.settings import Settings
from compass.tracking import current_run, run_page
from stages._stage import Summary, main

STAGE = "report"

REPORTS = Path("reports")
CARD = REPORTS / "data_card"
LEDGER = REPORTS / "ledger.html"
HEADLINE = Path("metrics/headline.json")
SCORES = Path("plots/scores.csv")


def run(settings: Settings) -> Summary:
    """Write the report, the ledger, the card and what DVC compares; reads `metrics/` and `data/` of the other stages."""
    outputs = open_outputs(Path("data"))
    write_card(outputs, CARD)
    write_page(outputs, LEDGER, seed=settings.seed)
    found = read_run(rl_stages=list(settings.rl.stages))
    path = write_report(
        found,
        REPORTS,
        title=settings.report.title,
        megabytes=settings.report.viewer_megabytes,
        links={"dropped rows": LEDGER, **_run_link()},
        cards={"Data card": CARD / "card.md"},
        before=compare_with_run_before(found, own=current_run().parent_id),
    )
    write_json(HEADLINE, measure_headline(found.results, _seconds(found, settings)))
    _write_scores(found)
    averages = {model: {"average": scored.get("average", {})} for model, scored in found.results.scores.items()}
    return Summary(STAGE, metrics={**averages, "page_bytes": path.stat().st_size})


def _run_link() -> dict[str, str]:
    """The run's page in MLflow; of a server on this machine its name alone, since the report may be read elsewhere."""
    links = {}
    for text, address in run_page().items():
        local = urlsplit(address).hostname in ("127.0.0.1", "localhost")
        links |= {f"MLflow run {address.rpartition('/')[2][:8]} (`make up` shows it)": ""} if local else {text: address}
    return links


def _seconds(found: Run, settings: Settings) -> list[float]:
    """How long each stage took when it last ran, this one left out: it has not ended yet."""
    stages = (stage for stage in settings.stages if stage != STAGE)
    return [found.times[stage]["seconds"] for stage in stages if stage in found.times]


def _write_scores(found: Run) -> None:
    SCORES.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(SCORES) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("model", "accuracy", "greedy"))
        writer.writeheader()
        writer.writerows(score_rows(found.results))


def measure_headline(results: Results, seconds: Iterable[float] = ()) -> dict[str, float]:
    """The columns of `dvc exp show`.

    Args:
        results: what a run measured.
        seconds: how long each of its stages took.

    Returns:
        Per model its accuracy over all benchmarks in percent, by the model's name; `±`, half the width of the widest of
        their 95% intervals, in points; `kept` and `dropped`, problems after and by curation; `hours` of all stages.
    """
    averages = {model: scores["average"] for model, scores in results.scores.items() if "average" in scores}
    columns = {model: _percent(average["accuracy"]) for model, average in averages.items()}
    if averages:
        columns["±"] = max(_percent((high - low) / 2) for low, high in (one["ci95"] for one in averages.values()))
    if results.counts:
        columns["kept"] = results.counts[-1].kept
        columns["dropped"] = sum(counts.read - counts.kept for counts in results.counts)
    if seconds := list(seconds):
        columns["hours"] = round(sum(seconds) / 3600, 2)
    return columns


def score_rows(results: Results) -> list[Mapping[str, Any]]:
    """One row per model: `model`, `accuracy` and `greedy`, percent over all benchmarks."""
    rows: list[Mapping[str, Any]] = []
    for model, scores in results.scores.items():
        if average := scores.get("average"):
            measures = {"accuracy": average["accuracy"], "greedy": average.get("greedy")}
            rows.append({"model": model, **{name: _percent(one) for name, one in measures.items() if one is not None}})
    return rows


def _percent(share: float) -> float:
    return round(100 * share, 1)


if __name__ == "__main__":
    main(STAGE, run)
