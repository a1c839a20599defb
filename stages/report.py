"""report: `reports/index.html`, the same as Markdown, the ledger `reports/ledger.html` and the data card `reports/data_card/`.

python -m stages.report
"""

from __future__ import annotations

from pathlib import Path

from compass.report.data_card import write_card
from compass.report.ledger_page import write_page
from compass.report.outputs import open_outputs
from compass.report.page import write_report
from compass.report.run import read_run
from compass.settings import Settings
from compass.tracking import run_page
from stages._stage import Summary, main

STAGE = "report"

REPORTS = Path("reports")
CARD = REPORTS / "data_card"
LEDGER = REPORTS / "ledger.html"


def run(settings: Settings) -> Summary:
    """Write the report, the ledger and the card; reads `metrics/` and `data/` of the other stages."""
    outputs = open_outputs(Path("data"))
    write_card(outputs, CARD)
    write_page(outputs, LEDGER, seed=settings.seed)
    found = read_run(rl_stages=list(settings.rl.stages))
    links = {
        "data card": f"{CARD.name}/card.html",
        "dropped rows": LEDGER.name,
        "as Markdown": "report.md",
        **run_page(),
    }
    megabytes = settings.report.viewer_megabytes
    path = write_report(found, REPORTS, title=settings.report.title, megabytes=megabytes, links=links)
    headline = {model: {"average": scored.get("average", {})} for model, scored in found.results.scores.items()}
    return Summary(STAGE, metrics={**headline, "page_bytes": path.stat().st_size})


if __name__ == "__main__":
    main(STAGE, run)
