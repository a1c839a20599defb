"""report: `reports/index.html`, the same as Markdown, and the data card `reports/data_card/` (`python -m stages.report`)."""

from __future__ import annotations

from pathlib import Path

from compass.report.data_card import write_card
from compass.report.outputs import open_outputs
from compass.report.page import write_report
from compass.report.run import read_run
from compass.settings import Settings
from compass.tracking import run_page
from stages._stage import Summary, main

STAGE = "report"

REPORTS = Path("reports")
CARD = REPORTS / "data_card"


def run(settings: Settings) -> Summary:
    """Write the report and the card; reads `metrics/` and `data/` of the other stages."""
    write_card(open_outputs(Path("data")), CARD)
    found = read_run(rl_stages=list(settings.rl.stages))
    links = {"data card": f"{CARD.name}/card.html", "as Markdown": "report.md", **run_page()}
    megabytes = settings.report.viewer_megabytes
    path = write_report(found, REPORTS, title=settings.report.title, megabytes=megabytes, links=links)
    headline = {model: {"average": scored.get("average", {})} for model, scored in found.results.scores.items()}
    return Summary(STAGE, metrics={**headline, "page_bytes": path.stat().st_size})


if __name__ == "__main__":
    main(STAGE, run)
