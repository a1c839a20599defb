"""report: the page `reports/index.html` and the data card `reports/data_card/` (`python -m stages.report`)."""

from __future__ import annotations

from pathlib import Path

from compass.files import atomic_path
from compass.report.data_card import write_card
from compass.report.outputs import open_outputs
from compass.report.page import render
from compass.report.results import read_results
from compass.settings import Settings
from compass.tracking import run_page
from compass.tracking.repository import git_state
from stages._stage import Summary, main

STAGE = "report"

CARD = Path("reports/data_card")


def run(settings: Settings) -> Summary:
    """Write the page and the card; reads `metrics/` and `data/` of the other stages."""
    write_card(open_outputs(Path("data")), CARD)
    results = read_results(rl_stages=tuple(settings.rl.stages))
    facts = {"profile": settings.profile, "seed": str(settings.seed), **git_state()}
    path = Path("reports/index.html")
    links = {"data card": f"{CARD.name}/card.html", **run_page()}
    page = render(results, title=settings.report.title, facts=facts, links=links)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    headline = {model: {"average": scored.get("average", {})} for model, scored in results.scores.items()}
    return Summary(STAGE, metrics={**headline, "page_bytes": path.stat().st_size})


if __name__ == "__main__":
    main(STAGE, run)
