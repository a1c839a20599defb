"""report: the page `reports/index.html`, from what every other stage measured (`python -m stages.report`)."""

from __future__ import annotations

from pathlib import Path

from compass import provenance
from compass.records import atomic_path
from compass.report.page import render
from compass.report.results import read_results
from compass.settings import Settings
from compass.tracking import run_page
from stages._stage import Summary, main

STAGE = "report"


def run(settings: Settings) -> Summary:
    """Write the page; reads `metrics/` and `data/` of the other stages."""
    results = read_results()
    facts = {"profile": settings.profile, "seed": str(settings.seed), **provenance.git_state()}
    page = render(results, title=settings.report.title, facts=facts, links=run_page())
    path = Path("reports/index.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    headline = {model: {"average": scored.get("average", {})} for model, scored in results.scores.items()}
    return Summary(STAGE, metrics={**headline, "page_bytes": path.stat().st_size})


if __name__ == "__main__":
    main(STAGE, run)
