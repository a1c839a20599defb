"""The stage report: a page and a card in their places, and the headline figures; tests/report has what they show."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from compass.settings import load_settings
from stages import report

TINY = Path(__file__).parents[2] / "profiles/tiny.yaml"


def test_the_page_links_the_card_and_the_averages_are_the_headline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown: dict = {}

    def render(results, *, title, facts, links, **more):
        shown.update(title=title, facts=facts, links=links)
        return "<p>½</p>"

    def card(outputs, folder, **more):
        folder.mkdir(parents=True)

    scores = {"base": {"average": {"accuracy": 0.5}, "level-1": {"accuracy": 0.1}}, "rl-1": {}}
    monkeypatch.setattr(report, "write_card", card)
    monkeypatch.setattr(report, "open_outputs", lambda *_, **__: None)
    monkeypatch.setattr(report, "read_results", lambda *_, **__: SimpleNamespace(scores=scores))
    monkeypatch.setattr(report, "render", render)
    summary = report.run(load_settings(TINY))
    assert summary.stage == "report"
    assert summary.metrics == {"base": {"average": {"accuracy": 0.5}}, "rl-1": {"average": {}}, "page_bytes": 9}
    assert Path("reports/index.html").read_text(encoding="utf-8") == "<p>½</p>"
    assert shown["links"]["data card"] == "data_card/card.html"
    assert (shown["facts"]["profile"], shown["facts"]["seed"]) == ("tiny", "0")
