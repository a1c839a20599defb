"""Damaged and unusable texts: the edge of each rule, and the evidence for it."""

from __future__ import annotations

import pytest

from compass.curation.noise.damaged_text import encoding, image, link, markup, too_long, too_short, truncated
from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.guessable import true_false
from compass.curation.noise.proof import proof
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

SETTINGS = Denoise(min_problem_chars=5, max_problem_chars=10)


def row(problem: str, answer: str | None = "7") -> dict:
    return {"problem": problem, "answer": answer}


def test_length():
    assert too_short(row(" 1234 "), SETTINGS) == Finding(
        NoiseReason.TOO_SHORT, Strength.SURE, {"characters": 4, "limit": 5, "text": " 1234 "}
    )
    assert too_short(row(" 12345 "), SETTINGS) is None
    assert too_short(row("求和？"), SETTINGS) is None  # as much as six letters say
    assert too_long(row("12345678901"), SETTINGS) == Finding(
        NoiseReason.TOO_LONG, Strength.SURE, {"characters": 11, "limit": 10}
    )
    assert too_long(row("1234567890"), SETTINGS) is None


def test_encoding_names_the_field_and_the_character():
    assert encoding(row("What is 3 \x0c 4?"), SETTINGS) == Finding(
        NoiseReason.ENCODING, Strength.SURE, {"field": "problem", "found": "'\\x0c'", "text": "What is 3 \x0c 4?"}
    )
    damaged = encoding(row("What is 3?", "\ufffd"), SETTINGS)
    assert damaged.evidence["field"] == "answer"
    assert encoding(row("Line one\nline two, π and é", None), SETTINGS) is None
    assert encoding(row("What is 2 \times 3?"), SETTINGS).evidence["found"] == "'\\times'"
    assert encoding(row("$\trac{1}{2}$ of it"), SETTINGS).evidence["found"] == "'\\trac'"
    for tabbed in ("a side,\tan angle\tand", "cost\textra fee", "six\tfractions", "so\rm is 3", "let\neg be"):
        assert encoding(row(tabbed), SETTINGS) is None
    assert encoding(row("Find $rac{1}{2}$ of 2 imes 9"), SETTINGS).evidence["found"] == "'rac'"
    assert encoding(row(r"$\frac{1}{2} \times \sqrt{3}$, and sometimes a text{book}"), SETTINGS) is None
    assert encoding(row("a price of 3 â\u0080\u0093 4"), SETTINGS).reason == NoiseReason.ENCODING


@pytest.mark.parametrize(
    ("judge", "reason", "problem"),
    [
        (image, NoiseReason.IMAGE, "Look at <img src=x> now"),
        (image, NoiseReason.IMAGE, "The file tri.PNG has it"),
        (link, NoiseReason.LINK, "Go to HTTP://example.org now"),
        (link, NoiseReason.LINK, "As \\url{x} says"),
        (link, NoiseReason.LINK, "a page of example.edu/x here"),
        (proof, NoiseReason.PROOF, "Let n be odd. Prove that n is odd."),
        (markup, NoiseReason.MARKUP, "Find a<sub>1</sub> now"),
        (true_false, NoiseReason.TRUE_FALSE, "True or false: 2 is even"),
    ],
)
def test_the_evidence_is_what_matched_and_its_surroundings(judge, reason, problem):
    drop = judge(row(problem), SETTINGS)
    assert drop.reason == reason
    assert drop.evidence["text"] == problem


@pytest.mark.parametrize("judge", [image, link, proof, markup, true_false, truncated, encoding])
def test_a_plain_problem_passes(judge):
    assert judge(row("Find the sum of 3 and 4."), SETTINGS) is None
    assert judge(row("Find the sum of 3 and 4.", None), SETTINGS) is None


@pytest.mark.parametrize(
    ("problem", "found"),
    [
        ("a [b] c", None),
        ("a [b]bold[/b] c", "[b]"),
        ("a [i] and [url=x]y c", None),
        ("x [i] y<br>", "<br>"),
        ("x [quote]y", "[quote]"),
        ("\\plus{} a", "\\plus{}"),
        ("a &lt; b", "&lt;"),
        ("use hide for answers", "use hide for answers"),
        ("\\section*{A} b", "\\section*{"),
        ("\\begin{document} b", "\\begin{document}"),
    ],
)
def test_markup_names_what_it_found(problem, found):
    drop = markup(row(problem), SETTINGS)
    assert (drop and drop.evidence["found"]) == found


@pytest.mark.parametrize(
    ("problem", "found"),
    [
        ("Find x such that \\", "half a closing delimiter"),
        ("Find x \\ ", "half a closing delimiter"),
        ("Let A be given, ", ","),
        ("Find the sum of the", "the"),
        ("Find the sum of (", "("),
        ("Find the area of", None),
        ("Find $a$", None),
        ("Find xthe", None),
        ("Let \\begin{cases} x", "\\begin{cases} without its end"),
        ("Let \\begin{cases} x \\end{cases} y", None),
        ("Let \\begin{a} \\begin{b} \\end{a} y", "\\begin{b} without its end"),
        ("\\begin{a}\\end{a}\\begin{a}\\begin{a}\\end{a} y", "\\begin{a} without its end"),
        ("\\end{a} y \\begin{a} z", None),
        ("Find \\[x + 1", "\\[ without \\]"),
        ("Find \\[x\\] + \\[1", "\\[ without \\]"),
        ("Find \\[x + 1\\] now", None),
        ("Find $y$ \\[x + 1", None),
        ("A matrix 1 \\\\[2 3", None),
    ],
)
def test_truncated(problem, found):
    drop = truncated(row(problem), SETTINGS)
    assert (drop and drop.evidence["found"].strip()) == found
    if drop:
        assert drop.evidence["end"] == problem.rstrip()


def test_the_end_of_a_truncated_text_is_sixty_characters():
    for end in (" and", " \\", "\\begin{a} x", " \\[ x"):
        text = "".join(chr(65 + n % 26) for n in range(100)) + end
        assert truncated(row(text), SETTINGS).evidence["end"] == text[-60:]
