from __future__ import annotations

import pytest

from compass.curation.noise.figure import figure
from compass.settings import Denoise


def kind(problem: str) -> str | None:
    drop = figure({"problem": problem}, Denoise())
    return drop and drop.evidence["kind"]


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        ("[asy]draw(A);[/asy] Find the area.", "code"),
        ("An easy \\begin{picture} here.", "code"),
        ("An easy task: find 3+4.", None),
        ("In the figure, find the angle.", "reference"),
        ("A figure of speech has 3 words. How many letters?", None),
        ("Two lines meet, as shown. Find the angle.", "reference"),
        ("As shown below:\n| a | b |\n|---|---|\n| 1 | 2 |\nFind the sum.", None),
        ("In the table as shown, find the sum.", None),
        ("In the figure shown, a table says 3. Find the sum.", "reference"),
        ("On the spinner shown, find the number.", "reference"),
        ("The numbers shown add up to 7. The spinner shown is fair.", "reference"),
        ("The numbers shown, add up to 7.", None),
        ("The sum of the Faces shown is odd.", None),
        ("It can be shown that it is odd.", None),
        ("The spinner shown has a table of 3 rows.", None),
        ("What fraction of the square is shaded?", "reference"),
        ("What fraction is shaded if he shaded three of seven parts?", None),
        ("Find the shaded piece.", "reference"),
        ("如图，求角", "reference"),
        ("求角", None),
    ],
)
def test_figures_by_code_or_by_reference(problem, expected):
    assert kind(problem) == expected


def test_the_evidence_is_of_the_text_without_figure_code():
    assert figure({"problem": "Look. In the figure, find it."}, Denoise()).evidence["text"] == (
        "Look. In the figure, find it."
    )
    assert figure({"problem": "x [asy]d[/asy] y"}, Denoise()).evidence["text"] == "x [asy]d[/asy] y"
