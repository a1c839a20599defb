"""Figures that the text depends on and does not hold; written examples of every sense of the words."""

from __future__ import annotations

import pytest

from compass.curation.noise.figure import figure
from compass.settings import Denoise


@pytest.mark.parametrize(
    "problem",
    [
        "[asy]draw((0,0)--(3,4));[/asy] How long is the segment?",
        "\\begin{tikzpicture}\\draw (0,0) -- (3,4);\\end{tikzpicture} How long is the segment?",
        "\\begin{asy} draw(A--B); \\end{asy} How long is the segment?",
    ],
)
def test_drawing_code_is_dropped_unless_the_settings_keep_it(problem):
    finding = figure({"problem": problem}, Denoise())
    assert (finding.strength, finding.evidence["kind"]) == ("sure", "code")
    assert figure({"problem": problem}, Denoise(drawing_code="keep")) is None


def test_kept_drawing_code_is_the_figure_that_the_text_speaks_of():
    problem = "[asy]draw((0,0)--(3,4));[/asy] In the figure, how long is the segment?"
    assert figure({"problem": problem}, Denoise(drawing_code="keep")) is None
    assert figure({"problem": "In the figure, how long is the segment?"}, Denoise(drawing_code="keep")).drops("likely")


def test_an_easy_word_is_no_code():
    assert figure({"problem": "An easy task: find the sum of 3 and 4."}, Denoise()) is None
