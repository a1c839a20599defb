"""Figures that the text depends on and does not hold; written examples of every sense of the words."""

from __future__ import annotations

import pytest

from compass.curation.noise.figure import figure
from compass.settings import Denoise

MISSING = [
    "In the figure, lines $l$ and $m$ are parallel. What is the measure of angle 1 in degrees?",
    "Two lines meet at $P$, as shown. Find the angle between them.",
    "As shown in Figure 2, the ladder leans against a wall. How high does it reach?",
    "The diagram shows a rectangle cut into four triangles. What is the area of the largest?",
    "Each row of the following grid holds the digits 1 to 5 once. Which digit stands where the star is?",
    "Refer to the accompanying sketch: how long is the rope?",
    "The bar graph below gives the rainfall of five months. In which month did it rain most?",
    "According to the pie chart, what percent of the students walk to school?",
    "How many triangles are there in the picture below?",
    "On the spinner shown, all sectors are equal. What is the probability of an odd number?",
    "Below is pictured a hexagonal tile. Find its perimeter.",
    "The solid pictured here is made of unit cubes. What is its surface area?",
    "Two circles of radius 3 overlap. What is the area of the shaded region?",
    "What fraction of the square is shaded?",
    "Using the table below, find the median number of pets.",
    "The following table gives the price of a ticket for each age. What does a family of four pay?",
    "See the map at the right. How many kilometres is it from Aby to Bel?",
    "The graph of $f$ is shown. What is $f(2)$?",
    "Each box in the diagram must be filled with a digit. What is the sum of all digits?",
    "The adjoining figure consists of a square and a semicircle with a common side of 6. What is its area?",
    "How long is side $x$ of the right triangle depicted above, whose other sides are 3 and 4?",
    "如图，三角形的面积是多少？",
]

HELD = [
    "The following board game has a die with six faces. What is the chance of two sixes in a row?",
    "Consider the following grid. \\begin{array}{cc}1&2\\\\3&4\\end{array} What is the sum of its entries?",
    # senses of the words
    "The image of $B$ under the reflection in the $x$-axis is $(2,-3)$. Find $B$.",
    "What are the coordinates of the centre of the image circle after a rotation by $90^\\circ$?",
    "A deck of picture cards holds 12 cards. How many ways are there of drawing an ace and a king?",
    "In the drawing of the lottery six numbers are drawn from 49. How many results are there?",
    "A photo is 4 inches by 6 inches. It gets a frame 1 inch wide. What is the area of the picture and its frame?",
    "Tim paints a picture each day. In each picture there are 7 trees. How many trees are there after a week?",
    "The time shown on his clock is 12 minutes ahead of the right time. When does it show noon?",
    "Two dice are rolled. What is the probability that the numbers shown add up to seven?",
    "Give the result to three significant figures: what is $\\sqrt{7}$ to the nearest hundredth?",
    "How many four-figure numbers have the sum of the figures equal to 3?",
    "The graph of $y = x^2 - 4$ meets the $x$-axis at two points. What is their distance?",
    "Five people sit around the table. In how many ways can they be seated?",
    "A book lies on the table, which is 80 cm high. The table is 3 cm thick. How high is its underside?",
    "On the number line, how far is $-3$ from $4$?",
    "A circle and two lines are drawn on paper. What is the largest number of points in which these figures meet?",
    "What is the area of the figure bounded by $y = x^2$ and $y = 4$?",
    "It can be shown that the sequence converges. What is its limit if $a_1 = 2$ and $a_{n+1} = (a_n + 2)/2$?",
    "Three movies are shown per day, each two times. How many showings are there in a week?",
    "Anna draws a figure made of two squares of side 3 with a common side. What is the perimeter of the figure?",
    "A graph has 7 vertices, each of degree 4. How many edges are there in the graph?",
    "A figure skater turns 4 times per second. How many turns does the skater make in 7 seconds?",
    "Points on the graph of $f(x) = 3x + 1$ with integer coordinates are coloured red. How many have $0 < x < 9$?",
    "Draw a diagram of a square with side 4. What is the length of its diagonal?",
    # what the text holds
    "Sales are shown in the table below.\n\n| Day | 1 | 2 |\n|---|---|---|\n| Sales | 3 | 4 |\n\nWhat is their sum?",
    "The first rows of the triangle are shown below:\n\\begin{array}{c}1\\\\1\\ 1\\\\1\\ 2\\ 1\\end{array}\nWhat is the sum of the sixth?",
    "What is the value of the expression shown below?\n\\[3 + 4 \\cdot 7\\]",
    "The program shown below is run once. What does it print?\n```\nx = 3\nprint(x + 4)\n```",
    "The scores are shown here: 3, 7, 8, 9, 12. What is their mean?",
    "The following table lists the marks.\n\\begin{tabular}{c|c} name & mark \\\\ A & 3 \\\\ B & 5\\end{tabular}\nWhat is the mean mark?",
    "A square of side 6 holds a circle of radius 3. The part of the square outside the circle is shaded. What is the area of the shaded region?",
]

DOUBTED = [
    "A square has side 8 and a quarter circle of radius 4 at each corner. What is the area of the shaded region inside the square but outside the quarter circles?",
    "The diagram gives the marks.\n\\begin{tabular}{c|c} A & 3 \\\\ B & 5\\end{tabular}\nWhat is the mean mark?",
    "A right triangle was drawn on paper and cut along its altitude. How many triangles are there in this figure?",
]


@pytest.mark.parametrize("problem", MISSING)
def test_a_figure_that_the_text_depends_on_is_missing(problem):
    finding = figure({"problem": problem}, Denoise())
    assert finding is not None
    assert finding.drops("likely")
    start, end = finding.evidence["span"]
    assert problem[start:end] in finding.evidence["text"]


@pytest.mark.parametrize("problem", HELD)
def test_words_in_another_sense_and_figures_in_the_text_are_no_finding(problem):
    assert figure({"problem": problem}, Denoise()) is None


@pytest.mark.parametrize("problem", DOUBTED)
def test_a_figure_that_the_text_may_describe_is_a_doubt(problem):
    assert figure({"problem": problem}, Denoise()).strength == "possible"


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
