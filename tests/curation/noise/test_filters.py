"""The noise filters together: settings, evidence, order; `test_labelled_rows.py` has what they drop and keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from compass.curation import noise
from compass.ledger import Drop
from compass.settings import Denoise, SettingsError, load_settings
from tests.conftest import data_rows

SETTINGS = Denoise()


def reason(problem: str, answer: str = "7", **settings) -> str | None:
    drop = noise.check({"problem": problem, "answer": answer}, Denoise(**settings))
    return drop and str(drop.reason)


def test_every_filter_is_asked_tested_and_explained():
    files = {path.stem for path in Path(noise.__file__).parent.glob("*.py")} - {
        "__init__",
        "finding",
        "own_filter",
        "text",
        "two_demands",
    }
    assert {judge.__module__.rpartition(".")[2] for judge in noise.FILTERS.values()} == files
    assert set(noise.FILTERS) <= {row["reason"] for row in data_rows("noise_rows.jsonl")}
    page = (Path(__file__).parents[3] / "docs/reference/noise.md").read_text()
    table = page[page.index("\n## Reasons") : page.index("\n## Precision")]
    assert [reason for reason in noise.FILTERS if f"`{reason}`" not in table] == []


def test_an_image_outweighs_its_address():
    assert reason("![](https://cdn.example.org/1.png) What is the sum of all?") == "image"


def test_evidence_holds_what_matched():
    drop = noise.check({"problem": "What is 3+4? See https://example.org/a for more.", "answer": "7"}, SETTINGS)
    assert isinstance(drop, Drop)
    assert "https://example.org" in drop.evidence["text"]


def test_languages_and_skipped_reasons_are_settings():
    chinese = "芳芳买了一本书有99页，看了90页，她还剩多少页没有看？"
    assert reason(chinese, languages=["en", "zh"]) is None
    assert reason("In the diagram, $ABCD$ is a square of area 49. Find its side.", skip_reasons=["figure"]) is None


def test_kept_drawing_code_is_the_figure_that_the_text_speaks_of():
    drawn = "[asy]draw((0,0)--(3,4));[/asy] In the figure, how long is the segment?"
    assert reason(drawn) == "figure"
    assert reason(drawn, drawing_code="keep") is None
    assert reason("In the figure, how long is the segment?", drawing_code="keep") == "figure"


def test_an_unknown_reason_is_a_settings_error(tmp_path):
    tiny = (Path(__file__).parents[3] / "profiles/tiny.yaml").read_text()
    path = tmp_path / "params.yaml"
    path.write_text(tiny.replace("languages: [en]", "languages: [en]\n  skip_reasons: [ugly]"))
    with pytest.raises(
        SettingsError, match=r"denoise\.skip_reasons\.0: Input should be 'too_long', .* or 'markup', found 'ugly'"
    ):
        load_settings(path)


@pytest.mark.parametrize(
    "text", ["(A) " * 1000, "$" * 4000, "[asy]" * 800, "\\boxed{" * 500, "a) b) " * 600, "? " * 2000]
)
def test_hostile_text_is_judged(text):
    """Without end where an expression tries every way to match."""
    noise.check({"problem": text[:4000], "answer": text[:2000]}, SETTINGS)
