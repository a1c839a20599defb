"""The stage report: a page, the same as Markdown and a card in their places, and the headline figures; tests/report has what they show."""

import json
import re
from pathlib import Path

import pytest

from compass.settings import load_settings
from stages import report

TINY = Path(__file__).parents[2] / "profiles/tiny.yaml"


def test_the_page_holds_the_card_and_the_averages_are_the_headline(
    pipeline: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pipeline[0].parent
    monkeypatch.chdir(root)
    average = {"accuracy": 0.5, "ci95": [0.4, 0.6], "problems": 2, "samples": 4}
    scores = {"base": {"level-1": {**average, "accuracy": 0.1}, "average": average}}
    (root / "metrics").mkdir()
    (root / "metrics/evaluate.json").write_text(json.dumps({"models": scores}))
    summary = report.run(load_settings(TINY))
    assert summary.stage == "report"
    page = (root / "reports/index.html").read_text(encoding="utf-8")
    headline = json.loads((root / "metrics/headline.json").read_text(encoding="utf-8"))
    assert {name: headline[name] for name in ("base", "±")} == {"base": 50.0, "±": 10.0}
    assert headline["kept"] + headline["dropped"] > 0
    assert (root / "plots/scores.csv").read_text().splitlines() == ["model,accuracy,greedy", "base,50.0,"]
    assert summary.metrics == {"base": {"average": average}, "page_bytes": len(page.encode())}
    assert "<h1>Compass-Thinker pipeline, tiny profile</h1>" in page
    assert "base has an accuracy of 50.0%" in page
    assert "<summary>Data card</summary>" in page
    links = re.findall(r"""href=["']([^"']*)""", page)
    assert [link for link in links if not link.startswith(("#", "data:"))] == []  # it can be sent alone
    assert "base has an accuracy of 50.0%" in (root / "reports/report.md").read_text(encoding="utf-8")
    assert (root / "reports/data_card/card.html").exists()
