"""The example notebook runs on a finished run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

NOTEBOOK = ROOT / "examples/notebook/report_plots.ipynb"


def test_the_notebook_draws_a_run(
    finished_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("agg")
    monkeypatch.setenv("COMPASS_RUN", str(finished_run))
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert not any(cell.get("outputs") for cell in book["cells"]), "outputs are not committed"
    names: dict[str, Any] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # our own file, as a notebook runs it
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert len(figures) == 2
    (scores,) = figures[0].axes
    assert [text.get_text() for text in scores.get_legend().get_texts()] == names["run"].models
    assert len(figures[1].axes[0].lines) == len(names["run"].results.curves)
    assert "against base" in capsys.readouterr().out
    plt.close("all")
